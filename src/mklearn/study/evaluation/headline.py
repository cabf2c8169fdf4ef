"""Headline of a study: its rows of the summary, their verdicts, and the winning method.

The report, the answer in the terminal and the final model use the same rows: the values chosen by inner
cross-validation, by one metric and one nearest-neighbour rule. Classifiers, which have no rule, are included.

The verdict states what the difference to the reference shows. The method is better or worse if the 95 % interval of the
difference excludes 0 and Holm's adjusted p-value is below 5 %. Otherwise there is no gain if the interval excludes a
gain that matters (by default 1 percentage point), and nothing is shown if it does not.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import pandas as pd

from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.reproduction import plain_records

LEVEL = 0.05
MATTERS = 0.01
"""Default of the smallest gain that matters, as a fraction."""
BETTER, WORSE, NO_GAIN, NOT_SHOWN = "better", "worse", "no gain", "not shown"


def headline_rows(summary: pd.DataFrame, metric: str, neighbour: str) -> pd.DataFrame:
    """Select the rows of a summary that the headline compares; ``neighbour`` is the rule of embeddings."""
    rows = summary[summary["selection"].eq("inner_cv") & summary["metric"].isin([metric, ""])]
    return rows[rows["neighbour"].isin([neighbour, ""])]


class Winner(NamedTuple):
    """The winning entry: its position, its row of the summary, and the number of entries with a value."""

    position: int
    row: dict[str, Any]
    among: int


def winner(
    rows: pd.DataFrame, metric: str, dataset: str, entries: Sequence[tuple[str, str, int | None]]
) -> Winner | None:
    """Return the winning entry (method, protocol, training size) by the best mean; None if no entry has a value.

    Entries that are significantly better than the reference take precedence, because an equally high mean may be due to
    a few splits. Next come the entries without a failed split, because means over different splits are not comparable.
    Ties go to the first entry.
    """
    kind = metric_named(metric)
    valued: list[tuple[int, dict[str, Any]]] = []
    for position, (method, protocol, train_size) in enumerate(entries):
        of_entry = rows[
            rows["dataset"].eq(dataset) & rows["protocol"].eq(protocol) & rows["method"].eq(method)
            & rows["mean"].notna()
        ]  # fmt: skip
        if train_size is not None:
            of_entry = of_entry[of_entry["train_size"].eq(train_size).fillna(False)]
        valued += [(position, row) for row in plain_records(of_entry)]
    if not valued:
        return None
    certain = [one for one in valued if verdict(one[1], 0.0, kind.larger_is_better) == BETTER]
    complete = [one for one in valued if not one[1]["n_failed"]]
    kept = certain or complete or valued
    position, row = max(kept, key=lambda one: kind.sign * float(one[1]["mean"]))
    return Winner(position, row, len({position for position, _ in valued}))


# --- verdicts


def verdict(row: Mapping[str, Any], matters: float, larger_is_better: bool = True) -> str:
    """Return the verdict of a row by its ``difference_low``, ``difference_high`` and, if present, ``p_holm``.

    ``matters`` is the smallest gain that matters, as a fraction. A row without an interval has the verdict "".
    """
    low, high, adjusted = _interval(row)
    if math.isnan(low) or math.isnan(high):
        return ""
    if not larger_is_better:
        low, high = -high, -low
    holds = not adjusted >= LEVEL  # also without a p-value
    if low > 0 and holds:
        return BETTER
    if high < 0 and holds:
        return WORSE
    return NO_GAIN if high < matters else NOT_SHOWN


def only_before_holm(row: Mapping[str, Any]) -> bool:
    """Return True if the interval excludes 0, but Holm's adjusted p-value is not below 5 %."""
    low, high, adjusted = _interval(row)
    return (low > 0 or high < 0) and adjusted >= LEVEL


def _interval(row: Mapping[str, Any]) -> list[float]:
    """Return the ends of the difference's interval and its adjusted p-value; NaN for unknown values."""
    return [float(row.get(name, math.nan)) for name in ("difference_low", "difference_high", "p_holm")]
