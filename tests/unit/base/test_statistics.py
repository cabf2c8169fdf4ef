"""Intervals over repeated splits: worked by hand, by independent formulae, and by simulation."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy import stats
from scipy.stats import kstest

from mklearn.base.permutation import PermutationTest, association, shuffled_rows
from mklearn.base.statistics import (
    corrected_resampled_interval,
    holm,
    mean,
    paired_difference,
    paired_sample_difference,
    sample_interval,
    standard_deviation,
)
from mklearn.study.evaluation.metrics.sample_values import auc as auc_values

VALUES = st.lists(st.floats(0, 1).map(lambda value: round(value, 6)), min_size=2, max_size=20)


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
    a, b = [0.5, math.nan, 0.7, 0.8, 0.6, 0.5, 0.9], [0.4, 0.9, math.nan, 0.6, 0.6, 0.7, 0.8]
    both = [0.5, 0.8, 0.6, 0.5, 0.9], [0.4, 0.6, 0.6, 0.7, 0.8]
    assert paired_difference(a, b, 10, 5) == pytest.approx(paired_difference(*both, 10, 5), nan_ok=True)
    assert mean(a[:4]) == pytest.approx(2 / 3)


@given(VALUES, st.integers(1, 500), st.integers(1, 500))
def test_identities(values, n_train, n_test):
    interval = corrected_resampled_interval(values, n_train, n_test)
    assert interval.low <= interval.mean + 1e-12
    assert interval.high - interval.mean == pytest.approx(interval.mean - interval.low, abs=1e-12)
    ordinary = stats.t.ppf(0.975, len(values) - 1) * np.std(values, ddof=1) / math.sqrt(len(values))
    inflation = math.sqrt(1 + len(values) * n_test / n_train)
    assert interval.high - interval.mean == pytest.approx(ordinary * inflation, abs=1e-9)
    if len(values) < 5:
        return
    zero = paired_difference(values, np.zeros(len(values)), n_train, n_test)
    assert zero[:3] == pytest.approx(interval, abs=1e-12)
    forward = paired_difference(values, values[::-1], n_train, n_test)
    back = paired_difference(values[::-1], values, n_train, n_test)
    assert (forward.mean, forward.low, forward.high) == pytest.approx((-back.mean, -back.high, -back.low), abs=1e-12)


# --- from the outcomes of single samples


def outcomes(generator, n_splits=10, n_samples=60, n_test=40, right=0.8):
    """Right or wrong of each sample, with a difficulty of its own; splits test random parts."""
    table = (generator.random(n_samples) + 0.3 * generator.standard_normal((n_splits, n_samples)) < right).astype(float)
    untested = generator.random((n_splits, n_samples)).argsort(axis=1) >= n_test
    return np.where(untested, np.nan, table)


def test_worked_example_of_outcomes():
    # One sample differs, in 2 of 6 splits; every split tests all 4 samples: split means 1/4, 1/4, 0, 0, 0, 0.
    # s^2 = (2 (1/6)^2 + 4 (1/12)^2)/5 = 1/60. Sample means 1/3, 0, 0, 0: A = ((1/4)^2 + 3 (1/12)^2)/16 4/3 = 1/144; the
    # least is 2/36. Within samples 4/3/20 = 0.066667, between them 1/48 - 0.066667/6 = 0.009722, which sum to the total
    # 11/144. The test samples explain 0.066667/4 = 1/60: all of s^2, nothing is left for the training sets.
    # V = 1/18, with 3 degrees of freedom.
    first, second = np.ones((6, 4)), np.ones((6, 4))
    second[:2, 0] = 0
    found = paired_sample_difference(first, second, 8)
    half = stats.t.ppf(0.975, 3) * math.sqrt(1 / 18)
    assert (found.mean, found.low, found.high) == pytest.approx((1 / 12, 1 / 12 - half, 1 / 12 + half), abs=1e-5)
    assert found.disagreement == pytest.approx(1 / 12)


@pytest.mark.parametrize(("n_train", "variance"), [(90, 8 / 15), (10**6, 16 / 15 * (1 / 6 + 3e-5))])
def test_training_sets_larger_than_test_sets_add_at_most_nadeau_and_bengios_variance(n_train, variance):
    # Split means 1, -1, 1, 1, -1, 1, equal for all 30 samples: s^2 = (4 (2/3)^2 + 2 (4/3)^2)/5 = 16/15, and A is the
    # least, 2/32^2. Of s^2 the test samples explain 8/9/30 = 4/135: B is at least 3 and would make V more than 3.
    # Nadeau and Bengio: 16/15 (1/6 + 30/90) = 8/15. Of a million training samples hardly more than s^2/6.
    first = np.repeat([[1.0], [0.0], [1.0], [1.0], [0.0], [1.0]], 30, axis=1)
    found = paired_sample_difference(first, 1 - first, n_train)
    of_samples = 2 / 32**2
    freedom = variance**2 / ((variance - of_samples) ** 2 / 5 + of_samples**2 / 29)
    assert found.high - found.mean == pytest.approx(stats.t.ppf(0.975, freedom) * math.sqrt(variance), rel=1e-9)


def test_the_variance_is_at_least_that_of_the_samples_tested():
    first = np.tile([1.0, 0.0, 0.0, 0.0, 0.0], (6, 2))
    found = paired_sample_difference(first, np.zeros((6, 10)), 10**6)
    variance = (2 * 0.8**2 + 8 * 0.2**2) / 100 * 10 / 9
    assert found.high - found.mean == pytest.approx(stats.t.ppf(0.975, 9) * math.sqrt(variance), rel=1e-9)


def test_methods_that_hardly_disagree_have_a_narrow_interval():
    """And one that is not 0 where they never do: Bonett and Price's variance is 2/(N + 2)^2."""
    correct = outcomes(np.random.default_rng(0))
    other = correct.copy()
    other[:, 0] = np.where(np.isnan(other[:, 0]), np.nan, 1 - other[:, 0])
    near = paired_sample_difference(correct, other, 20)
    single = sample_interval(correct, 20)
    assert near.high - near.low < (single.high - single.low) / 2
    same = paired_sample_difference(correct, correct, 20)
    assert (same.mean, same.disagreement, same.p_value) == (0.0, 0.0, 1.0)
    assert same.high == -same.low == pytest.approx(stats.t.ppf(0.975, 59) * math.sqrt(2) / 62)


