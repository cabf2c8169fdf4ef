"""Conversion of images, and values of descriptors against slow references and images whose features are known."""

import colorsys
from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklearn.descriptors.colour_histogram import colour_histogram
from mklearn.descriptors.hog import hog
from mklearn.descriptors.images import as_grey_images
from mklearn.descriptors.lbp import binary_patterns, lbp, pattern_bins
from mklearn.descriptors.multiresolution import block_weights, multiresolution
from mklearn.descriptors.patches import patches
from mklearn.descriptors.phog import phog
from mklearn.descriptors.pixels import pixels
from mklearn.errors import DataError


def test_integer_images_are_divided_by_their_white_and_floats_are_not() -> None:
    for dtype, white in ((np.uint8, 255), (np.uint16, 65535), (bool, 1)):
        (image,) = as_grey_images(np.full((1, 2, 3), white, dtype=dtype))
        np.testing.assert_array_equal(image, np.ones((2, 3)))
        assert image.dtype == np.float64
    (image,) = as_grey_images(np.full((1, 2, 3), 16, dtype=np.float32))
    np.testing.assert_array_equal(image, 16)


def test_three_axes_are_grey_even_when_the_last_is_three() -> None:
    images = np.random.default_rng(0).random((2, 5, 3))
    np.testing.assert_array_equal(as_grey_images(images), images)


