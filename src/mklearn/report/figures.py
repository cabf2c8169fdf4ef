"""Figures of scores: accuracies, differences, published values and times. A small frame in, an Altair chart out.

Every chart names its fields itself (``s`` for the series, ``x``, ``y`` ...), so that names with dots, brackets or
quotes are only ever values.
"""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING, Any

import altair as alt

from mklearn.evaluation.reproduction import TOLERANCE
from mklearn.report import charts
from mklearn.report.charts import Canvas, Chart, Store
from mklearn.report.frames import plain_rows, with_band
from mklearn.report.series import Series
from mklearn.report.wording import in_order, missing, rule_title

if TYPE_CHECKING:
    import pandas as pd

BREAK = "\n"
"""Where the name of a row is broken into lines."""
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]


def differences(summary: pd.DataFrame, series: Series, canvas: Canvas, *, reference_title: str, title: str) -> Chart:
    """Draw the paired difference of each method to the reference, with its corrected resampled interval.

    Parameters
    ----------
    summary : DataFrame
        The ``inner_cv`` rows of one setting without those of the reference, with ``label``; in fractions.
    """
    store = Store()
    rows = summary.dropna(subset=["difference"]).sort_values("difference", ascending=False)
    frame = charts.in_percent(rows, "difference", "difference_low", "difference_high").assign(
        rule=[rule_title(rule) for rule in rows["neighbour"]]
    )
    order, rules = list(dict.fromkeys(frame["label"])), [rule_title(rule) for rule in in_order(frame["neighbour"])]
    columns = {"label": "s", "rule": "rule", "difference": "x", "difference_low": "low", "difference_high": "high"}
    base = alt.Chart(store.add(plain_rows(frame, columns))).encode(
        y=alt.Y("s:N", sort=order, title=None, axis=charts.row_axis()),
        yOffset=alt.YOffset("rule:N", sort=rules),
        color=charts.plain_colour(series),
        opacity=charts.opacity_of(),
        tooltip=[
            alt.Tooltip("s:N", title="method"),
            alt.Tooltip("rule:N", title="rule"),
            alt.Tooltip("x:Q", title="difference, points", format="+.2f"),
            alt.Tooltip("low:Q", title="from", format="+.2f"),
            alt.Tooltip("high:Q", title="to", format="+.2f"),
        ],
    )
    look: dict[str, Any] = {"title": "percentage points", "scale": alt.Scale(padding=8), "axis": alt.Axis(tickCount=6)}
    interval = base.mark_rule(strokeWidth=2).encode(x=alt.X("low:Q", **look), x2="high:Q")
    shapes = alt.Scale(domain=rules, range=["circle", "square", "triangle-up"][: len(rules)])
    legend = charts.shape_legend() if len(rules) > 1 else None
    dot = base.mark_point(filled=True, size=64, opacity=1).encode(
        x=alt.X("x:Q", **look), shape=alt.Shape("rule:N", scale=shapes, legend=legend)
    )
    height = len(order) * (12 + 14 * len(rules))
    layers = alt.layer(charts.dashed_rule(store, "x", 0, "x:Q"), interval, dot)
    return charts.finish(layers, canvas, height, store, title=title, subtitle=f"difference to {reference_title}")


