"""Compute distances or inner products among all samples in one descriptor, as the input of kernels."""

from pathlib import Path

import numpy as np

from mklearn.atomic import read_npz
from mklearn.descriptors.point_sets import PointSets
from mklearn.kernels.distances import MEASURES
from mklearn.rows import load
from mklearn.study.artefacts import write_arrays
from mklearn.study.data.samples import SampleSet
from mklearn.study.log import logger
from mklearn.study.script import Output, Record, run_script


def distances(
    source: Path, matrix: Output, *, measure: str, array: str | None = None, implementation: str | None = None,
    threads: int = 1, record: Record,
) -> None:  # fmt: skip
    """Write a matrix among all samples, (n, n).

    The source is a file of features; or of point sets, with the ``module:function`` of their distance as
    ``implementation``; or of samples with the user's matrices, from which ``array`` is copied. Steps that depend on the
    split (bandwidth, centring, normalisation, repair) are fitted to the training samples by the rule ``fit``.
    """
    if array is not None:
        data = SampleSet.load(source)
        values, ids = data.matrices[array], data.ids
    else:
        arrays = read_npz(source)
        ids = arrays["ids"]
        if implementation is not None:
            values = load(implementation)(PointSets.from_arrays(arrays), n_jobs=threads)
        else:
            values = MEASURES[measure](np.asarray(arrays["features"], dtype=np.float64))
    logger.info("%s: %d x %d, %.1f MB", measure, *values.shape, values.nbytes / 1e6)
    write_arrays(matrix, record, matrix=values, ids=ids)


if __name__ == "__main__":
    run_script(distances, globals().get("snakemake"))
