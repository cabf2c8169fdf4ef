"""Localized MKL: gates, the gated kernel, its gradient through the SVM, both solvers, invariances and errors."""

import numpy as np
import pytest

from mklearn.optimize.gating import gated_cross_kernel, gated_kernel, gates
from mklearn.optimize.localized_mkl import GatedSVM, localized_mkl

GATES = ["softmax", "sigmoid"]


def problem(n=60, P=5, d=4, seed=0):
    """Linear kernels with rows of norm 1, each of which knows the classes in one half of the gating plane."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) % 2 == 0, 1.0, -1.0)
    G = np.column_stack([np.ones(n), rng.normal(size=(n, d))])
    kernels = []
    for m in range(P):
        X = rng.normal(size=(n, 6))
        X[:, m % 6] += 1.2 * y * (G[:, 1 + m % d] * (-1) ** m > 0)
        X /= np.linalg.norm(X, axis=1, keepdims=True)
        kernels.append(X @ X.T)
    return np.array(kernels), y, G


def start(P, d, scale=0.01, seed=0):
    return np.random.default_rng(seed).uniform(-scale, scale, (P, d))


def gated(kernels, eta):
    return np.einsum("im,mij,jm->ij", eta, kernels, eta)


# --- gates and kernel


@pytest.mark.parametrize("gate", GATES)
def test_gates_by_their_definition_and_far_out(gate):
    rng = np.random.default_rng(0)
    G, V = rng.normal(size=(7, 3)), rng.normal(size=(4, 3))
    eta = gates(G, V, gate, 1.5)
    for i in range(7):
        a = [float(V[m] @ G[i]) for m in range(4)]
        by_hand = [np.exp(x) / sum(map(np.exp, a)) if gate == "softmax" else 1 / (1 + np.exp(-x)) for x in a]
        np.testing.assert_allclose(eta[i], 1.5 * np.array(by_hand), rtol=1e-12)
    far = gates(G, 1e4 * V, gate)
    assert np.isfinite(far).all()
    assert far.min() >= 0
    assert far.max() <= 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_gated_kernels_equal_their_definition(dtype):
    kernels, _, _ = problem(P=7)
    kernels = kernels.astype(dtype)
    eta = np.random.default_rng(1).random((60, 7))
    found = gated_kernel(kernels, eta)
    np.testing.assert_allclose(found, gated(kernels.astype(np.float64), eta), atol=1e-13)
    np.testing.assert_array_equal(found, found.T)
    cross = gated_cross_kernel(np.ascontiguousarray(kernels[:, 40:, :40]), eta[40:], eta[:40])
    np.testing.assert_allclose(cross, found[40:, :40], atol=1e-13)


# --- gradient


def central_differences(smooth, V, h=1e-5):
    found = np.zeros_like(V)
    for place in np.ndindex(*V.shape):
        step = np.zeros_like(V)
        step[place] = h
        found[place] = (smooth.evaluate(V + step).value - smooth.evaluate(V - step).value) / (2 * h)
    return found


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("P", [5, 16])
@pytest.mark.parametrize(
    ("C", "scale", "gate_scale"), [(10.0, 0.01, "published"), (0.1, 0.5, "published"), (2.0, 0.5, "average")]
)
def test_gradient_equals_central_differences_through_the_svm(gate, P, C, scale, gate_scale):
    kernels, y, G = problem(P=P)
    kernels = kernels + 1e-9 * np.eye(len(y))  # alpha is unique
    smooth = GatedSVM(kernels, y, G, C, gate=gate, gate_scale=gate_scale, ridge=0.02, svm_tol=1e-10)
    V = start(P, G.shape[1], scale)
    gradient = smooth.gradient(smooth.evaluate(V))
    expected = central_differences(smooth, V)
    assert np.linalg.norm(gradient - expected) < 1e-5 * np.linalg.norm(expected)


# --- solvers


@pytest.mark.parametrize("gate", GATES)
@pytest.mark.parametrize("solver", ["line_search", "lbfgs"])
@pytest.mark.parametrize("P", [5, 16])
def test_accepted_steps_do_not_raise_the_objective(gate, solver, P):
    """The last one recomputed with an accurate SVM: the tolerance of the solver's own may hide 1e-5 of J."""
    kernels, y, G = problem(P=P, seed=2)
    rough = {"line_search": 1e-3, "lbfgs": 1e-5}[solver]
    options = {"gate": gate, "ridge": 1e-3 if solver == "lbfgs" else 0.0}
    task = GatedSVM(kernels, y, G, 3.0, svm_tol=rough, **options)
    found = localized_mkl(task, start(P, G.shape[1]), solver=solver, tol=1e-4)
    assert np.diff(found.history).max() <= 1e-5 * found.history.max()
    assert found.point.value < 0.95 * found.history[0]
    accurate = GatedSVM(kernels, y, G, 3.0, svm_tol=1e-8, **options)
    assert accurate.evaluate(found.point.V).value == pytest.approx(found.point.value, rel=1e-5)
    assert len(found.history) > 1


