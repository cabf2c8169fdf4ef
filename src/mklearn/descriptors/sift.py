"""Upright SIFT descriptors of one size, at given points and at edge points."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import Interval, at_least, constrained, from_to
from mklearn.checks import check_integer, check_positive, invalid
from mklearn.descriptors.edge_points import edge_points, stretch
from mklearn.descriptors.images import Grey, Images
from mklearn.descriptors.learned import Learned
from mklearn.descriptors.local_descriptors import Extract, describe_points, learn_projection, unit_rows
from mklearn.descriptors.point_sets import Float32, PointSets
from mklearn.extras import require

LENGTH = 128
"""Entries of a SIFT descriptor: 4 x 4 cells of 8 orientations."""
PATCH_SIDE = Interval(Real, 4, 1024, closed="both")
"""Pixels of a patch of 4 x 4 cells."""

# OpenCV's scale space: blur of the first level, and levels per octave. A keypoint of diameter 2 s belongs to the level
# of blur s, and each of its 4 x 4 cells is 3 s wide.
_FIRST_BLUR = 1.6
_LEVELS = 3
_PATCH_PER_DIAMETER = 6.0


@constrained(size=[PATCH_SIDE], n_points=[at_least(1)], n_components=[from_to(1, LENGTH)])
def sift_points(
    images: Images,
    *,
    learned: Learned,
    size: float = 48.0,
    n_points: int = 160,
    n_components: int = 64,
) -> PointSets:
    """Compute SIFT descriptors [1]_ at edge points: the descriptor SIFT-Dist of MKL-DR (NIPS 2008).

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        Sizes may differ. The patch is in pixels, so images should show their objects at about one scale.
    learned : mapping
        The result of `learn_sift_points` for the same parameters.
    size : float
        Side in pixels of the patch of 4 x 4 cells around each point. Not given in MKL-DR.
    n_points : int
        Largest number of points per image: see `mklearn.descriptors.edge_points.edge_points`. MKL-DR has 300.
    n_components : int
        Entries of a descriptor after projection on the principal axes in `learned`, at most 128.

    Returns
    -------
    PointSets
        Descriptors (n, n_points, n_components). An image without edges (flat, or less than 3 pixels high or wide) has
        no points. Invariant to added brightness and to contrast; not to mirroring, rotation or scale.

    Raises
    ------
    DataError
        Invalid images, or `learned` of other parameters.
    ConfigError
        Invalid parameters.

    Notes
    -----
    Deviations from the paper: no detector, no orientation, one scale (`size`). OpenCV rounds the image and the
    descriptors to 8 bits, and points to whole pixels of an octave of its scale space (2 pixels of the image from a size
    of 35 on, 4 from 69 on); `PointSets.positions` are not rounded. Descriptors are divided by their Euclidean length.
    The projection, for lower cost, is not in the paper. MKL-DR samples 300 edge pixels at random; here 160 are spread
    over the edges.

    References
    ----------
    .. [1] Lowe, "Distinctive image features from scale-invariant keypoints", IJCV 60, 2004.
    """
    extract = _extractor(size, n_points, n_components)
    return describe_points(images, extract, learned, (n_components, LENGTH), n_points, "sift_points")


def learn_sift_points(
    images: Images,
    *,
    random_state: int,
    size: float = 48.0,
    n_points: int = 160,
    n_components: int = 64,
) -> dict[str, NDArray]:
    """Learn the principal axes of the local descriptors of `sift_points`, from about 50,000 of them.

    `images` are the training images, or all images of a data set: labels are not used. `random_state` is the seed of
    the sample of local descriptors, equally many from each image. The other parameters are those of `sift_points`.

    Returns
    -------
    dict
        "mean" (128,) and "components" (n_components, 128), float32.

    Raises
    ------
    DataError, ConfigError
        As `sift_points`, or fewer edge points than components.
    """
    extract = _extractor(size, n_points, n_components)
    return learn_projection(images, extract, n_components, random_state, "sift_points")


def local_descriptors(image: Grey, size: float, n_points: int) -> tuple[Float32, NDArray[np.int64]]:
    """Compute the unit descriptors (k, 128) before projection, and the positions (k, 2), of an image."""
    points = edge_points(image, n_points=n_points)
    descriptors = sift_at(image, points, [size] * len(points))
    found = descriptors.any(axis=1)
    return descriptors[found], points[found]


def sift_at(image: Grey, points: NDArray, sizes: Sequence[float]) -> Float32:
    """Compute upright SIFT descriptors of unit length at given points.

    Parameters
    ----------
    image : ndarray of shape (h, w)
        Of any range; it is stretched to 0..255.
    points : ndarray of shape (k, 2)
        Row and column.
    sizes : sequence of k floats
        Side in pixels of the patch around each point. Parts outside the image add nothing.

    Returns
    -------
    ndarray of float32, shape (k, 128)
        In the order of the points. Zeros for a patch without gradients, and for a point that OpenCV drops.
    """
    require("cv2")
    import cv2

    if len(points) == 0:
        return np.zeros((0, LENGTH), dtype=np.float32)
    # the number of octaves for which the image is large enough
    halvings = int(math.log2(min(image.shape)))
    octaves = {size: _octave(size, halvings) for size in set(sizes)}
    keypoints = [
        # class_id is the index of the point: OpenCV guarantees neither to keep all keypoints nor their order
        cv2.KeyPoint(float(column), float(row), size / _PATCH_PER_DIAMETER, 0.0, 1.0, octaves[size], number)
        for number, ((row, column), size) in enumerate(zip(points, sizes, strict=True))
    ]
    kept, values = cv2.SIFT.create(nOctaveLayers=_LEVELS, sigma=_FIRST_BLUR).compute(
        np.rint(255 * stretch(image)).astype(np.uint8), keypoints
    )
    descriptors = np.zeros((len(points), LENGTH), dtype=np.float32)
    if values is not None and len(kept):
        descriptors[[keypoint.class_id for keypoint in kept]] = values
    return unit_rows(descriptors)


def check_patch(size: float, name: str) -> float:
    """Return the side of a patch; raise `ConfigError` unless it is from 4 pixels, one per cell, to 1024."""
    if not 4 <= check_positive(size, name) <= 1024:
        raise invalid(size, name, "the side of a patch of 4 x 4 cells, 4 to 1024 pixels")
    return float(size)


def _extractor(size: float, n_points: int, n_components: int) -> Extract:
    check_patch(size, "size")
    check_integer(n_points, "n_points")
    check_integer(n_components, "n_components", most=LENGTH)
    return partial(local_descriptors, size=size, n_points=n_points)


def _octave(size: float, halvings: int) -> int:
    """Return OpenCV's packed octave and level whose blur is nearest to that of a patch.

    The level is not below the first level of the image itself, for which OpenCV would enlarge the image fourfold, and
    not beyond the octaves of the image.
    """
    steps = round(_LEVELS * math.log2(size / (2 * _PATCH_PER_DIAMETER) / _FIRST_BLUR))
    octave, level = divmod(min(max(0, steps), _LEVELS * halvings), _LEVELS)
    return octave | level << 8
