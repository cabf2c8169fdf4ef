"""Contributions of views, stability of kernel weights over splits, and frequencies of chosen kernels."""

import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_digits
from sklearn.model_selection import GroupKFold, KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from tests.unit.classifiers.test_multi_view import planted

from mklearn import MultiViewClassifier, MultiViewRegressor, inspection
from mklearn.base.multi_view_ridge import RepeatedSamplesWarning
from mklearn.classifiers import MKLSVC, KernelSVC
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.inspection import kernel_weights_over_splits, stability_selection, view_contributions, weight_stability
from mklearn.kernels import Views
from mklearn.subspace import LeaveOneOutMKL


def digits(n: int = 150) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the upper and lower half of digits, the upper one again, and noise."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    upper, lower = X[:n, :32], X[:n, 32:]
    again, noise = upper + 0.1 * rng.normal(size=upper.shape), rng.normal(size=(n, 3))
    return {"upper": upper, "lower": lower, "again": again, "noise": noise}, y[:n]


# --- view_contributions


@pytest.mark.full
def test_contributions_of_views_that_tell_something_the_same_or_nothing() -> None:
    views, y = digits()
    found = {each.view: each for each in view_contributions(KernelSVC(kernels="gaussian"), views, y)}
    assert list(found) == list(views)
    assert found["lower"].permuted.low > 0.1
    assert found["upper"].permuted.low > 0
    assert found["lower"].left_out.low > 0
    assert found["upper"].left_out.low < 0  # "again" replaces it
    for difference in (found["noise"].permuted, found["noise"].left_out):
        assert difference.low < 0 < difference.high


BOTH = {"id": "both", "kind": "product", "factors": [{"view": "upper"}, {"view": "noise"}]}
NAMED = {"upper": "gaussian", "wide": {"view": "lower"}, "narrow": {"view": "lower", "bandwidth": 0.5}}


@pytest.mark.full
@pytest.mark.parametrize(
    ("kernels", "kept"),
    [
        ("gaussian", "gaussian"),
        (NAMED, {"upper": "gaussian"}),
        ([{"view": "upper"}, {"view": "lower"}, BOTH], [{"view": "upper"}, BOTH]),
    ],
)
def test_left_out_is_the_difference_of_two_cross_validations(kernels: Any, kept: Any) -> None:
    views, y = digits(60)
    frames = {name: pd.DataFrame(table, index=[f"s{i}" for i in range(60)]) for name, table in views.items()}
    model, cv = KernelSVC(kernels=kernels), KFold(3, shuffle=True, random_state=3)
    estimator = make_pipeline(FunctionTransformer(), model)
    found = {each.view: each.left_out for each in view_contributions(estimator, frames, y, cv=cv)}["lower"]
    others = Views({name: table for name, table in frames.items() if name != "lower"})
    reduced = cross_val_score(KernelSVC(kernels=kept), others, y, cv=cv).mean()
    assert found.mean == pytest.approx(cross_val_score(model, Views(frames), y, cv=cv).mean() - reduced)
    assert np.isnan(found.low)  # fewer than five splits have no interval


SVC = KernelSVC(kernels="gaussian")
PRODUCT = {"kind": "product", "factors": [{"view": "lower"}, {"view": "noise"}]}


@pytest.mark.parametrize(
    ("estimator", "change", "error", "message"),
    [
        (SVC, {"X": np.ones((40, 2))}, DataError, "X is not several views"),
        (SVC, {"X": {"a": np.full((40, 1), np.nan), "b": np.eye(40)}}, DataError, "40 .* one"),
        (SVC, {"y": np.arange(39)}, DataError, r"y has shape \(39,\) for 40 samples"),
        (SVC, {"groups": np.zeros(40)}, NotApplicable, "all samples are in one group"),
        (SVC, {"groups": [None, "a"] * 20}, DataError, "groups has missing entries"),
        (SVC, {"n_permutations": 0}, ConfigError, "n_permutations"),
        (KernelSVC(kernels={"upper": "gaussian"}), {}, ConfigError, "without view 'upper' no kernel is left"),
        (KernelSVC(kernels=PRODUCT), {}, ConfigError, "without view 'lower' no kernel is left in `kernels`"),
        (MultiViewRegressor(), {"y": np.full(40, 0.1)}, DataError, "the target is constant"),
        (MultiViewRegressor(), {"y": np.r_[np.nan, np.arange(39.0)]}, DataError, "missing values"),
    ],
)
def test_mistakes_have_sentences(estimator: Any, change: dict[str, Any], error: type, message: str) -> None:
    views, y = digits(40)
    with pytest.raises(error, match=message):
        view_contributions(estimator, **({"X": views, "y": y} | change))


