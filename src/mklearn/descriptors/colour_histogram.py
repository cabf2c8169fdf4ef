"""Histograms of hue, saturation and value, over a grid of cells."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import ListOf, PositiveInt, at_least
from mklearn.descriptors.images import (
    Grey,
    Images,
    as_colour_images,
    cell_histograms,
    descriptor,
    features_of,
    require_size,
)
from mklearn.errors import DataError
from mklearn.extras import require


@descriptor
def colour_histogram(
    images: Images, *, bins: Annotated[tuple[int, int, int], ListOf(at_least(1), length=3)] = (8, 4, 4),
    grid: PositiveInt = 1,
) -> Grey:  # fmt: skip
    """Compute histograms of hue, saturation and value over a grid of cells [1]_ [2]_.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        In colour, with at least `grid` pixels per side; floats have values from 0 to 1 (else `DataError`). Sizes may
        differ.
    bins : (int, int, int)
        Bins of hue, saturation and value.
    grid : int
        Cells per side.

    Returns
    -------
    ndarray of shape (n, grid^2 * product of bins)
        Non-negative; the histogram of each cell sums to 1.

    Notes
    -----
    Deviations: hard bins of HSV, not clusters of its values (visual words) as in Nilsback and Zisserman [2]_: nothing
    is learned from the images. A grey pixel has no hue: it counts in the first bin of hue.

    References
    ----------
    .. [1] Swain, Ballard, "Color indexing", International Journal of Computer Vision 7, 1991.
    .. [2] Nilsback, Zisserman, "A visual vocabulary for flower classification", CVPR 2006.
    """
    coloured = as_colour_images(images, "colour_histogram")
    require_size([image[..., 0] for image in coloured], grid, f"colour_histogram with {grid} cells per side")

    for number, image in enumerate(coloured):
        if image.min() < 0 or image.max() > 1:
            raise DataError(
                f"Image {number} has values outside 0..1: colour_histogram takes uint8, uint16, or floats 0..1."
            )

    def extract(image: Grey) -> Grey:
        histograms = cell_histograms(_bins(image, bins), int(np.prod(bins)), grid)
        return histograms / histograms.sum(axis=1, keepdims=True)

    return features_of(coloured, extract, "colour_histogram")


def _bins(image: Grey, sizes: tuple[int, int, int]) -> NDArray[np.int64]:
    """Return the joint bin of each pixel, shape (h, w)."""
    require("skimage")
    from skimage.color import rgb2hsv

    parts = [
        np.minimum((channel * size).astype(np.int64), size - 1)
        for channel, size in zip(np.moveaxis(rgb2hsv(image), 2, 0), sizes, strict=True)
    ]
    return np.ravel_multi_index(parts, sizes)
