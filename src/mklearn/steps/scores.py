"""Step: the score table of a study, from the score rows of its fits."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from mklearn.atomic import read_parquet, write_parquet
from mklearn.provenance import commit, stamp
from mklearn.steps.log import logger

ORDER = [
    "study", "dataset", "protocol", "train_size", "repeat", "fold", "method", "kernel_set", "neighbour", "selection",
    "dimension", "metric", "value", "status", "message", "parameters", "seed", "n_train", "n_test", "n_iter",
    "objective", "gap", "solver", "code", "commit", "fit_seconds", "predict_seconds", "peak_mb", "utc",
]  # fmt: skip
MEASURED = ("commit", "fit_seconds", "predict_seconds", "peak_mb", "utc")
"""Columns that may differ between two runs of the same computation; all others are the same to the byte."""


def scores(fits: list[Path], table: Path, *, spec: dict[str, Any], code: list[Path] | None = None) -> None:
    """Concatenate in the order of the plan, with the study's name and the commit in front of every row."""
    frames = [read_parquet(path)[0] for path in fits]
    frame = pd.concat(frames, ignore_index=True)
    frame = frame.assign(study=spec["study"], commit=commit())[ORDER]
    failed = frame.loc[frame["status"] != "ok", ["dataset", "protocol", "method", "status", "message"]]
    for row in failed.drop_duplicates().itertuples(index=False):
        logger.warning("%s, %s, %s: %s: %s", row.dataset, row.protocol, row.method, row.status, row.message)
    write_parquet(table, frame, stamp(spec, {}, code or []))
