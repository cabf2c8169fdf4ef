"""The kernel SVM: against scikit-learn's by hand, its margin conditions, invariances, digits and errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits
from sklearn.multiclass import OneVsRestClassifier
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVC

from mklearn.classifiers.kernel_svc import KernelSVC
from mklearn.kernels.transform import StackTransform


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    specs = [
        {"kind": "gaussian", "bandwidth": 0.3},
        {"kind": "gaussian", "bandwidth": 2.0},
        {"kind": "linear", "normalise": "centred_trace"},
    ]
    transform = StackTransform(specs).fit(X[:300])
    K, K_test = transform.stack_train_.as_last_axis(), transform.transform(X[300:900]).as_last_axis()
    return np.array(K), y[:300], np.array(K_test), y[300:900]


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
    """The unit of C is all that C_scale changes."""
    K, y, K_test = 4 * digits[0], digits[1], 4 * digits[2]
    scaled = KernelSVC(C=2.0).fit(K, y)
    raw = KernelSVC(C=2.0 / variance(K.mean(axis=2)), C_scale="none").fit(K, y)
    difference = raw.decision_function(K_test) - scaled.decision_function(K_test)
    assert np.mean(abs(difference) < 2e-3) > 0.99  # the solver's tolerance, which may flip single votes
    assert abs(KernelSVC(C=1e-3, C_scale="none").fit(K, y).dual_coef_).max() == pytest.approx(1e-3)
    with pytest.raises(ValueError, match="C_scale"):
        KernelSVC(C_scale="trace").fit(K, y)
