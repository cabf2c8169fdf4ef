"""A module that another one of the package imports."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def raised(values: NDArray[np.float64], power: float) -> NDArray[np.float64]:
    """Raise each value to a power."""
    return np.power(values, power)
