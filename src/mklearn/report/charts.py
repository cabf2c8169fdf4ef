"""What all figures share: size, data, legend, axes, and how a series looks.

A chart for the page has the width of its box and takes the highlighted series from the page's own legend through the
parameter ``focus``; a chart for a file has a fixed width and a legend.
"""

from __future__ import annotations

import math
from collections.abc import Collection
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import altair as alt
import numpy as np

from mklearn.report.series import Series

if TYPE_CHECKING:
    import pandas as pd

Chart = alt.Chart | alt.LayerChart | alt.FacetChart


@dataclass(frozen=True)
class Canvas:
    """Where a chart is shown: its width in pixels or that of its box, and whether it needs a legend of its own."""

    width: int | Literal["container"]
    legend: bool


PAGE = Canvas("container", legend=False)
FILE = Canvas(560, legend=True)
FLOATING = alt.Scale(zero=False, nice=True)
"""Scale of an axis that need not start at 0."""

FOCUSED = "!length(focus) || indexof(focus, datum.s) >= 0"
"""Vega expression: no series is highlighted, or the mark's series is."""


class Store(dict[str, list[dict[str, Any]]]):
    """The data of a chart by name. Altair copies a chart at every step; the data are added at the last one."""

    def add(self, values: list[dict[str, Any]]) -> alt.NamedData:
        """Keep rows, and return their name for the chart."""
        name = f"d{len(self)}"
        self[name] = values
        return alt.NamedData(name=name)


def finish(
    chart: Chart,
    canvas: Canvas,
    height: int,
    store: Store,
    *,
    title: str = "",
    subtitle: str | list[str] = "",
    focus: bool = True,
) -> Chart:
    """Set size, title, data, and the parameter ``focus``, which the page's legend sets.

    Everything is set on the chart itself: Altair's own methods copy it with all its layers, a tenth of a report's time.
    """
    chart.width, chart.height = canvas.width, height
    if title or subtitle:
        chart.title = alt.TitleParams(title, subtitle=subtitle) if subtitle else alt.TitleParams(title)
    if focus:
        held: list[Any] = [] if chart.params is alt.Undefined else list(chart.params)  # type: ignore[arg-type]
        chart.params = [*held, alt.param(name="focus", value=[]).param]
    chart.datasets = dict(store)
    return chart


def specification(chart: Chart, description: str) -> dict[str, Any]:
    """Return the Vega-Lite specification of a chart, without visiting its data: that would take most of the time."""
    data, chart.datasets = chart.datasets, alt.Undefined
    chart.description = description
    return chart.to_dict(validate=False) | {"datasets": data}


def colour_of(series: Series, canvas: Canvas, shown: Collection[str]) -> alt.Color:
    """Encode the series as colour; the colours are those of the scheme (``config.range.category``).

    The legend, where the canvas has one, names the series that are ``shown``.
    """
    legend = _legend(series, canvas, shown, symbolType="stroke")
    return alt.Color("s:N", scale=alt.Scale(domain=list(series.labels)), legend=legend)


def plain_colour(series: Series) -> alt.Color:
    """Encode the series as colour, without a legend: for figures that name their series."""
    return colour_of(series, PAGE, ())


def dash_of(series: Series, canvas: Canvas, shown: Collection[str]) -> alt.StrokeDash:
    """Encode the series as line pattern; the legend is as for `colour_of`."""
    scale = alt.Scale(domain=list(series.labels), range=series.dashes())
    return alt.StrokeDash("s:N", scale=scale, legend=_legend(series, canvas, shown))


def _legend(series: Series, canvas: Canvas, shown: Collection[str], **options: Any) -> alt.Legend | None:
    if not canvas.legend:
        return None
    values = [label for label in series.labels if label in set(shown)]
    return alt.Legend(title=None, symbolOpacity=1, symbolSize=400, values=values, **options)


