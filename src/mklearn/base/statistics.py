"""Means, standard deviations and confidence intervals over repeated splits of one pool of samples.

Accuracies of repeated splits are not independent: their training sets overlap, and so do their test sets. The usual
interval ``mean +- t s / sqrt(J)`` over J splits is too narrow, and shrinks to zero as splits are added.

If the metric is the mean of one value per test sample, its variance is estimated from these values. The value is the
outcome (right or wrong, or for the difference of two methods 1, 0 or -1). If a metric T is not a mean, such as the
balanced accuracy, the value is T plus the sample's influence on T
(:mod:`mklearn.study.evaluation.metrics.sample_values`). Let d_ij be the value of sample i in split j of J, N the number
of distinct test samples, and n and m the numbers of training and test samples of a split. The variance of the mean is::

    V = A + B + sqrt(A B) + b/J

- ``A = sum_i w_i^2 (d_i - d)^2 N/(N - 1)`` is the variance due to the test samples. d_i is the mean of sample i over
  the splits that test it, and w_i the share of sample i in all tests.
- ``b`` is the variance due to training sets that are drawn from one pool: the variance s^2 of the split means minus the
  part of the test samples, ``s^2 - a c - e/m``, but at least 0. a is the variance between samples, e the variance
  within samples, and ``c`` the variance of split means that a variance of 1 between samples causes. With the weight
  ``W_ji`` of sample i in the mean of split j, ``c = (sum_ji W_ji^2 - sum_i (sum_j W_ji)^2/J)/(J - 1)``. It is 1/m for
  the folds of one repeat, whose test parts are disjoint, and about ``(1 - m/N)/m`` for random test parts.
- ``B = b n/m`` is the covariance due to overlapping training sets: two of them have n/(n + m) of their samples in
  common. An effect that adds up over training samples has the covariance b n/m between two splits; others have less.
- ``sqrt(A B)`` accounts for samples that are hard to classify and also mislead as training samples. It is half of the
  largest possible covariance of the two effects; splits can't show the actual value.

If training sets are larger than test sets, b is estimated poorly. V is therefore at most Nadeau and Bengio's
``s^2 (1/J + m/n)`` (see below), but at least ``A + b/J``.

The quantile is Student's, with Satterthwaite's degrees of freedom for the sum of A (N - 1) and the rest (J - 1).
``tests/benchmarks/interval_coverage.py`` measures coverage and width on populations with a known difference and on
pools of real data; ``reports/intervals`` has its tables.

If splits hold out whole groups, such as sites or persons, the G groups take the place of samples. Let split j test G_j
groups with the mean d_j, and let group g have the mean d_g and the share s_g of these samples. Its value is then
``d_j + (d_g - d_j) s_g G_j f_g``, whose mean over the groups is d_j without f_g. As in the jackknife, the factor
``f_g = (1 - 1/G)/(1 - s_g)``, with s_g averaged over the splits, allows for groups of unequal size. n and m are then
numbers of groups. Fewer than five groups give no interval.

Models of one draw share their test samples, so more models give no information on other test samples. Their values are
first averaged, sample by sample. A draw then counts as one split, whose n is the number of all samples used to train or
validate its models.

A single test set, with one model or the models of one draw for each method, gives no information on other training
samples: V is A, and the interval is for the fitted models. For an accuracy the interval is exact (Clopper and Pearson),
and two methods are compared by the samples that exactly one of them classifies correctly (McNemar's exact test). For
the area under the ROC curve, A is DeLong's variance.

If no values of samples are available, the variance is Nadeau and Bengio's (Inference for the generalization error,
Machine Learning 52, 2003, section 4.1.1), in which two splits have the correlation m/(n + m). It suits small test parts
and is too wide for others.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError

FEWEST_SPLITS = 5
"""Fewest splits for the interval of a difference (a single test set needs no more), and fewest held-out groups."""
CONFIDENCE = 0.95
"""Confidence level of all intervals."""
SHARE = (0.0, 1.0)
"""Bounds of a metric that is a share, such as the accuracy."""


class Interval(NamedTuple):
    """A mean and its confidence interval, whose ends are NaN if there are too few splits or groups."""

    mean: float
    low: float
    high: float


class Difference(NamedTuple):
    """Mean difference of two methods on the same splits.

    The ends and the p-value are NaN for two to four splits or groups, and for one split without values of samples.
    """

    mean: float
    low: float
    high: float
    p_value: float
    """Two-sided p-value for no difference. It is below 0.05 exactly if the interval excludes 0, except for a single
    test set."""
    disagreement: float
    """Share of the test samples that exactly one of the two methods classifies correctly; NaN without outcomes of
    single samples."""


_NO_DIFFERENCE = Difference(*[math.nan] * 5)


class _Spread(NamedTuple):
    variance: float
    """Variance of the mean."""
    freedom: float


def mean(values: ArrayLike) -> float:
    """Compute the mean of the finite values, or NaN if there are none."""
    finite = _finite(values)
    return float(finite.mean()) if finite.size else math.nan


def standard_deviation(values: ArrayLike) -> float:
    """Compute the sample standard deviation (divisor J - 1) of the finite values, or NaN for fewer than two."""
    finite = _finite(values)
    return float(finite.std(ddof=1)) if finite.size > 1 else math.nan


def sample_interval(
    values: ArrayLike, n_train: float, *, draws: ArrayLike | None = None, bounds: tuple[float, float] = SHARE,
    groups: ArrayLike | None = None, class_sizes: ArrayLike | None = None,
) -> Interval:  # fmt: skip
    """Compute the mean of a metric over splits, with the confidence interval described in the module's docstring.

    Parameters
    ----------
    values : array-like of shape (J, N)
        Value of each sample in each split; NaN if the split does not test the sample. For the accuracy, 1 if the sample
        is classified correctly and 0 otherwise.
    n_train : float
        Number of training samples of a split.
    draws : array-like of shape (J,), optional
        Draw of each row; models of one draw test the same samples. Default: each row is a draw of its own.
    bounds : (float, float), default=(0, 1)
        Smallest and largest value of the metric. The interval is Wilson's for a metric from 0 to 1, which stays within
        these bounds and has a positive length even if all samples are right; it is symmetric for other metrics. For a
        single test set with values 0 and 1 it is exact (of a recall, if all are equal).
    groups : array-like of shape (N,), optional
        Group of each sample, if every split holds out whole groups. The interval is for new groups; NaN for fewer than
        five.
    class_sizes : array-like of shape (C,), optional
        Of a mean over C classes, such as the balanced accuracy, the number n_c of samples of each; for a recall, that
        of its class. If all values are 0 or all are 1, they count as ``C^2 / sum_c 1/n_c`` independent samples, by
        default as all tested ones; with groups, at most as the number of groups.

    References
    ----------
    Wilson (1927), with the effective number of independent samples p (1 - p)/V in place of N.
    """
    table = _with_values(_mean_of_models(_sample_values(values), draws))
    if not len(table):
        return Interval(math.nan, math.nan, math.nan)
    p = mean(np.nanmean(table, axis=1))
    is_tested = (~np.isnan(table)).any(axis=0)
    n_tested = n_equal = float(is_tested.sum())
    if class_sizes is not None:
        n_equal = min(n_tested, np.size(class_sizes) ** 2 / float((1.0 / np.asarray(class_sizes)).sum()))
    are_exact = bounds == SHARE and _are_outcomes(table) and (class_sizes is None or p in SHARE)
    if len(table) == 1 and groups is None and are_exact:
        return Interval(p, *exact_share(p * n_equal, n_equal))
    spread = _spread(table, n_train, groups)
    quantile = _quantile(spread.freedom)
    if bounds != SHARE:
        half_width = quantile * math.sqrt(spread.variance)
        return Interval(p, *np.clip([p - half_width, p + half_width], *bounds).tolist())
    spent = max(p * (1.0 - p), 0.0)
    if spent < 1e-12:  # p is 0 or 1, perhaps but for rounding
        count = n_equal if groups is None else min(n_equal, len(np.unique(np.asarray(groups)[is_tested])))
    else:
        count = spent / max(spread.variance, spent / n_tested)
    weight = quantile**2 / count
    centre = (p + weight / 2) / (1 + weight)
    half_width = math.sqrt(quantile**2 * spent / count + weight**2 / 4) / (1 + weight)
    return Interval(p, *np.clip([centre - half_width, centre + half_width], *SHARE).tolist())


def paired_sample_difference(
    first: ArrayLike, second: ArrayLike, n_train: float, *, draws: ArrayLike | None = None,
    bounds: tuple[float, float] = SHARE, groups: ArrayLike | None = None, class_sizes: ArrayLike | None = None,
) -> Difference:  # fmt: skip
    """Compute the mean difference of a metric between two methods on the same test samples, with its interval.

    ``first`` and ``second``, (J, N), are as ``values`` of :func:`sample_interval`, and the other arguments as there.
    Both have NaN in the same places; different shapes raise `DataError`.

    The variance of a share is at least ``2/(N + 2)^2``, the value of Bonett and Price (2012) without any disagreement:
    two methods that agree on every sample of a pool may differ on the next sample. A mean over classes has the mean of
    the classes' minima, ``sum_c 2/(n_c + 2)^2 / C^2``. Metrics with other bounds than 0 and 1 have no minimum.
    For a single test set, the interval also contains the interval of the exact test, conditional on the number of
    samples that exactly one method classifies correctly.
    """
    one, other = _sample_values(first), _sample_values(second)
    if one.shape != other.shape:
        raise DataError(f"values have shapes {one.shape} and {other.shape}: both methods need the same test samples")
    table = _with_values(one - other)
    if not len(table):
        return _NO_DIFFERENCE
    disagreement = mean(np.nanmean(np.abs(table), axis=1))
    table = _with_values(_mean_of_models(one - other, draws))
    difference = mean(np.nanmean(table, axis=1))
    if 1 < len(table) < FEWEST_SPLITS:
        return _NO_DIFFERENCE._replace(mean=difference, disagreement=disagreement)
    sizes = np.asarray((~np.isnan(table)).any(axis=0).sum() if class_sizes is None else class_sizes, dtype=np.float64)
    least = float((2.0 / (sizes + 2.0) ** 2).sum()) / sizes.size**2 if bounds == SHARE else 0.0
    result = _difference(difference, _spread(table, n_train, groups, least), disagreement)
    if len(one) == 1 and _are_outcomes(one) and _are_outcomes(other) and groups is None:
        return _exact_difference(result, int((table == 1.0).sum()), int((table == -1.0).sum()))
    return result


def _are_outcomes(values: NDArray[np.float64]) -> bool:
    """Return whether all values are 1 (right) or 0 (wrong), as for the accuracy."""
    return bool(np.isin(values[~np.isnan(values)], (0.0, 1.0)).all())


def exact_share(n_right: float, n: float) -> tuple[float, float]:
    """Return Clopper and Pearson's interval of a share; ``n_right`` of n samples may be a mean over repeats."""
    from scipy.special import betaincinv

    tail = (1.0 - CONFIDENCE) / 2.0
    low = betaincinv(n_right, n - n_right + 1.0, tail) if n_right > 0 else 0.0
    return float(low), float(betaincinv(n_right + 1.0, n - n_right, 1.0 - tail)) if n_right < n else 1.0


