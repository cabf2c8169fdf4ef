"""Metrics of numbers and their values of samples: by hand, by the jackknife, and intervals by simulation."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error

from mklearn.base.statistics import paired_sample_difference, sample_interval
from mklearn.errors import NotApplicable
from mklearn.study.evaluation.metrics.metric import METRICS, metric_named

OF_NUMBERS = [name for name, metric in METRICS.items() if metric.targets == ("numbers",)]
Array = np.ndarray[Any, np.dtype[np.float64]]


def output(y: Array, predicted: Array) -> SimpleNamespace:
    return SimpleNamespace(y_train=np.array([0.0, 1.0, 4.0, 9.0]), y=y, labels=predicted)


def samples(m: int, seed: int, noise: float = 0.7) -> tuple[Array, Array]:
    """Return skewed true numbers, and predictions whose errors grow with them."""
    generator = np.random.default_rng(seed)
    y = generator.gamma(3.0, size=m)
    return y, 0.8 * y + 0.5 + noise * (0.5 + 0.2 * y) * generator.normal(size=m)


def test_they_are_those_of_other_packages() -> None:
    y, predicted = samples(60, 0)
    found = {name: metric_named(name).score(output(y, predicted)) for name in OF_NUMBERS}
    assert found["rmse"] == pytest.approx(root_mean_squared_error(y, predicted), rel=1e-12)
    assert found["mae"] == pytest.approx(mean_absolute_error(y, predicted), rel=1e-12)
    assert found["pearson"] == pytest.approx(pearsonr(y, predicted).statistic, rel=1e-12)
    assert found["spearman"] == pytest.approx(spearmanr(y, predicted).statistic, rel=1e-12)
    same = SimpleNamespace(y_train=y, y=y, labels=predicted)  # the variance of the test samples is that of training
    assert metric_named("r2").score(same) == pytest.approx(r2_score(y, predicted), rel=1e-12)
    assert set(found) == {"r2", "rmse", "mae", "pearson", "spearman"}


def test_the_explained_share_is_known_of_a_single_sample() -> None:
    """Var(0, 1, 4, 9) = 12.25: an error of 3.5 explains nothing, of 7 less than nothing."""
    r2 = metric_named("r2")
    for error, share in ((0.0, 1.0), (3.5, 0.0), (7.0, -3.0)):
        assert r2.score(output(np.array([2.0]), np.array([2.0 + error]))) == pytest.approx(share)


@pytest.mark.parametrize("name", ["pearson", "spearman"])
def test_correlations_of_equal_numbers_do_not_apply(name: str) -> None:
    y = np.arange(5.0)
    for predicted in (np.full(5, 2.0), np.full(5, 1e12)):
        with pytest.raises(NotApplicable, match="numbers that differ"):
            metric_named(name).score(output(y, predicted))
    with pytest.raises(NotApplicable, match="three test samples"):
        metric_named(name).score(output(y[:2], y[:2]))


@pytest.mark.parametrize("name", OF_NUMBERS)
def test_values_have_the_metric_as_mean_and_the_variance_of_the_jackknife(name: str) -> None:
    metric, (y, predicted) = metric_named(name), samples(300, 1)
    values = metric.sample_values(output(y, predicted))
    assert values.mean() == pytest.approx(metric.score(output(y, predicted)), abs=1e-12)
    every = np.arange(len(y))
    without = [metric.score(output(np.delete(y, i), np.delete(predicted, i))) for i in every]
    jackknife = (len(y) - 1) / len(y) * np.sum((without - np.mean(without)) ** 2)
    assert values.var(ddof=1) / len(y) == pytest.approx(jackknife, rel=0.15)


@pytest.mark.full
@pytest.mark.parametrize("name", OF_NUMBERS)
def test_intervals_cover_what_new_samples_have(name: str) -> None:
    """Two fixed prediction rules on ten folds of 150 samples: their intervals hold the true values of the metric."""
    metric = metric_named(name)
    truth = [metric.score(output(*samples(500_000, 10_000, noise))) for noise in (0.7, 0.9)]
    covered = {"one": [], "difference": []}
    for seed in range(250):
        tables = []
        for noise in (0.7, 0.9):
            y, predicted = samples(150, seed, noise)
            table = np.full((10, 150), np.nan)
            for fold in range(10):
                rows = slice(fold * 15, fold * 15 + 15)
                table[fold, rows] = metric.sample_values(output(y[rows], predicted[rows]))
            tables.append(table)
        one = sample_interval(tables[0], 135, bounds=metric.bounds)
        both = paired_sample_difference(*tables, 135, bounds=metric.bounds)
        covered["one"].append(one.low <= truth[0] <= one.high)
        covered["difference"].append(both.low <= truth[0] - truth[1] <= both.high)
    for what, hits in covered.items():
        assert np.mean(hits) >= 0.91, what
