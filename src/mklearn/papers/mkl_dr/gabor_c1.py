"""S1 and C1, the first two layers of visual cortex models: Gabor filters and local maxima of their responses.

`serre_c1` is the filter bank of Serre, Wolf and Poggio; `pyramid_c1` the image pyramid with a single filter of Mutch
and Lowe. The layers above are in `mklearn.papers.mkl_dr.c2`.

The parameters were not checked against the papers. Tags give their source. [ports]: several public programs agree on
them, ports of Serre's among them. [common]: commonly given values.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mklearn.descriptors.images import Grey, Images, as_grey_images, require_size
from mklearn.errors import DataError
from mklearn.extras import require

Maps = NDArray[np.float32]

# Serre: 16 filters of 7, 9, ..., 37 pixels a side in 8 bands of two, 4 orientations. The wavelength is twice the size
# over a tightness that decreases from 4 to 3.25; sigma is 0.8 wavelengths: the papers' table before rounding. [ports]
SERRE_SIZES = tuple(range(7, 39, 2))
SERRE_WAVELENGTHS = tuple(2 * size / (4 - 0.05 * number) for number, size in enumerate(SERRE_SIZES))
SERRE_SIGMA = 0.8
SERRE_ORIENTATIONS = 4
# Band b takes maxima over squares of 8, 10, ..., 22 responses, half of that apart. [ports]
SERRE_POOLS = tuple(range(8, 24, 2))

# Mutch and Lowe: one filter of 11 x 11 pixels, 12 orientations, 10 scales by the fourth root of two. [common]
PYRAMID_SIZE = 11
PYRAMID_WAVELENGTH = 5.6
PYRAMID_SIGMA = 4.5
PYRAMID_ORIENTATIONS = 12
PYRAMID_SCALES = 10
PYRAMID_STEP = 2**0.25
# maxima over 10 x 10 responses of two adjacent scales, 5 apart [common]
PYRAMID_POOL = 10
PYRAMID_STRIDE = 5

# Height of a filter's Gaussian over its width. [ports]
ASPECT = 0.3

# Images are resized to this short side. [common]
SHORT_SIDE = 140
# Largest ratio of the sides of an image; longer ones would need too much memory.
LARGEST_RATIO = 10
# Values that differ by less than this, relative to the largest, differ by rounding only.
FLAT = 1e-9


@lru_cache(maxsize=32)
def gabor_filters(size: int, wavelength: float, sigma: float, orientations: int, circular: bool) -> Maps:
    """Compute even Gabor filters with mean zero and norm one at equal angles, shape (orientations, size, size).

    ``exp(-(u^2 + 0.3^2 v^2) / (2 sigma^2)) cos(2 pi u / wavelength)`` with ``u = x cos(angle) - y sin(angle)`` and
    ``v = x sin(angle) + y cos(angle)``, x to the right, y down, both from the centre, in pixels. An angle of 0 responds
    to vertical edges. With `circular`, the corners outside the inscribed circle become zero before the mean is
    subtracted, as in Serre's program.
    """
    radius = size // 2
    y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1].astype(np.float64)
    filters = np.empty((orientations, size, size), dtype=np.float32)
    for number in range(orientations):
        angle = math.pi * number / orientations
        u = x * math.cos(angle) - y * math.sin(angle)
        v = x * math.sin(angle) + y * math.cos(angle)
        values = np.exp(-(u**2 + ASPECT**2 * v**2) / (2 * sigma**2)) * np.cos(2 * np.pi * u / wavelength)
        if circular:
            values[np.hypot(x, y) > size / 2] = 0
        values -= values.mean()
        filters[number] = values / np.linalg.norm(values)
    filters.flags.writeable = False  # cached
    return filters


def serre_filters(number: int) -> Maps:
    """Return one of the 16 sizes of Serre's filters, at 0, 45, 90 and 135 degrees."""
    wavelength = SERRE_WAVELENGTHS[number]
    return gabor_filters(SERRE_SIZES[number], wavelength, SERRE_SIGMA * wavelength, SERRE_ORIENTATIONS, True)


def pyramid_filters() -> Maps:
    """Return Mutch and Lowe's filter at 0, 15, ..., 165 degrees, shape (12, 11, 11)."""
    return gabor_filters(PYRAMID_SIZE, PYRAMID_WAVELENGTH, PYRAMID_SIGMA, PYRAMID_ORIENTATIONS, False)


