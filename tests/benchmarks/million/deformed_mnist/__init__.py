"""MNIST with random shifts and elastic deformations, up to any number of images: synthetic, for timing only.

``PYTHONPATH=tests/benchmarks/million mklearn run scale-million`` runs the study of a million images beside this file.

The displacement of a pixel is a shift of the whole image plus a smooth random field, as of Simard, Steinkraus and Platt
(Best practices for convolutional neural networks applied to visual document analysis, ICDAR 2003): white noise that a
Gaussian smooths. The noise is drawn on a grid of that Gaussian's width in place of every pixel.
"""

from collections.abc import Mapping
from functools import cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import map_coordinates

from mklearn.errors import ConfigError
from mklearn.study.data.readers.registered import mnist
from mklearn.study.data.samples import SampleSet

BATCH = 1000
"""Consecutive originals that share a generator, and are deformed together: about 50 MB."""
SMOOTHNESS = 4.0
"""Standard deviation of the Gaussian that smooths the field, in pixels."""
STRENGTH = 0.7
"""Standard deviation of the field at a pixel, in pixels: half of the paper's (alpha = 34).

The nearest of 20,000 images has the class of 88 % of MNIST's test images then; all of the paper's gives 69 %, and MNIST
itself 94 %."""
SHIFT = 0.5
"""Standard deviation of the shift along each axis, in pixels."""


def read(paths: Mapping[str, Path], *, n_samples: int = 1_000_000, seed: int = 0) -> SampleSet:
    """Read the images, and deform them again and again until there are enough.

    The originals come first, in their order; then the first copy of each, the second of each, and so on. Copy c of the
    i-th original, counted from 0, has draw i % 1000 of ``default_rng([seed, c, i // 1000])``, whatever `n_samples`. Ids
    are "train/5" of an original and "train/5-3" of its third copy; groups are the ids of the originals.

    `paths` are those of the originals, as for :func:`mklearn.study.data.readers.registered.mnist`.
    """
    if n_samples < 1:
        raise ConfigError(f"reader deformed_mnist: n_samples is {n_samples}; expected at least 1")
    originals = mnist(paths)
    copies, numbers = np.divmod(np.arange(n_samples), len(originals))
    images = np.asarray(originals.images)[numbers]
    several = np.stack([copies, numbers // BATCH], axis=1)
    starts = np.flatnonzero((several[1:] != several[:-1]).any(axis=1)) + 1  # positions ascend, and so do these pairs
    for places in np.split(np.arange(len(numbers)), starts):
        copy, batch = several[places[0]]
        if copy > 0:
            draws = numbers[places] - BATCH * batch
            noise = draw_displacements(
                np.random.default_rng([seed, copy, batch]), int(draws.max()) + 1, images.shape[1:]
            )
            images[places] = deform(images[places], noise[draws])
    groups = originals.ids[numbers]
    ids = np.where(copies == 0, groups, np.char.add(np.char.add(groups, "-"), copies.astype(str)))
    return SampleSet(ids, originals.labels[numbers], images, groups=groups)


def draw_displacements(rng: np.random.Generator, n: int, shape: tuple[int, ...]) -> NDArray[np.float32]:
    """Draw the numbers behind n displacement fields of images of (rows, columns): (n, 2, 1 + k) standard normal.

    Of rows and of columns they are the shift, then the noise on the grid.
    """
    return rng.standard_normal((n, 2, 1 + _smoothing(shape[0]).shape[1] * _smoothing(shape[1]).shape[1]), np.float32)


def deform(images: NDArray[np.uint8], noise: NDArray[np.float32]) -> NDArray[np.uint8]:
    """Displace the pixels of (n, rows, columns) images, interpolated bilinearly; 0 is outside an image.

    `noise` is from :func:`draw_displacements`. About 50 bytes per pixel are taken on the way: pass images in batches.
    """
    n, *sides = images.shape
    rows, columns = sides
    down, along = _smoothing(rows), _smoothing(columns)
    grid = noise[:, :, 1:].reshape(n, 2, down.shape[1], along.shape[1])
    fields = SHIFT * noise[:, :, 0, None, None] + STRENGTH * (down @ grid @ along.T)
    # The images stand on top of each other, each in a frame of zeros, so that one call interpolates in all of them.
    framed = np.zeros((n, rows + 2, columns + 2), dtype=np.uint8)
    framed[:, 1:-1, 1:-1] = images
    places = [np.arange(side, dtype=np.float32) for side in sides]
    row = np.clip(places[0][None, :, None] + fields[:, 0], -1, rows) + 1
    column = np.clip(places[1] + fields[:, 1], -1, columns) + 1
    first = (rows + 2) * np.arange(n)
    coordinates = np.stack([row + first[:, None, None], column])
    stacked = framed.reshape(-1, columns + 2)
    values = map_coordinates(stacked, coordinates, output=np.float32, order=1, mode="nearest")
    return np.rint(values).astype(np.uint8)


@cache
def _smoothing(side: int) -> NDArray[np.float32]:
    """Return the (side, k) weights of the grid's noise at each pixel along one axis; a row has the length 1."""
    margin = 2 * SMOOTHNESS  # farther noise has no weight to speak of
    grid = np.arange(-margin, side - 1 + margin + SMOOTHNESS, SMOOTHNESS)
    weights = np.exp(-0.5 * ((np.arange(side)[:, None] - grid) / SMOOTHNESS) ** 2)
    return np.asarray(weights / np.linalg.norm(weights, axis=1, keepdims=True), dtype=np.float32)
