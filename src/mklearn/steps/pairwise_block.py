"""Step: rows of a matrix of distances between point sets, as a job of their own."""

from __future__ import annotations

import importlib
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.atomic import read_npz, write_npz
from mklearn.descriptors.point_sets import PointSets
from mklearn.kernels.row_blocks import rows_of_block
from mklearn.provenance import canonical, input_digests, stamp
from mklearn.steps.log import progress

ROWS = 32
"""Number of rows computed between two lines of progress in the log."""


def pairwise_block(source: Path, block: Path, *, spec: dict[str, Any], code: list[Path] | None = None) -> None:
    """Write part ``spec["part"]`` of a matrix: "2of8" is every eighth row of its upper triangle, from the second on."""
    held = read_npz(source)
    module, function = spec["rows"].split(":")
    distance_rows = getattr(importlib.import_module(module), function)
    sets = PointSets.from_arrays(held)
    number, _, count = spec["part"].partition("of")
    rows = rows_of_block(len(sets), int(number) - 1, int(count))
    pieces = [rows[start : start + ROWS] for start in range(0, len(rows), ROWS)]
    values = [
        distance_rows(sets, piece, **spec["parameters"])
        for piece in progress(pieces, len(pieces), f"{spec['measure']}: {ROWS} rows")
    ]
    record = stamp(spec, input_digests(source=source), code or [])
    write_npz(
        block, rows=rows, values=np.concatenate(values), ids=held["ids"], spec=canonical(spec),
        provenance=canonical(record),
    )  # fmt: skip
