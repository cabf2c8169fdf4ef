"""Compute one descriptor for all samples or for one part of them, or join the parts."""

from pathlib import Path
from typing import Any

from mklearn.descriptors.point_sets import PointSets
from mklearn.errors import DataError
from mklearn.study.artefacts import write_arrays
from mklearn.study.data.description import described, joined
from mklearn.study.log import logger
from mklearn.study.script import Output, Record, run_script
from mklearn.study.specs.data_specs import FeatureType


def describe(
    samples: Path | None = None, learned: Path | None = None, parts: list[Path] | None = None, *, features: Output,
    kind: str, implementation: str, parameters: dict[str, Any], dtype: FeatureType | None = None,
    part: str | None = None, record: Record,
) -> None:  # fmt: skip
    """Write the features of all samples, (n, d) or one point set per sample, with the samples' ids.

    They are computed from ``samples`` and the arrays that the descriptor has learned, or joined from ``parts`` in
    order. A ``part`` such as ``"2of8"`` selects the second eighth of the samples. ``dtype`` is by default the
    descriptor's own. Raise DataError if samples lack the images or the table, features are not finite or exceed the
    range of ``dtype``, batches of images give features of different lengths or types, or two parts share a sample.
    """
    if parts:
        values, ids = joined(parts)
    elif samples is not None:
        values, ids = described(samples, learned, kind, implementation, parameters, dtype, part)
    else:
        raise DataError("describe: expected samples or parts.")
    arrays: dict[str, Any] = values.as_arrays() if isinstance(values, PointSets) else {"features": values}
    shapes = ", ".join(f"{name} {array.shape}" for name, array in arrays.items())
    logger.info("%s: %d samples, %s", kind, len(ids), shapes)
    write_arrays(features, record, **arrays, ids=ids)


if __name__ == "__main__":
    run_script(describe, globals().get("snakemake"))
