"""The score rows of a fit: their columns, and a row before any value is known."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from numpy.typing import NDArray

from mklearn.errors import NotApplicable
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.outputs import Record, RulePredictions, SplitPredictions

COLUMNS = {
    "dataset": "str", "protocol": "str", "train_size": "Int64", "repeat": "int64", "fold": "int64", "method": "str",
    "kernel_set": "str", "neighbour": "str", "selection": "str", "dimension": "Int64", "metric": "str",
    "value": "float64", "status": "str", "message": "str", "parameters": "str", "seed": "int64", "n_train": "int64",
    "n_test": "int64", "n_validation": "int64", "test_part": "int64", "n_iter": "Int64", "objective": "float64",
    "gap": "float64", "solver": "str", "code": "str",
    "fit_seconds": "float64", "predict_seconds": "float64", "peak_mb": "float64", "utc": "str",
}  # fmt: skip
"""Columns of the score rows of one fit, and their types; the study's table adds study and commit.

Rows with the same ``test_part`` in a repeat are of models that share the test samples: see
:func:`mklearn.study.data.splits.numbered_test_parts`.
"""
NAN = float("nan")
BLANK: dict[str, Any] = {
    "neighbour": "", "selection": "", "dimension": None, "value": NAN, "status": "ok", "message": "",
    "parameters": "{}", "n_iter": None, "objective": NAN, "gap": NAN, "solver": "", "code": "", "fit_seconds": NAN,
    "predict_seconds": NAN, "peak_mb": NAN, "utc": "",
}  # fmt: skip
"""A row without values; a fit and a split add the columns that name them."""


def score_rows(
    fit: Mapping[str, Any], record: Record, split: SplitPredictions, y: NDArray[Any], metrics: Sequence[str]
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one record: of each metric by each rule, or the one of a split that failed.

    Parameters
    ----------
    fit : mapping
        Columns, see :func:`mklearn.study.evaluation.fit_files.fit_of`, and `metric`: the study's or, of several, "", as
        a row without a value counts for each of them.
    record, split : Record, SplitPredictions
        As the fit has stored it, and its predictions.
    y : targets of all samples
    metrics : sequence of str
    """
    facts = record.facts
    row = {**BLANK, **fit, **_columns(facts)}
    for neighbour, predictions in split.rules.items():
        shared = row | {"neighbour": neighbour} | _columns(facts["rules"][neighbour])
        for metric in metrics:
            yield from _metric_rows(shared | {"metric": metric}, predictions, facts["selection_message"])
    if not split.rules:
        yield row


def _columns(facts: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in facts.items() if name in COLUMNS and value is not None}


def _metric_rows(
    shared: dict[str, Any], predictions: RulePredictions, selection_message: str
) -> Iterator[dict[str, Any]]:
    """Yield the rows of one metric: at each number of components, and as inner cross-validation chose."""
    components, position = predictions.components, predictions.position
    chosen = shared | {"selection": "inner_cv"}
    if position is not None and components:
        chosen["dimension"] = components[position]
    try:
        scores = predictions.scores(metric_named(shared["metric"]))
    except NotApplicable as reason:
        yield chosen | {"status": "not_applicable", "message": str(reason)}
        return
    # A classifier whose parameters were chosen on the test samples has its value there, too.
    dimensions: Sequence[int | None] = components or ([None] if position is None else [])
    for dimension, value in zip(dimensions, scores, strict=False):
        yield shared | {"selection": "dimension", "dimension": dimension, "value": float(value)}
    if position is None:
        yield chosen | {"status": "not_applicable", "message": selection_message}
    else:
        yield chosen | {"value": float(scores[position])}
