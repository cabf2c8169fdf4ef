"""Metrics of predicted risks and survival functions for times of which some are censored.

``y`` are times in a form of `mklearn.survival.times.times_and_events`; ``risk``, (m,), is higher for samples whose
event is expected earlier. Functions with ``y_train`` weight samples by the inverse probability of not being censored,
from the Kaplan-Meier estimate of censoring in the training samples. The function ``NAME_values`` returns one value per
sample: their mean is the metric, and the variance of their mean is the metric's variance.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import NotApplicable
from mklearn.survival.kaplan_meier import KaplanMeier
from mklearn.survival.times import times_and_events

Values = NDArray[np.float64]
BLOCK = 256
"""Number of samples with an event that are compared with all others at a time."""


def harrell_c(y: Any, risk: ArrayLike) -> float:
    """Return Harrell's C: the proportion of comparable pairs whose earlier event has the higher predicted risk.

    A pair is comparable if the sample with the smaller time has an event; of equal times, one of the two is censored.
    Equal risks count one half. Raises `NotApplicable` if no pair is comparable.

    References
    ----------
    Harrell, Califf, Pryor, Lee, Rosati, "Evaluating the yield of medical tests", JAMA 247, 1982.
    """
    return _ratio(*_pairs(*_tested(y), risk))


def harrell_c_values(y: Any, risk: ArrayLike) -> Values:
    """Return values by the influence of each sample's pairs on the ratio of concordant to comparable pairs."""
    return _ratio_values(*_pairs(*_tested(y), risk))


def uno_c(y_train: Any, y: Any, risk: ArrayLike) -> float:
    """Return Uno's C: Harrell's C with pairs weighted by ``1/G(t)^2``, where the earlier event is at t.

    G is the probability not to be censored until t. The weighted C estimates the concordance that would be seen without
    censoring. Events at which G is 0 in the training samples do not count. Raises `NotApplicable` if no pair is
    comparable.

    References
    ----------
    Uno, Cai, Pencina, D'Agostino, Wei, "On the C-statistics for evaluating overall adequacy of risk prediction
    procedures with censored survival data", Statistics in Medicine 30, 2011.
    """
    return _ratio(*_weighted_pairs(y_train, y, risk))


def uno_c_values(y_train: Any, y: Any, risk: ArrayLike) -> Values:
    """Return values by the influence of each sample's pairs; the weights of pairs count as fixed."""
    return _ratio_values(*_weighted_pairs(y_train, y, risk))


def _tested(y: Any) -> tuple[Values, NDArray[np.bool_]]:
    return times_and_events(y, fewest_events=0)  # test samples may all be censored


def _weighted_pairs(y_train: Any, y: Any, risk: ArrayLike) -> tuple[Values, Values]:
    time, event = _tested(y)
    remaining = KaplanMeier.of_censoring(*times_and_events(y_train)).at(time)
    weights = np.divide(1.0, remaining**2, out=np.zeros(len(time)), where=remaining > 0)
    return _pairs(time, event, risk, weights)


def _pairs(
    time: Values, event: NDArray[np.bool_], risk: ArrayLike, weights: Values | None = None
) -> tuple[Values, Values]:
    """Return the weight of the concordant and of the comparable pairs of each sample, (m,) each.

    The weight of a pair is that of its sample with the earlier event.
    """
    risk = np.asarray(risk, dtype=np.float64)
    concordant, comparable = np.zeros((2, len(time)))
    earlier = np.flatnonzero(event if weights is None else event & (weights > 0))
    for start in range(0, len(earlier), BLOCK):
        rows = earlier[start : start + BLOCK]
        own = np.ones((len(rows), 1)) if weights is None else weights[rows, None]
        pairs = own * ((time > time[rows, None]) | ((time == time[rows, None]) & ~event))
        right = pairs * (0.5 + 0.5 * np.sign(risk[rows, None] - risk))
        for sums, values in ((comparable, pairs), (concordant, right)):
            sums += values.sum(axis=0)
            sums[rows] += values.sum(axis=1)
    if not comparable.any():
        raise NotApplicable("the concordance needs two samples of which the earlier time has an event; there are none")
    return concordant, comparable


def _ratio(concordant: Values, comparable: Values) -> float:
    return float(concordant.sum() / comparable.sum())


def _ratio_values(concordant: Values, comparable: Values) -> Values:
    ratio = _ratio(concordant, comparable)
    return np.asarray(ratio + 2.0 * len(comparable) * (concordant - ratio * comparable) / comparable.sum())


def brier_scores(y_train: Any, y: Any, survival: ArrayLike, times: ArrayLike) -> Values:
    """Return the Brier score at each of several times, (n_times,).

    ``survival`` are predicted probabilities of surviving the times, (m, n_times). A sample that is censored before a
    time has weight 0 there. Raises `NotApplicable` if every training sample is censored before one of the times, or for
    probabilities that are not finite.

    References
    ----------
    Graf, Schmoor, Sauerbrei, Schumacher, "Assessment and comparison of prognostic classification schemes for survival
    data", Statistics in Medicine 18, 1999.
    """
    return np.asarray(_squared_errors(y_train, y, survival, times).mean(axis=0))


def integrated_brier(y_train: Any, y: Any, survival: ArrayLike, times: ArrayLike) -> float:
    """Return the mean of the Brier score over the times, integrated from the first to the last by trapezoids.

    Arguments and errors are as for `brier_scores`, with times in ascending order, which may repeat. Raises
    `NotApplicable` too if all are equal.
    """
    return float(integrated_brier_values(y_train, y, survival, times).mean())


def integrated_brier_values(y_train: Any, y: Any, survival: ArrayLike, times: ArrayLike) -> Values:
    """Return the weighted squared errors of each sample, averaged over the times."""
    places = np.asarray(times, dtype=np.float64)
    if places[0] == places[-1]:
        raise NotApplicable(f"the Brier score has to be integrated over two or more times, and all are {places[0]:g}")
    errors = _squared_errors(y_train, y, survival, places)
    return np.asarray(np.trapezoid(errors, places, axis=1) / (places[-1] - places[0]))


def _squared_errors(y_train: Any, y: Any, survival: ArrayLike, times: ArrayLike) -> Values:
    """Return the weighted squared error of each sample at each time, (m, n_times)."""
    (time, event), times = _tested(y), np.asarray(times, dtype=np.float64)
    censoring = KaplanMeier.of_censoring(*times_and_events(y_train))
    at_times, remaining = censoring.at(times), censoring.at(time)
    if not (at_times > 0).all():
        raise NotApplicable(f"all training samples are censored before {times[at_times <= 0][0]:g}: take earlier times")
    survival = np.asarray(survival, dtype=np.float64)
    if not np.isfinite(survival).all():
        raise NotApplicable("survival functions are not finite: exponentials of the risks are too large")
    past = time[:, None] <= times
    died = np.divide(1.0, remaining, out=np.zeros(len(time)), where=event & (remaining > 0))
    weights = np.where(past, died[:, None], 1.0 / at_times)
    return np.asarray(weights * (~past - survival) ** 2)
