"""The convex ratio trace: formulas against dense ones, concavity, and optimality checked in several ways."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklearn.errors import DataError, NotApplicable
from mklearn.graphs import class_structure, total_laplacian, within_laplacian
from mklearn.optimize.convex_ratio_trace import (
    RatioTraceObjective,
    between_factor,
    convex_ratio_trace,
    leading_directions,
)

N, CLASSES = 24, 4
LABELS = np.arange(N) % CLASSES
STRUCTURE = class_structure(LABELS)
NORMS = [1.0, 1.2, 2.0, 5.0, np.inf]


def kernels(seed: int, count: int = 4, rank: int = 6) -> np.ndarray:
    """Gram matrices of feature sets of growing quality; half of them of full rank."""
    rng = np.random.default_rng(seed)
    stack = []
    for m in range(count):
        X = rng.normal(size=(N, rank)) + 0.5 * m * rng.normal(size=(CLASSES, rank))[LABELS]
        d2 = ((X[:, None] - X[None]) ** 2).sum(-1)
        stack.append(X @ X.T / rank if m % 2 else np.exp(-d2 / d2.mean()))
    return np.stack(stack)


def denominator(kind: str):
    return within_laplacian(STRUCTURE) if kind == "within" else total_laplacian(N)


def objective(seed: int = 0, kind: str = "total", ridge: float = 0.3, count: int = 4) -> RatioTraceObjective:
    return RatioTraceObjective(kernels(seed, count), between_factor(STRUCTURE), denominator(kind), ridge)


def value_of(problem: RatioTraceObjective, theta: np.ndarray) -> float:
    return problem.evaluate(theta).value


@pytest.mark.parametrize("kind", ["total", "within"])
def test_value_is_the_largest_ratio_trace_in_feature_space(kind):
    rng = np.random.default_rng(3)
    features = [rng.normal(size=(N, 5)) + rng.normal(size=(CLASSES, 5))[LABELS] for _ in range(2)]
    problem = RatioTraceObjective(
        [X @ X.T for X in features], between_factor(STRUCTURE), denominator(kind), ridge_amount=0.7
    )
    theta = np.array([0.3, 0.5])
    Phi = np.hstack([np.sqrt(t) * X for t, X in zip(theta, features, strict=True)]).T
    below = Phi @ problem.denominator.toarray() @ Phi.T + 0.7 * np.eye(10)
    above = Phi @ problem.numerator @ problem.numerator.T @ Phi.T
    assert value_of(problem, theta) == pytest.approx(np.trace(np.linalg.solve(below, above)), rel=1e-10)
    for _ in range(20):  # any V has at most this ratio trace
        V = rng.normal(size=(10, 3))
        assert np.trace(np.linalg.solve(V.T @ below @ V, V.T @ above @ V)) <= value_of(problem, theta)


@pytest.mark.parametrize("kind", ["total", "within"])
def test_derivatives_are_those_of_finite_differences(kind):
    problem = objective(2, kind)
    theta = np.array([0.2, 0.1, 0.4, 0.3])
    at = problem.evaluate(theta)
    hessian = problem.hessian(at)
    step = 1e-5
    for m, unit in enumerate(np.eye(4)):
        up, down = (problem.evaluate(theta + sign * step * unit) for sign in (1, -1))
        assert at.gradient[m] == pytest.approx((up.value - down.value) / (2 * step), rel=1e-7)
        change = (up.gradient - down.gradient) / (2 * step)
        np.testing.assert_allclose(hessian[m], change, rtol=1e-5, atol=1e-7 * np.abs(hessian).max())


@settings(max_examples=60)
@given(
    seed=st.integers(0, 10_000),
    kind=st.sampled_from(["total", "within"]),
    log_ridge=st.floats(-4, 2),
    share=st.floats(0.01, 0.99),
)
def test_value_is_concave_and_nondecreasing(seed, kind, log_ridge, share):
    problem = objective(seed, kind, 10.0**log_ridge, count=3)
    rng = np.random.default_rng(seed)
    a, b = rng.exponential(size=(2, 3)) * rng.integers(0, 2, size=(2, 3)) + 1e-6
    between = value_of(problem, share * a + (1 - share) * b)
    assert between >= (share * value_of(problem, a) + (1 - share) * value_of(problem, b)) * (1 - 1e-9)
    assert value_of(problem, a + b) >= value_of(problem, a) * (1 - 1e-9)
    at = problem.evaluate(a)
    gradient, hessian = at.gradient, problem.hessian(at)
    assert (gradient >= 0).all()
    assert np.linalg.eigvalsh(hessian).max() <= 1e-9 * np.abs(hessian).max()
    # F lies below its tangents, on which the certificate relies.
    assert value_of(problem, b) <= (value_of(problem, a) + gradient @ (b - a)) * (1 + 1e-9) + 1e-9


@pytest.mark.parametrize("kind", ["total", "within"])
def test_directions_solve_the_eigenproblem_and_their_ratios_add_up_to_the_value(kind):
    problem = objective(4, kind)
    theta = np.array([0.4, 0.3, 0.2, 0.1])
    at = problem.evaluate(theta)
    omega, A = leading_directions(at, CLASSES, problem.ridge_amount)
    K, Q = np.tensordot(theta, problem.kernels, axes=1), problem.denominator.toarray()
    below = K @ Q @ K + problem.ridge_amount * K
    above = K @ problem.numerator @ problem.numerator.T @ K
    assert len(omega) == CLASSES - 1
    assert omega.sum() == pytest.approx(at.value, rel=1e-10)
    assert (np.diff(omega) <= 0).all()
    np.testing.assert_allclose(A.T @ below @ A, np.eye(CLASSES - 1), atol=1e-9)
    np.testing.assert_allclose(above @ A, below @ A * omega, atol=1e-9 * np.abs(above).max())


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize(("kind", "ridge"), [("total", 1.0), ("within", 1e-2)])
def test_solution_is_optimal(p, kind, ridge):
    problem = objective(5, kind, ridge)
    found = convex_ratio_trace(problem, p=p, tol=1e-10)
    assert found.status == "optimal"
    assert (found.theta >= 0).all()
    assert np.linalg.norm(found.theta, p) == pytest.approx(4 ** (1 / p - 1))
    assert found.weights.sum() == pytest.approx(1.0)
    assert found.value == value_of(problem, found.theta)
    assert (np.diff(found.history) >= -1e-12 * found.value).all()
    # First-order conditions: g = nu theta^(p-1) on the support, no larger off it.
    if np.isfinite(p):
        gradient, normal = found.evaluation.gradient, found.theta ** (p - 1)
        support = found.theta > 0
        nu = gradient[support] @ found.theta[support] / (normal[support] @ found.theta[support])
        np.testing.assert_allclose(gradient[support], nu * normal[support], rtol=1e-4)
        assert (gradient[~support] <= nu * (1 + 1e-6)).all()
    assert found.value <= found.bound


def test_the_bound_holds_before_convergence():
    problem = objective(5, "within", 1e-2)
    optimum = convex_ratio_trace(problem, tol=1e-10)
    cut = convex_ratio_trace(problem, max_iter=0)
    assert (cut.status, len(cut.history)) == ("max_iter", 1)
    assert cut.value < optimum.value <= cut.bound
    assert cut.gap == pytest.approx(cut.bound / cut.value - 1)


def test_kernels_without_a_solution():
    G, Q = between_factor(STRUCTURE), denominator("total")
    with pytest.raises(DataError, match="psd_repair"):
        convex_ratio_trace(RatioTraceObjective([-np.eye(N)], G, Q, 0.1))
    with pytest.raises(NotApplicable, match="class means coincide"):
        convex_ratio_trace(RatioTraceObjective([np.zeros((N, N))], G, Q, 0.1))
