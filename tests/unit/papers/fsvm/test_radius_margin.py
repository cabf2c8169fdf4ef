"""R-SVM+ and R-SVM+_mu: lazily generated pairs against all pairs in cvxpy, and the gap."""

from itertools import combinations

import cvxpy as cp
import numpy as np
import pytest
from sklearn.datasets import load_iris, load_wine
from sklearn.svm import SVC

from mklearn.classifiers import FSVC
from mklearn.errors import SolverFailed
from mklearn.optimize.hinge_program import GAP
from mklearn.papers.fsvm import RMMSVC, RSVMPlus, RSVMPlusMu
from mklearn.papers.fsvm.radius_margin import r_svm_plus, r_svm_plus_mu, squared_diameter


def two_classes(load, first):
    X, y = load(return_X_y=True)
    kept = np.isin(y, (first, first + 1))
    return X[kept], np.where(y[kept] == first, 1.0, -1.0)


def unit(X):
    X = (X - X.mean(axis=0)) / np.ptp(X, axis=0)
    return X / np.sqrt((X**2).sum(axis=1).mean())


PAIR = two_classes(load_iris, 1)
IRIS, WINE = ((unit(X), y) for X, y in (PAIR, two_classes(load_wine, 0)))
SMALL = tuple(part[20:80:2] for part in IRIS)


def every_pair(X):
    return np.array([(X[i] - X[j]) ** 2 for i, j in combinations(range(len(X)), 2)])


@pytest.mark.parametrize(
    ("C", "lam"), [(8.0, 1.0), *(pytest.param(*each, marks=pytest.mark.full) for each in ((0.5, 0.03), (30.0, 20.0)))]
)
def test_r_svm_plus_equals_cvxpys(C, lam):
    X, y = SMALL
    found = r_svm_plus(X, y, C, lam)
    w, b, r = cp.Variable(X.shape[1]), cp.Variable(), cp.Variable()
    loss = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    program = cp.Problem(
        cp.Minimize(cp.sum_squares(w) / 2 + lam * r + C * loss),
        [cp.sum_squares(cp.multiply(np.sqrt(q), w)) <= r for q in every_pair(X)],
    )
    program.solve(solver="CLARABEL")
    assert found.objective == pytest.approx(program.value, rel=1e-7)
    assert found.status == "optimal"


@pytest.mark.parametrize(("C", "lam"), [(8.0, 1.0), (8.0, 7.0), (100.0, 0.5)])
def test_r_svm_plus_mu_equals_cvxpys(C, lam):
    X, y = SMALL
    found = r_svm_plus_mu(X, y, C, lam)
    d = X.shape[1]
    w, mu, b, r = cp.Variable(d), cp.Variable(d), cp.Variable(), cp.Variable()
    loss = cp.sum(cp.pos(1 - cp.multiply(y, X @ w + b)))
    norm = cp.sum([cp.quad_over_lin(w[k], mu[k]) for k in range(d)])
    program = cp.Problem(cp.Minimize(norm / 2 + lam * r + C * loss), [every_pair(X) @ mu <= r])
    program.solve(solver="CLARABEL")
    assert found.objective == pytest.approx(program.value, rel=1e-6)
    assert found.feature_weights.min() >= 0
    # mu is on its best scale: both terms of the product are equal
    norm = (found.w**2 / found.feature_weights).sum() / 2
    assert norm == pytest.approx(lam * squared_diameter(X, found.feature_weights), rel=1e-6)


@pytest.mark.parametrize("solver", [r_svm_plus, r_svm_plus_mu])
@pytest.mark.parametrize("C", [0.05, 1.0, 512.0])
@pytest.mark.parametrize("lam", [0.03, 30.0])
def test_relative_gap(solver, C, lam):
    for X, y in (IRIS, WINE):
        found = solver(X, y, C, lam)
        assert -1e-9 <= found.gap <= GAP
        assert found.status == "optimal"


