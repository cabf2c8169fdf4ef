"""The figure of published values: how far each is from ours, in units of the split noise."""

from __future__ import annotations

import textwrap
from typing import TYPE_CHECKING

import altair as alt

from mklearn.evaluation.reproduction import TOLERANCE
from mklearn.report.canvas import Canvas, Chart, Store, finish, row_axis
from mklearn.report.frames import plain_rows
from mklearn.report.wording import missing

if TYPE_CHECKING:
    import pandas as pd

BREAK = "\n"
"""Where the name of a row is broken into lines."""
SHAPES = ["circle", "square", "triangle-up", "diamond", "cross", "triangle-down"]


def split_noise_scores(cells: pd.DataFrame, canvas: Canvas, *, title: str) -> Chart:
    """z of each method and training size, with the band of what other random splits explain.

    Parameters
    ----------
    cells : DataFrame
        Cells of one data set that have a z, with ``label``; see :mod:`mklearn.evaluation.reproduction`.
    """
    store = Store()
    sizes = ["all" if missing(size) else f"training size {int(size)}" for size in cells["train_size"]]
    frame = cells.assign(
        size=sizes,
        off=cells["z"].abs() > TOLERANCE,
        ours=100 * cells["mean"],
        theirs=100 * cells["published"],
    )
    rows, shown = wrapped(list(dict.fromkeys(frame["label"]))), list(dict.fromkeys(sizes))
    frame["row"] = [rows[label] for label in frame["label"]]
    names = ("label", "row", "size", "z", "off", "ours", "theirs", "verdict")
    names_axis = row_axis()
    names_axis["labelExpr"] = "split(datum.label, '\\n')"
    x = alt.X("z:Q", title="z, right of the band: ours is lower", scale=alt.Scale(padding=10, nice=False))
    dots = (
        alt.Chart(store.add(plain_rows(frame, {name: name for name in names})))
        .mark_point(filled=True, size=64, opacity=1)
        .encode(
            x=x.axis(alt.Axis(tickCount=7)),
            y=alt.Y("row:N", sort=list(rows.values()), title=None, axis=names_axis),
            yOffset=alt.YOffset("size:N", sort=shown),
            color=alt.Color("off:N", scale=alt.Scale(domain=[False, True], range="diverging"), legend=None),
            shape=alt.Shape(
                "size:N",
                sort=shown,
                scale=alt.Scale(domain=shown, range=[SHAPES[i % len(SHAPES)] for i in range(len(shown))]),
                legend=alt.Legend(
                    title=None, orient="top", symbolFillColor="gray", symbolStrokeColor="gray", offset=4, columns=2
                ),
            ),
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
    zero = alt.Chart(store.add([{"z": 0}])).mark_rule(strokeDash=[4, 3]).encode(x="z:Q")
    height = len(rows) * max(12 + 11 * len(shown), 14 * max(row.count(BREAK) + 1 for row in rows.values()) + 4)
    subtitle = f"published − ours in units of split noise; band: ±{TOLERANCE:g}"
    return finish(alt.layer(band, zero, dots), canvas, height, store, title=title, subtitle=subtitle, focus=False)


def wrapped(labels: list[str], width: int = 19) -> dict[str, str]:
    """Names broken into up to three lines; those that would look the same are left as they are."""
    wrapper = textwrap.TextWrapper(width, max_lines=3, placeholder="…")
    broken = {label: BREAK.join(wrapper.wrap(label)) or label for label in labels}
    texts = list(broken.values())
    return {label: text if texts.count(text) == 1 else label for label, text in broken.items()}