@pytest.mark.filterwarnings("error:The groups parameter is ignored")
@pytest.mark.parametrize("measure", [view_contributions, kernel_weights_over_splits])
def test_default_splits_are_by_groups_which_reach_fit(measure: Any) -> None:
    views, y = digits(60)
    measure(LeaveOneOutMKL(kernels="gaussian"), views, y % 2, groups=(np.arange(60) // 4).tolist())
    repeated = {name: np.repeat(table[::4], 4, axis=0) for name, table in views.items()}
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepeatedSamplesWarning)  # repeated samples of one group are no mistake
        measure(MultiViewClassifier(kernels="gaussian"), repeated, np.arange(60) // 4 % 2, groups=np.arange(60) // 4)


def test_intervals_are_for_new_groups_where_splits_hold_out_whole_ones() -> None:
    views, y = digits(60)
    rows = np.repeat(np.arange(60), 4)
    splits = list(GroupKFold(2).split(rows, y[rows], rows))[:1]
    given = KernelSVC(kernels="gaussian"), {name: table[rows] for name, table in views.items()}, y[rows]
    samples, groups = (view_contributions(*given, cv=splits, groups=g)[1] for g in (None, rows))
    assert samples.permuted.mean == groups.permuted.mean
    assert np.ptp(groups.permuted[1:3]) > 1.3 * np.ptp(samples.permuted[1:3])
    for others in (np.arange(240) % 7, np.isin(np.arange(240), splits[0][1])):  # divided; one group is tested
        assert view_contributions(*given, cv=splits[:1], groups=others)[1].permuted == samples.permuted


# --- weights over splits


def test_weights_over_splits_are_those_of_the_fits() -> None:
    views, y = digits(100)
    cv = KFold(4, shuffle=True, random_state=3)
    method, rows = LeaveOneOutMKL(kernels="gaussian"), Views(views)
    found = kernel_weights_over_splits(method, views, y, cv=cv)
    assert found.kernels == tuple(views)
    by_hand = [method.fit(rows[train], y[train]).kernel_weights_ for train, _ in cv.split(y)]
    np.testing.assert_allclose(found.weights, by_hand)
    assert found.between_splits == weight_stability(by_hand).between_splits > 0
    pipeline = make_pipeline(method, KNeighborsClassifier(1))
    assert kernel_weights_over_splits(pipeline, views, y, cv=cv).between_splits == found.between_splits
    stack = np.stack([views["upper"] @ views["upper"].T, views["lower"] @ views["lower"].T], axis=-1)
    assert 0 < kernel_weights_over_splits(MKLSVC(C=1e-4), stack, y, cv=3).between_splits < 1
    with pytest.raises(ConfigError, match="KNeighborsClassifier has no kernel weights"):
        kernel_weights_over_splits(KNeighborsClassifier(), views["upper"], y)
    targets = np.column_stack([y, y**2])
    assert len(kernel_weights_over_splits(MultiViewRegressor(), views, targets).weights) == 10


def test_stability_by_hand() -> None:
    found = weight_stability([[2.0, 2.0, 0.0], [np.nan] * 3, [0.0, 0.5, 0.5], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], "abc")
    np.testing.assert_allclose(found.weights, [[0.5, 0.5, 0], [0, 0.5, 0.5], [1, 0, 0]])
    assert found.between_splits == pytest.approx((0.5 + 0.5 + 1.0) / 3)
    np.testing.assert_allclose(found.mean, [0.5, 1 / 3, 1 / 6])
    np.testing.assert_allclose(found.std, [0.5, np.sqrt(1 / 12), np.sqrt(1 / 12)])
    assert found.from_equal == pytest.approx((1 / 3 + 1 / 3 + 2 / 3) / 3)
    assert weight_stability(np.eye(5)).between_splits == 1
    one = weight_stability([[0.2, 0.8]])
    assert np.isnan([one.between_splits, *one.std]).all()


@pytest.mark.parametrize(
    ("weights", "names", "message"),
    [
        ([0.5, 0.5], None, "shape"),
        ([[0.5, 0.5]], ["one"], "1 names for 2 kernels"),
        ([[np.nan, 0.5]], None, "no split has kernel weights"),
    ],
)
def test_wrong_weights_are_refused(weights: Any, names: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        weight_stability(weights, names)


# --- stability selection


def test_planted_groups_are_stable_and_others_are_not() -> None:
    X, y, specs = planted(300)
    found = stability_selection(specs, X, y, n_kernels=4, n_pairs=15)
    assert set(found.stable(0.75)) == {"g0", "g1", "g2"}
    assert found.n_halves == 30
    assert 3 <= found.mean_chosen <= 4
    assert found.false_selections(0.75) == pytest.approx(found.mean_chosen**2 / (0.5 * 60))
    assert found.ranked()[0][1] == found.frequencies.max()


@pytest.mark.full
def test_classes_without_a_cause_have_no_more_stable_kernels_than_the_bound() -> None:
    X, y, specs = planted(120)
    rng = np.random.default_rng(1)
    found = [stability_selection(specs, X, rng.permutation(y), n_kernels=5, n_pairs=10) for _ in range(6)]
    assert np.mean([len(each.stable(0.6)) for each in found]) <= np.mean([each.false_selections(0.6) for each in found])


def test_halves_are_complementary_with_equal_class_frequencies_and_groups_stay_together() -> None:
    codes, patients = np.repeat([0, 1, 2], [20, 10, 6]), np.repeat(np.arange(18), 2)
    halves = inspection._complementary_halves(codes, None, 4, 0)
    assert not np.array_equal(halves[0], halves[2])
    for first, second in zip(halves[::2], halves[1::2], strict=True):
        assert sorted([*first, *second]) == list(range(36))
        np.testing.assert_array_equal(np.bincount(codes[first]), [10, 5, 3])
    for half in inspection._complementary_halves(codes, patients, 3, 0):
        assert not set(patients[half]) & set(patients[np.setdiff1d(np.arange(36), half)])


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"groups": [1, 2]}, DataError, "groups have shape"),
        ({"groups": np.zeros(30)}, NotApplicable, "all samples are in one group"),
        ({"n_pairs": 0}, ConfigError, "n_pairs"),
        ({"y": np.linspace(0, 1, 30)}, DataError, "class labels"),
    ],
)
def test_selections_that_are_not_possible(change: dict[str, Any], error: type, message: str) -> None:
    X, y, specs = planted(30, n_groups=4)
    with pytest.raises(error, match=message):
        stability_selection(specs, X, **({"y": y, "n_kernels": 2, "n_pairs": 2} | change))
