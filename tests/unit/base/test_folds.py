"""Inner folds spread classes by the seed; the scaling of features has the smallest left-out error, by brute force."""

from typing import get_args

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.dummy import DummyClassifier, DummyRegressor
from tests.ridge_refits import left_out_outputs

from mklearn.base.folds import default_splitter, inner_folds
from mklearn.base.scaling_choice import MOST_SAMPLES, RIDGES, choose_scaling
from mklearn.errors import ConstantKernel, DataError, NotApplicable
from mklearn.kernels import StackTransform
from mklearn.kernels.feature_scaling import FeatureScaling


@pytest.mark.parametrize("estimator", [DummyClassifier(), DummyRegressor()])
def test_default_splits_hold_out_whole_groups(estimator):
    y, groups = np.arange(40) % 2, np.arange(40) // 4
    splits = list(default_splitter(estimator, 0, groups).split(y, y, groups))
    assert len(splits) == 5
    assert not any(set(groups[train]) & set(groups[test]) for train, test in splits)
    assert len(list(default_splitter(estimator, 0, groups // 4).split(y, y, groups // 4))) == 3
    splits = default_splitter(DummyClassifier(), 0, groups).split(y, groups % 2, groups)
    assert all((groups[test] % 2).mean() == 0.5 for _, test in splits)


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


# --- scaling of features

ALL = get_args(FeatureScaling)


def left_out_error(X: np.ndarray, Y: np.ndarray, scaling: str) -> float:
    spec = {"g": {"kind": "gaussian", "feature_scaling": scaling}}
    K = StackTransform(spec).fit_transform(X).matrices[0] / len(X)
    return min(float(((left_out_outputs(K, Y, ridge) - Y) ** 2).sum()) for ridge in RIDGES)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("target", ["classes", "numbers"])
def test_it_is_that_of_brute_force(seed: int, target: str) -> None:
    rng = np.random.default_rng(seed)
    X = rng.gamma(0.5, size=(30, 3)) * [1, 5, 25]
    numbers = np.log(X[:, 0]) + 0.3 * rng.normal(size=30)
    y = np.digitize(numbers, [-2.5, -0.5]) if target == "classes" else numbers
    Y = (y[:, None] == np.unique(y)) / np.sqrt(np.bincount(y)) if target == "classes" else y[:, None]
    errors = {scaling: left_out_error(X, Y, scaling) for scaling in ALL}
    assert choose_scaling(X, y, scalings=ALL) == min(ALL, key=errors.__getitem__)
    names = np.array(["a", "b", "c"])[y] if target == "classes" else y * 1e9
    assert choose_scaling(X, names, scalings=ALL) == choose_scaling(X, y, scalings=ALL)
    assert choose_scaling(pd.DataFrame(X), y, scalings=ALL) == choose_scaling(X, y, scalings=ALL)
    if target == "numbers":
        X, y = np.column_stack([y + 0.1 * rng.normal(size=30), 1e3 * rng.normal(size=30)]), np.where(y < -2, np.nan, y)
        known = ~np.isnan(y)
        assert choose_scaling(X, y) == choose_scaling(X[known], y[known])


def test_groups_are_left_out_whole() -> None:
    """The length of a sample tells its group, and so its class where the group is known; the direction its class."""
    rng, groups = np.random.default_rng(1), np.repeat(np.arange(8), 8)
    angle = 0.5 * rng.normal(size=64) + 0.8 * (groups % 2)
    X = np.array([1.0, 4, 2, 5, 3, 6, 7, 8])[groups, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    assert choose_scaling(X, groups % 2, scalings=["unit", "none"]) == "none"
    assert choose_scaling(X, groups % 2, groups=groups, scalings=["none", "unit"]) == "unit"


def test_many_samples_are_drawn_by_class_and_always_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(2)
    y = np.repeat([0, 1, 2], [2000, 990, 10])
    X = np.column_stack([y + 0.5 * rng.normal(size=3000), 1e3 * rng.normal(size=3000)])
    seen = []
    transform = StackTransform.fit_transform

    def noting(self: StackTransform, table: np.ndarray) -> object:
        seen.append(table)
        return transform(self, table)

    monkeypatch.setattr(StackTransform, "fit_transform", noting)
    assert choose_scaling(X, y, scalings=["none", "standard"]) == "standard"
    first, *others = seen
    assert abs(len(first) - MOST_SAMPLES) <= 1
    assert np.isin(X[y == 2], first).all(axis=1).sum() == 2
    assert all(np.array_equal(table, first) for table in others)


def test_constant_features_and_a_single_group_have_no_scaling() -> None:
    with pytest.raises(ConstantKernel):
        choose_scaling(np.ones((20, 3)), np.arange(20) % 2)
    with pytest.raises(NotApplicable, match="group"):
        choose_scaling(np.eye(20), np.arange(20) % 2, groups=np.zeros(20))
    X = np.column_stack([np.arange(1.0, 21), np.zeros(20)])  # of length 1 they are constant
    assert choose_scaling(X, np.arange(20) > 9, scalings=["unit", "rank"]) == "rank"


def test_it_does_not_warn_of_kernels_that_the_caller_does_not_have(recwarn: pytest.WarningsRecorder) -> None:
    rng = np.random.default_rng(3)
    assert choose_scaling(rng.normal(size=(40, 2000)), np.arange(40) % 2) in ALL
    assert not recwarn.list