def test_pairs_are_generated_also_where_w_is_zero():
    """The farthest pair is equal in the second feature, which has no weight before another pair is there."""
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 2)), np.repeat([1.0, -1.0], 15)
    X[:, 1] += y
    X[0], X[-1] = (9.0, 1.0), (-9.0, 1.0)
    found = r_svm_plus_mu(X, y, 0.02, 1.0)
    assert np.abs(found.w).max() < 1e-6
    assert found.gap <= GAP
    assert found.n_pairs > 1


def test_squared_diameter_over_several_blocks(monkeypatch):
    monkeypatch.setattr("mklearn.papers.fsvm.radius_margin._BLOCK", 7)
    X, weights = WINE[0], np.linspace(0, 2, WINE[0].shape[1])
    assert squared_diameter(X, weights) == pytest.approx((every_pair(X) @ weights).max())


def test_failures_of_clarabel(monkeypatch):
    """A solution that is not finite is tried again on another scale; if all are, the error says so."""
    import mklearn.papers.fsvm.radius_margin as module

    X, y = IRIS
    solve, calls = module._solve_mu, []

    def fails_first(*arguments):
        calls.append(arguments[-2:])
        w, *others = solve(*arguments)
        return (w * np.nan if len(calls) == 1 else w), *others

    monkeypatch.setattr(module, "_solve_mu", fails_first)
    assert r_svm_plus_mu(X, y, 8.0, 1.0).gap <= GAP
    assert calls[0] == (1e-9, 8.0)
    assert calls[1] == (1e-11, 8.0)
    monkeypatch.setattr(module, "_solve_mu", lambda *arguments: (solve(*arguments)[0] * np.nan, *solve(*arguments)[1:]))
    with pytest.raises(SolverFailed, match="diverged"):
        r_svm_plus_mu(X, y, 8.0, 1.0)


# --- machines of pairs of classes


@pytest.mark.parametrize("C", [0.3, 8.0, 512.0])
def test_rmm_without_a_bound_is_the_svm(C):
    X, y = PAIR
    infinite, named, svm = RMMSVC(C, B=np.inf), RMMSVC(C, B="inf"), FSVC(C, power=0.0)
    outputs = [machine.fit(X, y).outputs(X) for machine in (infinite, named, svm)]
    np.testing.assert_array_equal(outputs[0], outputs[1])
    np.testing.assert_allclose(outputs[0], outputs[2], atol=1e-9)
    reference = SVC(kernel="linear", C=C, tol=1e-6).fit(unit(X), y).decision_function(unit(X))
    np.testing.assert_allclose(infinite.decision_function(X), reference, atol=1e-2)


@pytest.mark.parametrize("B", [1.01, 1.5, 2.5])
def test_rmm_bounds_the_outputs_of_the_training_samples(B):
    X, y = load_wine(return_X_y=True)
    found = RMMSVC(8.0, B=B).fit(X, y)
    free = RMMSVC(8.0, B="inf").fit(X, y)
    for column, (first, second) in enumerate(found.pairs_):
        rows = np.isin(y, (first, second))
        assert np.abs(found.outputs(X[rows])[:, column]).max() == pytest.approx(B, rel=1e-4)
        assert np.abs(free.outputs(X[rows])[:, column]).max() > B
    assert (found.objectives_ > free.objectives_).all()


def test_r_svm_plus_shrinks_the_diameter():
    X, y = PAIR
    diameters = []
    for lam in (0.01, 1.0, 100.0):
        w = RSVMPlus(8.0, lam=lam).fit(X, y).coef_[0] * np.ptp(X, axis=0)
        Z = unit(X) * w
        diameters.append(((Z[:, None] - Z[None]) ** 2).sum(axis=-1).max())
    assert diameters[0] > diameters[1] > diameters[2]


def test_r_svm_plus_mu_uses_few_features():
    X, y = load_wine(return_X_y=True)
    found = RSVMPlusMu(0.5).fit(X, y)
    shares = np.abs(found.coef_ * np.ptp(X, axis=0))
    shares /= shares.max(axis=1, keepdims=True)
    assert ((shares < 1e-4).mean(axis=1) > 0.2).all()
    assert ((np.abs(RSVMPlus(0.5).fit(X, y).coef_ * np.ptp(X, axis=0)) > 1e-4).all(axis=1)).all()
