"""Figures of predicted numbers: against the true ones, and their residuals."""

from __future__ import annotations

import pandas as pd

from mklearn.study.report import charts
from mklearn.study.report.charts import Chart, field, tooltip
from mklearn.study.report.series import Series

SCALE = {"zero": False, "nice": False, "padding": 8}


def predicted_against_true(rows: pd.DataFrame, series: Series, *, label: str) -> Chart:
    """Draw the predicted number of each sample against the true one: ``sample, true, predicted``, maybe ``group``."""
    ends = [float(rows[["true", "predicted"]].min().min()), float(rows[["true", "predicted"]].max().max())]
    equal = {
        "data": {"values": [{"x": end, "y": end} for end in ends]},
        "mark": {"type": "line", "strokeDash": [4, 3], "strokeWidth": 1, "color": "#888888", "aria": False},
        "encoding": {"color": None, "tooltip": None},
    }
    x = field("x:Q", title="true", scale=SCALE, axis={"tickCount": 6})
    y = field("y:Q", title="predicted", scale=SCALE, axis={"tickCount": 6})
    return _points(rows, series, equal, {"x": x, "y": y}, label=label, subtitle="predicted against true")


def residuals(rows: pd.DataFrame, series: Series, *, label: str) -> Chart:
    """Draw predicted minus true number of each sample against the predicted one."""
    zero = {
        "data": {"values": [{"v": 0}]},
        "mark": {"type": "rule", "strokeDash": [4, 3], "color": "#888888", "aria": False},
        "encoding": {"x": None, "y": field("v:Q"), "color": None, "tooltip": None},
    }
    x = field("y:Q", title="predicted", scale=SCALE, axis={"tickCount": 6})
    y = field("e:Q", title="predicted − true", scale=SCALE, axis={"tickCount": 6})
    return _points(rows, series, zero, {"x": x, "y": y}, label=label, subtitle="residuals")


def _points(rows: pd.DataFrame, series: Series, line: Chart, axes: Chart, *, label: str, subtitle: str) -> Chart:
    frame = rows.assign(s=label, error=rows["predicted"] - rows["true"])
    group = {"g": "group"} if "group" in frame else {}
    named = [("g:N", "group")] if group else []
    dots = {"mark": {"type": "point", "filled": True, "size": 36, "opacity": 0.7}}
    return charts.chart(
        line,
        dots,
        rows=charts.rows_of(frame, s="s", i="sample", x="true", y="predicted", e="error", **group),
        encoding={
            **axes,
            "color": charts.colour(series),
            "tooltip": tooltip(
                ("i:N", "sample"), *named, ("x:Q", "true", ".4~g"), ("y:Q", "predicted", ".4~g"),
                ("e:Q", "predicted − true", ".3~g"),
            ),
        },
        height=280,
        title=label,
        subtitle=subtitle,
    )  # fmt: skip
