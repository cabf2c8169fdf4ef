"""Step: read a data set's files into one sample set, and its labels into a small table of their own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from mklearn.atomic import write_parquet
from mklearn.datasets.read import read_dataset
from mklearn.provenance import file_digest, stamp
from mklearn.steps.log import logger


def read(samples: Path, labels: Path, *, spec: dict[str, Any], files: list[Path] | None = None,
         code: list[Path] | None = None) -> None:  # fmt: skip
    """Read ``files`` (or those of ``spec["paths"]``) with the reader ``spec["reader"]``.

    Labels go to a Parquet of their own (columns id, y, label): splits and fits depend on it and not on the images.
    """
    given = files or []
    data = read_dataset(spec, spec["paths"] if "paths" in spec else {path.name: path for path in given})
    digests = {path.name: file_digest(path) for path in given} if len(given) <= 64 else {}
    record = stamp(spec, digests, code or [])
    logger.info("%s: %d samples of %d classes", spec["dataset"], len(data), data.n_classes)
    for note in data.notes:
        logger.info("note: %s", note)
    data.save(samples, spec, record)
    table = pd.DataFrame({"id": data.ids, "y": data.y, "label": data.classes[data.y]})
    write_parquet(labels, table, record)
