"""Means, spreads and intervals over repeated splits, corrected for the overlap of their training sets.

Accuracies of repeated random splits are not independent: their training sets overlap, so the usual interval
``mean +- t * s / sqrt(J)`` is too narrow and narrows without end as repeats are added. Nadeau and Bengio (Inference for
the generalization error, Machine Learning 52, 2003, section 4.1.1, the corrected resampled t-test) replace the variance
factor 1/J by 1/J + n_test/n_train: the correlation of two repeats is taken to be n_test / (n_train + n_test).

The factor is meant for small test parts. With 10 training images of each class and everything else for the test,
n_test/n_train is 17, and the interval of a difference of 20 points in every repeat contains 0. Repeats whose training
sets hardly overlap share the pool of test samples. The variance of the mean accuracy on a pool of N samples is known,
since it is a mean of N zeros and ones: p (1 - p)/N. :func:`pool_variance` gives that bound, and the
intervals take the smaller of it and Nadeau and Bengio's term, so they are never wider than theirs.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError


class Interval(NamedTuple):
    """A mean and its confidence interval; the ends are NaN for a single repeat, which has no spread."""

    mean: float
    low: float
    high: float


def mean(values: ArrayLike) -> float:
    """Compute the mean of the finite values; NaN if there are none."""
    finite = _finite(values)
    return float(finite.mean()) if finite.size else math.nan


def standard_deviation(values: ArrayLike) -> float:
    """Compute the sample standard deviation (divisor J - 1) of the finite values; NaN for fewer than two."""
    finite = _finite(values)
    return float(finite.std(ddof=1)) if finite.size > 1 else math.nan


def corrected_resampled_interval(
    values: ArrayLike,
    n_train: ArrayLike,
    n_test: ArrayLike,
    confidence: float = 0.95,
    shared_variance: float = math.inf,
) -> Interval:
    """Compute the mean over repeated splits and its corrected resampled confidence interval.

    Parameters
    ----------
    values : array-like of shape (J,)
        One value for each split; those that are not finite (failed repeats) are left out.
    n_train, n_test : int or array-like of shape (J,)
        Training and test samples of a split. Where they differ between splits, the mean ratio is used.
    confidence : float in (0, 1), default=0.95
        Coverage aimed at.
    shared_variance : float, default=inf
        Bound on the variance that all splits have in common, see :func:`pool_variance`; infinite: Nadeau and Bengio's
        interval as it is.

    Returns
    -------
    interval : Interval
        ``mean -+ t_{J-1} sqrt(s^2/J + min(s^2 n_test/n_train, shared_variance))``; NaN ends for fewer than two values.

    Raises
    ------
    DataError
        A confidence outside (0, 1), or sizes that are not positive.

    References
    ----------
    Nadeau and Bengio (2003), section 4.1.1; for repeated k-fold cross-validation, Bouckaert and Frank (2004).
    """
    if not 0.0 < confidence < 1.0:
        raise DataError(f"confidence is {confidence}: it must lie strictly between 0 and 1, such as 0.95")
    array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    keep = np.isfinite(array)
    count = int(keep.sum())
    centre = mean(array)
    if count < 2:
        return Interval(centre, math.nan, math.nan)

    from scipy.special import stdtrit

    variance = standard_deviation(array) ** 2
    shared = min(variance * _test_share(n_train, n_test, keep), shared_variance)
    quantile = float(stdtrit(count - 1, 0.5 + confidence / 2.0))
    half_width = quantile * math.sqrt(variance / count + shared)
    return Interval(centre, centre - half_width, centre + half_width)


def paired_difference(
    a: ArrayLike,
    b: ArrayLike,
    n_train: ArrayLike,
    n_test: ArrayLike,
    confidence: float = 0.95,
    shared_variance: float = math.inf,
) -> Interval:
    """Compute the mean of ``a - b`` over common splits, with its corrected resampled interval.

    Parameters
    ----------
    a, b : array-like of shape (J,)
        Values of two methods on the same J splits, in the same order. A split where either is not finite is left out.
    n_train, n_test, confidence, shared_variance
        As in :func:`corrected_resampled_interval`.

    Returns
    -------
    interval : Interval
        The interval contains 0 exactly when the two-sided corrected resampled t-test does not reject.

    Raises
    ------
    DataError
        Arrays of different lengths, or as in :func:`corrected_resampled_interval`.
    """
    first, second = np.atleast_1d(np.asarray(a, dtype=float)), np.atleast_1d(np.asarray(b, dtype=float))
    if first.shape != second.shape:
        raise DataError(
            f"paired values have shapes {first.shape} and {second.shape}: both methods need one value for each split"
        )
    with np.errstate(invalid="ignore"):
        difference = first - second
    return corrected_resampled_interval(difference, n_train, n_test, confidence, shared_variance)


def pool_variance(accuracy: float, n_samples: float, other: float = math.nan) -> float:
    """Compute the variance of a mean accuracy, or of the difference of two, that comes from the pool of samples.

    Parameters
    ----------
    accuracy : float in [0, 1]
        p, of the method.
    n_samples : float
        N, distinct samples in the pool.
    other : float in [0, 1], optional
        q, of the method that it is compared with on the same samples.

    Returns
    -------
    float
        p (1 - p)/N; for a difference at most ((1 - p) + (1 - q) - (p - q)^2)/N, reached when the two never err on the
        same sample: the share of samples on which exactly one is right is at most the sum of their errors.
        Infinite if a value is not a share or the number of samples is unknown.
    """
    if not (math.isfinite(accuracy) and 0.0 <= accuracy <= 1.0 and n_samples > 0):
        return math.inf
    if math.isnan(other):
        return accuracy * (1.0 - accuracy) / n_samples
    if not 0.0 <= other <= 1.0:
        return math.inf
    disagreement = min(1.0, (1.0 - accuracy) + (1.0 - other))
    return max(0.0, disagreement - (accuracy - other) ** 2) / n_samples


def _test_share(n_train: ArrayLike, n_test: ArrayLike, keep: NDArray[np.bool_]) -> float:
    """Compute the mean of n_test/n_train over the splits that count."""
    train, test = np.asarray(n_train, dtype=np.float64), np.asarray(n_test, dtype=np.float64)
    for name, sizes in (("n_train", train), ("n_test", test)):
        if sizes.shape not in ((), keep.shape):
            raise DataError(
                f"{name} has shape {sizes.shape}: give one number, or one for each of the {keep.size} splits"
            )
        if not (sizes > 0).all():
            raise DataError(f"{name} must be a positive number of samples for every split")
    ratio = np.broadcast_to(test, keep.shape) / np.broadcast_to(train, keep.shape)
    return float(ratio[keep].mean())


def _finite(values: ArrayLike) -> NDArray[np.float64]:
    array = np.atleast_1d(np.asarray(values, dtype=np.float64))
    return array[np.isfinite(array)]
