"""Kernel functions, their bandwidths, the order of the steps after them, explicit features, diagnostics, refusals.

Every kernel with every option runs in ``tests/conformance/test_kernels.py``.
"""

import copy
import warnings
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.gaussian_process.kernels import Matern
from sklearn.metrics.pairwise import laplacian_kernel

from mklearn.errors import ConfigError, DataError
from mklearn.kernels import (
    GaussianKernel,
    LinearKernel,
    PolynomialKernel,
    PrecomputedKernel,
    StackTransform,
    Views,
    matrices,
)
from mklearn.kernels.base import Kernel
from mklearn.kernels.distances import chi2_distance, inner_product, manhattan, squared_euclidean
from mklearn.kernels.matrices import IdentityLikeKernelWarning, psd_repair, unit_diagonal

pytestmark = pytest.mark.filterwarnings("ignore::mklearn.kernels.matrices.IdentityLikeKernelWarning")

RAW: dict[str, Any] = {"centre": False, "normalise": "none"}
"""Parameters that leave the kernel function as it is."""


def features(n: int = 14, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).random((n, 5)) + 0.1


def indefinite() -> np.ndarray:
    return np.cos(4 * np.sqrt(squared_euclidean(features())))


def test_order_of_operations() -> None:
    """Kernel function, unit diagonal, centring, repair, trace: any other order gives other numbers."""
    P = indefinite()
    fitted = PrecomputedKernel(centre=True, normalise="centred_trace").fit(P)
    repaired = psd_repair(matrices.centre_kernel(P))
    expected, divisor = matrices.scale_to_centred_trace(repaired.kernel)
    np.testing.assert_allclose(fitted.kernel_train_, expected, atol=1e-12)
    np.testing.assert_allclose(fitted.divisor_, divisor)
    np.testing.assert_allclose(fitted.info_["min_eigenvalue"], repaired.min_eigenvalue)
    assert repaired.min_eigenvalue < -0.05 * np.linalg.norm(P, 2)  # there is something to repair
    unit = PrecomputedKernel(centre=True, normalise="unit_diagonal").fit(P)
    repaired = psd_repair(matrices.centre_kernel(unit_diagonal(P)))
    np.testing.assert_allclose(unit.kernel_train_, repaired.kernel, atol=1e-12)


def test_explicit_features_go_through_the_same_steps() -> None:
    """Linear kernel: unit-norm features, minus the training mean, over the root of the total training variance."""
    train, new = features(), features(6, seed=1)
    fitted = LinearKernel(centre=True, normalise="unit_diagonal").fit(inner_product(train))
    unit_train, unit_new = (A / np.linalg.norm(A, axis=1, keepdims=True) for A in (train, new))
    a, b = unit_train - unit_train.mean(axis=0), unit_new - unit_train.mean(axis=0)
    rows = fitted.transform(inner_product(new, train), own=[np.sum(new**2, axis=1)])
    np.testing.assert_allclose(fitted.kernel_train_, a @ a.T, atol=1e-12)
    np.testing.assert_allclose(rows, b @ a.T, atol=1e-12)

    fitted = LinearKernel(centre=True, normalise="centred_trace").fit(inner_product(train))
    a, b = train - train.mean(axis=0), new - train.mean(axis=0)
    variance = np.mean(np.sum(a**2, axis=1))
    np.testing.assert_allclose(fitted.kernel_train_, a @ a.T / variance, atol=1e-12)
    np.testing.assert_allclose(fitted.transform(inner_product(new, train)), b @ a.T / variance, atol=1e-12)


def test_identity_like_kernels_are_flagged() -> None:
    D = squared_euclidean(features())
    with pytest.warns(IdentityLikeKernelWarning, match="kernel 'narrow' is close to the identity: only"):
        narrow = GaussianKernel(bandwidth=1e-3, name="narrow").fit(D)
    assert narrow.info_["identity_like"] is narrow.identity_like_ is True
    assert narrow.off_diagonal_mass_ < 1e-6
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wide = GaussianKernel(bandwidth=2.0).fit(D)
    assert not wide.identity_like_
    assert wide.off_diagonal_mass_ > 0.3
    with pytest.warns(IdentityLikeKernelWarning):
        PrecomputedKernel().fit(0.6 * np.eye(8) + 0.4)


