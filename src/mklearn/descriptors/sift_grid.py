"""SIFT descriptors at the points of a regular grid, one after the other."""

from __future__ import annotations

import numpy as np

from mklearn.base.parameters import at_least, constrained
from mklearn.checks import check_integer
from mklearn.descriptors.dense_sift import grid_centres
from mklearn.descriptors.images import Grey, Images, as_grey_images, features_of, require_size
from mklearn.descriptors.sift import PATCH_SIDE, check_patch, sift_at


@constrained(step=[at_least(1)], size=[PATCH_SIDE])
def sift_grid(images: Images, *, step: int = 16, size: float = 24.0) -> Grey:
    """Compute upright SIFT descriptors at fixed points: for images that are aligned, such as faces.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        At least `size` pixels per side; all of one size.
    step : int
        Pixels between neighbouring points. The grid is centred, and its patches lie within the image.
    size : float
        Pixels per side of the patch of 4 x 4 cells around each point, 4 to 1024.

    Returns
    -------
    ndarray of shape (n, n_points * 128)
        Not negative; each descriptor has length 1, or is 0 for a patch without gradients. Row by row of the grid.

    Raises
    ------
    DataError
        Invalid images, images that are too small, or images of different sizes.
    ConfigError
        Invalid parameters.

    See Also
    --------
    mklearn.descriptors.dense_sift.dense_sift : visual words of such descriptors, wherever they are.
    """
    step, size = check_integer(step, "step"), check_patch(size, "size")
    grey = as_grey_images(images)
    require_size(grey, int(np.ceil(size)), f"sift_grid with patches of {size:g} pixels")

    def extract(image: Grey) -> Grey:
        rows, columns = (grid_centres(length, size, step) for length in image.shape)
        points = np.stack(np.meshgrid(rows, columns, indexing="ij"), axis=-1).reshape(-1, 2)
        features: Grey = sift_at(image, points, [size] * len(points)).astype(np.float64).ravel()
        return features

    return features_of(grey, extract, "sift_grid", one_size=True)
