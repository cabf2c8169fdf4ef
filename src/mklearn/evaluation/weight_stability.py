"""Stability of learned kernel weights over splits.

Weights say little about what a kernel is worth, however stable they are: kernels that tell the same share a weight in
any proportion. `mklearn.inspection.view_contributions` measures that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist

from mklearn.errors import DataError

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WeightStability:
    """Kernel weights over splits.

    Attributes
    ----------
    kernels : tuple of str
    weights : array of shape (n_splits, n_kernels)
        Each row divided by the sum of its absolute values; without splits that have no weights.
    mean, std : arrays of shape (n_kernels,)
        Over the splits; the standard deviation has n_splits - 1 in its denominator, and is NaN for one split.
    between_splits : float
        Mean total variation distance between the weights of two splits, half the sum of absolute differences: 0 for the
        same weights in every split, 1 for weights on different kernels in each. NaN for one split.
    from_equal : float
        Mean total variation distance from equal weights: between 0 and 1 - 1/n_kernels for nonnegative weights. Weights
        that are hardly learned are stable.
    """

    kernels: tuple[str, ...]
    weights: Floats
    mean: Floats
    std: Floats
    between_splits: float
    from_equal: float


def weight_stability(weights: ArrayLike, kernels: Sequence[str] | None = None) -> WeightStability:
    """Compute how much kernel weights differ between splits.

    Parameters
    ----------
    weights : array of shape (n_splits, n_kernels)
        Rows with NaN, or of zeros, are left out.
    kernels : sequence of str, optional
        Names; by default the positions.

    Raises
    ------
    DataError
        Another shape, another number of names, or no row left.
    """
    array = np.asarray(weights, dtype=np.float64)
    if array.ndim != 2:
        raise DataError(f"weights have shape {array.shape}: expected (n_splits, n_kernels)")
    names = tuple(map(str, range(array.shape[1]) if kernels is None else kernels))
    if len(names) != array.shape[1]:
        raise DataError(f"there are {len(names)} names for {array.shape[1]} kernels")
    sums = np.abs(array).sum(axis=1)
    kept = np.isfinite(sums) & (sums > 0)
    if not kept.any():
        raise DataError("no split has kernel weights")
    shares = array[kept] / sums[kept, None]
    several = len(shares) > 1
    return WeightStability(
        names,
        shares,
        shares.mean(axis=0),
        shares.std(axis=0, ddof=1) if several else np.full(len(names), np.nan),
        float(pdist(shares, "cityblock").mean() / 2) if several else float("nan"),
        float(np.abs(shares - 1 / len(names)).sum(axis=1).mean() / 2),
    )