@pytest.mark.parametrize(
    ("kernel", "measure"),
    [
        (GaussianKernel(), squared_euclidean),
        (GaussianKernel(measure="chi2", normalise="unit_diagonal"), chi2_distance),
        (LinearKernel(), inner_product),
        (PolynomialKernel(degree=3, centre=False), inner_product),
    ],
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_measures_of_features_need_no_checks(kernel: Kernel, measure: Any, dtype: type) -> None:
    """Kernels of `psd_measures` have no eigenvalue to repair, and are symmetric without being made so."""
    P = measure(features(150).astype(dtype))  # several blocks of rows, the last one shorter
    before = P.copy()
    raw = replace(kernel, centre=False, normalise="none").fit(P, measured=True)
    np.testing.assert_array_equal(raw.kernel_train_, raw.kernel_function([P]))
    trusted = copy.copy(kernel).fit(P, measured=True)
    np.testing.assert_array_equal(P, before)
    checked = copy.copy(kernel).fit(P)
    np.testing.assert_array_equal(trusted.kernel_train_, checked.kernel_train_)
    np.testing.assert_array_equal(trusted.kernel_train_, trusted.kernel_train_.T)
    assert psd_repair(checked.kernel_train_).vectors is None
    assert trusted.off_diagonal_mass_ == checked.off_diagonal_mass_
    assert trusted.kernel_train_.dtype == P.dtype
    overwriting = copy.copy(kernel).fit(P, measured=True, overwrite=True)
    np.testing.assert_array_equal(overwriting.kernel_train_, trusted.kernel_train_)
    assert overwriting.info_ == trusted.info_


def test_a_kernel_function_that_is_not_symmetric_is_refused() -> None:
    class ByRow(PrecomputedKernel):
        def kernel_function(self, blocks: Any) -> np.ndarray:
            return blocks[0] / blocks[0].sum(axis=1, keepdims=True)

    with pytest.raises(DataError, match=r"the kernel.*not symmetric"):
        ByRow().fit(inner_product(features(150)) + 100)


D = squared_euclidean(features(5))
G = inner_product(features(5))


@pytest.mark.parametrize(
    ("kernel", "matrix", "message"),
    [
        (GaussianKernel(), D[:3], "expected a square matrix over the training samples"),
        (GaussianKernel(), D + np.triu(np.ones((5, 5)), 1), "not symmetric"),
        (GaussianKernel(), D + np.eye(5), "to itself"),
        (GaussianKernel(), [[0.0, -1.0], [-1.0, 0.0]], r"negative entries \(smallest -1 at \(0, 1\)\)"),
        (GaussianKernel(), np.zeros((3, 3)), "distance zero to each other"),
        (GaussianKernel(), [[0.0]], "at least two training samples"),
        (PrecomputedKernel(), D, "has a zero diagonal, as distances have"),
        (PrecomputedKernel(normalise="centred_trace"), np.zeros((4, 4)), "coincide"),
        (LinearKernel(normalise="centred_trace"), np.ones((4, 4)), "coincide"),
        (LinearKernel(normalise="unit_diagonal"), np.diag([1.0, 1, 0]), "training sample 2 has self-similarity 0"),
        (PolynomialKernel(), np.zeros((4, 4)), "set `scale` to a number"),
    ],
)
def test_refuses_training_data(kernel: Kernel, matrix: np.ndarray, message: str) -> None:
    with pytest.raises(DataError, match=message):
        kernel.fit(matrix)


# --- kernel functions


def test_polynomial_is_the_explicit_feature_map() -> None:
    """(s x'y + c)^2 is the inner product of all monomials up to degree two."""
    X = np.random.default_rng(0).standard_normal((6, 3))
    scale, offset = 0.7, 1.3
    explicit = np.column_stack(
        [np.full(6, offset), np.sqrt(2 * scale * offset) * X]
        + [scale * X[:, i] * X[:, j] for i in range(3) for j in range(3)]
    )
    G = inner_product(X)
    K = PolynomialKernel(degree=2, scale=scale, offset=offset, **RAW).fit(G).kernel_train_
    np.testing.assert_allclose(K, explicit @ explicit.T, rtol=1e-12)
    fitted = PolynomialKernel(degree=3, **RAW).fit(G)  # a scale of the training samples
    np.testing.assert_allclose(fitted.kernel_train_, (G / np.diagonal(G).mean() + 1) ** 3)


def test_gaussian_of_each_measure() -> None:
    X = features()
    D = squared_euclidean(X)
    parameters: dict[str, Any] = {"bandwidth": 2.0, "bandwidth_rule": "squared_mean_distance", **RAW}
    squared = GaussianKernel(**parameters).fit(D)
    gamma = 2.0 * np.mean(np.sqrt(D[np.triu_indices(len(D), 1)])) ** 2
    assert squared.bandwidth_ == pytest.approx(gamma)
    np.testing.assert_allclose(squared.kernel_train_, np.exp(-D / gamma))
    assert GaussianKernel(**parameters).fit(D.astype(np.float32)).kernel_train_.dtype == np.float32
    # a plain distance is squared first, rows too; the bandwidth is in squared units
    plain = GaussianKernel(measure="distance", **parameters).fit(np.sqrt(D))
    np.testing.assert_allclose(plain.kernel_train_, squared.kernel_train_, rtol=1e-12)
    np.testing.assert_allclose(plain.transform(np.sqrt(D[:3])), squared.transform(D[:3]), rtol=1e-12)
    # chi-squared distances go into the exponent as they are
    C = chi2_distance(X)
    chi2 = GaussianKernel(measure="chi2", **RAW).fit(C)
    np.testing.assert_allclose(chi2.kernel_train_, np.exp(-C / C[np.triu_indices(len(C), 1)].mean()))
    unsharp = GaussianKernel(**RAW).fit(1 - np.eye(2))
    assert unsharp.transform([[-1e-17, 1.0]])[0, 0] == 1  # a rounding error


def test_means_are_over_pairs_of_different_samples() -> None:
    X = np.random.default_rng(0).random((9, 3))
    D = squared_euclidean(X)
    pairs = [np.sum((X[i] - X[j]) ** 2) for i in range(9) for j in range(i + 1, 9)]
    bandwidths: dict[Any, float] = {
        "mean_squared_distance": 3 * np.mean(pairs),
        "squared_mean_distance": 3 * np.mean(np.sqrt(pairs)) ** 2,
        "absolute": 3.0,
    }
    for rule, expected in bandwidths.items():
        fitted = GaussianKernel(bandwidth=3.0, bandwidth_rule=rule).fit(D)
        np.testing.assert_allclose(fitted.bandwidth_, expected)
    with pytest.raises(ConfigError, match="bandwidth"):
        GaussianKernel(bandwidth=0.0)


# --- Tanimoto, Laplacian and Matern kernels

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
    real, _ = kernels({"kind": "tanimoto"})
    products, squares = X @ X.T, (X**2).sum(axis=1)
    np.testing.assert_allclose(real, products / (squares[:, None] + squares - products), atol=1e-14)
    assert np.linalg.eigvalsh(real)[0] > -1e-12


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
