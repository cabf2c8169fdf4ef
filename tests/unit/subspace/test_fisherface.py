"""Fisherfaces: against scikit-learn after the same principal components, the scales, the ridge."""

import numpy as np
import pytest
from scipy.linalg import eigh, subspace_angles
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from tests.unit.subspace.problems import fit_changed, scatters

from mklearn.errors import NotApplicable
from mklearn.subspace.fisherface import Fisherface

SCALINGS = ["total", "within", "unit", "orthonormal"]


@pytest.fixture(scope="module")
def images() -> tuple[np.ndarray, np.ndarray]:
    """More features than samples."""
    rng = np.random.default_rng(0)
    y = np.repeat(np.arange(6), 4)
    return 40 * rng.normal(size=(6, 100))[y] + 30 * rng.normal(size=(24, 100)) + 100, y


def test_equals_scikit_learn_after_principal_components(images: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = images
    model = Fisherface(scaling="within").fit(X, y)
    assert model.n_pca_ == 18
    Z = PCA(18).fit(X).transform(X)
    reference = LinearDiscriminantAnalysis(solver="svd").fit(Z, y).transform(Z)[:, :5]
    # scikit-learn makes the within-class covariance, not the scatter, the identity: one factor for all columns.
    S_w = scatters(reference, y)[1]
    np.testing.assert_allclose(S_w, S_w[0, 0] * np.eye(5), atol=1e-5)
    np.testing.assert_allclose(np.abs(model.embedding_) * np.sqrt(S_w[0, 0]), np.abs(reference), rtol=1e-5, atol=1e-5)


def test_equals_scikit_learn_with_few_features(wine: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = wine
    model = Fisherface(scaling="within").fit(X, y)
    assert model.n_pca_ == 13
    reference = LinearDiscriminantAnalysis(solver="eigen").fit(X, y)
    assert subspace_angles(model.components_.T, reference.scalings_[:, :2]).max() < 1e-6
    share = 1 / model.eigenvalues_ - 1
    np.testing.assert_allclose(share / share.sum(), reference.explained_variance_ratio_[:2], rtol=1e-6)


@pytest.mark.parametrize("ridge", [0.0, 0.5])
@pytest.mark.parametrize("scaling", SCALINGS)
def test_scales(images: tuple[np.ndarray, np.ndarray], scaling: str, ridge: float) -> None:
    X, y = images
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


def test_ridge_is_the_stated_problem(images: tuple[np.ndarray, np.ndarray]) -> None:
    """S_w + (tr S_w/(n - 1)) I in the span of the samples, V'(S_w + ridge)V = I."""
    X, y = images
    model = Fisherface(n_pca="all", ridge=1.0, scaling="within").fit(X, y)
    Z = PCA(23).fit(X).transform(X)
    S_b, S_w = scatters(Z, y)
    rho = np.trace(S_w) / 23
    values, vectors = eigh(S_b, S_w + rho * np.eye(23))
    np.testing.assert_allclose(model.ridge_amount_, rho)
    np.testing.assert_allclose(1 / model.eigenvalues_ - 1, values[::-1][:5], rtol=1e-8)
    np.testing.assert_allclose(np.abs(model.embedding_), np.abs(Z @ vectors[:, ::-1][:, :5]), atol=1e-8)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"y": np.arange(24)}, "one sample per class"),
        ({"n_pca": "all", "scaling": "within"}, "raise the ridge"),
    ],
)
def test_errors(images: tuple[np.ndarray, np.ndarray], change: dict, message: str) -> None:
    with pytest.raises(NotApplicable, match=message):
        fit_changed(Fisherface, change, *images)
