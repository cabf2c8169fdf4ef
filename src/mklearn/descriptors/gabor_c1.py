"""The first two layers, S1 and C1, of models of visual cortex: Gabor filters, and local maxima of their responses.

Two of them: the filter bank of Serre, Wolf and Poggio (`serre_c1`), and the image pyramid under a single filter of
Mutch and Lowe (`pyramid_c1`). The layers above are in `c2_serre` and `c2_mutch_lowe`.

No paper was at hand when this was written. Parameters below are tagged [ports] where several public programs agree on
them (among them ports of Serre's own), and [common] where they are as commonly given and were not checked.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from mklearn.descriptors.images import Grey, require_size
from mklearn.errors import DataError

Maps = NDArray[np.float32]

# Serre: 16 filters of 7, 9, ..., 37 pixels a side in 8 bands of two, 4 orientations. The wavelength is twice the size
# over a tightness that falls from 4 to 3.25, sigma is 0.8 wavelengths: the papers' table, before its rounding. [ports]
SERRE_SIZES = tuple(range(7, 39, 2))
SERRE_WAVELENGTHS = tuple(2 * size / (4 - 0.05 * number) for number, size in enumerate(SERRE_SIZES))
SERRE_SIGMA = 0.8
SERRE_ORIENTATIONS = 4
# Band b takes maxima over squares of 8, 10, ..., 22 responses, at every half of that. [ports]
SERRE_POOLS = tuple(range(8, 24, 2))

# Mutch and Lowe: one filter of 11 x 11 pixels, 12 orientations, 10 scales, each smaller by the fourth root of two.
# [common]
PYRAMID_SIZE = 11
PYRAMID_WAVELENGTH = 5.6
PYRAMID_SIGMA = 4.5
PYRAMID_ORIENTATIONS = 12
PYRAMID_SCALES = 10
PYRAMID_STEP = 2**0.25
# maxima over 10 x 10 responses of two neighbouring scales, at every fifth [common]
PYRAMID_POOL = 10
PYRAMID_STRIDE = 5

# Height of a filter's Gaussian over its width, in both models. [ports]
ASPECT = 0.3

# Both models enlarge or reduce every image to this short side. [common]
SHORT_SIDE = 140
# The smallest image taken: a smaller one holds nothing worth enlarging to that. Our choice, the pyramid's filter.
LEAST = PYRAMID_SIZE
# An image longer than this many short sides would grow beyond memory; photographs are far from it.
LONGEST = 10
# Values that differ by less than this share of the largest are taken for one value and rounding.
FLAT = 1e-9
# Least contrast of a window, over that of the whole image, in the denominator of S1. Ours, see `Windows.norms`.
FLOOR = 1.0


def gabor_filter(size: int, *, wavelength: float, sigma: float, angle: float, round_: bool) -> Maps:
    """Even Gabor filter with mean zero and norm one.

    ``exp(-(u^2 + 0.3^2 v^2) / (2 sigma^2)) cos(2 pi u / wavelength)`` with ``u = x cos(angle) - y sin(angle)`` and
    ``v = x sin(angle) + y cos(angle)``, x to the right, y down, both from the centre.

    Parameters
    ----------
    size : int
        Pixels per side, odd.
    wavelength, sigma : float
        In pixels.
    angle : float
        In radians, over a half turn. 0 answers vertical edges.
    round_ : bool
        Set the corners beyond the inscribed circle to zero before the mean is taken off, as Serre's program does.

    Returns
    -------
    ndarray of float32, shape (size, size)
        Unchanged by a half turn. Rounding leaves its sum within 1e-6 of zero.
    """
    radius = size // 2
    y, x = np.mgrid[-radius : radius + 1, -radius : radius + 1].astype(np.float64)
    u = x * math.cos(angle) - y * math.sin(angle)
    v = x * math.sin(angle) + y * math.cos(angle)
    values = np.exp(-(u**2 + ASPECT**2 * v**2) / (2 * sigma**2)) * np.cos(2 * np.pi * u / wavelength)
    if round_:
        values[np.hypot(x, y) > size / 2] = 0
    values -= values.mean()
    return (values / np.linalg.norm(values)).astype(np.float32)


def prepare_images(images: Sequence[Grey], short_side: int, model: str) -> list[Grey]:
    """Resize grey images to a short side of `short_side` pixels, aspect kept; mean 0 and standard deviation 1.

    Shrinks by area means and enlarges linearly. An image whose values differ by rounding only becomes exactly zero.

    Parameters
    ----------
    images : from `mklearn.descriptors.images.as_grey_images`
    short_side : int
        In pixels.
    model : str
        Whose images they are, for messages.

    Raises
    ------
    DataError
        An image with fewer than 11 pixels a side (there is nothing in it to enlarge), or more than ten times as long
        as it is short. The message names the image.
    """
    require_size(images, LEAST, model)
    for number, image in enumerate(images):
        if max(image.shape) > LONGEST * min(image.shape):
            raise DataError(
                f"image {number} has {image.shape[0]} x {image.shape[1]} pixels, but {model} takes images up to "
                f"{LONGEST} times as long as they are short; crop it"
            )
    return [_prepared(image, short_side) for image in images]


def serre_c1(image: Grey) -> list[Maps]:
    """C1 of Serre, Wolf and Poggio (CVPR 2005): 8 bands of maxima over positions and over two sizes of filter.

    S1 is the absolute response of a filter over the contrast of the window under it (see `Windows.norms`), wherever
    the filter lies within the image. C1 of band b = 1, ..., 8 is the maximum of both sizes of filter in the band over
    squares of ``2 b + 6`` responses, every ``b + 3`` of them.

    Parameters
    ----------
    image : ndarray, shape (h, w)
        From `prepare_images`, at least 58 pixels a side.

    Returns
    -------
    list of 8 ndarray of float32, shape (4, rows, columns)
        Orientation, and a grid of places that grows coarser from band to band. Values in 0..1.

    Notes
    -----
    Deviation: Serre's program keeps places where the filter leaves the image, with responses of zero [ports]; here the
    grid begins and ends where all filters of the band fit.
    """
    from scipy import fft

    # The filters do not reach across the end of the image where responses are kept, so that the transform needs no
    # margin. Few lengths (all fast ones), so that the transforms of the filters are found again.
    height, width = (32 * math.ceil(length / 32) for length in image.shape)
    spectra = _serre_spectra(height, width)
    spectrum = fft.rfft2(image.astype(np.float32), (height, width))
    windows = Windows(image)
    bands = []
    for band, pool in enumerate(SERRE_POOLS):
        filtered = fft.irfft2(spectrum * spectra[2 * band : 2 * band + 2], (height, width))
        sizes = []
        for number in range(2):
            size = SERRE_SIZES[2 * band + number]
            rows, columns = (slice(size // 2, length - size // 2) for length in image.shape)
            responses = np.abs(filtered[number, :, rows, columns])
            responses /= windows.norms(size)
            sizes.append(responses)
        # the smaller filter fits at one more place on each side
        both = np.maximum(sizes[0][:, 1:-1, 1:-1], sizes[1])
        bands.append(maxima(both, *(_steps(length, pool, pool // 2) for length in both.shape[1:])))
    return bands


def pyramid_c1(image: Grey, inhibition: float) -> list[Maps]:
    """C1 of Mutch and Lowe (CVPR 2006): one filter on an image pyramid, maxima over 10 x 10 responses of two scales.

    Parameters
    ----------
    image : ndarray, shape (h, w)
        From `prepare_images`, at least 80 pixels a side.
    inhibition : float
        h in 0..1: at each place of S1 and again of C1, orientations whose response is below ``min + h (max - min)``
        over the orientations become zero. h = 0 inhibits nothing.

    Returns
    -------
    list of 9 ndarray of float32, shape (12, rows, columns)
        Orientation, and a grid of places; place (i, j) of scale s stands for the pixels ``5 i + 5 <= row < 5 i + 15``
        of the image at that scale, columns alike. Values in 0..1.

    Notes
    -----
    Sides of the scales are rounded (`pyramid_sides`). The second scale under a maximum is the next smaller one, with
    the responses there whose centres lie in the same part of the image: 8 or 9 per side. How the paper aligns the two
    was not checked.
    """
    import cv2

    weights = pyramid_filters().reshape(PYRAMID_ORIENTATIONS, -1)
    s1 = []
    sides = pyramid_sides(image.shape)
    for height, width in sides:
        scaled = np.asarray(cv2.resize(image, (width, height), interpolation=cv2.INTER_AREA), dtype=np.float64)
        norms = Windows(scaled).norms(PYRAMID_SIZE)
        responses = np.abs(weights @ windows_of(scaled.astype(np.float32)[None], PYRAMID_SIZE))
        responses = responses.reshape(PYRAMID_ORIENTATIONS, *norms.shape)
        responses /= norms
        s1.append(_inhibited(responses, inhibition))
    scales = []
    for scale in range(PYRAMID_SCALES - 1):
        fine, coarse = s1[scale : scale + 2]
        own = [_steps(length, PYRAMID_POOL, PYRAMID_STRIDE) for length in fine.shape[1:]]
        next_ = [
            _steps_of_next(len(steps), here, there)
            for steps, here, there in zip(own, sides[scale], sides[scale + 1], strict=True)
        ]
        scales.append(_inhibited(np.maximum(maxima(fine, *own), maxima(coarse, *next_)), inhibition))
    return scales


def pyramid_sides(shape: tuple[int, ...]) -> list[tuple[int, int]]:
    """Height and width in pixels of the 10 scales of an image: its own over powers of the fourth root of 2, rounded."""
    return [
        (round(shape[0] / PYRAMID_STEP**scale), round(shape[1] / PYRAMID_STEP**scale))
        for scale in range(PYRAMID_SCALES)
    ]


class Windows:
    """Contrast of all square windows of an image, from its integral image."""

    def __init__(self, image: Grey) -> None:
        import cv2

        self._sums, self._squares = cv2.integral2(image)

    def norms(self, size: int) -> Maps:
        """What S1 divides by, for windows of ``size x size`` pixels; shape (h - size + 1, w - size + 1).

        That is a window's contrast ``sqrt(sum_i (x_i - mean)^2)`` over its pixels x, or `FLOOR` = 1 times what it would
        be in a window with the contrast of the whole image (standard deviation 1), if that is greater.

        Notes
        -----
        Deviation: the papers divide by ``sqrt(sum_i x_i^2)`` [common], by which an edge in a bright part counts for
        less than the same edge in a dark one, and brightness changes features. About the mean alone, the noise of flat
        parts would count as much as edges do: hence the floor. It was chosen on 450 photographs of 15 classes of
        Caltech-101, half of them for training (squared distances to 400 patches of `c2_serre`, RBF kernel ridge
        regression): 64 % recognised; 60 % with a floor of 0.3, 55 % without one, 55 % by the papers' norm. For
        `c2_mutch_lowe` floors of 0.3 to 2 gave 64 to 66 %.
        """
        sums, squares = (
            table[size:, size:] - table[:-size, size:] - table[size:, :-size] + table[:-size, :-size]
            for table in (self._sums, self._squares)
        )
        variation = squares - sums**2 / size**2
        norms: Maps = np.sqrt(np.maximum(variation, (FLOOR * size) ** 2)).astype(np.float32)
        return norms


def windows_of(maps: Maps, size: int) -> Maps:
    """All windows of ``size x size`` places of maps (n, h, w), shape (n size^2, (h - size + 1) (w - size + 1))."""
    views = np.lib.stride_tricks.sliding_window_view(maps, (size, size), axis=(1, 2))
    return views.transpose(0, 3, 4, 1, 2).reshape(len(maps) * size**2, -1)


def maxima(maps: Maps, rows: NDArray[np.intp], columns: NDArray[np.intp]) -> Maps:
    """Maxima over rectangles: of the rows ``rows[i]`` and the columns ``columns[j]`` at place (i, j).

    Parameters
    ----------
    maps : ndarray, shape (n, h, w)
    rows, columns : ndarray of int, shape (n_places, n_in_window)
        An index may occur twice in a row.

    Returns
    -------
    ndarray, shape (n, len(rows), len(columns))
    """
    # along the first axis of each map both times, where a place is a contiguous line of memory
    for windows in (rows, columns):
        best = maps[:, windows[:, 0]]
        for index in windows.T[1:]:
            np.maximum(best, maps[:, index], out=best)
        maps = np.ascontiguousarray(best.transpose(0, 2, 1))
    return maps


@lru_cache(maxsize=1)
def serre_filters() -> tuple[Maps, ...]:
    """The 16 sizes of filter, each of shape (4, size, size), at 0, 45, 90 and 135 degrees."""
    return tuple(
        _filters(size, wavelength, SERRE_SIGMA * wavelength, SERRE_ORIENTATIONS, round_=True)
        for size, wavelength in zip(SERRE_SIZES, SERRE_WAVELENGTHS, strict=True)
    )


@lru_cache(maxsize=1)
def pyramid_filters() -> Maps:
    """The filter at 0, 15, ..., 165 degrees, shape (12, 11, 11)."""
    return _filters(PYRAMID_SIZE, PYRAMID_WAVELENGTH, PYRAMID_SIGMA, PYRAMID_ORIENTATIONS, round_=False)


def _filters(size: int, wavelength: float, sigma: float, orientations: int, *, round_: bool) -> Maps:
    filters = np.stack(
        [
            gabor_filter(size, wavelength=wavelength, sigma=sigma, angle=math.pi * number / orientations, round_=round_)
            for number in range(orientations)
        ]
    )
    filters.flags.writeable = False  # every caller gets the same array
    return filters


@lru_cache(maxsize=8)
def _serre_spectra(height: int, width: int) -> Maps:
    """Transforms of Serre's filters on a torus of ``height x width``, shape (16, 4, height, width // 2 + 1).

    They are real, as the filters are even about their centres, which lie at the origin. 5 MB at 160 x 224.
    """
    from scipy import fft

    spectra = np.empty((len(SERRE_SIZES), SERRE_ORIENTATIONS, height, width // 2 + 1), dtype=np.float32)
    for number, (size, filters) in enumerate(zip(SERRE_SIZES, serre_filters(), strict=True)):
        padded = np.zeros((SERRE_ORIENTATIONS, height, width), dtype=np.float32)
        padded[:, :size, :size] = filters
        spectra[number] = fft.rfft2(np.roll(padded, (-(size // 2), -(size // 2)), axis=(1, 2))).real
    spectra.flags.writeable = False
    return spectra


def _prepared(image: Grey, short_side: int) -> Grey:
    import cv2

    # before resizing, so that a large offset costs no digits
    centred = np.ascontiguousarray(image - image.mean())
    if np.abs(centred).max() <= FLAT * np.abs(image).max():
        centred = np.zeros_like(centred)
    shortest = min(image.shape)
    height, width = (max(short_side, round(side * short_side / shortest)) for side in image.shape)
    interpolation = cv2.INTER_AREA if short_side < shortest else cv2.INTER_LINEAR
    resized = np.asarray(cv2.resize(centred, (width, height), interpolation=interpolation), dtype=np.float64)
    resized -= resized.mean()
    deviation = resized.std()
    return resized / deviation if deviation > 0 else resized


def _inhibited(maps: Maps, inhibition: float) -> Maps:
    """`maps`, changed in place: what is weak among the orientations of its place becomes zero."""
    least, most = maps.min(axis=0), maps.max(axis=0)
    # rounding must not carry the threshold beyond the maximum
    threshold = np.minimum(least + np.float32(inhibition) * (most - least), most)
    maps *= maps >= threshold
    return maps


def _steps(length: int, window: int, stride: int) -> NDArray[np.intp]:
    """Indices of the windows of `window` places, every `stride`, that lie within `length`; shape (n, window)."""
    starts = np.arange(0, length - window + 1, stride)
    return starts[:, None] + np.arange(window)


def _steps_of_next(places: int, here: int, there: int) -> NDArray[np.intp]:
    """Indices of the responses at the next scale with centres in the windows of this one, along an axis.

    `here` and `there` are the pixels of both scales along the axis. Pixel p reaches from p to p + 1.
    """
    margin = PYRAMID_SIZE // 2
    edges = (PYRAMID_STRIDE * np.arange(places)[:, None] + margin + np.array([0, PYRAMID_POOL])) * (there / here)
    # response v has its centre at v + margin + 1/2
    first, end = np.ceil(edges - margin - 0.5).astype(np.intp).T
    last = there - PYRAMID_SIZE
    first = np.clip(first, 0, last)
    end = np.clip(end - 1, first, last)
    # windows shorter than the longest repeat their last index, which changes no maximum
    return np.minimum(first[:, None] + np.arange((end - first).max() + 1), end[:, None])
