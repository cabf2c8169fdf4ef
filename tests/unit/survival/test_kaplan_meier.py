"""Kaplan-Meier estimates against scikit-survival; pseudo-observations against estimates without each sample."""

import numpy as np
import pytest
from numpy.typing import NDArray
from sksurv.nonparametric import kaplan_meier_estimator

from mklearn.survival import KaplanMeier, pseudo_restricted_means, pseudo_survival


def draws(seed: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Few samples with many ties, or without ties; an event at least."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 14))
    time = rng.integers(1, 9, n).astype(float) if seed % 2 else rng.exponential(size=n)
    event = rng.random(n) < rng.choice([0.3, 0.7, 1.0])
    event[rng.integers(n)] = True
    return time, event


@pytest.mark.parametrize("seed", range(60))
def test_equals_scikit_survival_and_its_area_is_the_restricted_mean(seed: int) -> None:
    time, event = draws(seed)
    curve = KaplanMeier.of(time, event)
    times, survival = kaplan_meier_estimator(event, time)
    np.testing.assert_allclose(curve.at(times), survival, atol=1e-12)
    places = np.linspace(0.0, 3.0, 3001)
    assert curve.restricted_mean(3.0) == pytest.approx(np.mean(curve.at(places)) * 3.0, abs=0.01)


@pytest.mark.parametrize("seed", range(60))
def test_pseudo_observations_are_the_differences_without_each_sample(seed: int) -> None:
    time, event = draws(seed)
    n, horizon = len(time), (float(time[0]), float(np.median(time)) * 1.1)[seed % 3 > 0]
    at = np.array([0.0, horizon, time.max()])
    whole = KaplanMeier.of(time, event)
    others = [KaplanMeier.of(np.delete(time, i), np.delete(event, i)) for i in range(n)]
    means = [n * whole.restricted_mean(horizon) - (n - 1) * other.restricted_mean(horizon) for other in others]
    np.testing.assert_allclose(pseudo_restricted_means(time, event, horizon), means, atol=1e-10)
    values = [n * whole.at(at) - (n - 1) * other.at(at) for other in others]
    np.testing.assert_allclose(pseudo_survival(time, event, at), values, atol=1e-10)


def test_without_censoring_pseudo_observations_are_the_times() -> None:
    time, event = np.random.default_rng(0).exponential(size=100_000), np.ones(100_000, dtype=bool)
    np.testing.assert_allclose(pseudo_restricted_means(time, event, 1.5), np.minimum(time, 1.5), atol=1e-6)
    np.testing.assert_allclose(pseudo_survival(time, event, 1.5)[:, 0], time > 1.5, atol=1e-6)
