"""Local descriptors: samples of them, principal axes learned from a sample, and projection."""

from __future__ import annotations

import numpy as np
import pytest

from mklearn.descriptors.images import Grey
from mklearn.descriptors.local_descriptors import (
    describe_points,
    learn_projection,
    sample_local_descriptors,
)
from mklearn.errors import DataError


def test_samples_are_spread_over_the_images() -> None:
    local = [np.full((10, 2), float(number)) for number in range(7)]
    sample = sample_local_descriptors(iter(local), 7, size=20, random_state=3)
    np.testing.assert_array_equal(np.unique(sample[:, 0], return_counts=True)[1], 3)
    for each in (1, 4):  # another draw from each image, and with each seed
        first, *others = np.split(sample_local_descriptors([np.arange(50.0)[:, None]] * 3, 3, 30, each), 3)
        assert len(np.unique(first)) == 10
        assert not any(np.array_equal(first, other) for other in others)
    everything = sample_local_descriptors(iter(local), 7, size=10_000, random_state=3)
    np.testing.assert_array_equal(everything, np.concatenate(local))


def rows_of(image: Grey) -> tuple[Grey, Grey]:
    """Take an image's rows as local descriptors, and their first two entries as positions."""
    return image, image[:, :2]


def test_learned_axes_are_those_of_the_covariance() -> None:
    rng = np.random.default_rng(0)
    images = [rng.standard_normal((40, 5)) * [5, 4, 1, 0.5, 0.1] + 2 for _ in range(4)]
    learned = learn_projection(images, rows_of, 2, 0, "x")
    everything = np.concatenate(images)
    np.testing.assert_allclose(learned["mean"], everything.mean(axis=0), rtol=1e-5)
    A = learned["components"].astype(float)
    np.testing.assert_allclose(A @ A.T, np.eye(2), atol=1e-6)
    values = np.linalg.eigvalsh(np.cov(everything.T))[::-1]
    np.testing.assert_allclose(A @ np.cov(everything.T) @ A.T, np.diag(values[:2]), atol=1e-4)

    sets = describe_points(images, rows_of, learned, (2, 5), 40, "x")
    np.testing.assert_allclose(sets.descriptors[1], (images[1] - learned["mean"]) @ A.T, atol=1e-5)
    np.testing.assert_array_equal(sets.positions[1], images[1][:, :2].astype(np.float32))
    with pytest.raises(DataError, match="learn_x"):
        describe_points(images, rows_of, learned, (3, 5), 40, "x")
    with pytest.raises(DataError, match="no array for 'mean'"):
        describe_points(images, rows_of, {}, (2, 5), 40, "x")
