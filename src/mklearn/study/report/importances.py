"""The views and features that predictions of the final model's method rest on, as tables of the page."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd

from mklearn.errors import DataError
from mklearn.study.report.frames import records
from mklearn.study.report.parts import ReportPart
from mklearn.study.report.tables import Cell, Column, Table, number_cell
from mklearn.study.report.wording import DASH, number, percent, percent_interval, plural

SHOWN = 20
"""So many features of a view are in its table, the most important ones."""


def read_importances(path: Path) -> pd.DataFrame:
    """Read the table that the step ``importances`` has written; a row without a feature is of a whole view."""
    text = {"view": str, "feature": str, "measure": str}
    try:
        frame = pd.read_csv(path, dtype=text, keep_default_na=False, na_values={"low": [""], "high": [""]})
        return frame.astype({"loss": float, "low": float, "high": float, "splits": int, "permutations": int})
    except (ValueError, KeyError) as error:
        raise DataError(f"{path}: not a table of importances ({error}); delete it and run again.") from error


def importances_part(frame: pd.DataFrame) -> ReportPart:
    """Return a table of the views, and one of the most important features of each view that has any."""
    whole = frame["feature"].eq("")
    if not len(frame):
        note = "The final model's method takes whole images: it has no views or features to shuffle."
        return ReportPart(tables=[Table("Importance of views", [Column("View", numeric=False)], [], note=note)])
    tables = [_table("Importance of views", "View", frame[whole].assign(name=frame["view"]), _note(frame))]
    for view, rows in frame[~whole].groupby("view", sort=False):
        shown = f"The {SHOWN} of {len(rows)} features that matter most." if len(rows) > SHOWN else ""
        note = f"{shown} All are in importances.csv, beside the model.".strip()
        tables.append(_table(f"Importance of features: {view}", "Feature", rows.assign(name=rows["feature"]), note))
    return ReportPart(tables=tables)


def _note(frame: pd.DataFrame) -> str:
    first = frame.iloc[0]
    what = "points of accuracy" if first["measure"] == "accuracy" else "R²"
    interval = "" if frame["low"].notna().any() else " Fewer than five splits have no interval."
    return (
        f"What predictions lose, in {what}, where a view or a feature is shuffled among the test samples: "
        f"by the final model's method and parameters, fitted to the training samples of "
        f"{plural(int(first['splits']), 'split')}, mean of {plural(int(first['permutations']), 'permutation')}, with "
        "95 % intervals, which are not corrected for the number of features. The parameters were chosen on all "
        f"samples.{interval} Features that tell the same replace each other: each loses about 0, and their view does "
        "not."
    )


def _table(caption: str, head: str, frame: pd.DataFrame, note: str) -> Table:
    columns = [Column(head, numeric=False), Column("Loss", "mean over test samples"), Column("95 % interval")]
    return Table(
        caption,
        columns,
        [[Cell(row["name"]), *_cells(row)] for row in records(frame.head(SHOWN))],
        sorted_by=1,
        note=note,
    )


def _cells(row: dict[str, Any]) -> list[Cell]:
    loss, low, high = row["loss"], row["low"], row["high"]
    if row["measure"] == "accuracy":
        return [number_cell(percent(loss), loss), Cell(percent_interval(low, high), kind="number")]
    interval = DASH if pd.isna(low) else f"[{number(low)}, {number(high)}]"
    return [number_cell(number(loss), loss), Cell(interval, kind="number")]
