"""Measures between samples and landmarks: those of `MEASURES`, in either precision, dense and sparse."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from mklearn.errors import DataError
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.landmark_measure import LandmarkMeasure

X = 3 + np.random.default_rng(0).random((40, 7))
Z = X[:15]


@pytest.mark.parametrize("given", ["float64", "float32"])
@pytest.mark.parametrize("measure", MEASURES)
def test_measures_are_those_of_the_kernels(measure: str, given: str) -> None:
    rows, landmarks = X.astype(given), Z.astype(given)
    exact = MEASURES[measure](rows.astype(float), landmarks.astype(float))
    copy = rows.copy()
    double = LandmarkMeasure(measure, landmarks, "float64")
    np.testing.assert_allclose(double(rows), exact, rtol=1e-12, atol=1e-12)
    np.testing.assert_array_equal(double.among_landmarks(), MEASURES[measure](landmarks.astype(float)))
    single = LandmarkMeasure(measure, landmarks, "float32")(rows)
    assert single.dtype == np.float32
    np.testing.assert_allclose(single, exact, rtol=1e-6, atol=1e-6)
    np.testing.assert_array_equal(rows, copy)


def test_single_precision_distances_do_not_depend_on_the_origin() -> None:
    """The mean landmark is subtracted before rounding, so that samples far from 0 keep their digits."""
    far = LandmarkMeasure("squared_euclidean", Z + 1e6, "float32")(X + 1e6)
    np.testing.assert_allclose(far, MEASURES["squared_euclidean"](X, Z), atol=1e-5)


@pytest.mark.parametrize("measure", ["squared_euclidean", "inner_product"])
def test_sparse_features_are_measured_as_dense_ones(measure: str) -> None:
    found = LandmarkMeasure(measure, sp.csr_array(Z), "float32")(sp.csr_array(X))
    np.testing.assert_allclose(found, MEASURES[measure](X, Z), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("measure", ["squared_euclidean", "inner_product"])
def test_features_too_large_for_the_precision_are_refused(measure: str) -> None:
    with pytest.raises(DataError, match=r"too large for float32.*or compute in float64"):
        LandmarkMeasure(measure, 1e20 * Z, "float32")
    single, double = (LandmarkMeasure(measure, Z, dtype) for dtype in ("float32", "float64"))
    with pytest.raises(DataError, match="too large for float32"):
        single(1e20 * X)
    assert np.isfinite(double(1e20 * X)).all()
    with pytest.raises(DataError, match="too large for float64"):
        double(1e160 * X)
