"""Agreement of a kernel with the targets, in standard deviations under independence.

With the centred kernel K_c, centred targets T and sample weights w, the agreement of samples i and j is
``h_ij = w_i w_j (K_c)_ij (TT')_ij``. Its sum over pairs of different samples, or of different groups g and h, is
divided by its standard deviation under random signs:

    z = sum_{g<h} H_gh / (sum_{g<h} H_gh^2)^(1/2),    H_gh = sum over i in g, j in h of h_ij.

Pairs of a sample with itself, or within a group, are left out, because they agree in every kernel. The cost is
O(n^2 c), without a factorisation, and there are no parameters.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.optimize.left_out import LeftOut
from mklearn.optimize.ridge_path import scaled_and_centred, weighting

Array = NDArray[np.floating[Any]]


def target_agreement(
    K: NDArray[Any], targets: Array, *, sample_weight: Array | None = None, groups: ArrayLike | None = None
) -> float:
    """Compute the agreement z of a symmetric kernel, centred or not, of any scale, with targets (n, c).

    z is approximately standard normal for a kernel that is independent of the targets, and 0 for a zero kernel. A
    sample of weight 2 counts as two equal ones of one group; pairs of samples of one group do not count.

    References
    ----------
    Gretton, Bousquet, Smola, Schoelkopf, "Measuring statistical dependence with Hilbert-Schmidt norms", ALT 2005: the
    sum is an estimate of their criterion without its diagonal. Scaling by random signs is this library's own.
    """
    _, root, shares, _ = weighting(len(K), sample_weight)
    _, H = scaled_and_centred(K, shares, root)
    centred = root[:, None] * (targets - shares @ targets)
    H *= centred @ centred.T
    sets = LeftOut(len(K), groups).sets
    if sets is not None:
        order, starts = np.concatenate(sets), np.cumsum([0, *map(len, sets[:-1])])
        H = np.add.reduceat(np.add.reduceat(H[np.ix_(order, order)], starts, axis=0), starts, axis=1)
    np.fill_diagonal(H, 0.0)
    size = float(np.linalg.norm(H))
    return float(H.sum() / (np.sqrt(2.0) * size)) if size > 0 else 0.0
