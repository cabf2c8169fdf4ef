"""MNIST with random shifts and elastic deformations, up to any number of images: synthetic, for timing only."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import numpy as np

from mklearn.errors import ConfigError
from mklearn.study.data.deformation import deform, draw_displacements
from mklearn.study.data.readers import idx
from mklearn.study.data.samples import SampleSet

BATCH = 1000
"""Consecutive originals that share a generator, and are deformed together: about 50 MB."""


def read(
    paths: Mapping[str, Path],
    *,
    n_samples: int = 1_000_000,
    seed: int = 0,
    content_sha256: str | None = None,
    choose: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> SampleSet:
    """Read the images, and deform them again and again until there are enough.

    Parameters
    ----------
    paths, content_sha256
        The four files and the digest of the originals, as for :func:`mklearn.study.data.readers.idx.read`.
    n_samples : int
        The originals come first, in their order; then the first copy of each, the second of each, and so on.
    seed : int
        Copy c of the i-th original, counted from 0, has draw i % 1000 of ``default_rng([seed, c, i // 1000])``,
        whatever `n_samples`.
    choose : callable, optional
        Takes class codes and names of all samples, returns positions of those to make, ascending. By default all.

    Returns
    -------
    SampleSet
        ids "train/5" of an original and "train/5-3" of its third copy; groups are the ids of the originals; images
        (n, rows, columns), bytes.

    Raises
    ------
    DataError
        As of :func:`mklearn.study.data.readers.idx.read`.
    ConfigError
        `n_samples` below 1.
    """
    if n_samples < 1:
        raise ConfigError(f"reader deformed_idx: n_samples is {n_samples}; expected at least 1")
    originals = idx.read(paths, content_sha256=content_sha256)
    sources = np.asarray(originals.images)
    copies, numbers = np.divmod(np.arange(n_samples), len(originals))
    if choose is not None:
        rows = choose(originals.y[numbers], originals.classes)
        copies, numbers = copies[rows], numbers[rows]
    images = np.empty((len(numbers), *sources.shape[1:]), dtype=np.uint8)
    several = np.stack([copies, numbers // BATCH], axis=1)
    starts = np.flatnonzero((several[1:] != several[:-1]).any(axis=1)) + 1  # positions ascend, and so do these pairs
    for places in np.split(np.arange(len(numbers)), starts):
        copy, batch = several[places[0]]
        images[places] = sources[numbers[places]]
        if copy > 0:
            draws = numbers[places] - BATCH * batch
            rng = np.random.default_rng([seed, copy, batch])
            noise = draw_displacements(rng, int(draws.max()) + 1, sources.shape[1:])
            images[places] = deform(images[places], noise[draws])
    groups = originals.ids[numbers]
    ids = np.where(copies == 0, groups, np.char.add(np.char.add(groups, "-"), copies.astype(str)))
    codes, y = np.unique(originals.y[numbers], return_inverse=True)
    return SampleSet(ids=ids, y=y, classes=originals.classes[codes], images=images, groups=groups)
