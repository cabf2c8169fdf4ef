"""Figures of fitted methods: kernel weights, picked kernels, confused classes, objective, embedding, kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd

from mklearn.study.report import charts
from mklearn.study.report.charts import Chart, field, tooltip
from mklearn.study.report.confusion import EXTREMES, Confusion
from mklearn.study.report.series import Series
from mklearn.study.report.wording import common_prefix, percent

MAX_NAMED_CLASSES = 12
STEPS = {
    "A": "after the projection",
    "a": "after the projection",
    "beta": "after the kernel weights",
    "theta": "after the kernel weights",
    "machine": "after the support vector machine",
}
"""What an alternation has just solved for, by the step's name."""
LEAST_DISTANCE = 1e-9
"""Relative distances from the optimum below this are rounding."""


def kernel_weights(weights: pd.DataFrame, series: Series, *, label: str, domain: tuple[float, float]) -> Chart:
    """Draw the weight of each kernel in each repeat, and their mean; ``domain`` is that of the axis.

    The dashed line is the uniform weight, where the weights are non-negative and sum to one.
    """
    order = list(dict.fromkeys(weights["kernel"]))
    mean = weights.groupby("kernel", sort=False)["weight"].mean().reset_index().assign(s=label)
    tips = tooltip(("k:N", "kernel"), ("r:Q", "split"), ("x:Q", "weight", ".3f"))
    each = {"mark": {"type": "tick", "thickness": 1.5, "size": 14, "opacity": 0.55}, "encoding": {"tooltip": tips}}
    centre = {
        "data": {"values": charts.rows_of(mean, s="s", k="kernel", x="weight")},
        "mark": {"type": "point", "filled": True, "size": 60},
        "encoding": {"tooltip": tooltip(("k:N", "kernel"), ("x:Q", "mean", ".3f"))},
    }
    sums = weights.groupby("repeat")["weight"].sum()
    uniform = len(order) > 1 and weights["weight"].min() >= -1e-9 and (abs(sums - 1) < 1e-6).all()
    return charts.chart(
        *([charts.vertical_rule(1 / len(order))] if uniform else []),
        each,
        centre,
        rows=charts.rows_of(weights.assign(s=label), s="s", k="kernel", x="weight", r="repeat"),
        encoding={
            "x": field("x:Q", title="kernel weight", scale={"domain": list(domain)}, axis={"tickCount": 5}),
            "y": charts.names("k:N", order),
            "color": charts.colour(series),
        },
        height=24 * len(order),
        title=label,
    )


def confusion_map(found: Confusion, series: Series) -> Chart:
    """Draw the share of the test samples of each true class (row) by predicted class (column), where there are any."""
    rates, classes = found.rates, list(found.classes)
    rows = [
        {
            "s": found.label,
            "row": classes[i],
            "column": classes[j],
            "n": int(found.counts[i, j]),
            "of": int(found.totals[i]),
            "share": round(float(rates[i, j]), 4),
            "text": percent(rates[i, j], 0) if rates[i, j] >= 0.005 else "<1",
        }
        for i, j in np.argwhere(found.counts > 0)
    ]
    # shades go with the square root of the share, so that small ones can be seen
    shade = {"type": "sqrt", "domain": [0, 1], "range": [0.04, 0.6]}
    box = {
        "mark": {"type": "rect", "stroke": "#88888833"},
        "encoding": {"color": charts.colour(series), "opacity": field("share:Q", scale=shade, legend=None)},
    }
    slanted = {"labelAngle": -40, "grid": False, "labelOverlap": False, "labelLimit": 90}
    encoding = {
        "x": field("column:N", scale={"domain": classes}, title="predicted class", axis=slanted),
        "y": field("row:N", scale={"domain": classes}, axis={"grid": False}),
        "tooltip": tooltip(
            ("row:N", "true class"),
            ("column:N", "predicted class"),
            ("share:Q", "share", ".1%"),
            ("n:Q", "number"),
            ("of:Q", "of"),
        ),
    }
    text = {"mark": {"type": "text", "fontSize": 10}, "encoding": {"text": field("text:N")}}
    grid = charts.chart(
        box, text, rows=rows, encoding=encoding, height=26 * len(classes), title=found.label,
        subtitle="% of each true class (row)",
    )  # fmt: skip
    return grid | {"view": {"stroke": "#88888866"}}


