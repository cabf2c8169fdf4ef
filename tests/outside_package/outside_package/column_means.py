"""A descriptor."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import POSITIVE, constrained
from outside_package.powers import raised


@constrained(power=[POSITIVE])
def column_means(batch: Sequence[NDArray[Any]] | NDArray[Any], power: float = 1.0) -> NDArray[np.float64]:
    """Return the mean of each column, (n, columns), to some power.

    Parameters
    ----------
    power : float
        Exponent of the means.
    """
    return raised(np.asarray(batch, dtype=float).mean(axis=1), power)
