"""Figures of scores and their sections: differences, and scores by training size and by dimension."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from mklearn.study.evaluation.metrics.metric import Metric
from mklearn.study.evaluation.predictions import best_dimension
from mklearn.study.report import charts
from mklearn.study.report.charts import Chart, field, tooltip
from mklearn.study.report.parts import PartFigure, ReportPart, Section
from mklearn.study.report.results import Results, Setting, thinned
from mklearn.study.report.wording import change, plural

REACH = 3
"""Largest distance behind the reference that is drawn, in units of the gain that matters."""
MOST_CONTENDERS = 10
"""Maximum number of methods in a figure of differences."""
MAX_CURVE_POINTS = 120


def difference_figures(results: Results, setting: Setting) -> list[PartFigure]:
    """Return the figure of the differences in a setting; an empty list if there are none."""
    rows = setting.of(results.headline_rows)
    others = rows[rows["method"].ne(results.reference)]
    if others["difference"].isna().all():
        return []
    alt = f"Dots with intervals: difference of the {results.metric.name} of each method to {results.reference_title}."
    return [PartFigure(setting.title, alt, partial(differences, others, results, setting.title))]


def differences(summary: pd.DataFrame, results: Results, title: str) -> Chart:
    """Draw the paired difference of each method to the reference, with its 95 % interval.

    ``summary`` has the inner-CV rows of one setting without the reference. Methods behind the reference by more than
    ``REACH`` times the gain that matters are not drawn but counted below the title, so that the others stay legible.
    """
    metric = results.metric
    ranked = summary.dropna(subset=["difference"]).sort_values("difference", ascending=not metric.larger_is_better)
    near = _contenders(ranked, REACH * results.matters if metric.in_percent else math.inf, metric.larger_is_better)
    behind, note = ranked[~near], []
    if len(behind):
        ends = dict.fromkeys(change(behind["difference"].iloc[place], metric.in_percent) for place in (0, -1))
        points = " points" if metric.in_percent else ""
        note = [f"not drawn: {plural(len(behind), 'method')} at {' to '.join(ends)}{points}"]
    frame = charts.in_unit(metric, ranked[near], "difference", "difference_low", "difference_high")
    unit, digits = ("percentage points", "+.1f") if metric.in_percent else (metric.name, "+.4~g")
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
            "color": charts.method_colour(results.labels),
            "tooltip": tooltip(
                ("s:N", "method"), ("x:Q", f"difference, {unit}", digits), ("low:Q", "from", digits),
                ("high:Q", "to", digits),
            ),
        },
        height=22 * len(frame),
        title=title,
        subtitle=[f"difference to {results.reference_title}", *note],
    )  # fmt: skip


def _contenders(rows: pd.DataFrame, reach: float, larger_is_better: bool) -> pd.Series:
    """Mark the first ``MOST_CONTENDERS`` rows that come within ``reach`` of the reference, or of all if none does."""
    end, sign = ("difference_high", 1) if larger_is_better else ("difference_low", -1)
    near = (sign * rows[end].fillna(rows["difference"])).ge(-reach)
    near = near if near.any() else ~near
    return near & near.cumsum().le(MOST_CONTENDERS)


def training_size_section(results: Results) -> Section:
    """Return the section with inner-CV scores by training size, with a figure for each family of settings."""
    alt, drawn = f"Lines: {results.metric.name} of each method at each training size.", []
    for title, settings in results.families():
        rows = pd.concat([setting.of(results.headline_rows) for setting in settings])
        rows = rows.dropna(subset=["train_size", "mean"])
        sizes = sorted({int(size) for size in rows["train_size"]})
        if len(sizes) > 1:
            scale, axis = {"zero": False, "nice": False, "padding": 10}, {"format": "d", "values": sizes}
            x = field("x:Q", title="training size", scale=scale, axis=axis)
            draw = partial(lines, rows, results, title, "train_size", x, shown=rows["label"])
            drawn.append(PartFigure(title, alt, draw))
    note = (
        "Mean over splits by the parameters that inner cross-validation chose, with a band of one standard deviation."
    )
    title = f"{_capital(results.metric.name)} against training size"
    return Section("training-size", title, [ReportPart(drawn)] if drawn else [], note)


def dimension_section(results: Results) -> Section:
    """Return the section with mean test scores by dimension, with a figure for each setting with several dimensions."""
    alt, drawn = f"Lines: mean {results.metric.name} of each method at each dimension.", []
    for setting in results.settings:
        scores = setting.of(results.scores)
        means = curves(scores[scores["neighbour"].isin(results.one_rule)], results.metric)
        if means["dimension"].nunique() > 1:  # otherwise a single dot, as with two classes
            drawn.append(PartFigure(setting.title, alt, partial(by_dimension, means, results, setting.title)))
    note = (
        f"Mean test {results.metric.name} over splits with a band of one standard deviation. A ring marks the best "
        "dimension of the mean curve, the oracle's choice; dotted lines are methods without a dimension. Of a "
        "classifier on kernel principal components the dimension is their number; its other parameters are those that "
        "inner cross-validation chose together with the best."
    )
    title = f"{_capital(results.metric.name)} against dimension"
    return Section("dimension", title, [ReportPart(drawn)] if drawn else [], note)


def _capital(text: str) -> str:
    return text[0].upper() + text[1:]


def curves(scores: pd.DataFrame, metric: Metric) -> pd.DataFrame:
    """Compute the mean and standard deviation over repeats at each dimension.

    The columns are ``label, neighbour, dimension (NA for a method without one), mean, std, n, best``. Long curves are
    thinned evenly; the best dimension of the mean curve is kept and marked.
    """
    usable = scores["value"].notna() & ~scores["status"].isin(["failed", "not_applicable"])
    rows = scores[usable & scores["selection"].eq("dimension")].astype({"value": float})
    groups = rows.groupby(["label", "neighbour", "dimension"], sort=False, dropna=False)["value"]
    table = groups.agg(mean="mean", std="std", n="count").reset_index()
    parts = []
    for _, part in table.groupby(["label", "neighbour"], sort=False):
        ordered = part.sort_values("dimension", ignore_index=True)
        swept = ordered.dropna(subset="dimension")
        reached = swept[swept["n"].eq(swept["n"].max())]
        best = [best_dimension(reached["dimension"], reached["mean"], metric.larger_is_better)] if len(swept) else []
        ordered["best"] = ordered["dimension"].isin(best)
        kept = np.union1d(thinned(ordered, MAX_CURVE_POINTS).index, ordered.index[ordered["best"]])
        parts.append(ordered.loc[kept])
    return pd.concat(parts, ignore_index=True) if parts else table.assign(best=pd.Series(dtype=bool))


def by_dimension(curves: pd.DataFrame, results: Results, title: str) -> Chart:
    """Draw the :func:`curves`: a ring marks the best dimension, methods without a dimension are dotted lines."""
    sweep, flat = curves[curves["dimension"].notna()], curves[curves["dimension"].isna()]
    many = sweep["dimension"].max() > 150 * sweep["dimension"].min()
    scale = {"type": "log", "nice": False} if many else {"zero": False, "nice": False}
    best = {
        "transform": [{"filter": "datum.best"}],
        "mark": {"type": "point", "size": 55, "strokeWidth": 2},
        "encoding": {"y": _height(), "opacity": charts.highlight(), "strokeDash": {"value": [1, 0]}},
    }
    fixed = {
        "data": {"values": charts.rows_of(charts.in_unit(results.metric, flat, "mean"), s="label", y="mean")},
        "mark": {"type": "rule", "strokeWidth": 2, "strokeCap": "round"},
        "encoding": {"x": None, "y": _height(), "opacity": charts.highlight(), "strokeDash": {"value": [1, 4]}},
    }
    x = field("x:Q", title="dimension", scale=scale, axis={"format": "d", "tickMinStep": 1})
    layers = [best, fixed] if len(flat) else [best]
    return lines(sweep, results, title, "dimension", x, *layers, shown=curves["label"])


def _height(name: str = "y") -> Chart:
    """Return the encoding of a score on the y axis; the figure's subtitle takes the place of the axis title."""
    return field(f"{name}:Q", scale={"zero": False}, axis={"tickCount": 6})


