"""Block means: the same image at several coarse resolutions."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mklearn.descriptors.images import Grey, Images, as_grey_images, features_of, require_size, whole_number
from mklearn.errors import ConfigError


def multiresolution(images: Images, *, resolutions: Sequence[int] = (4, 8, 16)) -> Grey:
    """Means over a grid of r x r blocks, for each resolution r; concatenated in the order given.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        May differ in size.
    resolutions : sequence of int
        Blocks per side. LMKL (Gonen and Alpaydin, ICML 2008) uses 4, 8, 16, 32, 64 for faces and 2, 4, 8, 16 for
        digits, each as a kernel of its own: call with one resolution at a time for that.

    Returns
    -------
    ndarray, shape (n, sum of r^2)
        Linear in the pixels: brightness adds to every feature, contrast multiplies every feature.

    Raises
    ------
    DataError
        Not images, or an image with fewer pixels than blocks along a side.
    ConfigError
        No resolutions, or not whole numbers >= 1.

    Notes
    -----
    The paper does not say how it downsamples; means over blocks are our choice. Where r does not divide the side of the
    image, pixels on the border between two blocks count in each by the share of their area that lies in it, so that
    all blocks have the same area.
    """
    sizes = [whole_number(size, "resolutions") for size in resolutions]
    if not sizes:
        raise ConfigError("resolutions is empty; give at least one, for example [8]")
    grey = as_grey_images(images)
    require_size(grey, max(sizes), f"multiresolution with {max(sizes)} blocks per side")

    def extract(image: Grey) -> Grey:
        return np.concatenate(
            [(block_weights(image.shape[0], r) @ image @ block_weights(image.shape[1], r).T).ravel() for r in sizes]
        )

    return features_of(grey, extract, "multiresolution")


def block_weights(n_pixels: int, n_blocks: int) -> Grey:
    """Weights of the pixels of a line in the means of its blocks, shape (n_blocks, n_pixels); rows sum to one."""
    edges = np.arange(n_blocks + 1) * (n_pixels / n_blocks)
    pixel = np.arange(n_pixels)
    overlap = np.minimum(edges[1:, None], pixel + 1) - np.maximum(edges[:-1, None], pixel)
    return np.maximum(overlap, 0) * (n_blocks / n_pixels)
