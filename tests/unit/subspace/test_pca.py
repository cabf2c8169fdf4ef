"""Principal components and kernel principal components: scikit-learn's, with signs and rank of the house."""

import numpy as np
import pytest
from sklearn import decomposition
from sklearn.datasets import load_wine

from mklearn.errors import NotApplicable
from mklearn.subspace.kernel_pca import KernelPCA
from mklearn.subspace.pca import PCA


@pytest.fixture(scope="module")
def wine() -> np.ndarray:
    return load_wine().data[:, :8]


def gaussian(X: np.ndarray, Y: np.ndarray) -> np.ndarray:
    return np.exp(-((X[:, None] - Y) ** 2).sum(-1) / 500)


def test_pca_equals_scikit_learn(wine: np.ndarray) -> None:
    model, reference = PCA(3).fit(wine[::2]), decomposition.PCA(3).fit(wine[::2])
    np.testing.assert_allclose(np.abs(model.components_), np.abs(reference.components_), atol=1e-10)
    np.testing.assert_allclose(model.explained_variance_, reference.explained_variance_)
    np.testing.assert_allclose(np.abs(model.transform(wine)), np.abs(reference.transform(wine)), atol=1e-9)
    pivots = model.components_[np.arange(3), np.abs(model.components_).argmax(axis=1)]
    assert (pivots > 0).all()


def test_pca_of_full_rank_keeps_distances() -> None:
    X = np.random.default_rng(0).normal(size=(10, 50))
    Z = PCA().fit_transform(X)
    assert Z.shape == (10, 9)
    np.testing.assert_allclose(Z @ Z.T, (X - X.mean(0)) @ (X - X.mean(0)).T, atol=1e-10)


def test_kernel_pca_equals_scikit_learn(wine: np.ndarray) -> None:
    train, test = wine[::2], wine[1::2]
    reference = decomposition.KernelPCA(4, kernel="precomputed").fit(gaussian(train, train))
    model = KernelPCA(4).fit(gaussian(train, train))
    np.testing.assert_allclose(model.eigenvalues_, reference.eigenvalues_)
    rows = gaussian(test, train)
    np.testing.assert_allclose(np.abs(model.transform(rows)), np.abs(reference.transform(rows)), atol=1e-9)
    np.testing.assert_allclose(model.transform(gaussian(train, train)), model.embedding_, atol=1e-10)
    np.testing.assert_allclose(model.embedding_.mean(axis=0), 0, atol=1e-10)
    np.testing.assert_allclose(model.coefficients_.sum(axis=0), 0, atol=1e-8)


def test_kernel_pca_of_the_linear_kernel_is_pca(wine: np.ndarray) -> None:
    train, test = wine[::2], wine[1::2]
    linear, kernel = PCA().fit(train), KernelPCA().fit(train @ train.T)
    assert kernel.embedding_.shape == linear.embedding_.shape
    np.testing.assert_allclose(np.abs(kernel.transform(test @ train.T)), np.abs(linear.transform(test)), atol=1e-6)


@pytest.mark.parametrize(
    ("model", "X", "error", "message"),
    [
        (PCA(10), np.random.default_rng(0).normal(size=(10, 50)), NotApplicable, "rank 9"),
        (KernelPCA(10), np.eye(10), NotApplicable, "rank 9"),
        (KernelPCA(3), np.diag([1.0, 2, -2, 3]), NotApplicable, "rank"),
    ],
)
def test_errors(model: PCA, X: np.ndarray, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        model.fit(X)
