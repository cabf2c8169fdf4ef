"""Kernel ridge classification: against primal least squares, invariances, digits and errors."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import Ridge, RidgeClassifier
from sklearn.model_selection import GridSearchCV, StratifiedKFold, cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from mklearn.classifiers.kernel_ridge import KernelRidgeClassifier
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.kernels.specs import StackTransform


def not_positive_semidefinite(estimator):
    """Checks that round a Gram matrix to integers, which leaves it no kernel."""
    rounding = "rounds the Gram matrix to integers, which leaves it with negative eigenvalues"
    return {"check_estimators_dtypes": rounding} if estimator.kernels == "precomputed" else {}


@parametrize_with_checks(
    [KernelRidgeClassifier(kernels=["gaussian", "linear"]), KernelRidgeClassifier()],
    expected_failed_checks=not_positive_semidefinite,
)
@pytest.mark.filterwarnings("ignore::mklearn.kernels.identity_like.IdentityLikeKernelWarning")
def test_scikit_learn_checks(estimator, check):
    check(estimator)


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


def test_scale_and_constants_do_not_matter(wine):
    X, y = wine
    K = X @ X.T
    base = KernelRidgeClassifier().fit(K, y).decision_function(K)
    np.testing.assert_allclose(KernelRidgeClassifier().fit(50 * K, y).decision_function(50 * K), base, atol=1e-8)
    np.testing.assert_allclose(KernelRidgeClassifier().fit(K + 7, y).decision_function(K + 7), base, atol=1e-8)


def test_weights_choose_and_mix_kernels(wine):
    X, y = wine
    stack = np.stack([X[:, :5] @ X[:, :5].T, X[:, 5:] @ X[:, 5:].T, np.exp(X @ X.T / 20)], axis=-1)
    for choice, kernel in ((1, stack[..., 1]), ([0, 2, 0], stack[..., 1]), ("uniform", stack.mean(axis=-1))):
        mixed = KernelRidgeClassifier(kernel_weights=choice).fit(stack, y).decision_function(stack)
        alone = KernelRidgeClassifier().fit(kernel, y).decision_function(kernel)
        np.testing.assert_allclose(mixed, alone, atol=1e-8)
    np.testing.assert_allclose(KernelRidgeClassifier().fit(stack, y).kernel_weights_, 1 / 3)


def test_two_classes_have_one_score_and_names_survive(wine):
    X, y = wine
    X, names = X[y < 2], np.array(["red", "white"])[y[y < 2]]
    model = KernelRidgeClassifier(kernels=["gaussian"]).fit(X, names)
    score = model.decision_function(X)
    assert score.shape == (len(X),)
    np.testing.assert_array_equal(model.predict(X), np.where(score > 0, "white", "red"))


def test_digits_and_cross_validation():
    X, y = load_digits(return_X_y=True)
    specs = [{"kind": "gaussian", "bandwidth": b} for b in (0.3, 1.0)]
    transform = StackTransform(specs).fit(X[:300])
    K, K_test = transform.stack_train_.as_last_axis(), transform.transform(X[300:900]).as_last_axis()
    model = KernelRidgeClassifier().fit(K, y[:300])
    assert model.score(K_test, y[300:900]) > 0.85
    single = clone(model).fit(K.astype(np.float32), y[:300])
    np.testing.assert_allclose(
        single.decision_function(K_test.astype(np.float32)), model.decision_function(K_test), atol=1e-3
    )
    folds = StratifiedKFold(3)
    scores = cross_val_score(KernelRidgeClassifier(), K, y[:300], cv=folds)
    for score, (train, test) in zip(scores, folds.split(K, y[:300]), strict=True):
        inner = KernelRidgeClassifier().fit(K[np.ix_(train, train)], y[train])
        assert score == inner.score(K[np.ix_(test, train)], y[test])
    search = GridSearchCV(KernelRidgeClassifier(), {"alpha": [1e-3, 1e3]}, cv=3).fit(K, y[:300])
    assert search.best_params_ == {"alpha": 1e-3}


@pytest.mark.parametrize(
    ("change", "error", "message"),
    [
        ({"y": np.zeros(30)}, NotApplicable, "class"),
        ({"y": np.arange(29) % 3}, DataError, "29 labels for 30 samples"),
        ({"y": None}, DataError, "requires y"),
        ({"X": np.ones((30, 30))}, NotApplicable, "constant"),
        ({"X": np.diag(np.where(np.arange(30) < 3, -1.0, 1.0))}, DataError, "psd_repair"),
        ({"X": np.ones((30, 20, 1))}, DataError, "square"),
        ({"kernel_weights": [1, 2]}, ConfigError, "1 kernels"),
        ({"alpha": 0.0}, ValueError, "alpha"),
    ],
)
def test_messages_name_the_error(change, error, message):
    X = np.random.default_rng(0).normal(size=(30, 4))
    data = {"X": X @ X.T, "y": np.arange(30) % 3}
    data |= {key: change[key] for key in ("X", "y") if key in change}
    parameters = {key: value for key, value in change.items() if key not in data}
    with pytest.raises(error, match=message):
        KernelRidgeClassifier(**parameters).fit(data["X"], data["y"])


def test_other_kernels_are_refused(wine):
    X, y = wine
    K = np.stack([X @ X.T, X @ X.T], axis=-1)
    model = KernelRidgeClassifier().fit(K, y)
    with pytest.raises(DataError, match="fitted with 2"):
        model.predict(K[:5, :, :1])
    with pytest.raises(DataError, match="features"):
        model.predict(K[:5, :7])
