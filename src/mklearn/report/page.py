"""The page: one HTML file with everything in it - style, scripts, chart specifications, images.

It makes no request: the Vega libraries are inlined from the installed ``vl-convert``, and a content security policy
forbids the browser to fetch anything at all. Every name from data or configuration passes through Jinja's escaping, or
through :func:`script_json` where it stands in a script element.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any
from urllib.parse import urlsplit

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from mklearn.report.findings import Findings
from mklearn.report.gallery import Panel
from mklearn.report.published import Published
from mklearn.report.series import Series
from mklearn.report.stage_table import NOTE as STAGE_NOTE
from mklearn.report.tables import Table
from mklearn.report.theme import DARK, LIGHT, SCHEMES, vega_config
from mklearn.report.wording import byte_size

PICKS_NOTE = (
    "In the tables: accuracy by inner CV | oracle (dimension chosen on the test samples), %, and below it the picked "
    "kernels with their numbers of repeats; the average and the best single kernels stand beside them."
)

FIGURE_SECTIONS = {
    "difference": (
        "Differences",
        "Difference to the reference",
        "Paired over repeats, at the dimension and parameters that inner cross-validation chose. Lines are 95 % "
        "corrected resampled intervals; they are not corrected for the number of comparisons.",
    ),
    "train-size": (
        "Training size",
        "Accuracy against training size",
        "Mean over repeats at the dimension and parameters that inner cross-validation chose, with a band of one "
        "standard deviation.",
    ),
    "dimension": (
        "Dimension",
        "Accuracy against dimension",
        "Mean test accuracy over repeats with a band of one standard deviation. A ring marks the best dimension of the "
        "mean curve, the oracle's choice; dotted lines are methods without a dimension.",
    ),
    "confusion": (
        "Confusion",
        "Which classes are confused",
        "Test samples of all repeats by true and predicted class, at the dimension that inner cross-validation chose, "
        "with the first nearest-neighbour rule: of the method that is best by this count among those with an accuracy "
        "by inner cross-validation, and of the one to compare with. Of several training sizes, the largest.",
    ),
    "iterations": (
        "Iterations",
        "Accuracy against iterations",
        "Mean test accuracy over repeats after each iteration, at a fixed size, with a band of one standard deviation.",
    ),
    "weights": (
        "Weights",
        "Kernel weights",
        "One tick for each repeat, a dot for their mean. The dashed line is the uniform weight. Methods with fixed "
        "uniform weights, and those that put all the weight on one kernel, are left out.",
    ),
    "picks": (
        "Picked kernels",
        "Which kernel is picked",
        "Methods that put more than 99.9 % of the weight on one kernel in nine of ten repeats or more. The numbers "
        f"count the repeats that pick each kernel. {PICKS_NOTE}",
    ),
    "objective": (
        "Objective",
        "Objective",
        "After each half step, one line for each repeat; grey ticks are lower bounds of the step's problem.",
    ),
    "embedding": (
        "Embedding",
        "Embedding",
        "The first two dimensions in one repeat: rings are training samples, dots are test samples. Point at a "
        "sample to see its class.",
    ),
    "train-time": (
        "Training time",
        "Training time against training size",
        "Median wall-clock seconds over repeats of one fit, with the selection of its parameters where the method has "
        "any, on a logarithmic scale.",
    ),
    "time": (
        "Run time",
        "Run time",
        "Each fit, with the selection of its parameters where the method has any; the bar is the median. Wall-clock "
        "seconds on the machine named below.",
    ),
    "kernels": (
        "Kernels",
        "Kernel diagnostics",
        "Kernels fitted on the training samples of one repeat. Off-diagonal mass: below the dashed line a kernel is "
        "close to the identity. Eigenvalues: before the kernel was made positive semidefinite; rings are absolute "
        "values of negative ones. Point at a line to see its kernel.",
    ),
}


@dataclass(frozen=True)
class Content:
    """All that the page shows, already worded and formatted."""

    title: str
    summary: str
    findings: Findings
    results: Sequence[Table]
    panels: Sequence[Panel]
    kernel_tables: Sequence[Table]
    failures: Table
    data: Sequence[Mapping[str, Any]]
    run: Mapping[str, Any]
    series: Series
    published: Published
    picks: Sequence[Table]
    confused: Sequence[Table]
    stages: Table | None


def render(content: Content, vega: str) -> str:
    """The HTML of a report, with the script that sets ``vegaEmbed``."""
    series = content.series
    configs = {scheme.name: vega_config(scheme, series.colours(scheme)) for scheme in SCHEMES}
    looks = zip(series.labels, series.colours(LIGHT), series.colours(DARK), series.dashes(), strict=True)
    sections = [
        {"id": key, "short": short, "title": title, "note": note, "groups": _groups(content.panels, key)}
        for key, (short, title, note) in FIGURE_SECTIONS.items()
        if any(panel.section == key for panel in content.panels)
    ]
    return _environment().from_string(_asset("index.html.j2")).render(
        page=content,
        sections=sections,
        published_panels=[panel for panel in content.panels if panel.section == "published"],
        legend=[
            {"label": label, "light": light, "dark": dark, "dash": " ".join(map(str, dash)) if dash[1] else "none"}
            for label, light, dark, dash in looks
        ],
        schemes=SCHEMES,
        stage_note=STAGE_NOTE,
        style=Markup(_asset("style.css")),
        script=Markup(_asset("report.js")),
        vega=Markup(vega),
        figures=script_json({"specs": {panel.slug: panel.page for panel in content.panels}, "configs": configs}),
    )  # fmt: skip


def script_json(value: Any) -> Markup:
    """JSON that no text in it can break out of: safe inside a script element, and as JavaScript."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def link(address: Any) -> str:
    """An address that may stand in a link: http or https, otherwise nothing."""
    text = str(address or "").strip()
    try:
        return text if urlsplit(text).scheme in ("http", "https") else ""
    except ValueError:
        return ""


def _groups(panels: Sequence[Panel], section: str) -> list[dict[str, Any]]:
    """Panels of a section under their headings; where each heading would have one panel, all under none."""
    groups: dict[str, list[Panel]] = {}
    for panel in panels:
        if panel.section == section:
            groups.setdefault(panel.heading, []).append(panel)
    alone = section not in ("kernels", "picks", "confusion") and all(len(found) == 1 for found in groups.values())
    if len(groups) > 1 and alone:
        return [{"heading": "", "panels": [found[0] for found in groups.values()]}]
    return [{"heading": heading, "panels": found} for heading, found in groups.items()]


def _environment() -> Environment:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"link": link, "byte_size": byte_size}
    return environment


def _asset(name: str) -> str:
    return resources.files("mklearn.report").joinpath("page", name).read_text(encoding="utf-8")
