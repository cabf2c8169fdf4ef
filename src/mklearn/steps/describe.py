"""Step: compute one descriptor of all samples, in one job or in blocks that a last job concatenates."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mklearn.artefacts import read_arrays, write_arrays
from mklearn.contract.loading import load
from mklearn.contract.specs import DescriptorSpec
from mklearn.datasets.samples import SampleSet
from mklearn.descriptors.point_sets import PointSets
from mklearn.errors import DataError
from mklearn.provenance import array_digest, digest, input_digests, stamp
from mklearn.steps.log import logger, progress

BATCH = 256
"""Images per call: bounds the memory, and sets how often progress is logged."""
Features = np.ndarray | PointSets


def describe(
    features: Path, *, spec: DescriptorSpec, samples: Path | None = None, learned: Path | None = None,
    blocks: list[Path] | None = None, code: list[Path] | None = None,
) -> None:  # fmt: skip
    """Write the features of all samples, (n, d) or one point set per sample, with the samples' ids.

    Parameters
    ----------
    features : Path
        The file to write.
    spec : DescriptorSpec
        With ``spec.part`` "2of8", only the second eighth of the samples is described.
    samples, learned : Path, optional
        The samples, and what the descriptor has learned from them.
    blocks : list of Path, optional
        Instead of samples: the parts, in order, to concatenate.
    code : list of Path, optional
        Source files behind the step, for the provenance.

    Raises
    ------
    DataError
        The samples lack the images or the table, features are not finite, or two parts share a sample.
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
    record = stamp(spec.as_dict(), input_digests(**inputs), code or [])
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
    rows = slice(None)
    if spec.kind == "table":
        found: Features = _table(data, spec, samples)
    else:
        if spec.part is not None:
            rows = rows_of_part(len(data), spec.part)
        extra = {}
        if learned is not None:
            held = read_arrays(learned)
            extra["learned"] = {str(name): held[str(name)] for name in held["names"]}
        found = _from_images(data, rows, spec, samples, extra)
    ids = data.ids[rows]
    may_have_nan = spec.kind == "table" and spec.parameters["table"] in data.incomplete
    if isinstance(found, np.ndarray) and not may_have_nan and not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
        raise DataError(f"{samples}: descriptor {spec.kind} of sample {str(ids[row])!r} is not finite.")
    return found, ids


def _table(data: SampleSet, spec: DescriptorSpec, path: Path) -> np.ndarray:
    name = spec.parameters["table"]
    if name not in data.tables:
        raise DataError(f"{path}: has no table {name!r}; available: {', '.join(data.tables) or 'none'}.")
    return np.asarray(data.tables[name], dtype=np.float64)


def _from_images(data: SampleSet, rows: slice, spec: DescriptorSpec, path: Path, extra: dict[str, Any]) -> Features:
    if data.images is None:
        raise DataError(f"{path}: has no images, which descriptor {spec.kind!r} needs.")
    images = data.images[rows]
    compute = load(spec.implementation)
    starts = range(0, len(images), BATCH)
    return _joined(
        [
            compute(images[start : start + BATCH], **extra, **spec.parameters)
            for start in progress(starts, len(starts), f"{spec.kind}: batch")
        ]
    )


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
    return np.concatenate([np.asarray(part) for part in parts])