@given(st.integers(0, 10_000), st.integers(5, 12), st.integers(1, 200))
def test_identities_of_outcomes(seed, n_splits, n_train):
    generator = np.random.default_rng(seed)
    first = outcomes(generator, n_splits)
    second = np.where(generator.random(first.shape) < 0.2, 1 - first, first)
    forward = paired_sample_difference(first, second, n_train)
    back = paired_sample_difference(second, first, n_train)
    assert (forward.mean, forward.low) == pytest.approx((-back.mean, -back.high), abs=1e-12)
    assert forward.mean == pytest.approx(np.nanmean(first - second, axis=1).mean(), abs=1e-12)
    order = generator.permutation(n_splits), generator.permutation(first.shape[1])
    shuffled = paired_sample_difference(first[np.ix_(*order)], second[np.ix_(*order)], n_train)
    assert shuffled == pytest.approx(forward, abs=1e-12)
    assert (forward.p_value < 0.05) == (forward.low > 0 or forward.high < 0)
    single = sample_interval(first, n_train)
    assert 0 <= single.low <= single.mean <= single.high <= 1


SIZES = [3, 1, 4, 2, 6]
OF_GROUPS = np.repeat(list("abcde"), SIZES)


def test_groups_that_are_held_out_are_the_units():
    gain = np.random.default_rng(0).normal(size=16)
    means = np.array([gain[group == OF_GROUPS].mean() for group in "abcde"])
    each_alone = np.where(np.array([*"abcde"])[:, None] == OF_GROUPS, gain, math.nan)
    found = paired_sample_difference(each_alone, 0 * each_alone, 13, bounds=(-math.inf, math.inf), groups=OF_GROUPS)
    test = stats.ttest_1samp(means, 0)
    assert found[:4] == pytest.approx((means.mean(), *test.confidence_interval(), test.pvalue))
    one_set = sample_interval(gain[None], 13, bounds=(-math.inf, math.inf), groups=OF_GROUPS)
    factors = SIZES / (16 - np.array(SIZES)) * 4  # the jackknife: each value without its group
    values = gain.mean() + factors * (means - gain.mean())
    expected = stats.t.ppf(0.975, 4) * values.std(ddof=1) / math.sqrt(5)
    assert one_set == pytest.approx(gain.mean() + np.array([0, -1, 1]) * expected)
    four = gain[None, :10], 13
    for bounds in (0, 1), (-math.inf, math.inf):
        assert np.isnan(sample_interval(*four, bounds=bounds, groups=OF_GROUPS[:10])[1:]).all()
    assert np.isnan(paired_sample_difference(four[0], *four, groups=OF_GROUPS[:10])[1:4]).all()
    same = paired_sample_difference(gain[None], gain[None], 13, groups=OF_GROUPS)
    assert same.high == pytest.approx(stats.t.ppf(0.975, 4) * math.sqrt(2) / 18)