def _exact_difference(found: Difference, n_first: int, n_second: int) -> Difference:
    """Apply McNemar's exact test to the numbers of samples that only the first or only the second method gets right."""
    from scipy.stats import binomtest

    apart = n_first + n_second
    if not apart:
        return found._replace(p_value=1.0)
    low, high = (found.disagreement * (2.0 * end - 1.0) for end in exact_share(n_first, apart))
    p_value = float(binomtest(n_first, apart).pvalue)
    return found._replace(low=min(found.low, low), high=max(found.high, high), p_value=p_value)


def corrected_resampled_interval(values: ArrayLike, n_train: float, n_test: float) -> Interval:
    """Compute the mean of values, (J,), over splits with Nadeau and Bengio's confidence interval.

    The interval is ``mean -+ t_{J-1} s sqrt(1/J + n_test/n_train)``. Values that are not finite (failed splits) are
    left out. The ends are NaN for fewer than two values, or if ``n_train`` or ``n_test`` is unknown.

    References
    ----------
    Nadeau and Bengio (2003), section 4.1.1; for repeated k-fold cross-validation, Bouckaert and Frank (2004).
    """
    return Interval(*_resampled(_finite(values), n_train, n_test, fewest=2)[:3])


def paired_difference(first: ArrayLike, second: ArrayLike, n_train: float, n_test: float) -> Difference:
    """Compute the mean of ``first - second`` over common splits, with Nadeau and Bengio's interval.

    ``first`` and ``second``, (J,), are the values of two methods on the same splits. A split is left out if either
    value is not finite.
    """
    differences = _finite(np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64))
    return _resampled(differences, n_train, n_test, FEWEST_SPLITS)


