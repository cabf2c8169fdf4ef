"""The page: one HTML file that contains style, scripts, chart specifications and images.

It makes no request: the Vega libraries are inlined from the installed ``vl-convert``, and a content security policy
forbids the browser to fetch anything. Every name from data or configuration passes through Jinja's escaping, or through
:func:`script_json` where it is in a script element.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from importlib import resources
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from jinja2 import Environment, StrictUndefined
from markupsafe import Markup

from mklearn.report.findings import Findings
from mklearn.report.gallery import Panel
from mklearn.report.published import Published
from mklearn.report.records import DataSetRecord, RunRecord, StudyRecord
from mklearn.report.series import Series
from mklearn.report.tables import STAGE_NOTE, Table
from mklearn.report.theme import DARK, LIGHT, SCHEMES, vega_config
from mklearn.report.thumbnails import data_uris
from mklearn.report.wording import byte_size

PICKS_NOTE = (
    "In the tables: accuracy by inner CV | oracle (dimension chosen on the test samples), %, and below it the picked "
    "kernels with their numbers of repeats; the average and the best single kernels stand beside them."
)


class Section(NamedTuple):
    """A section of figures: its name in the navigation, its title, and the note below it."""

    short: str
    title: str
    note: str


FIGURE_SECTIONS = {
    "difference": Section(
        "Differences",
        "Difference to the reference",
        "Paired over repeats, at the dimension and parameters that inner cross-validation chose. Lines are 95 % "
        "corrected resampled intervals; they are not corrected for the number of comparisons.",
    ),
    "train-size": Section(
        "Training size",
        "Accuracy against training size",
        "Mean over repeats at the dimension and parameters that inner cross-validation chose, with a band of one "
        "standard deviation.",
    ),
    "dimension": Section(
        "Dimension",
        "Accuracy against dimension",
        "Mean test accuracy over repeats with a band of one standard deviation. A ring marks the best dimension of the "
        "mean curve, the oracle's choice; dotted lines are methods without a dimension.",
    ),
    "confusion": Section(
        "Confusion",
        "Which classes are confused",
        "Test samples of all repeats by true and predicted class, at the dimension that inner cross-validation chose, "
        "with the first nearest-neighbour rule: of the method that is best by this count among those with an accuracy "
        "by inner cross-validation, and of the one to compare with. Of several training sizes, the largest.",
    ),
    "iterations": Section(
        "Iterations",
        "Accuracy against iterations",
        "Mean test accuracy over repeats after each iteration, at a fixed size, with a band of one standard deviation.",
    ),
    "weights": Section(
        "Weights",
        "Kernel weights",
        "One tick for each repeat, a dot for their mean. The dashed line is the uniform weight. Methods with fixed "
        "uniform weights, and those that put all the weight on one kernel, are left out.",
    ),
    "picks": Section(
        "Picked kernels",
        "Which kernel is picked",
        "Methods that put more than 99.9 % of the weight on one kernel in nine of ten repeats or more. The numbers "
        f"count the repeats that pick each kernel. {PICKS_NOTE}",
    ),
    "objective": Section(
        "Objective",
        "Objective",
        "After each half step, one line for each repeat; grey ticks are lower bounds of the step's problem.",
    ),
    "embedding": Section(
        "Embedding",
        "Embedding",
        "The first two dimensions in one repeat: rings are training samples, dots are test samples. Point at a "
        "sample to see its class.",
    ),
    "train-time": Section(
        "Training time",
        "Training time against training size",
        "Median wall-clock seconds over repeats of one fit, with the selection of its parameters where the method has "
        "any, on a logarithmic scale.",
    ),
    "time": Section(
        "Run time",
        "Run time",
        "Each fit, with the selection of its parameters where the method has any; the bar is the median. Wall-clock "
        "seconds on the machine named below.",
    ),
    "kernels": Section(
        "Kernels",
        "Kernel diagnostics",
        "Kernels fitted on the training samples of one repeat. Off-diagonal mass: below the dashed line a kernel is "
        "close to the identity. Eigenvalues: before the kernel was made positive semidefinite; rings are absolute "
        "values of negative ones. Point at a line to see its kernel.",
    ),
}


@dataclass(frozen=True)
class Content:
    """Everything that the page and the Markdown report show, worded and formatted."""

    study: StudyRecord
    run: RunRecord
    data: Sequence[DataSetRecord]
    lead: str
    findings: Findings
    published: Published
    results: Sequence[Table]
    panels: Sequence[Panel]
    picks: Sequence[Table]
    kernel_tables: Sequence[Table]
    confused: Sequence[Table]
    failures: Table
    stages: Table | None
    series: Series

    @property
    def title(self) -> str:
        return self.study.title or self.study.id or "Study"


def render(content: Content, vega: str) -> str:
    """Return the HTML of a report; ``vega`` is the script that sets ``vegaEmbed``."""
    series, study = content.series, content.study
    configs = {scheme.name: vega_config(scheme, series.colours(scheme)) for scheme in SCHEMES}
    looks = zip(series.labels, series.colours(LIGHT), series.colours(DARK), series.dashes(), strict=True)
    catalogue = {"Methods": study.methods, "Kernels": study.kernels, "Descriptors": study.descriptors}
    return _environment().from_string(_asset("index.html.j2")).render(
        page=content,
        sections=[
            {"id": key, **section._asdict(), "groups": _groups(content.panels, key)}
            for key, section in FIGURE_SECTIONS.items()
            if any(panel.section == key for panel in content.panels)
        ],
        published_panels=[panel for panel in content.panels if panel.section == "published"],
        legend=[
            {"label": label, "light": light, "dark": dark, "dash": " ".join(map(str, dash)) if dash[1] else "none"}
            for label, light, dark, dash in looks
        ],
        catalogue={title: entries for title, entries in catalogue.items() if entries},
        stage_note=STAGE_NOTE,
        style=Markup(_asset("style.css")),
        script=Markup(_asset("report.js")),
        vega=Markup(vega),
        figures=script_json({"specs": {panel.slug: panel.page for panel in content.panels}, "configs": configs}),
        # sorted, as a job that is repeated outside Snakemake has the keys of its specification in another order
        provenance=script_json(json.loads(json.dumps(content.run.provenance, sort_keys=True))),
    )  # fmt: skip


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


def _environment() -> Environment:
    environment = Environment(autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    environment.filters |= {"link": link, "byte_size": byte_size, "data_uris": data_uris}
    return environment


def _asset(name: str) -> str:
    return resources.files("mklearn.report").joinpath("page", name).read_text(encoding="utf-8")
