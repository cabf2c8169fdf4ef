"""Step: distances or inner products among all samples by one descriptor, the cache that kernels are computed from.

Everything that depends on the split (bandwidth, centring, normalisation, repair) is fitted on training samples in the
fit.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from mklearn.contract.loading import load
from mklearn.contract.specs import PairwiseSpec
from mklearn.descriptors.point_sets import PointSets
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.row_blocks import merge_row_blocks
from mklearn.study.artefacts import read_arrays, write_arrays
from mklearn.study.data.samples import SampleSet, check_same
from mklearn.study.provenance import input_digests, stamp
from mklearn.study.steps.log import logger


def pairwise(
    source: Path, matrix: Path, *, spec: PairwiseSpec, blocks: list[Path] | None = None,
    code: list[Path] | None = None,
) -> None:  # fmt: skip
    """Write the (n, n) matrix of ``spec.measure``: of a descriptor's features or point sets, or the user's own.

    If other jobs have computed ``blocks`` of its rows, merge these.

    Raises
    ------
    DataError
        A block of other samples, or rows that are missing or computed twice.
    """
    if spec.matrix is not None:
        data = SampleSet.load(source)
        values, ids = data.matrices[spec.matrix], data.ids
    else:
        held = read_arrays(source)
        ids = held["ids"]
        if blocks:
            values = _merge_blocks(blocks, ids)
        elif spec.implementation is not None:
            compute = load(spec.implementation)
            values = compute(PointSets.from_arrays(held), **(spec.parameters or {}))
        else:
            values = MEASURES[spec.measure](np.asarray(held["features"], dtype=np.float64))
    logger.info("%s: %d x %d, %.1f MB", spec.measure, *values.shape, values.nbytes / 1e6)
    record = stamp(spec.as_dict(), input_digests(source=source, blocks=blocks), code or [])
    write_arrays(matrix, record, matrix=values, ids=ids)


def _merge_blocks(blocks: list[Path], ids: np.ndarray) -> np.ndarray:
    """Merge the blocks into one matrix; check that they hold these samples in this order."""
    parts = []
    for path in blocks:
        held = read_arrays(path, ("rows", "values", "ids"))
        check_same(held["ids"], ids, path)
        parts.append((held["rows"], held["values"]))
    return merge_row_blocks(parts, len(ids))
