"""What accuracy costs: the training time of each method beside its accuracy, and the fastest method that is as good.

Paired intervals compare each method with the reference: two methods that are not shown to differ from it may differ
from each other, and no sentence says that they are equal.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pandas as pd

from mklearn.study.evaluation.verdicts import BETTER, NO_GAIN, NOT_SHOWN, verdicts
from mklearn.study.report.findings import difference
from mklearn.study.report.frames import Results, records
from mklearn.study.report.wording import percent

FEWEST_METHODS = 3
"""With fewer methods than this, accuracy and time are not drawn."""
MOST_LABELS = 6
SAME_TIME = 0.05
"""Times that differ by a smaller share are called about the same."""


def accuracy_for_time(results: Results) -> pd.DataFrame:
    """Return the inner-CV rows by one nearest-neighbour rule with the typical ``seconds`` and ``ratio`` of a fit.

    Methods without an accuracy or a time are left out.
    """
    rows = results.by_one_rule.dropna(subset=["mean"])
    return rows.merge(results.typical_times, on=["dataset", "protocol", "train_size", "label", "neighbour"])


def sentence(rows: pd.DataFrame, results: Results) -> str:
    """Name the fastest methods, and what the most accurate one costs; ``rows`` are those of one setting.

    Empty without the reference, with fewer than three methods, and with fewer than five splits, as these have no
    interval.
    """
    if len(rows) < FEWEST_METHODS or not rows["method"].eq(results.reference).any():
        return ""
    title, (better, tie) = results.reference_title, _fastest(rows, results)
    if better:
        parts = [f"The fastest method better than {title} is {_named(better)}, in {_time(better)} training time"]
        if tie and tie["ratio"] < 1 - SAME_TIME:
            parts.append(f"{_named(tie)}, not shown to differ from the reference, takes {_time(tie)}")
    elif tie and tie["ratio"] <= 1 + SAME_TIME:
        parts = [f"The fastest method not shown to differ from {title} is {_named(tie)}, in {_time(tie)} training time"]
    elif tie:
        parts = [f"Every method not shown to differ from {title} takes more training time"]
    else:
        return ""
    highest = _highest(rows)
    named = highest["method"] == results.reference or _named(highest) in " ".join(parts)
    if not named and not pd.isna(highest["ratio"]):
        parts.append(f"the highest, {_named(highest)}, takes {_time(highest)}")
    return f"{'; '.join(parts)}."


def labels(rows: pd.DataFrame, results: Results, plain: Sequence[str]) -> list[str]:
    """Name the methods that a figure labels: the reference, plain ones, the fastest and the most accurate."""
    named = [label for methods in ([results.reference], plain) for label in rows["label"][rows["method"].isin(methods)]]
    chosen = [*_fastest(rows, results), _highest(rows)]
    return list(dict.fromkeys([*named, *(str(row["label"]) for row in chosen if row)]))[:MOST_LABELS]


def _fastest(rows: pd.DataFrame, results: Results) -> list[dict[str, Any] | None]:
    """Return the fastest method better than the reference, and the fastest not shown to differ; None without one."""
    others = rows[rows["method"].ne(results.reference)].dropna(subset=["difference_low", "difference_high", "ratio"])
    found = verdicts(others, results.matters)
    better, ties = found.eq(BETTER), found.isin([NOT_SHOWN, NO_GAIN])
    first = (records(others[part].nsmallest(1, "seconds")) for part in (better, ties))
    return [found[0] if found else None for found in first]


def _highest(rows: pd.DataFrame) -> dict[str, Any]:
    return records(rows.nlargest(1, "mean"))[0]


def _named(row: dict[str, Any]) -> str:
    return f"{row['label']} ({difference(row)} points)"


def _time(row: dict[str, Any]) -> str:
    """Format as ``4 % of the reference's`` or ``12 times the reference's``."""
    ratio = float(row["ratio"])
    if abs(ratio - 1) <= SAME_TIME:
        return "about the reference's"
    if ratio < 1:
        return f"{percent(ratio, 0 if ratio >= 0.0095 else 1)} % of the reference's"
    return f"{ratio:,.{0 if ratio >= 9.95 else 1}f} times the reference's"
