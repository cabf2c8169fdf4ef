"""Null-space discriminant analysis: constraints, optimality, the discriminative common vectors."""

import numpy as np
import pytest
from scipy.linalg import null_space

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