def success_values(predicted: NDArray[Any], y: NDArray[Any], deviation: float) -> NDArray[np.float64]:
    """Return values of samples whose mean is the accuracy, or R^2 for a numeric target with this deviation."""
    return np.asarray(1.0 - ((predicted - y) / deviation) ** 2 if deviation else predicted == y, dtype=np.float64)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust the p-values of several comparisons by Holm's method; NaN stay NaN and are not counted.

    At a level of 5 %, the probability of any false rejection among all comparisons is then at most 5 %.
    """
    values = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(values.shape, math.nan)
    known = np.flatnonzero(np.isfinite(values))
    order = known[np.argsort(values[known], kind="stable")]
    factors = np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * factors))
    return adjusted


def _of_groups(
    values: NDArray[np.float64], groups: NDArray[Any], n_train: float
) -> tuple[NDArray[np.float64], float]:  # fmt: skip
    """Return the values of groups, (J, G), in place of samples, (J, N), and the number of training groups."""
    order, tested = np.argsort(groups, kind="stable"), ~np.isnan(values)
    starts = np.unique(groups[order], return_index=True)[1]
    means = np.nanmean(values, axis=1, keepdims=True)
    sums, counts = (
        np.add.reduceat(table[:, order], starts, axis=1)
        for table in (np.where(tested, values - means, 0.0), tested.astype(np.float64))
    )
    n_test, n_groups = counts.sum(axis=1, keepdims=True), (counts > 0).sum(axis=1, keepdims=True)
    factors = (1.0 - 1.0 / len(starts)) / (1.0 - (counts / n_test).mean(axis=0))
    of_groups = np.where(counts > 0, means + sums / n_test * n_groups * factors, np.nan)
    return of_groups, n_train * float(n_groups.sum() / n_test.sum())


def _spread(
    values: NDArray[np.float64], n_train: float, groups: ArrayLike | None, least: float = 0.0
) -> _Spread:  # fmt: skip
    """Estimate the variance of the mean of values, (J, N), by the formula in the module's docstring; A >= `least`."""
    is_tested = ~np.isnan(values).all(axis=0)
    values = values[:, is_tested]
    means = np.nanmean(values, axis=1)
    if groups is not None:
        if len(np.unique(names := np.asarray(groups)[is_tested])) < FEWEST_SPLITS:
            return _Spread(math.nan, math.nan)
        values, n_train = _of_groups(values, names, n_train)
    tested = ~np.isnan(values)
    n_splits, n_samples = values.shape
    n_test = tested.sum(axis=1).mean()
    of_samples = max(_variance_of_samples(values, tested), least)
    if n_splits == 1:
        return _Spread(of_samples, max(n_samples - 1, 1))
    of_splits = means.var(ddof=1)
    training = max(0.0, of_splits - _variance_of_test_samples(values, tested))
    drawn, shared = training / n_splits, training * n_train / n_test
    variance = of_samples + shared + math.sqrt(of_samples * shared) + drawn
    variance = max(min(variance, of_splits * (1.0 / n_splits + n_test / n_train)), of_samples + drawn)
    if not variance > 0.0:  # equal values
        return _Spread(0.0, max(n_samples - 1, 1))
    by_splits = variance - of_samples
    freedom = variance**2 / (by_splits**2 / (n_splits - 1) + of_samples**2 / max(n_samples - 1, 1))
    return _Spread(variance, freedom)


