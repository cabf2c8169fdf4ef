"""Figures of confused classes: a map of a few classes, accuracies of sorted classes where there are many."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt
import numpy as np

from mklearn.report import charts
from mklearn.report.charts import Canvas, Chart, Store
from mklearn.report.confusion import EXTREMES, Confusion
from mklearn.report.frames import plain_rows
from mklearn.report.series import Series
from mklearn.report.wording import percent

if TYPE_CHECKING:
    import pandas as pd

_NUMBERED = 15
"""Up to this many classes, the map has its numbers written in."""


def confusion_map(found: Confusion, series: Series, canvas: Canvas) -> Chart:
    """Draw the share of the test samples of each true class (row) by predicted class (column), where there are any.

    Shades go with the square root of the share, so that rare confusions can be seen.
    """
    store = Store()
    rates, totals = found.rates, found.totals
    rows = [
        {
            "s": found.label,
            "t": found.classes[i],
            "p": found.classes[j],
            "n": int(found.counts[i, j]),
            "of": int(totals[i]),
            "share": round(float(rates[i, j]), 4),
            "text": percent(rates[i, j], 0) if rates[i, j] >= 0.005 else "<1",
        }
        for i, j in np.argwhere(found.counts > 0)
    ]
    classes = list(found.classes)
    base = alt.Chart(store.add(rows)).encode(
        x=alt.X(
            "p:N",
            scale=alt.Scale(domain=classes),
            title="predicted class",
            axis=alt.Axis(labelAngle=-40, grid=False, labelOverlap=False, labelLimit=90),
        ),
        y=alt.Y("t:N", scale=alt.Scale(domain=classes), title=None, axis=alt.Axis(grid=False)),
        tooltip=[
            alt.Tooltip("t:N", title="true class"),
            alt.Tooltip("p:N", title="predicted class"),
            alt.Tooltip("share:Q", title="share", format=".1%"),
            alt.Tooltip("n:Q", title="samples"),
            alt.Tooltip("of:Q", title="of"),
        ],
    )
    shade = alt.Scale(type="sqrt", domain=[0, 1], range=[0.04, 0.6])
    layers: list[Chart] = [
        base.mark_rect(stroke="#88888833").encode(
            color=charts.plain_colour(series), opacity=alt.Opacity("share:Q", scale=shade, legend=None)
        )
    ]
    if len(classes) <= _NUMBERED:
        layers.append(base.mark_text(fontSize=10).encode(text="text:N"))
    chart = alt.layer(*layers)
    chart.view = alt.ViewBackground(stroke="#88888866")
    side = 26 if len(classes) <= _NUMBERED else 18
    subtitle = "% of each true class (row)"
    return charts.finish(chart, canvas, side * len(classes), store, title=found.label, subtitle=subtitle, focus=False)


def accuracy_by_rank(accuracies: pd.DataFrame, series: Series, canvas: Canvas, *, title: str) -> Chart:
    """Draw the accuracy of every class, the best-recognised first: dots, and rings for the method to compare with.

    Parameters
    ----------
    accuracies : DataFrame
        From `mklearn.report.confusion.class_accuracies`.
    """
    store = Store()
    frame, first = charts.in_percent(accuracies, "accuracy"), str(accuracies["label"].iloc[0])
    x = alt.X(
        "r:Q",
        title="classes, by the accuracy of " + first,
        scale=alt.Scale(nice=False, zero=False, padding=6),
        axis=alt.Axis(format="d", grid=False, tickCount=6),
    )
    y = alt.Y("y:Q", title=None, scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(tickCount=6))
    marks = _dots_and_rings(_marks(store, frame, series, canvas).encode(x=x, y=y), first)
    ties = _ties(store, frame).encode(x=x, y=alt.Y("low:Q", title=None), y2="high:Q")
    subtitle = ["accuracy of each class, %", *_key(frame)]
    return charts.finish(alt.layer(ties, *marks), canvas, 260, store, title=title, subtitle=subtitle)


def extreme_classes(accuracies: pd.DataFrame, series: Series, canvas: Canvas, *, title: str) -> Chart:
    """Draw the accuracy of the classes at both ends, by name: dots, and rings for the method to compare with.

    Parameters
    ----------
    accuracies : DataFrame
        From `mklearn.report.confusion.class_accuracies`.
    """
    store = Store()
    last = int(accuracies["rank"].max())
    ends = accuracies[(accuracies["rank"] <= EXTREMES) | (accuracies["rank"] > last - EXTREMES)]
    frame, first = charts.in_percent(ends, "accuracy"), str(ends["label"].iloc[0])
    x = alt.X("y:Q", title="accuracy, %", scale=alt.Scale(domain=[0, 100], padding=6), axis=alt.Axis(tickCount=6))
    y = alt.Y("c:N", sort=list(dict.fromkeys(frame["c"])), title=None, axis=charts.row_axis())
    marks = _dots_and_rings(_marks(store, frame, series, canvas).encode(x=x, y=y), first)
    ties = _ties(store, frame).encode(x=alt.X("low:Q"), x2="high:Q", y=y)
    subtitle = [f"the {EXTREMES} best and the {EXTREMES} worst recognised classes", *_key(frame)]
    return charts.finish(
        alt.layer(ties, *marks), canvas, 18 * frame["c"].nunique(), store, title=title, subtitle=subtitle
    )


def _key(frame: pd.DataFrame) -> list[str]:
    """Return which mark stands for which method; the page's legend has all methods, and colours alone would not do."""
    return [f"{mark} {label}" for mark, label in zip("●○", dict.fromkeys(frame["label"]), strict=False)]


def _marks(store: Store, frame: pd.DataFrame, series: Series, canvas: Canvas) -> alt.Chart:
    columns = {"label": "s", "c": "c", "rank": "r", "accuracy": "y", "total": "n"}
    return alt.Chart(store.add(plain_rows(frame, columns))).encode(
        color=charts.colour_of(series, canvas, set(frame["label"])),
        opacity=charts.opacity_of(),
        tooltip=[
            alt.Tooltip("c:N", title="class"),
            alt.Tooltip("s:N", title="method"),
            alt.Tooltip("y:Q", title="accuracy, %", format=".1f"),
            alt.Tooltip("n:Q", title="test samples"),
        ],
    )


def _dots_and_rings(base: alt.Chart, first: str) -> list[Chart]:
    """Draw dots for the first method and larger rings for the other, so that both are seen where they coincide."""
    best = alt.FieldEqualPredicate(field="s", equal=first)
    rings = base.transform_filter(alt.LogicalNotPredicate(**{"not": best})).mark_point(size=60, strokeWidth=1.6)
    return [rings, base.transform_filter(best).mark_point(size=34, filled=True)]


def _ties(store: Store, frame: pd.DataFrame) -> alt.Chart:
    """Draw a line for each class between the accuracies of its marks."""
    spans = frame.groupby("c", sort=False).agg(low=("accuracy", "min"), high=("accuracy", "max"), r=("rank", "first"))
    rows = plain_rows(spans.reset_index(), {"c": "c", "low": "low", "high": "high", "r": "r"})
    return alt.Chart(store.add(rows)).mark_rule(strokeWidth=1, opacity=0.45)