def accuracy_by_dimension(curves: pd.DataFrame, series: Series, canvas: Canvas, *, neighbour: str) -> Chart:
    """Draw mean accuracy over repeats at each dimension, with a band of one standard deviation.

    Parameters
    ----------
    curves : DataFrame
        From :func:`mklearn.report.frames.curves`. Methods without a dimension are horizontal lines.
    neighbour : str
        The rule to show; methods with a rule of their own are shown beside it.
    """
    store = Store()
    frame = charts.in_percent(curves, "mean", "std", "low", "high")
    columns = {"label": "s", "mean": "y", "std": "std", "n": "n"}
    sweep = frame[frame["neighbour"].eq(neighbour) & frame["dimension"].notna()]
    flat = frame[frame["neighbour"].isin([neighbour, ""]) & frame["dimension"].isna()]
    shown = {*sweep["label"], *flat["label"]}
    colour = charts.colour_of(series, canvas, shown)
    tooltip = [
        alt.Tooltip("s:N", title="method"),
        alt.Tooltip("q:Q", title="dimension"),
        alt.Tooltip("y:Q", title="mean accuracy, %", format=".2f"),
        alt.Tooltip("std:Q", title="std", format=".2f"),
        alt.Tooltip("n:Q", title="repeats"),
    ]
    moving = alt.Chart(
        store.add(plain_rows(sweep, columns | {"dimension": "q", "low": "low", "high": "high", "best": "best"}))
    ).encode(x=alt.X("q:Q", title="dimension", scale=_dimension_scale(sweep), axis=alt.Axis(format="d", tickMinStep=1)))
    coloured = moving.encode(color=colour)
    best = coloured.transform_filter("datum.best").mark_point(size=55, strokeWidth=2, filled=False)
    touch = moving.mark_point(size=120, opacity=0, filled=True).encode(y=charts.percent_axis(), tooltip=tooltip)
    layers = [
        *charts.band_and_lines(coloured, series, canvas, shown, sweep["label"].nunique()),
        best.encode(y=charts.percent_axis(), opacity=charts.opacity_of()),
        touch,
    ]
    if len(flat):
        rule = alt.Chart(store.add(plain_rows(flat, columns))).mark_rule(
            strokeWidth=2, strokeDash=[1, 4], strokeCap="round"
        )
        fixed = rule.encode(
            y=charts.percent_axis(), color=colour, opacity=charts.opacity_of(), tooltip=[tooltip[0], *tooltip[2:]]
        )
        layers.insert(1, fixed)
    return charts.finish(alt.layer(*layers), canvas, 300, store, title=rule_title(neighbour), subtitle="accuracy, %")


def accuracy_by_train_size(summary: pd.DataFrame, series: Series, canvas: Canvas, *, neighbour: str) -> Chart:
    """Draw accuracy by inner cross-validation against the training size, with a band of one standard deviation.

    Parameters
    ----------
    summary : DataFrame
        The ``inner_cv`` rows of one data set at several training sizes, with ``label``; in fractions.
    """
    store = Store()
    rows = summary[summary["neighbour"].isin([neighbour, ""])].dropna(subset=["mean", "train_size"])
    frame = charts.in_percent(with_band(rows), "mean", "low", "high")
    columns = {"label": "s", "train_size": "n", "mean": "y", "low": "low", "high": "high"}
    base = alt.Chart(store.add(plain_rows(frame, columns))).encode(
        x=charts.size_axis(frame["train_size"], padding=10),
        color=charts.colour_of(series, canvas, set(frame["label"])),
        tooltip=[
            alt.Tooltip("s:N", title="method"),
            alt.Tooltip("n:Q", title="training size"),
            alt.Tooltip("y:Q", title="accuracy, %", format=".2f"),
            alt.Tooltip("low:Q", title="minus one std", format=".2f"),
            alt.Tooltip("high:Q", title="plus one std", format=".2f"),
        ],
    )
    layers = charts.band_and_lines(base, series, canvas, set(frame["label"]), frame["label"].nunique())
    dots = base.mark_point(filled=True, size=50).encode(y=charts.percent_axis(), opacity=charts.opacity_of())
    return charts.finish(
        alt.layer(*layers, dots), canvas, 300, store, title=rule_title(neighbour), subtitle="accuracy, %"
    )


