"""The page: one HTML file that contains style, scripts, chart specifications and images.

It makes no request: the Vega libraries are inlined from the installed ``vl-convert``, and a content security policy
forbids the browser to fetch anything. Every name from data or configuration passes through Jinja's escaping, or through
:func:`script_json` where it is in a script element.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, StrictUndefined, Template
from markupsafe import Markup

from mklearn.study.report.bibliography import bibtex
from mklearn.study.report.figure_names import FigureNames
from mklearn.study.report.findings import Findings
from mklearn.study.report.gallery import Panel
from mklearn.study.report.markup import escape_markdown, markdown_table
from mklearn.study.report.published import Published
from mklearn.study.report.records import DataSetRecord, RunRecord
from mklearn.study.report.sections import figure_sections, page_file
from mklearn.study.report.series import Series
from mklearn.study.report.tables import Table
from mklearn.study.report.theme import DARK, LIGHT, SCHEMES, vega_config
from mklearn.study.report.thumbnails import data_uris
from mklearn.study.report.vega_script import vega_script
from mklearn.study.report.wording import byte_size, plural, rule_title, sentences
from mklearn.study.specs.table_specs import ReportSpec

WITH_RESULTS = "difference"
"""The section whose figures stand with the result table of their setting."""
SCRIPTS = ("figures.js", "tables.js", "page.js")


@dataclass(frozen=True)
class Content:
    """Everything that the page and the Markdown report show, worded and formatted."""

    study: ReportSpec
    run: RunRecord
    data: Sequence[DataSetRecord]
    lead: str
    gain: str
    """The smallest gain that matters, in words."""
    findings: Findings
    published: Published
    results: Sequence[Table]
    metrics: Sequence[Table]
    panels: Sequence[Panel]
    weights: Sequence[Table]
    kernel_tables: Sequence[Table]
    classes: Sequence[Table]
    """Recall and precision by class."""
    confused: Sequence[Table]
    failures: Table
    stages: Table | None
    series: Series
    names: FigureNames
    own: Sequence[Table] = ()
    """Tables that the study adds."""
    score: str = "accuracy"
    """Name of the metric of tables and figures, inside a sentence."""
    embeds: bool = True
    """Whether a method has an embedding, whose number of dimensions is chosen."""
    groups: Sequence[Table] = ()
    """Of each setting the errors by group, where numbers are predicted of samples with groups."""
    rules: Sequence[str] = ()
    """Nearest-neighbour rules to choose from, the one of the headline first."""
    settings: Sequence[str] = ()
    """Titles of the result tables to choose from."""

    @property
    def title(self) -> str:
        return self.study.title or self.study.study


def render(content: Content, downloads: Mapping[str, str]) -> str:
    """Return the HTML of a report; ``downloads`` are texts by the name of the file that the page offers."""
    series, study = content.series, content.study
    configs = {scheme.name: vega_config(scheme, series.colours(scheme)) for scheme in SCHEMES}
    looks = zip(series.labels, series.colours(LIGHT), series.colours(DARK), series.dashes(), strict=True)
    specs = {panel.slug: compact(panel.chart) for panel in content.panels if panel.chart is not None}
    catalogue = {"Methods": study.methods, "Kernels": study.kernels, "Descriptors": study.descriptors}
    return _template("index.html.j2", autoescape=True).render(
        page=content,
        sections=[_section(content, key) for key in figure_sections(content.score) if _has(content, key)],
        result_panels=[panel for panel in content.panels if panel.section == WITH_RESULTS],
        series_names={label: content.names(label) for label in series.labels},
        bibliography=bibtex(study, content.data),
        downloads=script_json(downloads),
        published_panels=[panel for panel in content.panels if panel.section == "published"],
        legend=[
            {"label": label, "name": content.names(label), "light": light, "dark": dark, "dash": _dash(dash)}
            for label, light, dark, dash in looks
        ],
        catalogue={title: entries for title, entries in catalogue.items() if entries},
        style=Markup(page_file("style.css")),
        scripts=[Markup(page_file(name)) for name in SCRIPTS],
        vega=Markup(vega_script()),
        figures=script_json({"specs": specs, "configs": configs}),
        # sorted, as a job that is repeated outside Snakemake has the keys of its specification in another order
        provenance=script_json(json.loads(json.dumps(content.run.provenance, sort_keys=True))),
    )  # fmt: skip


def markdown_report(content: Content) -> str:
    """Return the findings and tables of a report as Markdown, for a repository."""
    template = _template("summary.md.j2", autoescape=False)
    return template.render(page=content, sections=figure_sections(content.score), table_of=markdown_table)


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


def compact(value: Any) -> Any:
    """Return a figure's specification with its rows as columns, which ``figures.js`` turns back.

    ``{"values": [{"x": 1, "s": "a"}, ...]}`` becomes ``{"columns": {"x": [1, ...], "s": {"of": ["a"], "at": [0, ...]}},
    "rows": n}``: texts that come again are written once.
    """
    if isinstance(value, dict):
        rows = value.get("values")
        if set(value) == {"values"} and isinstance(rows, list) and len(rows) > 3 and _alike(rows):
            return {"columns": {name: _column([row[name] for row in rows]) for name in rows[0]}, "rows": len(rows)}
        return {name: compact(entry) for name, entry in value.items()}
    return [compact(entry) for entry in value] if isinstance(value, list | tuple) else value


def _alike(rows: Sequence[Any]) -> bool:
    return all(isinstance(row, dict) and row.keys() == rows[0].keys() for row in rows)


def _column(values: list[Any]) -> Any:
    if not all(isinstance(entry, str) for entry in values):
        return values
    different = {entry: number for number, entry in enumerate(dict.fromkeys(values))}
    return {"of": list(different), "at": [different[entry] for entry in values]}


def _dash(pattern: Sequence[int]) -> str:
    return " ".join(map(str, pattern)) if pattern[1] else "none"


def _has(content: Content, section: str) -> bool:
    """Tell whether a section of its own has something to show."""
    if section == WITH_RESULTS:
        return False
    tables = {"weights": content.weights, "own": content.own}.get(section, ())
    return bool(tables) or any(panel.section == section for panel in content.panels)


def _section(content: Content, key: str) -> dict[str, Any]:
    """Return the texts and panels of a section, and ``what`` is in it."""
    groups = _groups(content.panels, key)
    tables: dict[str, Sequence[Any]] = {
        "predictions": content.groups,
        "kernels": content.kernel_tables, "weights": content.weights,
        "confusion": [*content.classes, *content.confused], "own": content.own,
    }  # fmt: skip
    counts = {"figure": sum(len(group["panels"]) for group in groups), "table": len(tables.get(key, ()))}
    what = ", ".join(plural(number, name) for name, number in counts.items() if number)
    return {"id": key, **figure_sections(content.score)[key]._asdict(), "groups": groups, "what": what}


def _groups(panels: Sequence[Panel], section: str) -> list[dict[str, Any]]:
    """Group the panels of a section by heading; where each heading would have one panel, all have none."""
    groups: dict[str, list[Panel]] = {}
    for panel in panels:
        if panel.section == section:
            groups.setdefault(panel.heading, []).append(panel)
    alone = section not in ("kernels", "confusion", "predictions") and all(len(found) == 1 for found in groups.values())
    if len(groups) > 1 and alone:
        return [{"heading": "", "panels": [found[0] for found in groups.values()]}]
    return [{"heading": heading, "panels": found} for heading, found in groups.items()]


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
