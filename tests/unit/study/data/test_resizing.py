"""Resizing: invariants of linear filters, and agreement with Pillow as independent reference."""

import numpy as np
import pytest
from PIL import Image

from mklearn.study.data import resizing
from mklearn.study.data.resizing import resize_images

PILLOW = {
    "area": Image.Resampling.BOX,
    "bilinear": Image.Resampling.BILINEAR,
    "bicubic": Image.Resampling.BICUBIC,
    "lanczos": Image.Resampling.LANCZOS,
}


@pytest.mark.parametrize("interpolation", PILLOW)
@pytest.mark.parametrize("new", [(32, 32), (10, 17), (120, 92), (200, 150), (1, 1)])
def test_agrees_with_pillow(interpolation: str, new: tuple[int, int]) -> None:
    if interpolation == "area":  # Pillow's box filter takes whole pixels only; ours splits them
        new = (28, 23)
    image = np.random.default_rng(1).random((1, 112, 92)).astype(np.float32)
    resized = resize_images(image, new, interpolation=interpolation)
    reference = np.array(Image.fromarray(image[0]).resize(new[::-1], PILLOW[interpolation]))
    np.testing.assert_allclose(resized[0], reference, atol=2e-6)


def test_area_with_fractional_factor_equals_exact_integration() -> None:
    # 12 -> 18 rows and 9 -> 6 columns: split every pixel into 3 x 2 parts and average whole blocks of 2 x 3 parts
    image = np.random.default_rng(2).random((1, 12, 9))
    parts = image.repeat(3, axis=1).repeat(2, axis=2)
    blocks = parts.reshape(1, 18, 2, 6, 3).mean(axis=(2, 4))
    np.testing.assert_allclose(resize_images(image, (18, 6), interpolation="area"), blocks, atol=1e-12)


def test_rounding_policy() -> None:
    image = np.array([[[0, 1], [1, 0]], [[254, 255], [255, 255]], [[1, 2], [1, 2]]], dtype=np.uint8)
    rounded = resize_images(image, (1, 1))
    assert rounded.dtype == np.uint8
    assert rounded.ravel().tolist() == [0, 255, 2]  # 0.5 -> 0 and 1.5 -> 2 (half to even), 254.75 -> 255
    exact = resize_images(image, (1, 1), rounding="none")
    np.testing.assert_array_equal(np.ravel(exact), [0.5, 254.75, 1.5])
    edge = np.zeros((1, 4, 8), np.uint8)
    edge[:, :, 4:] = 255
    for interpolation in ("bicubic", "lanczos"):  # overshoot is cut off, it does not wrap around
        resized = np.asarray(resize_images(edge, (4, 32), interpolation=interpolation))
        assert (np.diff(resized[0, 0, 10:22].astype(int)) >= 0).all()
    floating = resize_images(image.astype(np.float32) / 255, (1, 1))
    assert np.asarray(floating).dtype == np.float32


def test_colour_channels_are_independent() -> None:
    image = np.random.default_rng(4).random((2, 9, 7, 3))
    together = np.asarray(resize_images(image, (5, 4), interpolation="bicubic"))
    for channel in range(3):
        alone = resize_images(image[..., channel], (5, 4), interpolation="bicubic")
        np.testing.assert_array_equal(together[..., channel], alone)


def test_pixels_keeps_the_aspect_and_the_input() -> None:
    images = [np.zeros((300, 200), np.uint8), np.zeros((150, 400, 3), np.uint8), np.zeros((1, 3), np.uint8)]
    before = [image.copy() for image in images]
    resized = resize_images(images, pixels=60000)
    assert isinstance(resized, list)
    assert [image.shape for image in resized] == [(300, 200), (150, 400, 3), (141, 424)]
    assert resize_images(images, pixels=600)[1].shape == (15, 40, 3)
    assert isinstance(resize_images(images[:1] * 2, pixels=100), np.ndarray)
    for image, old in zip(images, before, strict=True):
        np.testing.assert_array_equal(image, old)


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16, np.float32, np.float64])
@pytest.mark.parametrize("rounding", ["nearest", "none"])
def test_an_array_gives_to_the_bit_what_its_images_give(dtype: type, rounding: str, monkeypatch) -> None:
    monkeypatch.setattr(resizing, "BATCH", 4)
    images = (255 * np.random.default_rng(0).random((10, 28, 33))).astype(dtype)
    for size in ({"shape": (20, 41)}, {"pixels": 500}, {"shape": (28, 33)}):
        together = resize_images(images, **size, interpolation="bicubic", rounding=rounding)
        single = [resize_images([image], **size, interpolation="bicubic", rounding=rounding)[0] for image in images]
        assert together.dtype == single[0].dtype
        np.testing.assert_array_equal(together, single)