def shape_legend(**options: Any) -> alt.Legend:
    """Return a legend of grey shapes above the figure."""
    return alt.Legend(title=None, orient="top", symbolFillColor="gray", symbolStrokeColor="gray", offset=4, **options)


def opacity_of(full: float = 1, faint: float = 0.1, pointer: alt.Parameter | None = None) -> alt.OpacityValue:
    """Show highlighted series fully and others faintly; the page's legend highlights, or a ``pointer``.

    A channel of its own class, here and below: for conditions that are given as such Altair searches its whole schema.
    """
    condition = {"test": FOCUSED} if pointer is None else {"param": pointer.name}
    return alt.OpacityValue(faint, condition=condition | {"value": full})


def pointer_on(field: str) -> alt.Parameter:
    """Return the parameter that highlights, under the pointer, all marks with the same value of a field."""
    return alt.selection_point(name="pointed", fields=[field], on="pointerover", clear="pointerout")


def band_and_lines(
    base: alt.Chart, series: Series, canvas: Canvas, shown: Collection[str], n_bands: int
) -> list[Chart]:
    """Draw a line per series, its mean in percent (``y``), and a band from ``low`` to ``high``.

    The band is fainter the more there are; when series are highlighted the others have none. The legend names the
    series that are ``shown``.
    """
    plain = min(0.13, max(0.03, 0.7 / max(n_bands, 1)))
    faint = alt.OpacityValue(
        0, condition=[{"test": "!length(focus)", "value": plain}, {"test": FOCUSED, "value": 0.16}]
    )
    band = base.mark_area().encode(y=percent_axis("low:Q"), y2="high:Q", opacity=faint)
    dash = dash_of(series, canvas, shown)
    lines = base.mark_line(strokeWidth=2).encode(y=percent_axis(), strokeDash=dash, opacity=opacity_of())
    return [band, lines]


def dashed_rule(store: Store, field: str, value: float, x: alt.X | str) -> alt.Chart:
    """Draw a dashed vertical line at a value of ``field``, the field of the channel ``x``."""
    return alt.Chart(store.add([{field: value}])).mark_rule(strokeDash=[4, 3]).encode(x=x)


def percent_axis(field: str = "y:Q") -> alt.Y:
    """Return the vertical axis of accuracies in percent, whose title is the figure's subtitle."""
    return alt.Y(field, title=None, scale=FLOATING, axis=alt.Axis(tickCount=6))


def size_axis(sizes: pd.Series, padding: int) -> alt.X:
    """Return the horizontal axis of training sizes, with a tick at each of them."""
    scale = alt.Scale(zero=False, nice=False, padding=padding)
    axis = alt.Axis(format="d", values=sorted({int(size) for size in sizes}))
    return alt.X("n:Q", title="training size", scale=scale, axis=axis)


def log_seconds(seconds: pd.Series) -> dict[str, Any]:
    """Return scale and axis of seconds on a logarithmic scale."""
    low, high = float(seconds.min()) / 1.3, float(seconds.max()) * 1.3
    scale = alt.Scale(type="log", nice=False, domain=[low, high])
    return {"scale": scale, "axis": alt.Axis(format="~g", values=_decades(low, high))}


def _decades(low: float, high: float) -> list[float]:
    """Return powers of ten between two numbers; with 2 and 5 times them where that leaves few."""
    exponents = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for steps in ((1,), (1, 3), (1, 2, 5)):
        ticks = [float(f"{step}e{exponent}") for exponent in exponents for step in steps]
        ticks = [tick for tick in ticks if low <= tick <= high]
        if len(ticks) >= 4:
            return ticks
    return ticks or [float(f"{value:.2g}") for value in np.geomspace(low, high, 3)]


def row_axis() -> alt.Axis:
    """Return the axis of a dot plot whose rows have names."""
    return alt.Axis(grid=True, gridOpacity=0.5)


def in_percent(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Convert columns from fractions to percent."""
    return frame.assign(**{name: 100 * frame[name] for name in columns})
