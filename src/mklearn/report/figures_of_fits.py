"""Figures of fitted methods: kernel weights, picked kernels, objective, embedding, kernel diagnostics."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt

from mklearn.report import charts
from mklearn.report.charts import Canvas, Chart, Store
from mklearn.report.frames import plain_rows
from mklearn.report.picks import MIXED, Picks, common_prefix
from mklearn.report.series import Series
from mklearn.report.theme import hues

if TYPE_CHECKING:
    import pandas as pd

MAX_NAMED_CLASSES = 12
MAX_COLOURS = 8
"""Up to this many classes or kernels have colours of their own; more take hues, or a ramp."""


def kernel_weights(
    weights: pd.DataFrame, series: Series, canvas: Canvas, *, label: str, domain: tuple[float, float]
) -> Chart:
    """Draw the weight of each kernel in each repeat, and their mean.

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
    x = alt.X("x:Q", title="kernel weight", scale=alt.Scale(domain=list(domain)), axis=alt.Axis(tickCount=5))
    places = {
        "x": x,
        "y": alt.Y("k:N", sort=order, title=None, axis=charts.row_axis()),
        "color": charts.plain_colour(series),
    }
    name = alt.Tooltip("k:N", title="kernel")
    each = alt.Chart(store.add(plain_rows(weights.assign(s=label), columns | {"repeat": "r"})))
    strip = each.mark_tick(thickness=1.5, size=14, opacity=0.55).encode(
        **places,
        tooltip=[name, alt.Tooltip("r:Q", title="repeat"), alt.Tooltip("x:Q", title="weight", format=".3f")],
    )
    centre = alt.Chart(store.add(plain_rows(mean, columns))).mark_point(filled=True, size=60, opacity=1)
    layers = [strip, centre.encode(**places, tooltip=[name, alt.Tooltip("x:Q", title="mean", format=".3f")])]
    sums = weights.groupby("repeat")["weight"].sum()
    if len(order) > 1 and weights["weight"].min() >= -1e-9 and (abs(sums - 1) < 1e-6).all():
        layers.insert(0, charts.dashed_rule(store, "x", 1 / len(order), x))
    return charts.finish(alt.layer(*layers), canvas, 24 * len(order), store, title=label)


def picked_kernels(found: Sequence[Picks], series: Series, canvas: Canvas, *, label: str) -> Chart:
    """Draw how many repeats pick each kernel: numbers in a grid, a row for each setting of a method on one data set."""
    store = Store()
    kernels = list(dict.fromkeys(name for record, _ in found for name in record.kernel_ids))
    prefix = common_prefix(kernels)
    shown = {name: name.removeprefix(prefix) for name in kernels}
    if any(counts[""] for _, counts in found):
        shown[""] = MIXED
    several = len({record.protocol for record, _ in found}) > len({record.train_size for record, _ in found})
    rows: list[dict[str, Any]] = []
    for record, counts in found:
        place = str(record.protocol) if record.train_size is None or several else f"training size {record.train_size}"
        total = max(sum(counts.values()), 1)
        rows += [
            {"s": label, "p": place, "k": title, "n": counts.get(name, 0), "share": counts.get(name, 0) / total}
            for name, title in shown.items()
        ]
    base = alt.Chart(store.add(rows)).encode(
        x=alt.X(
            "k:N",
            sort=list(shown.values()),
            title=f"kernel: {prefix}…" if prefix else "kernel",
            axis=alt.Axis(labelAngle=-40, grid=False, labelOverlap=False),
        ),
        y=alt.Y("p:N", sort=list(dict.fromkeys(row["p"] for row in rows)), title=None, axis=alt.Axis(grid=False)),
        tooltip=[
            alt.Tooltip("k:N", title="kernel"),
            alt.Tooltip("p:N", title="setting"),
            alt.Tooltip("n:Q", title="repeats"),
        ],
    )
    boxes = base.mark_rect(stroke="#88888855").encode(
        color=charts.plain_colour(series),
        opacity=alt.Opacity("share:Q", scale=alt.Scale(domain=[0, 1], range=[0, 0.55]), legend=None),
    )
    numbers = base.transform_filter("datum.n > 0").mark_text().encode(text="n:Q")
    layers = alt.layer(boxes, numbers)
    subtitle = "repeats that pick a kernel"
    return charts.finish(layers, canvas, 30 * len(found), store, title=label, subtitle=subtitle, focus=False)


