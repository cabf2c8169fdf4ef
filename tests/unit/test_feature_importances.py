"""Features and groups of features that predictions rest on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LinearRegression, LogisticRegression
from sklearn.neighbors import KNeighborsClassifier

from mklearn import MultiViewRegressor
from mklearn.classifiers import KernelSVC
from mklearn.errors import ConfigError, DataError
from mklearn.feature_importances import FeatureImportance, feature_importances
from mklearn.kernels import Pairwise
from mklearn.kernels.column_groups import UnknownColumnsWarning


def numbers(n: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """Return three independent features and 3 times the first plus 4 times the second one."""
    X = np.random.default_rng(0).normal(size=(n, 3))
    return X, 3 * X[:, 0] + 4 * X[:, 1]


def exclusive_or(n: int = 200) -> tuple[dict[str, pd.DataFrame], np.ndarray]:
    """Return a view of three features, two of which tell the class together and none alone, and a view of noise."""
    values = np.random.default_rng(1).normal(size=(n, 5))
    y = np.where(values[:, 0] * values[:, 1] > 0, "same", "other")
    genes = pd.DataFrame(values[:, :3], columns=["a", "b", "c"], index=[f"s{i}" for i in range(n)])
    return {"genes": genes, "noise": pd.DataFrame(values[:, 3:], index=genes.index)}, y


def by_feature(found: tuple[FeatureImportance, ...]) -> dict[tuple[str, str | int], float]:
    return {(each.view, each.feature): each.permuted.mean for each in found}


def test_losses_of_a_regression_are_twice_the_parts_of_the_variance() -> None:
    X, y = numbers()
    found = feature_importances(LinearRegression(), X, y, n_permutations=20)
    assert [each.feature for each in found] == [1, 0, 2]
    for each, expected in zip(found, (2 * 16 / 25, 2 * 9 / 25, 0), strict=True):
        assert each.permuted.mean == pytest.approx(expected, abs=0.12)
        assert each.permuted.low <= expected <= each.permuted.high
    assert found[2].permuted.mean == pytest.approx(0, abs=1e-12)
    grouped = feature_importances(LinearRegression(), X, y, feature_groups={"both": [0, 1], "rest": [2]})
    assert grouped[0].feature == "both"
    assert grouped[0].permuted.mean == pytest.approx(2, abs=0.2)  # permuted together, they predict other samples


def test_intervals_of_a_regression_are_as_narrow_as_its_errors() -> None:
    """An accuracy on 60 samples has none below 0.04; R^2 has."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = 3 * X[:, 0] + 0.25 * X[:, 1] + 0.02 * rng.normal(size=60)
    found = {each.feature: each.permuted for each in feature_importances(LinearRegression(), X, y)}
    assert 0 < found[1].low < found[1].mean < found[1].high < 0.03
    assert found[2].high < 1e-3


@pytest.mark.full
def test_features_of_views_by_name_and_by_group() -> None:
    views, y = exclusive_or()
    found = by_feature(feature_importances(KernelSVC(kernels="gaussian"), views, y))
    assert set(list(found)[:2]) == {("genes", "a"), ("genes", "b")}
    assert min(found["genes", "a"], found["genes", "b"]) > 0.2
    assert all(abs(found[key]) < 0.1 for key in (("genes", "c"), ("noise", 3), ("noise", 4)) if key in found)
    assert len(found) == 5
    groups = {"genes": {"pair": ["a", "b", "unknown"], "rest": ["c"]}}
    with pytest.warns(UnknownColumnsWarning, match="unknown"):
        grouped = by_feature(feature_importances(KernelSVC(kernels="gaussian"), views, y, feature_groups=groups))
    assert list(grouped) == [("genes", "pair"), ("genes", "rest")]
    assert grouped["genes", "pair"] > 0.2


def test_features_that_tell_the_same_count_as_a_group() -> None:
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 120)
    X = np.tile(y[:, None] + 0.1 * rng.normal(size=(120, 1)), 5)
    nearest = KNeighborsClassifier(1)
    alone = feature_importances(nearest, X, y)
    assert all(each.permuted.mean < 0.02 for each in alone)
    (together,) = feature_importances(nearest, X, y, feature_groups={"all": range(5)})
    assert together.permuted.mean == pytest.approx(0.5, abs=0.08)
    assert together.permuted.low > 0.4


