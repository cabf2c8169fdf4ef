"""Permutation importances of the final model's method, as a table and figures of the report."""

from __future__ import annotations

from functools import partial

import pandas as pd

from mklearn.study.evaluation.reproduction import plain_records
from mklearn.study.report import charts
from mklearn.study.report.charts import Chart, field, tooltip
from mklearn.study.report.parts import PartFigure, ReportPart
from mklearn.study.report.result_tables import interval_cell
from mklearn.study.report.tables import Column, Table, number, words
from mklearn.study.report.wording import plural, value

DRAWN = 20
"""Maximum number of features in the figure of a view."""


def importances_part(frame: pd.DataFrame) -> ReportPart:
    """Return a part with a table of the views, a figure of the most important features of each view, and a CSV file.

    ``frame`` is the table that the rule ``model`` writes; a row without a feature belongs to a whole view.
    """
    whole = frame["feature"].eq("")
    if not len(frame) or frame["view"].eq("").all():
        note = "; ".join(frame["message"]) or "The final model's method takes whole images: it has no views to shuffle."
        return ReportPart(tables=[Table("Importance of views", [words("View")], [], note=note)])
    alt = "Bars with intervals: what predictions lose where each feature of those that matter most is shuffled."
    figures = [
        PartFigure(f"Importance of features: {view}", alt, partial(importance_bars, rows, title=str(view)))
        for view, rows in frame[~whole].groupby("view", sort=False)
    ]
    in_points = bool(frame["measure"].ne("r2").all())
    columns = [
        words("View", "view"),
        number("Loss", "loss", partial(value, in_percent=in_points), "mean over test samples"),
        Column("95 % interval", cell=lambda row: interval_cell(row, in_points, "low", "high")),
    ]
    rows = plain_records(frame[whole])
    table = Table.of("Importance of views", columns, rows, sorted_by=1, note=_note(frame))
    return ReportPart(figures, [table], {"importances.csv": frame})


def importance_bars(frame: pd.DataFrame, *, title: str) -> Chart:
    """Draw the loss when each feature is shuffled, with 95 % intervals if they are known."""
    in_points, rows = frame["measure"].iloc[0] != "r2", frame.head(DRAWN)
    shown = charts.in_percent(rows, "loss", "low", "high") if in_points else rows
    x = field("x:Q", title="points lost" if in_points else "R² lost", axis={"tickCount": 6})
    colour = field("k:N", scale={"range": "ordinal"}, legend=None)
    bar = {"type": "bar", "height": 10, "cornerRadiusEnd": 3, "fillOpacity": 0.5}
    ends = {"x": x | {"field": "l"}, "x2": {"field": "h"}}
    tips = tooltip(("f:N", "shuffled"), ("x:Q", "lost", ".3~f"), ("l:Q", "from", ".3~f"), ("h:Q", "to", ".3~f"))
    most = [f"the {DRAWN} of {len(frame)} that matter most"] if len(frame) > DRAWN else []
    return charts.chart(
        {"mark": bar, "encoding": {"x": x, "color": colour}},
        *([{"mark": {"type": "rule", "strokeWidth": 1.5}, "encoding": ends}] if rows["low"].notna().any() else []),
        rows=charts.rows_of(shown, k="measure", f="feature", x="loss", l="low", h="high"),
        encoding={"y": charts.names("f:N", list(shown["feature"])), "tooltip": tips},
        height=22 * len(shown), title=title, subtitle=most,
    )  # fmt: skip


def _note(frame: pd.DataFrame) -> str:
    first = frame.iloc[0]
    few = "" if frame["low"].notna().any() else " Two to four splits have no interval."
    unit = {"accuracy": "points of accuracy", "r2": "R²", "harrell_c": "points of Harrell's C"}[first["measure"]]
    return (
        f"What predictions lose, in {unit}, where a view or a feature is shuffled among the test samples: by the final "
        f"model's method and parameters, fitted to the training samples of {plural(int(first['splits']), 'split')}, "
        f"mean of {plural(int(first['permutations']), 'permutation')}, with 95 % intervals, which are not corrected "
        f"for their number. The parameters were chosen on the samples of the final model.{few} Features that tell the "
        "same replace each other: each loses about 0, and their view does not. All numbers are in importances.csv."
    )
