"""Histograms of oriented gradients."""

from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from mklearn.descriptors.images import Grey, Images, as_grey_images, features_of, require_size
from mklearn.descriptors.validation import one_of, whole_number

# Added to the norm of a block, so that a block without edges is not divided by zero.
_TINY = 1e-5
# Pixels of the images that are worked on at once.
_PIXELS = 2**15


def hog(images: Images, *, orientations: int = 9, cell: int = 8, block: int = 2, block_norm: str = "L2-Hys") -> Grey:
    """Compute histograms of oriented gradients (Dalal, Triggs, CVPR 2005).

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        At least ``cell * block`` pixels per side; all of one size. For 8 x 8 digits use ``cell=4``.
    orientations : int
        Bins over 180 degrees; the sign of the gradient is ignored. 9 in the paper.
    cell : int
        Pixels per side of a cell; 8 in the paper. Pixels beyond the last whole cell are ignored.
    block : int
        Cells per side of a block; 2 in the paper. Neighbouring blocks are one cell apart.
    block_norm : {"L2-Hys", "L2", "L1", "L1-sqrt"}
        Normalisation of a block. "L2-Hys" (L2, clipped at 0.2, L2 again) is the best one in the paper.

    Returns
    -------
    ndarray of shape (n, n_blocks * block^2 * orientations)
        Non-negative. Invariant to added brightness, and to contrast up to the 1e-5 that avoids a division by zero. An
        image without edges gives zeros.

    Raises
    ------
    DataError
        Invalid images, images that are too small, or images of different sizes.
    ConfigError
        Invalid parameters.

    Notes
    -----
    The features are those of scikit-image's ``hog``, which adds up histograms in single precision. Deviations from the
    paper, all of them scikit-image's: no interpolation between bins and cells, no Gaussian window on blocks, zero
    gradients at the image border. Colour images are converted to grey first; the paper uses the channel with the
    largest gradient.
    """
    orientations = whole_number(orientations, "orientations")
    cell = whole_number(cell, "cell")
    block = whole_number(block, "block")
    one_of(block_norm, "block_norm", ("L2-Hys", "L2", "L1", "L1-sqrt"))
    grey = as_grey_images(images)
    # a gradient needs a neighbour on each side, so three pixels
    least = max(3, cell * block)
    require_size(grey, least, f"hog with blocks of {block} x {block} cells of {cell} x {cell} pixels")

    def extract(images: Grey) -> Grey:
        cells = _cell_histograms(images, orientations, cell)
        blocks = np.moveaxis(sliding_window_view(cells, (block, block), axis=(1, 2)), 3, -1)
        return _normalised(blocks.reshape(*blocks.shape[:3], -1), block_norm).reshape(len(images), -1)

    if len({image.shape for image in grey}) > 1:
        return features_of(grey, lambda image: extract(image[None]), "hog")
    at_once = max(1, _PIXELS // grey[0].size)
    parts = [extract(np.stack(grey[start : start + at_once])) for start in range(0, len(grey), at_once)]
    return np.concatenate(parts)


def _cell_histograms(images: Grey, orientations: int, cell: int) -> Grey:
    """Compute the mean gradient of each orientation in each whole cell, shape (n, rows, columns, orientations)."""
    down, right = np.zeros_like(images), np.zeros_like(images)
    down[:, 1:-1] = images[:, 2:] - images[:, :-2]
    right[:, :, 1:-1] = images[:, :, 2:] - images[:, :, :-2]
    n, rows, columns = len(images), images.shape[1] // cell, images.shape[2] // cell
    whole = np.s_[:, : rows * cell, : columns * cell]
    angle = np.degrees(np.arctan2(down[whole], right[whole])) % 180
    # An angle just below 0 is rounded to 180, beyond the last bin: it has no vote.
    bins = np.searchsorted(180.0 / orientations * np.arange(1, orientations + 1), angle, side="right")
    row, column = (np.arange(length * cell) // cell for length in (rows, columns))
    cells = np.arange(n)[:, None, None] * (rows * columns) + (row[:, None] * columns + column)
    positions = cells * (orientations + 1) + bins
    size = np.hypot(right[whole], down[whole])
    votes = np.bincount(positions.ravel(), size.ravel(), minlength=n * rows * columns * (orientations + 1))
    return votes.reshape(n, rows, columns, -1)[..., :orientations] / cell**2


def _normalised(blocks: Grey, block_norm: str) -> Grey:
    """Normalise the histograms of each block, the last axis."""
    if block_norm.startswith("L1"):
        shares = blocks / (blocks.sum(axis=-1, keepdims=True) + _TINY)
        return np.sqrt(shares) if block_norm == "L1-sqrt" else shares
    unit = _with_unit_length(blocks)
    return unit if block_norm == "L2" else _with_unit_length(np.minimum(unit, 0.2))


def _with_unit_length(blocks: Grey) -> Grey:
    scaled: Grey = blocks / np.sqrt((blocks**2).sum(axis=-1, keepdims=True) + _TINY**2)
    return scaled
