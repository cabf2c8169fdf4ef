"""Features of all samples by one descriptor, computed in batches of images."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.atomic import read_npz
from mklearn.descriptors.point_sets import PointSets
from mklearn.errors import DataError
from mklearn.rows import load
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
        arrays = read_npz(learned)
        extra["learned"] = {str(name): arrays[str(name)] for name in arrays["names"]}
    compute = partial(load(implementation), **extra, **parameters)
    return described_images(data.images[rows], ids, compute, dtype, f"{samples}: descriptor {kind}"), ids


def described_images(
    images: Any, ids: np.ndarray, compute: Callable[[Any], Any], dtype: FeatureType | None, what: str
) -> Features:
    """Compute the features of images in batches; messages begin with `what`. See :func:`described` for the errors."""
    features, point_sets = None, list[PointSets]()
    starts = range(0, len(images), BATCH)
    for start in progress(starts, len(starts), f"{what}: batch"):
        try:
            batch = compute(images[start : start + BATCH])
        except DataError as error:  # its message counts images within the batch
            text = str(error)
            if number := re.match(r"Image (\d+)\b", text):
                text = f"image {str(ids[start + int(number[1])])!r}{text[number.end() :]}"
            raise DataError(f"{what}: {text}") from error
        if isinstance(batch, PointSets):
            point_sets.append(batch)
            continue
        batch = np.asarray(batch) if dtype is None else _converted(np.asarray(batch), dtype, what)
        if features is None:  # concatenation would need twice the memory
            features = np.empty((len(images), *batch.shape[1:]), batch.dtype)
        if (batch.shape[1:], batch.dtype) != (features.shape[1:], features.dtype):
            raise DataError(
                f"{what} gives {batch.dtype} features of shape {batch.shape[1:]} after {features.dtype} ones of shape "
                f"{features.shape[1:]}; `resize` gives images one size."
            )
        features[start : start + len(batch)] = batch
    if features is None:
        return PointSets.concatenate(point_sets)
    wrong = ids[~np.isfinite(features).all(axis=1)]
    if len(wrong):
        raise DataError(f"{what} of sample {str(wrong[0])!r} is not finite.")
    return features


def _converted(features: np.ndarray, dtype: str, what: str) -> np.ndarray:
    """Convert features to `dtype`; raise DataError if a finite value is too large for it."""
    with np.errstate(over="ignore"):
        converted = features.astype(dtype, copy=False)
    if converted.dtype.itemsize < features.dtype.itemsize and not np.array_equal(
        np.isinf(converted), np.isinf(features)
    ):
        raise DataError(f"{what} has values above {np.finfo(dtype).max:.3g}, which {dtype} can't hold; omit `dtype`.")
    return converted
