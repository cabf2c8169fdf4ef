"""Class probabilities, prediction intervals and prediction sets from left-out outputs."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.checks import invalid

Array = NDArray[np.floating[Any]]
# Bounds of log beta: from equal probabilities to certainty.
_LOG_BOUNDS = (-10.0, 15.0)
# Shares of a squared error that grow with the variance of the output.
_GROWING = np.linspace(0.0, 0.99, 34)


def score_range(scores: Array) -> float:
    """Return the largest difference between two scores of the same sample, for scores (m, c)."""
    return float(np.ptp(scores, axis=1).max())


def softmax(scores: Array, beta: float, widest: float) -> Array:
    """Compute the softmax ``exp(beta s_ik) / sum_l exp(beta s_il)`` of scores (m, c).

    ``widest`` is the `score_range` of the scores to which beta was fitted. If the scores of a sample have a larger
    range, they are scaled down to it, because the outputs of an outlier can be arbitrarily large.
    """
    ranges = np.ptp(scores, axis=1, keepdims=True)
    scores = scores * np.divide(widest, ranges, out=np.ones_like(ranges), where=ranges > widest)
    powers = np.exp(beta * (scores - scores.max(axis=1, keepdims=True)))
    return np.asarray(powers / powers.sum(axis=1, keepdims=True))


def fit_inverse_temperature(
    scores: Array, codes: NDArray[np.intp], sample_weight: Array | None = None, n_errors: float | None = None
) -> float:
    """Find the beta > 0 whose `softmax` of left-out scores (n, c) has the smallest log loss for class codes (n,).

    The targets are smoothed: a share of 1/(n + 1) of each is spread evenly over all classes, about one sample in total.
    Perfectly separated samples therefore do not give certain predictions, and fewer samples give less certain ones.
    Here n is ``n_errors``, the effective number of left-out errors (`mklearn.optimize.left_out.LeftOut.squares`), by
    default the number of samples. The log loss is convex in beta.

    References
    ----------
    Guo, Pleiss, Sun, Weinberger, "On calibration of modern neural networks", ICML 2017 (temperature scaling). Platt,
    "Probabilistic outputs for support vector machines", 1999 (left-out outputs and smoothed targets).
    """
    from scipy.optimize import minimize_scalar

    n = len(scores)
    weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
    shifted = scores - scores.max(axis=1, keepdims=True)
    own = shifted[np.arange(n), codes]
    share = 1.0 / ((n_errors or n) + 1.0)
    wanted = (1.0 - share) * own + share * shifted.mean(axis=1)

    def loss(log_beta: float) -> float:
        beta = float(np.exp(log_beta))
        return float(weights @ (np.log(np.exp(beta * shifted).sum(axis=1)) - beta * wanted)) / float(weights.sum())

    optimum = minimize_scalar(loss, bounds=_LOG_BOUNDS, method="bounded", options={"xatol": 1e-6})
    return float(np.exp(optimum.x))


def jackknife_radius(
    errors: Array, coverage: float, sample_weight: Array | None = None, groups: NDArray[np.intp] | None = None
) -> float:
    """Return the half-width r of prediction intervals: output +- r contains a new value with probability ``coverage``.

    r is the ``coverage (1 + 1/n)`` quantile of the absolute left-out errors, where n is the number of samples with
    positive weight. It is infinite if n is below ``coverage / (1 - coverage)``. Errors, (n,), are values minus left-out
    outputs; NaN entries are ignored. A sample of weight 2 counts twice in the quantile, but once in n. With groups
    (codes from 0), n counts groups and each group has total weight one: the errors of a group are similar, and a new
    value is assumed to belong to a new group. Raises `ConfigError` unless the coverage is above 0 and below 1.

    References
    ----------
    Barber, Candes, Ramdas, Tibshirani, "Predictive inference with the jackknife+", Annals of Statistics 49, 2021, eq.
    (1.2). Deviation: their jackknife+ uses the outputs of all n refits instead of one output. For a method that
    changes little when a sample is left out, such as ridge regression, both agree (their section 5). Groups: Lee,
    Barber, Willett, "Distribution-free inference with hierarchical data", arXiv 2306.06342, 2023.
    """
    if isinstance(coverage, bool) or not isinstance(coverage, int | float) or not 0 < coverage < 1:
        raise invalid(coverage, "coverage", "a number above 0 and below 1")
    sizes, weights = _known_sizes(errors, sample_weight, groups)
    n = float(np.count_nonzero(weights) if groups is None else weights.sum())
    if not n:
        return float("inf")
    order = np.argsort(sizes)
    share = coverage * (1.0 + 1.0 / n) * (1.0 - 1e-12)
    reached = np.cumsum(weights[order]) >= share * weights.sum()
    return float(sizes[order][np.argmax(reached)]) if reached.any() else float("inf")


def variance_factor(
    errors: Array, variance: Array, sample_weight: Array | None = None, groups: NDArray[np.intp] | None = None
) -> float:
    """Estimate the factor c for which left-out errors e_i have scales proportional to ``(1 + c v_i)^(1/2)``.

    With m for the median of the variances v_i, (n,), and scales ``s_i = (1 - r + r v_i / m)^(1/2)``, r is the share of
    a typical squared error that grows with the variance, and ``c = r / ((1 - r) m)``. The estimate of r is the mean of
    34 values from 0 to 0.99, weighted by the likelihood of Laplace errors of scale s_i times their best common scale,
    ``prod_i 1 / (s_i mean(|e| / s))``. Negative variances count as 0. Other arguments are as for `jackknife_radius`.
    """
    sizes, weights = _known_sizes(errors, sample_weight, groups)
    variance = np.maximum(variance[~np.isnan(errors)], 0.0)
    middle = float(np.median(variance)) if len(variance) else 0.0
    if not (middle > 0 and weights @ sizes > 0):
        return 0.0
    n, shares = np.count_nonzero(weights) if groups is None else weights.sum(), weights / weights.sum()
    scales = np.sqrt(1.0 + _GROWING[:, None] * (variance / middle - 1.0))
    losses = n * (np.log(scales) @ shares + np.log((sizes / scales) @ shares))
    growing = float(np.average(_GROWING, weights=np.exp(losses.min() - losses)))
    return growing / (1.0 - growing) / middle


def _known_sizes(errors: Array, sample_weight: Array | None, groups: NDArray[np.intp] | None) -> tuple[Array, Array]:
    """Return the sizes of the errors that are not NaN, and their weights; each group has total weight one."""
    known = ~np.isnan(errors)
    weights = np.ones(int(known.sum())) if sample_weight is None else sample_weight[known]
    if groups is not None:
        totals = np.bincount(groups[known], weights)[groups[known]]
        weights = np.divide(weights, totals, out=np.zeros(len(weights)), where=totals > 0)
    return np.abs(errors[known]), weights


def set_thresholds(
    errors: Array, codes: NDArray[np.intp], n_classes: int, coverage: float, sample_weight: Array | None = None,
    groups: NDArray[np.intp] | None = None,
) -> Array:  # fmt: skip
    """Return the threshold t of each class, (n_classes,), for sets of the classes of probability 1 - t or more.

    The threshold of a class is the `jackknife_radius` of its own errors. Classes with too few samples (or groups) for
    this coverage, fewer than nine for 0.9, share the threshold of their pooled errors. If these are too few as well,
    they have the threshold of the errors of all classes, which is infinite if even these are too few.

    ``errors`` (n,) are one minus the probability of the true class of left-out samples, and ``codes`` (n,) their
    classes, from 0. Other arguments are as for `jackknife_radius`.

    References
    ----------
    Sadinle, Lei, Wasserman, "Least ambiguous set-valued classifiers with bounded error levels", JASA 114, 2019 (sets of
    probable classes). Vovk, "Conditional validity of inductive conformal predictors", ACML 2012 (thresholds by class).
    """

    def threshold(rows: Any) -> float:
        weights, names = (None if each is None else each[rows] for each in (sample_weight, groups))
        return jackknife_radius(errors[rows], coverage, weights, names)

    thresholds = np.array([threshold(codes == code) for code in range(n_classes)])
    few = np.isinf(thresholds)
    if few.any():
        pooled = threshold(few[codes])
        thresholds[few] = threshold(slice(None)) if np.isinf(pooled) else pooled
    return thresholds