def _variance_of_samples(values: NDArray[np.float64], tested: NDArray[np.bool_]) -> float:
    """Estimate the variance ``A`` of the mean that is due to the tested samples."""
    n_samples = values.shape[1]
    each, shares = np.nanmean(values, axis=0), tested.sum(axis=0) / tested.sum()
    squares = float((shares**2 * (each - shares @ each) ** 2).sum())
    return squares * n_samples / max(n_samples - 1, 1)


def _variance_of_test_samples(values: NDArray[np.float64], tested: NDArray[np.bool_]) -> float:
    """Estimate the variance ``a c + e/m`` of split means that is due to their test samples."""
    (n_splits, n_samples), n_test, times = values.shape, tested.sum(axis=1, keepdims=True), tested.sum(axis=0)
    weights, total = tested / n_test, float(np.nanvar(values))
    between, repeated = total, int(tested.sum()) - n_samples
    if repeated:
        each = np.nanmean(values, axis=0)
        within = float(np.nansum((values - each) ** 2)) / repeated
        between = min(max(float(each.var()) - within * float(np.mean(1.0 / times)), 0.0), total)
    squares, common = float((weights**2).sum()), float((weights.sum(axis=0) ** 2).sum())
    left = (squares - common / n_splits) / (n_splits - 1)
    return between * n_samples / max(n_samples - 1, 1) * left + (total - between) / float(n_test.mean())


