"""Means, spreads and intervals over repeated splits of one pool of samples.

Accuracies of repeated splits are not independent: their training sets overlap, and so do their test sets. The usual
interval ``mean +- t s / sqrt(J)`` over J splits is too narrow, and narrows without end as splits are added.

Where each test sample has a value of which the metric is the mean, its variance is estimated from what varies. The
value is the outcome (right or wrong, or the difference of two methods: 1, 0 or -1); for a metric that is no mean, such
as the balanced accuracy, it is T plus the sample's influence on T
(:mod:`mklearn.study.evaluation.metrics.sample_values`). With the values d_ij of sample i in split j of J, N distinct
test samples, n and m training and test samples of a split::

    V = A + B + sqrt(A B) + b/J

- ``A = sum_i w_i^2 (d_i - d)^2 N/(N - 1)``: the samples tested, from the mean d_i of each sample over the splits that
  test it, with the share w_i of all tests that are of it.
- ``b``, the variance of the effect of training sets that are drawn from one pool: what the variance s^2 of the split
  means has beyond the test samples, ``s^2 - a c - e/m``, not below 0, with the variance a between samples and e within
  them. ``c`` is what test parts make of a variance of 1 between samples: with the weights ``W_ji`` of sample i in the
  mean of split j, ``c = (sum_ji W_ji^2 - sum_i (sum_j W_ji)^2/J)/(J - 1)``. It is 1/m for the folds of one repeat,
  whose test parts share no sample, and about ``(1 - m/N)/m`` for random ones.
- ``B = b n/m``: what the training sets share, as two of them have n/(n + m) of their samples in common. An effect that
  adds up over training samples has the covariance b n/m between two splits; others have less.
- ``sqrt(A B)``: a sample that is hard to classify also misleads as a training sample. This is half of the largest
  covariance that the two can have; splits can't show which share of it there is.

Where training sets are larger than test sets, b is hardly known. V is therefore at most Nadeau and Bengio's
``s^2 (1/J + m/n)`` (see below), but at least ``A + b/J``.

The quantile is Student's, with Satterthwaite's degrees of freedom for the sum of A (N - 1) and the rest (J - 1).
``tests/benchmarks/interval_coverage.py`` measures coverage and width on populations with a known difference and on
pools of real data; ``reports/intervals`` has its tables.

Models of one draw share their test samples, so that their number says nothing about other test samples. Their values
are averaged first, sample by sample; a draw then counts as one split, and its n is the number of all samples that its
models are trained on or validated by.

One test set, on which each method has one model or the models of one draw, says nothing about other training samples:
V is A, and the interval is for the fitted models. For an accuracy it is exact (Clopper and Pearson),
and two methods are compared by the samples on which one of them alone is right (McNemar's exact test). A is DeLong's
variance of the area under the ROC curve.

Where there are no values of samples, the variance is that of Nadeau and Bengio (Inference for the generalization
error, Machine Learning 52, 2003, section 4.1.1): two splits have the correlation m/(n + m). That is meant for small
test parts, and wide for others.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError

FEWEST_SPLITS = 5
"""With fewer splits than this, a difference has no interval, unless it is of samples of one test set."""
CONFIDENCE = 0.95
"""Confidence level of all intervals."""
SHARE = (0.0, 1.0)
"""Bounds of a metric that is a share."""


class Interval(NamedTuple):
    """A mean and its confidence interval; the ends are NaN where there are too few splits for one."""

    mean: float
    low: float
    high: float


class Difference(NamedTuple):
    """The mean difference of two methods on the same splits.

    The ends and the p-value are NaN with two to four splits, and with one where samples have no values.
    """

    mean: float
    low: float
    high: float
    p_value: float
    """For the two-sided test of no difference. Below 0.05 exactly if the interval does not contain 0, except for a
    single test set."""
    disagreement: float
    """Share of the test samples on which exactly one of the two is right; NaN if single samples are unknown."""


_NO_DIFFERENCE = Difference(*[math.nan] * 5)


class _Spread(NamedTuple):
    variance: float
    """Variance of the mean."""
    freedom: float


def mean(values: ArrayLike) -> float:
    """Compute the mean of the finite values; NaN if there are none."""
    finite = _finite(values)
    return float(finite.mean()) if finite.size else math.nan


def standard_deviation(values: ArrayLike) -> float:
    """Compute the sample standard deviation (divisor J - 1) of the finite values; NaN for fewer than two."""
    finite = _finite(values)
    return float(finite.std(ddof=1)) if finite.size > 1 else math.nan


def sample_interval(
    values: ArrayLike, n_train: float, *, draws: ArrayLike | None = None, bounds: tuple[float, float] = SHARE
) -> Interval:
    """Compute the mean of a metric over splits, and its interval with the variance that the module describes.

    Parameters
    ----------
    values : array-like of shape (J, N)
        Of each test sample; NaN where a split does not test it. For the accuracy 1 where it is classified correctly and
        0 where not.
    n_train : float
        Training samples of a split.
    draws : array-like of shape (J,), optional
        A number for each row, equal for models of one draw, which test the same samples; by default all are different.
    bounds : (float, float), default=(0, 1)
        Smallest and largest value of the metric.

    Returns
    -------
    interval : Interval
        Wilson's for a metric from 0 to 1: inside these, and not of length 0 where every sample is right. For another
        one symmetric. For a single test set it is exact if all values are 0 or 1, see the module.

    References
    ----------
    Wilson (1927), with p (1 - p)/V samples for the N that independent ones would be.
    """
    table = _with_values(_mean_of_models(_sample_values(values), draws))
    if not len(table):
        return Interval(math.nan, math.nan, math.nan)
    p = mean(np.nanmean(table, axis=1))
    if len(table) == 1 and bounds == SHARE and _are_outcomes(table):
        return Interval(p, *_exact_share(int(np.nansum(table)), int((~np.isnan(table)).sum())))
    spread = _spread(table, n_train, bounds)
    quantile = _quantile(spread.freedom)
    if bounds != SHARE:
        half_width = quantile * math.sqrt(spread.variance)
        return Interval(p, max(bounds[0], p - half_width), min(bounds[1], p + half_width))
    spent = max(p * (1.0 - p), 0.0)
    n_tested = int((~np.isnan(table)).any(axis=0).sum())
    count = min(spent / spread.variance, n_tested) if spent > 0 and spread.variance > 0 else n_tested
    weight = quantile**2 / count
    centre = (p + weight / 2) / (1 + weight)
    half_width = math.sqrt(quantile**2 * spent / count + weight**2 / 4) / (1 + weight)
    return Interval(p, max(0.0, centre - half_width), min(1.0, centre + half_width))


def paired_sample_difference(
    first: ArrayLike, second: ArrayLike, n_train: float, *, draws: ArrayLike | None = None,
    bounds: tuple[float, float] = SHARE,
) -> Difference:  # fmt: skip
    """Compute the mean difference of a metric of two methods on the same test samples, with the module's interval.

    Parameters
    ----------
    first, second : array-like of shape (J, N)
        Values as in :func:`sample_interval`: NaN in both in the same places. `DataError` for different shapes.
    n_train, draws, bounds
        As in :func:`sample_interval`.

    Notes
    -----
    The variance is at least ``2/(N + 2)^2``, Bonett and Price's (2012) for no disagreement at all: two methods
    that agree on every sample of a pool may differ on the next one. A metric without bounds has no least variance.
    For one test set the interval also contains the interval of the exact test, conditional on the number of samples
    that one method alone has right.
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
    result = _difference(difference, _spread(table, n_train, bounds), disagreement)
    if len(one) == 1 and _are_outcomes(one) and _are_outcomes(other):
        return _exact_difference(result, int((table == 1.0).sum()), int((table == -1.0).sum()))
    return result


