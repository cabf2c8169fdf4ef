"""What all figures share: frame, encodings, data, and how a series looks.

A figure is a Vega-Lite specification. Its fields have names of the figure's own (``s`` for the series, ``x``, ``y``
...), so that names with dots, brackets or quotes are only ever values.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import pandas as pd

from mklearn.study.evaluation.metrics.metric import Metric
from mklearn.study.report.series import Series
from mklearn.study.report.theme import hues

Chart = dict[str, Any]
FILE_WIDTH = 560
MAX_COLOURS = 8
"""Up to this many classes or kernels have colours of the scheme; more take hues."""
TOUCH = "touch"
"""Name of a layer of invisible marks, which only the pointer finds."""
FOCUSED = "!length(focus) || indexof(focus, datum.s) >= 0"
"""Vega expression: no series is highlighted, or the mark's series is."""
_TYPES = {"Q": "quantitative", "N": "nominal"}


def chart(
    *layers: Chart, encoding: Chart, height: int, title: str, rows: Sequence[Chart] = (), subtitle: Any = ""
) -> Chart:
    """Return a figure of layers over common rows and encodings; the page's legend sets its parameter ``focus``."""
    return {
        "width": "container",
        "height": height,
        "title": {"text": title, "subtitle": subtitle},
        "params": [{"name": "focus", "value": []}],
        "data": {"values": rows},
        "encoding": encoding,
        "layer": layers,
    }


def standalone(figure: Chart, title: str) -> Chart:
    """Return a figure for a file: with a fixed width, a title of its own and, if several lines need it, a legend.

    A figure of several panels, which a study adds, has its own.
    """
    if "layer" not in figure:
        return figure
    encoding = dict(figure["encoding"])
    if encoding.get("color", {}).get("field") == "s" and encoding.get("y", {}).get("field") != "s":
        rows = [row for layer in (figure, *figure["layer"]) for row in layer.get("data", {}).get("values", ())]
        present = {row.get("s") for row in rows}
        values = [label for label in encoding["color"]["scale"]["domain"] if label in present]
        legend: Chart = {"symbolType": "stroke", "symbolOpacity": 1, "symbolSize": 400, "values": values}
        if "strokeDash" in encoding or len(values) > 1:
            drawn = [name for name in ("color", "strokeDash") if name in encoding]
            encoding |= {name: encoding[name] | {"legend": legend} for name in drawn}
    layers = [layer for layer in figure["layer"] if layer.get("name") != TOUCH]
    titled = figure["title"] | {"text": title}
    return figure | {"width": FILE_WIDTH, "title": titled, "encoding": encoding, "layer": layers}


def field(shorthand: str, **options: Any) -> Chart:
    """Encode a field, ``name:Q`` or ``name:N``."""
    name, kind = shorthand.split(":")
    return {"field": name, "type": _TYPES[kind], "title": None} | options


def tooltip(*fields: tuple[str, ...]) -> list[Chart]:
    """Encode what the pointer shows: field and title of each line, and a number format."""
    return [
        field(shorthand, title=title, **({"format": form[0]} if form else {})) for shorthand, title, *form in fields
    ]


def names(shorthand: str, order: Sequence[str]) -> Chart:
    """Encode the names of the rows of a dot plot."""
    return field(shorthand, sort=list(order), axis={"grid": True, "gridOpacity": 0.5})


def colour(series: Series) -> Chart:
    """Encode the series as colour; the colours are those of the scheme (``config.range.category``)."""
    return field("s:N", scale={"domain": list(series.labels)}, legend=None)


def dash(series: Series) -> Chart:
    """Encode the series as line pattern."""
    return field("s:N", scale={"domain": list(series.labels), "range": series.dashes()}, legend=None)


def class_scale(values: Sequence[str]) -> Chart:
    """Return the colour scale of classes or kernels."""
    return {"domain": list(values), "range": "ordinal" if len(values) <= MAX_COLOURS else hues(len(values))}


def highlight(full: float = 1) -> Chart:
    """Show highlighted series fully and others faintly."""
    return {"condition": {"test": FOCUSED, "value": full}, "value": 0.1}


def pointer(shorthand: str) -> tuple[Chart, Chart]:
    """Return a parameter and an opacity: marks of the value under the pointer are shown fully."""
    fields = [shorthand.split(":")[0]]
    select = {"type": "point", "fields": fields, "on": "pointerover", "clear": "pointerout"}
    return {"name": "pointed", "select": select}, {"condition": {"param": "pointed", "value": 1}, "value": 0.1}


def vertical_rule(value: float) -> Chart:
    """Return a layer with a dashed vertical line."""
    encoding = {"x": {"field": "v", "type": "quantitative"}} | dict.fromkeys(
        ("y", "yOffset", "color", "opacity", "tooltip")
    )
    return {"data": {"values": [{"v": value}]}, "mark": {"type": "rule", "strokeDash": [4, 3]}, "encoding": encoding}


def rows_of(frame: pd.DataFrame, **fields: str) -> list[Chart]:
    """Return rows as JSON values, the columns ``fields`` by their names in the figure; numbers have six digits."""
    shown = pd.DataFrame({name: frame[column] for name, column in fields.items()})
    for name in shown.select_dtypes("float"):
        shown[name] = [float(f"{value:.6g}") for value in shown[name]]
    return list(json.loads(shown.to_json(orient="records", double_precision=15)))


def in_percent(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Convert columns from fractions to percent."""
    return frame.assign(**{name: 100 * frame[name] for name in columns})


def in_unit(metric: Metric, frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Convert columns to percent where the metric is shown in percent."""
    return in_percent(frame, *columns) if metric.in_percent else frame
