"""Resizing of images with anti-aliased linear filters: R I C', with one matrix per axis, in double precision.

Conventions: pixel centres lie at half-integers (pixel k covers [k, k + 1)), as in Pillow and scikit-image. A filter is
cut off at the border of the image and rescaled to sum 1, so that constant images stay constant.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import lru_cache

import numpy as np

from mklearn.errors import ConfigError
from mklearn.study.data.samples import stack_if_regular

BATCH = 1024
"""Number of images of one shape that are resized at a time."""


def _cubic(t: np.ndarray, a: float = -0.5) -> np.ndarray:
    # Keys (1981), a = -1/2: reproduces quadratics in the interior. Pillow uses the same a, OpenCV -3/4.
    t = np.abs(t)
    near = ((a + 2) * t - (a + 3)) * t * t + 1
    far = ((t - 5) * t + 8) * t * a - 4 * a
    return np.where(t < 1, near, np.where(t < 2, far, 0.0))


@lru_cache(maxsize=256)
def resize_matrix(n_in: int, n_out: int, interpolation: str) -> np.ndarray:
    """Compute the (n_out, n_in) matrix that resizes one axis. Rows sum to 1; the cached array is read-only.

    "area" averages over the area that an output pixel covers, exactly for fractional factors too. When shrinking, the
    filter of "bicubic" is widened by the scale factor.
    """
    scale = n_in / n_out
    if interpolation == "area":
        edges = np.linspace(0.0, n_in, n_out + 1)
        low, high = edges[:-1, None], edges[1:, None]
        pixel = np.arange(n_in)[None, :]
        weights = np.clip(np.minimum(high, pixel + 1) - np.maximum(low, pixel), 0.0, None)
    elif interpolation == "bicubic":
        centre = (np.arange(n_out) + 0.5) * scale
        weights = _cubic((np.arange(n_in)[None, :] + 0.5 - centre[:, None]) / max(scale, 1.0))
    else:
        raise ConfigError(f"resize: unknown interpolation {interpolation!r}; valid: area, bicubic")
    weights = weights / weights.sum(axis=1, keepdims=True)
    weights.setflags(write=False)
    return weights


def resize_images(
    images: np.ndarray | Sequence[np.ndarray], shape: Sequence[int] | None = None, pixels: int | None = None,
    interpolation: str = "area", rounding: str = "nearest",
) -> np.ndarray | list[np.ndarray]:  # fmt: skip
    """Resize images (n, rows, cols[, 3]); return an array if the new shapes agree, else a list.

    The new size is `shape`, or about `pixels` pixels per image at the same aspect ratio. See :func:`resize_matrix` for
    `interpolation`. With `rounding` "nearest", integer images keep their type: values are rounded half to even and
    clipped to its range. With "none" they become unrounded float64. Floating-point images keep their type and are
    neither rounded nor clipped ("bicubic" may overshoot). The input is not modified.
    """

    def resized(image: np.ndarray, sides: Sequence[int]) -> np.ndarray:
        rows, cols = shape or sides[:2]
        if pixels is not None:
            factor = math.sqrt(pixels / (sides[0] * sides[1]))  # an extremely long image becomes one pixel wide
            rows, cols = (min(max(1, round(side * factor)), pixels) for side in sides[:2])
        return _resize(image, (rows, cols), interpolation, rounding, colour=len(sides) == 3)

    if not isinstance(images, np.ndarray) or images.ndim != 3 or not len(images):
        return stack_if_regular([resized(image, image.shape) for image in images])
    starts = range(0, len(images), BATCH)  # a loop over single images would be slow
    return np.concatenate([resized(images[start : start + BATCH], images.shape[1:]) for start in starts])


def _resize(
    images: np.ndarray, size: tuple[int, int], interpolation: str, rounding: str, *, colour: bool
) -> np.ndarray:
    stacked = np.moveaxis(images, 2, 0) if colour else images
    integers = images.dtype.kind != "f"
    if stacked.shape[-2:] == size:
        return images.astype(np.float64) if integers and rounding == "none" else images
    left, right = (resize_matrix(stacked.shape[axis], size[axis], interpolation) for axis in (-2, -1))
    values = left @ stacked.astype(np.float64, copy=False) @ right.T
    if colour:
        values = np.ascontiguousarray(np.moveaxis(values, 0, 2))
    if integers and rounding == "none":
        return values
    if integers:
        limits = np.iinfo(images.dtype)
        # Sums such as 0.25 * (a + b + c + d) have an error of 1e-14 that would decide ties: round it away first.
        values = np.clip(np.rint(np.round(values, 9)), limits.min, limits.max)
    return values.astype(images.dtype, copy=False)
