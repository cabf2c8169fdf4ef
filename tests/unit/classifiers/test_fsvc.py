"""F-SVM as a classifier: scikit-learn, attributes of the joint problem, invariance, many classes, messages."""

from itertools import combinations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_iris, load_wine
from sklearn.decomposition import PCA
from sklearn.svm import SVC

from mklearn.classifiers import FSVC
from mklearn.classifiers.one_vs_one import scores_by_votes
from mklearn.optimize.fsvm import zero_threshold

BREAST = load_breast_cancer(return_X_y=True)
WINE = load_wine(return_X_y=True)
IRIS = load_iris(return_X_y=True)


def halves(data):
    X, y = data
    return X[::2], y[::2], X[1::2], y[1::2]


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_exact_equals_scikit_learns_svc_on_whitened_features(C):
    X, y, X_test, _ = halves(BREAST)
    # PCA(whiten) has variance n / (n - 1) in each of r = 30 directions; here the mean squared norm is 1.
    factor = np.sqrt(len(X) / (len(X) - 1) / 30)
    whitened = PCA(whiten=True, svd_solver="full").fit(X)
    reference = SVC(kernel="linear", C=C, tol=1e-6).fit(whitened.transform(X) * factor, y)
    outputs = FSVC(C).fit(X, y).decision_function(X_test)
    expected = reference.decision_function(whitened.transform(X_test) * factor)
    np.testing.assert_allclose(outputs, expected, rtol=0, atol=2e-3 * np.abs(expected).max())


@pytest.mark.parametrize("scaling", ["minmax", "standard"])
def test_power_zero_is_scikit_learns_svc(scaling):
    X, y, X_test, _ = halves(BREAST)
    shift, spread = (X.min(axis=0), np.ptp(X, axis=0)) if scaling == "minmax" else (X.mean(axis=0), X.std(axis=0))
    Z, Z_test = (X - shift) / spread, (X_test - shift) / spread
    level = np.sqrt(((Z - Z.mean(axis=0)) ** 2).sum(axis=1).mean())
    reference = SVC(kernel="linear", C=5.0, tol=1e-6).fit(Z / level, y)
    found = FSVC(5.0, power=0.0, feature_scaling=scaling).fit(X, y)
    expected = reference.decision_function(Z_test / level)
    np.testing.assert_allclose(found.decision_function(X_test), expected, rtol=0, atol=1e-3 * np.abs(expected).max())


def test_one_against_one():
    X, y, X_test, y_test = halves(WINE)
    found = FSVC(3.0).fit(X, y)
    np.testing.assert_array_equal(found.pairs_, list(combinations(range(3), 2)))
    outputs = found.outputs(X_test)
    for column, (first, second) in enumerate(found.pairs_):
        rows = np.isin(y, (first, second))
        pair = FSVC(3.0).fit(X[rows], y[rows])
        np.testing.assert_allclose(pair.decision_function(X_test), -outputs[:, column], atol=1e-4)
        assert pair.optimum_[0] == pytest.approx(found.optimum_[column], rel=1e-6)
    votes = np.array([np.bincount(np.where(row > 0, *found.pairs_.T), minlength=3) for row in outputs])
    clear = votes.max(axis=1) == 2
    np.testing.assert_array_equal(found.predict(X_test)[clear], votes.argmax(axis=1)[clear])
    assert scores_by_votes(np.zeros((1, 3)), 3).argmax() == 2  # an output of 0 is a vote for the second class
    assert found.score(X_test, y_test) > 0.93


@pytest.mark.parametrize("data", [WINE, BREAST], ids=["wine", "breast"])
def test_exact_is_affinely_invariant(data):
    X, y, X_test, _ = halves(data)
    X, X_test = ((Z - X.mean(axis=0)) / X.std(axis=0) for Z in (X, X_test))
    rng = np.random.default_rng(0)
    A, shift = rng.normal(size=(X.shape[1], X.shape[1])) + 4 * np.eye(X.shape[1]), rng.normal(size=X.shape[1])
    one, two = (FSVC(10.0).fit(f(X), y).outputs(f(X_test)) for f in (lambda Z: Z, lambda Z: Z @ A + shift))
    np.testing.assert_allclose(
        one, two, rtol=0, atol=1e-4 * np.abs(one).max()
    )  # the solver's; 2e-5 to 3e-5 by processor


