"""Local descriptors of images: random samples of them, and projection on principal axes learned from a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from mklearn.descriptors.images import Grey, Images, as_grey_images
from mklearn.descriptors.point_sets import Float32, PointSets
from mklearn.descriptors.validation import Learned, learned_array, whole_number
from mklearn.errors import DataError

# Images held as floats at a time, and local descriptors from which principal axes are learned.
_BATCH = 64
_SAMPLE = 50_000

Extract = Callable[[Grey], tuple[Float32, NDArray[np.int64]]]
"""Computes the local descriptors (k, d) of a grey image and their positions (k, 2)."""


def iterate_grey(images: Images) -> Iterator[Grey]:
    """Yield grey images one by one, so that a whole data set is never held as floats.

    Raises
    ------
    DataError
        As `mklearn.descriptors.images.as_grey_images`.
    """
    if isinstance(images, np.ndarray) and images.dtype != object and images.ndim not in (3, 4):
        as_grey_images(images)  # raises
    for start in range(0, max(len(images), 1), _BATCH):
        batch = images[start : start + _BATCH]
        try:
            yield from as_grey_images(batch)
        except DataError as error:
            if start == 0:
                raise
            raise DataError(f"Images {start} to {start + len(batch) - 1}, counted from 0 again: {error}") from error


def sample_local_descriptors(local: Iterable[NDArray], n_images: int, size: int, random_state: int) -> Float32:
    """Draw local descriptors of all images at random, shape (k, d).

    Parameters
    ----------
    local : iterable of ndarray of shape (any, d)
        The local descriptors of each image.
    n_images : int
    size : int
        Approximate number k of descriptors; at most ``ceil(size / n_images)`` are drawn from each image.
    random_state : int
        Seed. The draw from an image depends on the seed, the image's index and the number of images.

    Raises
    ------
    ConfigError
        The seed is not an integer >= 0.
    """
    seed = whole_number(random_state, "random_state", least=0)
    each = -(-size // max(n_images, 1))
    drawn = []
    for number, descriptors in enumerate(local):
        if len(descriptors) > each:
            rng = np.random.default_rng([seed, number])
            descriptors = descriptors[np.sort(rng.choice(len(descriptors), each, replace=False))]
        drawn.append(descriptors.astype(np.float32, copy=False))
    sample: Float32 = np.concatenate(drawn)
    return sample


def learn_projection(
    images: Images, extract: Extract, n_components: int, random_state: int, descriptor: str
) -> dict[str, NDArray]:
    """Learn the principal axes of about 50,000 local descriptors, drawn evenly from the images.

    Returns
    -------
    dict
        "mean" (d,) and "components" (n_components, d), float32, axes by descending variance.

    Raises
    ------
    DataError
        Invalid images, or fewer local descriptors than components.
    """
    local = (extract(image)[0] for image in iterate_grey(images))
    sample = sample_local_descriptors(local, len(images), _SAMPLE, random_state)
    if len(sample) < n_components:
        raise DataError(
            f"{descriptor} with n_components = {n_components} needs as many local descriptors, but the {len(images)} "
            f"images have {len(sample)}: use more or larger images, or fewer components."
        )

    from sklearn.decomposition import PCA

    fitted = PCA(n_components=n_components, svd_solver="covariance_eigh").fit(sample.astype(np.float64))
    return {"mean": fitted.mean_.astype(np.float32), "components": fitted.components_.astype(np.float32)}


def describe_points(
    images: Images, extract: Extract, learned: Learned, shape: tuple[int, int], n_points: int, descriptor: str
) -> PointSets:
    """Compute the point sets of images, with descriptors projected on the axes of `learn_projection`.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
    extract : callable
        Gives at most ``n_points`` local descriptors of an image.
    learned : mapping
        "mean" (d,) and "components" (n_components, d).
    shape : (int, int)
        The expected (n_components, d).
    n_points : int
        Capacity for points per image.
    descriptor : str
        Name, for messages.

    Raises
    ------
    DataError
        Invalid images, or `learned` has other shapes.
    """
    mean = learned_array(learned, "mean", shape[1:], descriptor, np.float32)
    components = learned_array(learned, "components", shape, descriptor, np.float32)
    local = []
    for image in iterate_grey(images):
        # image by image: the rounding of one product over all would depend on the other images
        descriptors, positions = extract(image)
        local.append(((descriptors.astype(np.float32) - mean) @ components.T, positions))
    return PointSets.from_lists(local, n_points, shape[0])


def unit_rows(descriptors: NDArray) -> Float32:
    """Divide rows by their Euclidean length, in float32; rows of zeros stay zero."""
    length = np.linalg.norm(descriptors.astype(np.float64), axis=1, keepdims=True)
    return np.divide(descriptors, length, out=np.zeros(descriptors.shape), where=length > 0).astype(np.float32)
