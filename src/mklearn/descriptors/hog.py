"""Histograms of oriented gradients."""

from __future__ import annotations

from mklearn.descriptors.images import Grey, Images, as_grey_images, features_of, one_of, require_size, whole_number


def hog(images: Images, *, orientations: int = 9, cell: int = 8, block: int = 2, block_norm: str = "L2-Hys") -> Grey:
    """Histograms of oriented gradients (Dalal and Triggs, CVPR 2005), as scikit-image computes them.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        At least ``cell * block`` pixels per side; all of one size. For 8 x 8 digits: ``cell=4``.
    orientations : int
        Bins over 180 degrees (the sign of the gradient is ignored). 9 in the paper.
    cell : int
        Pixels per side of a cell. 8 in the paper. Pixels beyond the last whole cell are not used.
    block : int
        Cells per side of a block. Blocks overlap by all but one cell. 2 in the paper.
    block_norm : {"L2-Hys", "L2", "L1", "L1-sqrt"}
        Normalisation of a block. "L2-Hys" (L2, clipped at 0.2, L2 again) is the paper's best.

    Returns
    -------
    ndarray, shape (n, n_blocks * block^2 * orientations)
        Non-negative. Invariant to added brightness, and to contrast up to the 1e-5 that keeps flat blocks from being
        divided by zero; an image without edges gives zeros.

    Raises
    ------
    DataError
        Not images, images that are too small, or of different sizes.
    ConfigError
        Illegal parameters.

    Notes
    -----
    Deviations from the paper, all scikit-image's: pixels vote for one bin and one cell (no interpolation between
    bins and cells), blocks have no Gaussian window, the gradient at the border of the image is zero. Colour images are
    reduced to grey first, where the paper takes the channel with the largest gradient.
    """
    orientations = whole_number(orientations, "orientations")
    cell = whole_number(cell, "cell")
    block = whole_number(block, "block")
    one_of(block_norm, "block_norm", ("L2-Hys", "L2", "L1", "L1-sqrt"))
    grey = as_grey_images(images)
    # a gradient needs two pixels each side: below three per side there is none
    least = max(3, cell * block)
    require_size(grey, least, f"hog with blocks of {block} x {block} cells of {cell} x {cell} pixels")

    from skimage.feature import hog as skimage_hog

    def extract(image: Grey) -> Grey:
        features: Grey = skimage_hog(
            image,
            orientations=orientations,
            pixels_per_cell=(cell, cell),
            cells_per_block=(block, block),
            block_norm=block_norm,
            feature_vector=True,
        )
        return features

    return features_of(grey, extract, "hog")
