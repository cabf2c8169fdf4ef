"""Report of a study: one HTML page, the same content as Markdown, tables as CSV and LaTeX, and figure files.

The page is self-contained: style, scripts and chart specifications are inlined, with the Vega libraries from
the installed ``vl-convert``, and a content security policy forbids the browser to fetch anything. Every name from data
or configuration is escaped by Jinja, or by :func:`script_json` within a script element.
"""

from __future__ import annotations

import base64
import functools
import gzip
import itertools
import json
import logging
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit

import pandas as pd
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from mklearn.atomic import csv_text, write_text
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.predictions import Predictions
from mklearn.study.report import wording
from mklearn.study.report.bibliography import bibtex
from mklearn.study.report.charts import LIGHT, SCHEMES, Chart, printable, rendered, vega_config, vega_script
from mklearn.study.report.comparison import beside
from mklearn.study.report.figures import difference_figures, dimension_section, training_size_section
from mklearn.study.report.figures_of_fits import (
    confusion_section,
    embedding_section,
    objective_section,
    predictions_section,
)
from mklearn.study.report.findings import answer, findings, gain_title, splits_of
from mklearn.study.report.groups import groups_section
from mklearn.study.report.kernels import chosen_section, kernels_section, weights_section
from mklearn.study.report.parts import PartFigure, ReportPart, Section
from mklearn.study.report.published import published_section
from mklearn.study.report.ranks import ranks_part
from mklearn.study.report.records import DataSetRecord, FitRecord
from mklearn.study.report.result_tables import failures_section, metrics_section, paper_table, result_table
from mklearn.study.report.results import Results
from mklearn.study.report.survival import survival_section
from mklearn.study.report.tables import Table, escape_markdown, latex, markdown_rows, number, words
from mklearn.study.report.views import views_section, views_sentence
from mklearn.study.specs.final_spec import FinalSpec
from mklearn.study.study import Study
from mklearn.study.yaml_file import yaml_text

_logger = logging.getLogger(__name__)

OF_SECTIONS = ("importances", "views", "weights", "groups", "chosen")


class Drawn(NamedTuple):
    """A drawn figure: its slug (id on the page and name of its file), title, Vega-Lite specification and SVG.

    ``problem`` has the reason why it can't be drawn, and ``chart`` is None, or why it has no file, and ``svg`` is "".
    """

    slug: str
    title: str
    chart: Chart | None
    svg: str = ""
    problem: str = ""


def build_report(
    out_dir: Path, *, study: Study, reference: str, average: str, run: Mapping[str, Any],
    data: Sequence[DataSetRecord], fits: Sequence[FitRecord], scores: pd.DataFrame, summary: pd.DataFrame,
    predictions: Predictions | None = None, parts: Sequence[ReportPart] = (), cited: Sequence[tuple[str, str]] = (),
    final: FinalSpec | None = None, rivals: Sequence[str] = (), contributions: Sequence[pd.DataFrame] = (),
) -> list[Path]:  # fmt: skip
    """Write the files of a report to ``out_dir``, and return their paths.

    The files are the page, ``summary.md``, ``summary.csv``, ``answer.txt``, the CSV files of sections and the folder
    ``figures/``. Each file is replaced atomically. Figures of an earlier report that this one lacks are deleted. The
    output is reproducible: the same arguments give the same bytes.

    ``reference`` is the reference method, ``average`` the one with equal kernel weights (`Study.average`; its order of
    methods is not in records), ``run`` the record of the run, ``summary`` the summary of scores and predictions.
    ``parts`` are the study's own additions to the report, ``rivals`` the methods that could be the ``final`` model in
    place of the one that is; for ``cited`` see :func:`mklearn.study.report.bibliography.bibtex`, for ``contributions``
    :func:`mklearn.study.report.views.read_contributions`.
    """
    results = Results(
        scores, summary, fits, reference,
        [name for name, method in study.methods.items() if method.learns_weights()],
        metric=metric_named(study.metric), neighbour=study.headline_rule, matters=study.report.gain_that_matters / 100,
        of_groups=[p for p, each in study.protocols.items() if each.row.holds_groups or each.given.get("whole_groups")],
    )  # fmt: skip
    weights = results if average == reference else beside(results, average, results.learned, predictions)
    model = beside(results, final.method, rivals, predictions, final.dataset) if final and rivals else None
    published, alerts = published_section(results, study, predictions)
    views = pd.concat(contributions, ignore_index=True) if contributions else pd.DataFrame()
    of_views = views_sentence(results, views, sum(method.is_recommended for method in study.methods.values()) > 1)
    first = [views_section(results, views), published, groups_section(results, predictions, final)]
    content = {
        "alerts": alerts,
        "findings": findings(results, final, weights, model)._replace(views=of_views),
        "bibliography": bibtex(cited, data),
        **_content(results, study, run, data, first, parts),
    }
    config = vega_config(LIGHT, len(results.labels), file=True)
    figures = drawn_figures([content["results"], *content["sections"]], config)
    paper = latex(paper_table(results), f"tab:{study.study}") if results.settings else ""
    texts = {
        "index.html": _page(content, figures, len(results.labels), csv_text(summary), paper),
        "summary.md": _templates().get_template("summary.md.j2").render(page=content, rows_of=markdown_rows),
        "summary.csv": csv_text(summary),
        "answer.txt": answer(results, content["findings"]),
    }
    frames = {name: frame for each in content["sections"] for part in each.parts for name, frame in part.files.items()}
    texts |= {name: csv_text(frame) for name, frame in frames.items()}
    texts |= {f"figures/{figure.slug}.svg": figure.svg for figure in figures.values() if figure.svg}
    for name, text in texts.items():
        write_text(out_dir / name, text.encode("utf-8", "backslashreplace").decode())  # escapes lone surrogates
    written = [out_dir / name for name in texts]
    earlier = [*(out_dir / "figures").glob("*"), *(out_dir / f"{name}.csv" for name in OF_SECTIONS)]
    for path in set(earlier) - set(written):
        path.unlink(missing_ok=True)
    return written


