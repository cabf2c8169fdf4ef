"""Samples that do not fit into memory: a memory-mapped file."""

import tracemalloc
from pathlib import Path

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.moments import Moments

pytestmark = pytest.mark.full

N = 100_000


def test_a_memory_mapped_file_is_never_in_memory(tmp_path: Path) -> None:
    """100,000 digits, 26 MB: the first ones real, the others with seeded noise."""
    X, y = load_digits(return_X_y=True)
    noise = np.random.default_rng(0).normal(size=(N, 64)).astype(np.float32)
    noise[: len(X)] = 0
    many, labels = np.resize(X, (N, 64)).astype(np.float32) + noise, np.resize(y, N)
    features = LandmarkFeatures({"narrow": {"bandwidth": 0.5}, "wide": {"bandwidth": 2.0}}, n=20, dtype="float32")
    features.fit(many[:1000], labels[:1000])
    whole = Moments().partial_fit(features.transform(many), labels)
    np.save(tmp_path / "X.npy", many)
    mapped, found = np.load(tmp_path / "X.npy", mmap_mode="r"), Moments()
    tracemalloc.start()
    for start in range(0, N, 10_000):
        rows = slice(start, start + 10_000)
        found.partial_fit(features.transform(mapped[rows]), labels[rows])
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < many.nbytes / 3
    np.testing.assert_array_equal(found.class_counts_, whole.class_counts_)
    np.testing.assert_allclose(found.scatter, whole.scatter, rtol=0, atol=2e-6 * np.abs(whole.scatter).max())
