"""Relaxations of the kernel weights: MKL-DR's program as printed, its central path, the doubly nonnegative one."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
from scipy.linalg import eigh
from tests.unit.optimize.test_kernel_weights import psd_pair, separated_pair

from mklearn.errors import SolverFailed
from mklearn.optimize import relaxations, solvers
from mklearn.optimize.kernel_weights import kernel_weights
from mklearn.optimize.pencil import prepare


def whitened(S: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """S in coordinates where S' is the identity, and the transformation."""
    values, axes = np.linalg.eigh(T)
    W = (axes / np.sqrt(values)) @ axes.T
    return W @ S @ W, W


@pytest.mark.parametrize("m", [3, 5, 8, 12])
def test_the_sdp_value_is_the_smallest_generalised_eigenvalue(m):
    for seed in range(3):
        for S, T in (psd_pair(m, seed), psd_pair(m, seed, True), separated_pair(m, seed, False)[:2]):
            found = kernel_weights(S, T, method="sdp")
            assert found.bound == pytest.approx(eigh(S, T, eigvals_only=True)[0], rel=1e-5)
            assert found.value >= found.bound * (1 - 1e-6)
            assert found.value >= kernel_weights(S, T).value * (1 - 1e-9)


@pytest.mark.full
def test_programs_of_many_kernels_are_translated_anew():
    """CVXPY fails on programs of 1000 parameters or more that it translates once."""
    S, T = psd_pair(32, 0)
    assert kernel_weights(S, T, method="sdp").bound == pytest.approx(eigh(S, T, eigvals_only=True)[0], rel=1e-5)


def test_mixed_signs_make_beta_vanish():
    for m in (3, 5, 7):
        S, T, _ = separated_pair(m, m, mixed=True)
        found = kernel_weights(S, T, method="sdp")
        assert found.status == "mixed_sign"
        assert found.mixed_sign
        assert found.norm < 1e-2
        assert "beta = 0 is the only optimum" in found.message
        assert found.weights.sum() == pytest.approx(1)
        assert found.weights.min() > 0  # the barrier is never sparse
        assert found.gap > 0.1  # far from optimal
        assert found.value > kernel_weights(S, T).value * (1 + 1e-6)
        assert kernel_weights(S, T).mixed_sign


@pytest.mark.parametrize("program", ["literal_sdp", "doubly_nonnegative"])
def test_solutions_depend_neither_on_earlier_ones_nor_on_other_threads(program):
    pairs = [psd_pair(4, seed) for seed in range(3)] + [separated_pair(4, 0, mixed=True)[:2]]

    def solve(pair):
        pencil, _ = prepare(*pair)
        if program == "literal_sdp":
            return relaxations.literal_sdp(pencil, "auto").b.tolist()
        return relaxations.doubly_nonnegative(pencil, "auto", pencil.ratio(np.ones(4)))[1].tolist()

    alone = []
    for pair in pairs:
        relaxations._literal_program.cache_clear()
        relaxations._doubly_nonnegative_program.cache_clear()
        alone.append(solve(pair))
    assert [solve(pair) for pair in reversed(pairs)] == alone[::-1]
    with ThreadPoolExecutor(4) as threads:
        assert list(threads.map(solve, 5 * pairs)) == 5 * alone


def test_beta_zero_is_an_error(monkeypatch):
    S, T, _ = separated_pair(4, 0, mixed=True)
    genuine = relaxations.literal_sdp

    def vanished(pencil, solver):
        found = genuine(pencil, solver)
        return replace(found, b=found.b * 1e-13, solver="FAKE")

    monkeypatch.setattr(relaxations, "literal_sdp", vanished)
    with pytest.raises(SolverFailed, match=r"FAKE returned beta = 0.*mixed signs.*method='exact'"):
        kernel_weights(S, T, method="sdp")


def test_inaccurate_solutions_have_a_status(monkeypatch):
    genuine = relaxations._solve
    monkeypatch.setattr(relaxations, "_solve", lambda problem, solver: (genuine(problem, solver)[0], False))
    S, T, _ = separated_pair(4, 0, mixed=True)
    found = kernel_weights(S, T, method="sdp")
    assert found.status == "inaccurate"
    assert found.mixed_sign
    assert "tolerances" in found.message
    assert "beta = 0" in found.message


def test_central_path_is_stationary_and_unique():
    """g_m (Zg)_m is the same for all m, Z = S - lambda_min S'."""
    for m in (3, 6, 10):
        S, T, _ = separated_pair(m, m, mixed=True)
        found = kernel_weights(S, T, method="central_path")
        assert found.status == "mixed_sign"
        assert found.solver == "newton"
        g = found.weights
        product = g * ((S - eigh(S, T, eigvals_only=True)[0] * T) @ g)
        np.testing.assert_allclose(product / product.mean(), 1, atol=1e-8)
        assert g.min() > 0


