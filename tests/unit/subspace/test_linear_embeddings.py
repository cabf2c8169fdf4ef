"""Embeddings of features (PCA, MMC, Fisherfaces, null-space LDA): definitions, scikit-learn, constraints, errors."""

import numpy as np
import pytest
from scipy.linalg import eigh, null_space, subspace_angles
from sklearn import decomposition
from sklearn.datasets import load_wine
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from tests.unit.subspace.problems import scatters

from mklearn.classifiers import LedoitWolfLDA
from mklearn.errors import NotApplicable
from mklearn.nearest_neighbour import nearest_neighbour_predictions_by_dimension
from mklearn.subspace.fisherface import Fisherface
from mklearn.subspace.kernel_pca import KernelPCA
from mklearn.subspace.mmc import MMC
from mklearn.subspace.null_space_lda import NullSpaceLDA
from mklearn.subspace.pca import PCA


@pytest.fixture(scope="module")
def raw_wine() -> np.ndarray:
    return load_wine().data[:, :8]


def gaussian_500(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return np.exp(-((X[:, None] - Y) ** 2).sum(-1) / 500)


def test_pca_equals_scikit_learn(raw_wine: np.ndarray) -> None:
    model, reference = PCA(3).fit(raw_wine[::2]), decomposition.PCA(3).fit(raw_wine[::2])
    np.testing.assert_allclose(np.abs(model.components_), np.abs(reference.components_), atol=1e-10)
    np.testing.assert_allclose(model.explained_variance_, reference.explained_variance_)
    np.testing.assert_allclose(np.abs(model.transform(raw_wine)), np.abs(reference.transform(raw_wine)), atol=1e-9)
    pivots = model.components_[np.arange(3), np.abs(model.components_).argmax(axis=1)]
    assert (pivots > 0).all()


def test_kernel_pca_equals_scikit_learn(raw_wine: np.ndarray) -> None:
    train, test = raw_wine[::2], raw_wine[1::2]
    reference = decomposition.KernelPCA(4, kernel="precomputed").fit(gaussian_500(train, train))
    model = KernelPCA(4).fit(gaussian_500(train, train))
    np.testing.assert_allclose(model.eigenvalues_, reference.eigenvalues_)
    rows = gaussian_500(test, train)
    np.testing.assert_allclose(np.abs(model.transform(rows)), np.abs(reference.transform(rows)), atol=1e-9)
    np.testing.assert_allclose(model.transform(gaussian_500(train, train)), model.embedding_, atol=1e-10)
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(model.coefficients_.sum(axis=0), 0, atol=1e-8)


def test_kernel_pca_of_the_linear_kernel_is_pca(raw_wine: np.ndarray) -> None:
    train, test = raw_wine[::2], raw_wine[1::2]
    linear, kernel = PCA().fit(train), KernelPCA().fit(train @ train.T)
    assert kernel.embedding_.shape == linear.embedding_.shape
    np.testing.assert_allclose(np.abs(kernel.transform(test @ train.T)), np.abs(linear.transform(test)), atol=1e-6)


@pytest.mark.parametrize("offset", [0.0, 1e3, 2e4])
def test_lengths_of_components_of_a_kernel_with_a_large_constant_part(offset: float) -> None:
    features = 0.05 * np.random.default_rng(1).normal(size=(14, 3)) + offset
    lengths = np.linalg.svd(features - features.mean(axis=0), compute_uv=False) / np.sqrt(14)
    np.testing.assert_allclose(KernelPCA().fit(features @ features.T).embedding_.std(axis=0), lengths, rtol=1e-2)


NOISE = np.random.default_rng(0).normal(size=(24, 100))


@pytest.mark.parametrize(
    ("model", "X", "y", "message"),
    [
        (PCA(10), NOISE[:10], None, "rank 9"),
        (KernelPCA(10), np.eye(10), None, "rank 9"),
        (KernelPCA(3), np.diag([1.0, 2, -2, 3]), None, "rank"),
        (MMC(), np.ones((6, 3)), np.arange(6) % 2, "constant"),
        (MMC(trade_off="trace_ratio"), NOISE[:3].repeat(3, axis=0), np.arange(3).repeat(3), "within-class"),
        (LedoitWolfLDA(), NOISE[:3].repeat(3, axis=0), np.arange(3).repeat(3), "no within-class scatter"),
        (Fisherface(), NOISE, np.arange(24), "one sample per class"),
        (Fisherface(n_pca="all", scaling="within"), NOISE, np.arange(24) % 6, "raise the ridge"),
    ],
)
def test_samples_that_methods_are_not_applicable_to(model, X, y, message) -> None:
    with pytest.raises(NotApplicable, match=message):
        model.fit(X, y)


# --- maximum margin criterion


def blobs(n: int, d: int, c: int = 4, seed: int = 0, spread: float = 1.0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng([seed, n])
    centres = np.random.default_rng(7).normal(size=(c, d))
    y = np.concatenate([np.arange(c), rng.integers(c, size=n - c)])
    return centres[y] * 2 + spread * rng.normal(size=(n, d)) * np.linspace(0.3, 2, d) + 5, y


@pytest.mark.parametrize("trade_off", [0.0, 0.5, 1.0, 7.0, "trace_ratio"])
@pytest.mark.parametrize(("n", "d"), [(40, 9), (15, 50), (20, 20)])
def test_definition(n: int, d: int, trade_off: float | str) -> None:
    X, y = blobs(n, d)
    S_b, S_w = scatters(X, y)
    weight = np.trace(S_b) / np.trace(S_w) if trade_off == "trace_ratio" else trade_off
    values, vectors = eigh(S_b - weight * S_w)
    model = MMC(trade_off=trade_off).fit(X, y)
    assert model.trade_off_ == pytest.approx(weight)
    np.testing.assert_allclose(model.eigenvalues_, values[::-1][:3], rtol=1e-9)
    A = model.components_.T
    np.testing.assert_allclose(A.T @ A, np.eye(3), atol=1e-12)
    np.testing.assert_allclose(np.abs(A.T @ vectors[:, ::-1][:, :3]), np.eye(3), atol=1e-7)
    np.testing.assert_allclose(model.transform(X), (X - X.mean(axis=0)) @ A, atol=1e-10)


def test_whole_space_order_is_positive_null_negative() -> None:
    X, y = blobs(15, 50)
    S_b, S_w = scatters(X, y)
    S = S_b - S_w
    model = MMC(50).fit(X, y)
    np.testing.assert_allclose(model.eigenvalues_, np.linalg.eigvalsh(S)[::-1], atol=1e-9)
    np.testing.assert_allclose(model.components_ @ model.components_.T, np.eye(50), atol=1e-12)
    np.testing.assert_allclose(
        model.components_ @ S @ model.components_.T, np.diag(model.eigenvalues_), atol=1e-9 * np.abs(S).max()
    )
    # 3 positive eigenvalues, rank 14: columns 4 to 39 see no training sample, and change no nearest neighbour.
    np.testing.assert_allclose(model.embedding_[:, 3:39], 0, atol=1e-10)
    assert (model.eigenvalues_[39:] < -1e-3).all()
    T, _ = blobs(60, 50, seed=1)
    Z = model.transform(T)
    assert np.abs(Z[:, 3:39]).max() > 1
    predicted = nearest_neighbour_predictions_by_dimension(model.embedding_, y, Z)
    assert (predicted[2:39] == predicted[2]).all()
    for p in (2, 3, 4, 20, 39, 45):
        np.testing.assert_allclose(MMC(p).fit(X, y).eigenvalues_, model.eigenvalues_[:p], atol=1e-9)


# --- Fisherfaces

SCALINGS = ["total", "within", "unit", "orthonormal"]


@pytest.fixture(scope="module")
def faces() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 4)
    return 40 * rng.normal(size=(6, 100))[y] + 30 * rng.normal(size=(24, 100)) + 100, y


def test_equals_scikit_learn_after_principal_components(faces: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = faces
    model = Fisherface(scaling="within").fit(X, y)
    assert model.n_pca_ == 18
    Z = decomposition.PCA(18).fit(X).transform(X)
    reference = LinearDiscriminantAnalysis(solver="svd").fit(Z, y).transform(Z)[:, :5]
    # scikit-learn makes the within-class covariance, not the scatter, the identity: one factor for all columns.
    S_w = scatters(reference, y)[1]
    np.testing.assert_allclose(S_w, S_w[0, 0] * np.eye(5), atol=1e-5)
    np.testing.assert_allclose(np.abs(model.embedding_) * np.sqrt(S_w[0, 0]), np.abs(reference), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("scaling", SCALINGS)
def test_scales(faces: tuple[np.ndarray, np.ndarray], scaling: str, ridge: float) -> None:
    X, y = faces
    model = Fisherface(scaling=scaling, ridge=ridge).fit(X, y)
    V = model.components_.T
    S_b, S_w = scatters(model.embedding_, y)
    penalty = model.ridge_amount_ * V.T @ V
    if scaling == "total":
        np.testing.assert_allclose(S_b + S_w + penalty, np.eye(5), atol=1e-9)
        np.testing.assert_allclose(S_w + penalty, np.diag(model.eigenvalues_), atol=1e-9)
    elif scaling == "within":
        np.testing.assert_allclose(S_w + penalty, np.eye(5), atol=1e-6)
    elif scaling == "unit":
        np.testing.assert_allclose(np.linalg.norm(V, axis=0), 1)
    else:
        np.testing.assert_allclose(V.T @ V, np.eye(5), atol=1e-12)
    for p in (1, 3, 5):
        total = Fisherface(scaling="total", ridge=ridge).fit(X, y).components_.T
        assert subspace_angles(V[:, :p], total[:, :p]).max() < 1e-7


def test_ridge_is_the_stated_problem(faces: tuple[np.ndarray, np.ndarray]) -> None:
    """S_w + (tr S_w/(n - 1)) I in the span of the samples, V'(S_w + ridge)V = I."""
    X, y = faces
    model = Fisherface(n_pca="all", ridge=1.0, scaling="within").fit(X, y)
    Z = decomposition.PCA(23).fit(X).transform(X)
    S_b, S_w = scatters(Z, y)
    rho = np.trace(S_w) / 23
    values, vectors = eigh(S_b, S_w + rho * np.eye(23))
    np.testing.assert_allclose(model.ridge_amount_, rho)
    np.testing.assert_allclose(1 / model.eigenvalues_ - 1, values[::-1][:5], rtol=1e-8)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(Z @ vectors[:, ::-1][:, :5]), atol=1e-8)


# --- null-space LDA


def test_constraints_and_optimality() -> None:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(5), [2, 3, 4, 3, 2]))
    X = 50 * rng.normal(size=(5, 80))[y] + 40 * rng.normal(size=(14, 80)) + 128
    means = np.stack([X[y == k].mean(axis=0) for k in range(5)])
    residuals = X - means[y]
    centred = (means - X.mean(axis=0)) * np.sqrt(np.bincount(y))[:, None]
    model = NullSpaceLDA().fit(X, y)
    V = model.components_.T
    assert V.shape == (80, 4)
    np.testing.assert_allclose(V.T @ V, np.eye(4), atol=1e-12)
    np.testing.assert_allclose(residuals @ V, 0, atol=1e-10)
    N = null_space(residuals)
    values = np.linalg.eigvalsh(N.T @ centred.T @ centred @ N)[::-1][:4]
    np.testing.assert_allclose(model.eigenvalues_, values)
    np.testing.assert_allclose(V.T @ centred.T @ centred @ V, np.diag(values), atol=1e-8)
    for k in range(5):
        np.testing.assert_allclose(np.ptp(model.embedding_[y == k], axis=0), 0, atol=1e-10)
