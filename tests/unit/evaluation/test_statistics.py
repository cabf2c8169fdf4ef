"""Corrected resampled intervals: worked by hand, by independent formulae, and by simulation."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from mklearn.errors import DataError
from mklearn.evaluation.statistics import (
    corrected_resampled_interval,
    mean,
    paired_difference,
    pool_variance,
    standard_deviation,
)

VALUES = st.lists(st.floats(0, 1).map(lambda value: round(value, 6)), min_size=2, max_size=20)


def test_worked_example():
    # Five splits, 90/10: mean 0.82,
    # s^2 = (0.02^2 + 0 + 0.02^2 + 0.01^2 + 0.01^2)/4 = 2.5e-4, factor 1/5 + 1/9 = 0.31111,
    # standard error sqrt(7.7778e-5) = 8.8192e-3; t_{0.975, 4} = 2.7764 -> half-width 0.024486.
    interval = corrected_resampled_interval([0.80, 0.82, 0.84, 0.81, 0.83], 90, 10)
    assert interval == pytest.approx((0.82, 0.82 - 0.024486, 0.82 + 0.024486), abs=2e-6)


def test_difference_agrees_with_the_corrected_t_test():
    a = np.array([0.71, 0.74, 0.69, 0.75, 0.72, 0.73])
    b = np.array([0.70, 0.70, 0.70, 0.72, 0.70, 0.71])
    d = a - b
    t = d.mean() / math.sqrt((1 / 6 + 0.5) * d.var(ddof=1))
    p = 2 * stats.t.sf(abs(t), 5)
    at_p = paired_difference(a, b, 100, 50, confidence=1 - p)  # the interval of confidence 1 - p just touches 0
    assert at_p.low == pytest.approx(0, abs=1e-12)
    assert paired_difference(a, b, 100, 50, confidence=1 - p - 0.01).low > 0
    assert paired_difference(a, b, 100, 50, confidence=1 - p + 0.01).low < 0


def test_one_repeat_has_no_interval():
    interval = corrected_resampled_interval([0.7], 10, 10)
    assert interval.mean == 0.7
    assert math.isnan(interval.low)
    assert math.isnan(interval.high)
    assert math.isnan(standard_deviation([0.7]))
    assert math.isnan(paired_difference([0.7], [0.6], 10, 10).high)
    assert all(math.isnan(part) for part in corrected_resampled_interval([math.nan, math.nan], 10, 10))
    assert math.isnan(mean([]))


def test_failed_repeats_are_left_out_in_pairs():
    a, b = [0.5, math.nan, 0.7, 0.8], [0.4, 0.9, math.nan, 0.6]
    assert paired_difference(a, b, 10, 5) == pytest.approx(paired_difference([0.5, 0.8], [0.4, 0.6], 10, 5))
    assert mean(a) == pytest.approx(2 / 3)


@given(VALUES, st.integers(1, 500), st.integers(1, 500))
def test_identities(values, n_train, n_test):
    interval = corrected_resampled_interval(values, n_train, n_test)
    assert interval.low <= interval.mean + 1e-12
    assert interval.high - interval.mean == pytest.approx(interval.mean - interval.low, abs=1e-12)
    ordinary = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values))
    inflation = math.sqrt(1 + len(values) * n_test / n_train)
    assert interval.high - interval.mean == pytest.approx(ordinary * inflation, abs=1e-9)
    assert paired_difference(values, np.zeros(len(values)), n_train, n_test) == pytest.approx(interval, abs=1e-12)
    forward = paired_difference(values, values[::-1], n_train, n_test)
    back = paired_difference(values[::-1], values, n_train, n_test)
    assert (forward.mean, forward.low, forward.high) == pytest.approx((-back.mean, -back.high, -back.low), abs=1e-12)
    many = np.full(len(values), n_train), np.full(len(values), n_test)
    assert corrected_resampled_interval(values, *many) == pytest.approx(interval, abs=1e-12)


def test_covers_where_splits_share_data_and_the_ordinary_interval_does_not():
    """Values with correlation n_test/(n_train + n_test), the model behind the correction: 95% coverage."""
    generator = np.random.default_rng(0)
    n_train, n_test, repeats, trials = 80, 20, 8, 2000
    rho = n_test / (n_train + n_test)
    shared = generator.normal(size=(trials, 1)) * math.sqrt(rho)
    draws = 0.7 + 0.05 * (shared + generator.normal(size=(trials, repeats)) * math.sqrt(1 - rho))
    corrected = [corrected_resampled_interval(row, n_train, n_test) for row in draws]
    coverage = np.mean([low <= 0.7 <= high for _, low, high in corrected])
    assert 0.935 <= coverage <= 0.965  # three standard errors of a proportion in 2,000 trials
    half = stats.t.ppf(0.975, repeats - 1) * draws.std(axis=1, ddof=1) / math.sqrt(repeats)
    assert np.mean(abs(draws.mean(axis=1) - 0.7) <= half) < 0.85


def test_user_mistakes_are_named():
    with pytest.raises(DataError, match="confidence is 95"):
        corrected_resampled_interval([0.5, 0.6], 10, 10, confidence=95)
    with pytest.raises(DataError, match="positive"):
        corrected_resampled_interval([0.5, 0.6], 0, 10)
    with pytest.raises(DataError, match="each of the 2 splits"):
        corrected_resampled_interval([0.5, 0.6], [1, 2, 3], 10)
    with pytest.raises(DataError, match="both methods"):
        paired_difference([0.5, 0.6], [0.5], 10, 10)


def test_pool_variance_is_that_of_a_mean_of_zeros_and_ones():
    generator = np.random.default_rng(1)
    right, other = generator.random((2, 4000, 300)) < np.array([0.9, 0.7])[:, None, None]
    assert pool_variance(0.9, 300) == pytest.approx(right.mean(axis=1).var(), rel=0.1)
    difference = (right.mean(axis=1) - other.mean(axis=1)).var()  # independent errors: below the bound
    assert difference < pool_variance(0.9, 300, 0.7)
    # errors that never coincide reach it: exactly one is right with probability 0.1 + 0.3
    state = generator.choice(3, p=[0.6, 0.1, 0.3], size=(4000, 300))
    apart = ((state != 1).mean(axis=1) - (state != 2).mean(axis=1)).var()
    assert apart == pytest.approx(pool_variance(0.9, 300, 0.7), rel=0.1)
    assert pool_variance(float("nan"), 300) == math.inf
    assert pool_variance(94.0, 300) == math.inf  # not a share


def test_pool_bound_only_ever_narrows():
    values = [0.90, 0.92, 0.91, 0.93]
    as_printed = corrected_resampled_interval(values, 100, 1700)
    bounded = corrected_resampled_interval(values, 100, 1700, shared_variance=pool_variance(0.915, 1800))
    assert as_printed.low < bounded.low < bounded.mean
    assert corrected_resampled_interval(values, 1700, 100, shared_variance=1.0) == corrected_resampled_interval(
        values, 1700, 100
    )


def test_bounded_interval_covers_where_splits_share_only_the_pool():
    """A pool of 500 samples, 8 repeats with training sets of their own: 95 % coverage or a little more."""
    generator = np.random.default_rng(2)
    inside = 0
    for _ in range(600):
        difficulty = generator.random(500)  # a sample is classified right when its difficulty is below the skill
        skills = 0.9 + 0.01 * generator.standard_normal(8)
        values = [(difficulty < skill).mean() for skill in skills]
        low, high = corrected_resampled_interval(
            values, 50, 450, shared_variance=pool_variance(float(np.mean(values)), 500)
        )[1:]
        inside += low <= 0.9 <= high
    assert 0.93 <= inside / 600 <= 1.0
