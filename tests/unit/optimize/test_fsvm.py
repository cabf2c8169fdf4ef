"""Programs with the hinge loss and the joint problem of F-SVM: optimality conditions, bounds, independent solvers."""

import warnings

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_iris, load_wine

from mklearn.optimize.fsvm import alternate, joint_optimum, zero_threshold
from mklearn.optimize.hinge_program import GAP, Multipliers, hinge_loss, hinge_machine, lower_bound
from mklearn.optimize.whitening import power_whitening


@pytest.fixture(scope="module")
def problem():
    X, y = load_breast_cancer(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0) / np.sqrt(X.shape[1])
    return X[:200], np.where(y[:200] == 1, 1.0, -1.0)


@pytest.mark.parametrize("bound", [1.05, 1.5, 5.0, np.inf])
def test_rmm_equals_cvxpys(problem, bound):
    X, y = problem
    C = 8.0
    found = hinge_machine(X, y, C, bound)
    w, b = cp.Variable(X.shape[1]), cp.Variable()
    f = X @ w + b
    limits = [cp.abs(f) <= bound] if np.isfinite(bound) else []
    program = cp.Problem(cp.Minimize(cp.sum_squares(w) / 2 + C * cp.sum(cp.pos(1 - cp.multiply(y, f)))), limits)
    program.solve(solver="CLARABEL")
    assert found.objective == pytest.approx(program.value, rel=1e-7)
    assert np.abs(X @ found.w + found.b).max() <= bound * (1 + 1e-12)
    np.testing.assert_allclose(found.w, w.value, rtol=0, atol=1e-4 * np.abs(found.w).max())
    assert found.multipliers.upper.any() == found.multipliers.lower.any() == np.isfinite(bound)


@settings(max_examples=60)
@given(
    st.integers(0, 10**6), st.integers(2, 40), st.integers(1, 8), st.floats(-3, 4), st.sampled_from([1.01, 2.0, np.inf])
)
@example(3045, 8, 8, 0.0, 2.0)  # predictor and corrector alone go round in circles
def test_gap_closes_on_any_data(seed, n, d, log_C, bound):
    """Also with repeated samples, of either label, and with columns that repeat."""
    rng = np.random.default_rng(seed)
    X = rng.integers(-2, 3, size=(n, d)).astype(float)
    X[:, -1] = X[:, 0]
    y = np.where(np.arange(n) % 2, 1.0, -1.0)
    found = hinge_machine(X, y, 10.0**log_C, bound)
    assert -1e-9 <= found.gap <= GAP
    assert found.status == "optimal"


def test_lower_bound_is_below_every_objective(problem):
    """For any multipliers: a certificate that needs no trust in the solver."""
    X, y = problem
    rng = np.random.default_rng(0)
    C, bound, none = 3.0, 1.5, np.zeros((0, X.shape[1]))
    best = hinge_machine(X, y, C, bound).objective
    for scale in (0.01, 1.0, 100.0):
        hinge, upper, lower = scale * rng.normal(size=(3, len(y)))
        assert lower_bound(X, y, C, bound, none, Multipliers(hinge, upper, lower, np.zeros(0))) <= best


# --- joint problem of F-SVM


def first_two(load, columns, rows):
    X, y = load(return_X_y=True)
    kept = np.flatnonzero(y < 2)[::rows]
    X = X[kept][:, :columns]
    return X / X.std(axis=0), np.where(y[kept] == 0, 1.0, -1.0)


def overlapping_iris():
    X, y = load_iris(return_X_y=True)
    return X[50::2], np.where(y[50::2] == 1, 1.0, -1.0)


DATA = {
    "iris": overlapping_iris(),
    "wine": first_two(load_wine, 6, 3),
    "breast": first_two(load_breast_cancer, 5, 8),
    "collinear": (lambda X, y: (np.column_stack([X, X[:, 0] + X[:, 1]]), y))(*overlapping_iris()),
    "wide": (lambda X, y: (X[::9, :], y[::9]))(*first_two(load_wine, 10, 1)),
}
names = pytest.mark.parametrize("name", DATA)


def optimum(name, C_svm):
    """The machine on whitened samples, and the joint problem's C and F* that belong to it."""
    X, y = DATA[name]
    whitening = power_whitening(X)
    Z = whitening.transform(X) / whitening.scale
    machine = hinge_machine(Z, y, C_svm)
    return machine, joint_optimum(Z, y, machine.w, machine.b, C_svm), Z, y, whitening


def joint_sdp(X, y, C):
    """The joint problem over (w, b, M) itself, in coordinates of the range of S, where it has the same infimum."""
    d = X.shape[1]
    w, b, M = cp.Variable(d), cp.Variable(), cp.Variable((d, d), symmetric=True)
    loss = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    spread = (X - X.mean(axis=0)).T @ (X - X.mean(axis=0))
    problem = cp.Problem(cp.Minimize(cp.matrix_frac(w, M) + cp.trace(M @ spread) + C * loss), [M >> 0])
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Solution may be inaccurate")  # the comparison says how inaccurate
        problem.solve(solver="CLARABEL")
    return float(problem.value), w.value