def _are_outcomes(values: NDArray[np.float64]) -> bool:
    """Return whether all values are right (1) or wrong (0), as for the accuracy."""
    return bool(np.isin(values[~np.isnan(values)], (0.0, 1.0)).all())


def _exact_share(n_right: int, n: int) -> tuple[float, float]:
    from scipy.stats import binomtest

    found = binomtest(n_right, n).proportion_ci(CONFIDENCE, method="exact")
    return float(found.low), float(found.high)


def _exact_difference(found: Difference, n_first: int, n_second: int) -> Difference:
    """Take McNemar's exact test of the samples that the first method alone has right, and the second alone."""
    from scipy.stats import binomtest

    apart = n_first + n_second
    if not apart:
        return found._replace(p_value=1.0)
    low, high = (found.disagreement * (2.0 * end - 1.0) for end in _exact_share(n_first, apart))
    p_value = float(binomtest(n_first, apart).pvalue)
    return found._replace(low=min(found.low, low), high=max(found.high, high), p_value=p_value)


def corrected_resampled_interval(values: ArrayLike, n_train: float, n_test: float) -> Interval:
    """Compute the mean of values (J,) over splits and Nadeau and Bengio's confidence interval.

    Values that are not finite (failed splits) are left out; the ends are NaN for fewer than two, and where the numbers
    of training and test samples of a split are not known. It is ``mean -+ t_{J-1} s sqrt(1/J + n_test/n_train)``.

    References
    ----------
    Nadeau and Bengio (2003), section 4.1.1; for repeated k-fold cross-validation, Bouckaert and Frank (2004).
    """
    return Interval(*_resampled(_finite(values), n_train, n_test, fewest=2)[:3])