def test_attributes_of_the_joint_problem():
    X, y = WINE
    found = FSVC(4.0).fit(X, y)
    assert len(found.diagnostics_) == 3
    for number, entry in enumerate(found.diagnostics_):
        assert (entry["C"], entry["rises"], entry["zero"], entry["simplex"]) == (4.0, 0, False, False)
        assert entry["equivalent_C"] == found.equivalent_C_[number] > entry["C0"] == found.C0_[number]
        assert np.isnan([entry["start"], entry["end"]]).all()
    small = FSVC(1e-3).fit(X, y)
    np.testing.assert_allclose(small.equivalent_C_, small.C0_, rtol=1e-3)
    np.testing.assert_allclose(small.C0_, found.C0_)
    fit = found._joint_fits[0]
    np.testing.assert_allclose(fit.Z.T @ fit.Z, np.eye(13), atol=1e-9)
    assert found.C0_[0] == zero_threshold(fit.Z, fit.y)
    other = FSVC(2.0, power=0.25).fit(X, y)
    assert np.isnan([other.optimum_, other.C0_]).all()
    assert other.diagnostics_ == found.history_ == []


@pytest.mark.parametrize("step", ["decaying", "armijo"])
def test_alternating_solves_the_same_problem(step):
    X, y = WINE
    found = FSVC(4.0, solver="alternating", step=step, n_iter=10).fit(X, y)
    np.testing.assert_allclose(found.optimum_, FSVC(4.0).fit(X, y).optimum_, rtol=1e-9)
    for history, entry, optimum in zip(found.objective_history_, found.diagnostics_, found.optimum_, strict=True):
        assert history.shape == (11,)
        np.testing.assert_allclose((entry["start"], entry["end"]), history[[0, -1]] / optimum - 1)
        assert history.min() >= optimum * (1 - 1e-9)
        assert history[-1] < history[0]
        assert step != "armijo" or not entry["rises"]
    assert [entry["objective"] for entry in found.history_] == pytest.approx(sum(found.objective_history_))
    assert np.ptp([entry["optimum"] for entry in found.history_] + [found.optimum_.sum()]) < 1e-9
    np.testing.assert_array_equal(found.objectives_, [history[-1] for history in found.objective_history_])


def test_constant_columns_are_ignored_and_named():
    X, y = WINE
    padded = np.column_stack([np.full(len(X), 3.0), X, np.zeros(len(X))])
    found = FSVC().fit(padded, y)
    np.testing.assert_array_equal(found.constant_features_, [0, 14])
    assert "constant over the training samples, so ignored: 2 of 15 columns (0, 14)" in found.message_
    assert found.status_ == "ok"
    np.testing.assert_allclose(found.coef_[:, 1:-1], FSVC().fit(X, y).coef_, rtol=1e-4, atol=1e-8)
    assert not found.coef_[:, [0, 14]].any()


def test_classes_of_one_sample_are_named():
    X, y = IRIS
    found = FSVC().fit(np.vstack([X, [[9.0, 9.0, 9.0, 9.0]]]), np.append(y, 7))
    assert "only one training sample of class 7" in found.message_
    assert found.predict([[9.0, 9.0, 9.0, 9.0]]) == 7
    assert found.status_ == "ok"


def test_with_more_features_than_samples_the_direction_does_not_depend_on_C():
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(20, 40)), np.repeat([0, 1], 10)
    one, two = FSVC(1.0).fit(X, y), FSVC(1e3).fit(X, y)
    np.testing.assert_allclose(one.coef_, two.coef_, atol=1e-5 * np.abs(one.coef_).max())
    assert "rank n - 1 in 1 of 1 pairs of classes" in one.message_
    np.testing.assert_allclose(two.decision_function(X), np.where(y == 1, 1, -1), atol=1e-5)
    assert not FSVC(power=0.25).fit(X, y).message_


def test_collinear_columns_give_the_solution_of_smallest_norm():
    X, y = WINE
    one = FSVC(feature_scaling="none").fit(X, y)
    two = FSVC(feature_scaling="none").fit(np.column_stack([X, X]), y)
    np.testing.assert_allclose(two.coef_, np.hstack([one.coef_, one.coef_]) / 2, rtol=1e-4, atol=1e-8)


def test_status_follows_the_gap(monkeypatch):
    monkeypatch.setattr("mklearn.optimize.hinge_program._ITERATIONS", 3)
    found = FSVC().fit(*IRIS)
    assert found.status_ == "inaccurate"
    assert "relative duality gap is" in found.message_
