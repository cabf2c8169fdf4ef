"""Local binary patterns, as histograms over a grid of cells."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import PositiveInt
from mklearn.descriptors.images import Grey, Images, by_channel, cell_histograms, descriptor, features_of, require_size

# The eight neighbours in ring order, so that adjacent bits of a code are adjacent pixels.
_RING = ((-1, -1), (-1, 0), (-1, 1), (0, 1), (1, 1), (1, 0), (1, -1), (0, -1))


@descriptor
def lbp(
    images: Images,
    *,
    grid: PositiveInt = 4,
    radius: PositiveInt = 1,
    patterns: Literal["uniform", "rotation_invariant"] = "uniform",
    channels: Literal["grey", "colour"] = "grey",
) -> Grey:
    """Compute histograms of local binary patterns over a grid of cells [1]_ [2]_.

    The code of a pixel marks which of its eight neighbours are at least as bright. Patterns with at most two changes
    around the ring are "uniform".

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        At least ``grid + 2 * radius`` pixels per side (else `DataError`); sizes may differ.
    grid : int
        Cells per side: 7 for faces of 130 x 150 pixels in [2]_; 4 suits smaller images, 2 digits of 8 x 8.
    radius : int
        Distance of the neighbours in pixels: 2 in Ahonen et al. [2]_, 1 in the original pattern.
    patterns : {"uniform", "rotation_invariant"}
        "uniform": 59 bins, one per uniform pattern and one for the rest [2]_. "rotation_invariant": 10 bins, the number
        of brighter neighbours of uniform patterns and one for the rest [1]_.
    channels : {"grey", "colour"}
        "colour" concatenates the histograms of the red, green and blue channels of colour images.

    Returns
    -------
    ndarray of shape (n, grid^2 * 59) or (n, grid^2 * 10), in colour three times as wide
        Non-negative; the histogram of each cell sums to 1. Invariant to every strictly increasing map of the grey
        values, so to brightness and contrast. In a flat image all pixels have the pattern "all at least as bright".

    Notes
    -----
    Deviations: neighbours are the eight pixels of a square ring, not points of a circle with interpolated grey values,
    which are not invariant to increasing maps and code flat regions by rounding errors. Pixels closer to the border
    than `radius` have no code, as a padded border would depend on brightness.

    References
    ----------
    .. [1] Ojala, Pietikainen, Maenpaa, "Multiresolution gray-scale and rotation invariant texture classification with
       local binary patterns", PAMI 24, 2002.
    .. [2] Ahonen, Hadid, Pietikainen, "Face description with local binary patterns", PAMI 28, 2006.
    """
    parts = by_channel(images, channels, "lbp")
    require_size(parts[0], grid + 2 * radius, f"lbp with {grid} cells per side and radius {radius}")
    bins = pattern_bins(patterns)
    n_bins = int(bins.max()) + 1

    def extract(image: Grey) -> Grey:
        histograms = cell_histograms(bins[binary_patterns(image, radius)], n_bins, grid)
        return histograms / histograms.sum(axis=1, keepdims=True)

    return np.hstack([features_of(part, extract, "lbp") for part in parts])


def binary_patterns(image: Grey, radius: int) -> NDArray[np.int64]:
    """Compute the codes 0..255 of the pixels at least `radius` from the border, shape (h - 2 radius, w - 2 radius)."""
    height, width = image.shape[0] - 2 * radius, image.shape[1] - 2 * radius
    centre = image[radius : radius + height, radius : radius + width]
    codes = np.zeros((height, width), dtype=np.int64)
    for bit, (down, right) in enumerate(_RING):
        top, left = radius * (1 + down), radius * (1 + right)
        codes |= (image[top : top + height, left : left + width] >= centre).astype(np.int64) << bit
    return codes


def pattern_bins(patterns: str) -> NDArray[np.int64]:
    """Return the histogram bin of each code 0..255; the last bin holds the patterns that are not uniform."""
    bits = np.array([[code >> bit & 1 for bit in range(8)] for code in range(256)])
    uniform = np.sum(bits != np.roll(bits, 1, axis=1), axis=1) <= 2
    if patterns == "rotation_invariant":
        return np.where(uniform, bits.sum(axis=1), 9)
    return np.where(uniform, np.cumsum(uniform) - 1, int(uniform.sum()))