def reliability(bins: pd.DataFrame, series: Series, *, title: str) -> Chart:
    """Draw the share of predictions that is right against their mean probability, a line for each series.

    ``bins`` are those of `mklearn.study.report.frames.calibration`, with ``label``. Dots are larger the more
    predictions there are, relative to the largest bin of the series.
    """
    frame = charts.in_percent(bins, "probability", "right", "low", "high")
    frame["share"] = frame["n"] / frame.groupby("label")["n"].transform("max")
    lowest = float(frame[["probability", "right"]].min().min())
    scale = {"domain": [lowest, 100.0], "nice": False, "padding": 8}
    x = field("x:Q", title="mean probability of the predicted class, %", scale=scale, axis={"tickCount": 6})
    y = field("y:Q", scale=scale, axis={"tickCount": 6})
    equal = {
        "data": {"values": [{"x": end, "y": end} for end in (lowest, 100.0)]},
        "mark": {"type": "line", "strokeDash": [4, 3], "strokeWidth": 1, "color": "#888888", "aria": False},
        "encoding": {"color": None, "strokeDash": None, "opacity": None, "tooltip": None},
    }
    dots = {
        "mark": {"type": "point", "filled": True},
        "encoding": {
            "size": field("share:Q", scale={"type": "linear", "domain": [0, 1], "range": [12, 260]}, legend=None),
            "strokeDash": None,
        },
    }
    tips = tooltip(
        ("s:N", "method"), ("low:Q", "probability from, %", ".0f"), ("high:Q", "to, %", ".0f"),
        ("x:Q", "mean, %", ".1f"), ("y:Q", "right, %", ".1f"), ("n:Q", "predictions", ",d"),
    )  # fmt: skip
    rows = charts.rows_of(frame, s="label", x="probability", y="right", n="n", share="share", low="low", high="high")
    look = {"color": charts.colour(series), "strokeDash": charts.dash(series), "opacity": charts.highlight(0.85)}
    line = {"mark": {"type": "line", "strokeWidth": 1.5}}
    return charts.chart(
        equal,
        line,
        dots,
        rows=rows,
        encoding={"x": x, "y": y, "tooltip": tips, **look},
        height=300,
        title=title,
        subtitle="share that is right, %",
    )


def extreme_classes(accuracies: pd.DataFrame, series: Series, *, title: str) -> Chart:
    """Draw the accuracy of the best and worst classes: dots, and larger rings for the method to compare with.

    ``accuracies`` are those of `mklearn.study.report.confusion.class_accuracies`.
    """
    last = int(accuracies["rank"].max())
    ends = accuracies[(accuracies["rank"] <= EXTREMES) | (accuracies["rank"] > last - EXTREMES)]
    frame, labels = charts.in_percent(ends, "accuracy"), list(dict.fromkeys(ends["label"]))
    spans = frame.groupby("c", sort=False)["accuracy"].agg(["min", "max"]).reset_index()
    tie = {
        "data": {"values": charts.rows_of(spans, c="c", low="min", high="max")},
        "mark": {"type": "rule", "opacity": 0.45},
        "encoding": {"x": field("low:Q"), "x2": {"field": "high"}},
    }
    x = field("x:Q", title="accuracy, %", scale={"domain": [0, 100], "padding": 6}, axis={"tickCount": 6})
    tips = tooltip(("c:N", "class"), ("s:N", "method"), ("x:Q", "accuracy, %", ".1f"), ("n:Q", "test samples"))
    marks = {
        "encoding": {"x": x, "color": charts.colour(series), "opacity": charts.highlight(), "tooltip": tips},
        "layer": [
            {"transform": [{"filter": "datum.other"}], "mark": {"type": "point", "size": 60, "strokeWidth": 1.6}},
            {"transform": [{"filter": "!datum.other"}], "mark": {"type": "point", "size": 34, "filled": True}},
        ],
    }
    # colours alone would not tell the methods apart
    key = [f"{mark} {label}" for mark, label in zip("●○", labels, strict=False)]
    return charts.chart(
        tie,
        marks,
        rows=charts.rows_of(
            frame.assign(other=frame["label"].ne(labels[0])), s="label", c="c", x="accuracy", n="total", other="other"
        ),
        encoding={"y": charts.names("c:N", list(spans["c"]))},
        height=18 * len(spans),
        title=title,
        subtitle=[f"the {EXTREMES} best and the {EXTREMES} worst recognised classes", *key],
    )