def objective(history: pd.DataFrame, series: Series, canvas: Canvas, *, label: str) -> Chart:
    """Draw the objective after each half step of an alternating method, a line per repeat, with its lower bound."""
    store = Store()
    columns = {"s": "s", "repeat": "r", "half_step": "i", "step": "step", "value": "y", "bound": "bound"}
    frame = history.assign(s=label)
    finite = frame["value"].dropna()
    wide = len(finite) > 0 and finite.min() > 0 and finite.max() / finite.min() > 10
    scale = alt.Scale(type="log", nice=True) if wide else charts.FLOATING
    axis = alt.Axis(format="~g", tickCount=5)
    base = alt.Chart(store.add(plain_rows(frame, columns))).encode(
        x=alt.X("i:Q", title="half step", axis=alt.Axis(format="d", tickMinStep=1, tickCount=8)),
        color=charts.plain_colour(series),
        detail="r:N",
    )
    y = alt.Y("y:Q", title=None, scale=scale, axis=axis)
    line = base.mark_line(strokeWidth=1.25, opacity=0.55).encode(y=y)
    steps = "datum.value == 'A' ? 'after the projection' : 'after the kernel weights'"
    dots = base.mark_point(size=30, filled=True, opacity=0.9).encode(
        y=y,
        shape=alt.Shape(
            "step:N",
            scale=alt.Scale(domain=["A", "beta"], range=["circle", "square"]),
            legend=charts.shape_legend(labelExpr=steps),
        ),
        tooltip=[
            alt.Tooltip("r:Q", title="repeat"),
            alt.Tooltip("i:Q", title="half step"),
            alt.Tooltip("y:Q", title="objective", format=".4g"),
            alt.Tooltip("bound:Q", title="lower bound", format=".4g"),
        ],
    )
    layers = [line, dots]
    if frame["bound"].notna().any():
        drawable = "isValid(datum.bound) && datum.bound > 0" if wide else "isValid(datum.bound)"
        bound = base.transform_filter(drawable).mark_tick(thickness=1.5, size=12, orient="horizontal")
        layers.append(bound.encode(y=alt.Y("bound:Q", title=None, scale=scale, axis=axis), color=alt.value("#888888")))
    return charts.finish(alt.layer(*layers), canvas, 240, store, title=label, subtitle="objective")


def embedding(points: pd.DataFrame, canvas: Canvas, *, label: str) -> Chart:
    """Draw the first two dimensions of one repeat, coloured by class; a class is highlighted under the pointer.

    Parameters
    ----------
    points : DataFrame
        ``x, y, label, role``. Rings are training samples, dots test samples; up to twelve classes are named at the
        median of their test samples.
    """
    store = Store()
    classes = sorted(set(points["label"]), key=_natural)
    scale = alt.Scale(domain=classes, range="ordinal" if len(classes) <= MAX_COLOURS else hues(len(classes)))
    pointer = charts.pointer_on("c")
    axis = alt.Axis(labels=False, grid=False)
    places = {
        "x": alt.X("x:Q", title="first dimension", scale=charts.FLOATING, axis=axis),
        "y": alt.Y("y:Q", title=None, scale=charts.FLOATING, axis=axis),
    }
    columns = {"x": "x", "y": "y", "label": "c"}
    marks: Chart = (
        alt.Chart(store.add(plain_rows(points, columns | {"role": "role"})))
        .mark_point(size=30, strokeWidth=1.3)
        .encode(
            **places,
            color=alt.Color("c:N", scale=scale, legend=None),
            fill=alt.Fill("c:N", scale=scale, legend=None),
            fillOpacity=alt.FillOpacityValue(0, condition={"test": "datum.role == 'test'", "value": 0.75}),
            opacity=charts.opacity_of(0.85, 0.08, pointer),
            tooltip=[alt.Tooltip("c:N", title="class"), alt.Tooltip("role:N", title="role")],
        )
        .add_params(pointer)
    )
    if len(classes) <= MAX_NAMED_CLASSES:
        shown = points[points["role"].eq("test")] if points["role"].eq("test").any() else points
        middle = shown.groupby("label")[["x", "y"]].median().reset_index()
        names = alt.Chart(store.add(plain_rows(middle, columns))).mark_text(fontSize=13, fontWeight=700, dy=-11)
        marks = alt.layer(marks, names.encode(**places, text="c:N"))
    marks.view = alt.ViewBackground(stroke="#88888866")
    return charts.finish(marks, canvas, 320, store, title=label, subtitle="second dimension", focus=False)


def _natural(text: str) -> tuple[int, float, str]:
    """Return the sorting key of a class label: numbers sort as numbers, before other labels."""
    try:
        return (0, float(text), "")
    except ValueError:
        return (1, 0.0, text)


def off_diagonal_mass(info: pd.DataFrame, canvas: Canvas, *, threshold: float) -> Chart:
    """Draw the off-diagonal mass of each kernel; below the dashed line a kernel is close to the identity."""
    store = Store()
    frame = info.assign(low=info["off_diagonal_mass"] < threshold)
    x = alt.X("x:Q", title="off-diagonal mass", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(tickCount=5))
    bars = (
        alt.Chart(store.add(plain_rows(frame, {"kernel": "k", "off_diagonal_mass": "x", "low": "low"})))
        .mark_bar(height=10, cornerRadiusEnd=3)
        .encode(
            y=alt.Y("k:N", sort=list(info["kernel"]), title=None, axis=charts.row_axis()),
            x=x,
            color=alt.Color("low:N", scale=alt.Scale(domain=[False, True], range="diverging"), legend=None),
            tooltip=[alt.Tooltip("k:N", title="kernel"), alt.Tooltip("x:Q", title="off-diagonal mass", format=".3f")],
        )
    )
    layers = alt.layer(bars, charts.dashed_rule(store, "x", threshold, x))
    return charts.finish(layers, canvas, 24 * max(len(info), 1), store, focus=False)


