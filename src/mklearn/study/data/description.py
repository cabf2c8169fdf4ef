"""Features of all samples by one descriptor, computed in batches of images."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.descriptors.point_sets import PointSets
from mklearn.errors import DataError
from mklearn.rows import load
from mklearn.study.artefacts import read_arrays
from mklearn.study.data.samples import SampleSet
from mklearn.study.log import progress
from mklearn.study.specs.data_specs import FeatureType

BATCH = 256
"""Number of images per call of a descriptor: bounds the memory and sets the interval of progress messages."""
Features = np.ndarray | PointSets


def rows_of_part(n: int, part: str) -> slice:
    """Return the slice of n samples that makes a part such as "2of8". Part sizes differ by at most one."""
    number, _, count = part.partition("of")
    edges = [round(n * i / int(count)) for i in range(int(count) + 1)]
    return slice(edges[int(number) - 1], edges[int(number)])


def described(
    samples: Path, learned: Path | None, kind: str, implementation: str, parameters: dict[str, Any],
    dtype: FeatureType | None, part: str,
) -> tuple[Features, np.ndarray]:  # fmt: skip
    """Compute the features of one part of the samples, such as "1of1" for all; return features and ids.

    Raise DataError if the samples lack the images or the table, if features are not finite or too large for `dtype`, or
    if batches of images give features of different lengths or types.
    """
    data = SampleSet.load(samples)
    rows = rows_of_part(len(data), part)
    ids = data.ids[rows]
    if kind == "table":
        name = parameters["table"]
        if name not in data.tables:
            raise DataError(f"{samples}: has no table {name!r}; available: {', '.join(data.tables) or 'none'}.")
        features = data.features_of(name, parameters.get("columns"))[0]
        return _converted(features[rows], dtype or "float64", f"{samples}: table {name!r}"), ids
    if data.images is None:
        raise DataError(f"{samples}: has no images, which descriptor {kind} needs.")
    extra = {}
    if learned is not None:
        arrays = read_arrays(learned)
        extra["learned"] = {str(name): arrays[str(name)] for name in arrays["names"]}
    images, compute = data.images[rows], partial(load(implementation), **extra, **parameters)
    starts = range(0, len(images), BATCH)

    def batch_of(start: int) -> Any:
        try:
            return compute(images[start : start + BATCH])
        except DataError as error:  # its message counts images within the batch
            named = re.sub(r"^Image (\d+)\b", lambda match: f"image {str(ids[start + int(match[1])])!r}", str(error))
            raise DataError(f"{samples}: {named}") from error

    batches = map(batch_of, progress(starts, len(starts), f"descriptor {kind}: batch"))
    first = next(batches)
    if isinstance(first, PointSets):
        return PointSets.concatenate([first, *batches]), ids
    features = _filled(itertools.chain([first], batches), len(images), f"{samples}: descriptor {kind}", dtype)
    wrong = ids[~np.isfinite(features).all(axis=1)]
    if len(wrong):
        raise DataError(f"{samples}: descriptor {kind} of sample {str(wrong[0])!r} is not finite.")
    return features, ids


def _filled(batches: Iterator[Any], n: int, what: str, dtype: FeatureType | None) -> np.ndarray:
    """Fill one array (n, d) with the features of all batches. Concatenation would need twice the memory."""
    every: np.ndarray | None = None
    start = 0
    for batch in batches:
        features = np.asarray(batch) if dtype is None else _converted(np.asarray(batch), dtype, what)
        if every is None:
            every = np.empty((n, *features.shape[1:]), dtype=features.dtype)
        if (features.shape[1:], features.dtype) != (every.shape[1:], every.dtype):
            raise DataError(
                f"{what} gives {features.dtype} features of shape {features.shape[1:]} for images {start + 1} to "
                f"{start + len(features)}, and {every.dtype} of shape {every.shape[1:]} for those before; expected one "
                "for all images (`resize` gives images one size)."
            )
        every[start : start + len(features)] = features
        start += len(features)
    assert every is not None
    return every


def _converted(features: np.ndarray, dtype: str, what: str) -> np.ndarray:
    """Convert features to `dtype`; raise DataError if a finite value is too large for it."""
    with np.errstate(over="ignore"):
        converted = features.astype(dtype, copy=False)
    if converted.dtype.itemsize < features.dtype.itemsize and not np.array_equal(
        np.isinf(converted), np.isinf(features)
    ):
        raise DataError(f"{what} has values above {np.finfo(dtype).max:.3g}, which {dtype} can't hold; omit `dtype`.")
    return converted
