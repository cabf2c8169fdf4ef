"""Upright SIFT descriptors of given sizes: at edge points, or at the points of a regular grid."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import partial
from numbers import Real
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import Interval, NonnegativeInt, PositiveInt, from_to
from mklearn.descriptors.edge_points import edge_points, stretch
from mklearn.descriptors.images import Grey, Images, Learned, as_grey_images, descriptor, features_of, require_size
from mklearn.descriptors.local_descriptors import describe_points, learn_projection, unit_rows
from mklearn.descriptors.point_sets import Float32, PointSets
from mklearn.extras import require

LENGTH = 128
"""Number of entries of a SIFT descriptor: 4 x 4 cells with 8 orientations each."""
PATCH_SIDE = Interval(Real, 4, 1024, closed="both")
"""Valid sides, in pixels, of a patch of 4 x 4 cells."""

# OpenCV's scale space: blur of the first level, and levels per octave. A keypoint of diameter 2 s belongs to the level
# of blur s, and each of its 4 x 4 cells is 3 s wide.
_FIRST_BLUR = 1.6
_LEVELS = 3
_PATCH_PER_DIAMETER = 6.0

Side = Annotated[float, PATCH_SIDE]
NumberOfComponents = Annotated[int, from_to(1, LENGTH)]


@descriptor
def sift_points(
    images: Images, *, learned: Learned, size: Side = 48.0, n_points: PositiveInt = 160,
    n_components: NumberOfComponents = 64,
) -> PointSets:  # fmt: skip
    """Compute SIFT descriptors [1]_ at edge points: the descriptor SIFT-Dist of MKL-DR (NIPS 2008).

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        Sizes may differ. The patch is in pixels, so images should show their objects at about one scale.
    learned : mapping
        The result of `learn_sift_points` for the same parameters (else `DataError`).
    size : float
        Side in pixels of the patch of 4 x 4 cells around each point. Not given in MKL-DR.
    n_points : int
        Largest number of points per image: see `mklearn.descriptors.edge_points.edge_points`. MKL-DR has 300.
    n_components : int
        Entries of a descriptor after projection on the principal axes in `learned`, at most 128.

    Returns
    -------
    PointSets
        Descriptors of ``n_components`` entries. An image without edges (flat, or less than 3 pixels high or wide) has
        no points. Invariant to added brightness and to contrast; not to mirroring, rotation or scale.

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
    extract = partial(local_descriptors, size=size, n_points=n_points)
    return describe_points(images, extract, learned, (n_components, LENGTH), "sift_points")


@descriptor
def learn_sift_points(
    images: Images, *, random_state: NonnegativeInt, size: Side = 48.0, n_points: PositiveInt = 160,
    n_components: NumberOfComponents = 64,
) -> dict[str, NDArray]:  # fmt: skip
    """Learn the principal axes of `sift_points`: "mean" (128,) and "components" (n_components, 128), float32.

    They are learned from about 50,000 local descriptors, see `mklearn.descriptors.local_descriptors.learn_projection`.
    Other parameters and errors are as for `sift_points`.
    """
    extract = partial(local_descriptors, size=size, n_points=n_points)
    return learn_projection(images, extract, n_components, random_state, "sift_points")


@descriptor
def sift_grid(images: Images, *, step: PositiveInt = 16, size: Side = 24.0) -> Grey:
    """Compute upright SIFT descriptors at fixed points: for images that are aligned, such as faces.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        At least `size` pixels per side; all of one size (else `DataError`).
    step : int
        Pixels between neighbouring points. The grid is centred, and its patches lie within the image.
    size : float
        Pixels per side of the patch of 4 x 4 cells around each point, 4 to 1024.

    Returns
    -------
    ndarray of shape (n, n_points * 128)
        Not negative; each descriptor has length 1, or is 0 for a patch without gradients. Row by row of the grid.

    See Also
    --------
    mklearn.descriptors.dense_sift.dense_sift : visual words of such descriptors, wherever they are.
    """
    grey = as_grey_images(images)
    require_size(grey, int(np.ceil(size)), f"sift_grid with patches of {size:g} pixels")

    def extract(image: Grey) -> NDArray:
        points = grid_points(image.shape, size, step)
        return sift_at(image, points, [size] * len(points))

    return features_of(grey, extract, "sift_grid", one_size=True)


def grid_points(shape: tuple[int, ...], size: float, step: int) -> NDArray[np.float64]:
    """Compute the centres (k, 2) of patches on a centred grid within an image; pixel i is from i - 0.5 to i + 0.5."""
    centres = []
    for length in shape:
        room = length - size
        number = int(room // step) + 1
        first = size / 2 - 0.5 + (room - (number - 1) * step) / 2
        centres.append(first + step * np.arange(number, dtype=np.float64))
    return np.stack(np.meshgrid(*centres, indexing="ij"), axis=-1).reshape(-1, 2)


def local_descriptors(image: Grey, size: float, n_points: int) -> tuple[Float32, NDArray[np.int64]]:
    """Compute the unit descriptors (k, 128) before projection, and the positions (k, 2), of an image."""
    points = edge_points(image, n_points=n_points)
    descriptors = sift_at(image, points, [size] * len(points))
    described = descriptors.any(axis=1)
    return descriptors[described], points[described]


def sift_at(image: Grey, points: NDArray, sizes: Sequence[float]) -> Float32:
    """Compute upright SIFT descriptors of unit length, (k, 128) in float32, at points (k, 2): row and column.

    The image, (h, w) of any range, is stretched to 0..255. ``sizes`` are the sides in pixels of the patch around each
    point; parts outside the image add nothing. A patch without gradients, and a point that OpenCV drops, give zeros.
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


def _octave(size: float, halvings: int) -> int:
    """Return OpenCV's packed octave and level whose blur is nearest to the blur of a patch.

    The level is not below the first level of the image itself, for which OpenCV would enlarge the image fourfold, and
    not beyond the octaves of the image.
    """
    steps = round(_LEVELS * math.log2(size / (2 * _PATCH_PER_DIAMETER) / _FIRST_BLUR))
    octave, level = divmod(min(max(0, steps), _LEVELS * halvings), _LEVELS)
    return octave | level << 8
