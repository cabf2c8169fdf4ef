"""Sample images: small ones chosen from a data set, and as data URIs, so that the page needs no file beside it."""

from __future__ import annotations

import base64
import io

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from PIL import Image

from mklearn.study.data.resizing import resize_images
from mklearn.study.data.samples import SampleSet

LONGER_SIDE = 64
"""Pixels of a thumbnail's longer side, at most."""


def thumbnails(data: SampleSet, count: int) -> NDArray[np.uint8] | None:
    """Return up to ``count`` small grey images, shape (k, rows, columns), or None for a data set without images.

    The first image of each class comes first, then the second of each. Grey values are stretched to 0..255. Images of
    different shapes keep their own, in the middle of a square.
    """
    if data.images is None or not count:
        return None
    nth = pd.Series(data.y).groupby(data.y).cumcount()
    positions = np.argsort(nth.to_numpy(), kind="stable")[:count]
    chosen = [np.asarray(data.images[position], dtype=np.float64) for position in positions]
    grey = [image.mean(axis=2) if image.ndim == 3 else image for image in chosen]
    small = [np.asarray(resize_images([image], shape=_small(image.shape))[0], dtype=float) for image in grey]
    low, high = min(image.min() for image in small), max(image.max() for image in small)
    frame = np.array([image.shape for image in small]).max(axis=0)
    shown = np.full((len(small), *frame), high)
    for place, image in zip(shown, small, strict=True):
        top, left = (frame - image.shape) // 2
        place[top : top + image.shape[0], left : left + image.shape[1]] = image
    return np.asarray(np.round(255 * (shown - low) / max(high - low, 1e-12)), dtype=np.uint8)


def _small(shape: tuple[int, ...]) -> tuple[int, int]:
    scale = min(1.0, LONGER_SIDE / max(shape[:2]))
    return max(1, round(shape[0] * scale)), max(1, round(shape[1] * scale))


def data_uris(images: NDArray[np.uint8]) -> list[str]:
    """Return PNG data URIs of small images, shape (k, rows, columns)."""
    uris = []
    for image in images:
        buffer = io.BytesIO()
        Image.fromarray(image).save(buffer, format="PNG", optimize=True)
        uris.append("data:image/png;base64," + base64.b64encode(buffer.getvalue()).decode("ascii"))
    return uris
