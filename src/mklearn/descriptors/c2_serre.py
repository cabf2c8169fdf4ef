"""C2 features of Serre, Wolf and Poggio: how closely anything in an image resembles patches of C1 seen before."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from mklearn.descriptors.gabor_c1 import SERRE_ORIENTATIONS, SHORT_SIDE, Maps, prepare_images, serre_c1, windows_of
from mklearn.descriptors.images import Grey, Images, as_grey_images, features_of, whole_number
from mklearn.errors import ConfigError, DataError

# Places of C1 per side of a patch. [ports]
PATCH_SIZES = (4, 8, 12, 16)
# Patches are cut from the second band, of filters of 11 and 13 pixels. [ports]
PATCH_BAND = 1
# The shortest side at which the largest patch fits into that band.
LEAST_SIDE = 97


def learn_c2_serre(
    images: Images, *, random_state: int, n_patches: int = 1000, short_side: int = SHORT_SIDE, sigma: float = 1.0
) -> dict[str, NDArray]:
    """Cut patches of C1 from random places of random images, all orientations at each place.

    Without labels, from whatever images are handed over: those of the training set, or all.

    Parameters
    ----------
    images, n_patches, short_side, sigma : see `c2_serre`
    random_state : int
        Seed of the draw of images and places.

    Returns
    -------
    dict
        For each size s of 4, 8, 12, 16: ``patches_<s>``, shape (m_s, 4, s, s), float32, with ``sum(m_s) = n_patches``
        (sizes differ in m_s by one at most, the smaller ones have more), and ``origins_<s>``, shape (m_s, 3), int64:
        number of the image, row and column of the patch in its C1. ``short_side``, shape ().

    Raises
    ------
    DataError, ConfigError
        As `c2_serre`.

    Notes
    -----
    A patch from a flat part of an image is as likely as any other, and may be all zero.
    """
    n_patches, short_side, sigma = _checked(n_patches, short_side, sigma)
    grey = prepare_images(as_grey_images(images), short_side, "c2_serre")
    rng = np.random.default_rng(whole_number(random_state, "random_state", 0))
    counts = patch_counts(n_patches)
    image_of = rng.integers(len(grey), size=n_patches)
    place = rng.random((n_patches, 2))
    size_of = np.repeat(PATCH_SIZES, counts)
    origins = np.empty((n_patches, 3), dtype=np.int64)
    cut: list[Maps] = [np.empty(0, dtype=np.float32)] * n_patches
    for number in np.unique(image_of):
        c1 = serre_c1(grey[number])[PATCH_BAND]
        for patch in np.flatnonzero(image_of == number):
            size = size_of[patch]
            row, column = (place[patch] * (np.array(c1.shape[1:]) - size + 1)).astype(np.int64)
            origins[patch] = number, row, column
            cut[patch] = c1[:, row : row + size, column : column + size]
    learned: dict[str, NDArray] = {"short_side": np.array(short_side)}
    for size in PATCH_SIZES:
        index = np.flatnonzero(size_of == size)
        shape = (index.size, SERRE_ORIENTATIONS, size, size)
        learned[f"patches_{size}"] = np.array([cut[patch] for patch in index], dtype=np.float32).reshape(shape)
        learned[f"origins_{size}"] = origins[index]
    return learned


def c2_serre(
    images: Images,
    *,
    learned: Mapping[str, NDArray],
    n_patches: int = 1000,
    short_side: int = SHORT_SIDE,
    sigma: float = 1.0,
) -> Grey:
    """C2 features of Serre, Wolf and Poggio (CVPR 2005), called C2-SWP in MKL-DR (NIPS 2008).

    S1 and C1 are those of `mklearn.descriptors.gabor_c1.serre_c1`. S2 compares each patch P, of s x s places and all 4
    orientations, with all windows X of C1 of its size in all bands; C2 is the maximum of S2 over windows and bands:
    ``max_X exp(-||X - P||^2 / (2 sigma^2 (s / 4)^2))``. Features are compared by "squared_euclidean".

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        At least 11 pixels per side, at most ten times as long as short; may differ in size.
    learned : mapping
        From `learn_c2_serre` with the same parameters.
    n_patches : int
        Number of features. Not given in MKL-DR; 1,000 is [common].
    short_side : int
        Images are resized to this short side in pixels, aspect kept, at least 97. 140 is [common], there as the height.
    sigma : float
        Width of S2 on patches of 4 x 4 places. The paper has a factor of the squared distance whose value was not
        known here; 1 is Mutch and Lowe's [common].

    Returns
    -------
    ndarray, shape (n, n_patches)
        In 0..1, the features of smaller patches first; 1 where the image holds the patch. Invariant to added brightness
        and to contrast, nearly to shifts; not to mirroring, which turns orientations, nor to turns. Images without
        contrast are alike: ``exp(-||P||^2 / ...)``.

    Raises
    ------
    DataError
        Not images, images too small or too long, or `learned` of another kind or of other parameters.
    ConfigError
        Illegal parameters.

    Notes
    -----
    No paper was at hand: [ports] are parameters on which several public programs agree (ports of Serre's among them),
    [common] are as commonly given; neither was checked.

    Deviations: ``(s / 4)^2``, which makes patches of different sizes comparable, is Mutch and Lowe's [common]. S1
    divides by the contrast of a window about its mean, with a floor (`mklearn.descriptors.gabor_c1.Windows.norms`).
    Places where a filter or a patch leaves the image are left out. Distances are in single precision.
    """
    n_patches, short_side, sigma = _checked(n_patches, short_side, sigma)
    patches = _patches_of(learned, n_patches, short_side)
    grey = prepare_images(as_grey_images(images), short_side, "c2_serre")
    norms = [np.einsum("ij,ij->i", matrix, matrix) for matrix in patches]
    # ||X - P||^2 = ||X||^2 - 2 X'P + ||P||^2
    crosses = [-2 * matrix for matrix in patches]

    def extract(image: Grey) -> NDArray:
        bands = serre_c1(image)
        features = []
        for size, cross, norm in zip(PATCH_SIZES, crosses, norms, strict=True):
            # the least squared distance, less the patch's own norm, over the windows of all bands
            least = np.full(len(norm), np.inf, dtype=np.float32)
            for band in bands:
                if len(norm) and min(band.shape[1:]) >= size:
                    windows = windows_of(band, size)
                    scores = cross @ windows
                    scores += np.einsum("ij,ij->j", windows, windows)
                    np.minimum(least, scores.min(axis=1), out=least)
            distance = np.maximum(least.astype(np.float64) + norm, 0)
            features.append(np.exp(-distance / (2 * sigma**2 * (size / 4) ** 2)))
        return np.concatenate(features)

    return features_of(grey, extract, "c2_serre")


def patch_counts(n_patches: int) -> list[int]:
    """How many patches of each of the four sizes: a quarter each, the remainder to the smaller sizes."""
    sizes = len(PATCH_SIZES)
    return [n_patches // sizes + (number < n_patches % sizes) for number in range(sizes)]


def _checked(n_patches: int, short_side: int, sigma: float) -> tuple[int, int, float]:
    n_patches = whole_number(n_patches, "n_patches")
    short_side = whole_number(short_side, "short_side", LEAST_SIDE)
    if not (isinstance(sigma, int | float) and np.isfinite(sigma) and sigma > 0):
        raise ConfigError(f"sigma = {sigma!r} is not legal: it must be a finite number greater than 0")
    return n_patches, short_side, float(sigma)


def _patches_of(learned: Mapping[str, NDArray], n_patches: int, short_side: int) -> list[Maps]:
    """Patches of each size as rows, or DataError where they are not what the parameters ask for."""
    patches = []
    for size, count in zip(PATCH_SIZES, patch_counts(n_patches), strict=True):
        name, shape = f"patches_{size}", (count, SERRE_ORIENTATIONS, size, size)
        if name not in learned or np.shape(learned[name]) != shape:
            found = f"has shape {np.shape(learned[name])}" if name in learned else "is missing"
            raise DataError(
                f"learned: {name} {found}, but c2_serre with n_patches = {n_patches} needs {shape}; "
                "learn with the same parameters"
            )
        patches.append(np.asarray(learned[name], dtype=np.float32).reshape(count, SERRE_ORIENTATIONS * size**2))
    if "short_side" not in learned or int(learned["short_side"]) != short_side:
        given = str(learned["short_side"]) if "short_side" in learned else "missing"
        raise DataError(
            f"learned: short_side is {given}, but {short_side} is asked for; learn with the same parameters"
        )
    return patches
