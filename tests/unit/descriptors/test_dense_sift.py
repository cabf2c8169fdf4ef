"""Histograms of visual words: votes, words, grid and invariances."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from tests.unit.descriptors.conftest import alike

from mklearn.descriptors.dense_sift import dense_sift, learn_dense_sift, local_descriptors
from mklearn.descriptors.sift import grid_points
from mklearn.errors import DataError

SMALL = {"n_words": 20, "step": 16}


@pytest.fixture(scope="module")
def learned(photos: list[np.ndarray]) -> dict[str, NDArray]:
    return learn_dense_sift(photos, random_state=0, **SMALL)


@given(length=st.integers(16, 300), size=st.sampled_from([16.0, 15.5, 15.2]), step=st.integers(1, 40))
def test_patches_of_the_grid_fill_the_image_evenly(length: int, size: float, step: int) -> None:
    centre, across = grid_points((length, 16), size, step).T
    np.testing.assert_allclose(across, 7.5)
    before, after = centre[0] - size / 2 + 0.5, length - 0.5 - (centre[-1] + size / 2)
    assert before >= -1e-9
    np.testing.assert_allclose(before, after, atol=1e-9)
    # no room for one more
    assert before + after < step
    np.testing.assert_allclose(np.diff(centre), step)


def test_rows_are_the_votes_for_the_nearest_words(photos: list[np.ndarray], learned: dict[str, NDArray]) -> None:
    features = dense_sift(photos, learned=learned, **SMALL)
    assert features.shape == (4, 20)
    assert features.dtype == np.float64
    np.testing.assert_allclose(features.sum(axis=1), 1)
    for image, row in zip(photos, features, strict=True):
        descriptors = local_descriptors(image / 255, 16, (16, 24, 32))
        nearest = cdist(descriptors, learned["words"].astype(float)).argmin(axis=1)
        np.testing.assert_allclose(row, np.bincount(nearest, minlength=20) / len(nearest), atol=1e-3)


def test_brightness_contrast_and_kinds_of_images(photos: list[np.ndarray], learned: dict[str, NDArray]) -> None:
    photo = photos[1]
    features = dense_sift(photos, learned=learned, **SMALL)
    for row in dense_sift(alike(photo), learned=learned, **SMALL):
        np.testing.assert_allclose(row, features[1], atol=0.01)


def test_flat_patches_do_not_vote(learned: dict[str, NDArray]) -> None:
    flat = dense_sift(np.full((2, 40, 40), 0.3), learned=learned, **SMALL)
    np.testing.assert_array_equal(flat, 0)
    wide = np.full((64, 400), 0.5)
    wide[:, :64] = np.random.default_rng(0).random((64, 64))
    assert dense_sift([wide], learned=learned, **SMALL).sum() == pytest.approx(1)
    assert len(local_descriptors(wide, 16, (16,))) < 40  # of 100 patches


def test_small_images(learned: dict[str, NDArray]) -> None:
    images = [np.random.default_rng(0).random(shape) for shape in ((32, 40), (31, 40), (1, 1))]
    assert dense_sift(images[:1], learned=learned, **SMALL).shape == (1, 20)
    for image in images[1:]:
        with pytest.raises(DataError, match=r"Image 1 has .* 32 x 32"):
            dense_sift([images[0], image], learned=learned, **SMALL)
        with pytest.raises(DataError, match=r"Image 1 has .* 32 x 32"):
            learn_dense_sift([images[0], image], random_state=0, **SMALL)


def test_too_few_patches_for_the_words() -> None:
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match=r"n_words = 20.*fewer words"):
        learn_dense_sift(rng.random((1, 32, 32)), random_state=0, **SMALL)
    with pytest.raises(DataError, match="have 0"):
        learn_dense_sift(np.zeros((3, 64, 64)), random_state=0, **SMALL)
