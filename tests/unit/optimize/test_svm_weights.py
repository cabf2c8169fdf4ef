"""Kernel weights of the SVM and of EasyMKL: optimality, duality gaps, independent solvers, extremes and errors."""

import cvxpy as cp
import numpy as np
import pytest

from mklearn.errors import NotApplicable, SolverFailed
from mklearn.optimize import easy_mkl
from mklearn.optimize.easy_mkl import easy_mkl_weights
from mklearn.optimize.svm_weights import svm_weights


def problem(n=90, P=6, seed=0):
    """Kernels on different columns, of which the first few know the classes; (P, n, n) of unit diagonal."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 3 == 0, 1.0, -1.0)
    kernels = []
    for m in range(P):
        X = rng.normal(size=(n, 4)) + (m < 3) * 0.4 * (m + 1) * y[:, None] * (np.arange(4) == m % 4)
        distance = ((X[:, None] - X) ** 2).sum(axis=2)
        kernels.append(np.exp(-distance / 4) if m % 2 else X @ X.T / 4)
    return np.array(kernels), y


def qcqp(kernels, y, C):
    """The problem of Bach et al. 2004 as a cone program: its optimal value and the multipliers, scaled to sum 1."""
    n = len(y)
    alpha, t = cp.Variable(n), cp.Variable()
    roots = []
    for K in kernels:
        values, vectors = np.linalg.eigh(K)
        roots.append((vectors * np.sqrt(np.maximum(values, 0))).T)
    limits = [0.5 * cp.sum_squares(R @ cp.multiply(y, alpha)) <= t for R in roots]
    whole = cp.Problem(cp.Maximize(cp.sum(alpha) - t), [*limits, alpha >= 0, alpha <= C, y @ alpha == 0])
    whole.solve(solver="CLARABEL", tol_gap_abs=1e-9, tol_gap_rel=1e-9, tol_feas=1e-9)
    multipliers = np.array([np.ravel(limit.dual_value)[0] for limit in limits])
    return whole.value, multipliers / multipliers.sum()


@pytest.mark.parametrize(("C", "seed"), [(0.1, 0), (1.0, 1), (30.0, 0)])
def test_equals_the_cone_program(C, seed):
    kernels, y = problem(seed=seed)
    found = svm_weights(kernels, y, C, tol=1e-7, svm_tol=1e-8)
    value, weights = qcqp(kernels, y, C)
    assert found.status == "optimal"
    assert found.solution.value == pytest.approx(value, rel=1e-6)
    np.testing.assert_allclose(found.weights, weights, atol=5e-3)
    assert found.n_svm <= 20


@pytest.mark.parametrize("p", [1.0, 1.5, 2.0, 4.0])
@pytest.mark.parametrize("tol", [1e-2, 1e-3, 1e-5])
def test_gap_is_below_the_tolerance_and_recomputed_from_scratch(p, tol):
    kernels, y = problem(seed=3)
    C = 2.0
    found = svm_weights(kernels, y, C, p=p, tol=tol, svm_tol=1e-6)
    assert found.status == "optimal"
    K = np.einsum("m,mij->ij", found.theta, kernels)
    # an upper bound of the optimum: the primal objective of a machine that is feasible at these weights
    c, b = found.solution.dual, found.solution.intercept
    primal = 0.5 * c @ K @ c + C * np.maximum(0, 1 - y * (K @ c + b)).sum()
    # a lower bound: the dual objective of this alpha, with the worst weights of the ball by Hoelder's inequality
    q = np.array([c @ matrix @ c for matrix in kernels])
    dual_norm = q.max() if p == 1 else np.sum(q ** (p / (p - 1))) ** ((p - 1) / p)
    bound = abs(c).sum() - 0.5 * len(kernels) ** (1 / p - 1) * dual_norm
    assert abs(c.sum()) < 1e-9
    assert 0 <= (y * c).min() <= (y * c).max() <= C * (1 + 1e-12)
    assert primal >= found.solution.value * (1 - 1e-9)
    assert (primal - bound) / primal <= tol + 1e-4 * (tol > 1e-4) + 1e-5
    assert found.gap <= tol
    own = (found.solution.value - bound) / found.solution.value
    assert found.gap <= own + 1e-9  # earlier machines may have bounded it better
    np.testing.assert_allclose(np.linalg.norm(found.theta, p), len(kernels) ** (1 / p - 1))


@pytest.mark.parametrize("seed", range(12))
def test_the_gap_of_a_sparse_optimum_with_singular_kernels_is_closed(seed):
    """The dual solution of one machine is not unique there, and its own gap may be of any size."""
    rng = np.random.default_rng(seed)
    X = rng.integers(0, 3, (60, 4)).astype(float)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    y = np.where(X[:, 0] + rng.normal(size=60) > 0, 1.0, -1.0)
    kernels = np.array([X[:, :2] @ X[:, :2].T, X[:, 2:] @ X[:, 2:].T])
    found = svm_weights(kernels, y, 1.0, tol=1e-5, svm_tol=1e-5)
    assert found.status == "optimal"
    assert 0 <= found.gap <= 1e-5


def test_kernels_of_low_rank_in_single_precision():
    n_svm = 0
    for seed in range(12):
        rng = np.random.default_rng(seed)
        X, Z = (rng.integers(0, 4, (60, 2)) / 0.37).astype("f4"), (rng.integers(0, 3, (60, 2)) / 0.7).astype("f4")
        y = np.where(X[:, 0] + rng.normal(size=60) * 3 > 4, 1.0, -1.0)
        found = svm_weights(np.array([X @ X.T, Z @ Z.T]), y, 1.0)
        assert found.gap < 1e-2
        n_svm += found.n_svm
    assert n_svm <= 65  # with the smallest of the bounds, and no steps below the SVM's precision


def test_gap_of_equal_weights_is_not_zero():
    kernels, y = problem()
    found = svm_weights(kernels, y, 2.0, max_iter=0)
    assert found.gap > 0.05
    assert found.status == "max_iter"


def test_large_p_gives_equal_weights_and_a_single_kernel_weight_one():
    kernels, y = problem()
    np.testing.assert_allclose(svm_weights(kernels, y, 1.0, p=np.inf).theta, 1 / len(kernels))
    alone = svm_weights(kernels[:1], y, 1.0)
    assert (alone.weights, alone.n_svm, alone.status) == (pytest.approx([1.0]), 1, "optimal")


# --- EasyMKL


def easy_problem(n=70, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n // 3, 1.0, -1.0)
    kernels = []
    for shift in (0.0, 0.5, 1.5, 0.2):
        X = rng.normal(size=(n, 5))
        X[:, 0] += shift * y
        kernels.append(X @ X.T / 5 if shift else np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 5))
    return np.array(kernels), y


@pytest.mark.parametrize("trade_off", [0.01, 0.1, 0.5, 1.0])
def test_optimality_conditions(trade_off, monkeypatch):
    kernels, y = easy_problem()
    found = easy_mkl_weights(kernels, y, trade_off=trade_off)
    gamma = found.gamma
    assert gamma.min() >= 0
    np.testing.assert_allclose([gamma[y > 0].sum(), gamma[y < 0].sum()], 1)
    slope = (1 - trade_off) * y * (kernels.sum(axis=0) @ (y * gamma)) + trade_off * gamma
    for members in (y > 0, y < 0):
        least = slope[members].min()
        np.testing.assert_allclose(slope[members & (gamma > 1e-4)], least, rtol=1e-3)
    assert found.gap <= 1e-8
    assert found.value == pytest.approx(gamma @ slope)
    q = np.array([(y * gamma) @ K @ (y * gamma) for K in kernels])
    np.testing.assert_allclose(found.weights, q / q.sum())
    assert found.weights[1:].argmax() == 1  # of the linear kernels, the one with the largest shift
    # the gap bounds the distance to the optimum: at the class means
    monkeypatch.setattr(easy_mkl, "_minimiser", lambda Q, y: 1 / np.where(y > 0, (y > 0).sum(), (y < 0).sum()))
    means = easy_mkl_weights(kernels, y, trade_off=trade_off, tol=np.inf)
    assert (means.value - found.value) / means.value <= means.gap + 1e-12


@pytest.mark.parametrize("trade_off", [0.05, 0.5])
def test_equals_an_independent_solver(trade_off):
    kernels, y = easy_problem(seed=1)
    values, vectors = np.linalg.eigh(y[:, None] * kernels.sum(axis=0) * y)
    root = (vectors * np.sqrt(np.maximum(values, 0))).T
    gamma = cp.Variable(len(y), nonneg=True)
    objective = (1 - trade_off) * cp.sum_squares(root @ gamma) + trade_off * cp.sum_squares(gamma)
    task = cp.Problem(cp.Minimize(objective), [cp.sum(gamma[y > 0]) == 1, cp.sum(gamma[y < 0]) == 1])
    task.solve(solver="CLARABEL")
    found = easy_mkl_weights(kernels, y, trade_off=trade_off)
    assert found.value == pytest.approx(task.value, rel=1e-6)
    np.testing.assert_allclose(found.gamma, gamma.value, atol=1e-4)


@pytest.mark.parametrize("shift", [-3.0, 40.0])
def test_constants_added_to_kernels_do_not_matter(shift):
    kernels, y = easy_problem()
    found, moved = (easy_mkl_weights(each, y) for each in (kernels, kernels + shift))
    np.testing.assert_allclose(moved.gamma, found.gamma, atol=1e-9)
    np.testing.assert_allclose(moved.weights, found.weights, rtol=1e-9)


PAIRS = np.repeat(np.random.default_rng(0).normal(size=(8, 3)), 2, axis=0)


@pytest.mark.parametrize(
    ("kernels", "error", "message"),
    [
        (np.zeros((2, 10, 10)), NotApplicable, "No kernel separates"),
        (np.array([PAIRS @ PAIRS.T, (1 + PAIRS @ PAIRS.T) ** 2]), NotApplicable, "No kernel separates"),
        (np.array([1 - 9 * np.eye(10), np.eye(10)]), SolverFailed, "positive semidefinite"),
    ],
)
def test_kernels_without_weights(kernels, error, message):
    with pytest.raises(error, match=message):
        easy_mkl_weights(kernels, np.resize([1.0, -1.0], kernels.shape[1]))
