"""Figures of scores: accuracies, differences and published values. A small frame in, a Vega-Lite chart out."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import pandas as pd

from mklearn.study.evaluation.metrics.metric import Metric
from mklearn.study.evaluation.reproduction import REPRODUCED
from mklearn.study.report import charts
from mklearn.study.report.charts import Chart, field, tooltip
from mklearn.study.report.series import SHAPES, Series
from mklearn.study.report.wording import change, enumeration, plural

ACCURACY = field("y:Q", scale={"zero": False}, axis={"tickCount": 6})
"""Vertical axis of accuracies in percent; the figure's subtitle is its title."""
REACH = 3
"""How far behind the reference a difference is drawn, in gains that matter."""
MOST_CONTENDERS = 10
"""Up to this many methods are drawn with their difference to the reference."""


def differences(
    summary: pd.DataFrame, series: Series, *, reference_title: str, title: str, metric: Metric, matters: float
) -> Chart:
    """Draw the paired difference of each method to the reference, with its 95 % interval.

    ``summary`` has the inner-CV rows of one setting without those of the reference. Methods that lie more than
    ``REACH`` gains that matter behind the reference are counted below the title, so that the others can be told apart.
    """
    known = summary.dropna(subset=["difference"]).sort_values("difference", ascending=not metric.larger_is_better)
    near = _contenders(known, REACH * matters if metric.in_percent else math.inf, metric.larger_is_better)
    rows, behind = known[near], known[~near]
    frame = charts.in_unit(metric, rows, "difference", "difference_low", "difference_high")
    unit, digits = ("percentage points", "+.1f") if metric.in_percent else ("difference", "+.3~f")
    x: dict[str, Any] = {"title": unit, "scale": {"padding": 8}, "axis": {"tickCount": 6}}
    interval = {
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {"x": field("low:Q", **x), "x2": {"field": "high"}},
    }
    dot = {"mark": {"type": "point", "filled": True, "size": 64}, "encoding": {"x": field("x:Q", **x)}}
    return charts.chart(
        charts.vertical_rule(0),
        *([interval] if frame["difference_low"].notna().any() else []),
        dot,
        rows=charts.rows_of(frame, s="label", x="difference", low="difference_low", high="difference_high"),
        encoding={
            "y": charts.names("s:N", list(frame["label"])),
            "color": charts.colour(series),
            "opacity": charts.highlight(),
            "tooltip": tooltip(
                ("s:N", "method"),
                ("x:Q", "difference, points" if metric.in_percent else "difference", digits),
                ("low:Q", "from", digits),
                ("high:Q", "to", digits),
            ),
        },
        height=22 * len(frame),
        title=title,
        subtitle=[f"difference to {reference_title}", *([_not_drawn(behind, metric)] if len(behind) else [])],
    )


def _contenders(rows: pd.DataFrame, reach: float, larger_is_better: bool) -> pd.Series:
    """Tell whether the interval of a row comes within ``reach`` of the reference; all do where none does.

    Of sorted rows; of many, the first ``MOST_CONTENDERS``.
    """
    end, sign = ("difference_high", 1) if larger_is_better else ("difference_low", -1)
    near = (sign * rows[end].fillna(rows["difference"])).ge(-reach)
    near = near if near.any() else ~near
    return near & near.cumsum().le(MOST_CONTENDERS)


def _not_drawn(rows: pd.DataFrame, metric: Metric) -> str:
    nearest, farthest = (change(rows["difference"].iloc[place], metric.in_percent) for place in (0, -1))
    reached = nearest if nearest == farthest else f"{nearest} to {farthest}"
    return f"not drawn: {plural(len(rows), 'method')} at {reached}{' points' if metric.in_percent else ''}"


def accuracy_by_dimension(
    curves: pd.DataFrame, series: Series, *, title: str, metric: Metric, level: Sequence[str] = ()
) -> Chart:
    """Draw mean accuracy at each dimension; a ring marks the best dimension of each curve.

    ``curves`` are those of :func:`mklearn.study.report.frames.curves`. Methods without a dimension are dotted lines.
    Methods that are ``level`` with the majority class are named below the title.
    """
    drawn, note = _without(curves, level)
    sweep, flat = drawn[drawn["dimension"].notna()], drawn[drawn["dimension"].isna()]
    flat = charts.in_unit(metric, flat, "mean")
    many = sweep["dimension"].max() > 150 * sweep["dimension"].min()
    scale = {"type": "log", "nice": False} if many else {"zero": False, "nice": False}
    best = {
        "transform": [{"filter": "datum.best"}],
        "mark": {"type": "point", "size": 55, "strokeWidth": 2},
        "encoding": {"y": ACCURACY, "opacity": charts.highlight(), "strokeDash": {"value": [1, 0]}},
    }
    fixed = {
        "data": {"values": charts.rows_of(flat, s="label", y="mean")},
        "mark": {"type": "rule", "strokeWidth": 2, "strokeCap": "round"},
        "encoding": {"x": None, "y": ACCURACY, "opacity": charts.highlight(), "strokeDash": {"value": [1, 4]}},
    }
    x = field("x:Q", title="dimension", scale=scale, axis={"format": "d", "tickMinStep": 1})
    layers = [best, fixed] if len(flat) else [best]
    return lines(sweep, series, "dimension", x, *layers, title=title, metric=metric, note=note)


