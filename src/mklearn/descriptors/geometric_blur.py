"""Geometric blur: oriented edges around a point, blurred more with distance from it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import NONNEGATIVE, ListOf, NonnegativeInt, PositiveInt, at_least
from mklearn.checks import check_integer, invalid
from mklearn.descriptors.edge_points import spread_points, thinned_gradient
from mklearn.descriptors.images import Grey, Images, Learned, descriptor
from mklearn.descriptors.local_descriptors import describe_points, learn_projection, unit_rows
from mklearn.descriptors.point_sets import Float32, PointSets
from mklearn.extras import require

_CHANNELS = 4

# Growth of the blur with the distance from the point, and blur at the point, in pixels.
_ALPHA = 0.5
_BETA = 1.0

# The resolution of a blurred signal is halved once its blur is this many of its pixels wide: sampling and linear
# interpolation then lose less than 1 % of it.
_COARSEN_AT = 4.0

# Gaussians are truncated at this many of their widths.
_TRUNCATE = 3.0

Ring = tuple[float, NDArray[np.float64]]
"""Width of the blur, and offsets (row, column) of the samples, shape (number, 2)."""

Radii = Annotated[Sequence[float], ListOf(NONNEGATIVE)]
Samples = Annotated[Sequence[int], ListOf(at_least(1))]


@descriptor
def geometric_blur(
    images: Images, *, learned: Learned, radii: Radii = (0, 3, 6, 12, 24, 36),
    samples: Samples = (1, 8, 8, 10, 12, 12), n_points: PositiveInt = 160, n_components: PositiveInt = 64,
) -> PointSets:  # fmt: skip
    """Compute geometric blur descriptors at edge points [1]_ [2]_.

    The signal has four channels, one per orientation of edges. At distance r from a point it is blurred by a Gaussian
    of width ``0.5 r + 1`` pixels and sampled on a ring of radius r. A local descriptor holds the four channels at all
    samples, divided by its Euclidean length, and is projected on the principal axes in `learned`.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        Sizes may differ. Radii are in pixels, so images should show their objects at about one scale (MKL-DR: 60,000
        pixels).
    learned : mapping
        The result of `learn_geometric_blur` for the same parameters (else `DataError`).
    radii : sequence of float
        Radii of the rings in pixels, increasing; 0 is the point itself. MKL-DR (NIPS 2008) has two descriptors, GB-1
        and GB-2, whose radii it does not give; we use the default for GB-1 and (0, 6, 12, 24, 36, 60) for GB-2.
    samples : sequence of int
        Number of samples on each ring, at equal angles, beginning in the direction of the rows. The default 51 samples
        give local descriptors of 204 entries.
    n_points : int
        Largest number of points per image: see `mklearn.descriptors.edge_points.edge_points`. MKL-DR has 300; the
        default is 160, because the time for distances grows with its square.
    n_components : int
        Entries of a descriptor after projection.

    Returns
    -------
    PointSets
        Descriptors of ``n_components`` entries. An image without edges (flat, or less than 3 pixels high or wide) has
        no points. Invariant to added brightness and to contrast; not to mirroring, rotation or scale.

    Notes
    -----
    Deviations. The signal is the gradient of the smoothed image, thinned by non-maximum suppression and divided
    linearly between the two nearest of four orientations (0, 45, 90, 135 degrees); the authors use oriented edge energy
    or boundary probabilities. There is no edge outside the image. Coarse levels are subsampled. The projection, for
    lower cost, is not in the papers. MKL-DR samples 300 edge pixels at random; here 160 are spread over the edges.

    References
    ----------
    .. [1] Berg, Malik, "Geometric blur for template matching", CVPR 2001.
    .. [2] Berg, Berg, Malik, "Shape matching and object recognition using low distortion correspondences", CVPR 2005.
    """
    rings = _rings(radii, samples, n_components)
    extract = partial(local_descriptors, rings=rings, n_points=n_points)
    shape = (n_components, _CHANNELS * sum(samples))
    return describe_points(images, extract, learned, shape, "geometric_blur")


@descriptor
def learn_geometric_blur(
    images: Images, *, random_state: NonnegativeInt, radii: Radii = (0, 3, 6, 12, 24, 36),
    samples: Samples = (1, 8, 8, 10, 12, 12), n_points: PositiveInt = 160, n_components: PositiveInt = 64,
) -> dict[str, NDArray]:  # fmt: skip
    """Learn the principal axes of `geometric_blur`: "mean" (d,) and "components" (n_components, d), float32.

    They are learned from about 50,000 local descriptors of d = 4 * sum(samples) entries, see
    `mklearn.descriptors.local_descriptors.learn_projection`. Other parameters and errors are as for `geometric_blur`.
    """
    extract = partial(local_descriptors, rings=_rings(radii, samples, n_components), n_points=n_points)
    return learn_projection(images, extract, n_components, random_state, "geometric_blur")


def local_descriptors(image: Grey, rings: Sequence[Ring], n_points: int) -> tuple[Float32, NDArray[np.int64]]:
    """Compute the unit descriptors (k, 4 * number of samples) before projection, and the positions (k, 2)."""
    require("cv2")
    import cv2

    strength, orientation = thinned_gradient(image)
    points = spread_points(strength, n_points)
    if len(points) == 0:
        return np.zeros((0, _CHANNELS * sum(len(offsets) for _, offsets in rings)), dtype=np.float32), points
    level = oriented_channels(strength, orientation)
    # level[i, j] is the signal at row factor * i - before, column factor * j - before, blurred by a width of reached
    reached, factor, before = 0.0, 1, 0
    parts = []
    for width, offsets in rings:
        while reached / factor >= _COARSEN_AT:
            level = np.ascontiguousarray(level[::2, ::2])
            factor *= 2
        # variances of Gaussians add, so each level starts from the previous one
        level, margin = _blur(level, np.sqrt(width**2 - reached**2) / factor)
        reached, before = width, before + factor * margin
        where = ((points[:, None] + offsets + before) / factor).astype(np.float32)
        values = cv2.remap(
            level, where[..., 1], where[..., 0], cv2.INTER_LINEAR, borderMode=cv2.BORDER_CONSTANT, borderValue=0
        )
        parts.append(values.reshape(len(points), -1))
    return unit_rows(np.concatenate(parts, axis=1)), points


def oriented_channels(strength: Grey, orientation: Grey) -> Float32:
    """Divide each edge between the two nearest orientations: four channels (h, w, 4) that sum to the strength."""
    at = orientation * (_CHANNELS / np.pi)
    lower = np.floor(at).astype(np.int64) % _CHANNELS
    share = at - np.floor(at)
    channels = np.zeros((*strength.shape, _CHANNELS), dtype=np.float32)
    row, column = np.nonzero(strength)
    size, part, first = strength[row, column], share[row, column], lower[row, column]
    channels[row, column, first] = size * (1 - part)
    channels[row, column, (first + 1) % _CHANNELS] = size * part
    return channels


def _blur(channels: Float32, width: float) -> tuple[Float32, int]:
    """Blur the channels; a margin on every side keeps the signal that spreads beyond the border."""
    require("cv2")
    import cv2

    margin = int(np.ceil(_TRUNCATE * width))
    wide = cv2.copyMakeBorder(channels, margin, margin, margin, margin, cv2.BORDER_CONSTANT, value=0)
    side = 2 * margin + 1
    blurred: NDArray = cv2.GaussianBlur(wide, (side, side), width, borderType=cv2.BORDER_CONSTANT)
    return blurred.astype(np.float32, copy=False), margin


def _rings(radii: Sequence[float], samples: Sequence[int], n_components: int) -> list[Ring]:
    if any(a >= b for a, b in pairwise(radii)) or np.isinf(radii[-1]):
        raise invalid(radii, "radii", "one or more increasing numbers >= 0")
    if len(samples) != len(radii):
        raise invalid(samples, "samples", f"{len(radii)} entries, one number of samples per radius")
    check_integer(n_components, "n_components", most=_CHANNELS * sum(samples))
    angles = [np.arange(number) * (2 * np.pi / number) for number in samples]
    return [
        (_ALPHA * radius + _BETA, radius * np.stack([np.sin(angle), np.cos(angle)], axis=1))
        for radius, angle in zip(radii, angles, strict=True)
    ]
