"""The page: one HTML file that contains style, scripts, chart specifications and images.

It makes no request: the Vega libraries are inlined from the installed ``vl-convert``, and a content security policy
forbids the browser to fetch anything. Every name from data or configuration passes through Jinja's escaping, or through
:func:`script_json` where it is in a script element.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from mklearn.study.report.figure_names import FigureNames
from mklearn.study.report.gallery import Panel
from mklearn.study.report.markup import escape_markdown, markdown_table
from mklearn.study.report.rendering import vega_script
from mklearn.study.report.sections import figure_sections, page_file
from mklearn.study.report.series import Series
from mklearn.study.report.tables import Table
from mklearn.study.report.theme import DARK, LIGHT, SCHEMES, vega_config
from mklearn.study.report.thumbnails import data_uris
from mklearn.study.report.wording import byte_size, plural, rule_title, sentences

WITH_RESULTS = ("difference", "published")
"""Sections whose figures stand beside tables of results."""
SCRIPTS = ("figures.js", "tables.js", "page.js")


def render(
    content: Mapping[str, Any], panels: Sequence[Panel], series: Series, names: FigureNames,
    downloads: Mapping[str, str],
) -> str:  # fmt: skip
    """Return the HTML of a report; ``downloads`` are texts by the name of the file that the page offers."""
    specs = {panel.slug: panel.chart for panel in panels if panel.chart is not None}
    configs = {scheme.name: vega_config(scheme, series.colours(scheme)) for scheme in SCHEMES}
    looks = zip(series.labels, series.colours(LIGHT), series.colours(DARK), series.dashes(), strict=True)
    sections = [
        _section(key, texts, panels, content["tables"].get(key, ()))
        for key, texts in figure_sections(content["score"]).items()
        if key not in WITH_RESULTS
    ]
    return _template("index.html.j2", autoescape=True).render(
        page=content,
        sections=[section for section in sections if section["groups"]],
        panels={name: [panel for panel in panels if panel.section == name] for name in WITH_RESULTS},
        series_names={label: names(label) for label in series.labels},
        downloads=script_json(downloads),
        legend=[
            {"label": label, "name": names(label), "light": light, "dark": dark, "dash": " ".join(map(str, dash))}
            for label, light, dark, dash in looks
        ],
        style=Markup(page_file("style.css")),
        scripts=[Markup(page_file(name)) for name in SCRIPTS],
        vega=Markup(vega_script()),
        figures=script_json({"specs": specs, "configs": configs}),
        # sorted, as a job that is repeated outside Snakemake has the keys of its specification in another order
        provenance=script_json(json.loads(json.dumps(content["run"].provenance, sort_keys=True))),
    )  # fmt: skip


def markdown_report(content: Mapping[str, Any]) -> str:
    """Return the findings and tables of a report as Markdown, for a repository."""
    template = _template("summary.md.j2", autoescape=False)
    return template.render(page=content, sections=figure_sections(content["score"]), table_of=markdown_table)


def script_json(value: Any) -> Markup:
    """Return JSON that no text in it can break out of: safe inside a script element, and as JavaScript."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def link(address: Any) -> str:
    """Return an address that is safe in a link, http or https; otherwise nothing."""
    text = str(address or "").strip()
    try:
        return text if urlsplit(text).scheme in ("http", "https") else ""
    except ValueError:
        return ""


def _section(key: str, texts: Mapping[str, str], panels: Sequence[Panel], tables: Sequence[Table]) -> dict[str, Any]:
    """Return the texts of a section, its panels and tables by heading, and ``what`` is in it.

    Where each heading would have one panel, all have none.
    """
    groups: dict[str, dict[str, Any]] = {}
    shown = [panel for panel in panels if panel.section == key]
    for name, headings in (
        ("panels", [(panel.heading, panel) for panel in shown]),
        ("tables", [(table.caption, table) for table in tables]),
    ):
        for heading, entry in headings:
            groups.setdefault(heading, {"heading": heading, "panels": [], "tables": []})[name].append(entry)
    found = list(groups.values())
    if 1 < len(found) == len(shown) and not tables and key not in ("confusion", "predictions"):
        found = [{"heading": "", "panels": shown, "tables": []}]
    counts = {"figure": len(shown), "table": len(tables)}
    what = ", ".join(plural(number, name) for name, number in counts.items() if number)
    return {"id": key, **texts, "groups": found, "what": what}


@functools.cache
def _template(name: str, *, autoescape: bool) -> Template:
    environment = Environment(
        autoescape=autoescape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {
        "link": link, "byte_size": byte_size, "data_uris": data_uris, "markdown": escape_markdown,
        "sentences": sentences, "rule_title": rule_title, "counted": plural,
    }  # fmt: skip
    return environment.from_string(page_file(name))
