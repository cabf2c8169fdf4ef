"""Pixels as features."""

from __future__ import annotations

from typing import Literal

import numpy as np

from mklearn.descriptors.images import Grey, Images, as_grey_images, descriptor, features_of


@descriptor
def pixels(images: Images, *, norm: Literal["none", "l2"] = "none") -> Grey:
    """Return the grey values of images, row by row.

    Parameters
    ----------
    images : see `mklearn.descriptors.images.as_grey_images`
        All of one size (else `DataError`).
    norm : {"none", "l2"}
        "l2" divides each image by its Euclidean length; a black image stays zero.

    Returns
    -------
    ndarray of shape (n, h * w)
        In [0, 1] for integer images and ``norm="none"``. Linear in the pixels. "l2" is invariant to contrast (a
        positive factor), not to added brightness.
    """

    def extract(image: Grey) -> Grey:
        vector = image.ravel()
        length = float(np.linalg.norm(vector))
        return vector / length if norm == "l2" and length > 0 else vector

    return features_of(as_grey_images(images), extract, "pixels", one_size=True)