def test_central_path_near_a_change_of_sign():
    """The end of the path stays finite as one entry of u changes sign."""
    rng = np.random.default_rng(0)
    Y = rng.normal(size=(4, 7))
    T = Y @ Y.T
    for last in (1e-3, 1e-7, 1e-12, 0.0, -1e-12, -1e-8, -1e-7, -1e-6, -3e-6, -1e-5, -1e-4, -1e-3):
        u = np.array([1.0, 2.0, 0.5, last])
        u /= np.sqrt(u @ T @ u)
        S = 4 * T - 3 * np.outer(T @ u, T @ u)
        found = kernel_weights(S, T, method="central_path")
        assert np.isfinite(found.weights).all()
        assert found.mixed_sign == (last < -1e-10)
        assert found.value == pytest.approx(1, rel=0.05)
        np.testing.assert_allclose(found.weights, np.maximum(u, 0) / u.sum(), atol=5 * abs(last) + 1e-8)


@pytest.mark.parametrize("m", [2, 3, 4])
def test_doubly_nonnegative_is_exact_up_to_four_kernels(m):
    """An independent, whitened formulation: its value is that of the enumeration."""
    for seed in range(6):
        S, T = psd_pair(m, seed, positive=bool(seed % 2))
        C, W = whitened(S, T)
        exact = kernel_weights(S, T)
        Y = cp.Variable((m, m), PSD=True)
        program = cp.Problem(cp.Minimize(cp.trace(C @ Y) / exact.value), [cp.trace(Y) == 1, W @ Y @ W >= 0])
        program.solve(solver="CLARABEL")
        assert program.value == pytest.approx(1, abs=1e-6)
        assert kernel_weights(S, T, method="dnn").bound == pytest.approx(exact.value, rel=1e-6)


@pytest.mark.parametrize("m", [5, 7, 10])
def test_doubly_nonnegative_bound_lies_between_eigenvalue_and_optimum(m):
    for seed in range(4):
        S, T = psd_pair(m, seed, positive=bool(seed % 2))
        bound = kernel_weights(S, T, method="dnn").bound
        assert eigh(S, T, eigvals_only=True)[0] * (1 - 1e-9) <= bound <= kernel_weights(S, T).value * (1 + 1e-9)


def test_a_relaxation_that_is_not_tight_gives_a_gap():
    """The Horn matrix is copositive and not a sum of PSD and nonnegative: minimum 0, relaxation below it."""
    H = np.array([[1, -1, 1, 1, -1], [-1, 1, -1, 1, 1], [1, -1, 1, -1, 1], [1, 1, -1, 1, -1], [-1, 1, 1, -1, 1]])
    T = np.eye(5)
    exact = kernel_weights(H, T)
    assert exact.value == pytest.approx(0, abs=1e-12)
    assert exact.status == "optimal"
    found = kernel_weights(H, T, method="dnn")
    assert found.bound < -1e-3
    assert found.value >= -1e-12
    assert found.status == "local"


def test_the_bound_holds_for_any_multipliers():
    """Weak duality: lambda_min(S - N, S') is below every ratio, however bad N >= 0 is."""
    rng = np.random.default_rng(0)
    for seed in range(10):
        S, T = psd_pair(6, seed)
        pencil, _ = prepare(S, T)
        N = rng.exponential(size=(6, 6)) * 10.0 ** rng.uniform(-3, 1)
        N += N.T
        best = kernel_weights(S, T).value
        for b in np.vstack([np.eye(6), rng.dirichlet(np.ones(6), 3)]):
            assert relaxations.certified_bound(pencil, N, b) <= best + 1e-12


@pytest.mark.parametrize(("method", "m"), [("sdp", 4), ("exact", 16)])
def test_auto_tries_the_next_solver_when_one_fails(method, m, monkeypatch):
    """A licence can pass the probe and fail at solve time, with an exception class of MOSEK."""
    genuine = cp.Problem.solve
    asked = []

    def solve(self, *args, solver, **kwargs):
        asked.append(solver)
        if solver == "MOSEK":
            raise RuntimeError("rescode.err_license_max(1003)")
        return genuine(self, *args, solver=solver, **kwargs)

    monkeypatch.setattr(cp.Problem, "solve", solve)
    monkeypatch.setattr(solvers, "mosek_problem", lambda: None)
    S, T, _ = separated_pair(m, 0, mixed=True)
    assert kernel_weights(S, T, method=method).solver.endswith("CLARABEL")
    assert asked == ["MOSEK", "CLARABEL"]
    with pytest.raises(SolverFailed, match="err_license_max"):
        kernel_weights(S, T, method=method, solver="MOSEK")
