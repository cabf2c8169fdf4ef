"""Figures of training times."""

from __future__ import annotations

import pandas as pd

from mklearn.study.report import charts
from mklearn.study.report.charts import Chart, field, tooltip
from mklearn.study.report.figures import training_sizes
from mklearn.study.report.series import Series

SECONDS = {"scale": {"type": "log", "nice": False}, "axis": {"format": "~g", "tickCount": 5}}


def fit_time_by_train_size(times: pd.DataFrame, series: Series, *, title: str) -> Chart:
    """Draw the median processor seconds of a fit against the training size: ``label, train_size, seconds``."""
    median = times.groupby(["label", "train_size"], sort=False)["seconds"].median().reset_index()
    return charts.chart(
        {"mark": {"type": "line", "strokeWidth": 2}},
        {"mark": {"type": "point", "filled": True, "size": 50}},
        rows=charts.rows_of(median, s="label", x="train_size", y="seconds"),
        encoding={
            "x": training_sizes(median),
            "y": field("y:Q", **SECONDS),
            "color": charts.colour(series),
            "strokeDash": charts.dash(series),
            "opacity": charts.highlight(),
            "tooltip": tooltip(("s:N", "method"), ("x:Q", "training size"), ("y:Q", "median seconds", ".3g")),
        },
        height=300,
        title=title,
        subtitle="median processor seconds for one fit",
    )


def fit_times(times: pd.DataFrame, series: Series, *, title: str) -> Chart:
    """Draw the processor seconds of each fit, and their median."""
    median = times.groupby("label", sort=False)["seconds"].median().sort_values().reset_index()
    middle = {
        "data": {"values": charts.rows_of(median, s="label", x="seconds")},
        "mark": {"type": "tick", "thickness": 3, "size": 16},
        "encoding": {
            "opacity": charts.highlight(),
            "tooltip": tooltip(("s:N", "method"), ("x:Q", "median seconds", ".3g")),
        },
    }
    return charts.chart(
        {"mark": {"type": "point", "size": 30, "strokeWidth": 1.2}, "encoding": {"opacity": charts.highlight(0.6)}},
        middle,
        rows=charts.rows_of(times, s="label", x="seconds"),
        encoding={
            "x": field("x:Q", **SECONDS | {"title": "processor seconds for one fit"}),
            "y": charts.names("s:N", list(median["label"])),
            "color": charts.colour(series),
        },
        height=24 * max(len(median), 1),
        title=title,
    )
