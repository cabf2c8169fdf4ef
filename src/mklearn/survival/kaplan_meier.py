"""Kaplan-Meier estimates, and pseudo-observations of times that may be censored.

With d_j events among r_j samples at risk at the event times t_j, ``S(t) = prod_{t_j <= t} (1 - d_j / r_j)``. A sample
that is censored at an event time is at risk there. After the last event S keeps its value.

Without sample i, the factors before its time T_i have r_j - 1 samples at risk, and the factors after it are the same.
All n leave-one-out estimates follow from cumulative products and sums, in O(n log n).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtri

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class KaplanMeier:
    """Survival function of times of which some are censored."""

    times: Floats  # (k,), distinct event times in ascending order
    at_risk: NDArray[np.intp]  # (k,), number of samples at risk at each
    events: NDArray[np.intp]  # (k,), number of events at each

    @classmethod
    def of(cls, time: ArrayLike, event: ArrayLike) -> KaplanMeier:
        """Estimate the survival function of times, (n,), of which those with an event, (n,) bool, are not censored."""
        time, event = np.asarray(time, dtype=np.float64), np.asarray(event, dtype=bool)
        times, events = np.unique(time[event], return_counts=True)
        return cls(times, len(time) - np.searchsorted(np.sort(time), times), events)

    @classmethod
    def of_censoring(cls, time: ArrayLike, event: ArrayLike) -> KaplanMeier:
        """Estimate the distribution of censoring: events end a time before it could be censored at the same time."""
        time, event = np.asarray(time, dtype=np.float64), np.asarray(event, dtype=bool)
        censoring = cls.of(time, ~event)
        ended = np.sort(time[event])
        counts = [np.searchsorted(ended, censoring.times, side=side) for side in ("right", "left")]
        return cls(censoring.times, censoring.at_risk - (counts[0] - counts[1]), censoring.events)

    @property
    def factors(self) -> Floats:
        """Share of the samples at risk that survive each event time, (k,)."""
        return np.asarray(1.0 - self.events / self.at_risk)

    def at(self, times: ArrayLike) -> Floats:
        """Compute the survival function at other times."""
        return np.append(1.0, np.cumprod(self.factors))[np.searchsorted(self.times, times, side="right")]

    def restricted_mean(self, horizon: float) -> float:
        """Compute the restricted mean survival time, the area under the survival function from 0 to the horizon."""
        ends = np.append(self.times[self.times < horizon], horizon)
        return float(np.diff(ends, prepend=0.0) @ np.append(1.0, np.cumprod(self.factors))[: len(ends)])


def survival_interval(time: ArrayLike, event: ArrayLike, at: ArrayLike) -> Floats:
    """Compute point-wise 95 % intervals of the survival function at several times, (2, n_times).

    They are those of log(-log S) by Greenwood's variance. Before the first event, the lower end is Clopper and
    Pearson's. Where S is 0, the upper end is the one before; after the last time, the lower end is 0.

    References
    ----------
    Kalbfleisch, Prentice, "The statistical analysis of failure time data", 2nd edition, 2002, section 1.4.
    """
    time, at = np.asarray(time, dtype=np.float64), np.asarray(at, dtype=np.float64)
    curve = KaplanMeier.of(time, event)
    alive = curve.events < curve.at_risk  # not at a last event after which S is 0
    survival, n = np.cumprod(curve.factors[alive]), curve.at_risk[alive]
    half = ndtri(0.975) * np.sqrt(np.cumsum(curve.events[alive] / (n * (n - curve.events[alive])))) / -np.log(survival)
    low, high = np.append(1.0, survival ** np.exp(half)), np.append(1.0, survival ** np.exp(-half))
    place = np.searchsorted(curve.times, at, side="right")
    n_at_risk = np.maximum(len(time) - np.searchsorted(np.sort(time), at), 1)
    lower = np.where(place == 0, 0.025 ** (1.0 / n_at_risk), np.append(low, 0.0)[place])
    return np.stack([np.where(at > time.max(), 0.0, lower), np.append(high, high[-1])[place]])


@dataclass(frozen=True, eq=False)
class _WithoutEach:
    """Survival functions without one of the n samples each."""

    curve: KaplanMeier
    time: Floats  # (n,)
    reduced: Floats  # (k + 1,), product of the first j factors with one sample less at risk
    after: Floats  # (n,), survival function without sample i, just after its time
    later: NDArray[np.intp]  # (n,), position of the first event time after that of sample i

    @classmethod
    def of(cls, time: ArrayLike, event: ArrayLike) -> _WithoutEach:
        time, event = np.asarray(time, dtype=np.float64), np.asarray(event, dtype=bool)
        curve = KaplanMeier.of(time, event)
        rest = np.maximum(curve.at_risk - 1, 1)  # a last event at which one sample is at risk concerns no later one
        reduced = np.append(1.0, np.cumprod(1.0 - curve.events / rest))
        earlier, later = (np.searchsorted(curve.times, time, side=side) for side in ("left", "right"))
        here = np.minimum(earlier, len(rest) - 1)
        own = np.where(later > earlier, 1.0 - (curve.events[here] - event) / rest[here], 1.0)
        return cls(curve, time, reduced, reduced[earlier] * own, later)

    def at(self, t: float) -> Floats:
        """Compute the n survival functions at a time."""
        n_past = int(np.searchsorted(self.curve.times, t, side="right"))
        products = np.append(np.cumprod(self.curve.factors[:n_past][::-1])[::-1], 1.0)
        past = self.after * products[np.minimum(self.later, n_past)]
        return np.where(self.time <= t, past, self.reduced[n_past])

    def restricted_means(self, horizon: float) -> Floats:
        """Compute the n restricted mean survival times."""
        times, factors = self.curve.times[self.curve.times < horizon], self.curve.factors
        starts, ends = np.append(0.0, times), np.append(times, horizon)
        areas = np.append(0.0, np.cumsum((ends - starts) * self.reduced[: len(ends)]))
        end = np.minimum(self.time, horizon)
        earlier = np.searchsorted(times, end)
        before = areas[earlier] + (end - starts[earlier]) * self.reduced[earlier]
        rest = np.zeros(len(ends))  # area between an event time and the horizon, over the survival there
        for j in range(len(times) - 1, -1, -1):
            rest[j] = ends[j + 1] - ends[j] + (factors[j + 1] * rest[j + 1] if j + 1 < len(times) else 0.0)
        later = np.minimum(self.later, len(times))
        following = np.append(factors[: len(times)], 0.0)[later] * rest[later]
        return np.asarray(before + np.where(self.time < horizon, self.after * (ends[later] - end + following), 0.0))


def pseudo_survival(time: ArrayLike, event: ArrayLike, at: ArrayLike) -> Floats:
    """Compute pseudo-observations of the survival at several times, (n, n_times).

    The value of sample i is ``n S(t) - (n - 1) S_{-i}(t)``, with S_{-i} the estimate without it. If censoring does not
    depend on the features, its expectation given these is the probability of surviving t. Without censoring it is 1 or
    0.

    References
    ----------
    Andersen, Klein, Rosthoj, "Generalised linear models for correlated pseudo-observations, with applications to
    multi-state models", Biometrika 90, 2003.
    """
    others = _WithoutEach.of(time, event)
    n = len(others.time)
    columns = [n * others.curve.at(t) - (n - 1) * others.at(t) for t in np.atleast_1d(np.asarray(at, dtype=np.float64))]
    return np.stack(columns, axis=1)


def pseudo_restricted_means(time: ArrayLike, event: ArrayLike, horizon: float) -> Floats:
    """Compute pseudo-observations of the restricted mean survival time up to a horizon, (n,).

    The value of sample i is ``n R - (n - 1) R_{-i}``, with R the area under the survival function from 0 to the horizon
    and R_{-i} the area without the sample. Without censoring it is the time, or the horizon if this is smaller. With
    censoring it may be negative or above the horizon.

    References
    ----------
    Andersen, Hansen, Klein, "Regression analysis of restricted mean survival time based on pseudo-observations",
    Lifetime Data Analysis 10, 2004.
    """
    others = _WithoutEach.of(time, event)
    n = len(others.time)
    return n * others.curve.restricted_mean(horizon) - (n - 1) * others.restricted_means(horizon)
