"""Inner folds and the choice they lead to."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklearn.errors import DataError, NotApplicable, SolverFailed
from mklearn.evaluation.selection import choose, inner_folds, select_by_inner_cv


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(2, 9), min_size=2, max_size=6), st.integers(2, 7), st.integers(0, 99))
def test_folds_partition_and_are_stratified(sizes, n_folds, seed):
    y = np.random.default_rng(seed).permutation(np.repeat([f"class {i}" for i in range(len(sizes))], sizes))
    folds = inner_folds(y, n_folds, seed)
    assert len(folds) == min(n_folds, min(sizes))
    everyone = np.concatenate([validation for _, validation in folds])
    np.testing.assert_array_equal(np.sort(everyone), np.arange(y.size))
    for train, validation in folds:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, validation])), np.arange(y.size))
        assert set(y[train]) == set(y[validation]) == set(y)
    for label, size in zip(np.unique(y), sizes, strict=True):
        counts = [np.count_nonzero(y[validation] == label) for _, validation in folds]
        assert max(counts) - min(counts) <= 1
        assert sum(counts) == size


def test_folds_follow_the_seed():
    y = np.repeat([0, 1, 2], 8)
    first, again, other = (inner_folds(y, 4, seed) for seed in (1, 1, 2))
    assert all(np.array_equal(a[1], b[1]) for a, b in zip(first, again, strict=True))
    assert not all(np.array_equal(a[1], b[1]) for a, b in zip(first, other, strict=True))


def test_folds_that_can_not_be_made():
    with pytest.raises(NotApplicable, match="class rare has one"):
        inner_folds(["a", "a", "rare", "a"], 3, 0)
    with pytest.raises(NotApplicable, match="two classes"):
        inner_folds(["a", "a"], 2, 0)
    with pytest.raises(DataError, match="at least 2 folds"):
        inner_folds([0, 0, 1, 1], 1, 0)


def test_choose_takes_the_best_then_the_fewest_dimensions_then_the_first():
    assert choose([[0.1, 0.2, 0.9], [0.3, 0.9, 0.1]]) == (1, 2)
    assert choose([[0.1, 0.9, 0.9], [0.1, 0.9, 0.9]]) == (0, 2)
    assert choose([[np.nan, np.nan], [0.1, np.nan]]) == (1, 1)
    exact, rounded = (0.1 + 0.2) / 3, 0.3 / 3  # equal fractions that differ in the last bit
    assert exact != rounded
    assert choose([[rounded, exact]]) == choose([[exact, rounded]]) == (0, 1)


def test_choose_needs_a_score():
    with pytest.raises(SolverFailed, match="no score"):
        choose([[np.nan, -np.inf]])
    with pytest.raises(DataError, match="non-empty"):
        choose(np.zeros((0, 3)))


def test_selection_averages_folds_over_common_dimensions():
    folds = inner_folds([0, 0, 1, 1, 0, 1], 3, 0)
    lengths = iter([4, 3, 3])

    def evaluate(candidate, train, validation):
        assert not set(train) & set(validation)
        if candidate == "fails":
            raise NotApplicable("too few samples")
        if candidate == "long":
            return np.linspace(0.1, 0.4, next(lengths))
        return [0.2, 0.3 + 0.1 * (0 in validation), 0.2]

    chosen = select_by_inner_cv(evaluate, ["fails", "long", "good"], folds)
    assert (chosen.candidate, chosen.dimension) == (1, 3)
    assert chosen.score == pytest.approx((0.3 + 0.4 + 0.4) / 3)
    np.testing.assert_allclose(chosen.mean_scores[2], [0.2, 0.3 + 0.1 / 3, 0.2])
    assert np.isnan(chosen.mean_scores[0]).all()
    assert chosen.failures == {0: "too few samples"}


def test_selection_passes_on_unexpected_errors_and_reports_total_failure():
    folds = inner_folds([0, 0, 1, 1], 2, 0)

    def not_applicable(*_):
        raise NotApplicable("one class")

    def broken(*_):
        raise ZeroDivisionError

    with pytest.raises(SolverFailed, match="one class"):
        select_by_inner_cv(not_applicable, ["a"], folds)
    with pytest.raises(ZeroDivisionError):
        select_by_inner_cv(broken, ["a"], folds)
    with pytest.raises(DataError, match="at least one candidate"):
        select_by_inner_cv(broken, [], folds)


def test_leaving_one_out_leaves_each_sample_out_once():
    folds = inner_folds([0, 0, 1, 1], "leave_one_out", None)
    assert [validation.tolist() for _, validation in folds] == [[0], [1], [2], [3]]
    assert [train.tolist() for train, _ in folds] == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]
    with pytest.raises(NotApplicable, match="two training samples"):
        inner_folds([0, 1, 1], "leave_one_out", None)