def _resampled(values: NDArray[np.float64], n_train: float, n_test: float, fewest: int) -> Difference:
    """Compute the mean of the finite values, with Nadeau and Bengio's interval for `fewest` or more values."""
    if values.size < fewest or not n_train * n_test > 0:
        return _NO_DIFFERENCE._replace(mean=mean(values))
    variance = float(values.var(ddof=1)) * (1.0 / values.size + n_test / n_train)
    return _difference(mean(values), _Spread(variance, values.size - 1), math.nan)


def _difference(value: float, spread: _Spread, disagreement: float) -> Difference:
    from scipy.special import stdtr

    quantile, error = _quantile(spread.freedom), math.sqrt(spread.variance)
    if error != 0.0:  # perhaps NaN
        p_value = 2.0 * float(stdtr(spread.freedom, -abs(value) / error))
    else:
        p_value = 1.0 if value == 0.0 else 0.0
    return Difference(value, value - quantile * error, value + quantile * error, p_value, disagreement)


def _quantile(freedom: float) -> float:
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + CONFIDENCE / 2.0))


def _sample_values(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2:
        raise DataError(f"values of samples have shape {array.shape}: expected (n_splits, n_samples)")
    return array


def _mean_of_models(values: NDArray[np.float64], draws: ArrayLike | None) -> NDArray[np.float64]:
    """Average the rows of each draw, which test the same samples."""
    numbers = np.arange(len(values)) if draws is None else np.asarray(draws)
    distinct = dict.fromkeys(numbers.tolist())
    if len(distinct) == len(values):
        return values
    return np.array([values[numbers == number].mean(axis=0) for number in distinct])


def _with_values(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Drop rows without a value: two methods may have no tested sample of a split in common."""
    return values[~np.isnan(values).all(axis=1)]


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    return array[np.isfinite(array)]