def objective(history: pd.DataFrame, series: Series, *, title: str) -> Chart:
    """Draw the objective after each step of an alternating method, a line per split, with its lower bound.

    Where the optimum is known, the distance from it is drawn instead. ``history`` is that of
    `mklearn.study.report.records.FitRecord`, with the ``label`` of the method; with the optimum, of several methods.
    """
    frame = history.assign(split=[f"{row.repeat}, fold {row.fold}" for row in history.itertuples()])
    known = bool(frame["optimum"].notna().all())
    what = "distance from the optimum, (F − F*) / F*" if known else "objective"
    if known:
        frame["value"] = (frame["value"] / frame["optimum"] - 1).clip(lower=LEAST_DISTANCE)
    finite = frame["value"].dropna()
    wide = len(finite) > 0 and finite.min() > 0 and finite.max() / finite.min() > 10
    y = field("y:Q", scale={"type": "log"} if wide else {"zero": False}, axis={"format": "~g", "tickCount": 5})
    steps = [step for step in STEPS if step in set(frame["step"])]
    legend = {"orient": "top", "symbolFillColor": "gray", "symbolStrokeColor": "gray", "offset": 4}
    kinds = {"scale": {"domain": [STEPS[step] for step in steps], "range": ["circle", "square"]}}
    name = "half step" if len(steps) > 1 else "step"
    dots = {
        "mark": {"type": "point", "size": 30, "filled": True},
        "encoding": {
            "y": y,
            "opacity": charts.highlight(0.9),
            "shape": field("step:N", **kinds, legend=legend if len(steps) > 1 else None),
            "tooltip": tooltip(
                ("s:N", "method"),
                ("r:N", "split"),
                ("x:Q", name),
                ("y:Q", what, ".4g"),
                *([] if known else [("bound:Q", "lower bound", ".4g")]),
            ),
        },
    }
    bound = {
        "transform": [{"filter": "isValid(datum.bound)" + (" && datum.bound > 0" if wide else "")}],
        "mark": {"type": "tick", "thickness": 1.5, "size": 12, "orient": "horizontal"},
        "encoding": {"y": y | {"field": "bound"}, "color": {"value": "#888888"}},
    }
    return charts.chart(
        {"mark": {"type": "line", "strokeWidth": 1.25}, "encoding": {"y": y, "opacity": charts.highlight(0.55)}},
        dots,
        bound,
        rows=charts.rows_of(
            frame.replace({"step": STEPS}), s="label", r="split", x="half_step", step="step", y="value", bound="bound"
        ),
        encoding={
            "x": field("x:Q", title=name, axis={"format": "d", "tickMinStep": 1, "tickCount": 8}),
            "color": charts.colour(series),
            "detail": field("r:N"),
        },
        height=240,
        title=title,
        subtitle=what,
    )


def embedding(points: pd.DataFrame, *, label: str) -> Chart:
    """Draw the first two dimensions of one repeat by class; up to twelve classes are named at their median.

    Rings are training samples, dots test samples. A class is highlighted under the pointer. Of an embedding in one
    dimension, whose second one is 0, each class has a row.
    """
    classes = sorted(set(points["label"]), key=_natural)
    colour = field("c:N", scale=charts.class_scale(classes), legend=None)
    param, opacity = charts.pointer("c:N")
    marks: Chart = {
        "params": [param],
        "mark": {"type": "point", "size": 30, "strokeWidth": 1.3},
        "encoding": {
            "color": colour,
            "fill": colour,
            "fillOpacity": {"condition": {"test": "datum.role == 'test'", "value": 0.75}, "value": 0},
            "opacity": opacity,
            "tooltip": tooltip(("c:N", "class"), ("role:N", "role")),
        },
    }
    place: dict[str, Any] = {"scale": {"zero": False}, "axis": {"labels": False, "grid": False}}
    x = field("x:Q", title="first dimension", **place)
    if points["y"].eq(0).all():
        return _rows_of_classes(points, classes, marks, x, label)
    tested = points[points["role"].eq("test")]
    middle = (tested if len(tested) else points).groupby("label")[["x", "y"]].median().reset_index()
    names: Chart = {
        "data": {"values": charts.rows_of(middle, x="x", y="y", c="label")},
        "mark": {"type": "text", "fontSize": 13, "fontWeight": 700, "dy": -11},
        "encoding": {"text": field("c:N")},
    }
    plot = charts.chart(
        marks,
        *([names] if len(classes) <= MAX_NAMED_CLASSES else []),
        rows=charts.rows_of(points, x="x", y="y", c="label", role="role"),
        encoding={"x": x, "y": field("y:Q", **place)},
        height=320,
        title=label,
        subtitle="second dimension",
    )
    return plot | {"view": {"stroke": "#88888866"}}