def test_groups_of_equal_samples_count_as_one_sample_each():
    fold, groups = np.arange(60) % 5, np.repeat(np.arange(60), 3)
    gain = np.where(fold == np.arange(5)[:, None], np.random.default_rng(0).normal(size=60) + fold, math.nan)
    alone = paired_sample_difference(gain, 0 * gain, 48, bounds=(-math.inf, math.inf))
    thrice = np.repeat(gain, 3, axis=1)
    found = paired_sample_difference(thrice, 0 * thrice, 144, bounds=(-math.inf, math.inf), groups=groups)
    assert [*found] == pytest.approx([*alone])
    right = np.repeat(outcomes(np.random.default_rng(0), 1, n_test=60), 3, axis=1)
    exact, of_groups = (sample_interval(right, 20, groups=each) for each in (None, groups))
    assert of_groups.high - of_groups.low > 1.5 * (exact.high - exact.low)
    p_values = [paired_sample_difference(right, 1 - right, 20, groups=each).p_value for each in (None, groups)]
    assert p_values[0] < p_values[1]


def test_groups_with_similar_accuracies_count_as_more_than_one_sample_each():
    groups, rng = np.repeat(np.arange(6), 20), np.random.default_rng(0)
    right = np.where(groups == np.arange(6)[:, None], rng.random(120) < 0.9, math.nan)
    interval = sample_interval(right, 100, groups=groups)
    usual = stats.ttest_1samp(np.nanmean(right, axis=1), 0).confidence_interval()
    assert interval.high - interval.low == pytest.approx(usual.high - usual.low, rel=0.4)
    equal = np.where(groups == np.arange(6)[:, None], np.arange(120) % 10 > 0, math.nan)
    for sizes in (None, [4]):  # which count where all are right or wrong
        interval = sample_interval(equal, 100, groups=groups, class_sizes=sizes)
        assert interval[1:] == pytest.approx((0.81, 0.95), abs=0.01)


