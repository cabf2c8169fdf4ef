"""How much kernel weights differ between splits of the same samples."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist

from mklearn.base.folds import default_splitter
from mklearn.base.validation import aligned
from mklearn.errors import ConfigError, DataError
from mklearn.kernels.views import as_views


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
    weights: NDArray[np.float64]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]
    between_splits: float
    from_equal: float


@aligned
def kernel_weights_over_splits(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = None,
    groups: ArrayLike | None = None,
    random_state: int = 0,
) -> WeightStability:
    """Fit a method on the training part of each split, and compute how much its kernel weights differ.

    Weights that differ between splits of the same samples are no property of the data. Stable ones say little about
    what a view is worth either; see `mklearn.inspection.view_contributions`.

    Parameters
    ----------
    estimator : estimator
        With ``kernel_weights_`` once fitted, or a `Pipeline` with such a step. It is cloned, not fitted itself.
    X : as for its ``fit``; several views as `mklearn.kernels.Views`, dict or list
    y : array of shape (n,)
        Class labels; of a regressor numbers, which may have shape (n, c).
    cv : int, splitter or iterable of (train, test), optional
        By default five folds, twice.
    groups : array of shape (n,), optional
        Passed to ``cv``.
    random_state : int
        Of the default splits.

    Returns
    -------
    WeightStability
        Weights of each split, mean and standard deviation of each kernel's, and ``between_splits``: 0 for the same
        weights in every split, 1 for nothing in common.

    Raises
    ------
    ConfigError
        The fitted estimator has no kernel weights, or those of several targets.
    """
    from sklearn.model_selection import cross_validate  # here: the page needs none of it

    views = as_views(X)
    if cv is None:
        cv = default_splitter(estimator, random_state)
    fits = cross_validate(
        estimator,
        X if views is None else views,
        y,
        cv=cv,
        groups=groups,
        scoring=lambda *_: 0.0,
        return_estimator=True,
        error_score="raise",
    )["estimator"]
    fitted = [_with_weights(fit) for fit in fits]
    if np.ndim(fitted[0].kernel_weights_) > 1:
        raise ConfigError("each target has kernel weights of its own: pass one target at a time")
    return weight_stability([each.kernel_weights_ for each in fitted], fitted[0].kernel_ids_)


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


def _with_weights(fitted: Any) -> Any:
    """Return the estimator or the last step of a pipeline that has kernel weights."""
    steps = [step for _, step in fitted.steps] if hasattr(fitted, "steps") else [fitted]
    for step in reversed(steps):
        if hasattr(step, "kernel_weights_"):
            return step
    raise ConfigError(f"{type(fitted).__name__} has no kernel weights: expected an estimator with `kernel_weights_`")
