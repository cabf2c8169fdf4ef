"""C2 features of Serre, Wolf and Poggio, and of Mutch and Lowe: the closest match of C1 patches in an image.

[ports] and [common] mark parameters that were not checked against the papers: see `mklearn.papers.mkl_dr.gabor_c1`.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import NonnegativeInt, PositiveInt, Share
from mklearn.descriptors.images import Grey, Images, Learned, descriptor, features_of, learned_array
from mklearn.errors import DataError
from mklearn.extras import compile_loop
from mklearn.papers.mkl_dr.gabor_c1 import (
    PYRAMID_ORIENTATIONS,
    PYRAMID_POOL,
    PYRAMID_SCALES,
    PYRAMID_SIZE,
    PYRAMID_STRIDE,
    SERRE_ORIENTATIONS,
    Maps,
    prepare_images,
    pyramid_c1,
    pyramid_sides,
    serre_c1,
    windows_of,
)

# Places of C1 per side of a patch. [ports] [common]
PATCH_SIZES = (4, 8, 12, 16)
# Serre's patches are cut from the second band, of filters of 11 and 13 pixels. [ports]
PATCH_BAND = 1
# Mutch and Lowe search for a patch within this share of the image's sides around its position, and within this many
# scales. [common]
POSITION_RANGE = 0.05
SCALE_RANGE = 1


def patch_sizes(n_patches: int) -> NDArray[np.int64]:
    """Return the size of each patch, ascending: a quarter each, the remainder to the smaller sizes."""
    kinds = len(PATCH_SIZES)
    counts = [n_patches // kinds + (number < n_patches % kinds) for number in range(kinds)]
    return np.repeat(np.array(PATCH_SIZES, dtype=np.int64), counts)


def _response(distance: NDArray[np.float64], size: NDArray | int) -> NDArray[np.float64]:
    """Compute ``exp(-distance / (2 (size / 4)^2))`` for squared distances to patches."""
    return np.asarray(np.exp(-distance / (2 * (size / 4) ** 2)))


@descriptor
def learn_c2_serre(
    images: Images, *, random_state: NonnegativeInt, n_patches: PositiveInt = 1000
) -> dict[str, NDArray]:
    """Cut patches of C1 at random places of random images, with all orientations of each place.

    `images` are the training images, or all images of a data set: labels are not used. `random_state` is the seed of
    the draw of images and places. A patch from a flat part of an image is as likely as any other, and can be all zero.

    Return for each size s of 4, 8, 12, 16 the array ``patches_<s>``, shape (m_s, 4, s, s), float32, with
    ``sum(m_s) = n_patches``; the m_s differ by one at most, smaller sizes have more. Errors are as for `c2_serre`.
    """
    grey = prepare_images(images, "c2_serre")
    rng = np.random.default_rng(random_state)
    image_of = rng.integers(len(grey), size=n_patches)
    place = rng.random((n_patches, 2))
    size_of = patch_sizes(n_patches)
    cut: list[Maps] = [np.empty(0, dtype=np.float32)] * n_patches
    for number in np.unique(image_of):
        c1 = serre_c1(grey[number])[PATCH_BAND]
        for patch in np.flatnonzero(image_of == number):
            size = size_of[patch]
            row, column = (place[patch] * (np.array(c1.shape[1:]) - size + 1)).astype(np.int64)
            cut[patch] = c1[:, row : row + size, column : column + size]
    of_size = {size: [cut[patch] for patch in np.flatnonzero(size_of == size)] for size in PATCH_SIZES}
    return {
        f"patches_{size}": np.array(patches, dtype=np.float32).reshape(-1, SERRE_ORIENTATIONS, size, size)
        for size, patches in of_size.items()
    }


@descriptor
def c2_serre(images: Images, *, learned: Learned, n_patches: PositiveInt = 1000) -> Grey:
    """Compute the C2 features of Serre, Wolf and Poggio [1]_, C2-SWP in MKL-DR (NIPS 2008).

    S1 and C1 are computed by `mklearn.papers.mkl_dr.gabor_c1.serre_c1`. S2 compares each patch P, of s x s places and
    all 4 orientations, with all windows X of C1 of its size in all bands. C2 is the maximum over windows and bands:
    ``max_X exp(-||X - P||^2 / (2 (s / 4)^2))``. Compare features by "squared_euclidean".

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        At least 11 pixels per side, at most ten times as long as short (else `DataError`); sizes may differ.
    learned : mapping
        The result of `learn_c2_serre` for the same parameters (else `DataError`).
    n_patches : int
        Number of features. Not given in MKL-DR; 1,000 is [common].

    Returns
    -------
    ndarray of shape (n, n_patches)
        In 0..1, the features of smaller patches first; 1 where the image holds the patch. Invariant to added brightness
        and to contrast, nearly invariant to shifts; not to mirroring or rotation. All images without contrast give
        ``exp(-||P||^2 / ...)``.

    Notes
    -----
    Deviations: the value of the paper's factor on the squared distance was not available. We use Mutch and Lowe's
    [common], ``1 / 2`` over ``(s / 4)^2``, which makes patches of different sizes comparable. S1 divides by the
    contrast of a window about its mean, with a floor (`mklearn.papers.mkl_dr.gabor_c1.window_norms`). Places where a
    filter or a patch leaves the image are omitted. Distances are in single precision.

    References
    ----------
    .. [1] Serre, Wolf, Poggio, "Object recognition with features inspired by visual cortex", CVPR 2005.
    """
    size_of = patch_sizes(n_patches)
    patches = []
    for size in PATCH_SIZES:
        shape = (int(np.sum(size_of == size)), SERRE_ORIENTATIONS, size, size)
        stored = learned_array(learned, f"patches_{size}", shape, "c2_serre", np.float32)
        patches.append(stored.reshape(len(stored), SERRE_ORIENTATIONS * size**2))
    grey = prepare_images(images, "c2_serre")

    def extract(image: Grey) -> NDArray:
        bands = serre_c1(image)
        sized = zip(patches, PATCH_SIZES, strict=True)
        return np.concatenate([_response(_least_distances(matrix, bands, size), size) for matrix, size in sized])

    return features_of(grey, extract, "c2_serre")


@descriptor
def learn_c2_mutch_lowe(
    images: Images, *, random_state: NonnegativeInt, n_patches: PositiveInt = 2040, inhibition: Share = 0.5
) -> dict[str, NDArray]:
    """Cut sparse patches of C1 at random places and scales of random images.

    At each place of a patch, only the orientation with the largest response is kept.

    `images` are the training images, or all images of a data set: labels are not used. `random_state` is the seed of
    the draw of images, scales and places. The other parameters and errors are as for `c2_mutch_lowe`. A patch from a
    flat part of an image is as likely as any other, and can be all zero.

    Returns
    -------
    dict
        Patches of sizes 4, 8, 12 and 16 in this order, equally many of each (the remainder to the smaller sizes).

        - ``values``, shape (n_patches, 256), float32: largest responses, row by row, zero beyond ``size^2``;
        - ``orientations``, shape (n_patches, 256), int64: orientations 0, ..., 11 of these responses;
        - ``positions``, shape (n_patches, 2), float64: row and column of the patch's centre over height and width of
          the image;
        - ``scales``, shape (n_patches,), int64: 0, ..., 8, among the scales in which the patch fits.
    """
    grey = prepare_images(images, "c2_mutch_lowe")
    rng = np.random.default_rng(random_state)
    image_of = rng.integers(len(grey), size=n_patches)
    place = rng.random((n_patches, 3))
    sizes = patch_sizes(n_patches)
    values = np.zeros((n_patches, max(PATCH_SIZES) ** 2), dtype=np.float32)
    orientations = np.zeros(values.shape, dtype=np.int64)
    positions = np.empty((n_patches, 2))
    scales = np.empty(n_patches, dtype=np.int64)
    for number in np.unique(image_of):
        c1 = pyramid_c1(grey[number], inhibition)
        sides = pyramid_sides(grey[number].shape)
        for patch in np.flatnonzero(image_of == number):
            size = sizes[patch]
            # sides shrink from scale to scale, so the scales that hold the patch come first
            fitting = sum(min(maps.shape[1:]) >= size for maps in c1)
            scale = int(place[patch, 0] * fitting)
            maps = c1[scale]
            row, column = (place[patch, 1:] * (np.array(maps.shape[1:]) - size + 1)).astype(np.int64)
            window = maps[:, row : row + size, column : column + size]
            values[patch, : size**2] = window.max(axis=0).ravel()
            orientations[patch, : size**2] = window.argmax(axis=0).ravel()
            positions[patch] = _centre(np.array([row, column]), size) / sides[scale]
            scales[patch] = scale
    return {"values": values, "orientations": orientations, "positions": positions, "scales": scales}


@descriptor
def c2_mutch_lowe(images: Images, *, learned: Learned, n_patches: PositiveInt = 2040, inhibition: Share = 0.5) -> Grey:
    """Compute the C2 features of Mutch and Lowe [1]_, C2-ML in MKL-DR (NIPS 2008).

    S1 and C1 are computed by `mklearn.papers.mkl_dr.gabor_c1.pyramid_c1`. A patch P has one orientation at each of its
    s x s places. S2 compares it with the responses X of these orientations in a window of C1. C2 is the maximum
    ``max_X exp(-||X - P||^2 / (2 (s / 4)^2))`` [common] over windows near the patch's position: with centres within 5 %
    of the image's height and width, in its own scale and the adjacent ones. Compare features by "squared_euclidean".

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        At least 11 pixels per side, at most ten times as long as short (else `DataError`); sizes may differ.
    learned : mapping
        The result of `learn_c2_mutch_lowe` for the same parameters (else `DataError`).
    n_patches : int
        Number of features. Not given in MKL-DR; Mutch and Lowe have about twice the default [common].
    inhibition : float
        h in 0..1: responses of a place below ``min + h (max - min)`` over its orientations are set to zero, in S1 and
        in C1. 0.5 [common].

    Returns
    -------
    ndarray of shape (n, n_patches)
        In 0..1, the features of smaller patches first; 1 where the image holds the patch. Invariant to added brightness
        and to contrast, nearly invariant to shifts below the 5 %; not to larger ones, mirroring or rotation. All images
        without contrast give ``exp(-||P||^2 / ...)``.

    Notes
    -----
    Deviations: where the 5 % contain no window, as in coarse scales, the nearest one is used; scales that are too small
    for a patch are omitted. S1 divides by the contrast of a window about its mean, with a floor
    (`mklearn.papers.mkl_dr.gabor_c1.window_norms`). Distances are in single precision. The paper's feature selection by
    the weights of a support vector machine needs labels and is omitted.

    References
    ----------
    .. [1] Mutch, Lowe, "Multiclass object recognition with sparse, localized features", CVPR 2006.
    """
    sizes, patches = patch_sizes(n_patches), _checked_patches(learned, n_patches)
    grey = prepare_images(images, "c2_mutch_lowe")

    def extract(image: Grey) -> NDArray:
        c1 = pyramid_c1(image, inhibition)
        shapes = np.array([maps.shape[1:] for maps in c1], dtype=np.int64)
        sides = np.array(pyramid_sides(image.shape)[: len(c1)], dtype=np.int64)
        responses = np.concatenate([maps.ravel() for maps in c1])
        return _response(_search(responses, shapes, sides, sizes, *patches).astype(np.float64), sizes)

    return features_of(grey, extract, "c2_mutch_lowe")


def _least_distances(patches: Maps, bands: list[Maps], size: int) -> NDArray[np.float64]:
    """Compute the smallest squared distance of each patch, a row of `patches`, to the windows of all bands."""
    # ||X - P||^2 = ||X||^2 - 2 X'P + ||P||^2
    least = np.full(len(patches), np.inf, dtype=np.float32)
    for band in bands:
        if len(patches) and min(band.shape[1:]) >= size:
            windows = windows_of(band, size)
            scores = (-2 * patches) @ windows
            scores += np.einsum("ij,ij->j", windows, windows)
            np.minimum(least, scores.min(axis=1), out=least)
    return np.maximum(least.astype(np.float64) + np.einsum("ij,ij->i", patches, patches), 0)


def _centre(start: Any, size: Any) -> Any:
    """Return the centre, in pixels of its scale, of `size` successive places of C1 from the place `start`."""
    return PYRAMID_STRIDE * (start + (size - 1) / 2) + PYRAMID_SIZE // 2 + PYRAMID_POOL / 2


@compile_loop
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
    """Compute the smallest squared distance of each patch to the windows of C1 in its range, shape (n_patches,)."""
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
                # the place of the window with the patch's centre, and the range around it
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
                    # row by row of the patch, until the window can't be the best
                    for line in range(size):
                        for entry in range(line * size, (line + 1) * size):
                            difference = responses[corner + places[entry]] - values[patch, entry]
                            total += difference * difference
                        if total >= best:
                            break
                    best = min(best, total)
        distances[patch] = best
    return distances


def _checked_patches(learned: Learned, n_patches: int) -> list[NDArray]:
    """Return values, orientations, positions and scales; raise `DataError` if they don't fit the parameters."""
    length = max(PATCH_SIZES) ** 2
    expected: dict[str, tuple[tuple[int, ...], type]] = {
        "values": ((n_patches, length), np.float32),
        "orientations": ((n_patches, length), np.int64),
        "positions": ((n_patches, 2), np.float64),
        "scales": ((n_patches,), np.int64),
    }
    arrays = [
        np.ascontiguousarray(learned_array(learned, name, shape, "c2_mutch_lowe", dtype))
        for name, (shape, dtype) in expected.items()
    ]
    _, orientations, positions, scales = arrays
    # the compiled search does not check these indices
    indices = (orientations, PYRAMID_ORIENTATIONS), (scales, PYRAMID_SCALES - 1)
    if not np.isfinite(positions).all() or any(each.min() < 0 or each.max() >= end for each, end in indices):
        raise DataError("`learned` has orientations, scales or positions that learn_c2_mutch_lowe never returns.")
    return arrays
