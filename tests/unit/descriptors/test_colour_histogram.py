"""Histograms of hue, saturation and value: plain colours fall where they belong, and grey images are refused."""

import colorsys

import numpy as np
import pytest

from mklearn.descriptors.colour_histogram import colour_histogram
from mklearn.errors import DataError


def plain(red: float, green: float, blue: float) -> np.ndarray:
    return np.broadcast_to(np.array([red, green, blue], dtype=float), (6, 6, 3))


def test_each_pixel_counts_in_the_bin_that_python_gives_for_its_colour() -> None:
    image = np.random.default_rng(0).random((5, 7, 3))
    expected = np.zeros((6, 3, 2))
    for pixel in image.reshape(-1, 3):
        hue, saturation, value = colorsys.rgb_to_hsv(*pixel)
        expected[min(int(hue * 6), 5), min(int(saturation * 3), 2), min(int(value * 2), 1)] += 1 / 35
    np.testing.assert_allclose(colour_histogram([image], bins=(6, 3, 2))[0], expected.ravel(), atol=1e-12)


def test_cells_are_histograms_of_their_own() -> None:
    halves = np.concatenate([plain(1, 0, 0), plain(0, 0, 1)], axis=1)
    cells = colour_histogram([halves], bins=(3, 1, 1), grid=2).reshape(2, 2, 3)
    np.testing.assert_array_equal(cells[:, 0], [[1, 0, 0]] * 2)
    np.testing.assert_array_equal(cells[:, 1], [[0, 0, 1]] * 2)


def test_the_type_of_pixels_and_transparency_do_not_matter() -> None:
    image = (np.random.default_rng(1).random((6, 6, 3)) * 255).astype(np.uint8)
    expected = colour_histogram([image])
    np.testing.assert_array_equal(colour_histogram([image / 255]), expected)
    clear = np.concatenate([image, np.zeros((6, 6, 1), np.uint8)], axis=2)
    np.testing.assert_array_equal(colour_histogram([clear]), colour_histogram([plain(1, 1, 1)]))


@pytest.mark.parametrize(
    ("images", "message"),
    [
        (np.zeros((1, 6, 6)), "Image 0 is grey, but colour_histogram needs colour"),
        ([plain(0, 0, 0), plain(0, 2, 0)], "Image 1 has values outside 0..1"),
    ],
)
def test_images_without_colours_are_refused(images: np.ndarray, message: str) -> None:
    with pytest.raises(DataError, match=message):
        colour_histogram(images, grid=3)
