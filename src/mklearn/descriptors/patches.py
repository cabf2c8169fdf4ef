"""Non-overlapping square patches: all of them, or one of them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from mklearn.base.parameters import ListOf, PositiveInt, at_least
from mklearn.descriptors.images import Grey, Images, as_grey_images, descriptor, features_of
from mklearn.errors import DataError


@descriptor
def patches(
    images: Images, *, size: PositiveInt, patch: Annotated[Sequence[int], ListOf(at_least(0), length=2)] | None = None
) -> Grey:
    """Return patches of ``size x size`` pixels on the grid that they tile.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        Sides are multiples of `size`; for all patches, of one size (else `DataError`).
    size : int
        Pixels per side of a patch. LMKL for images (Gonen, Alpaydin) uses 8 and 16 for 64 x 64 faces, 4 and 8 for
        16 x 16 digits.
    patch : (row, column), optional
        One patch of the grid (else `DataError`), counted from 0 at the top left; LMKL computes one kernel per patch. By
        default all patches, row by row.

    Returns
    -------
    ndarray of shape (n, n_patches * size^2)
        The pixels of each patch, row by row.
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
        grid = image.reshape(rows, size, columns, size).transpose(0, 2, 1, 3)
        return grid if patch is None else grid[patch[0], patch[1]]

    return features_of(grey, extract, "patches", one_size=patch is None)
