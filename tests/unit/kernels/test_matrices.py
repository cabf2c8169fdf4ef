"""Kernel matrices: centring, scaling, repair, identity-like ones, and completion where samples lack a view."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import FunctionTransformer
from tests.split_stacks import split_stacks

from mklearn.errors import ConfigError, ConstantKernel, DataError, NotApplicable
from mklearn.kernels import PrecomputedKernel, StackTransform, Views
from mklearn.kernels.completion import lacking
from mklearn.kernels.distances import squared_euclidean
from mklearn.kernels.matrices import (
    centre_kernel,
    centred_trace,
    off_diagonal_mass,
    psd_repair,
    scale_to_centred_trace,
    unit_diagonal,
)


@settings(max_examples=25)
@given(st.integers(0, 1000), st.integers(2, 12))
def test_centred_kernels_are_HKH(seed: int, n: int) -> None:
    A = np.random.default_rng(seed).standard_normal((n, 3))
    K = A @ A.T
    H = np.eye(n) - 1 / n
    centred = centre_kernel(K)
    np.testing.assert_allclose(centred, H @ K @ H, atol=1e-12)
    np.testing.assert_array_equal(centred, centred.T)
    np.testing.assert_allclose(centre_kernel(centred), centred, atol=1e-12)
    np.testing.assert_allclose(centred_trace(K), np.trace(H @ K @ H) / n, atol=1e-12)


def test_refusals() -> None:
    with pytest.raises(DataError, match="sample of the rows 0 has self-similarity -1"):
        unit_diagonal([[1.0, 0.0]], [-1.0], [1.0, 1.0])
    with pytest.raises(DataError, match="both the rows and the columns"):
        unit_diagonal(np.eye(2), [1.0, 1.0])
    with pytest.raises(DataError, match="not symmetric"):
        centre_kernel([[1.0, 2.0], [0.0, 1.0]])


def test_a_kernel_of_single_precision_that_is_rounding_alone_is_constant() -> None:
    X = np.random.default_rng(0).normal(size=(50, 4)).astype(np.float32)
    distances = squared_euclidean(X)
    wide = np.exp(-distances / (1e8 * distances.mean()))
    with pytest.raises(ConstantKernel):
        scale_to_centred_trace(wide)
    scale_to_centred_trace(np.exp(-squared_euclidean(X.astype(np.float64)) / (1e8 * float(distances.mean()))))


def test_features_of_a_model_are_a_copy_of_the_callers() -> None:
    X = np.random.default_rng(0).normal(size=(12, 4))
    sliced = {"kind": "linear", "preprocessing": FunctionTransformer(lambda table: table[:, 1:])}
    for table, spec in ((X.copy(), "linear"), (X.copy()[:], "linear"), (X.copy(), sliced), (sp.csr_array(X), "linear")):
        transform, new = StackTransform({"x": spec}), table[:3].copy()
        expected = transform.fit({"x": table}).transform({"x": new})["x"]
        (table.data if sp.issparse(table) else table)[:] *= 0.3
        np.testing.assert_array_equal(transform.transform({"x": new})["x"], expected)


@pytest.mark.parametrize("weights", [[0, 0, 0], [2, -1, 0], [1, 1], [1, np.nan, 1]])
def test_weights_of_a_centred_trace_are_checked(weights: list[float]) -> None:
    with pytest.raises(DataError, match="sample_weight"):
        centred_trace(np.eye(3), weights)


def indefinite(seed: int) -> np.ndarray:
    A = np.random.default_rng(seed).standard_normal((9, 9))
    return A + A.T + 2 * np.eye(9)


@settings(max_examples=25)
@given(st.integers(0, 1000))
def test_clip_is_the_nearest_psd_matrix(seed: int) -> None:
    """Optimality of the projection onto the cone: K+ is PSD, K+ - K is PSD, and they are orthogonal."""
    K = indefinite(seed)
    repair = psd_repair(K)
    repaired = repair.kernel
    np.testing.assert_array_equal(repaired, repaired.T)
    np.testing.assert_allclose(repair.min_eigenvalue, np.linalg.eigvalsh(K)[0], rtol=1e-10)
    np.testing.assert_allclose(repair.transform(K), repaired, atol=1e-10)
    assert np.linalg.eigvalsh(repaired)[0] > -1e-10
    assert np.linalg.eigvalsh(repaired - K)[0] > -1e-10
    assert abs(np.sum(repaired * (repaired - K))) < 1e-9


def test_clipped_rows_are_inner_products_with_the_repaired_features() -> None:
    """A new sample of a pseudo-Euclidean space keeps its coordinates along the positive axes and loses the others."""
    rng = np.random.default_rng(3)
    signature = np.array([1.0, 1, 1, -1])
    train, new = rng.standard_normal((20, 4)) * [2, 2, 2, 0.5], rng.standard_normal((6, 4))
    K, rows = train * signature @ train.T, new * signature @ train.T
    repair = psd_repair(K)
    values, vectors = np.linalg.eigh(K)
    kept = values > 1e-8
    coordinates = vectors[:, kept] * np.sqrt(values[kept])  # of the training samples
    # coordinates z of a new sample solve  coordinates z = row  in the span of the kept eigenvectors
    z = np.linalg.lstsq(coordinates, rows.T, rcond=None)[0]
    np.testing.assert_allclose(repair.transform(rows), (coordinates @ z).T, atol=1e-10)
    assert np.abs(repair.transform(rows) - rows).max() > 1e-2


def test_psd_kernels_are_left_alone() -> None:
    A = np.random.default_rng(0).standard_normal((8, 3))
    K = A @ A.T  # five eigenvalues are zero up to rounding
    repair = psd_repair(K)
    np.testing.assert_array_equal(repair.kernel, K)
    rows = np.random.default_rng(1).standard_normal((2, 8))
    np.testing.assert_array_equal(repair.transform(rows), rows)
    assert repair.vectors is None
    assert abs(repair.min_eigenvalue) < 1e-12 * np.trace(K)
    assert psd_repair(np.zeros((3, 3))).kernel.sum() == 0


@pytest.mark.parametrize("place", [(0, 1), (127, 128), (399, 0), (390, 300)])
def test_rounding_errors_anywhere_are_averaged(place: tuple[int, int]) -> None:
    K = np.eye(400)
    K[place] = 1e-10
    repaired = psd_repair(K).kernel
    np.testing.assert_array_equal(repaired, repaired.T)
    assert repaired[place] == 5e-11


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("lowest", [-1e-2, -1e-5, -1e-9, -1e-11, 0.0, 1e-3])
def test_kernels_that_need_no_repair_have_a_cholesky_factor(lowest: float, dtype: type) -> None:
    rng = np.random.default_rng(5)
    Q = np.linalg.qr(rng.normal(size=(60, 60)))[0]
    K = (Q * np.r_[lowest, np.zeros(20), np.geomspace(1e-8, 1, 39)] @ Q.T).astype(dtype)
    K = (K + K.T) / 2
    expected = psd_repair(K)
    fitted = PrecomputedKernel(centre=False, normalise="none").fit(K)
    assert (fitted.repair_.vectors is None) == (expected.vectors is None)
    np.testing.assert_array_equal(fitted.kernel_train_, expected.kernel)
    np.testing.assert_array_equal(fitted.transform(K[:2]), expected.transform(K[:2]))
    if lowest >= 0:
        assert fitted.info_["min_eigenvalue"] is None  # a Cholesky factor told enough


def test_repair_refusals() -> None:
    with pytest.raises(DataError, match="no positive eigenvalue"):
        psd_repair(-np.eye(3))
    large = np.eye(400)
    large[390, 5] = 1e-3
    with pytest.raises(DataError, match=r"not symmetric: entry \(5, 390\) is 0 and entry \(390, 5\) is 0.001"):
        psd_repair(large)
    with pytest.raises(DataError, match="4 columns, but there were 2"):
        psd_repair(np.eye(2)).transform(np.ones((1, 4)))


def slow_mass(K: np.ndarray) -> float:
    """Least-squares fit of HDH, one column of the design per diagonal entry."""
    n = len(K)
    H = np.eye(n) - 1 / n
    design = np.column_stack([np.outer(H[i], H[i]).ravel() for i in range(n)])
    target = (H @ K @ H).ravel()
    residual = target - design @ np.linalg.lstsq(design, target, rcond=None)[0]
    return float(residual @ residual / (target @ target))


@settings(max_examples=25)
@given(st.integers(0, 1000), st.integers(3, 9), st.floats(0.1, 10))
def test_off_diagonal_mass_is_the_residual_of_the_diagonal_fit(seed: int, n: int, scale: float) -> None:
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((n, 3))
    K = A @ A.T
    mass = off_diagonal_mass(K)
    np.testing.assert_allclose(mass, slow_mass(K), atol=1e-9)
    u = rng.standard_normal(n)
    np.testing.assert_allclose(off_diagonal_mass(scale * K + u[:, None] + u), mass, atol=1e-9)
    # kernels without information on which samples are alike
    assert off_diagonal_mass(np.diag(rng.random(n) + 0.1)) < 1e-12
    assert off_diagonal_mass(0.6 * np.eye(n) + 0.4) < 1e-12
    assert off_diagonal_mass(np.ones((n, n))) == 0


# --- missing views

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
    "rank": {"kind": "gaussian", "feature_scaling": "rank", "centre": False},
}


def stacks(table: Any, spec: dict[str, Any]) -> tuple[np.ndarray, np.ndarray]:
    fitted = StackTransform([spec | {"missing_views": "mean"}]).fit(table[:N])
    return fitted.stack_train_.matrices[0], fitted.transform(table[N:]).matrices[0]


@pytest.mark.parametrize("name", SPECS)
def test_missing_samples_lie_at_the_mean_in_feature_space(name: str) -> None:
    train, rows = stacks(HOLED, SPECS[name])
    observed = np.ix_(PRESENT, PRESENT)
    alone = StackTransform([SPECS[name]]).fit_transform(WHOLE[PRESENT]).matrices[0]
    np.testing.assert_array_equal(train[observed], alone)
    np.testing.assert_array_equal(train, train.T)
    assert np.linalg.eigvalsh(train).min() > -1e-12 * np.abs(train).max()
    values, vectors = np.linalg.eigh(alone)  # an explicit map: K = F F'
    features = np.full((N, len(PRESENT)), np.nan)
    features[PRESENT] = vectors * np.sqrt(np.maximum(values, 0))
    features = np.where(np.isnan(features), np.nanmean(features, axis=0), features)
    np.testing.assert_allclose(train, features @ features.T, atol=1e-9)
    assert StackTransform([SPECS[name] | {"missing_views": "mean"}]).fit(HOLED[:N]).infos[0]["n_missing"] == 3
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
        train, rows, _ = split_stacks({}, [spec], TRAIN, TEST, {"a": table})
        filled = SimpleImputer(strategy=strategy).fit(holes[:N]).transform(holes)
        expected = split_stacks({}, [{**spec, "impute": "none"}], TRAIN, TEST, {"a": filled})
        np.testing.assert_allclose(train.matrices, expected[0].matrices, atol=1e-12)
        np.testing.assert_allclose(rows.matrices, expected[1].matrices, atol=1e-12)
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
