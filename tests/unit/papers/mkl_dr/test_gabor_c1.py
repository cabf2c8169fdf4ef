"""Gabor filters, S1 and C1 against loops over positions, and their symmetries."""

from __future__ import annotations

import cv2
import numpy as np
import pytest
from scipy.ndimage import gaussian_filter

from mklearn.papers.mkl_dr import gabor_c1
from mklearn.papers.mkl_dr.gabor_c1 import (
    prepare_images,
    pyramid_c1,
    pyramid_filters,
    serre_c1,
    serre_filters,
)


def texture(height: int, width: int, seed: int = 0) -> np.ndarray:
    """Blobs with an edge and a flat part, mean 0 and standard deviation 1."""
    image = gaussian_filter(np.random.default_rng(seed).standard_normal((height, width)), 1.5)
    image[:, width // 2 :] += 0.3
    image[-height // 4 :, : width // 4] = 0.1
    return (image - image.mean()) / image.std()


def slow_filter(size: int, wavelength: float, sigma: float, degrees: float, *, circular: bool) -> np.ndarray:
    """The definition, a pixel at a time: a Gaussian 0.3 times as high as wide, times a wave across it."""
    radius = size // 2
    values = np.zeros((size, size))
    across = np.exp(-1j * np.radians(degrees))
    for row in range(size):
        for column in range(size):
            place = (column - radius + 1j * (row - radius)) / across
            if not circular or abs(place) <= size / 2:
                width, height = place.real / sigma, 0.3 * place.imag / sigma
                values[row, column] = np.exp(-(width**2 + height**2) / 2) * np.cos(2 * np.pi * place.real / wavelength)
    values = values - values.mean()
    return values / np.sqrt(np.sum(values**2))


def slow_s1(image: np.ndarray, filters: np.ndarray) -> np.ndarray:
    """Each filter on each window, over the contrast of the window or of one with standard deviation 1, if greater."""
    size = filters.shape[1]
    responses = np.zeros((len(filters), image.shape[0] - size + 1, image.shape[1] - size + 1))
    for row, column in np.ndindex(*responses.shape[1:]):
        window = image[row : row + size, column : column + size]
        contrast = max(np.linalg.norm(window - window.mean()), size)
        responses[:, row, column] = np.abs(np.tensordot(filters, window)) / contrast
    return responses


def slow_serre_c1(image: np.ndarray) -> list[np.ndarray]:
    bands = []
    for band in range(8):
        sizes = (4 * band + 7, 4 * band + 9)
        pair = []
        for size in sizes:
            wavelength = 2 * size / (4 - 0.05 * (size - 7) / 2)
            filters = [slow_filter(size, wavelength, 0.8 * wavelength, 45 * k, circular=True) for k in range(4)]
            pair.append(slow_s1(image, np.array(filters)))
        pool, stride = 8 + 2 * band, 4 + band
        height, width = pair[1].shape[1:]
        c1 = np.zeros((4, (height - pool) // stride + 1, (width - pool) // stride + 1))
        for row, column in np.ndindex(*c1.shape[1:]):
            i, j = row * stride, column * stride
            large = pair[1][:, i : i + pool, j : j + pool]
            # the same centres under the smaller filter
            small = pair[0][:, i + 1 : i + 1 + pool, j + 1 : j + 1 + pool]
            c1[:, row, column] = np.maximum(large, small).max(axis=(1, 2))
        bands.append(c1)
    return bands


def slow_inhibited(maps: np.ndarray, h: float) -> np.ndarray:
    out = maps.copy()
    for row, column in np.ndindex(*maps.shape[1:]):
        values = maps[:, row, column]
        for k, value in enumerate(values):
            if value < values.min() + h * (values.max() - values.min()):
                out[k, row, column] = 0
    return out


def slow_pyramid_c1(image: np.ndarray, h: float) -> list[np.ndarray]:
    filters = np.array([slow_filter(11, 5.6, 4.5, 15 * k, circular=False) for k in range(12)])
    sides = [tuple(round(side * 2 ** (-scale / 4)) for side in image.shape) for scale in range(10)]
    scaled = [cv2.resize(image, side[::-1], interpolation=cv2.INTER_AREA) for side in sides]
    s1 = [slow_inhibited(slow_s1(picture, filters), h) for picture in scaled]
    scales = []
    for scale in range(9):
        height, width = s1[scale].shape[1:]
        c1 = np.zeros((12, (height - 10) // 5 + 1, (width - 10) // 5 + 1))
        # centres of the next scale's filters, in pixels of this one
        centres = [
            (np.arange(s1[scale + 1].shape[axis + 1]) + 5.5) * sides[scale][axis] / sides[scale + 1][axis]
            for axis in range(2)
        ]
        for row, column in np.ndindex(*c1.shape[1:]):
            own = s1[scale][:, 5 * row : 5 * row + 10, 5 * column : 5 * column + 10]
            keep = [
                (start - 1e-9 <= centre) & (centre < start + 10 - 1e-9)
                for start, centre in zip((5 * row + 5, 5 * column + 5), centres, strict=True)
            ]
            other = s1[scale + 1][:, keep[0]][:, :, keep[1]]
            c1[:, row, column] = np.maximum(own.max(axis=(1, 2)), other.max(axis=(1, 2)))
        scales.append(slow_inhibited(c1, h))
    return scales


def test_filters_are_those_of_the_definition() -> None:
    for number in range(16):
        size = 7 + 2 * number
        wavelength = 2 * size / (4 - 0.05 * number)
        for k in range(4):
            expected = slow_filter(size, wavelength, 0.8 * wavelength, 45 * k, circular=True)
            np.testing.assert_allclose(serre_filters(number)[k], expected, atol=1e-6)
    for k in range(12):
        np.testing.assert_allclose(pyramid_filters()[k], slow_filter(11, 5.6, 4.5, 15 * k, circular=False), atol=1e-6)


def test_published_table_of_filters() -> None:
    """Wavelengths and widths that ports of Serre's program list, to one decimal, not all of them rounded alike."""
    wavelengths = [3.5, 4.6, 5.6, 6.8, 7.9, 9.1, 10.3, 11.5, 12.7, 14.1, 15.4, 16.8, 18.2, 19.7, 21.2, 22.8]
    sigmas = [2.8, 3.6, 4.5, 5.4, 6.3, 7.3, 8.2, 9.2, 10.2, 11.3, 12.3, 13.4, 14.6, 15.8, 17.0, 18.2]
    np.testing.assert_allclose(gabor_c1.SERRE_WAVELENGTHS, wavelengths, atol=0.08)
    np.testing.assert_allclose(gabor_c1.SERRE_SIGMA * np.array(gabor_c1.SERRE_WAVELENGTHS), sigmas, atol=0.06)
    assert gabor_c1.SERRE_POOLS == (8, 10, 12, 14, 16, 18, 20, 22)


@pytest.mark.full
def test_serre_c1_equals_the_loop() -> None:
    image = texture(62, 68)
    bands = serre_c1(image)
    expected = slow_serre_c1(image)
    assert [band.shape for band in bands] == [c1.shape for c1 in expected]
    for band, c1 in zip(bands, expected, strict=True):
        assert band.dtype == np.float32
        np.testing.assert_allclose(band, c1, atol=1e-5)
        assert 0 <= band.min() <= band.max() <= 1


@pytest.mark.parametrize("inhibition", [0.0, 0.5])
def test_pyramid_c1_equals_the_loop(inhibition: float) -> None:
    image = texture(80, 87)
    scales = pyramid_c1(image, inhibition)
    expected = slow_pyramid_c1(image, inhibition)
    assert [scale.shape for scale in scales] == [c1.shape for c1 in expected]
    for scale, c1 in zip(scales, expected, strict=True):
        assert scale.dtype == np.float32
        # a response at the very threshold may fall to either side of it
        assert (np.abs(scale - c1) > 1e-5).sum() <= 1


def test_prepared_images() -> None:
    rng = np.random.default_rng(0)
    images = [rng.random(shape) for shape in ((272, 220), (60, 90), (140, 150), (11, 110))]
    prepared = prepare_images(images, "c1")
    assert [image.shape for image in prepared] == [(173, 140), (140, 210), (140, 150), (140, 1400)]
    for image in prepared:
        assert image.mean() == pytest.approx(0, abs=1e-12)
        assert image.std() == pytest.approx(1)
    # an image that has the size already keeps its pixels
    np.testing.assert_allclose(prepared[2], (images[2] - images[2].mean()) / images[2].std(), atol=1e-12)
    # brightness and contrast go, whatever their size
    for brightness, contrast in ((0.25, 0.5), (1e6, 1.0), (-3.0, 1e-6), (0.0, 1e8)):
        (other,) = prepare_images([contrast * images[0] + brightness], "c1")
        np.testing.assert_allclose(other, prepared[0], atol=1e-5)
