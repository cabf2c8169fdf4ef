"""Writes the report of a study: page, Markdown, CSV and figure files."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from mklearn.atomic import csv_text, write_text
from mklearn.errors import UserError
from mklearn.study.evaluation.predictions import Predictions
from mklearn.study.report import frames
from mklearn.study.report.answer import answer
from mklearn.study.report.bibliography import bibtex
from mklearn.study.report.charts import standalone
from mklearn.study.report.confusion import FEW_CLASSES, confused, pairs_table
from mklearn.study.report.figure_names import FigureNames
from mklearn.study.report.findings import findings, gain_title, splits_of
from mklearn.study.report.frames import Results, results_of
from mklearn.study.report.gallery import Panel, panels
from mklearn.study.report.method_pairs import pair_tables
from mklearn.study.report.page import markdown_report, render
from mklearn.study.report.paper_table import latex, paper_table
from mklearn.study.report.parts import ReportPart
from mklearn.study.report.published import published_part
from mklearn.study.report.ranks import ranks_part
from mklearn.study.report.records import DataSetRecord, FitRecord, RunRecord
from mklearn.study.report.rendering import write_figure
from mklearn.study.report.tables import failure_table, kernel_table, metric_tables, result_table, rule_table
from mklearn.study.report.theme import LIGHT, vega_config
from mklearn.study.report.weights import weights_frame, weights_tables
from mklearn.study.report.wording import enumeration, in_order, plural, rule_title
from mklearn.study.specs.table_specs import ReportSpec

_logger = logging.getLogger(__name__)


def build_report(
    out_dir: Path,
    *,
    study: ReportSpec,
    run: RunRecord,
    data: Sequence[DataSetRecord],
    fits: Sequence[FitRecord],
    scores: pd.DataFrame,
    summary: pd.DataFrame,
    predictions: Predictions | None = None,
    parts: Sequence[ReportPart] = (),
    figure_files: bool = True,
) -> list[Path]:
    """Write the page, ``summary.md``, ``summary.csv``, ``answer.txt`` and ``figures/``; return the paths.

    And ``reproduction.csv`` if there are published values, ``weights.csv`` if kernel weights are learned, and
    ``ranks.csv`` of five data sets or more. Each file is replaced as a whole; figures of an earlier report that this
    one does not write are deleted. The same arguments give the same bytes: nothing in the report depends on when or
    where it is written.

    Parameters
    ----------
    out_dir : Path
    study : ReportSpec
        What the study compares. What is known of its data sets and fits comes in ``data`` and ``fits``.
    run, data, fits : RunRecord, sequence of DataSetRecord, sequence of FitRecord
    scores, summary : DataFrame
        The tidy score table, and :func:`mklearn.study.evaluation.summary.summarise` of it.
    predictions : Predictions, optional
        Those that the summary was made with, for the intervals of the study's comparisons.
    parts : sequence of ReportPart
        What the study adds to every report's figures and tables.
    figure_files : bool, default=True
        Whether to write ``figures/``.
    """
    results = results_of(
        scores, summary, fits, study.reference, study.learned, metric=study.metric,
        neighbour=study.neighbour, matters=study.gain_that_matters / 100, score=study.score,
    )  # fmt: skip
    parts, names = [*ranks_part(results), *parts], FigureNames()
    pairs = pair_tables(study.comparisons, results, scores, predictions)
    published = published_part(results, study, [results.reference, *study.best_single], pairs)
    confusions, said = confused(results), findings(results, study.final)
    infos = [(setting, frames.kernel_info(setting.fits(results.fits))) for setting in results.settings]
    drawn = panels(results, published.cells, study.tolerance.noise, confusions, names, parts)
    catalogue = {"Methods": study.methods, "Kernels": study.kernels, "Descriptors": study.descriptors}
    content = {
        "title": study.title or study.study,
        "lead": _lead(results, study, data),
        "gain": gain_title(results),
        "score": results.score.name,
        "embeds": bool(results.scores["dimension"].notna().any()),
        "rules": _rules(results),
        "findings": said,
        "published": published,
        "results": [result_table(results, setting) for setting in results.settings],
        "metrics": metric_tables(results),
        "tables": {
            "own": [table for part in parts for table in part.tables],
            "weights": weights_tables(results),
            "kernels": [
                kernel_table(info, frames.chosen_scalings(setting.of(results.scores)), setting.title)
                for setting, info in infos
                if info is not None
            ],
            "confusion": [pairs_table(found) for found in confusions if found.n_classes > FEW_CLASSES],
        },
        "failures": failure_table(results),
        "data": data,
        "run": run,
        "costs": rule_table(run.rules),
        "catalogue": {title: entries for title, entries in catalogue.items() if entries},
        "bibliography": bibtex(study, data),
    }
    paper = latex(paper_table(results), f"tab:{study.study}") if results.settings else ""
    downloads = {"summary.csv": csv_text(summary), "results.tex": paper}
    texts = {
        "index.html": render(content, drawn, results.series, names, downloads),
        "summary.md": markdown_report(content),
        "summary.csv": downloads["summary.csv"],
        "answer.txt": answer(results, said),
    }
    weights = weights_frame(results)
    files = {
        "reproduction.csv": published.cells.drop(columns="label"), "weights.csv": weights,
        **{name: frame for part in parts for name, frame in part.files.items()},
    }  # fmt: skip
    texts |= {name: csv_text(frame) for name, frame in files.items() if len(frame)}
    for name, text in texts.items():
        write_text(out_dir / name, text.encode("utf-8", "backslashreplace").decode())  # halves of surrogate pairs
    config = vega_config(LIGHT, results.series.colours(LIGHT), file=True)
    figures = [
        path
        for panel in (drawn if figure_files else [])
        for path in _figure_files(panel, out_dir / "figures", config, names)
    ]
    written = [*(out_dir / name for name in texts), *figures]
    earlier = [*(out_dir / "figures").glob("*"), out_dir / "reproduction.csv", out_dir / "weights.csv"]
    for path in set(earlier) - set(written):
        path.unlink(missing_ok=True)
    return written


def _rules(results: Results) -> list[str]:
    rules = [rule for rule in in_order(results.summary["neighbour"]) if rule]
    return sorted(rules, key=lambda rule: rule not in results.one_rule)


def _lead(results: Results, study: ReportSpec, data: Sequence[DataSetRecord]) -> str:
    titles = [entry.title or entry.id for entry in data] or sorted(set(results.scores["dataset"]))
    parts = [f"This report compares {plural(len(results.series.labels), 'method')} on {enumeration(titles)}"]
    if study.kernels:
        parts.append(f"with {plural(len(study.kernels), 'kernel')}")
        if study.descriptors:
            parts.append(f"of {plural(len(study.descriptors), 'descriptor')}")
    parts.append(enumeration(list(dict.fromkeys(splits_of(setting, results) for setting in results.settings))))
    if len(results.settings) > 1:
        parts.append(f"in {plural(len(results.settings), 'setting')}")
    return f"{study.description.strip()} {' '.join(parts)}.{_one_rule(results)}".strip()


def _one_rule(results: Results) -> str:
    """Name the rule by which embeddings classify in everything that shows one rule only."""
    rules = _rules(results)
    if not rules:
        return ""
    replaced = " In one component the cosine is a sign, and the Euclidean distance takes its place."
    return (
        f" Embeddings classify by {rule_title(rules[0])} in the headline, confusions and model."
        f"{replaced if 'cosine' in rules else ''}"
    )


def _figure_files(panel: Panel, folder: Path, config: dict[str, Any], names: FigureNames) -> list[Path]:
    """Write a panel's files; none of one that can't be drawn, which the page shows or explains."""
    if panel.chart is None:
        return []
    try:
        return write_figure(folder / panel.slug, standalone(panel.chart, names(panel.caption)), config)
    except UserError:
        raise
    except BaseException as error:
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":  # the renderer's own
            raise
        reason = str(error).partition("\n    at ")[0]
        _logger.warning("figure %r has no file: it can't be rendered: %s", panel.caption, " ".join(reason.split()))
        return []
