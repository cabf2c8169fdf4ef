"""Inner folds: a partition that spreads the classes, by the seed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklearn.base.folds import inner_folds
from mklearn.errors import DataError, NotApplicable


@settings(max_examples=60)
@given(st.lists(st.integers(2, 9), min_size=2, max_size=6), st.integers(2, 7), st.integers(0, 99))
def test_folds_partition_and_spread_the_classes(sizes, n_folds, seed):
    y = np.random.default_rng(seed).permutation(np.repeat([f"class {i}" for i in range(len(sizes))], sizes))
    folds = inner_folds(y, n_folds, seed)
    assert min(n_folds, max(sizes)) <= len(folds) <= n_folds
    everyone = np.concatenate([validation for _, validation in folds])
    np.testing.assert_array_equal(np.sort(everyone), np.arange(y.size))
    assert min(len(validation) for _, validation in folds) > 0
    for train, validation in folds:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, validation])), np.arange(y.size))
        assert set(y[train]) == set(y)  # at least one sample of each class is left to train on
    for label, size in zip(np.unique(y), sizes, strict=True):
        counts = [np.count_nonzero(y[validation] == label) for _, validation in folds]
        assert max(counts) - min(counts) <= 1
        assert sum(counts) == size
    for size in set(sizes):  # classes that are equal in y are equal in every training part
        alike = [label for label, own in zip(np.unique(y), sizes, strict=True) if own == size]
        for train, _ in folds:
            assert len({np.count_nonzero(y[train] == label) for label in alike}) == 1


def test_sizes_of_classes_take_turns():
    y = np.repeat(np.arange(20), np.arange(2, 22))
    parts = [len(validation) for _, validation in inner_folds(y, 4, 0)]
    assert max(parts) - min(parts) <= 1


def test_leave_one_out():
    folds = inner_folds([0, 1, 0, 1], "leave_one_out", None)
    assert [validation.tolist() for _, validation in folds] == [[0], [1], [2], [3]]
    assert [train.tolist() for train, _ in folds] == [[1, 2, 3], [0, 2, 3], [0, 1, 3], [0, 1, 2]]


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
    with pytest.raises(DataError, match="at least 2 folds"):
        inner_folds([0, 0, 1, 1], np.int64(1), 0)
