"""Distances of features and of sets of points: definitions, independent implementations, tiles, and rounding."""

import itertools
import sys
from typing import Any

import hypothesis.extra.numpy as hnp
import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from numba.core import caching
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import additive_chi2_kernel
from threadpoolctl import threadpool_limits

from mklearn.descriptors.point_sets import PointSets
from mklearn.errors import ConfigError, DataError
from mklearn.extras import compile_loop
from mklearn.kernels import point_set_distance
from mklearn.kernels.distances import (
    MEASURES,
    chi2_distance,
    inner_product,
    manhattan,
    squared_euclidean,
    tanimoto_distance,
)
from mklearn.kernels.point_set_distance import point_set_distances

Features = NDArray[np.float64]


def matrices(low: float, high: float) -> st.SearchStrategy[Features]:
    return hnp.arrays(
        np.float64,
        st.tuples(st.integers(1, 7), st.just(3)),
        elements=st.floats(low, high, allow_subnormal=False).map(lambda value: round(value, 6)),
    )


def test_compiled_loops_run_where_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    def total(values: Features) -> float:
        result = 0.0
        for value in values:
            result += value
        return result

    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    assert compile_loop(total)(np.arange(5.0)) == 10


def test_chi2_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    X = np.random.default_rng(0).random((9, 5)) * (np.arange(5) > 0)  # one feature is 0 in all samples
    expected, among = chi2_distance(X[:4], X), chi2_distance(X)
    monkeypatch.setitem(sys.modules, "numba", None)
    np.testing.assert_allclose(chi2_distance(X[:4], X), expected, rtol=1e-12)
    found = chi2_distance(X)
    np.testing.assert_allclose(found, among, rtol=1e-12)
    np.testing.assert_array_equal(found, found.T)
    assert not np.diagonal(found).any()
    assert chi2_distance(X.astype(np.float32)).dtype == np.float32


@settings(max_examples=40)
@given(matrices(0, 10), matrices(0, 10))
def test_chi2_is_that_of_scikit_learn(X: Features, Y: Features) -> None:
    np.testing.assert_allclose(chi2_distance(X, Y), -additive_chi2_kernel(X, Y) / 2, rtol=1e-12, atol=1e-14)
    among = chi2_distance(X)
    np.testing.assert_allclose(among, -additive_chi2_kernel(X) / 2, rtol=1e-12, atol=1e-14)
    np.testing.assert_array_equal(among, among.T)
    assert not np.diagonal(among).any()


@settings(max_examples=40)
@given(matrices(-10, 10), matrices(-10, 10))
def test_squared_euclidean_and_inner_product_equal_sums_over_features(X: Features, Y: Features) -> None:
    np.testing.assert_allclose(squared_euclidean(X, Y), cdist(X, Y, "sqeuclidean"), rtol=1e-9, atol=1e-10)
    np.testing.assert_allclose(inner_product(X, Y), [[sum(x * y) for y in Y] for x in X], rtol=1e-9, atol=1e-10)


def test_chi2_of_the_smallest_and_largest_numbers() -> None:
    small = np.finfo(float).smallest_subnormal
    X = np.array([[0.0, 0.0], [small, 0.0], [1e150, 0.0], [0.0, 3.0]])
    D = chi2_distance(X)
    assert np.isfinite(D).all()
    np.testing.assert_allclose(D[3], [1.5, 1.5, 5e149, 0])


@pytest.mark.parametrize("measure", MEASURES.values())
@pytest.mark.parametrize(("dtype", "value"), [(np.float64, 1e200), (np.float32, 1e30)])
def test_features_whose_squares_overflow(measure: Any, dtype: Any, value: float) -> None:
    X = np.array([[1, 2], [value, 0], [0, 0.5]], dtype=dtype)
    # in units of the features, or without any, or kept in double precision
    if measure is manhattan or (measure in (chi2_distance, tanimoto_distance, inner_product) and dtype == np.float32):
        assert np.isfinite(measure(X)).all()
        return
    with pytest.raises(DataError, match=f"overflow {np.dtype(dtype)}; rescale them"), np.errstate(all="ignore"):
        measure(X)


def test_squared_euclidean_far_from_the_origin() -> None:
    """The plain formula ||x||^2 + ||y||^2 - 2 x'y loses every digit here."""
    X = np.random.default_rng(0).random((8, 5))
    np.testing.assert_allclose(squared_euclidean(X + 1e8), cdist(X + 1e8, X + 1e8, "sqeuclidean"), rtol=1e-6)


