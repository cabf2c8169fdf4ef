"""Fewer landmarks without the samples: features and moments of the first landmarks from those of all of them."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.moments import Moments
from mklearn.subspace.kfd import KernelFDA

KERNELS = {
    "wide": {"kind": "gaussian"},
    "narrow": {"kind": "gaussian", "bandwidth": 0.3, "normalise": "unit_diagonal"},
    "square": {"kind": "polynomial", "normalise": "unit_diagonal"},
    "linear": "linear",
}


@pytest.fixture(scope="module")
def digits() -> tuple[np.ndarray, np.ndarray]:
    X, y = load_digits(return_X_y=True)
    return X[:600], y[:600]


@pytest.mark.parametrize("rule", ["random_per_class", "leverage"])
@pytest.mark.parametrize(("dtype", "tolerance"), [("float64", 1e-9), ("float32", 2e-4)])
def test_leading_landmarks_give_the_features_that_they_alone_would(
    digits: tuple[np.ndarray, np.ndarray], rule: str, dtype: str, tolerance: float
) -> None:
    X, y = digits
    every = LandmarkFeatures(KERNELS, 120, rule, dtype=dtype).fit(X, y)
    features, change = every.leading(40)
    assert features.n_landmarks_ == 40
    assert every.n_landmarks_ == 120
    np.testing.assert_array_equal(features.landmark_indices_, every.landmark_indices_[:40])
    np.testing.assert_allclose(every.transform(X) @ change, features.transform(X), atol=tolerance)
    if rule == "random_per_class":  # the landmarks of an equal seed; leverage scores depend on their number
        alone = LandmarkFeatures(KERNELS, 40, rule, dtype=dtype).fit(X, y)
        np.testing.assert_array_equal(features.transform(X), alone.transform(X))


def test_moments_of_leading_landmarks_need_no_samples(digits: tuple[np.ndarray, np.ndarray]) -> None:
    X, y = digits
    every = LandmarkFeatures(KERNELS, 120).fit(X, y)
    features, change = every.leading(40)
    mapped = Moments().partial_fit(every.transform(X), y).mapped(change)
    direct = Moments().partial_fit(features.transform(X), y)
    np.testing.assert_allclose(mapped.scatter, direct.scatter, atol=1e-9 * np.abs(direct.scatter).max())
    np.testing.assert_allclose(mapped.class_means, direct.class_means, atol=1e-10)
    fitted = KernelFDA(ridge=1e-3).fit_moments(features, mapped)
    usual = KernelFDA(kernels=KERNELS, ridge=1e-3, landmarks=40).fit(X, y)
    np.testing.assert_allclose(np.abs(fitted.transform(X)), np.abs(usual.transform(X)), atol=1e-6)
