"""The figures, one function each: a small frame in, an Altair chart out.

Every chart names its fields itself (``s`` for the series, ``x``, ``y`` ...), so that names with dots, brackets or
quotes are only ever values.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import altair as alt
import numpy as np

from mklearn.report.canvas import (
    PAGE,
    Canvas,
    Chart,
    Store,
    band_opacity_of,
    colour_of,
    dash_of,
    finish,
    opacity_of,
    row_axis,
)
from mklearn.report.frames import plain_rows
from mklearn.report.series import Series
from mklearn.report.theme import hues
from mklearn.report.wording import in_order, rule_title

if TYPE_CHECKING:
    import pandas as pd

MAX_NAMED_CLASSES = 12
_FLOATING = alt.Scale(zero=False, nice=True)  # an axis that need not start at 0


def differences(summary: pd.DataFrame, series: Series, canvas: Canvas, *, reference_title: str, title: str) -> Chart:
    """Paired difference of each method to the reference, with its corrected resampled interval.

    Parameters
    ----------
    summary : DataFrame
        The ``inner_cv`` rows of one setting without those of the reference, with ``label``; in fractions.
    """
    store = Store()
    rows = summary.dropna(subset=["difference"]).sort_values("difference", ascending=False)
    frame = rows.assign(
        rule=[rule_title(rule) for rule in rows["neighbour"]],
        **{name: 100 * rows[name] for name in ("difference", "difference_low", "difference_high")},
    )
    order, rules = list(dict.fromkeys(frame["label"])), [rule_title(rule) for rule in in_order(frame["neighbour"])]
    columns = {"label": "s", "rule": "rule", "difference": "x", "difference_low": "low", "difference_high": "high"}
    base = alt.Chart(store.add(plain_rows(frame, columns))).encode(
        y=alt.Y("s:N", sort=order, title=None, axis=row_axis()),
        yOffset=alt.YOffset("rule:N", sort=rules),
        color=colour_of(series, PAGE),
        opacity=opacity_of(),
        tooltip=[
            alt.Tooltip("s:N", title="method"),
            alt.Tooltip("rule:N", title="rule"),
            alt.Tooltip("x:Q", title="difference, points", format="+.2f"),
            alt.Tooltip("low:Q", title="from", format="+.2f"),
            alt.Tooltip("high:Q", title="to", format="+.2f"),
        ],
    )
    zero = alt.Chart(store.add([{"x": 0}])).mark_rule(strokeDash=[4, 3]).encode(x="x:Q")
    scale, axis = alt.Scale(padding=8), alt.Axis(tickCount=6)
    x_title = "percentage points"
    interval = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("low:Q", title=x_title, scale=scale, axis=axis), x2="high:Q"
    )
    legend = alt.Legend(title=None, orient="top", symbolFillColor="gray", symbolStrokeColor="gray", offset=4)
    dot = base.mark_point(filled=True, size=64, opacity=1).encode(
        x=alt.X("x:Q", title=x_title, scale=scale, axis=axis),
        shape=alt.Shape(
            "rule:N",
            scale=alt.Scale(domain=rules, range=["circle", "square", "triangle-up"][: len(rules)]),
            legend=legend if len(rules) > 1 else None,
        ),
    )
    height = len(order) * (12 + 14 * len(rules))
    subtitle = f"difference to {reference_title}"
    return finish(alt.layer(zero, interval, dot), canvas, height, store, title=title, subtitle=subtitle)


def accuracy_by_dimension(curves: pd.DataFrame, series: Series, canvas: Canvas, *, neighbour: str) -> Chart:
    """Mean accuracy over repeats at each dimension with a band of one standard deviation.

    Parameters
    ----------
    curves : DataFrame
        From :func:`mklearn.report.frames.curves`. Methods without a dimension are horizontal lines.
    neighbour : str
        The rule to show; methods with a rule of their own are shown beside it.
    """
    store = Store()
    frame = curves.assign(**{name: 100 * curves[name] for name in ("mean", "std", "low", "high")})
    columns = {"label": "s", "mean": "y", "std": "std", "n": "n"}
    sweep = frame[frame["neighbour"].eq(neighbour) & frame["dimension"].notna()]
    flat = frame[frame["neighbour"].isin([neighbour, ""]) & frame["dimension"].isna()]
    moving = alt.Chart(
        store.add(plain_rows(sweep, columns | {"dimension": "q", "low": "low", "high": "high", "best": "best"}))
    )
    x = alt.X("q:Q", title="dimension", scale=_dimension_scale(sweep), axis=alt.Axis(format="d", tickMinStep=1))
    y = alt.Y("y:Q", title=None, scale=_FLOATING, axis=alt.Axis(tickCount=6))
    colour, dash = (encode(series, canvas, {*sweep["label"], *flat["label"]}) for encode in (colour_of, dash_of))
    tooltip = [
        alt.Tooltip("s:N", title="method"),
        alt.Tooltip("q:Q", title="dimension"),
        alt.Tooltip("y:Q", title="mean accuracy, %", format=".2f"),
        alt.Tooltip("std:Q", title="std", format=".2f"),
        alt.Tooltip("n:Q", title="repeats"),
    ]
    band = moving.mark_area().encode(
        x=x,
        y=alt.Y("low:Q", title=None, scale=_FLOATING, axis=alt.Axis(tickCount=6)),
        y2="high:Q",
        color=colour,
        opacity=band_opacity_of(sweep["label"].nunique()),
    )
    lines = moving.mark_line(strokeWidth=2).encode(x=x, y=y, color=colour, strokeDash=dash, opacity=opacity_of())
    best = (
        moving.transform_filter("datum.best")
        .mark_point(size=55, strokeWidth=2, filled=False)
        .encode(x=x, y=y, color=colour, opacity=opacity_of())
    )
    touch = moving.mark_point(size=120, opacity=0, filled=True).encode(x=x, y=y, tooltip=tooltip)
    layers: list[Chart] = [band, lines, best, touch]
    if len(flat):
        fixed = alt.Chart(store.add(plain_rows(flat, columns)))
        rule = fixed.mark_rule(strokeWidth=2, strokeDash=[1, 4], strokeCap="round")
        layers.insert(1, rule.encode(y=y, color=colour, opacity=opacity_of(), tooltip=[tooltip[0], *tooltip[2:]]))
    return finish(alt.layer(*layers), canvas, 300, store, title=rule_title(neighbour), subtitle="accuracy, %")


def accuracy_by_train_size(summary: pd.DataFrame, series: Series, canvas: Canvas, *, neighbour: str) -> Chart:
    """Accuracy at the dimension that inner cross-validation chose, against the training size, with a band of one std.

    Parameters
    ----------
    summary : DataFrame
        The ``inner_cv`` rows of one data set at several training sizes, with ``label``; in fractions.
    """
    store = Store()
    rows = summary[summary["neighbour"].isin([neighbour, ""])].dropna(subset=["mean", "train_size"])
    spread = rows["std"].fillna(0.0)
    frame = rows.assign(y=100 * rows["mean"], low=100 * (rows["mean"] - spread), high=100 * (rows["mean"] + spread))
    columns = {"label": "s", "train_size": "n", "y": "y", "low": "low", "high": "high"}
    chart = alt.Chart(store.add(plain_rows(frame, columns))).encode(
        x=alt.X(
            "n:Q",
            title="training size",
            scale=alt.Scale(zero=False, nice=False, padding=10),
            axis=alt.Axis(format="d", values=sorted({int(size) for size in frame["train_size"]})),
        ),
        color=colour_of(series, canvas, frame["label"]),
        tooltip=[
            alt.Tooltip("s:N", title="method"),
            alt.Tooltip("n:Q", title="training size"),
            alt.Tooltip("y:Q", title="accuracy, %", format=".2f"),
            alt.Tooltip("low:Q", title="minus one std", format=".2f"),
            alt.Tooltip("high:Q", title="plus one std", format=".2f"),
        ],
    )
    axis = alt.Axis(tickCount=6)
    faint = band_opacity_of(frame["label"].nunique())
    band = chart.mark_area().encode(
        y=alt.Y("low:Q", title=None, scale=_FLOATING, axis=axis), y2="high:Q", opacity=faint
    )
    y = alt.Y("y:Q", title=None, scale=_FLOATING, axis=axis)
    lines = chart.mark_line(strokeWidth=2).encode(
        y=y, strokeDash=dash_of(series, canvas, frame["label"]), opacity=opacity_of()
    )
    dots = chart.mark_point(filled=True, size=50).encode(y=y, opacity=opacity_of())
    layers = alt.layer(band, lines, dots)
    return finish(layers, canvas, 300, store, title=rule_title(neighbour), subtitle="accuracy, %")


def fit_time_by_train_size(times: pd.DataFrame, series: Series, canvas: Canvas, *, title: str) -> Chart:
    """Median seconds of a fit against the training size, on a logarithmic scale.

    Parameters
    ----------
    times : DataFrame
        ``label, train_size, seconds``, one row for each fit.
    """
    store = Store()
    frame = times.assign(seconds=times["seconds"].clip(lower=1e-4))
    median = frame.groupby(["label", "train_size"], sort=False)["seconds"].median().reset_index()
    low, high = float(median["seconds"].min()) / 1.3, float(median["seconds"].max()) * 1.3
    x = alt.X(
        "n:Q",
        title="training size",
        scale=alt.Scale(zero=False, nice=False, padding=14),
        axis=alt.Axis(format="d", values=sorted({int(size) for size in frame["train_size"]})),
    )
    y = alt.Y(
        "y:Q",
        title=None,
        scale=alt.Scale(type="log", nice=False, domain=[low, high]),
        axis=alt.Axis(format="~g", values=_decades(low, high)),
    )
    columns = {"label": "s", "train_size": "n", "seconds": "y"}
    tooltip = [
        alt.Tooltip("s:N", title="method"),
        alt.Tooltip("n:Q", title="training size"),
        alt.Tooltip("y:Q", title="median seconds", format=".3g"),
    ]
    middle = alt.Chart(store.add(plain_rows(median, columns))).encode(
        x=x, y=y, color=colour_of(series, canvas, median["label"]), tooltip=tooltip
    )
    dash = dash_of(series, canvas, median["label"])
    lines = middle.mark_line(strokeWidth=2).encode(strokeDash=dash, opacity=opacity_of())
    dots = middle.mark_point(filled=True, size=50).encode(opacity=opacity_of())
    return finish(alt.layer(lines, dots), canvas, 300, store, title=title, subtitle="median seconds for one fit")


def kernel_weights(
    weights: pd.DataFrame, series: Series, canvas: Canvas, *, label: str, domain: tuple[float, float]
) -> Chart:
    """Weight of each kernel in each repeat, and their mean.

    Parameters
    ----------
    weights : DataFrame
        ``kernel, repeat, weight`` of one method. The dashed line is the uniform weight, where the weights are
        non-negative and sum to one.
    domain : tuple of float
        Ends of the axis, common to the methods of a setting.
    """
    store = Store()
    order = list(dict.fromkeys(weights["kernel"]))
    columns = {"s": "s", "kernel": "k", "weight": "x"}
    mean = weights.groupby("kernel", sort=False)["weight"].mean().reset_index().assign(s=label)
    y = alt.Y("k:N", sort=order, title=None, axis=row_axis())
    x = alt.X("x:Q", title="kernel weight", scale=alt.Scale(domain=list(domain)), axis=alt.Axis(tickCount=5))
    name = alt.Tooltip("k:N", title="kernel")
    strip = (
        alt.Chart(store.add(plain_rows(weights.assign(s=label), columns | {"repeat": "r"})))
        .mark_tick(thickness=1.5, size=14, opacity=0.55)
        .encode(
            y=y,
            x=x,
            color=colour_of(series, PAGE),
            tooltip=[name, alt.Tooltip("r:Q", title="repeat"), alt.Tooltip("x:Q", title="weight", format=".3f")],
        )
    )
    centre = (
        alt.Chart(store.add(plain_rows(mean, columns)))
        .mark_point(filled=True, size=60, opacity=1)
        .encode(y=y, x=x, color=colour_of(series, PAGE), tooltip=[name, alt.Tooltip("x:Q", title="mean", format=".3f")])
    )
    layers: list[Chart] = [strip, centre]
    sums = weights.groupby("repeat")["weight"].sum()
    if len(order) > 1 and weights["weight"].min() >= -1e-9 and (abs(sums - 1) < 1e-6).all():
        uniform = alt.Chart(store.add([{"x": 1 / len(order)}]))
        layers.insert(0, uniform.mark_rule(strokeDash=[4, 3]).encode(x=x))
    return finish(alt.layer(*layers), canvas, 24 * len(order), store, title=label)


def objective(history: pd.DataFrame, series: Series, canvas: Canvas, *, label: str) -> Chart:
    """Objective after each half step of an alternating method, one line for each repeat, with its lower bound."""
    store = Store()
    columns = {"s": "s", "repeat": "r", "half_step": "i", "step": "step", "value": "y", "bound": "bound"}
    frame = history.assign(s=label)
    finite = frame["value"].dropna()
    wide = len(finite) > 0 and finite.min() > 0 and finite.max() / finite.min() > 10
    scale = alt.Scale(type="log", nice=True) if wide else _FLOATING
    axis = alt.Axis(format="~g", tickCount=5)
    base = alt.Chart(store.add(plain_rows(frame, columns))).encode(
        x=alt.X("i:Q", title="half step", axis=alt.Axis(format="d", tickMinStep=1, tickCount=8)),
        color=colour_of(series, PAGE),
        detail="r:N",
    )
    y = alt.Y("y:Q", title=None, scale=scale, axis=axis)
    line = base.mark_line(strokeWidth=1.25, opacity=0.55).encode(y=y)
    dots = base.mark_point(size=30, filled=True, opacity=0.9).encode(
        y=y,
        shape=alt.Shape(
            "step:N",
            scale=alt.Scale(domain=["A", "beta"], range=["circle", "square"]),
            legend=alt.Legend(
                title=None,
                orient="top",
                offset=4,
                symbolFillColor="gray",
                symbolStrokeColor="gray",
                labelExpr="datum.value == 'A' ? 'after the projection' : 'after the kernel weights'",
            ),
        ),
        tooltip=[
            alt.Tooltip("r:Q", title="repeat"),
            alt.Tooltip("i:Q", title="half step"),
            alt.Tooltip("y:Q", title="objective", format=".4g"),
            alt.Tooltip("bound:Q", title="lower bound", format=".4g"),
        ],
    )
    layers: list[Chart] = [line, dots]
    if frame["bound"].notna().any():
        drawable = "isValid(datum.bound) && datum.bound > 0" if wide else "isValid(datum.bound)"
        bound = base.transform_filter(drawable).mark_tick(thickness=1.5, size=12, orient="horizontal")
        layers.append(bound.encode(y=alt.Y("bound:Q", title=None, scale=scale, axis=axis), color=alt.value("#888888")))
    return finish(alt.layer(*layers), canvas, 240, store, title=label, subtitle="objective")


def embedding(points: pd.DataFrame, canvas: Canvas, *, label: str) -> Chart:
    """The first two dimensions of one repeat, coloured by class; a class is highlighted under the pointer.

    Parameters
    ----------
    points : DataFrame
        ``x, y, label, role``. Rings are training samples, dots test samples; up to twelve classes are named at the
        median of their test samples.
    """
    store = Store()
    classes = sorted(set(points["label"]), key=_natural)
    scale = alt.Scale(domain=classes, range="ordinal" if len(classes) <= 8 else hues(len(classes)))
    colour = alt.Color("c:N", scale=scale, legend=None)
    pointer = alt.selection_point(name="pointed", fields=["c"], on="pointerover", clear="pointerout")
    axis = alt.Axis(labels=False, grid=False)
    x = alt.X("x:Q", title="first dimension", scale=_FLOATING, axis=axis)
    y = alt.Y("y:Q", title=None, scale=_FLOATING, axis=axis)
    columns = {"x": "x", "y": "y", "label": "c"}
    marks: Chart = (
        alt.Chart(store.add(plain_rows(points, columns | {"role": "role"})))
        .mark_point(size=30, strokeWidth=1.3)
        .encode(
            x=x,
            y=y,
            color=colour,
            fill=alt.Fill("c:N", scale=scale, legend=None),
            fillOpacity=alt.FillOpacityValue(0, condition={"test": "datum.role == 'test'", "value": 0.75}),
            opacity=opacity_of(0.85, 0.08, pointer),
            tooltip=[alt.Tooltip("c:N", title="class"), alt.Tooltip("role:N", title="role")],
        )
        .add_params(pointer)
    )
    if len(classes) <= MAX_NAMED_CLASSES:
        shown = points[points["role"].eq("test")] if points["role"].eq("test").any() else points
        middle = shown.groupby("label")[["x", "y"]].median().reset_index()
        names = alt.Chart(store.add(plain_rows(middle, columns))).mark_text(fontSize=13, fontWeight=700, dy=-11)
        marks = alt.layer(marks, names.encode(x=x, y=y, text="c:N"))
    marks.view = alt.ViewBackground(stroke="#88888866")
    return finish(marks, canvas, 320, store, title=label, subtitle="second dimension", focus=False)


def fit_times(times: pd.DataFrame, series: Series, canvas: Canvas, *, title: str) -> Chart:
    """Seconds of each fit on a logarithmic scale, and their median."""
    store = Store()
    frame = times.assign(seconds=times["seconds"].clip(lower=1e-4))
    median = frame.groupby("label", sort=False)["seconds"].median().reset_index()
    order = list(median.sort_values("seconds")["label"])
    low, high = float(frame["seconds"].min()) / 1.3, float(frame["seconds"].max()) * 1.3
    scale = alt.Scale(type="log", nice=False, domain=[low, high])
    axis = alt.Axis(format="~g", values=_decades(low, high))
    y = alt.Y("s:N", sort=order, title=None, axis=row_axis())
    x = alt.X("x:Q", title="seconds for one fit", scale=scale, axis=axis)
    columns = {"label": "s", "seconds": "x"}
    tooltip = [alt.Tooltip("s:N", title="method"), alt.Tooltip("x:Q", title="seconds", format=".3g")]
    colour = colour_of(series, PAGE)
    each = (
        alt.Chart(store.add(plain_rows(frame, columns)))
        .mark_point(size=30, strokeWidth=1.2)
        .encode(y=y, x=x, color=colour, opacity=opacity_of(0.6))
    )
    middle = (
        alt.Chart(store.add(plain_rows(median, columns)))
        .mark_tick(thickness=3, size=16)
        .encode(y=y, x=x, color=colour, opacity=opacity_of(), tooltip=tooltip)
    )
    return finish(alt.layer(each, middle), canvas, 24 * max(len(order), 1), store, title=title)


def off_diagonal_mass(info: pd.DataFrame, canvas: Canvas, *, threshold: float) -> Chart:
    """Off-diagonal mass of each kernel; below the dashed line a kernel is close to the identity."""
    store = Store()
    frame = info.assign(low=info["off_diagonal_mass"] < threshold)
    y = alt.Y("k:N", sort=list(info["kernel"]), title=None, axis=row_axis())
    x = alt.X("x:Q", title="off-diagonal mass", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5))
    bars = (
        alt.Chart(store.add(plain_rows(frame, {"kernel": "k", "off_diagonal_mass": "x", "low": "low"})))
        .mark_bar(height=10, cornerRadiusEnd=3)
        .encode(
            y=y,
            x=x,
            color=alt.Color("low:N", scale=alt.Scale(domain=[False, True], range="diverging"), legend=None),
            tooltip=[alt.Tooltip("k:N", title="kernel"), alt.Tooltip("x:Q", title="off-diagonal mass", format=".3f")],
        )
    )
    rule = alt.Chart(store.add([{"x": threshold}])).mark_rule(strokeDash=[4, 3]).encode(x=x)
    return finish(alt.layer(bars, rule), canvas, 24 * max(len(info), 1), store, focus=False)


def _dimension_scale(sweep: pd.DataFrame) -> alt.Scale:
    """Logarithmic where the dimensions span more than two orders of magnitude."""
    if len(sweep) and sweep["dimension"].max() > 150 * sweep["dimension"].min():
        return alt.Scale(type="log", nice=False)
    return alt.Scale(zero=False, nice=False)


def _decades(low: float, high: float) -> list[float]:
    """Powers of ten between two numbers; with 2 and 5 times them where that leaves few."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5)):
        ticks = [float(f"{step}e{exponent}") for exponent in exponents for step in steps]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= 4:
            return ticks
    return ticks or [float(f"{value:.2g}") for value in np.geomspace(low, high, 3)]


def _natural(text: str) -> tuple[int, float, str]:
    """Sorts class labels as numbers where they are numbers."""
    try:
        return (0, float(text), "")
    except ValueError:
        return (1, 0.0, text)
