"""The interior-point solver of SVM and RMM: against scikit-learn, cvxpy and the optimality conditions."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer

from mklearn.optimize.hinge_program import GAP, Multipliers, hinge_loss, hinge_machine, lower_bound


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


@pytest.mark.parametrize("bound", [1.5, np.inf])
def test_optimality_conditions(problem, bound):
    """Stationarity, complementarity, and signs of the multipliers."""
    X, y = problem
    C = 8.0
    found = hinge_machine(X, y, C, bound)
    m, z = y * (X @ found.w + found.b), found.multipliers
    force = y * (z.hinge - z.upper + z.lower)
    np.testing.assert_allclose(X.T @ force, found.w, rtol=0, atol=1e-6 * np.abs(found.w).max())
    assert abs(force.sum()) < 1e-6 * C
    assert z.hinge.min() >= 0
    assert z.hinge.max() <= C
    assert min(z.upper.min(), z.lower.min()) >= 0
    assert np.abs(z.hinge * np.minimum(m - 1, 0)).sum() == pytest.approx(
        C * hinge_loss(X, y, found.w, found.b), rel=1e-6
    )
    assert (z.hinge * np.maximum(m - 1, 0)).max() < 1e-6 * C
    if np.isfinite(bound):
        assert z.upper.max() > 0.01 * C  # the bound is active
        assert (z.upper * (bound - m)).max() < 1e-6 * C
        assert (z.lower * (bound + m)).max() < 1e-6 * C
    else:
        assert not z.upper.any()
        assert not z.lower.any()


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
