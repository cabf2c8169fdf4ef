"""Step: distances or inner products among all samples, by one descriptor. The cache that all kernels are made from.

What depends on the split - bandwidth, centring, normalisation, repair - is fitted on training samples inside the fit.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from mklearn.atomic import read_npz, write_npz
from mklearn.datasets.samples import SampleSet
from mklearn.kernels.distances import MEASURES
from mklearn.provenance import array_digest, canonical, file_digest, stamp
from mklearn.steps.log import logger


def pairwise(source: Path, matrix: Path, *, spec: dict[str, Any], code: list[Path] | None = None) -> None:
    """Write the (n, n) ``spec["measure"]`` of a descriptor's features, or a matrix that the user brought."""
    if "matrix" in spec:
        data = SampleSet.load(source)
        values, ids = data.matrices[spec["matrix"]], data.ids
    else:
        held = read_npz(source, ("features", "ids"))
        values, ids = MEASURES[spec["measure"]](held["features"]), held["ids"]
    logger.info("%s: %d x %d, %.1f MB", spec["measure"], *values.shape, values.nbytes / 1e6)
    record = stamp(spec, {"source": file_digest(source)}, code or [])
    write_npz(
        matrix, matrix=values, ids=ids, spec=canonical(spec), sha256=array_digest(values),
        provenance=canonical(record),
    )  # fmt: skip
