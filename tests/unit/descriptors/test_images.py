"""Conversion of images to grey floats, and errors."""

from __future__ import annotations

import subprocess
import sys
from functools import partial

import numpy as np
import pytest

from mklearn.descriptors.hog import hog
from mklearn.descriptors.images import as_grey_images, features_of, iterate_grey_images
from mklearn.descriptors.patches import patches
from mklearn.descriptors.pixels import pixels
from mklearn.descriptors.sift_grid import sift_grid
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


def test_grey_as_colour_keeps_its_values() -> None:
    grey = np.random.default_rng(0).integers(0, 256, (2, 4, 5), dtype=np.uint8)
    colour = np.repeat(grey[..., None], 3, axis=3)
    opaque = np.concatenate([colour, np.full((2, 4, 5, 1), 255, dtype=np.uint8)], axis=3)
    for other in (colour, opaque, grey[..., None], list(grey), list(colour), [grey[0], colour[1]]):
        np.testing.assert_allclose(as_grey_images(other), grey / 255, rtol=1e-14)


def test_images_are_converted_one_by_one() -> None:
    images = iterate_grey_images([np.ones((2, 2)), np.full((2, 2), np.nan)])
    np.testing.assert_array_equal(next(images), 1)
    with pytest.raises(DataError, match="Image 1 has NaN"):
        next(images)


def test_luma_and_transparency() -> None:
    from skimage.color import rgb2gray, rgba2rgb

    rgba = np.random.default_rng(0).random((2, 4, 5, 4))
    np.testing.assert_allclose(as_grey_images(rgba[..., :3]), rgb2gray(rgba[..., :3]), rtol=1e-12)
    np.testing.assert_allclose(as_grey_images(rgba), rgb2gray(rgba2rgb(rgba)), rtol=1e-12)


def test_inputs_are_not_changed_or_shared() -> None:
    images = np.random.default_rng(0).random((2, 4, 5))
    before = images.copy()
    for image in as_grey_images(images):
        image[:] = 7
    np.testing.assert_array_equal(images, before)


@pytest.mark.parametrize(
    ("images", "message"),
    [
        ([], "There are no images"),
        (np.zeros((0, 4, 4)), "There are no images"),
        (np.zeros((4, 4)), r"image\[None\]"),
        (np.zeros(()), r"image\[None\]"),
        ([np.zeros((4, 4)), np.zeros(4)], r"Image 1 has shape \(4,\)"),
        ([np.zeros((4, 4)), np.zeros((0, 4))], "Image 1 has no pixels"),
        ([np.zeros((4, 4)), np.zeros((4, 4, 2))], "Image 1 has 2 channels"),
        ([np.zeros((4, 4)), np.full((4, 4), np.nan)], "Image 1 has NaN"),
        (np.full((1, 4, 4), 1e80), "Image 0 has pixels above 1e"),
        ([np.full((4, 4, 4), 255.0)], r"Image 0 has opacities \(its fourth channel\) outside 0..1"),
        (np.array([[[1.0, np.inf]]]), "Image 0 has NaN or infinite pixels"),
        (np.zeros((1, 4, 4), dtype=np.int64), "Image 0 has dtype int64, whose white value is unknown"),
        (np.zeros((1, 4, 4), dtype=complex), "dtype complex128"),
        ([[[1.0, 2.0], [1.0]]], "Image 0 is not a regular array"),
        (["cat.png"], r"Image 0 has shape \(\)"),
    ],
)
def test_invalid_images(images: object, message: str) -> None:
    with pytest.raises(DataError, match=message):
        as_grey_images(images)  # type: ignore[arg-type]


def test_features_of_different_lengths() -> None:
    images = [np.zeros((2, 2)), np.zeros((2, 2)), np.zeros((3, 2))]
    with pytest.raises(DataError, match=r"image 2 has 3 x 2 pixels \(6 features\) .* image 0 has 2 x 2 \(4\)"):
        features_of(images, np.ravel, "pixels")


def test_importing_a_descriptor_is_light() -> None:
    check_import("mklearn.descriptors.hog", {"hog", "images"})


def check_import(module: str, needed: set[str]) -> None:
    """Check that a descriptor loads neither the other descriptors nor large libraries."""
    code = (
        f"import sys; from {module} import {module.rpartition('.')[2]}; prefix = 'mklearn.descriptors.'; "
        f"loaded = {{m.removeprefix(prefix) for m in sys.modules if m.startswith(prefix)}}; "
        f"assert loaded == {needed}, loaded; "
        "heavy = {'cv2', 'numba', 'scipy.fft', 'skimage.feature', 'sklearn'} & set(sys.modules); "
        "assert not heavy, heavy; "
        "import mklearn.descriptors as d; assert d.lbp.lbp and d.as_grey_images"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize("describe", [pixels, hog, partial(patches, size=16), sift_grid])
def test_an_image_on_its_side_is_another_size_though_it_has_as_many_features(describe) -> None:
    """Kills: pixel (i, j) of one image compared with another place of the other one."""
    images = [np.random.default_rng(k).random(shape) for k, shape in enumerate([(32, 48), (48, 32)])]
    with pytest.raises(DataError, match=r"image 1 has 48 x 32 pixels .* image 0 has 32 x 48"):
        describe(images)
    describe(images[:1] * 2)


def test_a_masked_image_is_refused() -> None:
    with pytest.raises(DataError, match="Image 1 is a masked array"):
        as_grey_images([np.ones((4, 4)), np.ma.array(np.ones((4, 4)), mask=np.eye(4, dtype=bool))])
