"""Features of all samples by one descriptor, image by image in batches, or joined from parts."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.descriptors.point_sets import PointSets
from mklearn.errors import DataError
from mklearn.loading import load
from mklearn.study.artefacts import read_arrays
from mklearn.study.data.samples import SampleSet
from mklearn.study.log import progress
from mklearn.study.provenance import array_digest, digest
from mklearn.study.specs.data_specs import FeatureType

BATCH = 256
"""Images per call: bounds the memory, and sets how often progress is logged."""
Features = np.ndarray | PointSets


def rows_of_part(n: int, part: str) -> slice:
    """Return the samples of part "2of8" of n: consecutive, in parts of equal size up to one sample."""
    number, _, count = part.partition("of")
    edges = [round(n * i / int(count)) for i in range(int(count) + 1)]
    return slice(edges[int(number) - 1], edges[int(number)])


def digest_of_features(arrays: dict[str, np.ndarray]) -> str:
    """Return the sha256 of features, or of point sets."""
    if len(arrays) == 1:
        return array_digest(next(iter(arrays.values())))
    return digest({name: array_digest(array) for name, array in arrays.items()})


def described(
    samples: Path, learned: Path | None, kind: str, implementation: str, parameters: dict[str, Any],
    dtype: FeatureType | None, part: str | None,
) -> tuple[Features, np.ndarray]:  # fmt: skip
    """Return the features of all samples, or of one part of them, with their ids.

    Raises
    ------
    DataError
        The samples lack the images or the table, features are not finite or too large for `dtype`, or batches of images
        give features of different lengths or types.
    """
    data = SampleSet.load(samples)
    rows = slice(None) if part is None else rows_of_part(len(data), part)
    ids = data.ids[rows]
    if kind == "table":
        found: Features = _table(data, rows, parameters["table"], dtype, samples)
    else:
        extra = {}
        if learned is not None:
            held = read_arrays(learned)
            extra["learned"] = {str(name): held[str(name)] for name in held["names"]}
        found = _from_images(
            data, rows, f"descriptor {kind}", partial(load(implementation), **extra, **parameters), dtype, samples
        )
    if isinstance(found, np.ndarray) and kind != "table" and not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
        raise DataError(f"{samples}: descriptor {kind} of sample {str(ids[row])!r} is not finite.")
    return found, ids


def _table(data: SampleSet, rows: slice, name: str, dtype: FeatureType | None, path: Path) -> np.ndarray:
    if name not in data.tables:
        raise DataError(f"{path}: has no table {name!r}; available: {', '.join(data.tables) or 'none'}.")
    return _converted(data.tables[name][rows], dtype or "float64", f"{path}: table {name!r}")


def _from_images(
    data: SampleSet, rows: slice, name: str, compute: Callable[..., Any], dtype: FeatureType | None, path: Path
) -> Features:
    if data.images is None:
        raise DataError(f"{path}: has no images, which {name} needs.")
    images = data.images[rows]
    starts = range(0, len(images), BATCH)
    ids = data.ids[rows]

    def described(start: int) -> Any:
        try:
            return compute(images[start : start + BATCH])
        except DataError as error:  # which counts the images of a batch
            named = re.sub(r"^Image (\d+)\b", lambda found: f"image {str(ids[start + int(found[1])])!r}", str(error))
            raise DataError(f"{path}: {named}") from error

    batches = map(described, progress(starts, len(starts), f"{name}: batch"))
    first = next(batches)
    if isinstance(first, PointSets):
        return PointSets.concatenate([first, *batches])
    return _filled(itertools.chain([first], batches), len(images), name, dtype, path)


def _filled(batches: Iterator[Any], n: int, name: str, dtype: FeatureType | None, path: Path) -> np.ndarray:
    """Put the features of batches of images into one array (n, d): two copies of a million samples are too many."""
    found: np.ndarray | None = None
    start = 0
    for batch in batches:
        features = np.asarray(batch)
        if dtype is not None:
            features = _converted(features, dtype, f"{path}: {name}")
        if found is None:
            found = np.empty((n, *features.shape[1:]), dtype=features.dtype)
        if (features.shape[1:], features.dtype) != (found.shape[1:], found.dtype):
            these = f"{features.dtype} features of shape {features.shape[1:]}"
            raise DataError(
                f"{path}: {name} gives {these} for images {start + 1} to {start + len(features)}, and "
                f"{found.dtype} of shape {found.shape[1:]} for those before; expected one for all images "
                "(`resize` gives images one size)."
            )
        found[start : start + len(features)] = features
        start += len(features)
    assert found is not None
    return found


def _converted(features: np.ndarray, dtype: str, what: str) -> np.ndarray:
    """Return features in another type; DataError if a finite value is too large for it."""
    with np.errstate(over="ignore"):
        converted = features.astype(dtype, copy=False)
    if converted.dtype.itemsize < features.dtype.itemsize and not np.array_equal(
        np.isinf(converted), np.isinf(features)
    ):
        raise DataError(f"{what} has values above {np.finfo(dtype).max:.3g}, which {dtype} can't hold; omit `dtype`.")
    return converted


def joined(parts: list[Path]) -> tuple[Features, np.ndarray]:
    """Concatenate all parts in order, with the ids; DataError if two share a sample."""
    values: list[Features] = []
    ids = []
    for path in parts:
        arrays = read_arrays(path)
        values.append(PointSets.from_arrays(arrays) if "positions" in arrays else arrays["features"])
        ids.append(arrays["ids"])
    every = np.concatenate(ids)
    if len(set(every.tolist())) != len(every):
        raise DataError(f"{parts[0].parent}: two parts hold the same sample. Delete the folder and run again.")
    if isinstance(values[0], PointSets):
        return PointSets.concatenate([part for part in values if isinstance(part, PointSets)]), every
    return np.concatenate([part for part in values if isinstance(part, np.ndarray)]), every