def accuracy_by_train_size(
    summary: pd.DataFrame, series: Series, *, title: str, metric: Metric, level: Sequence[str] = ()
) -> Chart:
    """Draw accuracy by inner cross-validation against the training size, for the inner-CV rows of one data set."""
    rows, note = _without(summary, level)
    values = sorted({int(size) for size in rows["train_size"]})
    scale, axis = {"zero": False, "nice": False, "padding": 10}, {"format": "d", "values": values}
    x = field("x:Q", title="training size", scale=scale, axis=axis)
    return lines(rows, series, "train_size", x, title=title, metric=metric, note=note)


def _without(rows: pd.DataFrame, level: Sequence[str]) -> tuple[pd.DataFrame, str]:
    """Leave out methods that would stretch the axis, and name them; none if no other is left."""
    left_out = rows["label"].isin(level)
    if left_out.all() or not left_out.any():
        return rows, ""
    names = list(dict.fromkeys(rows["label"][left_out]))
    return rows[~left_out], f"not drawn, as not above the majority class: {enumeration(names)}"


def lines(
    frame: pd.DataFrame, series: Series, column: str, x: Chart, *layers: Chart, title: str, metric: Metric,
    note: str = "",
) -> Chart:  # fmt: skip
    """Draw accuracy against a column, a line for each series, with a band of one standard deviation.

    The band is fainter the more there are; when series are highlighted the others have none.
    """
    spread = frame["std"].fillna(0.0)
    high = (frame["mean"] + spread).clip(upper=metric.bounds[1])
    rows = charts.rows_of(
        charts.in_unit(metric, frame.assign(low=frame["mean"] - spread, high=high), "mean", "std", "low", "high"),
        s="label", x=column, y="mean", std="std", low="low", high="high",
        **({"best": "best"} if "best" in frame else {}),
    )  # fmt: skip
    plain = min(0.13, max(0.03, 0.7 / max(frame["label"].nunique(), 1)))
    faint = [{"test": "!length(focus)", "value": plain}, {"test": charts.FOCUSED, "value": 0.16}]
    band = {
        "mark": "area",
        "encoding": {
            "y": ACCURACY | {"field": "low"},
            "y2": {"field": "high"},
            "strokeDash": None,
            "fillOpacity": {"condition": faint, "value": 0},
        },
    }
    line = {"mark": {"type": "line", "strokeWidth": 2}, "encoding": {"y": ACCURACY, "opacity": charts.highlight()}}
    unit = ", %" if metric.in_percent else ""
    tips = tooltip(
        ("s:N", "method"), ("x:Q", x["title"]), ("y:Q", f"mean accuracy{unit}", ".2f"), ("std:Q", "std", ".2f")
    )
    touch = {
        "name": charts.TOUCH,
        "mark": {"type": "point", "size": 120, "filled": True, "opacity": 0},
        "encoding": {"y": ACCURACY, "tooltip": tips},
    }
    encoding = {"x": x, "color": charts.colour(series), "strokeDash": charts.dash(series)}
    return charts.chart(
        band, line, *layers, touch, rows=rows, encoding=encoding, height=300, title=title,
        subtitle=[f"accuracy{unit}", *([note] if note else [])],
    )  # fmt: skip


def split_noise_scores(cells: pd.DataFrame, *, noise: float, title: str) -> Chart:
    """Draw z of each method and training size, with the band of ``noise`` units that other random splits explain.

    ``cells`` are those of one data set that have a z, see :mod:`mklearn.study.evaluation.reproduction`.
    """
    frame = charts.in_percent(cells, "mean", "published").assign(
        size=["all" if pd.isna(size) else f"training size {int(size)}" for size in cells["train_size"]],
        off=cells["verdict"] != REPRODUCED,
    )
    methods, sizes = (list(dict.fromkeys(frame[name])) for name in ("label", "size"))
    band = {
        "data": {"values": [{}]},
        "mark": {"type": "rect", "opacity": 0.13, "color": "#888888", "aria": False},
        "encoding": {"x": {"datum": -noise}, "x2": {"datum": noise}},
    }
    shapes = {"domain": sizes, "range": [SHAPES[place % len(SHAPES)] for place in range(len(sizes))]}
    legend = {"orient": "top", "columns": 2, "symbolFillColor": "gray", "symbolStrokeColor": "gray", "offset": 4}
    x = field("z:Q", title="z, right of the band: ours is lower", scale={"padding": 10, "nice": False})
    dots = {
        "mark": {"type": "point", "filled": True, "size": 64},
        "encoding": {
            "x": x,
            "y": charts.names("m:N", methods),
            "yOffset": field("size:N", sort=sizes),
            "color": field("off:N", scale={"domain": [False, True], "range": "diverging"}, legend=None),
            "shape": field("size:N", scale=shapes, legend=legend),
            "tooltip": tooltip(
                ("m:N", "method"),
                ("size:N", "cell"),
                ("ours:Q", "ours, %", ".2f"),
                ("theirs:Q", "published, %", ".2f"),
                ("z:Q", "z", "+.2f"),
                ("verdict:N", "verdict"),
            ),
        },
    }
    return charts.chart(
        band,
        charts.vertical_rule(0),
        dots,
        rows=charts.rows_of(
            frame, m="label", size="size", z="z", off="off", verdict="verdict", ours="mean", theirs="published"
        ),
        encoding={},
        height=len(methods) * (12 + 11 * len(sizes)),
        title=title,
        subtitle=f"published − ours in units of split noise; band: ±{noise:g}",
    )
