"""Step: rows of a matrix of distances between point sets, as a job of their own."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mklearn.contract.loading import load
from mklearn.contract.specs import PairwiseBlockSpec
from mklearn.descriptors.point_sets import PointSets
from mklearn.kernels.row_blocks import rows_of_block
from mklearn.study.artefacts import read_arrays, write_arrays
from mklearn.study.provenance import input_digests, stamp
from mklearn.study.steps.log import progress

ROWS = 32
"""Number of rows computed between two lines of progress in the log."""


def pairwise_block(source: Path, block: Path, *, spec: PairwiseBlockSpec, code: list[Path] | None = None) -> None:
    """Write part ``spec.part`` of a matrix: "2of8" is every eighth row of its upper triangle, from the second on."""
    held = read_arrays(source)
    distance_rows = load(spec.rows)
    sets = PointSets.from_arrays(held)
    number, _, count = spec.part.partition("of")
    rows = rows_of_block(len(sets), int(number) - 1, int(count))
    pieces = [rows[start : start + ROWS] for start in range(0, len(rows), ROWS)]
    values = [
        distance_rows(sets, piece, **spec.parameters)
        for piece in progress(pieces, len(pieces), f"{spec.measure}: {ROWS} rows")
    ]
    record = stamp(spec.as_dict(), input_digests(source=source), code or [])
    write_arrays(block, record, rows=rows, values=np.concatenate(values), ids=held["ids"])
