"""The group lasso over kernels: optimality conditions, independent solvers, what is chosen."""

import numpy as np
import pytest

from mklearn.errors import NotApplicable
from mklearn.optimize.kernel_lasso import KernelLasso, KernelLassoSolution, kernel_factor


def problem(seed: int = 0, n: int = 40, widths: tuple[int, ...] = (3, 1, 5, 2, 4)) -> tuple[list, np.ndarray]:
    rng = np.random.default_rng(seed)
    tables = [rng.standard_normal((n, width)) for width in widths]
    targets = np.stack([tables[0].sum(axis=1), tables[2][:, 0]], axis=1) + rng.standard_normal((n, 2))
    return [kernel_factor(X @ X.T, 50) for X in tables], targets - targets.mean(axis=0)


def blocks_of(factors: list, solution: KernelLassoSolution) -> list:
    return np.split(solution.coefficients, np.cumsum([F.shape[1] for F in factors])[:-1])


@pytest.mark.parametrize("fraction", [0.8, 0.4, 0.1])
def test_solutions_satisfy_the_optimality_conditions(fraction: float) -> None:
    factors, T = problem()
    lasso = KernelLasso(factors, T, tol=1e-12)
    penalty = fraction * lasso.largest_penalty
    found = lasso.solve(penalty)
    blocks = blocks_of(factors, found)
    np.testing.assert_allclose(found.residuals, T - sum(F @ B for F, B in zip(factors, blocks, strict=True)), atol=1e-9)
    for F, B, size in zip(factors, blocks, found.sizes, strict=True):
        gradient = F.T @ found.residuals
        assert np.linalg.norm(gradient) <= penalty * (1 + 1e-4)
        assert size == pytest.approx(np.linalg.norm(B))
        if size > 0:
            np.testing.assert_allclose(gradient, penalty * B / size, atol=1e-4 * penalty)
    assert 0 < len(found.chosen) <= len(factors)


def test_the_objective_is_that_of_a_conic_solver() -> None:
    cvxpy = pytest.importorskip("cvxpy")
    factors, T = problem(1)
    lasso = KernelLasso(factors, T, tol=1e-10)
    penalty = 0.3 * lasso.largest_penalty
    blocks = [cvxpy.Variable((F.shape[1], T.shape[1])) for F in factors]
    left = T - sum(F @ B for F, B in zip(factors, blocks, strict=True))
    cost = 0.5 * cvxpy.sum_squares(left) + penalty * sum(cvxpy.norm(B, "fro") for B in blocks)
    least = cvxpy.Problem(cvxpy.Minimize(cost)).solve(solver=cvxpy.CLARABEL)
    found = lasso.solve(penalty)
    blocks = blocks_of(factors, found)
    R = T - sum(F @ B for F, B in zip(factors, blocks, strict=True))
    objective = 0.5 * np.vdot(R, R) + penalty * sum(map(np.linalg.norm, blocks))
    assert objective == pytest.approx(least, rel=1e-6)


@pytest.mark.parametrize("n_kernels", [1, 2, 4])
def test_no_more_kernels_are_chosen_than_asked_for(n_kernels: int) -> None:
    factors, T = problem()
    lasso = KernelLasso(factors, T)
    found = lasso.largest_choice(n_kernels)
    assert len(found.chosen) == n_kernels  # kernels enter one at a time here
    assert 0 in found.chosen


def test_a_factor_is_that_of_the_centred_weighted_kernel_at_unit_trace() -> None:
    rng = np.random.default_rng(3)
    X, w = rng.standard_normal((12, 3)) + 5, rng.integers(1, 4, 12).astype(float)
    F = kernel_factor(X @ X.T, 50, sample_weight=w)
    repeated = np.repeat(X, w.astype(int), axis=0)
    repeated -= repeated.mean(axis=0)
    centred = np.sqrt(w)[:, None] * (X - w @ X / w.sum())
    assert F.shape == (12, 3)
    np.testing.assert_allclose(F @ F.T, centred @ centred.T * len(repeated) / np.sum(repeated**2), atol=1e-9)


def test_a_kernel_of_a_larger_rank_is_approximated_from_below() -> None:
    X = np.random.default_rng(4).standard_normal((30, 10))
    exact, few = (kernel_factor(X @ X.T, rank) for rank in (50, 4))
    assert few.shape == (30, 4)
    assert np.linalg.eigvalsh(exact @ exact.T - few @ few.T)[0] > -1e-9


def test_constant_kernels_are_never_chosen() -> None:
    factors, T = problem()
    constant = kernel_factor(np.full((40, 40), 0.3), 50)
    assert constant.shape == (40, 0)
    found = KernelLasso([constant, *factors, constant], T, tol=1e-8).solve(0.2)
    alone = KernelLasso(factors, T, tol=1e-8).solve(0.2)
    np.testing.assert_allclose(found.sizes, [0, *alone.sizes, 0], atol=1e-9)
    with pytest.raises(NotApplicable, match="constant"):
        KernelLasso([constant, constant], T)
