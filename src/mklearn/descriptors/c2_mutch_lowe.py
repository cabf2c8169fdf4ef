"""C2 features of Mutch and Lowe: sparse patches of C1, looked for near where they were seen."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from mklearn.descriptors.gabor_c1 import (
    PYRAMID_ORIENTATIONS,
    PYRAMID_POOL,
    PYRAMID_SCALES,
    PYRAMID_SIZE,
    PYRAMID_STRIDE,
    SHORT_SIDE,
    Maps,
    prepare_images,
    pyramid_c1,
    pyramid_sides,
)
from mklearn.descriptors.images import Grey, Images, as_grey_images, features_of, whole_number
from mklearn.errors import ConfigError, DataError

if TYPE_CHECKING:
    from collections.abc import Callable

# Places of C1 per side of a patch. [common]
PATCH_SIZES = (4, 8, 12, 16)
# The shortest side at which the largest patch fits into the first scale.
LEAST_SIDE = 95
# A patch is looked for within this share of the image's sides of where it was seen, and within this many scales.
# [common]
POSITION_RANGE = 0.05
SCALE_RANGE = 1

_LEARNED = {
    "sizes": np.int64,
    "values": np.float32,
    "orientations": np.int64,
    "positions": np.float64,
    "scales": np.int64,
}


def learn_c2_mutch_lowe(
    images: Images,
    *,
    random_state: int,
    n_patches: int = 2040,
    short_side: int = SHORT_SIDE,
    inhibition: float = 0.5,
    sigma: float = 1.0,
) -> dict[str, NDArray]:
    """Cut sparse patches of C1 from random places and scales of random images.

    Of each place of a patch, the orientation with the largest response is kept. Without labels, from whatever images
    are handed over: those of the training set, or all.

    Parameters
    ----------
    images, n_patches, short_side, inhibition, sigma : see `c2_mutch_lowe`
    random_state : int
        Seed of the draw of images, scales and places.

    Returns
    -------
    dict
        Sizes of patches are 4, 8, 12 and 16, as many of each (the smaller ones have the remainder), in this order.

        - ``sizes``, shape (n_patches,), int64: places per side of a patch;
        - ``values``, shape (n_patches, 256), float32: largest responses, row by row, zero beyond ``size^2``;
        - ``orientations``, shape (n_patches, 256), int64: whose they are, of 12;
        - ``positions``, shape (n_patches, 2), float64: row and column of the patch's centre over height and width of
          the image;
        - ``scales``, shape (n_patches,), int64: 0, ..., 8, of those in which the size fits at any place;
        - ``origins``, shape (n_patches, 3), int64: number of the image, row and column of the patch in its C1;
        - ``short_side`` and ``inhibition``, shape ().

    Raises
    ------
    DataError, ConfigError
        As `c2_mutch_lowe`.

    Notes
    -----
    A patch from a flat part of an image is as likely as any other, and may be all zero.
    """
    n_patches, short_side, inhibition, _ = _checked(n_patches, short_side, inhibition, sigma)
    grey = prepare_images(as_grey_images(images), short_side, "c2_mutch_lowe")
    rng = np.random.default_rng(whole_number(random_state, "random_state", 0))
    image_of = rng.integers(len(grey), size=n_patches)
    place = rng.random((n_patches, 3))
    sizes = patch_sizes(n_patches)
    values = np.zeros((n_patches, max(PATCH_SIZES) ** 2), dtype=np.float32)
    orientations = np.zeros(values.shape, dtype=np.int64)
    positions = np.empty((n_patches, 2))
    scales = np.empty(n_patches, dtype=np.int64)
    origins = np.empty((n_patches, 3), dtype=np.int64)
    for number in np.unique(image_of):
        c1 = pyramid_c1(grey[number], inhibition)
        sides = pyramid_sides(grey[number].shape)
        for patch in np.flatnonzero(image_of == number):
            size = sizes[patch]
            # sides shrink from scale to scale, so that those that hold the patch come first
            fitting = sum(min(maps.shape[1:]) >= size for maps in c1)
            scale = int(place[patch, 0] * fitting)
            maps = c1[scale]
            row, column = (place[patch, 1:] * (np.array(maps.shape[1:]) - size + 1)).astype(np.int64)
            window = maps[:, row : row + size, column : column + size]
            values[patch, : size**2] = window.max(axis=0).ravel()
            orientations[patch, : size**2] = window.argmax(axis=0).ravel()
            positions[patch] = _centre(np.array([row, column]), size) / sides[scale]
            scales[patch] = scale
            origins[patch] = number, row, column
    return {
        "sizes": sizes,
        "values": values,
        "orientations": orientations,
        "positions": positions,
        "scales": scales,
        "origins": origins,
        "short_side": np.array(short_side),
        "inhibition": np.array(inhibition),
    }


def c2_mutch_lowe(
    images: Images,
    *,
    learned: Mapping[str, NDArray],
    n_patches: int = 2040,
    short_side: int = SHORT_SIDE,
    inhibition: float = 0.5,
    sigma: float = 1.0,
) -> Grey:
    """C2 features of Mutch and Lowe (CVPR 2006), called C2-ML in MKL-DR (NIPS 2008).

    S1 and C1 are those of `mklearn.descriptors.gabor_c1.pyramid_c1`. A patch P has one orientation at each of its s x s
    places; S2 compares it with the responses X of these orientations in a window of C1. C2 is the maximum
    ``max_X exp(-||X - P||^2 / (2 sigma^2 (s / 4)^2))`` over windows near where the patch was seen: centres within 5 %
    of the image's height and width, in its own scale and the next on either side. Features are compared by
    "squared_euclidean".

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        At least 11 pixels per side, at most ten times as long as short; may differ in size.
    learned : mapping
        From `learn_c2_mutch_lowe` with the same parameters.
    n_patches : int
        Number of features. Not given in MKL-DR; Mutch and Lowe have about twice the default [common].
    short_side : int
        Images are resized to this short side in pixels, aspect kept, at least 95. 140 [common].
    inhibition : float
        h in 0..1: orientations of a place with less than ``min + h (max - min)`` over its orientations are set to zero,
        in S1 and in C1. 0.5 [common].
    sigma : float
        Width of S2 on patches of 4 x 4 places. 1 [common].

    Returns
    -------
    ndarray, shape (n, n_patches)
        In 0..1, the features of smaller patches first; 1 where the image holds the patch. Invariant to added brightness
        and to contrast, nearly to shifts by less than the 5 %; not to larger ones, nor to mirroring or turns. Images
        without contrast are alike: ``exp(-||P||^2 / ...)``.

    Raises
    ------
    DataError
        Not images, images too small or too long, or `learned` of another kind or of other parameters.
    ConfigError
        Illegal parameters.

    Notes
    -----
    No paper was at hand: [common] are parameters as commonly given, not checked.

    Ours: where the 5 % hold no window, as in coarse scales, the nearest one is taken; scales that are too small for a
    patch are left out. S1 divides by the contrast of a window about its mean, with a floor
    (`mklearn.descriptors.gabor_c1.Windows.norms`). Distances are in single precision. The paper's choice of features by
    the weights of a support vector machine needs labels and is left out.
    """
    n_patches, short_side, inhibition, sigma = _checked(n_patches, short_side, inhibition, sigma)
    sizes, values, orientations, positions, scales = _patches_of(learned, n_patches, short_side, inhibition)
    grey = prepare_images(as_grey_images(images), short_side, "c2_mutch_lowe")
    search = _compiled_search()

    def extract(image: Grey) -> NDArray:
        c1 = pyramid_c1(image, inhibition)
        shapes = np.array([maps.shape[1:] for maps in c1], dtype=np.int64)
        sides = np.array(pyramid_sides(image.shape)[: len(c1)], dtype=np.int64)
        responses = np.concatenate([maps.ravel() for maps in c1])
        distance = search(responses, shapes, sides, sizes, values, orientations, positions, scales).astype(np.float64)
        features: NDArray = np.exp(-distance / (2 * sigma**2 * (sizes / 4) ** 2))
        return features

    return features_of(grey, extract, "c2_mutch_lowe")


def patch_sizes(n_patches: int) -> NDArray[np.int64]:
    """The size of each patch: a quarter of each of the four, the remainder to the smaller ones."""
    kinds = len(PATCH_SIZES)
    counts = [n_patches // kinds + (number < n_patches % kinds) for number in range(kinds)]
    return np.repeat(np.array(PATCH_SIZES, dtype=np.int64), counts)


def _centre(start: Any, size: Any) -> Any:
    """Centre, in pixels of its scale, of `size` places of C1 in a row from the place `start`."""
    return PYRAMID_STRIDE * (start + (size - 1) / 2) + PYRAMID_SIZE // 2 + PYRAMID_POOL / 2


@cache
def _compiled_search() -> Callable[..., Maps]:
    from mklearn.kernels.compiled import compile_loop

    return compile_loop(_search)


def _search(
    responses: Maps,
    shapes: NDArray[np.int64],
    sides: NDArray[np.int64],
    sizes: NDArray[np.int64],
    values: Maps,
    orientations: NDArray[np.int64],
    positions: NDArray[np.float64],
    scales: NDArray[np.int64],
) -> Maps:
    """Least squared distance of each patch to the windows of C1 in its range, shape (n_patches,)."""
    margin = PYRAMID_SIZE // 2 + PYRAMID_POOL / 2
    starts = np.zeros(len(shapes), dtype=np.int64)
    for scale in range(1, len(shapes)):
        starts[scale] = starts[scale - 1] + PYRAMID_ORIENTATIONS * shapes[scale - 1, 0] * shapes[scale - 1, 1]
    distances = np.empty(len(sizes), dtype=np.float32)
    places = np.empty(values.shape[1], dtype=np.int64)
    first = np.zeros(2, dtype=np.int64)
    last = np.zeros(2, dtype=np.int64)
    for patch in range(len(sizes)):
        size = sizes[patch]
        best = np.float32(np.inf)
        for scale in range(max(scales[patch] - SCALE_RANGE, 0), min(scales[patch] + SCALE_RANGE + 1, len(shapes))):
            rows, columns = shapes[scale]
            if rows < size or columns < size:
                continue
            for axis in range(2):
                # the window's place at which its centre would be that of the patch, and the range around it
                middle = (positions[patch, axis] * sides[scale, axis] - margin) / PYRAMID_STRIDE - (size - 1) / 2
                reach = POSITION_RANGE * sides[scale, axis] / PYRAMID_STRIDE
                top = shapes[scale, axis] - size
                first[axis] = max(int(np.ceil(middle - reach)), 0)
                last[axis] = min(int(np.floor(middle + reach)), top)
                if first[axis] > last[axis]:
                    first[axis] = min(max(int(np.rint(middle)), 0), top)
                    last[axis] = first[axis]
            entry = 0
            for row in range(size):
                for column in range(size):
                    places[entry] = (orientations[patch, entry] * rows + row) * columns + column
                    entry += 1
            for row in range(first[0], last[0] + 1):
                for column in range(first[1], last[1] + 1):
                    corner = starts[scale] + row * columns + column
                    total = np.float32(0)
                    # a row of the patch at a time, until it can't be the best any more
                    for line in range(size):
                        for entry in range(line * size, (line + 1) * size):
                            difference = responses[corner + places[entry]] - values[patch, entry]
                            total += difference * difference
                        if total >= best:
                            break
                    best = min(best, total)
        distances[patch] = best
    return distances


def _checked(n_patches: int, short_side: int, inhibition: float, sigma: float) -> tuple[int, int, float, float]:
    n_patches = whole_number(n_patches, "n_patches")
    short_side = whole_number(short_side, "short_side", LEAST_SIDE)
    if not (isinstance(inhibition, int | float) and 0 <= inhibition <= 1):
        raise ConfigError(f"inhibition = {inhibition!r} is not legal: it must be a number from 0 to 1")
    if not (isinstance(sigma, int | float) and np.isfinite(sigma) and sigma > 0):
        raise ConfigError(f"sigma = {sigma!r} is not legal: it must be a finite number greater than 0")
    return n_patches, short_side, float(inhibition), float(sigma)


def _patches_of(
    learned: Mapping[str, NDArray], n_patches: int, short_side: int, inhibition: float
) -> tuple[NDArray, ...]:
    """Sizes, values, orientations, positions and scales; DataError where they are not what the parameters ask for."""
    missing = sorted({*_LEARNED, "short_side", "inhibition"} - set(learned))
    if missing:
        raise DataError(f"learned has no {', '.join(missing)}; it must come from learn_c2_mutch_lowe")
    for name, asked in (("short_side", short_side), ("inhibition", inhibition)):
        if float(learned[name]) != asked:
            raise DataError(
                f"learned: {name} is {learned[name]}, but {asked} is asked for; learn with the same parameters"
            )
    length = max(PATCH_SIZES) ** 2
    shapes = {"values": (n_patches, length), "orientations": (n_patches, length), "positions": (n_patches, 2)}
    arrays = {name: np.ascontiguousarray(learned[name], dtype=dtype) for name, dtype in _LEARNED.items()}
    for name, array in arrays.items():
        shape = shapes.get(name, (n_patches,))
        if array.shape != shape:
            raise DataError(
                f"learned: {name} has shape {array.shape}, but c2_mutch_lowe with n_patches = {n_patches} needs "
                f"{shape}; learn with the same parameters"
            )
    # the compiled search indexes by these without a check
    legal = (
        np.isin(arrays["sizes"], PATCH_SIZES).all()
        and ((arrays["orientations"] >= 0) & (arrays["orientations"] < PYRAMID_ORIENTATIONS)).all()
        and ((arrays["scales"] >= 0) & (arrays["scales"] < PYRAMID_SCALES - 1)).all()
        and np.isfinite(arrays["positions"]).all()
    )
    if not legal:
        raise DataError("learned has sizes, orientations, scales or positions that learn_c2_mutch_lowe does not give")
    return tuple(arrays.values())
