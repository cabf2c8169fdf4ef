"""Prediction intervals from the errors of left-out outputs: the jackknife."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]


def jackknife_radius(
    errors: Array, coverage: float, sample_weight: Array | None = None, groups: NDArray[np.intp] | None = None
) -> float:
    """Return r such that an output plus or minus r holds a new value with about the probability ``coverage``.

    It is the smallest absolute error that a share of ``coverage (1 + 1/n)`` of the left-out samples do not exceed, n
    being the number of those of positive weight. With groups each group counts as one, its samples as parts of one, and
    n is the number of groups: samples of a group have similar errors, and the new value is one of a new group.

    Parameters
    ----------
    errors : array of shape (n,)
        Values less left-out outputs, in units of the target; NaN are left out.
    coverage : float
        Above 0, below 1.
    sample_weight : array of shape (n,), optional
        A sample of weight 2 has twice the share, but is one sample of n: its two parts are left out together.
    groups : int array of shape (n,), optional
        Codes of the groups that samples were left out with, from 0.

    Returns
    -------
    float
        Infinite with fewer than ``coverage / (1 - coverage)`` samples, or groups: no interval follows from so few.

    References
    ----------
    Barber, Candes, Ramdas, Tibshirani, "Predictive inference with the jackknife+", Annals of Statistics 49, 2021, eq.
    (1.2). Deviation: their jackknife+ puts the outputs of all n refits in place of the one output. For a method that
    changes little when a sample is left out, such as ridge regression, both agree (their section 5); the jackknife
    needs no more memory than n numbers. Groups: Lee, Barber, Willett, "Distribution-free inference with
    hierarchical data", arXiv 2306.06342, 2023, whose quantile has these weights.
    """
    known = ~np.isnan(errors)
    sizes = np.abs(errors[known])
    weights = np.ones(len(sizes)) if sample_weight is None else sample_weight[known]
    if groups is not None:
        totals = np.bincount(groups[known], weights)[groups[known]]
        weights = np.divide(weights, totals, out=np.zeros(len(sizes)), where=totals > 0)
    n = float(np.count_nonzero(weights) if groups is None else weights.sum())
    order = np.argsort(sizes)
    share = coverage * (1.0 + 1.0 / n) * (1.0 - 1e-12) if n else np.inf
    reached = np.cumsum(weights[order]) >= share * weights.sum()
    return float(sizes[order][np.argmax(reached)]) if reached.any() else float("inf")