def lines(
    frame: pd.DataFrame, results: Results, title: str, column: str, x: Chart, *layers: Chart, shown: Iterable[str]
) -> Chart:
    """Draw a score against a column, with a line for each method and a band of one standard deviation.

    Bands are fainter the more methods there are. The legend has the methods ``shown``.
    """
    metric = results.metric
    spread = frame["std"].fillna(0.0)
    high = (frame["mean"] + spread).clip(upper=metric.bounds[1])
    rows = charts.rows_of(
        charts.in_unit(metric, frame.assign(low=frame["mean"] - spread, high=high), "mean", "std", "low", "high"),
        s="label", x=column, y="mean", std="std", low="low", high="high",
        **({"best": "best"} if "best" in frame else {}),
    )  # fmt: skip
    opacity = min(0.13, max(0.03, 0.7 / max(frame["label"].nunique(), 1)))
    band = {
        "mark": "area",
        "encoding": {
            "y": _height("low"), "y2": {"field": "high"}, "strokeDash": None,
            "fillOpacity": charts.highlight(opacity, faint=0),
        },
    }  # fmt: skip
    line = {
        "params": [charts.LEGEND_SELECTION],
        "mark": {"type": "line", "strokeWidth": 2},
        "encoding": {"y": _height(), "opacity": charts.highlight()},
    }
    unit = f"{metric.name}, %" if metric.in_percent else metric.name
    tips = tooltip(("s:N", "method"), ("x:Q", x["title"]), ("y:Q", f"mean {unit}", ".2f"), ("std:Q", "std", ".2f"))
    touch = {  # invisible marks that widen the pointer target
        "mark": {"type": "point", "size": 120, "filled": True, "opacity": 0},
        "encoding": {"y": _height(), "tooltip": tips},
    }
    return charts.chart(
        band, line, *layers, touch, rows=rows, height=300, title=title, subtitle=unit,
        encoding={"x": x} | charts.method_lines(results.labels, list(dict.fromkeys(shown))),
    )  # fmt: skip