@names
def test_the_whitened_machine_solves_the_joint_problem(name):
    """Objective to 5e-6; above 1.05 C0 the direction too."""
    machine, (C, objective), Z, y, whitening = optimum(name, 100.0)
    X = whitening.coordinates(DATA[name][0])
    X = X / np.abs(X).max(axis=0)  # another basis: the joint problem is affinely invariant
    value, w = joint_sdp(X, y, C)
    assert objective == pytest.approx(value, rel=5e-6)
    assert 1.05 * zero_threshold(Z, y) < C
    outputs, theirs = Z @ machine.w, (X - X.mean(axis=0)) @ w
    cosine = machine.w @ (np.linalg.lstsq(Z, theirs, rcond=None)[0])
    cosine /= np.linalg.norm(machine.w) * np.linalg.norm(np.linalg.lstsq(Z, theirs, rcond=None)[0])
    assert 1 - cosine < 1e-6
    np.testing.assert_allclose(outputs, theirs, atol=2e-3 * np.abs(outputs).max())


@pytest.mark.parametrize("name", ["iris", "wine", "breast"])
def test_below_C0_the_optimum_is_zero(name):
    """At 0.98 C0 the problem (P), solved by cvxpy, has w = 0; at 1.02 C0 it has not."""
    X, y = DATA[name]
    X, y = np.concatenate([X, X[y > 0] + 0.1]), np.concatenate([y, y[y > 0]])  # classes of different sizes
    whitening = power_whitening(X)
    Z = whitening.transform(X) / whitening.scale
    threshold = zero_threshold(Z, y)
    for factor, zero in ((0.98, True), (1.02, False)):
        v, b = cp.Variable(Z.shape[1]), cp.Variable()
        loss = cp.sum(cp.pos(1 - cp.multiply(y, Z @ v + b)))
        cp.Problem(cp.Minimize(2 * cp.norm(v) + factor * threshold * loss)).solve(solver="CLARABEL")
        assert (np.linalg.norm(v.value) < 1e-4) == zero


def test_same_class_means_give_zero_for_every_penalty():
    rng = np.random.default_rng(0)
    half = rng.normal(size=(20, 3))
    X, y = np.concatenate([half, half]), np.repeat([1.0, -1.0], 20)
    whitening = power_whitening(X)
    Z = whitening.transform(X) / whitening.scale
    machine = hinge_machine(Z, y, 1.0)
    assert zero_threshold(Z, y) == np.inf
    assert joint_optimum(Z, y, machine.w, machine.b, 1.0) == (np.inf, np.inf)


# --- the alternation


def alternation(name, **options):
    _, (C, objective), _, y, whitening = optimum(name, 100.0)
    path = alternate(whitening.coordinates(DATA[name][0]), y, whitening.eigenvalues, C, **options)
    return C, objective, path, whitening


@names
@pytest.mark.parametrize("step", ["fixed", "decaying", "geometric", "armijo"])
def test_the_alternation_is_never_below_the_optimum(name, step):
    _, objective, path, _ = alternation(name, step=step, n_iter=30)
    assert len(path.objectives) == 31
    assert (path.objectives >= objective * (1 - 1e-9)).all()
    assert path.n_rises == (np.diff(path.objectives) > 1e-9 * path.objectives[:-1]).sum()
    assert path.gap < 1e-6
    assert step not in ("armijo", "fixed") or (path.n_rises > 0) == (step == "fixed")


@names
def test_the_alternation_begins_with_the_semi_whitened_machine(name):
    C, _, path, whitening = alternation(name, n_iter=0)
    X, y = DATA[name]
    semi = power_whitening(X, 0.25)
    Z = semi.transform(X) / semi.scale
    machine = hinge_machine(Z, y, C / 2)
    np.testing.assert_allclose(
        whitening.axes @ path.w, semi.normal(machine.w) / semi.scale, atol=1e-6 * np.abs(path.w).max()
    )
    values = whitening.eigenvalues
    expected = machine.w @ machine.w + np.sqrt(values).sum() + C * hinge_loss(Z, y, machine.w, machine.b)
    assert path.objectives[0] == pytest.approx(expected)


def test_a_small_step_falls_by_the_squared_norm_of_the_gradient():
    """The gradient by finite differences of the problem in M, whose machine does not move to first order (Danskin)."""
    C, _, start, whitening = alternation("wine", n_iter=0)
    values, X, y = whitening.eigenvalues, whitening.coordinates(DATA["wine"][0]), DATA["wine"][1]
    M = np.diag(values**-0.5)

    def f(at):
        machine = hinge_machine(X @ np.linalg.cholesky(at), y, C / 2)
        return 2 * machine.objective + values @ np.diagonal(at)

    w = np.linalg.solve(M, start.w)
    gradient = np.diag(values) - np.outer(w, w)
    step_size, length = 1e-4, np.linalg.norm(M) / np.linalg.norm(gradient)
    path = alternation("wine", step="fixed", n_iter=1, step_size=step_size)[2]
    direction = step_size * length * gradient
    slope = (f(M + direction) - f(M - direction)) / 2
    assert slope == pytest.approx((gradient * direction).sum(), rel=1e-3)
    assert path.objectives[0] - path.objectives[1] == pytest.approx(slope, rel=1e-2)