def prepare_images(images: Images, model: str) -> list[Grey]:
    """Convert images to grey, with a short side of 140 pixels, the same aspect, mean 0 and standard deviation 1.

    Images shrink by area means and grow by linear interpolation. An image whose values differ by rounding only becomes
    exactly zero. Raise `DataError`, which names `model`, for invalid images, and for images with a side below 11 pixels
    or a ratio of sides above ten.
    """
    grey = as_grey_images(images)
    require_size(grey, PYRAMID_SIZE, model)  # smaller images have too little content to enlarge
    for number, image in enumerate(grey):
        if max(image.shape) > LARGEST_RATIO * min(image.shape):
            raise DataError(
                f"Image {number} has {image.shape[0]} x {image.shape[1]} pixels, but {model} needs images at most "
                f"{LARGEST_RATIO} times as long as short: crop it."
            )
    return [_prepared(image) for image in grey]


def serre_c1(image: Grey) -> list[Maps]:
    """Compute C1 of Serre, Wolf and Poggio (CVPR 2005): 8 bands of maxima over positions and two filter sizes.

    The image is from `prepare_images`. S1 is the absolute response of a filter over the contrast of the window under it
    (see `window_norms`), where the filter lies within the image. C1 of band b = 1, ..., 8, shape (4, rows, columns), is
    the maximum of both filter sizes of the band over squares of ``2 b + 6`` responses, ``b + 3`` apart, in 0..1.

    Deviation: Serre's program keeps places where the filter leaves the image, with responses of zero [ports]; here the
    grid has only places where all filters of the band fit.
    """
    require("cv2")
    import cv2
    from scipy import fft

    # Where responses are kept, filters do not reach beyond the image, so the transform needs no margin. Multiples of 32
    # are fast, and few lengths make the cache of the filters' transforms effective.
    height, width = (32 * math.ceil(length / 32) for length in image.shape)
    spectra = _serre_spectra(height, width)
    spectrum = fft.rfft2(image.astype(np.float32), (height, width))
    integrals = cv2.integral2(image)
    bands = []
    for band, pool in enumerate(SERRE_POOLS):
        filtered = fft.irfft2(spectrum * spectra[2 * band : 2 * band + 2], (height, width))
        sizes = []
        for number in range(2):
            size = SERRE_SIZES[2 * band + number]
            rows, columns = (slice(size // 2, length - size // 2) for length in image.shape)
            responses = np.abs(filtered[number, :, rows, columns])
            responses /= window_norms(integrals, size)
            sizes.append(responses)
        # the smaller filter has one more place on each side
        both = np.maximum(sizes[0][:, 1:-1, 1:-1], sizes[1])
        bands.append(maxima(both, *(_steps(length, pool, pool // 2) for length in both.shape[1:])))
    return bands


def pyramid_c1(image: Grey, inhibition: float) -> list[Maps]:
    """Compute C1 of Mutch and Lowe (CVPR 2006): maxima over 10 x 10 responses of two scales of an image pyramid.

    The image is from `prepare_images`. With h = ``inhibition`` in 0..1, responses below ``min + h (max - min)`` over
    the orientations of a place become zero, in S1 and again in C1. Return 9 scales of shape (12, rows, columns), in
    0..1: place (i, j) covers the pixels ``5 i + 5 <= row < 5 i + 15`` of the image at that scale, likewise the columns.

    The maximum includes the next smaller scale: its responses with centres in the same part of the image, 8 or 9 per
    side. How the paper aligns the two scales was not checked.
    """
    require("cv2")
    import cv2

    weights = pyramid_filters().reshape(PYRAMID_ORIENTATIONS, -1)
    s1 = []
    sides = pyramid_sides(image.shape)
    for height, width in sides:
        scaled = np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), dtype=np.float64)
        norms = window_norms(cv2.integral2(scaled), PYRAMID_SIZE)
        responses = np.abs(weights @ windows_of(scaled.astype(np.float32)[None], PYRAMID_SIZE))
        responses = responses.reshape(PYRAMID_ORIENTATIONS, *norms.shape)
        responses /= norms
        s1.append(_inhibited(responses, inhibition))
    scales = []
    for fine, coarse, here, there in zip(s1[:-1], s1[1:], sides[:-1], sides[1:], strict=True):
        steps = [_steps(length, PYRAMID_POOL, PYRAMID_STRIDE) for length in fine.shape[1:]]
        of_next = (_steps_of_next(len(each), *lengths) for each, *lengths in zip(steps, here, there, strict=True))
        scales.append(_inhibited(np.maximum(maxima(fine, *steps), maxima(coarse, *of_next)), inhibition))
    return scales


def pyramid_sides(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """Return height and width in pixels of the 10 scales: the image's over powers of 2^(1/4), rounded."""
    factors = [PYRAMID_STEP**scale for scale in range(PYRAMID_SCALES)]
    return [(round(shape[0] / factor), round(shape[1] / factor)) for factor in factors]


def window_norms(integrals: Sequence[NDArray], size: int) -> Maps:
    """Compute the denominators of S1 for windows of ``size x size`` pixels, shape (h - size + 1, w - size + 1).

    The denominator is the contrast ``sqrt(sum_i (x_i - mean)^2)`` of a window's pixels x, or the contrast of a window
    with the standard deviation of the whole image (1), whichever is greater. `integrals` are the integral images of the
    pixels and of their squares.

    Deviation: the papers divide by ``sqrt(sum_i x_i^2)`` [common], which weights edges in bright parts less than in
    dark ones and makes features depend on brightness. Without the floor, noise in flat parts would count as much as
    edges.
    """
    sums, squares = (
        table[size:, size:] - table[:-size, size:] - table[size:, :-size] + table[:-size, :-size] for table in integrals
    )
    return np.asarray(np.sqrt(np.maximum(squares - sums**2 / size**2, size**2)), dtype=np.float32)


def windows_of(maps: Maps, size: int) -> Maps:
    """Return all windows of ``size x size`` places of maps (n, h, w): (n size^2, (h - size + 1) (w - size + 1))."""
    views = np.lib.stride_tricks.sliding_window_view(maps, (size, size), axis=(1, 2))
    return views.transpose(0, 3, 4, 1, 2).reshape(len(maps) * size**2, -1)


def maxima(maps: Maps, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Maps:
    """Compute maxima of maps (n, h, w) over rectangles, shape (n, len(rows), len(columns)).

    Place (i, j) is the maximum over the rows ``rows[i]`` and the columns ``columns[j]``; indices can repeat.
    """
    # both passes along the first axis of each map, where a place is contiguous in memory
    for windows in (rows, columns):
        best = maps[:, windows[:, 0]]
        for index in windows.T[1:]:
            np.maximum(best, maps[:, index], out=best)
        maps = np.ascontiguousarray(best.transpose(0, 2, 1))
    return maps


@lru_cache(maxsize=8)
def _serre_spectra(height: int, width: int) -> Maps:
    """Transform Serre's filters on a torus of ``height x width``; shape (16, 4, height, width // 2 + 1).

    The transforms are real, as the filters are even about the origin. They take 5 MB at 160 x 224.
    """
    from scipy import fft

    spectra = np.empty((len(SERRE_SIZES), SERRE_ORIENTATIONS, height, width // 2 + 1), dtype=np.float32)
    for number, size in enumerate(SERRE_SIZES):
        padded = np.zeros((SERRE_ORIENTATIONS, height, width), dtype=np.float32)
        padded[:, :size, :size] = serre_filters(number)
        spectra[number] = fft.rfft2(np.roll(padded, (-(size // 2), -(size // 2)), axis=(1, 2))).real
    spectra.flags.writeable = False
    return spectra


def _prepared(image: Grey) -> Grey:
    require("cv2")
    import cv2

    # centred before resizing, so that a large offset costs no digits
    centred = np.ascontiguousarray(image - image.mean())
    if np.abs(centred).max() <= FLAT * np.abs(image).max():
        centred = np.zeros_like(centred)
    shortest = min(image.shape)
    height, width = (max(SHORT_SIDE, round(side * SHORT_SIDE / shortest)) for side in image.shape)
    interpolation = cv2.INTER_AREA if shortest > SHORT_SIDE else cv2.INTER_LINEAR
    resized = np.asarray(cv2.resize(centred, (width, height), interpolation=interpolation), dtype=np.float64)
    resized -= resized.mean()
    deviation = resized.std()
    return resized / deviation if deviation > 0 else resized


def _inhibited(maps: Maps, inhibition: float) -> Maps:
    """Set responses that are weak among the orientations of their place to zero, in place."""
    least, most = maps.min(axis=0), maps.max(axis=0)
    # rounding must not raise the threshold above the maximum
    threshold = np.minimum(least + np.float32(inhibition) * (most - least), most)
    maps *= maps >= threshold
    return maps


def _steps(length: int, window: int, stride: int) -> NDArray[np.intp]:
    """Return the indices of windows of `window` places, `stride` apart, within `length`; shape (n, window)."""
    starts = np.arange(0, length - window + 1, stride)
    return starts[:, None] + np.arange(window)


def _steps_of_next(places: int, here: int, there: int) -> NDArray[np.intp]:
    """Return the indices of responses at the next scale with centres in the windows of this one, along an axis.

    `here` and `there` are the numbers of pixels of both scales. Pixel p extends from p to p + 1.
    """
    margin = PYRAMID_SIZE // 2
    edges = (PYRAMID_STRIDE * np.arange(places)[:, None] + margin + np.array([0, PYRAMID_POOL])) * (there / here)
    # response v has its centre at v + margin + 1/2
    first, end = np.ceil(edges - margin - 0.5).astype(np.intp).T
    last = there - PYRAMID_SIZE
    first = np.clip(first, 0, last)
    end = np.clip(end - 1, first, last)
    # shorter windows repeat their last index, which does not change a maximum
    return np.minimum(first[:, None] + np.arange((end - first).max() + 1), end[:, None])
