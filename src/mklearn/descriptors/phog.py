"""Pyramid histograms of edge orientations."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import Options, Positive, PositiveInt, from_to
from mklearn.descriptors.images import (
    Grey,
    Images,
    as_grey_images,
    cell_histograms,
    descriptor,
    features_of,
    require_size,
)
from mklearn.extras import require

# Thresholds of the edge detector relative to the image's gradients, the defaults of MATLAB's `edge`: 70 % of the pixels
# have a gradient below the high threshold, and the low threshold is 0.4 times the high one.
_NOT_EDGES = 0.7
_LOW_TO_HIGH = 0.4


@descriptor
def phog(
    images: Images, *, levels: Annotated[int, from_to(1, 6)] = 3, bins: PositiveInt = 20,
    angle: Annotated[int, Options(int, {180, 360})] = 180, sigma: Positive = 2**0.5,
) -> Grey:  # fmt: skip
    """Compute histograms of gradient orientations on Canny edges over a pyramid of cells [1]_.

    Edge pixels vote with the size of their gradient. Level l divides the image into ``2^l x 2^l`` cells. The histograms
    of all cells, level by level, are divided by their common sum.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        At least ``max(3, 2^(levels - 1))`` pixels per side (else `DataError`); sizes may differ.
    levels : int
        Number of levels, from level 0 (the whole image). MKL-DR (NIPS 2008) uses levels 0 to 2, so 3.
    bins : int
        Orientation bins per cell. Not given in MKL-DR. 20 over 180 degrees and 40 over 360 are the settings attributed
        to its authors (not checked against the paper).
    angle : {180, 360}
        Range of orientations; 180 ignores the sign of the gradient.
    sigma : float
        Width in pixels of the Gaussian before edge detection. The square root of 2 is the default of the function
        called by the authors' program.

    Returns
    -------
    ndarray of shape (n, bins * (4^levels - 1) / 3)
        Non-negative, rows sum to 1. Invariant to added brightness and to contrast but for rounding, as the edge
        thresholds are relative to the image: of two neighbours with equal gradients, rounding decides which is the
        edge. That affects drawings with straight edges, but hardly photographs. An image without edges gives zeros.

    Notes
    -----
    Deviations: every edge pixel votes for one bin, by its own gradient. Where sides are not multiples of ``2^l`` the
    cells divide the image evenly; the authors' program omits pixels. Levels are not weighted.

    References
    ----------
    .. [1] Bosch, Zisserman, Munoz, "Representing shape with a spatial pyramid kernel", CIVR 2007.
    """
    grey = as_grey_images(images)
    require_size(grey, max(3, 2 ** (levels - 1)), f"phog with {levels} levels")

    def extract(image: Grey) -> Grey:
        votes, orientation = _edge_votes(image, sigma, angle)
        # rounded: whole grey values put angles on limits of bins; one equal to `angle` belongs to the first bin
        bin_of = np.floor(np.round(orientation * (bins / angle), 9)).astype(np.int64) % bins
        histograms = [cell_histograms(bin_of, bins, 2**level, votes).ravel() for level in range(levels)]
        features: Grey = np.concatenate(histograms)
        total = features.sum()
        return features / total if total > 0 else features

    return features_of(grey, extract, "phog")


def _edge_votes(image: Grey, sigma: float, angle: int) -> tuple[Grey, Grey]:
    """Compute the gradient size on edge pixels (0 elsewhere) and the gradient orientation in [0, angle]."""
    low, high = float(image.min()), float(image.max())
    if high - low <= 1e-12 * max(abs(low), abs(high)):
        return np.zeros_like(image), np.zeros_like(image)
    down, right = np.gradient(image)
    orientation = np.degrees(np.arctan2(down, right)) % angle
    return np.where(_edges(image, sigma), np.hypot(down, right), 0.0), orientation


def _edges(image: Grey, sigma: float) -> NDArray[np.bool_]:
    """Detect Canny edges with thresholds relative to the gradients of the smoothed image."""
    require("skimage")
    from scipy import ndimage
    from skimage.feature import canny

    smooth = ndimage.gaussian_filter(image, sigma, mode="nearest")
    size = np.hypot(ndimage.sobel(smooth, axis=0), ndimage.sobel(smooth, axis=1))
    # quantiles do not depend on how the detector scales its gradients
    low = min(float(np.mean(size < _LOW_TO_HIGH * np.quantile(size, _NOT_EDGES))), _NOT_EDGES)
    return np.asarray(
        canny(image, sigma, low_threshold=low, high_threshold=_NOT_EDGES, use_quantiles=True, mode="nearest")
    )
