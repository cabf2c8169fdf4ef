"""The trace ratio: global optimality, monotone history, and its relation to the ratio trace."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh
from tests.unit.optimize.test_kernel_weights import psd_pair

from mklearn.errors import SolverFailed
from mklearn.optimize.eigen import generalized_eigh
from mklearn.optimize.trace_ratio import trace_ratio


def ratio(A: np.ndarray, S: np.ndarray, T: np.ndarray) -> float:
    return float(np.trace(A.T @ S @ A) / np.trace(A.T @ T @ A))


def orthonormal(rng: np.random.Generator, n: int, p: int) -> np.ndarray:
    return np.linalg.qr(rng.normal(size=(n, p)))[0]


@settings(max_examples=25)
@given(st.integers(2, 9), st.integers(0, 10_000), st.data())
def test_is_globally_optimal(n, seed, data):
    p = data.draw(st.integers(1, n))
    S, T = psd_pair(n, seed)
    found = trace_ratio(S, T, p)
    A = found.components
    assert found.status == "converged"
    np.testing.assert_allclose(A.T @ A, np.eye(p), atol=1e-10)
    assert found.value == pytest.approx(ratio(A, S, T), rel=1e-12)
    assert found.history[0] == pytest.approx(np.trace(S) / np.trace(T))
    assert (np.diff(found.history) <= 0).all()
    assert len(found.history) < 20
    # Certificate: the p smallest eigenvalues of S - rho S' sum to zero, so no orthonormal A has a smaller ratio.
    assert abs(eigh(S - found.value * T, eigvals_only=True)[:p].sum()) < 1e-10 * np.trace(S)
    assert abs(found.residual) < 1e-9
    rng = np.random.default_rng(seed)
    tried = [ratio(orthonormal(rng, n, p), S, T) for _ in range(200)]
    tried.append(ratio(np.linalg.qr(generalized_eigh(S, T, p)[1])[0], S, T))  # the ratio trace, orthonormalised
    assert min(tried) >= found.value * (1 - 1e-10)


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
