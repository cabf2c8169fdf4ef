"""Landmarks: how many of each class, centres, and blocks of rows."""

from __future__ import annotations

import numpy as np
import scipy.sparse as sp

from mklearn.kernels.distances import squared_euclidean
from mklearn.kernels.landmark_transform import (
    kmeans_centres,
    random_per_class,
)


def rng(seed: int = 0) -> np.random.Generator:
    return np.random.default_rng(seed)


def test_classes_take_turns_as_far_as_they_have_samples() -> None:
    labels = np.array(["a"] * 3 + ["b"] * 20 + ["c"] * 7)[rng(1).permutation(30)]
    counts = {l: np.unique(labels[random_per_class(labels, l, rng())], return_counts=True)[1] for l in (3, 4, 9, 15)}
    assert {l: sorted(found.tolist()) for l, found in counts.items()} == {
        3: [1, 1, 1], 4: [1, 1, 2], 9: [3, 3, 3], 15: [3, 6, 6]
    }  # fmt: skip
    every = random_per_class(labels, 30, rng())
    np.testing.assert_array_equal(np.sort(every), np.arange(30))
    assert (random_per_class(labels, 30, rng(2)) != every).any()


def test_centres_of_separate_clusters_are_their_means() -> None:
    means = 50 * rng().normal(size=(6, 3))
    X = np.repeat(means, 20, axis=0) + 0.01 * rng(1).normal(size=(120, 3))
    centres = kmeans_centres(X, 6, seed=0)
    nearest = squared_euclidean(centres, means)
    assert sorted(nearest.argmin(axis=1)) == list(range(6))
    assert nearest.min(axis=1).max() < 0.01
    assert sp.issparse(kmeans_centres(sp.csr_array(X), 6, seed=0))
