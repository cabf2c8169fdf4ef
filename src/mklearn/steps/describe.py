"""Step: compute one descriptor of every sample, in one job or in several and a last one that puts them together."""

from __future__ import annotations

import importlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.atomic import read_npz, write_npz
from mklearn.datasets.samples import SampleSet
from mklearn.descriptors.point_sets import PointSets
from mklearn.errors import DataError
from mklearn.provenance import array_digest, canonical, digest, input_digests, stamp
from mklearn.steps.log import logger, progress

BATCH = 256
"""Images per call: bounds the memory, and is how often progress is said."""
Described = np.ndarray | PointSets


def describe(
    features: Path, *, spec: dict[str, Any], samples: Path | None = None, learned: Path | None = None,
    blocks: list[Path] | None = None, code: list[Path] | None = None,
) -> None:  # fmt: skip
    """Write the descriptor in ``spec`` with the samples' ids: (n, d) features, or a set of points for each sample.

    Of all ``samples``; or, with ``spec["part"]`` "2of8", of the second eighth of them; or from the ``blocks`` that such
    jobs wrote.
    """
    if blocks:
        found, ids = _merged(blocks)
    elif samples is not None:
        found, ids = _computed(samples, learned, spec)
    else:
        raise DataError("step describe: needs samples, or the blocks that were made of them.")
    arrays = found.as_arrays() if isinstance(found, PointSets) else {"features": found}
    shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
    logger.info("%s: %d samples, %s", spec["kind"], len(ids), shapes)
    inputs = {"blocks": blocks} if blocks else {"samples": samples, "learned": learned}
    record = stamp(spec, input_digests(**inputs), code or [])
    write_npz(
        features, **arrays, ids=ids, spec=canonical(spec), sha256=_digest(arrays),
        provenance=canonical(record),
    )  # fmt: skip


def _digest(arrays: dict[str, np.ndarray]) -> str:
    if len(arrays) == 1:
        return array_digest(next(iter(arrays.values())))
    return digest({name: array_digest(array) for name, array in arrays.items()})


def rows_of_part(n: int, part: str) -> slice:
    """The samples of part "2of8" of n: consecutive, and as many in each part, or one more."""
    number, _, count = part.partition("of")
    edges = [round(n * i / int(count)) for i in range(int(count) + 1)]
    return slice(edges[int(number) - 1], edges[int(number)])


def _computed(samples: Path, learned: Path | None, spec: dict[str, Any]) -> tuple[Described, np.ndarray]:
    data = SampleSet.load(samples)
    if spec["kind"] == "table":
        found: Described = _table(data, spec, samples)
        rows = slice(None)
    else:
        rows = rows_of_part(len(data), spec["part"]) if "part" in spec else slice(None)
        extra = {}
        if learned is not None:
            held = read_npz(learned)
            extra["learned"] = {str(name): held[str(name)] for name in held["names"]}
        found = _from_images(data, rows, spec, samples, extra)
    ids = data.ids[rows]
    if isinstance(found, np.ndarray) and not np.isfinite(found).all():
        row = int(np.flatnonzero(~np.isfinite(found).all(axis=1))[0])
        raise DataError(f"descriptor {spec['kind']} of sample {ids[row]!r} ({samples}) is not finite.")
    return found, ids


def _merged(blocks: list[Path]) -> tuple[Described, np.ndarray]:
    """All parts in order. Each was computed from the same samples: parts of another data set are a mistake."""
    found: list[Described] = []
    ids = []
    for path in blocks:
        held = read_npz(path)
        found.append(PointSets.from_arrays(held) if "positions" in held else held["features"])
        ids.append(held["ids"])
    joined = np.concatenate(ids)
    if len(set(joined.tolist())) != len(joined):
        raise DataError(f"{blocks[0].parent}: two parts hold the same sample; delete the folder and run again.")
    return _together(found), joined


def _together(parts: list[Described]) -> Described:
    if isinstance(parts[0], PointSets):
        return PointSets.concatenate([part for part in parts if isinstance(part, PointSets)])
    return np.concatenate([np.asarray(part) for part in parts])


def _table(data: SampleSet, spec: dict[str, Any], path: Path) -> np.ndarray:
    name = spec["parameters"]["table"]
    if name not in data.tables:
        raise DataError(f"{path}: has no table {name!r}; it has {', '.join(data.tables) or 'none'}.")
    return np.asarray(data.tables[name], dtype=np.float64)


def _from_images(data: SampleSet, rows: slice, spec: dict[str, Any], path: Path, extra: dict[str, Any]) -> Described:
    if data.images is None:
        raise DataError(f"{path}: has no images, and descriptor {spec['kind']!r} needs them.")
    images = data.images[rows]
    module, function = spec["implementation"].split(":")
    compute = getattr(importlib.import_module(module), function)
    return _together([compute(batch, **extra, **spec["parameters"]) for batch in _batches(images, spec["kind"])])


def _batches(images: Any, kind: str) -> Iterator[Any]:
    starts = range(0, len(images), BATCH)
    for start in progress(starts, len(starts), f"{kind}: batch"):
        yield images[start : start + BATCH]
