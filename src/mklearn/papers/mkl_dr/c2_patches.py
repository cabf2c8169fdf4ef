"""Patches of C1, with which both C2 models compare images: sizes, numbers and response."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

# Places of C1 per side of a patch. [ports] [common]: see `mklearn.papers.mkl_dr.gabor_c1`.
PATCH_SIZES = (4, 8, 12, 16)


def patch_sizes(n_patches: int) -> NDArray[np.int64]:
    """Return the size of each patch, ascending: a quarter each, the remainder to the smaller sizes."""
    kinds = len(PATCH_SIZES)
    counts = [n_patches // kinds + (number < n_patches % kinds) for number in range(kinds)]
    return np.repeat(np.array(PATCH_SIZES, dtype=np.int64), counts)


def response(distance: NDArray[np.float64], size: NDArray | int) -> NDArray[np.float64]:
    """Compute ``exp(-distance / (2 (size / 4)^2))`` for squared distances to patches."""
    features: NDArray[np.float64] = np.exp(-distance / (2 * (size / 4) ** 2))
    return features
