"""Choice of landmarks, maps of single kernels, and measures between samples and landmarks in either precision."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
import pytest
import scipy.sparse as sp

from mklearn.errors import DataError
from mklearn.kernels.base import Kernel
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.functions import GaussianKernel, PolynomialKernel
from mklearn.kernels.landmark_map import LandmarkMeasure, landmark_map, random_per_class

X = np.random.default_rng(0).normal(size=(30, 4))


@dataclass(kw_only=True, eq=False)
class Cosine(Kernel):
    """cos(|x - y|^2): an indefinite kernel, as another package may write it."""

    kind: ClassVar[str] = "cosine"
    measures: ClassVar[tuple[str, ...]] = ("squared_euclidean",)

    def kernel_function(self, blocks: Sequence[np.ndarray]) -> np.ndarray:
        return np.cos(blocks[0])


def features(kernel: Kernel, measure: str, landmarks: np.ndarray, tolerance: float = 1e-12) -> np.ndarray:
    measured = LandmarkMeasure(measure, landmarks, "float64")
    made = landmark_map(kernel, (measured,), tolerance, "float64")
    out = np.empty((len(X), made.rank))
    made.transform(X, [measured(X)], out)
    return out


def gaussian(bandwidth: float) -> GaussianKernel:
    kernel = GaussianKernel(bandwidth=bandwidth, bandwidth_rule="absolute")
    kernel.fit_parameters([np.zeros((2, 2))])
    return kernel


def test_features_do_not_depend_on_the_order_of_landmarks() -> None:
    """Eigenvalues descend, and each direction has the sign of its largest entry."""
    order = np.random.default_rng(1).permutation(12)
    one, other = (features(gaussian(3.0), "squared_euclidean", Z) for Z in (X[:12], X[:12][order]))
    np.testing.assert_allclose(one, other, atol=1e-9)


def test_indefinite_kernels_are_clipped_or_refused() -> None:
    K = np.cos(LandmarkMeasure("squared_euclidean", X, "float64")(X))
    values, vectors = np.linalg.eigh(K)
    assert values[0] < -1
    kept = values > 1e-12 * values[-1]
    phi = features(Cosine(), "squared_euclidean", X)
    np.testing.assert_allclose(phi @ phi.T, (vectors[:, kept] * values[kept]) @ vectors[:, kept].T, atol=1e-10)
    with pytest.raises(DataError, match="negative eigenvalues among the landmarks, and psd='none' needs all"):
        features(Cosine(psd="none"), "squared_euclidean", X)


def test_self_similarities_are_the_diagonal() -> None:
    cubic = PolynomialKernel(degree=3, scale=0.5)
    cubic.fit_parameters([np.eye(2)])
    own = [np.sum(X**2, axis=1)]
    np.testing.assert_allclose(cubic.self_similarity(own, 30), np.diagonal((0.5 * X @ X.T + 1) ** 3))
    np.testing.assert_array_equal(gaussian(2.0).self_similarity(None, 30), np.ones(30))


# --- measures

FAR = 3 + np.random.default_rng(0).random((40, 7))


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("measure", MEASURES)
def test_measures_are_those_of_the_kernels(measure: str, dtype: str) -> None:
    rows, landmarks = FAR.astype(dtype), FAR[:15].astype(dtype)
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
    far = LandmarkMeasure("squared_euclidean", FAR[:15] + 1e6, "float32")(FAR + 1e6)
    np.testing.assert_allclose(far, MEASURES["squared_euclidean"](FAR, FAR[:15]), atol=1e-5)


@pytest.mark.parametrize("measure", ["squared_euclidean", "inner_product"])
def test_sparse_features_are_measured_as_dense_ones(measure: str) -> None:
    found = LandmarkMeasure(measure, sp.csr_array(FAR[:15]), "float32")(sp.csr_array(FAR))
    np.testing.assert_allclose(found, MEASURES[measure](FAR, FAR[:15]), rtol=1e-6, atol=1e-5)


@pytest.mark.parametrize("measure", ["squared_euclidean", "inner_product"])
def test_features_too_large_for_the_precision_are_refused(measure: str) -> None:
    with pytest.raises(DataError, match=r"too large for float32.*or compute in float64"):
        LandmarkMeasure(measure, 1e20 * FAR[:15], "float32")
    single, double = (LandmarkMeasure(measure, FAR[:15], dtype) for dtype in ("float32", "float64"))
    with pytest.raises(DataError, match="too large for float32"):
        single(1e20 * FAR)
    assert np.isfinite(double(1e20 * FAR)).all()
    with pytest.raises(DataError, match="too large for float64"):
        double(1e160 * FAR)


# --- choice of landmarks


def test_classes_take_turns_as_far_as_they_have_samples() -> None:
    labels = np.array(["a"] * 3 + ["b"] * 20 + ["c"] * 7)[np.random.default_rng(1).permutation(30)]
    counts = {
        l: np.unique(labels[random_per_class(labels, l, np.random.default_rng(0))], return_counts=True)[1]
        for l in (3, 4, 9, 15)
    }
    assert {l: sorted(found.tolist()) for l, found in counts.items()} == {
        3: [1, 1, 1], 4: [1, 1, 2], 9: [3, 3, 3], 15: [3, 6, 6]
    }  # fmt: skip
    every = random_per_class(labels, 30, np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(every), np.arange(30))
    assert (random_per_class(labels, 30, np.random.default_rng(2)) != every).any()
