"""Samples that do not fit into memory: a memory-mapped file."""

from __future__ import annotations

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.moments import Moments
from mklearn.classifiers.kernel_ridge import KernelRidgeClassifier
from mklearn.subspace.mkldr import MKLDR

pytestmark = pytest.mark.full

KERNELS = {"narrow": {"bandwidth": 0.5}, "wide": {"bandwidth": 2.0}}
N = 100_000
Samples = tuple[np.ndarray, np.ndarray]


@pytest.fixture(scope="module")
def many() -> Samples:
    """100,000 digits, 26 MB: the first ones real, the others with seeded noise."""
    X, y = load_digits(return_X_y=True)
    rows = np.arange(N) % len(X)
    noise = np.random.default_rng(0).normal(size=(N, 64)).astype(np.float32)
    noise[: len(X)] = 0
    return X.astype(np.float32)[rows] + noise, y[rows]


@pytest.fixture(scope="module")
def features(many: Samples) -> LandmarkFeatures:
    X, y = many
    return LandmarkFeatures(KERNELS, n=20, dtype="float32").fit(X[:1000], y[:1000])


@pytest.fixture(scope="module")
def moments(many: Samples, features: LandmarkFeatures) -> Moments:
    """The moments of all samples at once."""
    X, y = many
    return Moments().partial_fit(features.transform(X), y)


def assert_same_predictions(features: LandmarkFeatures, found: Moments, expected: Moments, X: np.ndarray) -> None:
    assert found.n_samples_ == expected.n_samples_
    for method in (KernelRidgeClassifier, MKLDR):
        one, other = (method().fit_moments(features, each) for each in (found, expected))
        assert (one.predict(X) == other.predict(X)).mean() > 0.999


def test_a_memory_mapped_file_is_never_in_memory(tmp_path: Path, many, features, moments) -> None:
    X, y = many
    np.save(tmp_path / "X.npy", X)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    found = Moments()
    tracemalloc.start()
    for start in range(0, N, 10_000):
        rows = slice(start, start + 10_000)
        found.partial_fit(features.transform(mapped[rows]), y[rows])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < X.nbytes / 3
    assert_same_predictions(features, found, moments, X[:1000])
