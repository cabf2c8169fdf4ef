"""Tanimoto, Laplacian and Matern kernels against scikit-learn and plain formulas, sparse features, landmarks."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics.pairwise import laplacian_kernel

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.errors import ConfigError, DataError
from mklearn.kernels import StackTransform, Views
from mklearn.kernels.distances import manhattan, tanimoto_distance

RAW = {"centre": False, "normalise": "none"}
RNG = np.random.default_rng(0)
X, NEW = RNG.normal(size=(20, 4)), RNG.normal(size=(5, 4))
BITS = (RNG.random((20, 12)) < 0.3).astype(float)
BITS[:2] = 0.0


def kernels(spec: dict, train: object = X, new: object = NEW) -> tuple[np.ndarray, np.ndarray]:
    transform = StackTransform([{**spec, **RAW}])
    return transform.fit_transform(train)[0], transform.transform(new)[0]


def test_tanimoto_counts_bits_and_empty_samples_are_equal() -> None:
    K, rows = kernels({"kind": "tanimoto"}, BITS, BITS[:5])
    sets = [set(np.flatnonzero(each)) for each in BITS]
    expected = [[len(a & b) / len(a | b) if a | b else 1.0 for b in sets] for a in sets]
    np.testing.assert_allclose(K, expected, atol=1e-15)
    np.testing.assert_allclose(rows, expected[:5], atol=1e-15)
    assert K[0, 1] == 1
    assert not K[0, 2:].any()
    assert np.linalg.eigvalsh(K)[0] > -1e-12
    train, new = (Views({"bits": csr_array(each)}) for each in (BITS, BITS[:5]))
    sparse, sparse_rows = kernels({"kind": "tanimoto", "view": "bits"}, train, new)
    np.testing.assert_allclose(sparse, K, atol=1e-15)
    np.testing.assert_allclose(sparse_rows, rows, atol=1e-15)
    unit, _ = kernels({"kind": "tanimoto", "normalise": "unit_diagonal"}, BITS, BITS[:5])
    np.testing.assert_allclose(unit, K, atol=1e-15)


def test_tanimoto_of_real_features_is_positive_semidefinite() -> None:
    K, _ = kernels({"kind": "tanimoto"})
    products, squares = X @ X.T, (X**2).sum(axis=1)
    np.testing.assert_allclose(K, products / (squares[:, None] + squares - products), atol=1e-14)
    assert np.linalg.eigvalsh(K)[0] > -1e-12


def test_laplacian_is_that_of_scikit_learn() -> None:
    K, rows = kernels({"kind": "laplacian", "bandwidth": 3.0, "bandwidth_rule": "absolute"})
    np.testing.assert_allclose(K, laplacian_kernel(X, gamma=1 / 3), rtol=1e-13)
    np.testing.assert_allclose(rows, laplacian_kernel(NEW, X, gamma=1 / 3), rtol=1e-13)
    d = manhattan(X)
    by_rule, _ = kernels({"kind": "laplacian", "bandwidth": 2.0})
    np.testing.assert_allclose(by_rule, np.exp(-d / (2 * d.sum() / (20 * 19))), rtol=1e-13)
    with pytest.raises(DataError, match="Manhattan distance does not take sparse"):
        kernels({"kind": "laplacian", "view": "x"}, Views({"x": csr_array(X)}))


@pytest.mark.parametrize("nu", [0.5, 1.5, 2.5])
def test_matern_is_that_of_scikit_learn(nu: float) -> None:
    K, rows = kernels({"kind": "matern", "nu": nu, "bandwidth": 4.0, "bandwidth_rule": "absolute"})
    expected = Matern(length_scale=2.0, nu=nu)
    np.testing.assert_allclose(K, expected(X), rtol=1e-12)
    np.testing.assert_allclose(rows, expected(NEW, X), rtol=1e-12)
    with pytest.raises(ConfigError, match=r"2\.0 for `nu`"):
        kernels({"kind": "matern", "nu": 2.0})


@pytest.mark.parametrize("spec", [{"kind": "tanimoto"}, {"kind": "laplacian"}, {"kind": "matern", "nu": 2.5}], ids=str)
def test_all_samples_as_landmarks_give_the_kernel(spec: dict) -> None:
    F = LandmarkFeatures([{**spec, **RAW}], n=20).fit(X)
    K, rows = kernels(spec)
    np.testing.assert_allclose(F.transform(X) @ F.transform(X).T, K, atol=1e-10)
    np.testing.assert_allclose(F.transform(NEW) @ F.transform(X).T, rows, atol=1e-8)


def test_distances_between_two_sets_are_those_among_one() -> None:
    for measure in (manhattan, tanimoto_distance):
        among = measure(X)
        np.testing.assert_array_equal(np.diagonal(among), 0)
        np.testing.assert_allclose(measure(X, X), among, atol=1e-14)
