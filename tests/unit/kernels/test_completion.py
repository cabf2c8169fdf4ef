"""Samples that lack a view: kernels completed by the mean, against explicit features, and what is refused."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from sklearn.impute import SimpleImputer
from tests.split_stacks import split_stacks

from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.kernels import StackTransform, Views, compute_stack
from mklearn.kernels.completion import lacking

RNG = np.random.default_rng(0)
N, M = 20, 7
TRAIN, TEST = np.arange(N), np.arange(N, N + M)
GONE = np.array([2, 3, 11, N + 1, N + 4])
"""Three training samples and two new ones."""
PRESENT = np.setdiff1d(np.arange(N), GONE)
WHOLE = RNG.normal(size=(N + M, 4)) + 1
HOLED = WHOLE.copy()
HOLED[GONE] = np.nan
LINEAR: dict[str, Any] = {"kind": "linear", "missing_views": "mean"}
PLAIN = {"centre": False, "normalise": "none", "psd": "none"}
SPECS: dict[str, dict[str, Any]] = {
    "linear": LINEAR | PLAIN,
    "gaussian": {"kind": "gaussian"} | PLAIN,
    "unit": {"kind": "polynomial", "normalise": "unit_diagonal", "centre": False},
    "centred": {"kind": "gaussian", "feature_scaling": "standard"},
    "shift": {"kind": "polynomial", "psd": "shift"},
    "rank": {"kind": "gaussian", "feature_scaling": "rank", "centre": False},
}


def stacks(table: Any, spec: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    fitted = StackTransform([spec | {"missing_views": "mean"}]).fit(table[:N])
    return fitted.stack_train_.matrices[0], fitted.transform(table[N:]).matrices[0]


@pytest.mark.parametrize("name", SPECS)
def test_missing_samples_lie_at_the_mean_in_feature_space(name: str) -> None:
    train, rows = stacks(HOLED, SPECS[name])
    observed = np.ix_(PRESENT, PRESENT)
    alone = compute_stack(WHOLE[PRESENT], [SPECS[name]]).matrices[0]
    np.testing.assert_array_equal(train[observed], alone)
    np.testing.assert_array_equal(train, train.T)
    assert np.linalg.eigvalsh(train).min() > -1e-12 * np.abs(train).max()
    values, vectors = np.linalg.eigh(alone)  # an explicit map: K = F F'
    features = np.full((N, len(PRESENT)), np.nan)
    features[PRESENT] = vectors * np.sqrt(np.maximum(values, 0))
    features = np.where(np.isnan(features), np.nanmean(features, axis=0), features)
    np.testing.assert_allclose(train, features @ features.T, atol=1e-9)
    info = StackTransform([SPECS[name] | {"missing_views": "mean"}]).fit(HOLED[:N]).infos[0]
    assert (info["n_missing"], info["n_train"]) == (3, N - 3)
    new = np.setdiff1d(TEST, GONE) - N
    expected = StackTransform([SPECS[name]]).fit(WHOLE[PRESENT]).transform(WHOLE[N:]).matrices[0]
    np.testing.assert_allclose(rows[np.ix_(new, PRESENT)], expected[new], atol=1e-12)
    for row in GONE[GONE >= N] - N:
        np.testing.assert_allclose(rows[row], train[GONE[0]], atol=1e-12)
    if name == "centred":
        assert not train[GONE[GONE < N]].any()
        assert not rows[GONE[GONE >= N] - N].any()
        np.testing.assert_allclose(train.mean(axis=0), 0, atol=1e-12)


def test_pairwise_values_and_products_complete_too() -> None:
    distances = ((HOLED[:, None] - HOLED[None]) ** 2).sum(axis=-1)
    other = ((WHOLE[:, None, :2] - WHOLE[None, :, :2]) ** 2).sum(axis=-1)
    single: dict[str, Any] = {"id": "a", "view": "a", "missing_views": "mean"}
    factors = {"id": "p", "kind": "product", "factors": [{"view": "a"}, {"view": "b"}]}
    product = factors | {"missing_views": "mean"}
    train, rows, infos = split_stacks({"a": distances, "b": other}, [single, product], TRAIN, TEST)
    np.testing.assert_allclose(train["a"], stacks(HOLED, {"kind": "gaussian"})[0], atol=1e-9)
    observed, new = np.ix_(PRESENT, PRESENT), np.setdiff1d(TEST, GONE)
    alone, alone_rows, _ = split_stacks({"a": distances, "b": other}, [factors], PRESENT, new)
    np.testing.assert_array_equal(train["p"][observed], alone["p"])
    np.testing.assert_array_equal(rows["p"][np.ix_(new - N, PRESENT)], alone_rows["p"])
    assert not train["p"][2].any()
    assert [info["n_missing"] for info in infos] == [3, 3]


def test_the_same_views_as_frames_sparse_tables_and_columns() -> None:
    expected = stacks(HOLED, LINEAR)
    frame = pd.DataFrame(HOLED, columns=list("abcd"))
    both = np.hstack([WHOLE, HOLED])
    stored = sp.csr_array(WHOLE)
    stored.data = HOLED.ravel()
    for X, spec in (
        ({"v": frame}, {"view": "v"}),
        ({"v": HOLED, "w": WHOLE}, {"view": "v"}),
        ({"v": stored}, {"view": "v"}),
        (frame, {"columns": ["a", "b", "c", "d"]}),
        (both, {"columns": [4, 5, 6, 7]}),
        (HOLED.astype(object), {"preprocessing": SimpleImputer()}),
    ):
        halves = [Views(X)[part] if isinstance(X, dict) else X[part] for part in (slice(0, N), slice(N, None))]
        fitted = StackTransform([LINEAR | spec]).fit(halves[0])
        np.testing.assert_allclose(fitted.stack_train_.matrices[0], expected[0], atol=1e-12)
        np.testing.assert_allclose(fitted.transform(halves[1]).matrices[0], expected[1], atol=1e-12)


def test_refuses() -> None:
    views, plain = Views({"v": HOLED[:N], "w": WHOLE[:N]}), {"kind": "gaussian", "view": "v"}
    completes = plain | {"missing_views": "mean"}
    partly = HOLED[:N].copy()
    partly[0, 1] = np.nan
    for spec, X, error, message in (
        (plain, views, DataError, r"kernel '0': view 'v' is missing .* samples 2, 3, 11\. Set missing_views"),
        (completes, {"v": partly}, DataError, "view 'v' has NaN"),
        (completes, views[[2, 3]], NotApplicable, r"view 'v' is missing \(NaN in every column\) for all 2 samples"),
        (completes, views[[2, 3, 4]], NotApplicable, "kernel '0': 1 of the 3 training samples have its view"),
        (plain | {"missing_views": "median"}, views, ConfigError, "'0': Invalid value 'median' for `missing_views`"),
        (plain | {"impute": "knn"}, views, ConfigError, "kernel '0': Invalid value 'knn' for `impute`"),
        (plain | {"impute": "mean"}, {"v": sp.csr_array(WHOLE)}, DataError, "'0': `impute` failed: .*sparse features"),
    ):
        with pytest.raises(error, match=message):
            StackTransform([spec]).fit(X)
    distances = np.where(np.isnan(HOLED[:, :1]) | np.isnan(HOLED[:, 0]), np.nan, 1.0 - np.eye(N + M))
    with pytest.raises(NotApplicable, match="kernel 'd': 0 of the 2 training samples have its view"):
        split_stacks({"d": distances}, [{"id": "d", "missing_views": "mean"}], [2, 3], TEST)
    with pytest.raises(DataError, match=r"kernel 'd': .*NaN"):
        split_stacks({"d": distances}, [{"id": "d"}], TRAIN, TEST)


def test_imputation_is_fitted_to_the_training_samples() -> None:
    holes = WHOLE.copy()
    holes[RNG.random(holes.shape) < 0.2] = np.nan
    holes[0] = WHOLE[0]
    for strategy, table in (("mean", holes), ("median", pd.DataFrame(holes))):
        spec = {"id": "k", "view": "a", "impute": strategy, "feature_scaling": "standard"}
        train, rows, [info] = split_stacks({}, [spec], TRAIN, TEST, {"a": table})
        filled = SimpleImputer(strategy=strategy).fit(holes[:N]).transform(holes)
        expected = split_stacks({}, [{**spec, "impute": "none"}], TRAIN, TEST, {"a": filled})
        np.testing.assert_allclose(train.matrices, expected[0].matrices, atol=1e-12)
        np.testing.assert_allclose(rows.matrices, expected[1].matrices, atol=1e-12)
        assert info["impute"] == strategy
    holes[:N, 2] = np.nan  # a feature that no training sample has
    train, _, _ = split_stacks({}, [{"id": "k", "view": "a", "impute": "mean"}], TRAIN, TEST, {"a": holes})
    without = split_stacks({}, [{"id": "k", "view": "a", "impute": "mean"}], TRAIN, TEST, {"a": holes[:, [0, 1, 3]]})
    np.testing.assert_allclose(train.matrices, without[0].matrices, atol=1e-12)
    with pytest.raises(NotApplicable, match="all values of the 20 training samples are missing"):
        split_stacks({}, [{"id": "k", "view": "a", "impute": "mean"}], TRAIN, TEST, {"a": holes * np.nan})
    with pytest.raises(ConfigError, match="`impute` needs a view of features, and view 'd' holds pairwise values"):
        split_stacks({"d": np.zeros((2, 2))}, [{"id": "k", "view": "d", "impute": "mean"}], [0], [1])


def test_what_lacks_a_view() -> None:
    missing = [[None, pd.NA], [1, None], ["a", 2], [np.nan, float("nan")]]
    expected = [True, False, False, True]
    assert lacking(np.array(missing, dtype=object)).tolist() == expected
    assert lacking(pd.DataFrame(missing)).tolist() == expected
    assert not lacking(np.zeros((3, 2), dtype=int)).any()
    assert lacking(np.array([np.nan, 1.0])).tolist() == [True, False]
    assert lacking(pd.Series(["a", None, "b"])).tolist() == [False, True, False]
    stored = sp.csr_array(np.array([[np.nan, 0.0], [np.nan, 1.0], [0.0, 0.0], [np.nan, np.nan]]))
    assert lacking(stored).tolist() == expected
