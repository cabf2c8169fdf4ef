"""Step: compute one descriptor of every sample."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.atomic import write_npz
from mklearn.datasets.samples import SampleSet
from mklearn.errors import DataError
from mklearn.provenance import array_digest, canonical, file_digest, stamp
from mklearn.steps.log import logger, progress

BATCH = 256
"""Images per call: bounds the memory, and is how often progress is said."""


def describe(samples: Path, features: Path, *, spec: dict[str, Any], code: list[Path] | None = None) -> None:
    """Write the (n, d) features of the descriptor in ``spec``, with the samples' ids."""
    data = SampleSet.load(samples)
    table = _table(data, spec, samples) if spec["kind"] == "table" else _from_images(data, spec, samples)
    if not np.isfinite(table).all():
        row = int(np.flatnonzero(~np.isfinite(table).all(axis=1))[0])
        raise DataError(f"descriptor {spec['kind']} of sample {data.ids[row]!r} ({samples}) is not finite.")
    logger.info("%s: %d samples, %d dimensions", spec["kind"], *table.shape)
    record = stamp(spec, {"samples": file_digest(samples)}, code or [])
    write_npz(
        features, features=table, ids=data.ids, spec=canonical(spec), sha256=array_digest(table),
        provenance=canonical(record),
    )  # fmt: skip


def _table(data: SampleSet, spec: dict[str, Any], path: Path) -> np.ndarray:
    name = spec["parameters"]["table"]
    if name not in data.tables:
        raise DataError(f"{path}: has no table {name!r}; it has {', '.join(data.tables) or 'none'}.")
    return np.asarray(data.tables[name], dtype=np.float64)


def _from_images(data: SampleSet, spec: dict[str, Any], path: Path) -> np.ndarray:
    if data.images is None:
        raise DataError(f"{path}: has no images, and descriptor {spec['kind']!r} needs them.")
    module, function = spec["implementation"].split(":")
    compute = getattr(importlib.import_module(module), function)
    starts = range(0, len(data), BATCH)
    batches = []
    for start in progress(starts, len(starts), f"{spec['kind']}: batch"):
        batches.append(compute(data.images[start : start + BATCH], **spec["parameters"]))
    return np.concatenate(batches)
