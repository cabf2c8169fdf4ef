"""Sample images as data URIs, so that the page needs no file beside it."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike

from mklearn.errors import DataError

if TYPE_CHECKING:
    from PIL.Image import Image as PILImage

MAX_IMAGES = 24


def data_uris(thumbnails: ArrayLike) -> list[str]:
    """PNG data URIs of small images.

    Parameters
    ----------
    thumbnails : array-like of uint8, shape (k, height, width) or (k, height, width, 3)
        The first 24 are used.

    Raises
    ------
    DataError
        Another type or shape.
    """
    from PIL import Image

    images = np.asarray(thumbnails)
    if images.dtype != np.uint8 or images.ndim not in (3, 4) or (images.ndim == 4 and images.shape[3] != 3):
        raise DataError(
            f"thumbnails have shape {images.shape} and type {images.dtype}: "
            "give uint8 of shape (k, height, width) or (k, height, width, 3)"
        )
    return [_data_uri(Image.fromarray(np.ascontiguousarray(image))) for image in images[:MAX_IMAGES]]


def _data_uri(image: PILImage) -> str:
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
