"""The figure of kernel spectra: how fast the eigenvalues of each kernel fall, and which are negative."""

from __future__ import annotations

import json
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import altair as alt

from mklearn.report.canvas import Canvas, Chart, Store, finish, opacity_of
from mklearn.report.frames import plain_rows
from mklearn.report.picks import common_prefix
from mklearn.report.records import FitRecord

if TYPE_CHECKING:
    import pandas as pd

LEAST_SHARE = 1e-9
"""Eigenvalues below this share of the sum are left out: they are rounding."""
_CATEGORIES = 8
_COLUMNS = 2


def spectra(records: Sequence[FitRecord]) -> pd.DataFrame:
    """``kernel, rank, share, negative``: the spectrum of each kernel of one setting, in the first fit that has it.

    Parameters
    ----------
    records : sequence of FitRecord
        Of one setting. Model files of before spectra were kept have none.

    Returns
    -------
    DataFrame
        Absolute shares of the sum of absolute eigenvalues, by rank; empty where no spectrum is known.
    """
    import pandas as pd

    found: dict[str, Any] = {}
    for record in records:
        info = record.kernel_info
        if info is not None and "spectrum" in info:
            for kernel, curve in zip(info["kernel"], info["spectrum"], strict=True):
                if isinstance(curve, list) and curve:
                    found.setdefault(str(kernel), curve)
    rows = [
        (kernel, int(rank), abs(float(share)), share < 0)
        for kernel, curve in found.items()
        for rank, share in curve
        if abs(share) >= LEAST_SHARE
    ]
    return pd.DataFrame(rows, columns=["kernel", "rank", "share", "negative"])


def kernel_spectra(curves: pd.DataFrame, canvas: Canvas) -> Chart:
    """Eigenvalues against their rank on logarithmic scales, one line for each kernel; negative ones dotted.

    A kernel is highlighted under the pointer. Up to eight kernels have colours of their own; more are ordered, as
    bandwidths are, and take a ramp.

    Parameters
    ----------
    curves : DataFrame
        From `spectra`.
    """
    store = Store()
    names = list(dict.fromkeys(curves["kernel"]))
    place = {name: number for number, name in enumerate(names)}
    frame = curves.assign(
        i=[place[name] for name in curves["kernel"]],
        sign=["negative" if negative else "positive" for negative in curves["negative"]],
    )
    pointer = alt.selection_point(name="pointed", fields=["k"], on="pointerover", clear="pointerout")
    log = alt.Scale(type="log", nice=False)
    low, high = float(frame["share"].min()), float(frame["share"].max())
    y_scale = alt.Scale(type="log", nice=False, domain=[low / 1.4, high * 1.4])
    columns = {"kernel": "k", "i": "i", "rank": "r", "share": "y", "sign": "sign"}
    base = alt.Chart(store.add(plain_rows(frame, columns))).encode(
        x=alt.X("r:Q", title="rank", scale=log, axis=alt.Axis(format="~g", values=_ranks(int(frame["rank"].max())))),
        y=alt.Y("y:Q", title=None, scale=y_scale, axis=alt.Axis(format=".0e", values=_powers(low, high))),
    )
    shown = base.encode(color=_colour(names), opacity=opacity_of(1, 0.12, pointer))
    # a line for each sign, so that none is drawn from the last positive eigenvalue to the first negative one
    lines = shown.mark_line(strokeWidth=1.8).encode(detail="k:N", strokeDash=_dash("sign:N"))
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
    layers: list[Chart] = [lines, touch]
    subtitle = "share of the sum of absolute eigenvalues"
    if frame["negative"].any():
        negative = shown.transform_filter("datum.sign === 'negative'")
        layers.insert(1, negative.mark_point(size=24, strokeWidth=1.3, filled=False))
        subtitle += "; rings: negative"
    return finish(alt.layer(*layers), canvas, 240, store, title="Eigenvalues", subtitle=subtitle, focus=False)


def _colour(names: Sequence[str]) -> alt.Color:
    """A colour for each of a few kernels, a ramp over many; the legend is below the figure, without what names share.

    The ramp's scale is a continuous one over the numbers of the kernels, whose legend names them by an expression.
    """
    prefix = common_prefix(names)
    texts = json.dumps([name.removeprefix(prefix) for name in names])
    legend = alt.Legend(
        title=f"kernel: {prefix}…" if prefix else None,
        orient="bottom",
        type="symbol",
        columns=_COLUMNS,
        values=list(range(len(names))),
        labelExpr=f"{texts}[datum.value]",
        labelLimit=130,
        symbolType="stroke",
        symbolOpacity=1,
        symbolSize=250,
    )
    domain = list(range(len(names)))
    if len(names) <= _CATEGORIES:
        return alt.Color("i:N", scale=alt.Scale(domain=domain, range="ordinal"), legend=legend)
    return alt.Color("i:Q", scale=alt.Scale(domain=[0, len(names) - 1], range="ramp"), legend=legend)


def _dash(field: str) -> alt.StrokeDash:
    scale = alt.Scale(domain=["positive", "negative"], range=[[1, 0], [2, 3]])
    return alt.StrokeDash(field, scale=scale, legend=None)


def _ranks(last: int) -> list[int]:
    """Ticks of the ranks: fewer steps in a decade, the more decades there are."""
    steps = (1, 2, 5) if last <= 200 else (1, 3)
    return [step * 10**power for power in range(len(str(last))) for step in steps if step * 10**power <= last]


def _powers(low: float, high: float) -> list[float]:
    """Powers of ten on an axis, at most about six."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    return [float(f"1e{power}") for power in range(first, last + 1, max(1, (last - first) // 5))]
