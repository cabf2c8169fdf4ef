"""Kernel ridge classification: against primal least squares, invariances and errors."""

import numpy as np
import pytest
from sklearn.datasets import load_digits, load_wine
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.preprocessing import StandardScaler

from mklearn.classifiers.kernel_ridge import KernelRidgeClassifier
from mklearn.errors import ConfigError


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
    primal = Ridge(alpha=model.ridge_amount_).fit(X[train], np.eye(3)[y[train]])
    scores = model.decision_function(X[test] @ X[train].T)
    np.testing.assert_allclose(scores, primal.predict(X[test]), atol=1e-9)
    np.testing.assert_allclose(scores.sum(axis=1), 1.0)
    # +-1 targets, as scikit-learn's classifier has them, give the same classes.
    reference = RidgeClassifier(alpha=model.ridge_amount_).fit(X[train], y[train])
    np.testing.assert_array_equal(model.predict(X[test] @ X[train].T), reference.predict(X[test]))


def test_centred_kernel_is_kernel_ridge_regression(wine):
    X, y = wine
    d2 = ((X[:, None] - X[None]) ** 2).sum(-1)
    K = np.exp(-d2 / d2.mean())
    H = np.eye(len(y)) - 1 / len(y)
    model = KernelRidgeClassifier(alpha=0.01).fit(K, y)
    targets = np.eye(3)[y]
    reference = KernelRidge(alpha=model.ridge_amount_, kernel="precomputed").fit(H @ K @ H, targets - targets.mean(0))
    np.testing.assert_allclose(model.coefficients_, reference.dual_coef_, atol=1e-8)
    np.testing.assert_allclose(
        model.decision_function(K), reference.predict(H @ K @ H) + targets.mean(axis=0), atol=1e-9
    )


@pytest.mark.parametrize("parameters", [{}, {"kernel_weights": [0.3, 0.0, 0.7], "alpha": 1e-2}])
def test_all_samples_as_landmarks_are_the_dense_classifier(parameters):
    X, y = load_digits(return_X_y=True)
    kernels = [{"kind": "gaussian", "bandwidth": 20.0}, {"kind": "gaussian", "centre": False}, "linear"]
    dense = KernelRidgeClassifier(kernels=kernels, **parameters).fit(X[:200], y[:200])
    found = KernelRidgeClassifier(kernels=kernels, landmarks=200, **parameters).fit(X[:200], y[:200])
    assert found.ridge_amount_ == pytest.approx(dense.ridge_amount_, rel=1e-10)
    np.testing.assert_allclose(found.class_scores(X[200:300]), dense.class_scores(X[200:300]), atol=1e-8)
    np.testing.assert_allclose(found.class_scores(X[:200]).sum(axis=1), 1.0)


def test_landmarks_take_no_sample_weights():
    X, y = load_digits(return_X_y=True)
    with pytest.raises(ConfigError, match="sample weights are not among the moments"):
        KernelRidgeClassifier(kernels="gaussian", landmarks=20).fit(X, y, np.ones(len(y)))
