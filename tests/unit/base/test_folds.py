"""Inner folds: a partition that spreads the classes, by the seed."""

from __future__ import annotations

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
    assert len(folds) == min(n_folds, len(y))
    everyone = np.concatenate([validation for _, validation in folds])
    np.testing.assert_array_equal(np.sort(everyone), np.arange(y.size))
    parts = [len(validation) for _, validation in folds]
    assert max(parts) - min(parts) <= 1
    for train, validation in folds:
        np.testing.assert_array_equal(np.sort(np.concatenate([train, validation])), np.arange(y.size))
        assert set(y[train]) == set(y)  # at least one sample of each class is left to train on
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
