"""Histograms of oriented gradients."""

from __future__ import annotations

from typing import Literal

import numpy as np

from mklearn.base.parameters import PositiveInt
from mklearn.descriptors.images import Grey, Images, by_channel, descriptor, features_of, require_size
from mklearn.extras import require


@descriptor
def hog(
    images: Images,
    *,
    orientations: PositiveInt = 9,
    cell: PositiveInt = 8,
    block: PositiveInt = 2,
    block_norm: Literal["L2-Hys", "L2", "L1", "L1-sqrt"] = "L2-Hys",
    channels: Literal["grey", "colour"] = "grey",
) -> Grey:
    """Compute histograms of oriented gradients (Dalal, Triggs, CVPR 2005) with scikit-image.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        At least ``cell * block`` pixels per side; all of one size (else `DataError`). For 8 x 8 digits use ``cell=4``.
    orientations : int
        Bins over 180 degrees; the sign of the gradient is ignored. 9 in the paper.
    cell : int
        Pixels per side of a cell; 8 in the paper. Pixels beyond the last whole cell are ignored.
    block : int
        Cells per side of a block; 2 in the paper. Neighbouring blocks are one cell apart.
    block_norm : {"L2-Hys", "L2", "L1", "L1-sqrt"}
        Normalisation of a block. "L2-Hys" (L2, clipped at 0.2, L2 again) is the best one in the paper.
    channels : {"grey", "colour"}
        "colour" concatenates the features of the red, green and blue channels of colour images.

    Returns
    -------
    ndarray of shape (n, n_blocks * block^2 * orientations), in colour three times as wide
        Non-negative. Invariant to added brightness, and to contrast up to the 1e-5 that avoids a division by zero. An
        image without edges gives zeros.

    Notes
    -----
    Deviations from the paper, all of scikit-image: no interpolation between bins and cells, no Gaussian window on
    blocks, zero gradients at the image border. Colour images are converted to grey first, or have features of each
    channel; the paper uses the channel with the largest gradient.
    """
    parts = by_channel(images, channels, "hog")
    # a gradient needs a neighbour on each side, so three pixels
    least = max(3, cell * block)
    require_size(parts[0], least, f"hog with blocks of {block} x {block} cells of {cell} x {cell} pixels")

    require("skimage")
    from skimage.feature import hog as skimage_hog

    def extract(image: Grey) -> Grey:
        return np.asarray(skimage_hog(image, orientations, (cell, cell), (block, block), block_norm))

    return np.hstack([features_of(part, extract, "hog", one_size=True) for part in parts])
