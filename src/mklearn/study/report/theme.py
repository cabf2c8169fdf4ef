"""Colours, fonts and axes of the figures, in a light and a dark scheme."""

from __future__ import annotations

import colorsys
from dataclasses import dataclass
from typing import Any

PAGE_FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif"
FILE_FONT = "Arial, Helvetica, sans-serif"


@dataclass(frozen=True)
class Scheme:
    """One colour scheme; ``colours`` are told apart by people with any common colour-vision deficiency."""

    name: str
    ink: str
    muted: str
    line: str
    background: str
    neutral: str
    warning: str
    colours: tuple[str, ...]


LIGHT = Scheme(
    name="light", ink="#1b1f24", muted="#5b636e", line="#e3e6ea", background="#ffffff", neutral="#6a7079",
    warning="#c4450c",
    colours=("#0072b2", "#d55e00", "#12a567", "#4f049b", "#e989a7", "#604803", "#a899fc", "#940c4d"),
)  # fmt: skip
DARK = Scheme(
    name="dark", ink="#e8eaed", muted="#a3abb6", line="#31363e", background="#1b1e23", neutral="#a9b0ba",
    warning="#ff8a5c",
    colours=("#4a9fe0", "#f0824a", "#a0e1a4", "#ac6499", "#fabdfe", "#f6de1c", "#138d6d", "#e33d4f"),
)  # fmt: skip
SCHEMES = (LIGHT, DARK)


def vega_config(scheme: Scheme, n_methods: int, *, file: bool = False) -> dict[str, Any]:
    """Return the Vega-Lite configuration of a scheme for a study of so many methods, of which the first is neutral.

    A figure file needs a background, and fonts that every renderer has.
    """
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
        "symbolStrokeWidth": 2.5, "symbolLimit": 0, "rowPadding": 4,  # of symbols: no limit
    }  # fmt: skip
    title = {
        "font": font, "color": scheme.ink, "fontSize": 13, "fontWeight": 600, "anchor": "start", "offset": 10,
        "subtitleFont": font, "subtitleColor": scheme.muted, "subtitleFontSize": 11, "subtitlePadding": 4,
    }  # fmt: skip
    colours = [scheme.colours[place % len(scheme.colours)] for place in range(n_methods - 1)]
    return {
        "background": scheme.background if file else "transparent",
        "font": font,
        # Names of methods are wider in the font of a machine without FILE_FONT: room for them on the left.
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
            "diverging": [scheme.neutral, scheme.warning],
        },
    }


def hues(number: int) -> list[str]:
    """Return hues of middle lightness for many classes; consecutive ones differ by 0.38 of a turn."""
    turns = (place * 0.381966 % 1.0 for place in range(number))
    parts = (colorsys.hls_to_rgb(turn, 0.55, 0.62) for turn in turns)
    return ["#" + "".join(f"{round(255 * part):02x}" for part in rgb) for rgb in parts]
