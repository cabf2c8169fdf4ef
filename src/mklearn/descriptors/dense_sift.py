"""Histograms of visual words: SIFT on a grid, at several sizes, each descriptor voting for its nearest word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import ListOf, NonnegativeInt, PositiveInt, at_least
from mklearn.descriptors.images import Grey, Images, Learned, check_size, descriptor, iterate_grey_images, learned_array
from mklearn.descriptors.local_descriptors import sample_local_descriptors
from mklearn.descriptors.point_sets import Float32
from mklearn.descriptors.sift import LENGTH, PATCH_SIDE, grid_points, sift_at
from mklearn.errors import DataError

_SAMPLE = 100_000
_KMEANS_BATCH = 4096

Sides = Annotated[Sequence[float], ListOf(PATCH_SIDE)]
NumberOfWords = Annotated[int, at_least(2)]


@descriptor
def dense_sift(
    images: Images, *, learned: Learned, step: PositiveInt = 8, sizes: Sides = (16, 24, 32),
    n_words: NumberOfWords = 1000,
) -> Grey:  # fmt: skip
    """Compute a bag of visual words over dense SIFT: the descriptor SIFT-Grid of MKL-DR (NIPS 2008).

    Upright SIFT descriptors (Lowe, IJCV 2004) of each size are computed on a grid. Each votes for the nearest of
    `n_words` words, the centres of k-means. The histogram of votes over all sizes is divided by its sum.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        At least ``max(sizes)`` pixels per side (else `DataError`); sizes may differ. Patches are in pixels, so images
        should show their objects at about one scale.
    learned : mapping
        The result of `learn_dense_sift` for the same parameters (else `DataError`).
    step : int
        Distance in pixels between the points of the grid.
    sizes : sequence of float
        Sides in pixels of the patches of 4 x 4 cells. MKL-DR uses three scales that it does not give. The defaults
        give about 2,500 descriptors for 60,000 pixels.
    n_words : int
        Number of visual words. Not given in MKL-DR.

    Returns
    -------
    ndarray of shape (n, n_words)
        Non-negative, rows sum to 1, for a chi-squared distance. Invariant to added brightness and to contrast up to
        the rounding of the image to 8 bits. Patches without gradients do not vote; an image of such patches only gives
        zeros.

    Notes
    -----
    Patches lie within the image and the grid is centred. There is no spatial pyramid and no soft assignment; all sizes
    share the words. The descriptors are computed by `mklearn.descriptors.sift.sift_at`, with unit length.
    """
    words = learned_array(learned, "words", (n_words, LENGTH), "dense_sift", np.float32)
    return np.stack([_histogram(local, words) for local in _iterate_local(images, step, sizes)])


@descriptor
def learn_dense_sift(
    images: Images, *, random_state: NonnegativeInt, step: PositiveInt = 8, sizes: Sides = (16, 24, 32),
    n_words: NumberOfWords = 1000,
) -> dict[str, NDArray]:  # fmt: skip
    """Learn the visual words of `dense_sift`: "words" (n_words, 128), float32.

    The result is reproducible with the same number of threads. Words are the centres of mini-batch k-means on about
    100,000 local descriptors of the training images, or of all images of a data set as in MKL-DR: labels are not used.
    `random_state` is the seed of the sample, equally many from each image, and of k-means. Other parameters and errors
    are as for `dense_sift`; raise `DataError` also for fewer different descriptors than words.
    """
    sample = sample_local_descriptors(_iterate_local(images, step, sizes), len(images), _SAMPLE, random_state)
    # repeated patches (drawn graphics, tiled borders) would leave words without descriptors
    different = len(np.unique(sample, axis=0))
    if different < n_words:
        raise DataError(
            f"dense_sift with n_words = {n_words} needs as many different patches, but the {len(images)} images have "
            f"{different} in the sample: use more or larger images, a smaller step, or fewer words."
        )

    from sklearn.cluster import MiniBatchKMeans

    fitted = MiniBatchKMeans(
        n_clusters=n_words, batch_size=max(_KMEANS_BATCH, n_words), n_init=1, random_state=random_state
    ).fit(sample)
    return {"words": fitted.cluster_centers_.astype(np.float32)}


def local_descriptors(image: Grey, step: int, sizes: Sequence[float]) -> Float32:
    """Compute the unit SIFT descriptors (k, 128) of the patches with gradients, size by size, row by row."""
    grids = [grid_points(image.shape, size, step) for size in sizes]
    side_of = [size for size, grid in zip(sizes, grids, strict=True) for _ in grid]
    descriptors = sift_at(image, np.concatenate(grids), side_of)
    return descriptors[descriptors.any(axis=1)]


def _histogram(descriptors: Float32, words: Float32) -> Grey:
    if len(descriptors) == 0:
        return np.zeros(len(words))
    # |x - w|^2 - |x|^2: the omitted term is the same for all words
    distance = np.sum(words**2, axis=1) - 2 * (descriptors @ words.T)
    votes = np.bincount(distance.argmin(axis=1), minlength=len(words))
    histogram: Grey = votes / votes.sum()
    return histogram


def _iterate_local(images: Images, step: int, sizes: Sequence[float]) -> Iterator[Float32]:
    """Yield the local descriptors of each image."""
    for number, image in enumerate(iterate_grey_images(images)):
        check_size(image, number, max(sizes), f"dense_sift with patches of {max(sizes):g} pixels")
        yield local_descriptors(image, step, sizes)
