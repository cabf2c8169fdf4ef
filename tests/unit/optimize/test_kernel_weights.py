"""Kernel weights of a ratio, exact and relaxed: optimality, enumeration, bounds, solvers, invariances, degeneracy."""

from concurrent.futures import ThreadPoolExecutor
from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest
from scipy.linalg import eigh

from mklearn.errors import ConfigError, DataError, SolverFailed
from mklearn.graphs import lda_graph
from mklearn.optimize import relaxations, solvers
from mklearn.optimize.kernel_weights import kernel_weights
from mklearn.optimize.pencil import prepare

METHODS = ["exact", "dnn", "sdp", "central_path"]


def psd_pair(m: int, seed: int, positive: bool = False, extra: int = 3) -> tuple[np.ndarray, np.ndarray]:
    """Random PSD pairs; ``positive`` has positive entries only, as scatter matrices of similar kernels do."""
    rng = np.random.default_rng(seed)
    X, Y = rng.normal(size=(m, m + extra)), rng.normal(size=(m, m + extra))
    if positive:
        X, Y = abs(X), abs(Y)
    return X @ X.T, Y @ Y.T


def separated_pair(m: int, seed: int, mixed: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Smallest generalised eigenvector u of one or of mixed signs, well separated: eigenvalues 1, 4, 5, 6, ..."""
    rng = np.random.default_rng(seed)
    Y = rng.normal(size=(m, m + 3))
    factor = np.linalg.cholesky(Y @ Y.T)
    u = rng.uniform(0.5, 2.0, m)
    basis = np.linalg.qr(np.column_stack([factor.T @ u, rng.normal(size=(m, m - 1))]))[0]
    TV = factor @ basis  # V'TV = I, first column along u
    signs = np.where(np.arange(m) % 2, -1.0, 1.0) if mixed else np.ones(m)
    S, T = (TV * [1.0, *range(4, m + 3)]) @ TV.T, Y @ Y.T
    return S * np.outer(signs, signs), T * np.outer(signs, signs), u * signs


def lda_problem(seed: int, n_kernels: int = 11) -> tuple[np.ndarray, np.ndarray]:
    """The first problem of MKL-DR (AA' = I) on a grid of Gaussian kernels: S' is nearly singular."""
    rng = np.random.default_rng(seed)
    y = np.repeat(np.arange(4), 12)
    X = rng.normal(size=(48, 5))
    X[:, :2] += 0.7 * y[:, None]
    d2 = ((X[:, None] - X[None]) ** 2).sum(axis=2)
    kernels = [np.exp(-d2 / (d2.mean() * 2.0**k)) for k in range(-5, -5 + n_kernels)]
    pair = lda_graph(y)
    return tuple(  # type: ignore[return-value]
        np.array([[np.sum(K * operator.apply(H)) for H in kernels] for K in kernels])
        for operator in (pair.L, pair.L_prime)
    )


def ratio(B: np.ndarray, S: np.ndarray, T: np.ndarray) -> np.ndarray:
    B = np.atleast_2d(B)
    return np.einsum("ij,jk,ik->i", B, S, B) / np.einsum("ij,jk,ik->i", B, T, B)


def feasible_points(rng: np.random.Generator, m: int, count: int) -> np.ndarray:
    dense = rng.dirichlet(np.ones(m), count // 2)
    sparse = rng.dirichlet(np.full(m, 0.15), count - count // 2 - m) + 1e-300
    return np.concatenate([dense, sparse, np.eye(m)])


def every_support(S: np.ndarray, T: np.ndarray) -> float:
    m = len(S)
    best = np.inf
    for size in range(1, m + 1):
        for support in combinations(range(m), size):
            J = np.ix_(support, support)
            values, vectors = eigh(S[J], T[J])
            v = vectors[:, 0] * np.sign(vectors[:, 0].sum())
            if v.min() >= -1e-12:
                best = min(best, values[0])
    return float(best)


@pytest.mark.parametrize("m", range(2, 11))
@pytest.mark.parametrize("positive", [False, True])
def test_exact_weights_are_those_of_the_best_support(m, positive):
    for seed in range(4):
        S, T = psd_pair(m, 100 * m + seed, positive, extra=seed)
        keep = S.copy(), T.copy()
        found = kernel_weights(S, T)
        np.testing.assert_array_equal((S, T), keep)
        w = found.weights
        assert w.min() >= 0
        assert w.sum() == pytest.approx(1)
        assert found.value == pytest.approx(ratio(w, S, T)[0], rel=1e-10)
        assert (found.status, found.bound, found.gap) == ("optimal", found.value, 0)
        assert found.value == pytest.approx(every_support(S, T), rel=1e-9)
        assert kernel_weights(S - T, T).value == pytest.approx(found.value - 1, abs=1e-9)  # S indefinite


@pytest.mark.parametrize("m", [16, 20])
def test_many_kernels_are_enumerated_or_certified(m):
    for seed, positive in ((0, False), (1, True)):
        S, T = psd_pair(m, seed, positive)
        found = kernel_weights(S, T)
        assert found.status == "optimal"
        assert found.gap < 1e-6
        assert found.solver in ("enumeration", "local_search+CLARABEL")
        points = feasible_points(np.random.default_rng(seed), m, 10_000)
        assert found.value <= ratio(points, S, T).min() + 1e-9


def test_many_kernels_without_a_convex_solver_have_the_eigenvalue_as_bound(monkeypatch):
    from mklearn.optimize import relaxations

    def broken(problem, solver):
        raise SolverFailed("out of order")

    monkeypatch.setattr(relaxations, "_solve", broken)
    S, T = psd_pair(16, 0)
    found = kernel_weights(S, T)
    assert found.status == "local"
    assert found.bound == pytest.approx(eigh(S, T, eigvals_only=True)[0])
    with pytest.raises(SolverFailed, match="out of order"):
        kernel_weights(S, T, solver="CLARABEL")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["random", "one_signed", "mixed_sign"])
def test_equivariant_under_rescaled_and_permuted_kernels(method, kind):
    """K_m -> c_m K_m gives S -> DSD and must give beta_m -> beta_m / c_m."""
    # The result of the literal program depends on where an interior-point method stops.
    tolerance = {"sdp": 1e-3}.get(method, 1e-8)
    for seed in range(3):
        S, T = psd_pair(5, seed) if kind == "random" else separated_pair(5, seed, mixed=kind == "mixed_sign")[:2]
        rng = np.random.default_rng(seed)
        found = kernel_weights(S, T, method=method)
        c = 10.0 ** rng.uniform(-8, 4, 5)
        scaled = kernel_weights(S * np.outer(c, c), T * np.outer(c, c), method=method)
        back = scaled.weights * c / (scaled.weights * c).sum()
        np.testing.assert_allclose(back, found.weights, atol=tolerance)
        assert scaled.bound == pytest.approx(found.bound, rel=1e-5)
        p = rng.permutation(5)
        permuted = kernel_weights(S[np.ix_(p, p)], T[np.ix_(p, p)], method=method)
        np.testing.assert_allclose(permuted.weights, found.weights[p], atol=tolerance)
        assert (permuted.status, scaled.status) == (found.status, found.status)
        if method in ("exact", "dnn"):
            assert scaled.value == pytest.approx(found.value, rel=1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_returns_a_one_signed_eigenvector(method):
    for m in (2, 4, 7):
        S, T, u = separated_pair(m, m, mixed=False)
        found = kernel_weights(S, T, method=method)
        assert found.status == "optimal"
        assert not found.mixed_sign
        assert found.value == pytest.approx(1, rel=1e-6)
        assert found.bound == pytest.approx(1, rel=1e-6)
        np.testing.assert_allclose(found.weights, u / u.sum(), atol=2e-3 if method == "sdp" else 1e-8)


@pytest.mark.parametrize("method", ["exact", "dnn"])
def test_duplicates_share_their_weight_in_any_order(method):
    S, T = psd_pair(3, 11)
    alone = kernel_weights(S, T, method=method)
    for order in ([0, 1, 2, 2], [2, 0, 2, 1], [0, 0, 1, 1, 2, 2], [2, 1, 2, 0, 2]):
        J = np.ix_(order, order)
        found = kernel_weights(S[J], T[J], method=method)
        assert found.value == pytest.approx(alone.value, rel=1e-9)
        for kernel in range(3):
            copies = found.weights[np.array(order) == kernel]
            assert copies.sum() == pytest.approx(alone.weights[kernel], abs=1e-9)
            assert np.ptp(copies) < 1e-12
    # A copy under another scale: each of the two contributes as much to the combined kernel.
    c = np.array([1.0, 1.0, 1.0, 50.0])
    J = np.ix_([0, 1, 2, 1], [0, 1, 2, 1])
    found = kernel_weights(S[J] * np.outer(c, c), T[J] * np.outer(c, c), method=method)
    assert found.weights[3] * 50 == pytest.approx(found.weights[1], abs=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_a_grid_of_bandwidths_is_nearly_singular_and_still_certified(seed):
    S, T = lda_problem(seed)
    assert np.linalg.cond(T) > 1e9
    exact, bound = kernel_weights(S, T), kernel_weights(S, T, method="dnn").bound
    assert exact.value * (1 - 1e-3) < bound <= exact.value * (1 + 1e-6)
    points = feasible_points(np.random.default_rng(seed), 11, 10_000) / np.sqrt(np.diag(T))
    assert exact.value <= ratio(points, S, T).min() + 1e-9
    for method in ("sdp", "central_path"):
        assert kernel_weights(S, T, method=method).value >= exact.value * (1 - 1e-9)


@pytest.mark.parametrize("method", METHODS)
def test_a_kernel_constant_under_the_second_graph_gets_no_weight(method):
    S, T = psd_pair(3, 2)
    reference = kernel_weights(S, T, method=method)
    grown_S, grown_T = np.zeros((4, 4)), np.zeros((4, 4))
    order = np.ix_([0, 2, 3], [0, 2, 3])
    grown_S[order], grown_T[order] = S, T
    # The rows of a constant kernel are zero, or rounding errors of either sign and one size.
    for error in (0.0, 1e-30, 2.5e-15, -3.3e-15):
        grown_T[1, 1], grown_S[1, 1] = error, 0.0
        grown_T[1, 0] = grown_T[0, 1] = -0.1 * error
        grown_S[1, 2] = grown_S[2, 1] = 0.2 * error
        found = kernel_weights(grown_S, grown_T, method=method)
        np.testing.assert_allclose(found.weights[[0, 2, 3]], reference.weights, atol=1e-10)
        assert found.weights[1] == 0
        assert found.status == reference.status


@pytest.mark.parametrize("method", METHODS)
def test_proportional_matrices_give_equal_weights(method):
    _, T = psd_pair(4, 0)
    for factor in (1.0, 0.0, -2.0):
        found = kernel_weights(factor * T, T, method=method)
        assert found.value == pytest.approx(factor, abs=1e-12)
        assert found.status == "optimal"
        assert not found.mixed_sign
        if method != "sdp":
            equal = 1 / np.sqrt(np.diag(T))
            np.testing.assert_allclose(found.weights, equal / equal.sum(), atol=1e-9)


def test_invalid_arguments():
    S, T = psd_pair(3, 0)
    cases = [
        (ConfigError, "`method`", lambda: kernel_weights(S, T, method="magic")),
        (DataError, "S_prime", lambda: kernel_weights(S, T[:2, :2])),
        (DataError, "S has dtype complex128; expected real", lambda: kernel_weights(S * (1 + 1j), T)),
        (DataError, "not symmetric", lambda: kernel_weights(np.triu(S), T)),
        (SolverFailed, "No kernel has a positive", lambda: kernel_weights(S, np.zeros((3, 3)))),
        (SolverFailed, "indefinite", lambda: kernel_weights(S, np.diag([1.0, 1.0, -1.0]))),
    ]
    for error, message, call in cases:
        with pytest.raises(error, match=message):
            call()


# --- relaxations


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
        assert found.weights.sum() == pytest.approx(1)
        assert found.weights.min() > 0  # the barrier is never sparse
        assert found.gap > 0.1  # far from optimal
        assert found.value > kernel_weights(S, T).value * (1 + 1e-6)
        assert kernel_weights(S, T).mixed_sign


@pytest.mark.parametrize("program", ["literal_sdp", "doubly_nonnegative"])
def test_solutions_depend_neither_on_earlier_ones_nor_on_other_threads(program):
    pairs = [psd_pair(4, seed) for seed in range(3)] + [separated_pair(4, 0, mixed=True)[:2]]

    def solve(pair):
        pencil = prepare(*pair)
        if program == "literal_sdp":
            return relaxations.literal_sdp(pencil, "auto")[0].tolist()
        return relaxations.doubly_nonnegative(pencil, "auto", pencil.ratio(np.ones(4)))[0].tolist()

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
        beta, bound, _, accurate = genuine(pencil, solver)
        return beta * 1e-13, bound, "FAKE", accurate

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
        pencil = prepare(S, T)
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
