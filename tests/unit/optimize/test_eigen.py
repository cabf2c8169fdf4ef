"""Eigenproblems, the span and spread of centred samples, and the trace ratio."""

import numpy as np
import pytest
import scipy.linalg
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from sklearn.datasets import load_wine
from tests.unit.optimize.test_kernel_weights import psd_pair

from mklearn.errors import ConfigError, DataError, NotApplicable, SolverFailed
from mklearn.optimize.eigen import generalized_eigh
from mklearn.optimize.trace_ratio import trace_ratio
from mklearn.optimize.whitening import centred_span, power_whitening


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


# --- span and powers of the spread

X = load_wine().data
SPREAD = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))


@pytest.mark.parametrize("power", [0.0, 0.125, 0.25, 0.5])
def test_gram_matrix_is_that_of_the_power_of_the_spread(power):
    found = power_whitening(X, power)
    Z = found.transform(X)
    values, vectors = np.linalg.eigh(SPREAD)
    root = (vectors * values**-power) @ vectors.T
    direct = (X - X.mean(axis=0)) @ root
    direct /= np.sqrt((direct**2).sum(axis=1).mean())
    np.testing.assert_allclose(Z @ Z.T, direct @ direct.T, rtol=0, atol=1e-9 * np.abs(Z).max() ** 2)
    assert (Z**2).sum(axis=1).mean() == pytest.approx(1)
    np.testing.assert_allclose(Z.mean(axis=0), 0, atol=1e-9)
    v = np.linspace(-1, 1, found.rank)
    np.testing.assert_allclose(Z @ v, (X - X.mean(axis=0)) @ found.normal(v), atol=1e-10)


@pytest.mark.parametrize("shape", [(8, 20), (20, 8)])
def test_both_ways_to_decompose_agree_on_singular_spreads(shape):
    """Also with repeated columns: rank, the normal of smallest norm, and the simplex of fewer samples than features."""
    rng = np.random.default_rng(0)
    data = rng.normal(size=shape)
    data = np.column_stack([data, data[:, :2], np.ones(len(data))])
    found = power_whitening(data)
    assert found.rank == min(shape[0] - 1, shape[1])
    assert found.is_simplex == (shape == (8, 20))
    w = found.normal(np.arange(1.0, found.rank + 1))
    centred = data - data.mean(axis=0)
    np.testing.assert_allclose(w, np.linalg.pinv(centred) @ centred @ w, atol=1e-9)
    if found.is_simplex:
        Z = found.transform(data) / found.scale
        np.testing.assert_allclose(Z @ Z.T, np.eye(8) - 1 / 8, atol=1e-12)


@pytest.mark.parametrize(("n", "d", "rank"), [(9, 4, 4), (5, 20, 4), (12, 6, 2)])
def test_span_reproduces_the_centred_samples(n: int, d: int, rank: int) -> None:
    generator = np.random.default_rng(2)
    X = generator.normal(size=(n, rank)) @ generator.normal(size=(rank, d))
    span = centred_span(X)
    assert span.rank == rank
    np.testing.assert_allclose(span.axes @ span.axes.T, np.eye(rank), atol=1e-12)
    np.testing.assert_allclose(span.mean + span.coordinates() @ span.axes, X, atol=1e-11)
    np.testing.assert_array_equal(span.coordinates(1), span.coordinates()[:, :1])
    assert span.require_variance() is span


@pytest.mark.parametrize("value", [0.5, 0.1])  # the mean of ten times 0.1 is rounded
def test_constant_features_have_no_variance(value: float) -> None:
    span = centred_span(np.full((10, 3), value))
    assert span.rank == 0
    with pytest.raises(NotApplicable, match="constant"):
        span.require_variance()


# --- trace ratio


@settings(max_examples=25)
@given(st.integers(2, 9), st.integers(0, 10_000), st.data())
def test_is_globally_optimal(n, seed, data):
    p = data.draw(st.integers(1, n))
    S, T = psd_pair(n, seed)
    found = trace_ratio(S, T, p)
    A = found.components
    assert found.status == "converged"
    np.testing.assert_allclose(A.T @ A, np.eye(p), atol=1e-10)
    assert found.value == pytest.approx(np.trace(A.T @ S @ A) / np.trace(A.T @ T @ A), rel=1e-12)
    assert found.history[0] == pytest.approx(np.trace(S) / np.trace(T))
    assert (np.diff(found.history) <= 0).all()
    assert len(found.history) < 20
    # Certificate: the p smallest eigenvalues of S - rho S' sum to zero, so no orthonormal A has a smaller ratio.
    assert abs(eigh(S - found.value * T, eigvals_only=True)[:p].sum()) < 1e-10 * np.trace(S)
    assert abs(found.residual) < 1e-9


def test_singular_denominators():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(6, 3))
    S, _ = psd_pair(6, 0)
    assert trace_ratio(S, X @ X.T, 4).status == "converged"  # rank 3 > 6 - 4
    for bad in (np.zeros((6, 6)), -np.eye(6)):
        with pytest.raises(SolverFailed, match="S_prime"):
            trace_ratio(S, bad, 2)
    with pytest.raises(SolverFailed, match="null space"):
        trace_ratio(np.diag([-1.0, 1, 1]), np.diag([0.0, 1, 1]), 1)