def kernel_spectra(curves: pd.DataFrame, canvas: Canvas) -> Chart:
    """Draw eigenvalues against their rank on logarithmic scales, a line per kernel; negative ones are dotted.

    A kernel is highlighted under the pointer. Up to eight kernels have colours of their own; more are ordered, as
    bandwidths are, and take a ramp.

    Parameters
    ----------
    curves : DataFrame
        From :func:`mklearn.report.frames.spectra`.
    """
    store = Store()
    names = list(dict.fromkeys(curves["kernel"]))
    place = {name: number for number, name in enumerate(names)}
    frame = curves.assign(
        i=[place[name] for name in curves["kernel"]],
        sign=["negative" if negative else "positive" for negative in curves["negative"]],
    )
    pointer = charts.pointer_on("k")
    low, high = float(frame["share"].min()), float(frame["share"].max())
    ranks = alt.Axis(format="~g", values=_rank_ticks(int(frame["rank"].max())))
    shares = alt.Axis(format=".0e", values=_powers_of_ten(low, high))
    columns = {"kernel": "k", "i": "i", "rank": "r", "share": "y", "sign": "sign"}
    base = alt.Chart(store.add(plain_rows(frame, columns))).encode(
        x=alt.X("r:Q", title="rank", scale=alt.Scale(type="log", nice=False), axis=ranks),
        y=alt.Y(
            "y:Q", title=None, scale=alt.Scale(type="log", nice=False, domain=[low / 1.4, high * 1.4]), axis=shares
        ),
    )
    shown = base.encode(color=_kernel_colour(names), opacity=charts.opacity_of(1, 0.12, pointer))
    signs = alt.Scale(domain=["positive", "negative"], range=[[1, 0], [2, 3]])
    # a line for each sign, so that none is drawn from the last positive eigenvalue to the first negative one
    dash = alt.StrokeDash("sign:N", scale=signs, legend=None)
    lines = shown.mark_line(strokeWidth=1.8).encode(detail="k:N", strokeDash=dash)
    touch = (
        base.mark_point(size=140, filled=True, opacity=0)
        .encode(
            detail="k:N",
            tooltip=[
                alt.Tooltip("k:N", title="kernel"),
                alt.Tooltip("r:Q", title="rank"),
                alt.Tooltip("y:Q", title="share of the sum", format=".2~e"),
                alt.Tooltip("sign:N", title="sign"),
            ],
        )
        .add_params(pointer)
    )
    layers = [lines, touch]
    subtitle = "share of the sum of absolute eigenvalues"
    if frame["negative"].any():
        negative = shown.transform_filter("datum.sign === 'negative'")
        layers.insert(1, negative.mark_point(size=24, strokeWidth=1.3, filled=False))
        subtitle += "; rings: negative"
    return charts.finish(alt.layer(*layers), canvas, 240, store, title="Eigenvalues", subtitle=subtitle, focus=False)


def _kernel_colour(names: Sequence[str]) -> alt.Color:
    """Encode kernels as colour: a colour each for a few, a ramp over many.

    The legend is below the figure and leaves out the prefix that names share. A ramp's scale is continuous over the
    numbers of the kernels; an expression gives the legend their names.
    """
    prefix = common_prefix(names)
    texts = json.dumps([name.removeprefix(prefix) for name in names])
    domain = list(range(len(names)))
    legend = alt.Legend(
        title=f"kernel: {prefix}…" if prefix else None,
        orient="bottom",
        type="symbol",
        columns=2,
        values=domain,
        labelExpr=f"{texts}[datum.value]",
        labelLimit=130,
        symbolType="stroke",
        symbolOpacity=1,
        symbolSize=250,
    )
    if len(names) <= MAX_COLOURS:
        return alt.Color("i:N", scale=alt.Scale(domain=domain, range="ordinal"), legend=legend)
    return alt.Color("i:Q", scale=alt.Scale(domain=[0, len(names) - 1], range="ramp"), legend=legend)


def _rank_ticks(last: int) -> list[int]:
    """Return ticks of the ranks: fewer in a decade, the more decades there are."""
    steps = (1, 2, 5) if last <= 200 else (1, 3)
    return [step * 10**power for power in range(len(str(last))) for step in steps if step * 10**power <= last]


def _powers_of_ten(low: float, high: float) -> list[float]:
    """Return about six powers of ten, at most, on an axis."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return [float(f"1e{power}") for power in range(first, last + 1, max(1, (last - first) // 5))]
