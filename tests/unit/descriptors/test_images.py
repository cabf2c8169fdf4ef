"""Conversion of images to grey floats, and errors."""

import numpy as np
import pytest

from mklearn.descriptors.images import as_grey_images
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
