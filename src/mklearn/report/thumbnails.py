"""Sample images as data URIs, so that the page needs no file beside it."""

from __future__ import annotations

import base64
import io
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError
from mklearn.report.sketch import MARK, ODD, SECOND

if TYPE_CHECKING:
    from PIL.Image import Image as PILImage

MAX_IMAGES = 24
PALETTE = np.array(
    [[level] * 3 for level in (*range(0, 255, 5), 255)]
    + [
        [round(opacity * value + (1 - opacity) * grey) for value in colour]
        for colour in (MARK, SECOND, ODD)
        for grey in (0, 60, 110, 255)
        for opacity in (0.15, 0.3, 0.5, 0.7, 0.85, 1.0)
    ],
    dtype=np.uint8,
)


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


def picture_uri(picture: NDArray[np.uint8]) -> str:
    """PNG data URI of a picture, uint8 of shape (height, width, 3), a third as long as one of all its colours.

    Colours become the nearest ones of a palette of greys and of the colours that are drawn with, thinned over greys: a
    palette of the picture's own would be spent on the greys of the photo.
    """
    from PIL import Image

    palette = Image.new("P", (1, 1))
    palette.putpalette(np.concatenate([PALETTE, np.repeat(PALETTE[:1], 256 - len(PALETTE), axis=0)]).ravel().tolist())
    image = Image.fromarray(np.ascontiguousarray(picture))
    return _data_uri(image.quantize(palette=palette, dither=Image.Dither.NONE))


def _data_uri(image: PILImage) -> str:
    buffer = io.BytesIO()
    image.save(buffer, format="PNG", optimize=True)
    return "data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii")