def accuracy_by_iteration(curves: pd.DataFrame, series: Series, canvas: Canvas, *, title: str) -> Chart:
    """Draw mean accuracy over repeats after each iteration, with a band of one standard deviation.

    Parameters
    ----------
    curves : DataFrame
        From :func:`mklearn.report.frames.iterations`, of one setting, rule and size; in fractions.
    """
    store = Store()
    frame = charts.in_percent(curves, "mean", "std", "low", "high")
    columns = {"label": "s", "n_iter": "t", "mean": "y", "std": "std", "n": "n", "low": "low", "high": "high"}
    scale, axis = alt.Scale(zero=False, nice=False), alt.Axis(format="d", tickMinStep=1)
    base = alt.Chart(store.add(plain_rows(frame, columns))).encode(
        x=alt.X("t:Q", title="iterations", scale=scale, axis=axis),
        color=charts.colour_of(series, canvas, set(frame["label"])),
    )
    layers = charts.band_and_lines(base, series, canvas, set(frame["label"]), frame["label"].nunique())
    dots = base.mark_point(filled=True, size=34).encode(
        y=charts.percent_axis(),
        opacity=charts.opacity_of(),
        tooltip=[
            alt.Tooltip("s:N", title="method"),
            alt.Tooltip("t:Q", title="iterations"),
            alt.Tooltip("y:Q", title="mean accuracy, %", format=".2f"),
            alt.Tooltip("std:Q", title="std", format=".2f"),
            alt.Tooltip("n:Q", title="repeats"),
        ],
    )
    return charts.finish(alt.layer(*layers, dots), canvas, 260, store, title=title, subtitle="accuracy, %")


def fit_time_by_train_size(times: pd.DataFrame, series: Series, canvas: Canvas, *, title: str) -> Chart:
    """Draw the median seconds of a fit against the training size, on a logarithmic scale.

    Parameters
    ----------
    times : DataFrame
        ``label, train_size, seconds``, one row for each fit.
    """
    store = Store()
    frame = times.assign(seconds=times["seconds"].clip(lower=1e-4))
    median = frame.groupby(["label", "train_size"], sort=False)["seconds"].median().reset_index()
    base = alt.Chart(store.add(plain_rows(median, {"label": "s", "train_size": "n", "seconds": "y"}))).encode(
        x=charts.size_axis(frame["train_size"], padding=14),
        y=alt.Y("y:Q", title=None, **charts.log_seconds(median["seconds"])),
        color=charts.colour_of(series, canvas, set(median["label"])),
        tooltip=[
            alt.Tooltip("s:N", title="method"),
            alt.Tooltip("n:Q", title="training size"),
            alt.Tooltip("y:Q", title="median seconds", format=".3g"),
        ],
    )
    dash = charts.dash_of(series, canvas, set(median["label"]))
    lines = base.mark_line(strokeWidth=2).encode(strokeDash=dash, opacity=charts.opacity_of())
    dots = base.mark_point(filled=True, size=50).encode(opacity=charts.opacity_of())
    return charts.finish(alt.layer(lines, dots), canvas, 300, store, title=title, subtitle="median seconds for one fit")


def fit_times(times: pd.DataFrame, series: Series, canvas: Canvas, *, title: str) -> Chart:
    """Draw the seconds of each fit on a logarithmic scale, and their median."""
    store = Store()
    frame = times.assign(seconds=times["seconds"].clip(lower=1e-4))
    median = frame.groupby("label", sort=False)["seconds"].median().reset_index()
    order = list(median.sort_values("seconds")["label"])
    columns = {"label": "s", "seconds": "x"}
    places = {
        "y": alt.Y("s:N", sort=order, title=None, axis=charts.row_axis()),
        "x": alt.X("x:Q", title="seconds for one fit", **charts.log_seconds(frame["seconds"])),
        "color": charts.plain_colour(series),
    }
    each = alt.Chart(store.add(plain_rows(frame, columns))).mark_point(size=30, strokeWidth=1.2)
    middle = alt.Chart(store.add(plain_rows(median, columns))).mark_tick(thickness=3, size=16)
    tooltip = [alt.Tooltip("s:N", title="method"), alt.Tooltip("x:Q", title="seconds", format=".3g")]
    layers = alt.layer(
        each.encode(**places, opacity=charts.opacity_of(0.6)),
        middle.encode(**places, opacity=charts.opacity_of(), tooltip=tooltip),
    )
    return charts.finish(layers, canvas, 24 * max(len(order), 1), store, title=title)


