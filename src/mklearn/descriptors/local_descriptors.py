"""Local descriptors of images: random samples of them, and projection on principal axes learned from a sample."""

from __future__ import annotations

from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from mklearn.descriptors.images import Grey, Images, Learned, iterate_grey_images, learned_array
from mklearn.descriptors.point_sets import Float32, PointSets
from mklearn.errors import DataError

# Local descriptors from which principal axes are learned.
_SAMPLE = 50_000

Extract = Callable[[Grey], tuple[Float32, NDArray[np.int64]]]
"""Function that computes the local descriptors (k, d) of a grey image and their positions (k, 2)."""


def sample_local_descriptors(local: Iterable[NDArray], n_images: int, size: int, random_state: int) -> Float32:
    """Draw about ``size`` local descriptors at random, at most ``ceil(size / n_images)`` from each image; shape (k, d).

    The draw from an image depends on the seed, the image's index and the number of images.
    """
    each = -(-size // max(n_images, 1))
    drawn = []
    for number, descriptors in enumerate(local):
        if len(descriptors) > each:
            rng = np.random.default_rng([random_state, number])
            descriptors = descriptors[np.sort(rng.choice(len(descriptors), each, replace=False))]
        drawn.append(descriptors.astype(np.float32, copy=False))
    sample: Float32 = np.concatenate(drawn)
    return sample


def learn_projection(
    images: Images, extract: Extract, n_components: int, random_state: int, descriptor: str
) -> dict[str, NDArray]:
    """Learn the principal axes of about 50,000 local descriptors, drawn evenly from the images by a seed.

    The images are the training samples, or all of a data set: labels are not used. Return "mean" (d,) and
    "components" (n_components, d), float32, axes by descending variance. Raise `DataError` for fewer local descriptors
    than components.
    """
    local = (extract(image)[0] for image in iterate_grey_images(images))
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
    images: Images, extract: Extract, learned: Learned, shape: tuple[int, int], descriptor: str
) -> PointSets:
    """Compute point sets, with descriptors projected on axes of `learn_projection`.

    ``shape`` is the expected (n_components, d) of the axes.
    """
    mean = learned_array(learned, "mean", shape[1:], descriptor, np.float32)
    components = learned_array(learned, "components", shape, descriptor, np.float32)
    local = []
    for image in iterate_grey_images(images):
        # image by image: the rounding of one product over all would depend on the other images
        descriptors, positions = extract(image)
        local.append(((descriptors.astype(np.float32) - mean) @ components.T, positions))
    return PointSets.from_lists(local)


def unit_rows(descriptors: NDArray) -> Float32:
    """Divide rows by their Euclidean length, in float32; rows of zeros stay zero."""
    length = np.linalg.norm(descriptors.astype(np.float64), axis=1, keepdims=True)
    return np.divide(descriptors, length, out=np.zeros(descriptors.shape), where=length > 0).astype(np.float32)