@pytest.mark.full
def test_line_search_is_the_published_one():
    """Doubling while J falls, from the same point along the gradient of norm 1; one step by hand."""
    kernels, y, G = problem()
    task = GatedSVM(kernels, y, G, 1.0)
    V0 = start(5, G.shape[1])
    first = localized_mkl(task, V0, max_iter=1)
    at = task.evaluate(V0)
    direction = task.gradient(at) / np.linalg.norm(task.gradient(at))
    values = [task.evaluate(V0 - 2.0**k * direction).value for k in range(12)]
    falling = [at.value, *values]
    k = next(k for k in range(12) if falling[k + 1] >= falling[k])
    assert k >= 2
    np.testing.assert_allclose(first.point.V, V0 - 2.0 ** (k - 1) * direction)
    assert first.status == "max_iter"
    # where the first step is too long it is halved: start at the minimum of a line and look along the same gradient
    end = localized_mkl(task, V0, tol=1e-12, max_iter=2000)  # 200 to 350 by processor
    assert end.status == "converged"
    at = task.evaluate(end.point.V)
    direction = task.gradient(at) / np.linalg.norm(task.gradient(at))
    assert min(task.evaluate(end.point.V - 0.5**k * direction).value for k in range(10)) >= at.value * (1 - 1e-12)


@pytest.mark.parametrize("gate", GATES)
def test_lbfgs_ends_where_the_gradient_vanishes(gate):
    kernels, y, G = problem(n=50)
    kernels = kernels + 0.5 * np.eye(50)  # alpha is unique, so that the objective is smooth
    task = GatedSVM(kernels, y, G, 1.0, gate=gate, gate_scale="average", ridge=0.2, svm_tol=1e-9)
    V0 = start(5, G.shape[1])
    found = localized_mkl(task, V0, solver="lbfgs", tol=1e-12, max_iter=200)
    at = task.evaluate(found.point.V)
    assert np.linalg.norm(task.gradient(at)) < 1e-3 * np.linalg.norm(task.gradient(task.evaluate(V0)))
    rng = np.random.default_rng(0)
    for scale in (1e-2, 1e-1):
        assert task.evaluate(found.point.V + scale * rng.normal(size=V0.shape)).value > at.value
    line = localized_mkl(task, V0, tol=1e-5, max_iter=50)
    assert found.point.value <= line.point.value * (1 + 1e-6)


@pytest.mark.parametrize("solver", ["line_search", "lbfgs"])
@pytest.mark.parametrize("ridge", [0.0, 0.05])
def test_more_gating_features_than_samples_are_rotated_exactly(solver, ridge):
    """Features that are 0 change nothing but take the rotated path; what V0 has in them stays."""
    kernels, y, G = problem(n=40)
    wide = np.hstack([G, np.zeros((40, 60))])
    V0 = start(5, wide.shape[1])
    if ridge:
        V0[:, G.shape[1] :] = 0
    options = {"gate": "sigmoid", "ridge": ridge, "svm_tol": 1e-8}
    narrow = localized_mkl(GatedSVM(kernels, y, G, 1.0, **options), V0[:, : G.shape[1]], solver=solver, max_iter=3)
    task = GatedSVM(kernels, y, wide, 1.0, **options)
    rotated = localized_mkl(task, V0, solver=solver, max_iter=3)
    np.testing.assert_allclose(rotated.history, narrow.history, rtol=1e-7)
    np.testing.assert_allclose(rotated.point.V[:, : G.shape[1]], narrow.point.V, atol=1e-5)
    np.testing.assert_allclose(rotated.point.V[:, G.shape[1] :], V0[:, G.shape[1] :], atol=1e-5)
    np.testing.assert_array_equal(task.features, wide)
    np.testing.assert_allclose(task.evaluate(rotated.point.V).value, rotated.point.value, rtol=1e-7)
