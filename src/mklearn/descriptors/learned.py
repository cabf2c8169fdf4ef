"""What descriptors learn from images, and its checks."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mklearn.errors import DataError

Learned = Mapping[str, NDArray]
"""What the ``learn_*`` function of a descriptor returned: arrays by name."""


def learned_array(
    learned: Learned, name: str, shape: tuple[int, ...], descriptor: str, dtype: type | None = None
) -> NDArray:
    """Return an array of ``learned``; raise `DataError` unless it has the shape that the parameters need."""
    found = np.shape(learned[name]) if name in learned else None
    if found != shape:
        has = f"shape {found}" if found is not None else "no array"
        raise DataError(
            f"`learned` has {has} for {name!r}, expected shape {shape}: pass what learn_{descriptor} returned for the "
            "same parameters."
        )
    return np.asarray(learned[name], dtype=dtype)
