"""What all figures share: their size, their legend, and the looks of a series.

A chart for the page has the width of its box and takes the highlighted series from the page's own legend through the
parameter ``focus``; a chart for a file has a fixed width and a legend.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt

from mklearn.report.series import Series

Chart = alt.Chart | alt.LayerChart | alt.FacetChart


@dataclass(frozen=True)
class Canvas:
    """Where a chart goes: its width in pixels or that of its box, and whether it needs a legend of its own."""

    width: int | Literal["container"]
    legend: bool


PAGE = Canvas("container", legend=False)
FILE = Canvas(560, legend=True)

FOCUSED = "!length(focus) || indexof(focus, datum.s) >= 0"
"""Vega expression: no series is highlighted, or that of the mark is."""


class Store(dict[str, list[dict[str, Any]]]):
    """The data of a chart by name. Altair copies a chart at every step; its data join it at the last one."""

    def add(self, values: list[dict[str, Any]]) -> alt.NamedData:
        """Keep rows, and give what stands for them in the chart."""
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
    """Size, title, data, and the parameter that the page's legend sets; several lines of the subtitle are a list.

    Set on the chart itself: Altair's own methods copy it, with all its layers, a tenth of the time of a report.
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
    """Vega-Lite of a chart; its data are not walked through, which would take most of the time of a report."""
    data, chart.datasets = chart.datasets, alt.Undefined
    chart.description = description
    return chart.to_dict(validate=False) | {"datasets": data}


def colour_of(series: Series, canvas: Canvas, shown: Iterable[str] | None = None) -> alt.Color:
    """Colour of the series; the colours themselves are the scheme's (``config.range.category``).

    The legend, where the canvas has one, names the series that are ``shown``, or all.
    """
    legend = None
    if canvas.legend:
        values = _in_order(series, shown)
        legend = alt.Legend(title=None, symbolType="stroke", symbolOpacity=1, symbolSize=400, values=values)
    return alt.Color("s:N", scale=alt.Scale(domain=list(series.labels)), legend=legend)


def dash_of(series: Series, canvas: Canvas, shown: Iterable[str] | None = None) -> alt.StrokeDash:
    """Line pattern of the series; the legend as for `colour_of`."""
    legend = None
    if canvas.legend:
        legend = alt.Legend(title=None, symbolOpacity=1, symbolSize=400, values=_in_order(series, shown))
    return alt.StrokeDash("s:N", scale=alt.Scale(domain=list(series.labels), range=series.dashes()), legend=legend)


def _in_order(series: Series, shown: Iterable[str] | None) -> list[str]:
    names = set(series.labels if shown is None else shown)
    return [label for label in series.labels if label in names]


def opacity_of(full: float = 1, faint: float = 0.1, pointer: alt.Parameter | None = None) -> alt.OpacityValue:
    """Full for highlighted series, faint for the others; highlighted by the page's legend, or by a ``pointer``.

    A channel of its own class, here and below: for conditions that are given as such Altair searches its whole schema.
    """
    condition = {"test": FOCUSED} if pointer is None else {"param": pointer.name}
    return alt.OpacityValue(faint, condition=condition | {"value": full})


def band_opacity_of(n_series: int) -> alt.OpacityValue:
    """Of the bands around lines: fainter the more there are, plain for highlighted series, none for the others."""
    plain = min(0.13, max(0.03, 0.7 / max(n_series, 1)))
    return alt.OpacityValue(0, condition=[{"test": "!length(focus)", "value": plain}, {"test": FOCUSED, "value": 0.16}])


def row_axis() -> alt.Axis:
    """Axis of a dot plot whose rows have names."""
    return alt.Axis(grid=True, gridOpacity=0.5)
