"""Block means: an image at several coarse resolutions."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np

from mklearn.base.parameters import ListOf, at_least
from mklearn.descriptors.images import Grey, Images, as_grey_images, descriptor, features_of, require_size


@descriptor
def multiresolution(images: Images, *, resolutions: Annotated[Sequence[int], ListOf(at_least(1))] = (4, 8, 16)) -> Grey:
    """Compute means over a grid of r x r blocks for each resolution r, concatenated in the given order.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        At least as many pixels as blocks per side (else `DataError`); sizes may differ.
    resolutions : sequence of int
        Blocks per side. LMKL [1]_ uses 4, 8, 16, 32, 64 for faces and 2, 4, 8, 16 for digits, each in a kernel of its
        own; for that, call with one resolution at a time.

    Returns
    -------
    ndarray of shape (n, sum of r^2)
        Linear in the pixels: brightness adds to every feature, contrast multiplies every feature.

    Notes
    -----
    The paper does not specify the downsampling; we use block means. Where r does not divide the side of the image, a
    pixel on the border of two blocks counts in each by the share of its area there, so all blocks have equal area.

    References
    ----------
    .. [1] Gonen, Alpaydin, "Localized Multiple Kernel Machines for Image Recognition" (its text names no year;
       2009 or later).
    """
    grey = as_grey_images(images)
    require_size(grey, max(resolutions), f"multiresolution with {max(resolutions)} blocks per side")

    def extract(image: Grey) -> Grey:
        rows, columns = image.shape
        means = [block_weights(rows, r) @ image @ block_weights(columns, r).T for r in resolutions]
        return np.concatenate([each.ravel() for each in means])

    return features_of(grey, extract, "multiresolution")


def block_weights(n_pixels: int, n_blocks: int) -> Grey:
    """Compute the weights of a line's pixels in the means of its blocks, shape (n_blocks, n_pixels); rows sum to 1."""
    edges = np.arange(n_blocks + 1) * (n_pixels / n_blocks)
    pixel = np.arange(n_pixels)
    overlap = np.minimum(edges[1:, None], pixel + 1) - np.maximum(edges[:-1, None], pixel)
    return np.maximum(overlap, 0) * (n_blocks / n_pixels)
