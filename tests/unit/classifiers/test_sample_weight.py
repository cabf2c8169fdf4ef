"""Sample weights: a weight of 2 is the sample twice, 0 is none; through pipelines and searches; refused elsewhere."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.datasets import load_digits

from mklearn.classifiers import (
    KernelRidgeClassifier,
    KernelSVC,
    MultiViewClassifier,
    logistic_regression,
)
from mklearn.errors import ConfigError, DataError
from mklearn.kernels import StackTransform

FIXED: dict[str, Any] = {"kind": "gaussian", "bandwidth_rule": "absolute", "centre": False, "normalise": "none"}
KERNELS = [FIXED | {"bandwidth": 400.0}, FIXED | {"bandwidth": 3000.0}]
"""Kernels without parameters that are fitted to the training samples."""
WEIGHTED: list[tuple[BaseEstimator, float]] = [
    (KernelSVC(kernels=KERNELS, C=0.3), 3e-3),  # LIBSVM's tolerance of 1e-3
    (KernelSVC(kernels=KERNELS, C=0.3, C_scale="none"), 3e-3),
    (KernelRidgeClassifier(kernels=KERNELS, alpha=0.01), 1e-9),
]
named = pytest.mark.parametrize(
    ("estimator", "tolerance"), WEIGHTED, ids=[f"{type(e).__name__}-{k}" for k, (e, _) in enumerate(WEIGHTED)]
)


@pytest.fixture(scope="module")
def digits() -> tuple[NDArray[Any], NDArray[Any], NDArray[Any], NDArray[Any]]:
    X, y = load_digits(n_class=3, return_X_y=True)
    weights = np.random.default_rng(0).integers(0, 4, 90).astype(float)
    return X[:90], y[:90], weights, X[90:250]


@named
def test_integer_weights_are_repeated_samples(digits, estimator, tolerance):
    X, y, weights, new = digits
    times = weights.astype(int)
    weighted = clone(estimator).fit(X, y, sample_weight=weights)
    repeated = clone(estimator).fit(X.repeat(times, axis=0), y.repeat(times))
    plain = clone(estimator).fit(X, y)
    expected = repeated.decision_function(new)
    size = np.abs(expected).max()
    np.testing.assert_allclose(weighted.decision_function(new), expected, rtol=0, atol=tolerance * size)
    assert np.abs(plain.decision_function(new) - expected).max() > 10 * tolerance * size
    assert np.mean(weighted.predict(new) == repeated.predict(new)) > 0.99
    assert (weights[getattr(weighted, "support_", weights > 0)] > 0).all()
    stacks = StackTransform(KERNELS).fit(X)
    K, K_new = stacks.stack_train_.as_last_axis(), stacks.transform(new).as_last_axis()
    given = clone(estimator).set_params(kernels="precomputed").fit(K, y, sample_weight=weights)
    np.testing.assert_allclose(given.decision_function(K_new), weighted.decision_function(new), atol=1e-9 * size)


@pytest.mark.parametrize(
    "estimator",
    [
        KernelSVC(kernels=KERNELS, C=0.3),
        KernelRidgeClassifier(kernels=KERNELS, alpha=1),
        MultiViewClassifier(kernels=KERNELS),
        logistic_regression(),
    ],
    ids=repr,
)
def test_balanced_classes_have_equal_sums_of_weights(digits, estimator):
    X, y, _, new = digits
    rows = np.flatnonzero((y > 0) | (np.arange(len(y)) < 20))
    X, y = X[rows], y[rows]
    counts = np.bincount(y)
    name = "class_weight" if "class_weight" in estimator.get_params() else "logisticregression__class_weight"
    balanced, by_label = (
        clone(estimator).set_params(**{name: value}).fit(X, y)
        for value in ("balanced", dict(enumerate(len(y) / (3 * counts))))
    )
    expected = balanced.decision_function(new)
    np.testing.assert_allclose(by_label.decision_function(new), expected)
    step = "" if name == "class_weight" else "logisticregression__"
    by_sample = clone(estimator).fit(X, y, **{f"{step}sample_weight": len(y) / (3 * counts[y])})
    np.testing.assert_allclose(by_sample.decision_function(new), expected, rtol=0, atol=1e-3 * np.abs(expected).max())
    assert np.abs(clone(estimator).fit(X, y).decision_function(new) - expected).max() > 1e-2 * np.abs(expected).max()


def test_landmarks_have_no_weights(digits):
    X, y, weights, _ = digits
    with pytest.raises(ConfigError, match="set class_weight=None"):
        KernelRidgeClassifier(kernels=KERNELS, landmarks=20, class_weight="balanced").fit(X, y)
    with pytest.raises(ConfigError, match="moments of landmark features do not include sample weights"):
        KernelRidgeClassifier(kernels=KERNELS, landmarks=20).fit(X, y, weights)


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(89), "expected one weight for each of 90 samples"),
        (-np.ones(90), "negative"),
        (np.full(90, np.nan), "NaN"),
        (np.zeros(90), "all weights are zero"),
        ("class", "all weights of class 1 are zero"),
    ],
)
def test_weights_that_are_refused(digits, weights, message):
    X, y, _, _ = digits
    with pytest.raises(DataError, match=message):
        KernelSVC(kernels="linear").fit(X, y, (y != 1) * 1.0 if isinstance(weights, str) else weights)
