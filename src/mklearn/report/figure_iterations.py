"""The figure of methods that iterate: accuracy against the number of iterations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import altair as alt

from mklearn.report.canvas import Canvas, Chart, Store, band_opacity_of, colour_of, dash_of, finish, opacity_of
from mklearn.report.frames import plain_rows
from mklearn.report.series import Series

if TYPE_CHECKING:
    import pandas as pd


def accuracy_by_iteration(curves: pd.DataFrame, series: Series, canvas: Canvas, *, title: str) -> Chart:
    """Mean accuracy over repeats after each iteration, with a band of one standard deviation.

    Parameters
    ----------
    curves : DataFrame
        From :func:`mklearn.report.frames.iterations`, of one setting, rule and size; in fractions.
    """
    store = Store()
    frame = curves.assign(**{name: 100 * curves[name] for name in ("mean", "std", "low", "high")})
    columns = {"label": "s", "iteration": "t", "mean": "y", "std": "std", "n": "n", "low": "low", "high": "high"}
    base = alt.Chart(store.add(plain_rows(frame, columns))).encode(
        x=alt.X(
            "t:Q", title="iterations", scale=alt.Scale(zero=False, nice=False), axis=alt.Axis(format="d", tickMinStep=1)
        ),
        color=colour_of(series, canvas, frame["label"]),
    )
    scale, axis = alt.Scale(zero=False, nice=True), alt.Axis(tickCount=6)
    y = alt.Y("y:Q", title=None, scale=scale, axis=axis)
    band = base.mark_area().encode(
        y=alt.Y("low:Q", title=None, scale=scale, axis=axis),
        y2="high:Q",
        opacity=band_opacity_of(frame["label"].nunique()),
    )
    dash = dash_of(series, canvas, frame["label"])
    lines = base.mark_line(strokeWidth=2).encode(y=y, strokeDash=dash, opacity=opacity_of())
    dots = base.mark_point(filled=True, size=34).encode(
        y=y,
        opacity=opacity_of(),
        tooltip=[
            alt.Tooltip("s:N", title="method"),
            alt.Tooltip("t:Q", title="iterations"),
            alt.Tooltip("y:Q", title="mean accuracy, %", format=".2f"),
            alt.Tooltip("std:Q", title="std", format=".2f"),
            alt.Tooltip("n:Q", title="repeats"),
        ],
    )
    return finish(alt.layer(band, lines, dots), canvas, 260, store, title=title, subtitle="accuracy, %")
