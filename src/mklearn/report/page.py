"""The page: one HTML file that contains style, scripts, chart specifications and images.

It makes no request: the Vega libraries are inlined from the installed ``vl-convert``, and a content security policy
forbids the browser to fetch anything. Every name from data or configuration passes through Jinja's escaping, or through
:func:`script_json` where it is in a script element.
"""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from mklearn.contract.table_specs import ReportSpec
from mklearn.report.figure_names import FigureNames
from mklearn.report.findings import Findings
from mklearn.report.gallery import Panel
from mklearn.report.published import Published
from mklearn.report.records import DataSetRecord, RunRecord, WrongPairs
from mklearn.report.rendering import vega_script
from mklearn.report.sections import figure_sections, page_file
from mklearn.report.series import Series
from mklearn.report.tables import Table
from mklearn.report.theme import DARK, LIGHT, SCHEMES, vega_config
from mklearn.report.thumbnails import data_uris
from mklearn.report.wording import byte_size


@dataclass(frozen=True)
class Content:
    """Everything that the page and the Markdown report show, worded and formatted."""

    study: ReportSpec
    run: RunRecord
    data: Sequence[DataSetRecord]
    lead: str
    findings: Findings
    published: Published
    results: Sequence[Table]
    metrics: Sequence[Table]
    panels: Sequence[Panel]
    picks: Sequence[Table]
    kernel_tables: Sequence[Table]
    confused: Sequence[Table]
    solutions: Sequence[Table]
    failures: Table
    ratios: Table | None
    stages: Table | None
    series: Series
    names: FigureNames
    wrong_pairs: Sequence[WrongPairs] = ()

    @property
    def title(self) -> str:
        return self.study.title or self.study.study


def render(content: Content) -> str:
    """Return the HTML of a report."""
    series, study = content.series, content.study
    configs = {scheme.name: vega_config(scheme, series.colours(scheme)) for scheme in SCHEMES}
    looks = zip(series.labels, series.colours(LIGHT), series.colours(DARK), series.dashes(), strict=True)
    specs = {panel.slug: panel.chart for panel in content.panels if panel.chart is not None}
    catalogue = {"Methods": study.methods, "Kernels": study.kernels, "Descriptors": study.descriptors}
    return _environment(autoescape=True).from_string(page_file("index.html.j2")).render(
        page=content,
        sections=[
            {"id": key, **section._asdict(), "groups": _groups(content.panels, key)}
            for key, section in figure_sections().items()
            if any(panel.section == key for panel in content.panels)
        ],
        published_panels=[panel for panel in content.panels if panel.section == "published"],
        legend=[
            {"label": label, "name": content.names(label), "light": light, "dark": dark, "dash": _dash(dash)}
            for label, light, dark, dash in looks
        ],
        catalogue={title: entries for title, entries in catalogue.items() if entries},
        style=Markup(page_file("style.css")),
        script=Markup(page_file("report.js")),
        vega=Markup(vega_script()),
        figures=script_json({"specs": specs, "configs": configs}),
        # sorted, as a job that is repeated outside Snakemake has the keys of its specification in another order
        provenance=script_json(json.loads(json.dumps(content.run.provenance, sort_keys=True))),
    )  # fmt: skip


def markdown_report(content: Content) -> str:
    """Return the findings and tables of a report as Markdown, for a repository."""
    environment = Environment(
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True
    )
    environment.filters["markdown"] = escape_markdown
    return environment.from_string(page_file("summary.md.j2")).render(page=content, sections=figure_sections())


def escape_markdown(text: str) -> str:
    """Return text that Markdown and the HTML in it take literally, on one line."""
    return re.sub(r"([\\`*_{}\[\]<>|#~&$!])", r"\\\1", " ".join(str(text).split()))


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


def _dash(pattern: Sequence[int]) -> str:
    return " ".join(map(str, pattern)) if pattern[1] else "none"


def _groups(panels: Sequence[Panel], section: str) -> list[dict[str, Any]]:
    """Group the panels of a section by heading; where each heading would have one panel, all have none."""
    groups: dict[str, list[Panel]] = {}
    for panel in panels:
        if panel.section == section:
            groups.setdefault(panel.heading, []).append(panel)
    alone = section not in ("kernels", "picks", "confusion") and all(len(found) == 1 for found in groups.values())
    if len(groups) > 1 and alone:
        return [{"heading": "", "panels": [found[0] for found in groups.values()]}]
    return [{"heading": heading, "panels": found} for heading, found in groups.items()]


def _environment(*, autoescape: bool) -> Environment:
    environment = Environment(
        autoescape=autoescape,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"link": link, "byte_size": byte_size, "data_uris": data_uris, "markdown": escape_markdown}
    return environment
