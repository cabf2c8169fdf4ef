"""Shared parts of all figures: frame, encodings, data, names, colours and files.

A figure is a Vega-Lite specification. Its fields have short fixed names (``s`` for the method, ``x``, ``y`` ...), so
that user-supplied names with dots, brackets or quotes occur only as values.
"""

from __future__ import annotations

import colorsys
import functools
import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd
import vl_convert

from mklearn.study.evaluation.metrics.metric import Metric

Chart = dict[str, Any]
VEGA_LITE = "6.4"
"""Version of Vega-Lite in the page and for figure files."""
FILE_WIDTH = 560
MAX_COLOURS = 8
"""Number of colours in a scheme. Methods beyond it have dashed lines; more classes or kernels get generated hues."""
DASHES = ((1, 0), (6, 3), (2, 2), (9, 3, 2, 3))
LONGEST = 120
"""Maximum number of characters of a name in a figure; tables have the full name."""
_OF_EVERY_OBJECT = re.compile(
    "__.*__|constructor|hasOwnProperty|isPrototypeOf|propertyIsEnumerable|to(Locale)?String|valueOf"
)
"""Properties of every JavaScript object, which Vega would find in its lookup tables."""
_TYPES = {"Q": "quantitative", "N": "nominal"}

PAGE_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
FILE_FONT = "Arial, Helvetica, sans-serif"


@dataclass(frozen=True)
class Scheme:
    """A colour scheme; ``colours`` are distinguishable with any common colour-vision deficiency."""

    name: str
    ink: str
    muted: str
    line: str
    background: str
    neutral: str
    colours: tuple[str, ...]


LIGHT = Scheme(
    name="light", ink="#1b1f24", muted="#5b636e", line="#e3e6ea", background="#ffffff", neutral="#6a7079",
    colours=("#0072b2", "#d55e00", "#12a567", "#4f049b", "#e989a7", "#604803", "#a899fc", "#940c4d"),
)  # fmt: skip
DARK = Scheme(
    name="dark", ink="#e8eaed", muted="#a3abb6", line="#31363e", background="#1b1e23", neutral="#a9b0ba",
    colours=("#4a9fe0", "#f0824a", "#a0e1a4", "#ac6499", "#fabdfe", "#f6de1c", "#138d6d", "#e33d4f"),
)  # fmt: skip
SCHEMES = (LIGHT, DARK)


def chart(
    *layers: Chart, encoding: Chart, height: int, title: str, rows: Sequence[Chart] = (), subtitle: Any = ""
) -> Chart:
    """Return a figure of layers that share rows and encodings, as wide as its container on the page."""
    return {
        "width": "container", "height": height, "title": {"text": title, "subtitle": subtitle},
        "data": {"values": rows}, "encoding": encoding, "layer": layers,
    }  # fmt: skip


def field(shorthand: str, **options: Any) -> Chart:
    """Return the encoding of a field, ``name:Q`` (quantitative) or ``name:N`` (nominal)."""
    name, kind = shorthand.split(":")
    return {"field": name, "type": _TYPES[kind], "title": None} | options


def tooltip(*fields: tuple[str, ...]) -> list[Chart]:
    """Return the encoding of a tooltip; each line has a field, a title and optionally a number format."""
    return [
        field(shorthand, title=title, **({"format": form[0]} if form else {})) for shorthand, title, *form in fields
    ]


def names(shorthand: str, order: Sequence[str]) -> Chart:
    """Return the encoding of the row names of a dot plot."""
    return field(shorthand, sort=list(order), axis={"grid": True, "gridOpacity": 0.5})


def method_colour(labels: Sequence[str]) -> Chart:
    """Return the encoding of the method as a colour of the scheme; ``labels`` are all methods of the study."""
    return field("s:N", scale={"domain": list(labels)}, legend=None)


