"""Step: distances or inner products among all samples, by one descriptor. The cache that all kernels are made from.

What depends on the split - bandwidth, centring, normalisation, repair - is fitted on training samples inside the fit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from mklearn.atomic import read_npz, write_npz
from mklearn.contract.loading import load
from mklearn.datasets.samples import SampleSet
from mklearn.descriptors.point_sets import PointSets
from mklearn.errors import DataError
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.row_blocks import merge_row_blocks
from mklearn.provenance import array_digest, canonical, input_digests, stamp
from mklearn.steps.log import logger


def pairwise(
    source: Path, matrix: Path, *, spec: dict[str, Any], blocks: list[Path] | None = None,
    code: list[Path] | None = None,
) -> None:  # fmt: skip
    """Write the (n, n) ``spec["measure"]`` of a descriptor, or a matrix that the user brought.

    From the ``blocks`` of rows that other jobs have computed, where there are any.
    """
    if "matrix" in spec:
        data = SampleSet.load(source)
        values, ids = data.matrices[spec["matrix"]], data.ids
    else:
        held = read_npz(source)
        ids = held["ids"]
        if blocks:
            values = _merged(blocks, ids)
        elif "implementation" in spec:
            compute = load(spec["implementation"])
            values = compute(PointSets.from_arrays(held), **spec["parameters"])
        else:
            values = MEASURES[spec["measure"]](held["features"])
    logger.info("%s: %d x %d, %.1f MB", spec["measure"], *values.shape, values.nbytes / 1e6)
    record = stamp(spec, input_digests(source=source, blocks=blocks), code or [])
    write_npz(
        matrix, matrix=values, ids=ids, spec=canonical(spec), sha256=array_digest(values),
        provenance=canonical(record),
    )  # fmt: skip


def _merged(blocks: list[Path], ids: np.ndarray) -> np.ndarray:
    """Every pair from the block that has it, checked to be there once and to be of these samples in this order."""
    parts = []
    for path in blocks:
        held = read_npz(path, ("rows", "values", "ids"))
        if not np.array_equal(held["ids"], ids):
            raise DataError(f"{path}: is of other samples, or of another order; delete it and run again.")
        parts.append((held["rows"], held["values"]))
    return merge_row_blocks(parts, len(ids))