def split_noise_scores(cells: pd.DataFrame, canvas: Canvas, *, title: str) -> Chart:
    """Draw z of each method and training size, with the band of what other random splits explain.

    Parameters
    ----------
    cells : DataFrame
        Cells of one data set that have a z, with ``label``; see :mod:`mklearn.evaluation.reproduction`.
    """
    store = Store()
    sizes = ["all" if missing(size) else f"training size {int(size)}" for size in cells["train_size"]]
    rows, shown = wrapped(list(dict.fromkeys(cells["label"]))), list(dict.fromkeys(sizes))
    frame = charts.in_percent(cells, "mean", "published").assign(
        row=[rows[label] for label in cells["label"]], size=sizes, off=cells["z"].abs() > TOLERANCE
    )
    columns = {name: name for name in ("label", "row", "size", "z", "off", "verdict")}
    names_axis = charts.row_axis()
    names_axis["labelExpr"] = "split(datum.label, '\\n')"
    shapes = alt.Scale(domain=shown, range=[SHAPES[i % len(SHAPES)] for i in range(len(shown))])
    dots = (
        alt.Chart(store.add(plain_rows(frame, columns | {"mean": "ours", "published": "theirs"})))
        .mark_point(filled=True, size=64, opacity=1)
        .encode(
            x=alt.X(
                "z:Q",
                title="z, right of the band: ours is lower",
                scale=alt.Scale(padding=10, nice=False),
                axis=alt.Axis(tickCount=7),
            ),
            y=alt.Y("row:N", sort=list(rows.values()), title=None, axis=names_axis),
            yOffset=alt.YOffset("size:N", sort=shown),
            color=alt.Color("off:N", scale=alt.Scale(domain=[False, True], range="diverging"), legend=None),
            shape=alt.Shape("size:N", sort=shown, scale=shapes, legend=charts.shape_legend(columns=2)),
            tooltip=[
                alt.Tooltip("label:N", title="method"),
                alt.Tooltip("size:N", title="cell"),
                alt.Tooltip("ours:Q", title="ours, %", format=".2f"),
                alt.Tooltip("theirs:Q", title="published, %", format=".2f"),
                alt.Tooltip("z:Q", title="z", format="+.2f"),
                alt.Tooltip("verdict:N", title="verdict"),
            ],
        )
    )
    band = (
        alt.Chart(store.add([{"low": -TOLERANCE, "high": TOLERANCE}]))
        .mark_rect(opacity=0.13, color="#888888")
        .encode(x=alt.X("low:Q"), x2="high:Q")
    )
    layers = alt.layer(band, charts.dashed_rule(store, "z", 0, "z:Q"), dots)
    height = len(rows) * max(12 + 11 * len(shown), 14 * max(row.count(BREAK) + 1 for row in rows.values()) + 4)
    subtitle = f"published − ours in units of split noise; band: ±{TOLERANCE:g}"
    return charts.finish(layers, canvas, height, store, title=title, subtitle=subtitle, focus=False)


def wrapped(labels: list[str], width: int = 19) -> dict[str, str]:
    """Break names into up to three lines; names that would look the same are not changed."""
    wrapper = textwrap.TextWrapper(width, max_lines=3, placeholder="…")
    broken = {label: BREAK.join(wrapper.wrap(label)) or label for label in labels}
    texts = list(broken.values())
    return {label: text if texts.count(text) == 1 else label for label, text in broken.items()}


def _dimension_scale(sweep: pd.DataFrame) -> alt.Scale:
    """Return a logarithmic scale where the dimensions span more than two orders of magnitude."""
    if len(sweep) and sweep["dimension"].max() > 150 * sweep["dimension"].min():
        return alt.Scale(type="log", nice=False)
    return alt.Scale(zero=False, nice=False)
