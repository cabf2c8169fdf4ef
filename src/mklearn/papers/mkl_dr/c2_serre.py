"""C2 features of Serre, Wolf and Poggio: the closest match of C1 patches anywhere in an image."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import at_least
from mklearn.descriptors.images import Grey, Images, Learned, descriptor, features_of, learned_array
from mklearn.papers.mkl_dr.gabor_c1 import (
    PATCH_SIZES,
    SERRE_ORIENTATIONS,
    Maps,
    patch_response,
    patch_sizes,
    prepare_images,
    serre_c1,
    windows_of,
)

# Patches are cut from the second band, of filters of 11 and 13 pixels. [ports]
PATCH_BAND = 1


_of_patches = descriptor(n_patches=[at_least(1)], random_state=[at_least(0)])


@_of_patches
def learn_c2_serre(images: Images, *, random_state: int, n_patches: int = 1000) -> dict[str, NDArray]:
    """Cut patches of C1 at random places of random images, with all orientations of each place.

    `images` are the training images, or all images of a data set: labels are not used. `random_state` is the seed of
    the draw of images and places. A patch from a flat part of an image is as likely as any other, and can be all zero.

    Return for each size s of 4, 8, 12, 16 the array ``patches_<s>``, shape (m_s, 4, s, s), float32, with
    ``sum(m_s) = n_patches``; the m_s differ by one at most, smaller sizes have more. Errors are those of `c2_serre`.
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


@_of_patches
def c2_serre(images: Images, *, learned: Learned, n_patches: int = 1000) -> Grey:
    """Compute the C2 features of Serre, Wolf and Poggio [1]_, C2-SWP in MKL-DR (NIPS 2008).

    S1 and C1 are those of `mklearn.papers.mkl_dr.gabor_c1.serre_c1`. S2 compares each patch P, of s x s places and all
    4 orientations, with all windows X of C1 of its size in all bands. C2 is the maximum of S2 over windows and bands:
    ``max_X exp(-||X - P||^2 / (2 (s / 4)^2))``. Compare features by "squared_euclidean".

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        At least 11 pixels per side, at most ten times as long as short; sizes may differ.
    learned : mapping
        The result of `learn_c2_serre` for the same parameters.
    n_patches : int
        Number of features. Not given in MKL-DR; 1,000 is [common].

    Returns
    -------
    ndarray of shape (n, n_patches)
        In 0..1, the features of smaller patches first; 1 where the image holds the patch. Invariant to added brightness
        and to contrast, nearly invariant to shifts; not to mirroring or rotation. All images without contrast give
        ``exp(-||P||^2 / ...)``.

    Raises
    ------
    DataError
        Invalid images, images too small or too long, or `learned` of other parameters.
    ConfigError
        Invalid parameters.

    Notes
    -----
    [ports] and [common] mark parameters that were not checked against the paper: see `mklearn.papers.mkl_dr.gabor_c1`.

    Deviations: the paper has a factor of the squared distance whose value was not available; ours, ``1 / 2`` over
    ``(s / 4)^2``, which makes patches of different sizes comparable, is Mutch and Lowe's [common]. S1
    divides by the contrast of a window about its mean, with a floor (`mklearn.papers.mkl_dr.gabor_c1.window_norms`).
    Places where a filter or a patch leaves the image are omitted. Distances are in single precision.

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
    norms = [np.einsum("ij,ij->i", matrix, matrix) for matrix in patches]
    # ||X - P||^2 = ||X||^2 - 2 X'P + ||P||^2
    crosses = [-2 * matrix for matrix in patches]

    def extract(image: Grey) -> NDArray:
        bands = serre_c1(image)
        features = []
        for size, cross, norm in zip(PATCH_SIZES, crosses, norms, strict=True):
            # the smallest squared distance over the windows of all bands, minus the norm of the patch
            least = np.full(len(norm), np.inf, dtype=np.float32)
            for band in bands:
                if len(norm) and min(band.shape[1:]) >= size:
                    windows = windows_of(band, size)
                    scores = cross @ windows
                    scores += np.einsum("ij,ij->j", windows, windows)
                    np.minimum(least, scores.min(axis=1), out=least)
            features.append(patch_response(np.maximum(least.astype(np.float64) + norm, 0), size))
        return np.concatenate(features)

    return features_of(grey, extract, "c2_serre")
