"""Probabilities and prediction intervals from outputs of samples that were left out of the fit."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.floating[Any]]
# Bounds of log beta: from equal probabilities to certainty.
_LOG_BOUNDS = (-10.0, 15.0)


def score_range(scores: Array) -> float:
    """Return the largest difference of two scores of one sample."""
    return float(np.ptp(scores, axis=1).max())


def softmax(scores: Array, beta: float, widest: float) -> Array:
    """Compute ``exp(beta s_ik) / sum_l exp(beta s_il)`` of scores (m, c).

    Scores of a sample that differ by more than ``widest``, the `score_range` of those that beta was fitted to, are
    scaled down to it: the outputs of an outlier may be of any size, and say no more than others.
    """
    ranges = np.ptp(scores, axis=1, keepdims=True)
    scores = scores * np.divide(widest, ranges, out=np.ones_like(ranges), where=ranges > widest)
    powers = np.exp(beta * (scores - scores.max(axis=1, keepdims=True)))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def fit_inverse_temperature(
    scores: Array, codes: NDArray[np.intp], sample_weight: Array | None = None, n_sets: int | None = None
) -> float:
    """Find the beta > 0 whose `softmax` of left-out scores (n, c) has the smallest log loss for class codes (n,).

    Of each target a share of 1/(n + 1) is spread over all classes alike, together as much as one sample: samples that
    are separated without a mistake are not predicted with certainty, the less so the fewer they are. n is ``n_sets``,
    the number of sets that were left out together, by default the number of samples. The log loss is convex in beta.

    References
    ----------
    Guo, Pleiss, Sun, Weinberger, "On calibration of modern neural networks", ICML 2017 (temperature scaling). Platt,
    "Probabilistic outputs for support vector machines", 1999 (left-out outputs, and targets short of 0 and 1).
    """
    from scipy.optimize import minimize_scalar

    n = len(scores)
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    shifted = scores - scores.max(axis=1, keepdims=True)
    own = shifted[np.arange(n), codes]
    share = 1.0 / ((n_sets or n) + 1.0)
    wanted = (1.0 - share) * own + share * shifted.mean(axis=1)

    def loss(log_beta: float) -> float:
        beta = float(np.exp(log_beta))
        return float(weights @ (np.log(np.exp(beta * shifted).sum(axis=1)) - beta * wanted)) / float(weights.sum())

    optimum = minimize_scalar(loss, bounds=_LOG_BOUNDS, method="bounded", options={"xatol": 1e-6})
    return float(np.exp(optimum.x))


def jackknife_radius(
    errors: Array, coverage: float, sample_weight: Array | None = None, groups: NDArray[np.intp] | None = None
) -> float:
    """Return r such that an output plus or minus r holds a new value with about the probability ``coverage``.

    It is the smallest absolute error that a share of ``coverage (1 + 1/n)`` of the left-out samples do not exceed, n
    being the number of samples of positive weight; infinite for fewer than ``coverage / (1 - coverage)``.
    Errors, (n,), are values less left-out outputs; NaN are left out. A sample of weight 2 has twice the share, but is
    one of n. With groups (codes from 0) each group counts as one, its samples as parts of one: samples of a group have
    similar errors, and the new value is one of a new group.

    References
    ----------
    Barber, Candes, Ramdas, Tibshirani, "Predictive inference with the jackknife+", Annals of Statistics 49, 2021, eq.
    (1.2). Deviation: their jackknife+ puts the outputs of all n refits in place of the one output. For a method that
    changes little when a sample is left out, such as ridge regression, both agree (their section 5). Groups: Lee,
    Barber, Willett, "Distribution-free inference with hierarchical data", arXiv 2306.06342, 2023.
    """
    known = ~np.isnan(errors)
    sizes = np.abs(errors[known])
    weights = np.ones(len(sizes)) if sample_weight is None else sample_weight[known]
    if groups is not None:
        totals = np.bincount(groups[known], weights)[groups[known]]
        weights = np.divide(weights, totals, out=np.zeros(len(sizes)), where=totals > 0)
    n = float(np.count_nonzero(weights) if groups is None else weights.sum())
    if not n:
        return float("inf")
    order = np.argsort(sizes)
    share = coverage * (1.0 + 1.0 / n) * (1.0 - 1e-12)
    reached = np.cumsum(weights[order]) >= share * weights.sum()
    return float(sizes[order][np.argmax(reached)]) if reached.any() else float("inf")
