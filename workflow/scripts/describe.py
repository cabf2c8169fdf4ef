"""Compute one descriptor for a block of the samples, or for all of them."""

from pathlib import Path
from typing import Any

from mklearn.descriptors.point_sets import PointSets
from mklearn.study.artefacts import write_arrays
from mklearn.study.data.description import described
from mklearn.study.log import logger
from mklearn.study.script import Output, Record, run_script
from mklearn.study.specs.data_specs import FeatureType


def describe(
    samples: Path, learned: Path | None = None, *, features: Output, kind: str, implementation: str,
    parameters: dict[str, Any], dtype: FeatureType | None = None, part: str = "1of1", record: Record,
) -> None:  # fmt: skip
    """Write the features of the samples, (n, d) or one point set per sample, with the samples' ids.

    ``learned`` has the arrays that the descriptor has learned. A ``part`` such as ``"2of8"`` selects the second eighth
    of the samples, ``"1of1"`` all. ``dtype`` is by default the descriptor's own. Raise DataError if samples lack the
    images or the table, features are not finite or exceed the range of ``dtype``, or batches of images give features of
    different lengths or types.
    """
    values, ids = described(samples, learned, kind, implementation, parameters, dtype, part)
    arrays: dict[str, Any] = values.as_arrays() if isinstance(values, PointSets) else {"features": values}
    shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
    logger.info("%s: %d samples, %s", kind, len(ids), shapes)
    write_arrays(features, record, **arrays, ids=ids)


if __name__ == "__main__":
    run_script(describe, globals().get("snakemake"))