def method_lines(labels: Sequence[str], shown: Sequence[str]) -> Chart:
    """Return the encodings of the method as colour and line pattern, with a legend of the methods ``shown``."""
    legend = {"orient": "bottom", "symbolType": "stroke", "symbolSize": 400, "values": list(shown), "title": None}
    dashes = [list(DASHES[max(place - 1, 0) // MAX_COLOURS % len(DASHES)]) for place in range(len(labels))]
    dash = field("s:N", scale={"domain": list(labels), "range": dashes}, legend=legend)
    return {"color": method_colour(labels) | {"legend": legend}, "strokeDash": dash}


LEGEND_SELECTION: Chart = {"name": "focus", "select": {"type": "point", "fields": ["s"]}, "bind": "legend"}
"""Vega-Lite parameter for one layer of a line chart: the methods selected in its legend."""


def highlight(full: float = 1, faint: float = 0.1) -> Chart:
    """Return an opacity that is ``full`` for methods selected in the legend and ``faint`` for the others."""
    return {"condition": {"param": "focus", "value": full}, "value": faint}


def class_scale(values: Sequence[str]) -> Chart:
    """Return the colour scale of classes or kernels."""
    return {"domain": list(values), "range": "ordinal" if len(values) <= MAX_COLOURS else hues(len(values))}


def vertical_rule(value: float) -> Chart:
    """Return a layer with a dashed vertical line."""
    encoding = {"x": {"field": "v", "type": "quantitative"}} | dict.fromkeys(("y", "yOffset", "color", "tooltip"))
    return {"data": {"values": [{"v": value}]}, "mark": {"type": "rule", "strokeDash": [4, 3]}, "encoding": encoding}


def rows_of(frame: pd.DataFrame, **fields: str) -> list[Chart]:
    """Return rows as JSON values; ``fields`` maps names in the figure to columns. Numbers have six digits."""
    shown = pd.DataFrame({name: frame[column] for name, column in fields.items()})
    for name in shown.select_dtypes("float"):
        shown[name] = [float(f"{value:.6g}") for value in shown[name]]
    return list(json.loads(shown.to_json(orient="records", double_precision=15)))


def in_percent(frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return the frame with some columns converted from fractions to percent."""
    return frame.assign(**{name: 100 * frame[name] for name in columns})


def in_unit(metric: Metric, frame: pd.DataFrame, *columns: str) -> pd.DataFrame:
    """Return the frame with some columns converted to percent if the metric is shown in percent."""
    return in_percent(frame, *columns) if metric.in_percent else frame


def printable(text: Any) -> Any:
    """Return a name, or a specification with all its texts, shortened and safe for every renderer."""
    if isinstance(text, dict):
        return {key: printable(value) for key, value in text.items()}
    if isinstance(text, list | tuple):
        return [printable(value) for value in text]
    if not isinstance(text, str):
        return text
    text = text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
    shown = [c if c.isprintable() else " " if c.isspace() else f"<U+{ord(c):04X}>" for c in text]
    text = "".join(shown).replace("\\", "∖")  # backslashes are escapes in Vega's expressions
    return f"{text} " if _OF_EVERY_OBJECT.fullmatch(text) else text


# --- colours, fonts and axes


def vega_config(scheme: Scheme, n_methods: int, *, file: bool = False) -> dict[str, Any]:
    """Return the Vega-Lite configuration of a scheme for the page, or for a ``file`` with fonts of every renderer."""
    font = FILE_FONT if file else PAGE_FONT
    text = {
        "labelColor": scheme.muted, "titleColor": scheme.ink, "labelFont": font, "titleFont": font, "labelFontSize": 11,
    }  # fmt: skip
    axis = {
        "titleFontSize": 12, "titleFontWeight": 400, "titlePadding": 8, "labelPadding": 6, "labelLimit": 220,
        "labelFlush": False, "domain": False, "ticks": False, "gridColor": scheme.line, "gridWidth": 1,
    }  # fmt: skip
    legend = {
        "labelColor": scheme.ink, "titleFontSize": 11, "titleFontWeight": 600, "labelLimit": 320,
        "symbolStrokeWidth": 2.5, "symbolLimit": 0, "rowPadding": 4,  # symbolLimit 0: no limit
    }  # fmt: skip
    title = {
        "font": font, "color": scheme.ink, "fontSize": 13, "fontWeight": 600, "anchor": "start", "offset": 10,
        "subtitleFont": font, "subtitleColor": scheme.muted, "subtitleFontSize": 11, "subtitlePadding": 4,
    }  # fmt: skip
    colours = [scheme.colours[place % len(scheme.colours)] for place in range(n_methods - 1)]
    return {
        "background": scheme.background if file else "transparent",
        "font": font,
        # Extra room on the left: method names may be wider on machines without FILE_FONT.
        "padding": {"left": 36, "top": 12, "right": 12, "bottom": 12} if file else 2,
        "view": {"stroke": None},
        "axis": text | axis,
        "legend": text | legend,
        "title": title,
        "text": {"font": font, "color": scheme.ink, "fontSize": 11, "limit": 280},
        "rule": {"color": scheme.muted},
        "range": {
            "category": [scheme.neutral, *colours],
            "ordinal": list(scheme.colours),
            "heatmap": [scheme.colours[0], scheme.neutral, scheme.colours[1]],
        },
    }


def hues(number: int) -> list[str]:
    """Return ``number`` colours of medium lightness; consecutive hues differ by the golden angle (0.38 of a turn)."""
    turns = (place * 0.381966 % 1.0 for place in range(number))
    parts = (colorsys.hls_to_rgb(turn, 0.55, 0.62) for turn in turns)
    return ["#" + "".join(f"{round(255 * part):02x}" for part in rgb) for rgb in parts]


# --- files


@functools.cache
def vega_script() -> str:
    """Return Vega, Vega-Lite and Vega-Embed in one script, which sets ``vegaEmbed``."""
    return str(vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE))


def rendered(figure: Chart, title: str, config: Chart) -> str:
    """Return a figure with its title as SVG."""
    if figure.get("width") == "container":
        figure = figure | {"width": FILE_WIDTH, "title": figure["title"] | {"text": title}}
    svg: str = vl_convert.vegalite_to_svg(figure, vl_version=VEGA_LITE, config=config, allowed_base_urls=[])
    return svg