def test_luma_and_transparency() -> None:
    from skimage.color import rgb2gray, rgba2rgb

    rgba = np.random.default_rng(0).random((2, 4, 5, 4))
    np.testing.assert_allclose(as_grey_images(rgba[..., :3]), rgb2gray(rgba[..., :3]), rtol=1e-12)
    np.testing.assert_allclose(as_grey_images(rgba), rgb2gray(rgba2rgb(rgba)), rtol=1e-12)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        ([], "There are no images"),
        (np.zeros((4, 4)), r"image\[None\]"),
        ([np.zeros((4, 4)), np.zeros((0, 4))], "Image 1 has no pixels"),
        ([np.zeros((4, 4)), np.zeros((4, 4, 2))], "Image 1 has 2 channels"),
        ([np.zeros((4, 4)), np.full((4, 4), np.nan)], "Image 1 has NaN"),
        (np.full((1, 4, 4), 1e80), "Image 0 has pixels above 1e"),
        ([np.full((4, 4, 4), 255.0)], r"Image 0 has opacities \(its fourth channel\) outside 0..1"),
        (np.zeros((1, 4, 4), dtype=np.int64), "Image 0 has dtype int64, whose white value is unknown"),
        ([[[1.0, 2.0], [1.0]]], "Image 0 is not a regular array"),
        ([np.ones((4, 4)), np.ma.array(np.ones((4, 4)), mask=np.eye(4, dtype=bool))], "Image 1 is a masked array"),
    ],
)
def test_invalid_images(images: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        as_grey_images(images)  # type: ignore[arg-type]


# --- values


def test_pixels_run_row_by_row() -> None:
    images = np.arange(12.0).reshape(1, 3, 4)
    np.testing.assert_array_equal(pixels(images)[0], np.arange(12))
    np.testing.assert_allclose(np.linalg.norm(pixels(images + 1, norm="l2")), 1)
    np.testing.assert_array_equal(pixels(np.zeros((1, 2, 2)), norm="l2"), 0)


def test_block_means_where_blocks_fit() -> None:
    image = np.random.default_rng(0).random((8, 12))
    means = [[image[4 * i : 4 * i + 4, 6 * j : 6 * j + 6].mean() for j in range(2)] for i in range(2)]
    np.testing.assert_allclose(multiresolution([image], resolutions=[2]), [np.ravel(means)], rtol=1e-12)
    image = image[:, :8]
    np.testing.assert_allclose(multiresolution([image], resolutions=[8, 1]), [[*image.ravel(), image.mean()]])


@settings(max_examples=40)
@given(st.integers(1, 20), st.integers(1, 20), st.integers(0, 1000))
def test_block_means_where_they_do_not(n: int, r: int, seed: int) -> None:
    """Each pixel repeated r times and means over whole blocks: the same mean by another way."""
    if r > n:
        return
    line = np.random.default_rng(seed).random(n)
    expected = np.repeat(line, r).reshape(r, n).mean(axis=1)
    np.testing.assert_allclose(block_weights(n, r) @ line, expected, rtol=1e-10)


def test_patches_are_cut_as_stated() -> None:
    image = np.random.default_rng(0).random((8, 12))
    everything = patches([image], size=4)[0].reshape(2, 3, 16)
    for row in range(2):
        for column in range(3):
            block = image[4 * row : 4 * row + 4, 4 * column : 4 * column + 4]
            np.testing.assert_array_equal(everything[row, column], block.ravel())
            np.testing.assert_array_equal(patches([image], size=4, patch=(row, column))[0], block.ravel())
    with pytest.raises(DataError, match=r"2 x 3 patches; there is no patch \(2, 0\)"):
        patches([image], size=4, patch=(2, 0))
    with pytest.raises(DataError, match=r"Image 0 has 8 x 12 pixels, which patches of 5 x 5 do not tile.*5 x 10"):
        patches([image], size=5)


def test_hog_sees_the_direction_of_an_edge() -> None:
    """Brightness grows to the right: the gradient has orientation zero, so every vote is in the first bin."""
    ramp = np.tile(np.arange(16.0), (16, 1))
    features = hog(ramp[None], block_norm="L2").reshape(4, 9)
    assert (features[:, 0] > 0.49).all()
    np.testing.assert_array_equal(features[:, 1:], 0)
    turned = hog(ramp.T[None], block_norm="L2").reshape(4, 9)
    assert (turned[:, 4] > 0.49).all()
    # the sign of the gradient does not matter
    np.testing.assert_allclose(hog(ramp[None, :, ::-1]), hog(ramp[None]), atol=1e-12)


def slow_codes(image: np.ndarray, radius: int) -> np.ndarray:
    ring = [(-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1)]
    height, width = image.shape
    codes = np.zeros((height - 2 * radius, width - 2 * radius), dtype=int)
    for i in range(radius, height - radius):
        for j in range(radius, width - radius):
            for bit, (down, right) in enumerate(ring):
                if image[i + radius * down, j + radius * right] >= image[i, j]:
                    codes[i - radius, j - radius] += 2**bit
    return codes


@settings(max_examples=30)
@given(st.integers(0, 1000), st.integers(1, 2), st.integers(5, 9), st.integers(5, 9))
def test_binary_patterns_equal_the_loop(seed: int, radius: int, height: int, width: int) -> None:
    image = np.random.default_rng(seed).integers(0, 6, (height, width)).astype(float)
    np.testing.assert_array_equal(binary_patterns(image, radius), slow_codes(image, radius))


def test_pattern_bins_are_those_of_the_papers() -> None:
    uniform, invariant = pattern_bins("uniform"), pattern_bins("rotation_invariant")
    assert sorted(set(uniform)) == list(range(59))
    assert np.bincount(uniform)[:58].tolist() == [1] * 58  # 58 uniform patterns, a bin each
    assert sorted(set(invariant)) == list(range(10))
    # turning the ring by one neighbour changes no rotation-invariant bin
    codes = np.arange(256)
    turned = (codes << 1 & 255) | codes >> 7
    np.testing.assert_array_equal(invariant[turned], invariant)
    assert (uniform[turned] != uniform).any()
    assert uniform[0b01010101] == 58


def test_phog_sees_where_and_how_an_edge_runs() -> None:
    """A vertical edge in the right half: gradient along the rows (bin 0), in the right cells of each level only."""
    image = np.zeros((32, 32))
    image[:, 21:] = 1
    features = phog(image[None])[0]
    np.testing.assert_allclose(features.sum(), 1)
    # each level holds the same votes, so a third of the sum; all in bin 0
    levels = features[:20], features[20:100].reshape(2, 2, 20), features[100:].reshape(4, 4, 20)
    np.testing.assert_allclose([level.sum() for level in levels], 1 / 3)
    assert levels[0][0] == pytest.approx(1 / 3)
    np.testing.assert_allclose(levels[1][:, 1, 0].sum(), 1 / 3)
    np.testing.assert_allclose(levels[2][:, 2, 0].sum(), 1 / 3)
    # a horizontal one votes for 90 degrees
    assert phog(image.T[None])[0][10] == pytest.approx(1 / 3)
    # over 360 degrees the sign counts: to the right and to the left are opposite
    right, left = (phog(i[None], angle=360, bins=40)[0] for i in (image, image[:, ::-1]))
    assert right[0] == pytest.approx(1 / 3)
    assert left[20] == pytest.approx(1 / 3)


@pytest.mark.parametrize("towards", [-np.inf, np.inf])
def test_the_last_digit_of_an_angle_changes_no_bin_of_phog(towards: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """Gradients of whole grey values lie on limits of bins: 45 degrees is one of 8 bins over 180."""
    images, arctan2 = np.random.default_rng(0).integers(0, 4, size=(3, 32, 32), dtype=np.uint8), np.arctan2
    expected = phog(images, bins=8)
    monkeypatch.setattr(np, "arctan2", lambda y, x: np.nextafter(arctan2(y, x), towards))
    np.testing.assert_array_equal(phog(images, bins=8), expected)


@pytest.mark.parametrize("descriptor", [hog, lbp])
def test_of_images_in_colour_each_channel_is_described(descriptor: Callable[..., np.ndarray]) -> None:
    images = np.random.default_rng(0).integers(0, 256, size=(2, 24, 16, 3), dtype=np.uint8)
    parts = [descriptor(images[..., channel]) for channel in range(3)]
    np.testing.assert_allclose(descriptor(images, channels="colour"), np.hstack(parts), atol=1e-12)
    assert descriptor(images).shape == parts[0].shape
    with pytest.raises(DataError, match=rf"Image 0 is grey, but {descriptor.__name__} with channels: colour needs"):
        descriptor(images[..., 0], channels="colour")


# --- histograms of colours


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
