"""EasyMKL's weights: optimality conditions, an independent solver, the class means as a limit, and errors."""

import cvxpy as cp
import numpy as np
import pytest

from mklearn.errors import NotApplicable, SolverFailed
from mklearn.optimize.easy_mkl import easy_mkl_weights


def problem(n=70, seed=0):
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < n // 3, 1.0, -1.0)
    kernels = []
    for shift in (0.0, 0.5, 1.5, 0.2):
        X = rng.normal(size=(n, 5))
        X[:, 0] += shift * y
        kernels.append(X @ X.T / 5 if shift else np.exp(-((X[:, None] - X) ** 2).sum(axis=2) / 5))
    return np.array(kernels), y


@pytest.mark.parametrize("trade_off", [0.01, 0.1, 0.5, 1.0])
def test_optimality_conditions(trade_off):
    kernels, y = problem()
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


@pytest.mark.parametrize("trade_off", [0.05, 0.5])
def test_equals_an_independent_solver(trade_off):
    kernels, y = problem(seed=1)
    values, vectors = np.linalg.eigh(y[:, None] * kernels.sum(axis=0) * y)
    root = (vectors * np.sqrt(np.maximum(values, 0))).T
    gamma = cp.Variable(len(y), nonneg=True)
    objective = (1 - trade_off) * cp.sum_squares(root @ gamma) + trade_off * cp.sum_squares(gamma)
    task = cp.Problem(cp.Minimize(objective), [cp.sum(gamma[y > 0]) == 1, cp.sum(gamma[y < 0]) == 1])
    task.solve(solver="CLARABEL")
    found = easy_mkl_weights(kernels, y, trade_off=trade_off)
    assert found.value == pytest.approx(task.value, rel=1e-6)
    np.testing.assert_allclose(found.gamma, gamma.value, atol=1e-4)


@pytest.mark.parametrize(
    ("kernels", "error", "message"),
    [
        (np.zeros((2, 9, 9)), NotApplicable, "No kernel separates"),
        (np.array([1 - 9 * np.eye(9), np.eye(9)]), SolverFailed, "positive semidefinite"),
    ],
)
def test_kernels_without_weights(kernels, error, message):
    with pytest.raises(error, match=message):
        easy_mkl_weights(kernels, np.where(np.arange(9) < 4, 1.0, -1.0))