# --- content


def _content(
    results: Results, study: Study, run: Mapping[str, Any], data: Sequence[DataSetRecord], first: Sequence[Section],
    parts: Sequence[ReportPart],
) -> dict[str, Any]:  # fmt: skip
    """Return variables of the page templates."""
    added = Section("this-study", "Of this study", [*ranks_part(results), *parts])
    chosen = [] if study.claims else [chosen_section(results)]
    sections = [
        *first, metrics_section(results), added, training_size_section(results), predictions_section(results),
        survival_section(results), dimension_section(results), confusion_section(results), *chosen,
        weights_section(results), objective_section(results), embedding_section(results), kernels_section(results),
        failures_section(results),
    ]  # fmt: skip
    return {
        "title": study.title or study.study,
        "lead": _lead(results, study, data),
        "results": results_section(results),
        "sections": [section for section in sections if section.parts],
        "data": data,
        "command": run["command"],
        "facts": _facts(run),
        "config": yaml_text(run["config"]),
        "costs": costs_table(run["rules"]),
    }


def results_section(results: Results) -> Section:
    """Return the section with the figure of differences and the result table of each setting."""
    exact = " Unless several groups are held out, intervals are exact (Clopper, Pearson) and p is McNemar's exact test."
    parts = [
        ReportPart(
            difference_figures(results, setting), [result_table(results, setting)], heading=setting.title,
            text=f"Means {splits}.{exact * results.metric.mean_of_samples * (splits == 'on one split')}",
        )
        for setting in results.settings
        for splits in [splits_of(setting, results)]
    ]  # fmt: skip
    embeds = bool(results.scores["dimension"].notna().any())
    oracle = ""
    if results.summary["published"].notna().any():
        oracle = (
            "Oracle: the best dimension of the mean test curve, chosen on the test samples as published tables do. "
        )
    matters = f" of {gain_title(results)}, the smallest that matters here" if results.metric.in_percent else ""
    note = (
        f"Test {results.metric.name}, chosen by inner CV: mean ± std over splits, with {'dimension and ' * embeds}"
        "parameters chosen by cross-validation inside the training samples, the number to go by. "
        f"{oracle}Differences are paired on the same test samples; lines in the figure and brackets in the "
        "table are their 95 % intervals, which allow for training sets that overlap. ▲ and ▼ mark intervals that "
        "exclude 0, where the p-value is below 5 % after Holm's correction for the number of comparisons. No gain: "
        f"the interval excludes a gain{matters}; not shown: it does not. Differences over two to four splits have no "
        "interval, nor has anything over two to four held-out groups; that of one test set says nothing about other "
        "training samples. Training time: processor seconds of one fit with the chosen parameters, without inner "
        "cross-validation; median over splits."
    )
    return Section("results", "Results", parts, note)


