"""The MKL SVM as an estimator: two classes, several classes, the uniform average as its limit, scikit-learn, errors."""

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from mklearn.classifiers import MKLSVC, KernelSVC
from mklearn.kernels.transform import StackTransform

SPECS = [
    {"kind": "gaussian", "bandwidth": 0.3, "normalise": "centred_trace"},
    {"kind": "gaussian", "bandwidth": 2.0, "normalise": "centred_trace"},
    {"kind": "linear", "normalise": "centred_trace"},
]


def stacks(X, n):
    transform = StackTransform(SPECS).fit(X[:n])
    return np.array(transform.stack_train_.as_last_axis()), np.array(transform.transform(X[n:]).as_last_axis())


@pytest.fixture(scope="module")
def cancer():
    X, y = load_breast_cancer(return_X_y=True)
    return *stacks(X, 250), y[:250], y[250:]


def test_two_classes(cancer):
    K, K_test, y, y_test = cancer
    names = np.array(["malignant", "benign"])[y]
    model = MKLSVC(C=1.0, tol=1e-4, svm_tol=1e-5).fit(K, names)
    values = model.decision_function(K_test)
    assert values.shape == y_test.shape
    np.testing.assert_array_equal(model.predict(K_test), np.where(values > 0, "malignant", "benign"))
    assert model.score(K_test, np.array(["malignant", "benign"])[y_test]) > 0.93
    dual = np.zeros(len(y))
    dual[model.support_] = model.dual_coef_[0]
    assert model.gap_ <= 1e-4
    assert model.n_svm_ <= 15
    assert model.certificate_ == {"gap": model.gap_}
    gated = np.abs(dual).sum() - 0.5 * dual @ (K @ model.theta_[0]) @ dual
    assert model.objective_ == pytest.approx(gated)
    # a machine on the kernel of these weights, by scikit-learn
    alone = KernelSVC(C=1.0, C_scale="none", kernel_weights=model.kernel_weights_).fit(K, names)
    np.testing.assert_allclose(values, alone.decision_function(K_test), atol=5e-3)


def test_large_norm_is_the_machine_on_the_uniform_average(cancer):
    K, K_test, y, _ = cancer
    model = MKLSVC(C=2.0, p=np.inf, svm_tol=1e-8).fit(K, y)
    uniform = KernelSVC(C=2.0, C_scale="none").fit(K, y)
    np.testing.assert_allclose(model.decision_function(K_test), uniform.decision_function(K_test), atol=5e-3)
    np.testing.assert_allclose(model.kernel_weights_, 1 / 3)


def test_small_penalty_returns_equal_weights_and_its_gap(cancer):
    """The box is so small that all weights are nearly as good: the gap is all that one may read."""
    K, _, y, _ = cancer
    model = MKLSVC(C=1e-5, tol=1e-3).fit(K, y)
    np.testing.assert_allclose(model.kernel_weights_, 1 / 3)
    assert 0 < model.gap_ <= 1e-3
    assert (model.n_svm_, model.status_) == (1, "optimal")
    assert MKLSVC(C=1.0, max_iter=0).fit(K, y).status_ == "max_iter"
