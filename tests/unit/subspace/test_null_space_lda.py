"""Null-space discriminant analysis: constraints, optimality, the discriminative common vectors."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.linalg import null_space, subspace_angles

from mklearn.errors import NotApplicable
from mklearn.subspace.null_space_lda import NullSpaceLDA


@pytest.fixture(scope="module")
def images() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(0)
    y = rng.permutation(np.repeat(np.arange(5), [2, 3, 4, 3, 2]))
    return 50 * rng.normal(size=(5, 80))[y] + 40 * rng.normal(size=(14, 80)) + 128, y


def test_constraints_and_optimality(images: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = images
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


def test_is_the_span_of_the_common_vectors(images: tuple[np.ndarray, np.ndarray]) -> None:
    """Cevikalp et al.: what of a class's samples is orthogonal to all within-class differences is one vector."""
    X, y = images
    residuals = X - np.stack([X[y == k].mean(axis=0) for k in range(5)])[y]
    N = null_space(residuals)
    common = np.stack([N @ (N.T @ X[np.flatnonzero(y == k)[0]]) for k in range(5)])
    assert subspace_angles(NullSpaceLDA().fit(X, y).components_.T, (common[1:] - common[0]).T).max() < 1e-7


def test_leading_dimensions_and_samples_in_another_order(images: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = images
    model = NullSpaceLDA().fit(X, y)
    order = np.random.default_rng(1).permutation(14)
    np.testing.assert_allclose(NullSpaceLDA(2).fit(X[order], y[order]).components_, model.components_[:2], atol=1e-9)
    np.testing.assert_allclose(model.transform(X), model.embedding_)


def test_errors(images: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = images
    with pytest.raises(NotApplicable, match="more features than samples"):
        NullSpaceLDA().fit(X[:, :9], y)
    with pytest.raises(NotApplicable, match="4 discriminating"):
        NullSpaceLDA(5).fit(X, y)
