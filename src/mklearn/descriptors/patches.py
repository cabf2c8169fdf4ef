"""Non-overlapping square patches: all of them, one of them, or their statistics."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

import numpy as np

from mklearn.base.parameters import ListOf, StrOptions, at_least
from mklearn.descriptors.images import Grey, Images, as_grey_images, descriptor, features_of
from mklearn.errors import DataError


@descriptor(
    size=[at_least(1)], patch=[ListOf(at_least(0), length=2), None], statistics=[StrOptions({"pixels", "mean_std"})]
)
def patches(
    images: Images,
    *,
    size: int,
    patch: Sequence[int] | None = None,
    statistics: Literal["pixels", "mean_std"] = "pixels",
) -> Grey:
    """Return patches of ``size x size`` pixels on the grid that they tile.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        Sides are multiples of `size`.
    size : int
        Pixels per side of a patch. LMKL for images (Gonen, Alpaydin) uses 8 and 16 for 64 x 64 faces, 4 and 8 for
        16 x 16 digits.
    patch : (row, column), optional
        One patch of the grid, counted from 0 at the top left; LMKL computes one kernel per patch. By default all
        patches, row by row.
    statistics : {"pixels", "mean_std"}
        The pixels of each patch, row by row, or its mean and (population) standard deviation ("mean_std" is not in the
        paper).

    Returns
    -------
    ndarray of shape (n, n_patches * size^2) or (n, n_patches * 2)
        Pixels and means are linear in the image. Standard deviations are invariant to added brightness and scale with
        contrast.

    Raises
    ------
    DataError
        Invalid images, sides that are not multiples of `size`, a patch outside the grid, or images of different sizes.
    """
    grey = as_grey_images(images)
    for number, image in enumerate(grey):
        height, width = image.shape
        if height % size or width % size:
            raise DataError(
                f"Image {number} has {height} x {width} pixels, which patches of {size} x {size} do not tile: resize "
                f"it, e.g. to {max(1, height // size) * size} x {max(1, width // size) * size}, or choose another size."
            )
        if patch is not None and not (patch[0] < height // size and patch[1] < width // size):
            raise DataError(
                f"Image {number} has {height // size} x {width // size} patches; there is no patch {tuple(patch)}."
            )

    def extract(image: Grey) -> Grey:
        rows, columns = image.shape[0] // size, image.shape[1] // size
        grid = image.reshape(rows, size, columns, size).transpose(0, 2, 1, 3).reshape(rows, columns, size * size)
        if patch is not None:
            grid = grid[patch[0], patch[1]][None, None]
        if statistics == "pixels":
            return grid.ravel()
        return np.stack([grid.mean(axis=2), grid.std(axis=2)], axis=2).ravel()

    return features_of(grey, extract, "patches", one_size=patch is None)