@pytest.mark.full
def test_tables_of_any_form_have_the_same_importances(tmp_path: Path) -> None:
    X, y = numbers(60)
    codes, whole = (y > 0).astype(int), pd.DataFrame(X, columns=["a", "b", "c"])
    array, stored, frame = (
        feature_importances(LogisticRegression(), table, codes, cv=5)
        for table in (X, sparse.csr_matrix(X), whole.assign(c=whole["c"].astype(np.float32)))
    )
    assert [each.permuted for each in stored] == [each.permuted for each in array]
    assert [each.feature for each in frame] == ["abc"[each.feature] for each in array]  # type: ignore[index]
    assert list(whole) == ["a", "b", "c"]
    np.testing.assert_array_equal(whole, X)
    gmt = tmp_path / "sets.gmt"
    gmt.write_text("first\tof two\ta\tb\n")
    (found,) = feature_importances(LogisticRegression(), whole, codes, feature_groups=gmt, cv=5)
    assert found.feature == "first"
    by_position, numbered = (
        feature_importances(LogisticRegression(), table, codes, feature_groups={"first": [0, 1], "last": [2]}, cv=5)
        for table in (X, pd.DataFrame(X, columns=[2, 0, 1]))
    )
    assert by_feature(numbered) == by_feature(by_position)


@pytest.mark.parametrize("form", [np.array, pd.Series])
def test_a_view_of_texts_is_not_measured(form: Any) -> None:
    X, y = numbers(60)
    views = {"words": form(np.where(y > 0, "red apple", "green pear")), "table": X}
    method = KernelSVC(kernels={"words": {"kind": "linear", "preprocessing": TfidfVectorizer()}, "table": "linear"})
    found = feature_importances(method, views, y > 0, cv=2, n_permutations=1)
    assert {(each.view, each.feature) for each in found} == {("table", 0), ("table", 1), ("table", 2)}
    with pytest.raises(DataError, match="view 'words', which has no features; expected a view with columns"):
        feature_importances(method, views, y > 0, feature_groups={"words": {"pair": [0]}})


def test_samples_that_lack_a_view_keep_lacking_it() -> None:
    views, y = exclusive_or()
    views["genes"].iloc[::4] = np.nan
    kernels = {name: {"kind": "gaussian", "missing_views": "mean"} for name in views}
    found = by_feature(feature_importances(KernelSVC(kernels=kernels), views, y, cv=2, n_permutations=2))
    assert set(list(found)[:2]) == {("genes", "a"), ("genes", "b")}


def test_fit_takes_the_parameters_of_its_samples() -> None:
    X, y = numbers()
    weights = (np.arange(400) % 2).astype(float)
    test = np.arange(201, 400, 2)
    found = feature_importances(
        LinearRegression(), X, np.where(weights > 0, y, -y), cv=[(np.arange(200), test)],
        fit_parameters={"sample_weight": weights},
    )  # fmt: skip
    assert [each.feature for each in found] == [1, 0, 2]
    assert found[0].permuted.mean == pytest.approx(2 * 16 / 25, abs=0.3), "without weights it is about 0"


def test_mistakes_of_importances_have_sentences() -> None:
    views, y = exclusive_or(40)
    method = KernelSVC(kernels="gaussian")
    with pytest.raises(DataError, match=r"y has shape \(39,\) for 40 samples"):
        feature_importances(method, views, y[1:])
    with pytest.raises(DataError, match="there is no view 'a'"):
        feature_importances(method, views, y, feature_groups={"a": {"pair": ["a"]}})
    with pytest.raises(ConfigError, match="expected columns by the name of their group"):
        feature_importances(method, views, y, feature_groups={"genes": ["a"]})
    with pytest.raises(ConfigError, match="expected groups by the name of their view"):
        feature_importances(method, views, y, feature_groups="sets.gmt")
    pairs = {**views, "pairs": Pairwise(np.ones((40, 40)))}
    with pytest.raises(DataError, match="view 'pairs', which has no features"):
        feature_importances(method, pairs, y, feature_groups={"pairs": {"pair": [0]}})


def test_a_target_with_gaps_is_said_to_have_gaps() -> None:
    X = np.random.default_rng(0).normal(size=(20, 3))
    y = np.where(np.arange(20) == 3, np.nan, X[:, 0])
    with pytest.raises(DataError, match="y has missing values"):
        feature_importances(MultiViewRegressor(kernels="linear"), X, y)