def paired_difference(first: ArrayLike, second: ArrayLike, n_train: float, n_test: float) -> Difference:
    """Compute the mean of ``first - second`` over common splits, with Nadeau and Bengio's interval.

    Values (J,) are of two methods on the same splits. A split where either is not finite is left out.
    """
    differences = _finite(np.asarray(first, dtype=np.float64) - np.asarray(second, dtype=np.float64))
    return _resampled(differences, n_train, n_test, FEWEST_SPLITS)


def success_values(predicted: NDArray[Any], y: NDArray[Any], deviation: float) -> NDArray[np.float64]:
    """Return values whose mean is the accuracy, or R^2 where the target has a standard deviation."""
    return np.asarray(1.0 - ((predicted - y) / deviation) ** 2 if deviation else predicted == y, dtype=np.float64)


def holm(p_values: ArrayLike) -> NDArray[np.float64]:
    """Adjust the p-values of several comparisons by Holm's method; NaN stay NaN and do not count.

    At a level of 5 % the probability of any wrong rejection among all of them is then at most 5 %.
    """
    values = np.asarray(p_values, dtype=np.float64)
    adjusted = np.full(values.shape, math.nan)
    known = np.flatnonzero(np.isfinite(values))
    order = known[np.argsort(values[known], kind="stable")]
    factors = np.arange(order.size, 0, -1)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(values[order] * factors))
    return adjusted


def _spread(values: NDArray[np.float64], n_train: float, bounds: tuple[float, float]) -> _Spread:
    """Estimate the variance of the mean of values (J, N), by the formula of the module."""
    tested = ~np.isnan(values)
    values, tested = values[:, tested.any(axis=0)], tested[:, tested.any(axis=0)]
    n_splits, n_samples = values.shape
    n_test = tested.sum(axis=1).mean()
    length = bounds[1] - bounds[0] if math.isfinite(bounds[1] - bounds[0]) else 0.0
    of_samples = max(_variance_of_samples(values, tested), 2.0 * length**2 / (n_samples + 2) ** 2)
    if n_splits == 1:
        return _Spread(of_samples, max(n_samples - 1, 1))
    of_splits = np.nanmean(values, axis=1).var(ddof=1)
    training = max(0.0, of_splits - _variance_of_test_samples(values, tested))
    drawn, shared = training / n_splits, training * n_train / n_test
    variance = of_samples + shared + math.sqrt(of_samples * shared) + drawn
    variance = max(min(variance, of_splits * (1.0 / n_splits + n_test / n_train)), of_samples + drawn)
    if not variance > 0.0:  # values without bounds that are equal everywhere
        return _Spread(0.0, n_splits - 1)
    by_splits = variance - of_samples
    freedom = variance**2 / (by_splits**2 / (n_splits - 1) + of_samples**2 / max(n_samples - 1, 1))
    return _Spread(variance, freedom)


def _variance_of_samples(values: NDArray[np.float64], tested: NDArray[np.bool_]) -> float:
    """Estimate the variance of the mean that the tested samples cause: ``A``."""
    n_samples = values.shape[1]
    each, shares = np.nanmean(values, axis=0), tested.sum(axis=0) / tested.sum()
    squares = float((shares**2 * (each - shares @ each) ** 2).sum())
    return squares * n_samples / max(n_samples - 1, 1)


def _variance_of_test_samples(values: NDArray[np.float64], tested: NDArray[np.bool_]) -> float:
    """Estimate the part of the variance of split means that their test samples cause: ``a c + e/m``."""
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
    """Compute the mean of finite values and Nadeau and Bengio's interval, if there are enough values for one."""
    if values.size < fewest or not n_train * n_test > 0:
        return _NO_DIFFERENCE._replace(mean=mean(values))
    variance = float(values.var(ddof=1)) * (1.0 / values.size + n_test / n_train)
    return _difference(mean(values), _Spread(variance, values.size - 1), math.nan)


def _difference(value: float, spread: _Spread, disagreement: float) -> Difference:
    from scipy.special import stdtr

    quantile, error = _quantile(spread.freedom), math.sqrt(spread.variance)
    if error > 0.0:
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
    """Average the rows of each draw, in which the same samples are tested."""
    numbers = np.arange(len(values)) if draws is None else np.asarray(draws)
    distinct = dict.fromkeys(numbers.tolist())
    if len(distinct) == len(values):
        return values
    return np.array([values[numbers == number].mean(axis=0) for number in distinct])


def _with_values(values: NDArray[np.float64]) -> NDArray[np.float64]:
    """Leave out the rows without a value: two methods may share no tested sample of a split."""
    return values[~np.isnan(values).all(axis=1)]


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    return array[np.isfinite(array)]
