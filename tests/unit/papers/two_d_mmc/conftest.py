"""Small images with classes for the tests of bilinear methods."""

from __future__ import annotations

import numpy as np
import pytest


def make_images(seed: int, classes: int = 4, per_class: int = 6, rows: int = 7, cols: int = 5, noise: float = 1.0):
    """Random class means and unequal noise; class sizes differ by one."""
    rng = np.random.default_rng(seed)
    counts = per_class + np.arange(classes) % 2
    y = rng.permutation(np.repeat(np.arange(classes), counts))
    means = rng.normal(size=(classes, rows, cols))
    spread = noise * rng.uniform(0.3, 1.5, size=(rows, cols))
    return means[y] + spread * rng.normal(size=(len(y), rows, cols)) + 3.0, y


def one_sided(X, y, R):
    """S_b^R and S_w^R by loops."""
    mean, between, within = X.mean(axis=0), 0.0, 0.0
    for k in np.unique(y):
        class_mean = X[y == k].mean(axis=0)
        between = between + np.sum(y == k) * (class_mean - mean) @ R @ R.T @ (class_mean - mean).T
        within = within + sum((x - class_mean) @ R @ R.T @ (x - class_mean).T for x in X[y == k])
    return between, within


@pytest.fixture(scope="session")
def images():
    """(26, 7, 5) images of four classes."""
    return make_images(0)
