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
from mklearn.study.artefacts import read_arrays, write_arrays
from mklearn.study.data.samples import SampleSet
from mklearn.study.provenance import input_digests, stamp
from mklearn.study.steps.log import logger


def pairwise(
    source: Path, matrix: Path, *, spec: PairwiseSpec, threads: int = 1
) -> None:  # fmt: skip
    """Write the (n, n) matrix of ``spec.measure``: of a descriptor's features or point sets, or the user's own."""
    if spec.matrix is not None:
        data = SampleSet.load(source)
        values, ids = data.matrices[spec.matrix], data.ids
    else:
        held = read_arrays(source)
        ids = held["ids"]
        if spec.implementation is not None:
            compute = load(spec.implementation)
            values = compute(PointSets.from_arrays(held), **(spec.parameters or {}), n_jobs=threads)
        else:
            values = MEASURES[spec.measure](np.asarray(held["features"], dtype=np.float64))
    logger.info("%s: %d x %d, %.1f MB", spec.measure, *values.shape, values.nbytes / 1e6)
    record = stamp("pairwise", spec.as_dict(), input_digests(source=source))
    write_arrays(matrix, record, matrix=values, ids=ids)