@pytest.mark.parametrize("name", sorted(MEASURES))
@pytest.mark.parametrize(
    ("X", "Y", "message"),
    [
        ([[1.0, np.nan]], None, r"X has NaN or infinite entries, the first one at index \(0, 1\)"),
        ([[1.0, 2.0]], [[1.0]], "X has 2 features and Y has 1"),
        ([1.0, 2.0], None, "2 axes"),
        ([["a"]], None, "expected real numbers"),
        ([[1.0], [1.0, 2.0]], None, "different lengths"),
        (scipy.sparse.eye_array(3), np.eye(3), "sparse and the other is not"),
    ],
)
def test_refuses(name: str, X: object, Y: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        MEASURES[name](X, Y)


def test_chi2_refuses_negative_features() -> None:
    with pytest.raises(DataError, match=r"Y has a negative feature \(-0\.5 at sample 1, feature 0\).*histograms"):
        chi2_distance([[1.0, 2.0]], [[1.0, 2.0], [-0.5, 1.0]])


@pytest.mark.parametrize("layout", ["rows", "columns", "strided", "single column"])
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_matrices_among_one_set_are_exactly_symmetric(layout: str, dtype: type) -> None:
    X = np.random.default_rng(0).normal(size=(150, 14)).astype(dtype)
    X = {"rows": X, "columns": np.asfortranarray(X), "strided": X[::2, ::3], "single column": X[:, :1]}[layout]
    for measure in (squared_euclidean, inner_product):
        P = measure(X)
        np.testing.assert_array_equal(P, P.T)
        assert measure is inner_product or (P.min() == 0 and not np.diagonal(P).any())
        assert P.dtype == (np.float64 if measure is inner_product else dtype)


# --- sets of points


def slow(sets: PointSets, weight: float = 0.25) -> Features:
    """The definition, pair by pair, in float64; not for sets without points."""
    points, n = each_set(sets), len(sets)
    result = np.zeros((n, n))
    for i, j in itertools.permutations(range(n), 2):
        (A, at), (B, there) = points[i], points[j]
        e = cdist(A, B, "sqeuclidean") + weight / 270.0 * cdist(at, there)
        result[i, j] = (e.min(axis=1).mean() + e.min(axis=0).mean()) / 2
    return result


def each_set(sets: PointSets) -> list[tuple[Features, Features]]:
    """The descriptors and positions of each set."""
    ends = np.cumsum(sets.counts)[:-1]
    parts = (np.split(array.astype(float), ends) for array in (sets.descriptors, sets.positions))
    return list(zip(*parts, strict=True))


def random_sets(counts: list[int], d: int = 5, seed: int = 0, unit: bool = False, offset: float = 0.0) -> PointSets:
    rng = np.random.default_rng(seed)
    parts = []
    for count in counts:
        descriptors = rng.normal(size=(count, d)) + offset
        if unit:
            descriptors /= np.linalg.norm(descriptors, axis=1, keepdims=True)
        parts.append((descriptors, rng.random((count, 2)) * 250))
    return PointSets.from_lists(parts)


@settings(max_examples=40)
@given(
    counts=st.lists(st.integers(1, 11), min_size=1, max_size=5),
    d=st.integers(1, 6),
    weight=st.sampled_from([0.0, 0.25, 40.0]),
    offset=st.sampled_from([0.0, 30.0]),
)
def test_equals_the_loop(counts: list[int], d: int, weight: float, offset: float) -> None:
    X = random_sets(counts, d, 1, offset=offset)
    D = point_set_distances(X, position_weight=weight)
    # Of points that nearly coincide, single precision keeps the rounding of their squared lengths.
    np.testing.assert_allclose(D, slow(X, weight), rtol=1e-4, atol=1e-7)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(np.diagonal(D), 0)
    assert D.dtype == np.float32


def test_sets_without_points() -> None:
    X = random_sets([0, 4, 0, 3, 0])
    D, points = point_set_distances(X), each_set(X)
    for i in (1, 3):
        np.testing.assert_allclose(D[i, [0, 2, 4]], 2 * (points[i][0] ** 2).sum(axis=1).mean(), rtol=1e-6)
    np.testing.assert_array_equal(D[np.ix_([0, 2, 4], [0, 2, 4])], 0)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_allclose(D[1, 3], slow(PointSets(X.descriptors, X.positions, X.counts[[1, 3]]))[0, 1], rtol=1e-5)
    np.testing.assert_array_equal(point_set_distances(random_sets([0, 0])), 0)


@pytest.mark.parametrize("entries", [1, 60, 200])
@pytest.mark.parametrize("weight", [0.0, 0.25])
def test_tiles(monkeypatch: pytest.MonkeyPatch, entries: int, weight: float) -> None:
    X = random_sets([3, 0, 9, 1, 5, 0, 0, 7, 2, 4, 0])
    whole = point_set_distances(X, position_weight=weight)
    monkeypatch.setattr(point_set_distance, "_TILE_ENTRIES", entries)
    np.testing.assert_allclose(point_set_distances(X, position_weight=weight), whole, rtol=1e-5)


@pytest.mark.parametrize("n_jobs", [1, 2, 3])
def test_threads_do_not_change_a_bit(n_jobs: int) -> None:
    X = random_sets([20, 17, 0, 20, 20, 3, 20, 20, 11, 20, 20, 20] * 3, 16, unit=True)
    with threadpool_limits(1):
        alone = point_set_distances(X)
    np.testing.assert_array_equal(point_set_distances(X, n_jobs=n_jobs), alone, strict=True)


def test_refusals() -> None:
    X = random_sets([2, 3])
    for value in (np.nan, 1e25):
        wrong = PointSets(np.full((5, 5), value, "f"), X.positions, X.counts)
        with pytest.raises(DataError, match="set 0 has descriptors that are NaN, infinite or too large for float32"):
            point_set_distances(wrong)
    for parameters in ({"position_weight": -1}, {"position_weight": np.nan}, {"position_scale": 0}):
        with pytest.raises(ConfigError, match=f"for `{next(iter(parameters))}`: expected a finite number"):
            point_set_distances(X, **parameters)
