"""Kernel machines (SVM, ridge, MKL): scikit-learn by hand, optimality, scales of C, learned weights, an embedding."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_digits, load_wine
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression, Ridge, RidgeClassifier
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC, LinearSVC

from mklearn.base.folds import inner_folds
from mklearn.classifiers import LMKLSVC, MKLSVC, EasyMKL, EmbeddedLinearSVC, KernelSVC, StackingSVC
from mklearn.classifiers.kernel_ridge import KernelRidgeClassifier
from mklearn.errors import DataError, NotApplicable
from mklearn.kernels.transform import StackTransform
from mklearn.optimize.calibration import fit_inverse_temperature
from mklearn.optimize.easy_mkl import easy_mkl_weights
from mklearn.subspace import KernelFDA

SPECS = [
    {"kind": "gaussian", "bandwidth": 0.3, "normalise": "centred_trace"},
    {"kind": "gaussian", "bandwidth": 2.0, "normalise": "centred_trace"},
    {"kind": "linear", "normalise": "centred_trace"},
]


def stacks(X, y, n, end):
    """Return the kernels and labels of the first samples, and of others with these."""
    transform = StackTransform(SPECS).fit(X[:n])
    K, K_test = transform.stack_train_.as_last_axis(), transform.transform(X[n:end]).as_last_axis()
    return np.array(K), y[:n], np.array(K_test), y[n:end]


@pytest.fixture(scope="module")
def digits():
    return stacks(*load_digits(return_X_y=True), 300, 900)


def variance(kernel):
    centring = np.eye(len(kernel)) - 1 / len(kernel)
    return np.trace(centring @ kernel @ centring) / len(kernel)


@pytest.mark.parametrize("decide", ["one_vs_rest", "one_vs_one"])
@pytest.mark.parametrize(("choice", "weights"), [(None, [1, 1, 1]), (1, [0, 1, 0]), ([3, 1, 0], [3, 1, 0])])
def test_equals_scikit_learn_on_the_combined_kernel_of_unit_variance(digits, choice, weights, decide):
    K, y, K_test, _ = digits
    weights = np.array(weights) / np.sum(weights)
    scale = variance(K @ weights)
    by_hand = SVC(C=2.0, kernel="precomputed", break_ties=True)
    by_hand = (OneVsRestClassifier(by_hand) if decide == "one_vs_rest" else by_hand).fit(K @ weights / scale, y)
    model = KernelSVC(kernel_weights=choice, C=2.0, decide=decide).fit(K, y)
    difference = model.decision_function(K_test) - by_hand.decision_function(K_test @ weights / scale)
    assert np.mean(abs(difference) < 2e-3) > 0.99  # the solver's tolerance, which may flip single votes
    assert np.mean(model.predict(K_test) == by_hand.predict(K_test @ weights / scale)) > 0.99
    np.testing.assert_allclose(model.kernel_weights_, weights)
    assert model.dual_coef_.shape == (10 if decide == "one_vs_rest" else 45, len(model.support_))


def test_solution_satisfies_the_optimality_conditions():
    """Support vectors below the bound lie on the margin, those at it inside, and all other samples outside."""
    X, y = load_breast_cancer(return_X_y=True)
    X = StandardScaler().fit_transform(X[::2])
    K, y = X @ X.T, y[::2]
    model = KernelSVC(C=0.5).fit(K, y)
    dual = np.zeros(len(y))
    dual[model.support_] = model.dual_coef_[0]
    margin = (2 * y - 1) * model.decision_function(K)
    bound = 0.5 / variance(K)
    at_bound, free, none = abs(dual) > bound * (1 - 1e-9), (dual != 0) & (abs(dual) < bound * (1 - 1e-9)), dual == 0
    assert min(at_bound.sum(), free.sum(), none.sum()) > 3
    assert abs(dual).max() <= bound * (1 + 1e-9)
    np.testing.assert_allclose(margin[free], 1, atol=2e-3)
    assert margin[at_bound].max() < 1 + 2e-3
    assert margin[none].min() > 1 - 2e-3
    assert (dual * (2 * y - 1) >= 0).all()
    assert dual.sum() == pytest.approx(0, abs=1e-9)


def test_raw_penalty(digits):
    K, y, K_test = 4 * digits[0], digits[1], 4 * digits[2]
    scaled = KernelSVC(C=2.0).fit(K, y)
    raw = KernelSVC(C=2.0 / variance(K.mean(axis=2)), C_scale="none").fit(K, y)
    difference = raw.decision_function(K_test) - scaled.decision_function(K_test)
    assert np.mean(abs(difference) < 2e-3) > 0.99  # the solver's tolerance, which may flip single votes
    assert abs(KernelSVC(C=1e-3, C_scale="none").fit(K, y).dual_coef_).max() == pytest.approx(1e-3)


@pytest.mark.parametrize("model", [KernelSVC(C=2.0), MKLSVC(C=1.0), LMKLSVC(C=1.0)], ids=str)
def test_more_classes_have_a_machine_each(digits, model):
    K, y, K_test, _ = digits
    rows = np.flatnonzero(y < 3)
    K, y, K_test = K[np.ix_(rows, rows)], y[rows], K_test[:, rows]
    values = model.fit(K, y).decision_function(K_test)
    np.testing.assert_array_equal(model.predict(K_test), values.argmax(axis=1))
    weights = getattr(model, "kernel_weights_by_class_", None)
    if isinstance(model, LMKLSVC):
        assert model.localized_weights(K_test).shape == (3, len(values), 3)
    elif weights is not None:
        np.testing.assert_allclose(model.kernel_weights_, weights.mean(axis=0))
    for code in range(3):
        alone = clone(model).fit(K, y == code)
        np.testing.assert_allclose(alone.decision_function(K_test), values[:, code], atol=1e-9)
        assert weights is None or alone.kernel_weights_ == pytest.approx(weights[code])


# --- machines on weights or an embedding of kernels


@pytest.mark.parametrize("C_scale", ["variance", "none"])
def test_easy_mkl_learns_weights_then_fits_the_machine(digits, C_scale):
    K, y, K_test, _ = digits
    options = {"C": 3.0, "C_scale": C_scale}
    kernels = np.ascontiguousarray(np.moveaxis(K, -1, 0))
    signs = [np.where(y == code, 1.0, -1.0) for code in range(10)]
    weights = np.mean([easy_mkl_weights(kernels, each, trade_off=0.3).weights for each in signs], axis=0)
    assert np.ptp(weights) > 0.01
    model = EasyMKL(trade_off=0.3, **options).fit(K, y)
    np.testing.assert_allclose(model.kernel_weights_, weights)
    alone = KernelSVC(kernel_weights=weights, **options).fit(K, y)
    np.testing.assert_array_equal(model.predict(K_test), alone.predict(K_test))


@pytest.mark.parametrize("weights", [None, 1, [3.0, 1.0, 0.0]])
def test_an_embedded_machine_equals_its_steps_computed_separately(digits, weights):
    K, y, K_test, _ = digits
    model = EmbeddedLinearSVC(kernel_weights=weights, ridge=1e-2, C=0.5).fit(K, y)
    embedder = KernelFDA(kernel_weights=weights, ridge=1e-2).fit(K, y)
    centre = embedder.embedding_.mean(axis=0)
    Z, Z_test = embedder.embedding_ - centre, embedder.transform(K_test) - centre
    svc = LinearSVC(C=0.5, random_state=0).fit(Z / np.linalg.norm(Z, axis=1)[:, None], y)
    Z_test /= np.linalg.norm(Z_test, axis=1)[:, None]
    np.testing.assert_allclose(model.decision_function(K_test), svc.decision_function(Z_test), atol=1e-6)
    np.testing.assert_array_equal(model.predict(K_test), svc.predict(Z_test))
    np.testing.assert_allclose(model.kernel_weights_, embedder.kernel_weights_)


# --- MKL SVM


@pytest.fixture(scope="module")
def cancer():
    return stacks(*load_breast_cancer(return_X_y=True), 250, None)


def test_two_classes(cancer):
    K, y, K_test, y_test = cancer
    names = np.array(["malignant", "benign"])[y]
    model = MKLSVC(C=1.0, tol=1e-4, svm_tol=1e-5).fit(K, names)
    values = model.decision_function(K_test)
    assert values.shape == y_test.shape
    np.testing.assert_array_equal(model.predict(K_test), np.where(values > 0, "malignant", "benign"))
    assert model.score(K_test, np.array(["malignant", "benign"])[y_test]) > 0.93
    dual = np.zeros(len(y))
    dual[model.support_] = model.dual_coef_[0]
    assert model.certificate_["gap"] <= 1e-4
    gated = np.abs(dual).sum() - 0.5 * dual @ (K @ model.theta_[0]) @ dual
    assert model.objective_ == pytest.approx(gated)
    # a machine on the kernel of these weights, by scikit-learn
    alone = KernelSVC(C=1.0, C_scale="none", kernel_weights=model.kernel_weights_).fit(K, names)
    np.testing.assert_allclose(values, alone.decision_function(K_test), atol=5e-3)


def test_large_norm_is_the_machine_on_the_uniform_average(cancer):
    K, y, K_test, _ = cancer
    model = MKLSVC(C=2.0, p=np.inf, svm_tol=1e-8).fit(K, y)
    uniform = KernelSVC(C=2.0, C_scale="none").fit(K, y)
    np.testing.assert_allclose(model.decision_function(K_test), uniform.decision_function(K_test), atol=5e-3)
    np.testing.assert_allclose(model.kernel_weights_, 1 / 3)


def test_small_penalty_returns_equal_weights_and_its_gap(cancer):
    """The box is so small that all weights are nearly as good: the gap is all that one may read."""
    K, y, *_ = cancer
    model = MKLSVC(C=1e-5, tol=1e-3).fit(K, y)
    np.testing.assert_allclose(model.kernel_weights_, 1 / 3)
    assert 0 < model.certificate_["gap"] <= 1e-3
    assert (model.n_iter_, model.status_) == (1, "optimal")
    assert MKLSVC(C=1.0, max_iter=0).fit(K, y).status_ == "max_iter"


# --- kernel ridge classification


@pytest.fixture(scope="module")
def wine():
    X, y = load_wine(return_X_y=True)
    return StandardScaler().fit_transform(X) + 1.0, y


def test_linear_kernel_is_ridge_regression_on_indicators(wine):
    X, y = wine
    train, test = np.arange(0, 178, 2), np.arange(1, 178, 2)
    model = KernelRidgeClassifier(alpha=0.3).fit(X[train] @ X[train].T, y[train])
    centred = X[train] - X[train].mean(axis=0)
    assert model.ridge_amount_ == pytest.approx(0.3 * np.trace(centred @ centred.T) / len(train))
    targets = np.eye(3)[y[train]]
    dual = KernelRidge(alpha=model.ridge_amount_).fit(centred, targets - targets.mean(axis=0))
    np.testing.assert_allclose(model.coefficients_, dual.dual_coef_, atol=1e-8)
    primal = Ridge(alpha=model.ridge_amount_).fit(X[train], targets)
    scores = model.decision_function(X[test] @ X[train].T)
    np.testing.assert_allclose(scores, primal.predict(X[test]), atol=1e-9)
    np.testing.assert_allclose(scores.sum(axis=1), 1.0)
    # +-1 targets, as scikit-learn's classifier has them, give the same classes.
    reference = RidgeClassifier(alpha=model.ridge_amount_).fit(X[train], y[train])
    np.testing.assert_array_equal(model.predict(X[test] @ X[train].T), reference.predict(X[test]))


@pytest.mark.parametrize("parameters", [{}, {"kernel_weights": [0.3, 0.0, 0.7], "alpha": 1e-2}])
def test_all_samples_as_landmarks_are_the_dense_classifier(parameters):
    X, y = load_digits(return_X_y=True)
    kernels = [{"kind": "gaussian", "bandwidth": 20.0}, {"kind": "gaussian", "centre": False}, "linear"]
    dense = KernelRidgeClassifier(kernels=kernels, **parameters).fit(X[:200], y[:200])
    found = KernelRidgeClassifier(kernels=kernels, landmarks=200, **parameters).fit(X[:200], y[:200])
    assert found.ridge_amount_ == pytest.approx(dense.ridge_amount_, rel=1e-10)
    np.testing.assert_allclose(found.class_scores(X[200:300]), dense.class_scores(X[200:300]), atol=1e-8)
    np.testing.assert_allclose(found.class_scores(X[:200]).sum(axis=1), 1.0)


# --- stacking

N = 90


@pytest.mark.parametrize("n_classes", [2, 3])
@pytest.mark.parametrize("groups", [None, np.arange(N) // 3 % 20], ids=["samples", "groups"])
def test_equals_its_steps_by_hand(n_classes: int, groups: np.ndarray | None) -> None:
    X, y = load_digits(n_class=n_classes, return_X_y=True)
    X = X + np.random.default_rng(0).normal(scale=9, size=X.shape)
    folds = inner_folds(y[:N], 5, 0, groups)
    assert groups is None or not any(np.isin(groups[test], groups[train]).any() for train, test in folds)
    features, new, views = [], [], {"left": X[:, :20], "right": X[:, 20:]}
    for view in views.values():
        K = view @ view[:N].T

        def scores(train: np.ndarray, rows: np.ndarray, K: np.ndarray = K) -> np.ndarray:
            machine = KernelSVC(C=2.0).fit(K[np.ix_(train, train)], y[train])
            decision = machine.decision_function(K[np.ix_(rows, train)])
            return np.stack([-decision, decision], axis=1) if n_classes == 2 else decision

        left_out, outputs = np.empty((N, n_classes)), scores(np.arange(N), np.arange(N, len(K)))
        for train, test in folds:
            left_out[test] = scores(train, test)
        beta = fit_inverse_temperature(left_out, y[:N])
        clipped = np.minimum(1, np.ptp(left_out, axis=1).max() / np.ptp(outputs, axis=1, keepdims=True))
        features.append(softmax(beta * left_out, axis=1))
        new.append(softmax(beta * outputs * clipped, axis=1))
    last = LogisticRegression(C=10, tol=1e-8, max_iter=10_000).fit(np.hstack(features), y[:N])

    linear = {"kind": "linear", "centre": False, "normalise": "none"}
    model = StackingSVC(kernels={name: linear | {"view": name} for name in views}, C=2.0)
    model.fit({name: view[:N] for name, view in views.items()}, y[:N], groups=groups)
    found = model.predict_proba({name: view[N:] for name, view in views.items()})
    np.testing.assert_allclose(found, last.predict_proba(np.hstack(new)), atol=1e-4)
    sizes = np.abs(last.coef_).sum(axis=0).reshape(2, -1).sum(axis=1)
    np.testing.assert_allclose(model.kernel_weights_, sizes / sizes.sum(), atol=1e-3)


def test_groups_and_classes_that_can_not_be_left_out() -> None:
    X, y = load_digits(n_class=2, return_X_y=True)
    model = StackingSVC(kernels="linear")
    with pytest.raises(NotApplicable, match="two training groups of each class"):
        model.fit(X[:20], y[:20], groups=y[:20])
    with pytest.raises(DataError, match="groups have shape"):
        model.fit(X[:20], y[:20], groups=y[:19])
    with pytest.raises(NotApplicable, match="class True has one"):
        model.fit(X[:20], np.arange(20) < 1)
