"""Means, spreads and intervals over repeated splits of one pool of samples.

Accuracies of repeated splits are not independent: their training sets overlap, and so do their test sets. The usual
interval ``mean +- t s / sqrt(J)`` over J splits is too narrow, and narrows without end as splits are added.

Where each test sample's outcome is known (right or wrong, or the difference of two methods: 1, 0 or -1), its variance
is estimated from what varies. With the outcomes d_ij of sample i in split j, N distinct test samples, n and m training
and test samples of a split::

    V = s^2/J + (sqrt(A) + sqrt(B))^2

- ``s^2/J``: the splits drawn; s^2 is the variance of the split means.
- ``A = sum_i (d_i - d)^2 / N^2``: the samples tested, from the means d_i of each sample over the splits that test it.
- ``B = b n/m``: the training sets, of which two share n/(n + m) of their samples. b is what s^2 has beyond the test
  samples: ``s^2 - (a (1 - m/N) + e)/m``, not below 0, with the variance a between samples and e within them. An effect
  that adds up over training samples has the covariance b n/m between two splits; others have less.
- The square of the sum: a sample that is hard to classify also misleads as a training sample; this is the largest
  covariance that the two can have.

Where training sets are larger than test sets, b is hardly known. V is therefore at most Nadeau and Bengio's
``s^2 (1/J + m/n)`` (see below), but at least ``s^2/J + A``.

The quantile is Student's, with Satterthwaite's degrees of freedom for the sum of A (N - 1) and the rest (J - 1).
``tests/benchmarks/interval_coverage.py`` measures the coverage on populations with a known difference;
``reports/intervals`` has its figure.

Models of one draw share their test samples (see :mod:`mklearn.study.evaluation.draws`), so that their number says
nothing about other test samples. Their outcomes are averaged first, sample by sample; a draw then counts as one split,
and its n is the number of all samples that its models are trained on or validated by.

For other metrics, which are no means over samples, the variance is that of Nadeau and Bengio (Inference for the
generalization error, Machine Learning 52, 2003, section 4.1.1): two splits have the correlation m/(n + m). That is
meant for small test parts.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError

FEWEST_SPLITS = 5
"""With fewer splits than this, a difference has no interval."""


class Interval(NamedTuple):
    """A mean and its confidence interval; the ends are NaN where there are too few splits for one."""

    mean: float
    low: float
    high: float


class Difference(NamedTuple):
    """The mean difference of two methods on the same splits.

    Attributes
    ----------
    mean, low, high : float
        The ends and the p-value are NaN with fewer than five splits.
    p_value : float
        Of the two-sided test that the difference is 0; below 1 - confidence exactly if the interval does not contain 0.
    disagreement : float
        Share of the test samples on which exactly one of the two is right; NaN where samples are not known.
    """

    mean: float
    low: float
    high: float
    p_value: float
    disagreement: float


class _Spread(NamedTuple):
    variance: float
    """Of the mean."""
    freedom: float


def mean(values: ArrayLike) -> float:
    """Compute the mean of the finite values; NaN if there are none."""
    finite = _finite(values)
    return float(finite.mean()) if finite.size else math.nan


def standard_deviation(values: ArrayLike) -> float:
    """Compute the sample standard deviation (divisor J - 1) of the finite values; NaN for fewer than two."""
    finite = _finite(values)
    return float(finite.std(ddof=1)) if finite.size > 1 else math.nan


def accuracy_interval(
    correct: ArrayLike, n_train: float, confidence: float = 0.95, *, draws: ArrayLike | None = None
) -> Interval:
    """Compute the mean accuracy over splits, and Wilson's interval with the variance that the module describes.

    Parameters
    ----------
    correct : array-like of shape (J, N)
        1 where a test sample is classified correctly, 0 where not, NaN where a split does not test it.
    n_train : float
        Training samples of a split.
    confidence : float in (0, 1), default=0.95
    draws : array-like of shape (J,), optional
        A number for each row, equal for models of one draw, which test the same samples; by default all are different.

    Returns
    -------
    interval : Interval
        Between 0 and 1, and not of length 0 where every sample is right; NaN ends for a single split.

    Raises
    ------
    DataError
        A confidence outside (0, 1), or a shape that is not a matrix.

    References
    ----------
    Wilson (1927), with p (1 - p)/V samples for the N that independent ones would be.
    """
    outcomes = _mean_of_models(_outcomes(correct), draws)
    split_means = np.nanmean(outcomes, axis=1) if len(outcomes) else np.empty(0)
    p = mean(split_means)
    if len(outcomes) < 2:
        return Interval(p, math.nan, math.nan)
    spread = _spread(outcomes, n_train)
    spent = p * (1.0 - p)
    n_tested = int((~np.isnan(outcomes)).any(axis=0).sum())
    count = min(spent / spread.variance, n_tested) if spent > 0 and spread.variance > 0 else n_tested
    quantile = _quantile(spread.freedom, confidence)
    weight = quantile**2 / count
    centre = (p + weight / 2) / (1 + weight)
    half_width = math.sqrt(quantile**2 * spent / count + weight**2 / 4) / (1 + weight)
    return Interval(p, max(0.0, centre - half_width), min(1.0, centre + half_width))


def paired_accuracy_difference(
    first: ArrayLike, second: ArrayLike, n_train: float, confidence: float = 0.95, *, draws: ArrayLike | None = None
) -> Difference:
    """Compute the mean difference of two accuracies on the same test samples, with the interval of the module.

    Parameters
    ----------
    first, second : array-like of shape (J, N)
        1 where a test sample is classified correctly, 0 where not, NaN where a split does not test it: in both the same
        places.
    n_train : float
        Training samples of a split.
    confidence : float in (0, 1), default=0.95
    draws : array-like of shape (J,), optional
        As in :func:`accuracy_interval`.

    Raises
    ------
    DataError
        Different shapes, or as in :func:`accuracy_interval`.

    Notes
    -----
    The variance is at least ``2/(N + 2)^2``, that of Bonett and Price (2012) for no disagreement at all: two methods
    that agree on every sample of a pool may differ on the next one.
    """
    one, other = _outcomes(first), _outcomes(second)
    if one.shape != other.shape:
        raise DataError(f"outcomes have shapes {one.shape} and {other.shape}: both methods need the same test samples")
    outcomes = one - other
    disagreement = mean(np.nanmean(np.abs(outcomes), axis=1)) if len(outcomes) else math.nan
    outcomes = _mean_of_models(outcomes, draws)
    difference = mean(np.nanmean(outcomes, axis=1)) if len(outcomes) else math.nan
    if len(outcomes) < FEWEST_SPLITS:
        return Difference(difference, math.nan, math.nan, math.nan, disagreement)
    return _difference(difference, _spread(outcomes, n_train), confidence, disagreement)


def corrected_resampled_interval(
    values: ArrayLike, n_train: float, n_test: float, confidence: float = 0.95
) -> Interval:
    """Compute the mean over splits and Nadeau and Bengio's confidence interval.

    Parameters
    ----------
    values : array-like of shape (J,)
        One value for each split; those that are not finite (failed splits) are left out.
    n_train, n_test : float
        Training and test samples of a split.
    confidence : float in (0, 1), default=0.95

    Returns
    -------
    interval : Interval
        ``mean -+ t_{J-1} s sqrt(1/J + n_test/n_train)``; NaN ends for fewer than two values.

    Raises
    ------
    DataError
        A confidence outside (0, 1), or sizes that are not positive.

    References
    ----------
    Nadeau and Bengio (2003), section 4.1.1; for repeated k-fold cross-validation, Bouckaert and Frank (2004).
    """
    if not (n_train > 0 and n_test > 0):
        raise DataError(f"a split has {n_train} training and {n_test} test samples: both must be positive")
    finite = _finite(values)
    if finite.size < 2:
        return Interval(mean(finite), math.nan, math.nan)
    spread = _resampled_spread(finite, n_train, n_test)
    half_width = _quantile(spread.freedom, confidence) * math.sqrt(spread.variance)
    return Interval(mean(finite), mean(finite) - half_width, mean(finite) + half_width)


def paired_difference(
    first: ArrayLike, second: ArrayLike, n_train: float, n_test: float, confidence: float = 0.95
) -> Difference:
    """Compute the mean of ``first - second`` over common splits, with Nadeau and Bengio's interval.

    Parameters
    ----------
    first, second : array-like of shape (J,)
        Values of two methods on the same J splits. A split where either is not finite is left out.
    n_train, n_test, confidence
        As in :func:`corrected_resampled_interval`.

    Raises
    ------
    DataError
        Arrays of different lengths, or as in :func:`corrected_resampled_interval`.
    """
    one, other = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    if one.shape != other.shape:
        raise DataError(
            f"paired values have shapes {one.shape} and {other.shape}: both methods need one value for each split"
        )
    finite = _finite(one - other)
    if finite.size < FEWEST_SPLITS:
        return Difference(mean(finite), math.nan, math.nan, math.nan, math.nan)
    if not (n_train > 0 and n_test > 0):
        raise DataError(f"a split has {n_train} training and {n_test} test samples: both must be positive")
    return _difference(mean(finite), _resampled_spread(finite, n_train, n_test), confidence, math.nan)


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


def _spread(outcomes: NDArray[np.float64], n_train: float) -> _Spread:
    """Estimate the variance of the mean of outcomes (J, N), by the formula of the module."""
    tested = ~np.isnan(outcomes)
    outcomes, tested = outcomes[:, tested.any(axis=0)], tested[:, tested.any(axis=0)]
    n_splits, n_samples = outcomes.shape
    n_test = tested.sum(axis=1).mean()
    split_means = np.nanmean(outcomes, axis=1)
    of_splits = split_means.var(ddof=1)
    each = np.nanmean(outcomes, axis=0)
    of_samples = float(((each - each.mean()) ** 2).sum()) / n_samples**2
    total = float(np.nanvar(outcomes))
    times = tested.sum(axis=0).mean()  # that a sample is tested
    between = total if times <= 1 else (n_samples * of_samples - total / times) / (1.0 - 1.0 / times)
    between = min(max(between, 0.0), total)
    by_test_samples = (between * (1.0 - n_test / n_samples) + total - between) / n_test
    of_training = max(0.0, of_splits - by_test_samples) * n_train / n_test
    of_samples = max(of_samples, 2.0 / (n_samples + 2) ** 2)
    drawn = of_splits / n_splits
    variance = drawn + (math.sqrt(of_samples) + math.sqrt(of_training)) ** 2
    resampled = of_splits * (1.0 / n_splits + n_test / n_train)
    variance = max(min(variance, resampled), drawn + of_samples)
    by_splits = variance - of_samples
    freedom = variance**2 / (by_splits**2 / (n_splits - 1) + of_samples**2 / max(n_samples - 1, 1))
    return _Spread(variance, freedom)


def _resampled_spread(values: NDArray[np.float64], n_train: float, n_test: float) -> _Spread:
    return _Spread(float(values.var(ddof=1)) * (1.0 / values.size + n_test / n_train), values.size - 1)


def _difference(value: float, spread: _Spread, confidence: float, disagreement: float) -> Difference:
    from scipy.special import stdtr

    quantile, error = _quantile(spread.freedom, confidence), math.sqrt(spread.variance)
    if error > 0.0:
        p_value = 2.0 * float(stdtr(spread.freedom, -abs(value) / error))
    else:
        p_value = 1.0 if value == 0.0 else 0.0
    return Difference(value, value - quantile * error, value + quantile * error, p_value, disagreement)


def _quantile(freedom: float, confidence: float) -> float:
    from scipy.special import stdtrit

    if not 0.0 < confidence < 1.0:
        raise DataError(f"confidence is {confidence}: it must lie strictly between 0 and 1, such as 0.95")
    return float(stdtrit(freedom, 0.5 + confidence / 2.0))


def _outcomes(values: ArrayLike) -> NDArray[np.float64]:
    array = np.asarray(values, dtype=np.float64)
    if array.ndim != 2:
        raise DataError(
            f"outcomes have shape {array.shape}: give one row for each split and one column for each sample"
        )
    return array


def _mean_of_models(outcomes: NDArray[np.float64], draws: ArrayLike | None) -> NDArray[np.float64]:
    """Average the rows of each draw, in which the same samples are tested."""
    if draws is None:
        return outcomes
    numbers = np.asarray(draws)
    if numbers.shape != outcomes.shape[:1]:
        raise DataError(f"draws have shape {numbers.shape} for {len(outcomes)} splits: give one number for each split")
    found = dict.fromkeys(numbers.tolist())
    if len(found) == len(outcomes):
        return outcomes
    return np.array([outcomes[numbers == number].mean(axis=0) for number in found])


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    return array[np.isfinite(array)]
