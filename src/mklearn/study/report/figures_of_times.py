"""Figures of training times, and of the accuracy that they buy."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import pandas as pd

from mklearn.study.report import charts
from mklearn.study.report.charts import Chart, field, tooltip
from mklearn.study.report.figures import ACCURACY, training_sizes
from mklearn.study.report.series import Series

SECONDS = {"scale": {"type": "log", "nice": False}, "axis": {"format": "~g", "tickCount": 5}}
LABEL_LINE = 15
"""Height in pixels of a line with a name above a plot."""
PLOT = 180
"""Height in pixels of the plot below the names."""


def accuracy_by_time(rows: pd.DataFrame, series: Series, *, labels: Sequence[str], title: str) -> Chart:
    """Draw the accuracy of each method, with its 95 % interval, against the median time of a fit.

    ``rows`` are those of :func:`mklearn.study.report.accuracy_for_time.accuracy_for_time`. The names ``labels`` stand
    above the points, in a line of their own each, so that they never overlap.
    """
    frame = charts.in_percent(rows, "mean", "ci_low", "ci_high", "difference")
    room = LABEL_LINE * len(labels) + 10
    y = ACCURACY | {"scale": {"zero": False, "range": [room + PLOT, room]}}
    interval = {
        "transform": [{"filter": "isValid(datum.low) && isValid(datum.high)"}],
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {"y": y | {"field": "low"}, "y2": {"field": "high"}, "opacity": charts.highlight(0.45)},
    }
    dots = {
        "mark": {"type": "point", "filled": True, "size": 80},
        "encoding": {
            "y": y,
            "shape": field("s:N", scale={"domain": list(series.labels), "range": series.shapes()}, legend=None),
            "opacity": charts.highlight(),
            "tooltip": tooltip(
                ("s:N", "method"),
                ("y:Q", "accuracy, %", ".1f"),
                ("low:Q", "from", ".1f"),
                ("high:Q", "to", ".1f"),
                ("d:Q", "difference to the reference, points", "+.1f"),
                ("x:Q", "processor seconds of a fit", ".3g"),
                ("r:Q", "time in units of the reference's", ".2~r"),
            ),
        },
    }
    values = charts.rows_of(
        frame, s="label", x="seconds", y="mean", low="ci_low", high="ci_high", d="difference", r="ratio"
    )
    # vertical lines of the grid would not end where the plot does, below the names
    scale, axis = SECONDS["scale"] | {"padding": 16}, SECONDS["axis"] | {"grid": False}
    x = field("x:Q", title="processor seconds of a fit", scale=scale, axis=axis)
    return charts.chart(
        *_labels_above(values, labels, y),
        *([interval] if frame["ci_low"].notna().any() else []),  # a single split has none
        dots,
        rows=values,
        encoding={"x": x, "color": charts.colour(series)},
        height=room + PLOT,
        title=title,
        subtitle="accuracy, %, against training time",
    )


def _labels_above(values: Sequence[Chart], labels: Sequence[str], y: Chart) -> Iterator[Chart]:
    """Yield names in lines above the plot, each with a dotted line down to its point.

    Names to the left of the middle start at their point, from the leftmost down; those to the right end there, from the
    rightmost down: so none is crossed by the line of a name above on its side.
    """
    seconds = [row["x"] for row in values]
    middle = math.sqrt(min(seconds) * max(seconds))
    shown = sorted((row for row in values if row["s"] in labels), key=lambda row: float(row["x"]))
    left, right = ([row for row in shown if (row["x"] <= middle) == side] for side in (True, False))
    for number, row in enumerate([*left, *reversed(right)]):
        line, data = LABEL_LINE * (number + 0.5), {"values": [row]}
        side = {"align": "left", "dx": 4} if number < len(left) else {"align": "right", "dx": -4}
        yield {
            "data": data,
            "mark": {"type": "rule", "strokeWidth": 1, "strokeDash": [2, 3], "aria": False},
            "encoding": {"y": y, "y2": {"value": line}, "color": None, "opacity": charts.highlight(0.8)},
        }
        yield {
            "data": data,
            "mark": {"type": "text", "baseline": "middle", **side},
            "encoding": {"y": {"value": line}, "text": field("s:N"), "color": None, "opacity": charts.highlight()},
        }


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
