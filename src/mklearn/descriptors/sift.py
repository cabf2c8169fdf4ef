"""SIFT descriptors, upright and of one size, at given points and at edge points."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from mklearn.descriptors.edge_points import (
    check_edge_parameters,
    positive,
    spread_points,
    stretch,
    thinned_gradient,
)
from mklearn.descriptors.images import Grey, Images, whole_number
from mklearn.descriptors.point_sets import (
    Float32,
    Learned,
    PointSets,
    describe_points,
    learn_projection,
    unit_rows,
)
from mklearn.errors import ConfigError

LENGTH = 128
"""Entries of a SIFT descriptor: 4 x 4 cells of 8 orientations."""

# OpenCV's scale space: the blur of the first level, and levels per octave. A keypoint of diameter 2 s belongs to the
# level of blur s, and its 4 x 4 cells are 3 s wide each.
_FIRST_BLUR = 1.6
_LEVELS = 3
_PATCH_PER_DIAMETER = 6.0


def sift_points(
    images: Images,
    *,
    learned: Learned,
    size: float = 48.0,
    n_points: int = 160,
    n_components: int = 64,
    sigma: float = 2**0.5,
    threshold: float = 0.2,
) -> PointSets:
    """SIFT descriptors (Lowe, IJCV 2004) at edge points: the descriptor SIFT-Dist of MKL-DR (NIPS 2008).

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        May differ in size. The patch is in pixels, so images should show their objects at about one scale.
    learned : mapping
        What `learn_sift_points` returned for the same parameters.
    size : float
        Side in pixels of the patch of 4 x 4 cells around each point. Not given in MKL-DR.
    n_points : int
        Edge points per image, at most; see `mklearn.descriptors.edge_points.edge_points`. 300 in MKL-DR.
    n_components : int
        Entries of a descriptor after projection on the principal axes in `learned`, at most 128. 64 keep about 93 % of
        the variance on Caltech-101.
    sigma : float
        Width in pixels of the Gaussian before edge detection.
    threshold : float
        Strength of edges at which points may lie, as a share of the strongest gradient of the image.

    Returns
    -------
    PointSets
        Descriptors (n, n_points, n_components). An image without edges (flat, or less than 3 pixels high or wide) has
        no points. Invariant to added brightness and to contrast; not to mirroring, and, being upright and of one
        size, not to rotation or scale.

    Raises
    ------
    DataError
        Not images.
    ConfigError
        Illegal parameters, or `learned` of other parameters.

    Notes
    -----
    Deviations from Lowe: no detector, no orientation, one scale (`size`). OpenCV rounds the image and the descriptors
    to 8 bits, and points to whole pixels of an octave of its scale space (2 pixels of the image from a size of 35 on, 4
    from 69 on); `PointSets.positions` are the unrounded ones. Descriptors are then divided by their Euclidean length.
    PCA is ours, for cost.
    """
    _check(size, n_points, n_components, sigma, threshold)

    def extract(image: Grey) -> tuple[Float32, NDArray[np.int64]]:
        return local_descriptors(image, size, n_points, sigma, threshold)

    return describe_points(images, extract, learned, (n_components, LENGTH), n_points, "sift_points")


def learn_sift_points(
    images: Images,
    *,
    random_state: int,
    size: float = 48.0,
    n_points: int = 160,
    n_components: int = 64,
    sigma: float = 2**0.5,
    threshold: float = 0.2,
) -> dict[str, NDArray]:
    """Principal axes of the local descriptors of `sift_points`, from about 50,000 of them.

    Unsupervised: labels are not used. Whether the images are the training images or all images of a data set is the
    caller's choice.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
    random_state : int
        Seed of the choice of local descriptors, equally many of each image.
    size, n_points, n_components, sigma, threshold
        See `sift_points`.

    Returns
    -------
    dict
        "mean" (128,) and "components" (n_components, 128), float32.

    Raises
    ------
    DataError
        Not images, or fewer edge points than components.
    ConfigError
        Illegal parameters.
    """
    _check(size, n_points, n_components, sigma, threshold)

    def extract(image: Grey) -> Float32:
        return local_descriptors(image, size, n_points, sigma, threshold)[0]

    return learn_projection(images, extract, n_components, random_state, "sift_points")


def local_descriptors(
    image: Grey, size: float, n_points: int, sigma: float, threshold: float
) -> tuple[Float32, NDArray[np.int64]]:
    """Unit descriptors (k, 128) before projection, and positions (k, 2), of one image."""
    points = spread_points(thinned_gradient(image, sigma)[0], n_points, threshold)
    descriptors = sift_at(image, points, [size] * len(points))
    found = descriptors.any(axis=1)
    return descriptors[found], points[found]


def sift_at(image: Grey, points: NDArray, sizes: Sequence[float]) -> Float32:
    """Upright SIFT descriptors of unit length at given points, in the order of the points.

    Parameters
    ----------
    image : ndarray, shape (h, w)
        Of any range; it is stretched to 0..255.
    points : ndarray, shape (k, 2)
        Row and column.
    sizes : sequence of k floats
        Side in pixels of the patch around each point. What of it lies outside the image adds nothing.

    Returns
    -------
    ndarray of float32, shape (k, 128)
        A patch without gradients has zeros, and so would a point that OpenCV left out (it has left out none so far).
    """
    import cv2

    if len(points) == 0:
        return np.zeros((0, LENGTH), dtype=np.float32)
    # the octaves that the image has room for
    halvings = int(math.log2(min(image.shape)))
    octaves = {size: _octave(size, halvings) for size in set(sizes)}
    keypoints = [
        # class_id is the point's number: OpenCV promises neither to keep all keypoints nor their order
        cv2.KeyPoint(float(column), float(row), size / _PATCH_PER_DIAMETER, 0.0, 1.0, octaves[size], number)
        for number, ((row, column), size) in enumerate(zip(points, sizes, strict=True))
    ]
    kept, values = cv2.SIFT.create(nOctaveLayers=_LEVELS, sigma=_FIRST_BLUR).compute(
        np.rint(255 * stretch(image)).astype(np.uint8), keypoints
    )
    return unit_rows(_in_order([keypoint.class_id for keypoint in kept], values, len(points)))


def _in_order(numbers: Sequence[int], values: NDArray | None, k: int) -> Float32:
    """Rows by the number of their point; zeros for points that were dropped."""
    descriptors = np.zeros((k, LENGTH), dtype=np.float32)
    if values is not None and len(numbers):
        descriptors[np.asarray(numbers)] = values
    return descriptors


def _octave(size: float, halvings: int) -> int:
    """OpenCV's packed octave and level whose blur is nearest to that of a patch.

    Not below the first level of the image itself, as OpenCV would enlarge the image fourfold for that, and not beyond
    the octaves that an image has.
    """
    steps = round(_LEVELS * math.log2(size / (2 * _PATCH_PER_DIAMETER) / _FIRST_BLUR))
    octave, level = divmod(min(max(0, steps), _LEVELS * halvings), _LEVELS)
    return octave | level << 8


def _check(size: float, n_points: int, n_components: int, sigma: float, threshold: float) -> None:
    check_edge_parameters(n_points, sigma, threshold)
    check_patch(size, "size")
    if whole_number(n_components, "n_components") > LENGTH:
        raise ConfigError(f"n_components = {n_components} is not legal: a SIFT descriptor has {LENGTH} entries")


def check_patch(size: float, name: str) -> float:
    """Return the side of a patch; raise `ConfigError` unless it is from 4 pixels, one per cell, to 1024."""
    if not 4 <= positive(size, name) <= 1024:
        raise ConfigError(f"{name} = {size!r} is not legal: a patch of 4 x 4 cells has a side of 4 to 1024 pixels")
    return float(size)