def _rows_of_classes(points: pd.DataFrame, classes: list[str], marks: Chart, x: Chart, label: str) -> Chart:
    """Draw an embedding in one dimension: a row for each class, training samples above test samples."""
    return charts.chart(
        marks,
        rows=charts.rows_of(points, x="x", c="label", role="role"),
        encoding={"x": x, "y": charts.names("c:N", classes), "yOffset": field("role:N", sort=["train", "test"])},
        height=40 * len(classes),
        title=label,
        subtitle="the only dimension",
    )


def _natural(text: str) -> tuple[int, float, str]:
    """Return the sorting key of a class label: numbers sort as numbers, before other labels."""
    try:
        return (0, float(text), "")
    except ValueError:
        return (1, 0.0, text)


def off_diagonal_mass(info: pd.DataFrame, *, threshold: float) -> Chart:
    """Draw the off-diagonal mass of each kernel; below the dashed line a kernel is close to the identity."""
    bar = {
        "mark": {"type": "bar", "height": 10, "cornerRadiusEnd": 3},
        "encoding": {
            "color": field("low:N", scale={"domain": [False, True], "range": "diverging"}, legend=None),
            "tooltip": tooltip(("k:N", "kernel"), ("x:Q", "off-diagonal mass", ".3f")),
        },
    }
    frame = info.assign(low=info["off_diagonal_mass"] < threshold)
    return charts.chart(
        bar,
        charts.vertical_rule(threshold),
        rows=charts.rows_of(frame, k="kernel", x="off_diagonal_mass", low="low"),
        encoding={
            "x": field("x:Q", scale={"domain": [0, 1]}, axis={"tickCount": 5}),
            "y": charts.names("k:N", list(info["kernel"])),
        },
        height=24 * len(info),
        title="Off-diagonal mass",
    )


def kernel_spectra(curves: pd.DataFrame) -> Chart:
    """Draw eigenvalues against their rank, a line per kernel; negative ones are rings on a dotted line.

    ``curves`` are those of `mklearn.study.report.frames.spectra`. A kernel is highlighted under the pointer.
    """
    prefix = common_prefix(list(dict.fromkeys(curves["kernel"])))
    frame = curves.assign(
        kernel=[name.removeprefix(prefix) for name in curves["kernel"]],
        sign=["negative" if negative else "positive" for negative in curves["negative"]],
    )
    kernels = list(dict.fromkeys(frame["kernel"]))
    legend = {"orient": "bottom", "columns": 2, "labelLimit": 130, "symbolType": "stroke", "symbolSize": 250}
    legend |= {"title": f"kernel: {prefix}…" if prefix else None, "symbolOpacity": 1}
    colour = field("k:N", scale=charts.class_scale(kernels), legend=legend)
    param, opacity = charts.pointer("k:N")
    # a line for each sign, so that none is drawn from the last positive eigenvalue to the first negative one
    dash = field("sign:N", scale={"domain": ["positive", "negative"], "range": [[1, 0], [2, 3]]}, legend=None)
    line = {
        "mark": {"type": "line", "strokeWidth": 1.8},
        "encoding": {"color": colour, "opacity": opacity, "strokeDash": dash},
    }
    rings = {
        "transform": [{"filter": "datum.sign === 'negative'"}],
        "mark": {"type": "point", "size": 24, "strokeWidth": 1.3},
        "encoding": {"color": colour, "opacity": opacity},
    }
    touch = {
        "params": [param],
        "mark": {"type": "point", "size": 140, "filled": True, "opacity": 0},
        "encoding": {
            "tooltip": tooltip(
                ("k:N", "kernel"), ("x:Q", "rank"), ("y:Q", "share of the sum", ".2~e"), ("sign:N", "sign")
            )
        },
    }
    scale, negative = {"type": "log", "nice": False, "padding": 6}, frame["negative"].any()
    return charts.chart(
        line,
        *([rings] if negative else []),
        touch,
        rows=charts.rows_of(frame, k="kernel", x="rank", y="share", sign="sign"),
        encoding={
            "x": field("x:Q", title="rank", scale=scale, axis={"format": "~g", "tickCount": 6}),
            "y": field("y:Q", scale=scale, axis={"format": ".0e", "tickCount": 6}),
            "detail": field("k:N"),
        },
        height=240,
        title="Eigenvalues",
        subtitle="share of the sum of absolute eigenvalues" + ("; rings: negative" if negative else ""),
    )