def test_an_accuracy_of_one_hundred_percent_has_an_interval():
    low, high = sample_interval(np.ones((10, 50)), 20)[1:]
    quantile = stats.t.ppf(0.975, 49)
    assert (low, high) == (pytest.approx(1 / (1 + quantile**2 / 50), abs=1e-3), 1.0)
    assert 0 < sample_interval(np.zeros((10, 50)), 20).high < 0.1
    nearly = np.ones((10, 50))
    nearly[3, 7] = 0.0  # fewer errors give no wider interval
    assert sample_interval(nearly, 20).low > 0.9
    five = sample_interval(np.ones((10, 50)), 20, groups=np.arange(50) // 10, class_sizes=[50])
    assert five.low < 0.5
    untested = np.hstack([np.ones((10, 50)), np.full((10, 10), np.nan)])
    assert sample_interval(untested, 20, groups=np.arange(60) // 10) == pytest.approx(five)
    assert sample_interval(np.zeros((10, 50)), 20, class_sizes=[4]).high > 0.4
    assert sample_interval(np.full((10, 50), 1 - 2e-16), 20, class_sizes=[4]).low < 0.6
    one = np.ones((1, 10))
    assert sample_interval(one, 20, class_sizes=[400]) == sample_interval(one, 20)
    one[0, 0] = 0
    assert sample_interval(one, 20, class_sizes=[4]).low != pytest.approx(sample_interval(one, 20).low, abs=1e-3)
    assert sample_interval(np.zeros((1, 200)), 20, class_sizes=[4]).high == pytest.approx(1 - 0.025**0.25)  # exact


@pytest.mark.parametrize(
    ("bounds", "sizes", "variance"),
    [((0, 1), None, 2 / 62**2), ((0, 1), [6], 2 / 8**2), ((0, 1), [6, 54], (2 / 8**2 + 2 / 56**2) / 4),
     ((-1, 1), None, 0), ((-math.inf, 1), None, 0), ((0, math.inf), None, 0)],
)  # fmt: skip
def test_methods_that_agree_on_every_sample_may_differ_on_the_next(bounds: Any, sizes: Any, variance: float) -> None:
    right = outcomes(np.random.default_rng(0), 10, n_test=60)
    same = paired_sample_difference(right, right, 20, bounds=bounds, class_sizes=sizes)
    assert (same.mean, same.p_value) == (0, 1)
    assert same.high == -same.low == pytest.approx(stats.t.ppf(0.975, 59) * math.sqrt(variance))


def test_too_few_splits_have_no_verdict():
    correct = outcomes(np.random.default_rng(0), n_splits=4)
    found = paired_sample_difference(correct, 1 - correct, 20)
    assert np.isfinite([found.mean, found.disagreement]).all()
    assert np.isnan([found.low, found.high, found.p_value]).all()
    assert math.isnan(sample_interval(correct[:0], 20).mean)


@pytest.mark.parametrize(("first_alone", "second_alone"), [(12, 2), (2, 12), (3, 3), (9, 0), (0, 0)])
def test_one_test_set_has_exact_intervals_and_mcnemars_test(first_alone, second_alone):
    """Samples that the first method alone has right, the second alone, and 40 that both have, 6 that neither has."""
    n = first_alone + second_alone + 46
    both = np.repeat([[1, 0], [0, 1], [1, 1], [0, 0]], [first_alone, second_alone, 40, 6], axis=0).T
    first, second = both[0][None], both[1][None]
    share = sample_interval(first, 20)
    right = first_alone + 40
    exact = stats.beta.ppf([0.025, 0.975], [right, right + 1], [n - right + 1, n - right])
    assert tuple(share) == pytest.approx((right / n, *exact))
    found = paired_sample_difference(first, second, 20)
    apart = first_alone + second_alone
    tail = stats.binom.cdf(min(first_alone, second_alone), apart, 0.5)
    assert found.p_value == pytest.approx(min(1.0, 2 * tail))
    assert found.mean == pytest.approx((first_alone - second_alone) / n)
    assert found.low < found.mean < found.high
    assert (found.p_value < 0.05) == (found.low > 0 or found.high < 0)


def test_one_test_set_has_delongs_interval_of_the_area():
    generator = np.random.default_rng(0)
    y = np.repeat([0, 1], [40, 25])
    scores = generator.normal(size=65) + y
    found = sample_interval(auc_values(y, scores, np.array([0, 1]))[None], 20)
    wins = (scores[y == 1][:, None] > scores[y == 0]).astype(float)
    variance = wins.mean(axis=1).var(ddof=1) / 25 + wins.mean(axis=0).var(ddof=1) / 40
    assert found.mean == pytest.approx(wins.mean())
    half = stats.t.ppf(0.975, 64) * math.sqrt(variance)
    assert found.high - found.low == pytest.approx(2 * half, rel=0.05), "Wilson's, with DeLong's variance"
    models = sample_interval(np.tile(auc_values(y, scores, np.array([0, 1])), (3, 1)), 20, draws=[0, 0, 0])
    assert models == pytest.approx(found)
    constant = sample_interval(np.tile(auc_values(y, np.zeros(65), np.array([0, 1])), (10, 1)), 20)
    assert constant.low < 0.4 < 0.6 < constant.high, "equal scores of these samples may differ for the next"


def test_holm_adjusts_the_smallest_most():
    adjusted = holm([0.03, math.nan, 0.01, 0.04, 0.6])
    assert adjusted == pytest.approx([0.09, math.nan, 0.04, 0.09, 0.6], nan_ok=True)
    assert holm([0.4, 0.9]).tolist() == [0.8, 0.9]
    assert holm([]).size == 0


def test_the_variance_has_the_terms_that_the_module_names():
    """Samples tested a different number of times, and training sets that matter: each term by a loop of its own."""
    generator = np.random.default_rng(5)
    values = np.full((8, 30), np.nan)
    hard = generator.normal(size=30)
    for row in values:
        test = np.sort(generator.permutation(30)[:18])
        row[test] = hard[test] + 0.4 * generator.normal() + 0.3 * generator.normal(size=18)
    n_train, n_test, n_splits, n_samples = 12, 18, 8, 30
    own = [[value for value in column if not math.isnan(value)] for column in values.T]
    means, n_all = [sum(column) / len(column) for column in own], 8 * 18
    middle = sum(sum(column) for column in own) / n_all
    A = sum((len(c) / n_all) ** 2 * (m - middle) ** 2 for c, m in zip(own, means, strict=True)) * 30 / 29
    within = sum((v - m) ** 2 for c, m in zip(own, means, strict=True) for v in c) / (n_all - n_samples)
    between = np.var(means) - within * np.mean([1 / len(c) for c in own])
    total = sum((v - middle) ** 2 for c in own for v in c) / n_all
    s2 = np.nanmean(values, axis=1).var(ddof=1)
    weights = [[(not math.isnan(value)) / n_test for value in row] for row in values]
    squares = sum(weight**2 for row in weights for weight in row)
    left = (squares - sum(sum(column) ** 2 for column in zip(*weights, strict=True)) / n_splits) / (n_splits - 1)
    b = s2 - between * n_samples / (n_samples - 1) * left - (total - between) / n_test
    B = b * n_train / n_test
    V = A + B + math.sqrt(A * B) + b / n_splits
    assert b > 0
    assert A + b / n_splits < V < s2 * (1 / n_splits + n_test / n_train), "neither bound decides"
    freedom = V**2 / ((V - A) ** 2 / (n_splits - 1) + A**2 / (n_samples - 1))
    found = sample_interval(values, n_train, bounds=(0, math.inf))
    assert found.mean == pytest.approx(middle)
    assert found.high - found.mean == pytest.approx(stats.t.ppf(0.975, freedom) * math.sqrt(V), rel=1e-9)


def test_a_split_without_values_is_none() -> None:
    """Kills: a row of NaN that counts as a split, and takes away the variance of training sets."""
    rng = np.random.default_rng(0)
    values = np.full((8, 30), np.nan)
    for row in values:
        row[rng.permutation(30)[:8]] = rng.random(8) < 0.2 + 0.6 * rng.random()
    nothing = np.full((1, 30), np.nan)
    assert sample_interval(np.vstack([values, nothing]), 22) == sample_interval(values, 22)
    other = np.where(np.isnan(values), np.nan, 1.0)
    whole, more = (
        paired_sample_difference(np.vstack([values, *add]), np.vstack([other, *add]), 22) for add in ([], [nothing])
    )
    assert whole == more
    assert math.isnan(sample_interval(np.full((3, 4), np.nan), 22).low)


# --- permutation tests


def test_the_smallest_p_value_is_not_zero_and_ties_count() -> None:
    shuffled = np.array([0.5, 0.2, 0.9])
    assert [PermutationTest(score, shuffled).p_value for score in (1.0, 0.5)] == [0.25, 0.75]


def test_groups_exchange_their_targets() -> None:
    rng, y = np.random.default_rng(0), np.array([3, 3, 5, 5, 5, 3, 7])
    draws = np.array([y[shuffled_rows(y, np.array(list("aabbbcd")), rng)] for _ in range(200)])
    assert (np.sort(draws[:, [0, 2, 5, 6]]) == [3, 3, 5, 7]).all()
    assert len(np.unique(draws, axis=0)) == 12  # orders of 3, 3, 5, 7
    assert (draws == draws[:, [0, 0, 2, 2, 2, 5, 6]]).all()
    rows = np.array([shuffled_rows(y, np.array(list("aabbccd")), rng) for _ in range(500)])
    assert (rows[:, 6] == 6).all()  # the only group of its size
    assert (np.sort(rows[:, :6:2] // 2) == [0, 1, 2]).all()
    assert (rows[:, :6:2] // 2 == rows[:, 1:6:2] // 2).all()
    assert len(np.unique(rows, axis=0)) == 6 * 2**3


def noise(groups: str, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    of = np.repeat(np.arange(15), 3)
    shared = np.zeros((15, 3)) if groups == "none" else rng.normal(size=(15, 3))
    features = shared[of] + 0.3 * rng.normal(size=(45, 3))
    if groups == "several targets":
        return features, (3 * rng.normal(size=15)[of] + rng.normal(size=45) > 0).astype(int), of
    if groups == "one target":
        return features, rng.permutation(np.arange(15) % 3)[of], of
    return features, rng.normal(size=45), None


@pytest.mark.parametrize("groups", ["none", "one target", "several targets"])
def test_p_is_uniform_for_independent_targets(groups: str) -> None:
    rng = np.random.default_rng(5)
    draws = [noise(groups, rng) for _ in range(100)]
    steps = rng.uniform(size=100) / 20  # p-values of 19 shuffles are multiples of 1/20

    def uniformity(*, with_groups: bool) -> float:
        p_values = [association(X, y, of if with_groups else None, n_shuffles=19).p_value for X, y, of in draws]
        return float(kstest(np.array(p_values) - steps, "uniform").pvalue)

    assert uniformity(with_groups=True) > 0.01
    if groups != "none":
        assert uniformity(with_groups=False) < 1e-4


@pytest.mark.parametrize("n_features", [2, 80])
def test_a_dependence_has_the_smallest_p_value_and_its_r2(n_features: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, n_features)) * np.array([10] + [0.1] * (n_features - 1))
    y = X[:, 0] / 10 + 0.5 * rng.normal(size=60)
    test = association(X, y, n_shuffles=9)
    assert test.p_value == 0.1
    assert test.score == pytest.approx(0.8, abs=0.1)
