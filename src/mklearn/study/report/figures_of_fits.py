"""Figures of fitted methods: kernel weights, confused classes, objective, embedding, predicted numbers."""

from __future__ import annotations

from typing import Any

import pandas as pd

from mklearn.study.report import charts
from mklearn.study.report.charts import Chart, field, tooltip
from mklearn.study.report.series import Series
from mklearn.study.report.wording import percent

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
    """Draw the weight of each kernel (column) in each repeat (row), and their mean; ``domain`` is that of the axis.

    The dashed line is the uniform weight, where the weights are non-negative and sum to one.
    """
    order = [str(kernel) for kernel in weights]
    each = weights.melt(ignore_index=False, var_name="kernel", value_name="weight").rename_axis("repeat")
    mean = weights.mean().rename("weight").rename_axis("kernel")
    tips = tooltip(("k:N", "kernel"), ("r:Q", "split"), ("x:Q", "weight", ".3f"))
    ticks = {"mark": {"type": "tick", "thickness": 1.5, "size": 14, "opacity": 0.55}, "encoding": {"tooltip": tips}}
    centre = {
        "data": {"values": charts.rows_of(mean.reset_index().assign(s=label), s="s", k="kernel", x="weight")},
        "mark": {"type": "point", "filled": True, "size": 60},
        "encoding": {"tooltip": tooltip(("k:N", "kernel"), ("x:Q", "mean", ".3f"))},
    }
    uniform = len(order) > 1 and each["weight"].min() >= -1e-9 and (abs(weights.sum(axis=1) - 1) < 1e-6).all()
    return charts.chart(
        *([charts.vertical_rule(1 / len(order))] if uniform else []),
        ticks,
        centre,
        rows=charts.rows_of(each.reset_index().assign(s=label), s="s", k="kernel", x="weight", r="repeat"),
        encoding={
            "x": field("x:Q", title="kernel weight", scale={"domain": list(domain)}, axis={"tickCount": 5}),
            "y": charts.names("k:N", order),
            "color": charts.colour(series),
        },
        height=24 * len(order),
        title=label,
    )


def confusion_map(counts: pd.DataFrame, series: Series, *, label: str) -> Chart:
    """Draw the share of the test samples of each true class (row) by predicted class (column), where there are any."""
    classes = list(counts.index)
    stacked: Any = counts.rename_axis(index="row", columns="column").stack()
    cells = stacked[stacked > 0].rename("n").reset_index()
    cells = cells.assign(s=label, of=cells["row"].map(counts.sum(axis=1)))
    cells["share"] = cells["n"] / cells["of"]
    cells["text"] = [percent(share, 0) if share >= 0.005 else "<1" for share in cells["share"]]
    columns = {name: name for name in ("s", "row", "column", "n", "of", "share", "text")}
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
        box, text, rows=charts.rows_of(cells, **columns), encoding=encoding, height=26 * len(classes), title=label,
        subtitle="% of each true class (row)",
    )  # fmt: skip
    return grid | {"view": {"stroke": "#88888866"}}


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
    try:
        return (0, float(text), "")
    except ValueError:
        return (1, 0.0, text)


def predicted_against_true(rows: pd.DataFrame, series: Series, *, label: str) -> Chart:
    """Draw the predicted number of each sample against the true one: ``sample, true, predicted``."""
    ends = rows[["true", "predicted"]].min().min(), rows[["true", "predicted"]].max().max()
    equal = {
        "data": {"values": [{"x": float(end), "y": float(end)} for end in ends]},
        "mark": {"type": "line", "strokeDash": [4, 3], "strokeWidth": 1, "color": "#888888", "aria": False},
        "encoding": {"color": None, "tooltip": None},
    }
    axis: dict[str, Any] = {"scale": {"zero": False, "nice": False, "padding": 8}, "axis": {"tickCount": 6}}
    return charts.chart(
        equal,
        {"mark": {"type": "point", "filled": True, "size": 36, "opacity": 0.7}},
        rows=charts.rows_of(rows.assign(s=label), s="s", i="sample", x="true", y="predicted"),
        encoding={
            "x": field("x:Q", title="true", **axis),
            "y": field("y:Q", title="predicted", **axis),
            "color": charts.colour(series),
            "tooltip": tooltip(("i:N", "sample"), ("x:Q", "true", ".4~g"), ("y:Q", "predicted", ".4~g")),
        },
        height=280,
        title=label,
        subtitle="predicted against true",
    )
