"""Score table of a study, computed from the predictions of its fits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from mklearn.errors import NotApplicable, SolverFailed
from mklearn.study.artefacts import read_record
from mklearn.study.evaluation.fit_files import read_predictions
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.outputs import RulePredictions, SplitRecord
from mklearn.study.evaluation.predictions import prediction_table, typed
from mklearn.study.log import logger
from mklearn.study.provenance import commit

COLUMNS = {
    "dataset": "str", "protocol": "str", "train_size": "Int64", "repeat": "int64", "fold": "int64", "method": "str",
    "kernel_set": "str", "neighbour": "str", "selection": "str", "dimension": "Int64", "metric": "str",
    "value": "float64", "status": "str", "message": "str", "parameters": "str", "seed": "int64", "n_train": "int64",
    "n_test": "int64", "n_validation": "int64", "test_part": "int64", "n_iter": "Int64", "objective": "float64",
    "gap": "float64", "solver": "str", "code": "str", "fit_seconds": "float64",
}  # fmt: skip
"""Columns of the score rows of one fit, and their types; the study's table adds ``study`` and ``commit``.

Rows with the same ``test_part`` in a repeat belong to models that share the test samples, see
:func:`mklearn.study.data.splits.numbered_test_parts`.
"""
ORDER = ["study", *COLUMNS, "commit"]
NAN = float("nan")
BLANK: dict[str, Any] = {
    "neighbour": "", "selection": "", "dimension": None, "value": NAN, "status": "ok", "message": "",
    "parameters": "{}", "n_iter": None, "objective": NAN, "gap": NAN, "solver": "", "code": "", "fit_seconds": NAN,
}  # fmt: skip
"""Default values of a score row, without the columns that identify fit and split."""


def score_table(
    fits: Sequence[Path], study: str, metrics: Sequence[str], kernels: Sequence[str] = ()
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Compute the metrics of all fits from their predictions, and return the score table and the prediction table.

    The score table has the rows of all fits, in the order of ``fits``, with the name of the study and the commit. The
    prediction table has a row for each test sample. ``kernels`` are the ids of the study's kernels, in its order.
    """
    rows, predicted = zip(*(evaluated_fit(path, metrics) for path in fits), strict=True)
    frame = pd.concat(rows, ignore_index=True)
    frame = frame.assign(study=study, commit=commit())[ORDER]
    place = {name: position for position, name in enumerate(kernels)}
    frame["kernel_set"] = frame["kernel_set"].map(
        lambda names: "+".join(sorted(names.split("+"), key=lambda name: place.get(name, len(place))))
    )
    failed = frame.loc[frame["status"] != "ok", ["dataset", "protocol", "method", "status", "message"]]
    for row in failed.drop_duplicates().itertuples(index=False):
        logger.warning("%s, %s, %s: %s: %s", row.dataset, row.protocol, row.method, row.status, row.message)
    return frame, typed(pd.concat(predicted, ignore_index=True))


def evaluated_fit(path: Path, metrics: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the score rows of a fit, and its prediction table."""
    fits, y, ids, groups = read_predictions(path)
    rows: list[dict[str, Any]] = []
    tables = []
    for fit, splits in fits:
        columns = fit | {"metric": metrics[0] if len(metrics) == 1 else ""}
        rows += [row for split in splits for row in score_rows(columns, split, metrics)]
        tables.append(prediction_table(splits, fit, y, ids, metrics, groups))
    frame = pd.DataFrame(rows, columns=list(COLUMNS)).assign(code=read_record(path).get("code", "")).astype(COLUMNS)
    return frame, typed(pd.concat(tables, ignore_index=True))


def score_rows(fit: Mapping[str, Any], split: SplitRecord, metrics: Sequence[str]) -> Iterator[dict[str, Any]]:
    """Yield the score rows of one split: the rows of each rule and metric, or a single row if the split failed.

    ``fit`` has the columns of :func:`mklearn.study.evaluation.fit_files.fit_of`, and ``metric`` for the row of a failed
    split: the study's only metric, or "" for every metric.
    """
    row = {**BLANK, **fit, **_columns(split.facts)}
    for neighbour, predictions in split.rules.items():
        shared = row | {"neighbour": neighbour} | _columns(predictions.facts)
        for metric in metrics:
            yield from _metric_rows(shared | {"metric": metric}, predictions, split.facts["selection_message"])
    if not split.rules:
        yield row


def _columns(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name in COLUMNS and value is not None}


def _metric_rows(
    shared: dict[str, Any], predictions: RulePredictions, selection_message: str
) -> Iterator[dict[str, Any]]:
    components, position = predictions.components, predictions.position
    chosen = shared | {"selection": "inner_cv"}
    if position is not None and components:
        chosen["dimension"] = components[position]
    try:
        scores = predictions.scores(metric_named(shared["metric"]))
    except (NotApplicable, SolverFailed) as reason:
        status = "not_applicable" if isinstance(reason, NotApplicable) else "failed"
        yield chosen | {"status": status, "message": str(reason)}
        return
    # A classifier has a row of this kind only if its parameters were chosen on the test samples.
    dimensions: Sequence[int | None] = components or ([None] if position is None else [])
    for dimension, value in zip(dimensions, scores, strict=False):
        yield shared | {"selection": "dimension", "dimension": dimension, "value": float(value)}
    if position is None:
        yield chosen | {"status": "not_applicable", "message": selection_message}
    else:
        yield chosen | {"value": float(scores[position])}
