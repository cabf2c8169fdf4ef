"""The generalised eigenproblem: residuals, constraint, order, signs and errors."""

import numpy as np
import pytest
import scipy.linalg

from mklearn.errors import ConfigError, DataError, SolverFailed
from mklearn.optimize.eigen import generalized_eigh


def pencil(n: int, seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    A, X = rng.normal(size=(n, n)), rng.normal(size=(n, n + 2))
    return A + A.T, X @ X.T


@pytest.mark.parametrize(
    ("n", "n_components"), [(1, 1), (2, 1), (5, 3), (9, 1), (60, 1), (60, 7), (60, 8), (60, 40), (60, 60), (60, None)]
)
@pytest.mark.parametrize("which", ["smallest", "largest"])
@pytest.mark.parametrize("right", [True, False])
def test_solves_the_eigenproblem(n, n_components, which, right):
    """One LAPACK driver computes few eigenvectors, the other many."""
    A, B = pencil(n, 1)
    metric = B + np.eye(n) if right else np.eye(n)
    values, vectors = generalized_eigh(A, metric if right else None, n_components, which)
    expected = scipy.linalg.eigh(A, metric, eigvals_only=True)
    expected = expected if which == "smallest" else expected[::-1]
    np.testing.assert_allclose(values, expected[:n_components], atol=1e-10 * np.abs(expected).max())
    np.testing.assert_allclose(A @ vectors, (metric @ vectors) * values, atol=1e-9 * np.abs(expected).max())
    np.testing.assert_allclose(vectors.T @ metric @ vectors, np.eye(len(values)), atol=1e-10)


def test_the_end_of_the_spectrum_is_the_signed_one():
    A = np.diag([-5.0, 1.0, 2.0])
    np.testing.assert_allclose(generalized_eigh(A, None, 2, "smallest")[0], [-5, 1])
    np.testing.assert_allclose(generalized_eigh(A, None, 2, "largest")[0], [2, 1])
    values, V = generalized_eigh(A, np.eye(3))
    np.testing.assert_allclose(values, [-5, 1, 2])
    np.testing.assert_allclose(V, np.eye(3), atol=1e-15)


def test_signs_are_those_of_the_largest_entries():
    A, B = pencil(6)
    _, V = generalized_eigh(A, B)
    assert (V[np.abs(V).argmax(axis=0), np.arange(6)] > 0).all()
    flip = np.diag([1, -1, 1, 1, -1, 1.0])
    _, W = generalized_eigh(flip @ A @ flip, flip @ B @ flip)
    np.testing.assert_allclose(np.abs(W), np.abs(V), atol=1e-10)
    assert (W[np.abs(W).argmax(axis=0), np.arange(6)] > 0).all()


def test_a_singular_right_side_is_refused_even_where_cholesky_passes():
    X = np.random.default_rng(0).normal(size=(6, 3))
    A, _ = pencil(6)
    with pytest.raises(SolverFailed, match="positive definite"):
        generalized_eigh(A, np.diag([1.0, 1, 1, 1, 1, -1e-3]))
    with pytest.raises(SolverFailed, match=r"positive definite|working precision"):
        generalized_eigh(A, X @ X.T)
    barely = np.diag([1.0, 1, 1, 1, 1, 1e-16])
    np.linalg.cholesky(barely)
    with pytest.raises(SolverFailed, match="ridge"):
        generalized_eigh(A, barely)
    generalized_eigh(A, X @ X.T + 1e-8 * np.eye(6))


def test_invalid_arguments():
    A, B = pencil(3)
    for bad in (0, 4, 1.5, True):
        with pytest.raises(ConfigError, match="n_components"):
            generalized_eigh(A, B, bad)
    with pytest.raises(DataError, match="same shape"):
        generalized_eigh(A, np.eye(4))
