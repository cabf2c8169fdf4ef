"""Step: the score table of a study, from the score rows of its fits."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from mklearn.errors import DataError
from mklearn.study.artefacts import read_table
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.log import logger
from mklearn.study.provenance import commit
from mklearn.study.specs.table_specs import ScoresSpec

ORDER = [
    "study", "dataset", "protocol", "train_size", "repeat", "fold", "method", "kernel_set", "neighbour", "selection",
    "dimension", "metric", "value", "status", "message", "parameters", "seed", "n_train", "n_test", "n_validation",
    "test_part", "n_iter",
    "objective", "gap", "solver", "code", "commit", "fit_seconds", "predict_seconds", "peak_mb", "utc",
]  # fmt: skip
MEASURED = ("commit", "fit_seconds", "predict_seconds", "peak_mb", "utc")
"""Columns that may differ between two runs of the same computation; all others are the same to the byte."""
WITH_VALUE = ("ok", "inaccurate")
"""Statuses of rows that have a value."""
ROUNDING = 1e-9
"""By how much a sum of rounded terms may leave the range of its metric."""


def score_table(fits: Sequence[Path], spec: ScoresSpec) -> pd.DataFrame:
    """Return the rows of all fits in the order of the plan, with the study's name and the commit in each.

    Raises
    ------
    DataError
        A value is not finite, or outside the range of its metric.
    """
    frame = pd.concat([_checked(read_table(path)[0], path) for path in fits], ignore_index=True)
    frame = frame.assign(study=spec.study, commit=commit())[ORDER]
    place = {name: position for position, name in enumerate(spec.kernels)}
    frame["kernel_set"] = frame["kernel_set"].map(
        lambda names: "+".join(sorted(names.split("+"), key=lambda name: place.get(name, len(place))))
    )
    failed = frame.loc[frame["status"] != "ok", ["dataset", "protocol", "method", "status", "message"]]
    for row in failed.drop_duplicates().itertuples(index=False):
        logger.warning("%s, %s, %s: %s: %s", row.dataset, row.protocol, row.method, row.status, row.message)
    return frame


def _checked(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Return the score rows of a fit if each value is possible: finite, in its metric's range, or rightly missing."""
    for name, rows in frame.groupby("metric", sort=False):
        missing = rows["value"].isna()
        wrong = missing & rows["status"].isin(WITH_VALUE)
        if not missing.all():
            low, high = metric_named(str(name)).bounds
            finite = np.isfinite(rows["value"])
            wrong |= ~missing & ~(finite & rows["value"].between(low - ROUNDING, high + ROUNDING))
        if wrong.any():
            row = rows[wrong].iloc[0]
            raise DataError(
                f"{path}: {row['method']} has the {name} {row['value']} in repeat {row['repeat']}, fold {row['fold']} "
                f"(status {row['status']}); valid: finite{'' if missing.all() else f', from {low:g} to {high:g}'}. "
                "The method or the metric computes wrongly: correct it; its fits are then made again."
            )
    return frame
