"""The trace ratio in Krylov subspaces: optimality, the solver with all rows, and when that one is asked instead."""

from __future__ import annotations

import sys

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from scipy.linalg import eigh, subspace_angles

from mklearn.optimize.low_rank_trace_ratio import low_rank_trace_ratio
from mklearn.optimize.trace_ratio import trace_ratio

module = sys.modules[low_rank_trace_ratio.__module__]


def problem(n: int, q: int, seed: int, floor: float = 1e-2) -> tuple[np.ndarray, np.ndarray]:
    """S with eigenvalues from the floor to 1, as a within-class scatter with a ridge, and q directions between."""
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(rng.normal(size=(n, n)))[0]
    S = (basis * np.geomspace(floor, 1.0, n)) @ basis.T
    return (S + S.T) / 2, rng.normal(size=(n, q)) * rng.uniform(0.5, 1.0, q)


@pytest.fixture
def no_other_solver(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "trace_ratio", None)


@settings(max_examples=15)
@given(st.integers(1, 4), st.integers(0, 10_000), st.sampled_from([1e-1, 1e-2, 1e-4]), st.integers(1, 4))
@example(4, 649, 0.1, 4)  # the subspaces do not suffice
def test_is_the_global_optimum(q: int, seed: int, floor: float, p: int) -> None:
    p = min(p, q)
    S, F = problem(80 * q + 20, q, seed, floor)
    found = low_rank_trace_ratio(S, F, p, tol=1e-12)
    T = S + F @ F.T
    A = found.components
    np.testing.assert_allclose(A.T @ A, np.eye(p), atol=1e-12)
    assert found.value == pytest.approx(np.trace(A.T @ S @ A) / np.trace(A.T @ T @ A), rel=1e-12)
    # No orthonormal columns have a smaller ratio: the p smallest eigenvalues of S - r S' sum to 0.
    assert abs(eigh(S - found.value * T, eigvals_only=True)[:p].sum()) < 1e-12
    assert -1e-8 < found.residual <= 0
    assert (np.diff(found.history) <= 0).all()
    expected = trace_ratio(S, T, p)
    assert found.value == pytest.approx(expected.value, rel=1e-11)
    assert subspace_angles(A, expected.components).max() < 1e-6
    assert (A[np.abs(A).argmax(axis=0), range(p)] > 0).all()


def test_large_problems_are_solved_in_subspaces(no_other_solver: None) -> None:
    found = low_rank_trace_ratio(*problem(400, 3, 0), 2)
    assert (found.status, found.components.shape) == ("converged", (400, 2))


@pytest.mark.parametrize(("n", "p", "change"), [(150, 2, None), (200, 4, None), (200, 2, "narrow")])
def test_other_problems_are_solved_with_all_rows(n: int, p: int, change: str | None, monkeypatch) -> None:  # type: ignore[no-untyped-def]
    S, F = problem(n, 3, 1)
    if change == "narrow":
        monkeypatch.setattr(module, "_WIDEST", 0.05)
    expected = trace_ratio(S, S + F @ F.T, p)
    found = low_rank_trace_ratio(S, F, p)
    assert found.value == expected.value
    np.testing.assert_array_equal(found.components, expected.components)


def test_subspaces_need_a_positive_definite_matrix() -> None:
    S, F = problem(200, 3, 1)
    assert module._in_subspaces(S - 0.02 * np.eye(200), F, 2, 1e-12) is None


def test_an_eigenvector_outside_the_subspaces_is_not_missed() -> None:
    """F has rank one, and does not reach the direction in which S is smallest, which is the second best column."""
    n = 150
    S = np.diag(np.r_[np.linspace(1.0, 2.0, n - 1), 1e-3])
    F = np.zeros((n, 2))
    F[:-1, 0] = np.random.default_rng(0).normal(size=n - 1)
    assert module._in_subspaces(S, F, 2, 1e-12) is None
    found = low_rank_trace_ratio(S, F, 2)
    assert np.abs(found.components[-1]).max() == pytest.approx(1.0)
    assert found.value == pytest.approx(trace_ratio(S, S + F @ F.T, 2).value)
