"""Render figures as SVG and PNG, and bundle the script that draws them on the page."""

from __future__ import annotations

import functools
import re
from pathlib import Path
from typing import Any

import vl_convert

from mklearn.atomic import atomic_path, write_text

VEGA_LITE = "6.4"
"""Version of the grammar, in the page and in figure files."""
SCALE = 2
"""Pixels of the PNG per pixel of the SVG."""
LARGEST = 30_000
"""Pixels of a side; a figure that would be larger has gone wrong, and the renderer of PNG dies of it."""


@functools.cache
def vega_script() -> str:
    """Return Vega, Vega-Lite and Vega-Embed in one script, which sets ``vegaEmbed``; safe inside a script element."""
    script = vl_convert.javascript_bundle("window.vegaEmbed = vegaEmbed;", vl_version=VEGA_LITE)
    return str(script).replace("</script", "<\\/script")


def write_figure(stem: Path, specification: dict[str, Any], config: dict[str, Any]) -> list[Path]:
    """Write a figure as SVG and PNG; return the two files, whose suffixes are added to ``stem``.

    Raises
    ------
    ValueError
        It can't be rendered, or would be larger than any figure of a report.
    """
    svg = vl_convert.vegalite_to_svg(specification, vl_version=VEGA_LITE, config=config, allowed_base_urls=[])
    svg = _renumbered(svg)
    size = re.match(r'<svg[^>]* width="([^"]*)" height="([^"]*)"', svg)
    if size is None or not all(0 < float(length) <= LARGEST for length in size.groups()):
        raise ValueError(f"its size is {' x '.join(size.groups()) if size else 'not known'} pixels")
    paths = [stem.with_name(f"{stem.name}{suffix}") for suffix in (".svg", ".png")]
    write_text(paths[0], svg)
    with atomic_path(paths[1]) as temporary:
        temporary.write_bytes(vl_convert.svg_to_png(svg, scale=SCALE))
    return paths


def _renumbered(svg: str) -> str:
    """Number clips and gradients from 1 in each figure: the renderer counts on over all figures of a process."""
    numbers: dict[str, int] = {}

    def name(found: re.Match[str]) -> str:
        return f"{found[1]}{found[2]}{numbers.setdefault(found[2] + found[3], len(numbers) + 1)}"

    return re.sub(r'(id="|url\(#)(clip|gradient_)(\d+)', name, svg)