def _lead(results: Results, study: Study, data: Sequence[DataSetRecord]) -> str:
    titles = [entry.title or entry.id for entry in data] or sorted(set(results.scores["dataset"]))
    splits = wording.enumeration(list(dict.fromkeys(splits_of(setting, results) for setting in results.settings)))
    methods = wording.plural(len(results.labels), "method")
    rules = [f" Embeddings classify by {wording.rule_title(rule)}." for rule in results.one_rule if rule]
    text = f"{study.description} This report compares {methods} on {wording.enumeration(titles)} {splits}".strip()
    return f"{text}.{''.join(rules)}"


def _facts(run: Mapping[str, Any]) -> list[tuple[str, Any]]:
    machine = run["machine"]
    facts = [("Made", run["utc"]), ("Commit", run["commit"]), ("Seed", run["seed"])]
    facts.append(("Machine", f"{machine['processor']}, {machine['cores']} cores, {machine['system']}"))
    return [*facts, *run["versions"].items()]


def costs_table(rules: Sequence[Mapping[str, Any]]) -> Table | None:
    """Return a table with jobs, total seconds and longest job of each rule; None if no job times are known."""
    if not rules:
        return None
    note = (
        "Wall-clock seconds of the jobs, each with the start of its process, as the engine recorded them when each was "
        "last run: jobs beside each other, or another load, make them longer; the queue of a cluster does not."
    )
    columns = [
        words("Rule", "title"), number("Jobs", "jobs", wording.count), number("Sum, s", "seconds", wording.seconds),
        number("Longest job, s", "longest", wording.seconds),
    ]  # fmt: skip
    return Table.of("What each rule cost", columns, rules, note=note)


# --- figures


def drawn_figures(sections: Sequence[Section], config: Chart) -> dict[PartFigure, Drawn]:
    """Draw all figures, and render them by a ``config``; one that can't be drawn or rendered has the reason."""
    drawn: dict[PartFigure, Drawn] = {}
    taken: set[str] = set()
    every = [(section, part, figure) for section in sections for part in section.parts for figure in part.figures]
    for section, part, figure in every:
        title = " · ".join(dict.fromkeys(filter(None, (part.heading, figure.caption))))
        slug = stem = re.sub(r"[^a-z0-9]+", "-", f"{section.id} {title}".lower()).strip("-")[:100]
        number = itertools.count(2)
        while slug in taken:
            slug = f"{stem}-{next(number)}"
        taken.add(slug)
        chart, svg, problem = None, "", ""
        try:
            made = printable(figure.draw() | {"description": f"{figure.alt} {title}."})
            json.dumps(made, allow_nan=False)
            chart = made
            svg = rendered(chart, printable(title), config)
        except BaseException as error:
            if not isinstance(error, Exception) and type(error).__name__ != "PanicException":  # of the renderer
                raise
            problem = " ".join(f"{type(error).__name__}: {error}".partition("\n    at ")[0].split())
            _logger.warning("figure %r can't be drawn: %s", title, problem)
        drawn[figure] = Drawn(slug, title, chart, svg, problem)
    return drawn


# --- page


def _page(
    content: Mapping[str, Any], figures: Mapping[PartFigure, Drawn], n_methods: int, summary: str, paper: str
) -> str:
    specs = {drawn.slug: drawn.chart for drawn in figures.values() if drawn.chart is not None}
    configs = {scheme.name: vega_config(scheme, n_methods) for scheme in SCHEMES}
    template = _templates().get_template("index.html.j2")
    return template.render(
        page=content,
        figures=figures,
        vega=_packed(vega_script()),
        specs=_packed(json.dumps({"specs": specs, "configs": configs}, allow_nan=False)),
        downloads=script_json({"summary.csv": summary, "results.tex": paper}),
    )


def _packed(text: str) -> str:
    """Compress a text by gzip for unpacking in the browser, as base64."""
    return base64.b64encode(gzip.compress(text.encode(), mtime=0)).decode("ascii")


def script_json(value: Any) -> Markup:
    """Return a value as JSON that is safe within a script element and as JavaScript."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    for character in "<>&\u2028\u2029":
        text = text.replace(character, f"\\u{ord(character):04x}")
    return Markup(text)


def link(address: Any) -> str:
    """Return the address if it is http or https, and thus safe in a link; otherwise ""."""
    text = str(address or "").strip()
    try:
        return text if urlsplit(text).scheme in ("http", "https") else ""
    except ValueError:
        return ""


@functools.cache
def _templates() -> Environment:
    environment = Environment(
        loader=PackageLoader("mklearn.study.report", "page"), autoescape=select_autoescape(["html.j2"]),
        undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True,
    )  # fmt: skip
    environment.filters |= {"link": link, "markdown": escape_markdown, "counted": wording.plural}
    return environment
