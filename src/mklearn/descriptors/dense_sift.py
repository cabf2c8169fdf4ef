"""Histograms of visual words: SIFT on a grid, at several sizes, each descriptor voting for its nearest word."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from mklearn.descriptors.images import Grey, Images, whole_number
from mklearn.descriptors.point_sets import Float32, Learned, grey_in_turn, sample_local_descriptors
from mklearn.descriptors.sift import LENGTH, check_patch, sift_at
from mklearn.errors import ConfigError, DataError

_SAMPLE = 100_000
_KMEANS_BATCH = 4096


def dense_sift(
    images: Images,
    *,
    learned: Learned,
    step: int = 8,
    sizes: Sequence[float] = (16, 24, 32),
    n_words: int = 1000,
) -> Grey:
    """Bag of visual words over dense SIFT (Lowe, IJCV 2004): the descriptor SIFT-Grid of MKL-DR (NIPS 2008).

    Upright SIFT descriptors of each size are computed on a grid, and each votes for the nearest of `n_words` words that
    k-means found. The histogram of votes, over all sizes together, is divided by its sum.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        At least ``max(sizes)`` pixels per side; may differ in size. Sizes are in pixels, so images should show their
        objects at about one scale.
    learned : mapping
        What `learn_dense_sift` returned for the same parameters.
    step : int
        Distance in pixels between the points of the grid.
    sizes : sequence of float
        Sides in pixels of the patches of 4 x 4 cells. MKL-DR takes three scales that it does not name; with a step of 8
        the default gives about 2,500 descriptors for 60,000 pixels.
    n_words : int
        Number of visual words. Not given in MKL-DR.

    Returns
    -------
    ndarray, shape (n, n_words)
        Non-negative, each row sums to one, for a chi-squared distance. Invariant to added brightness and to contrast
        up to the rounding of an image to 8 bits. Patches without gradients have no orientation and do not vote; an
        image of such patches only gives zeros.

    Raises
    ------
    DataError
        Not images, or images smaller than the largest patch.
    ConfigError
        Illegal parameters, or `learned` of other parameters.

    Notes
    -----
    Patches lie within the image, the grid in its middle. No spatial pyramid, no soft votes; the words are of all sizes
    in common. Descriptors are those of `mklearn.descriptors.sift.sift_at`, of unit length.
    """
    step, n_words, patches = _check(step, sizes, n_words)
    words = np.asarray(learned["words"]) if "words" in learned else None
    if words is None or words.shape != (n_words, LENGTH):
        found = "no words" if words is None else f"words of shape {words.shape}"
        raise ConfigError(
            f"learned has {found}, but dense_sift with n_words = {n_words} needs shape {(n_words, LENGTH)}: pass what "
            "learn_dense_sift returned for the same parameters"
        )
    words = words.astype(np.float32)
    return np.stack([_histogram(local, words) for local in _in_turn(images, step, patches)])


def learn_dense_sift(
    images: Images,
    *,
    random_state: int,
    step: int = 8,
    sizes: Sequence[float] = (16, 24, 32),
    n_words: int = 1000,
) -> dict[str, NDArray]:
    """Visual words of `dense_sift`: centres of mini-batch k-means on about 100,000 local descriptors.

    Unsupervised: labels are not used. MKL-DR clusters the features of all images; whether the images are those or the
    training images is the caller's choice.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
    random_state : int
        Seed of the choice of local descriptors, equally many of each image, and of k-means. The result is the same to
        the last bit for the same number of threads.
    step, sizes, n_words
        See `dense_sift`.

    Returns
    -------
    dict
        "words" (n_words, 128), float32.

    Raises
    ------
    DataError
        Not images, images smaller than the largest patch, or fewer different descriptors than words.
    ConfigError
        Illegal parameters.
    """
    step, n_words, patches = _check(step, sizes, n_words)
    sample = sample_local_descriptors(_in_turn(images, step, patches), len(images), _SAMPLE, random_state)
    # repeated patches (drawn graphics, tiled borders) would leave words that no descriptor is nearest to
    different = len(np.unique(sample, axis=0))
    if different < n_words:
        raise DataError(
            f"dense_sift with n_words = {n_words} learns from at least as many different patches, but the "
            f"{len(images)} images have {different} in the sample; use more or larger images, a smaller step, or fewer "
            "words"
        )

    from sklearn.cluster import MiniBatchKMeans

    fitted = MiniBatchKMeans(
        n_clusters=n_words, batch_size=max(_KMEANS_BATCH, n_words), n_init=1, random_state=random_state
    ).fit(sample)
    return {"words": fitted.cluster_centers_.astype(np.float32)}


def local_descriptors(image: Grey, step: int, sizes: Sequence[float]) -> Float32:
    """Unit SIFT descriptors (k, 128) of the patches with gradients, size by size, row by row."""
    points, of_size = [], []
    for size in sizes:
        row, column = (_grid(length, size, step) for length in image.shape)
        grid = np.stack(np.meshgrid(row, column, indexing="ij"), axis=-1).reshape(-1, 2)
        points.append(grid)
        of_size += [size] * len(grid)
    descriptors = sift_at(image, np.concatenate(points), of_size)
    return descriptors[descriptors.any(axis=1)]


def _grid(length: int, size: float, step: int) -> NDArray[np.float64]:
    """Centres of patches that lie within `length` pixels (pixel k covers k - 0.5 to k + 0.5), in its middle."""
    room = length - size
    number = int(room // step) + 1
    first = size / 2 - 0.5 + (room - (number - 1) * step) / 2
    return first + step * np.arange(number, dtype=np.float64)


def _histogram(descriptors: Float32, words: Float32) -> Grey:
    if len(descriptors) == 0:
        return np.zeros(len(words))
    # |x - w|^2 less |x|^2, which is the same for all words
    distance = np.sum(words**2, axis=1) - 2 * (descriptors @ words.T)
    votes = np.bincount(distance.argmin(axis=1), minlength=len(words))
    histogram: Grey = votes / votes.sum()
    return histogram


def _in_turn(images: Images, step: int, sizes: Sequence[float]) -> Iterator[Float32]:
    """Local descriptors of one image after the other."""
    for number, image in enumerate(grey_in_turn(images)):
        if min(image.shape) < max(sizes):
            raise DataError(
                f"image {number} has {image.shape[0]} x {image.shape[1]} pixels, but the largest patches of dense_sift "
                f"have a side of {max(sizes):g}; enlarge the images or choose smaller sizes"
            )
        yield local_descriptors(image, step, sizes)


def _check(step: int, sizes: Sequence[float], n_words: int) -> tuple[int, int, list[float]]:
    patches = [check_patch(size, "sizes") for size in sizes]
    if not patches or len(set(patches)) < len(patches):
        raise ConfigError(f"sizes = {sizes!r} is not legal: give one or more different sides of patches, in pixels")
    return whole_number(step, "step"), whole_number(n_words, "n_words"), patches
