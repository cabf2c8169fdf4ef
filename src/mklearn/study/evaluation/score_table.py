"""The score rows of a study, from the predictions of its fits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.errors import DataError
from mklearn.study.artefacts import read_arrays, read_record
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.outputs import full_width, restored_split, unpacked
from mklearn.study.evaluation.predictions import prediction_table, typed
from mklearn.study.evaluation.score_rows import COLUMNS, score_rows
from mklearn.study.log import logger
from mklearn.study.provenance import commit
from mklearn.study.specs.table_specs import EvaluateSpec

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


def score_table(fits: Sequence[Path], spec: EvaluateSpec) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compute the metrics of all fits from their predictions.

    Returns
    -------
    scores, predictions : DataFrame
        The rows of all fits in the order of the plan, with the study's name and the commit in each; and a row for each
        test sample.

    Raises
    ------
    DataError
        A value is not finite, or outside the range of its metric.
    """
    rows, predicted = zip(*(evaluated_fit(path, spec.metrics) for path in fits), strict=True)
    frame = pd.concat(rows, ignore_index=True)
    frame = frame.assign(study=spec.study, commit=commit())[ORDER]
    place = {name: position for position, name in enumerate(spec.kernels)}
    frame["kernel_set"] = frame["kernel_set"].map(
        lambda names: "+".join(sorted(names.split("+"), key=lambda name: place.get(name, len(place))))
    )
    failed = frame.loc[frame["status"] != "ok", ["dataset", "protocol", "method", "status", "message"]]
    for row in failed.drop_duplicates().itertuples(index=False):
        logger.warning("%s, %s, %s: %s: %s", row.dataset, row.protocol, row.method, row.status, row.message)
    return frame, typed(pd.concat(predicted, ignore_index=True))


def evaluated_fit(path: Path, metrics: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the score rows of a fit, and the table of its predictions."""
    job, arrays = read_record(path), read_arrays(path)
    y, ids = full_width(arrays["y"]), arrays["ids"]
    rows: list[dict[str, Any]] = []
    tables = []
    for fit in json.loads(str(arrays["fits"])):
        columns, splits = fit | {"metric": metrics[0] if len(metrics) == 1 else ""}, []
        start = f"{fit['protocol']}/"
        own = {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}
        for record in unpacked(own):
            splits.append(restored_split(record, y))
            rows += score_rows(columns, record, splits[-1], y, metrics)
        tables.append(prediction_table(splits, columns, y, ids, metrics))
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).assign(code=job.get("code", "")).astype(COLUMNS)
    return _checked(frame, path), typed(pd.concat(tables, ignore_index=True))


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
                "The method or the metric computes wrongly: correct it."
            )
    return frame
