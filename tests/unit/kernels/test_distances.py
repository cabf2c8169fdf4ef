"""Pairwise measures against those of SciPy and scikit-learn."""

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

from mklearn.errors import DataError
from mklearn.extras import compile_loop
from mklearn.kernels.distances import (
    MEASURES,
    chi2_distance,
    inner_product,
    manhattan,
    squared_euclidean,
    tanimoto_distance,
)

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
    np.testing.assert_allclose(chi2_distance(X), -additive_chi2_kernel(X) / 2, rtol=1e-12, atol=1e-14)


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


@pytest.mark.parametrize("name", ["squared_euclidean", "chi2"])
@settings(max_examples=30)
@given(X=matrices(0, 10), scale=st.floats(0.1, 10))
def test_laws_of_distances(name: str, X: Features, scale: float) -> None:
    measure = MEASURES[name]
    D = measure(X)
    np.testing.assert_array_equal(D, D.T)
    np.testing.assert_array_equal(np.diagonal(D), 0)
    assert (D >= 0).all()
    order = np.random.default_rng(1).permutation(len(X))
    np.testing.assert_allclose(measure(X[order]), D[np.ix_(order, order)], rtol=1e-12, atol=1e-12)
    # squared distances scale with the square of the features, chi-squared ones linearly
    power = 2 if name == "squared_euclidean" else 1
    np.testing.assert_allclose(measure(scale * X), scale**power * D, rtol=1e-9, atol=1e-10)


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
        assert P.dtype == (np.float64 if measure is inner_product else dtype)
