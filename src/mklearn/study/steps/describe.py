"""Step: compute one descriptor of all samples, in one job or in blocks that a last job concatenates."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.contract.loading import load
from mklearn.contract.specs import DescriptorSpec
from mklearn.descriptors.point_sets import PointSets
from mklearn.errors import DataError
from mklearn.study.artefacts import read_arrays, write_arrays
from mklearn.study.data.samples import SampleSet
from mklearn.study.provenance import array_digest, digest, input_digests, stamp
from mklearn.study.steps.log import logger, progress

BATCH = 256
"""Images per call: bounds the memory, and sets how often progress is logged."""
Features = np.ndarray | PointSets


def describe(
    features: Path, *, spec: DescriptorSpec, samples: Path | None = None, learned: Path | None = None,
    blocks: list[Path] | None = None,
) -> None:  # fmt: skip
    """Write the features of all samples, (n, d) or one point set per sample, with the samples' ids.

    Parameters
    ----------
    features : Path
        The file to write.
    spec : DescriptorSpec
        With ``spec.part`` "2of8", only the second eighth of the samples is described. ``spec.dtype`` is the type of
        the features; without it they have the type that the descriptor gives, and tables are float64.
    samples, learned : Path, optional
        The samples, and what the descriptor has learned from them.
    blocks : list of Path, optional
        Instead of samples: the parts, in order, to concatenate.

    Raises
    ------
    DataError
        The samples lack the images or the table, features are not finite or too large for ``spec.dtype``, batches of
        images give features of different lengths or types, or two parts share a sample.
    """
    if blocks:
        found, ids = _concatenated(blocks)
    elif samples is not None:
        found, ids = _computed(samples, learned, spec)
    else:
        raise DataError("Step describe: expected samples or blocks.")
    arrays = found.as_arrays() if isinstance(found, PointSets) else {"features": found}
    shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
    logger.info("%s: %d samples, %s", spec.kind, len(ids), shapes)
    inputs = {"blocks": blocks} if blocks else {"samples": samples, "learned": learned}
    record = stamp("describe", spec.as_dict(), input_digests(**inputs))
    write_arrays(features, record, **arrays, ids=ids, sha256=_digest(arrays))


def rows_of_part(n: int, part: str) -> slice:
    """Return the samples of part "2of8" of n: consecutive, in parts of equal size up to one sample."""
    number, _, count = part.partition("of")
    edges = [round(n * i / int(count)) for i in range(int(count) + 1)]
    return slice(edges[int(number) - 1], edges[int(number)])


def _digest(arrays: dict[str, np.ndarray]) -> str:
    if len(arrays) == 1:
        return array_digest(next(iter(arrays.values())))
    return digest({name: array_digest(array) for name, array in arrays.items()})


def _computed(samples: Path, learned: Path | None, spec: DescriptorSpec) -> tuple[Features, np.ndarray]:
    data = SampleSet.load(samples)
    rows = slice(None) if spec.part is None else rows_of_part(len(data), spec.part)
    ids = data.ids[rows]
    if spec.kind == "table":
        found: Features = _table(data, rows, spec, samples)
    else:
        extra = {}
        if learned is not None:
            held = read_arrays(learned)
            extra["learned"] = {str(name): held[str(name)] for name in held["names"]}
        found = _from_images(data, rows, spec, samples, extra)
    may_have_nan = spec.kind == "table" and spec.parameters["table"] in data.incomplete
    if isinstance(found, np.ndarray) and not may_have_nan and not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
        raise DataError(f"{samples}: descriptor {spec.kind} of sample {str(ids[row])!r} is not finite.")
    return found, ids


def _table(data: SampleSet, rows: slice, spec: DescriptorSpec, path: Path) -> np.ndarray:
    name = spec.parameters["table"]
    if name not in data.tables:
        raise DataError(f"{path}: has no table {name!r}; available: {', '.join(data.tables) or 'none'}.")
    return _converted(data.tables[name][rows], spec.dtype or "float64", f"{path}: table {name!r}")


def _from_images(data: SampleSet, rows: slice, spec: DescriptorSpec, path: Path, extra: dict[str, Any]) -> Features:
    if data.images is None:
        raise DataError(f"{path}: has no images, which descriptor {spec.kind!r} needs.")
    images = data.images[rows]
    compute = load(spec.implementation)
    starts = range(0, len(images), BATCH)
    ids = data.ids[rows]

    def described(start: int) -> Any:
        try:
            return compute(images[start : start + BATCH], **extra, **spec.parameters)
        except DataError as error:  # which counts the images of a batch
            named = re.sub(r"^Image (\d+)\b", lambda found: f"image {str(ids[start + int(found[1])])!r}", str(error))
            raise DataError(f"{path}: {named}") from error

    batches = map(described, progress(starts, len(starts), f"{spec.kind}: batch"))
    first = next(batches)
    if isinstance(first, PointSets):
        return PointSets.concatenate([first, *batches])
    return _filled(itertools.chain([first], batches), len(images), spec, path)


def _filled(batches: Iterator[Any], n: int, spec: DescriptorSpec, path: Path) -> np.ndarray:
    """Put the features of batches of images into one array (n, d): two copies of a million samples are too many."""
    found: np.ndarray | None = None
    start = 0
    for batch in batches:
        features = np.asarray(batch)
        if spec.dtype is not None:
            features = _converted(features, spec.dtype, f"{path}: descriptor {spec.kind}")
        if found is None:
            found = np.empty((n, *features.shape[1:]), dtype=features.dtype)
        if (features.shape[1:], features.dtype) != (found.shape[1:], found.dtype):
            these = f"{features.dtype} features of shape {features.shape[1:]}"
            raise DataError(
                f"{path}: descriptor {spec.kind} gives {these} for images {start + 1} to {start + len(features)}, and "
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


def _concatenated(blocks: list[Path]) -> tuple[Features, np.ndarray]:
    """Concatenate all parts in order; parts that share a sample are of different data sets."""
    found: list[Features] = []
    ids = []
    for path in blocks:
        held = read_arrays(path)
        found.append(PointSets.from_arrays(held) if "positions" in held else held["features"])
        ids.append(held["ids"])
    joined = np.concatenate(ids)
    if len(set(joined.tolist())) != len(joined):
        raise DataError(f"{blocks[0].parent}: two parts hold the same sample. Delete the folder and run again.")
    return _joined(found), joined


def _joined(parts: list[Features]) -> Features:
    if isinstance(parts[0], PointSets):
        return PointSets.concatenate([part for part in parts if isinstance(part, PointSets)])
    return np.concatenate([part for part in parts if isinstance(part, np.ndarray)])
