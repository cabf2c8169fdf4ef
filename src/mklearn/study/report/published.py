"""Section about published values: tables of reproduced values, a summary paragraph, remarks and claims."""

from __future__ import annotations

from typing import Any

import pandas as pd

from mklearn.study.evaluation import reproduction as verdicts
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.predictions import Predictions
from mklearn.study.evaluation.reproduction import calibration_checks, plain_records
from mklearn.study.report import wording
from mklearn.study.report.comparison import differences_table, pair_differences
from mklearn.study.report.parts import ReportPart, Section
from mklearn.study.report.result_tables import setting_columns
from mklearn.study.report.results import Results
from mklearn.study.report.tables import Cell, Table, number_cell, words
from mklearn.study.specs.model import as_list
from mklearn.study.specs.table_specs import Tolerance
from mklearn.study.study import Study

MARKS = {
    verdicts.REPRODUCED: ("✓ reproduced", "good"),
    verdicts.LOWER: ("▼ ours is lower", "off"),
    verdicts.HIGHER: ("▲ ours is higher", "off"),
    verdicts.UNCERTAIN: ("? differs, not for certain", "none"),
    verdicts.NO_VALUE: ("no value", "none"),
    verdicts.NO_SPREAD: ("no spread to judge by", "none"),
    verdicts.OTHER_DATA: ("another crop: not comparable", "none"),
}
"""Text of each verdict in a cell, and its CSS class."""
CLAIM_KINDS = {"holds": "good", "does not hold": "off"}
JUDGED = (verdicts.REPRODUCED, verdicts.LOWER, verdicts.HIGHER, verdicts.UNCERTAIN)
"""Verdicts that need a value and a spread."""


def published_section(
    results: Results, study: Study, predictions: Predictions | None = None
) -> tuple[Section, list[str]]:  # fmt: skip
    """Return the section with published values, remarks, claims and pairs of methods, and alerts on data sets.

    An alert names each data set that is not the paper's. Pairs of methods without any value are left out.
    """
    cells, tolerance = results.all_metrics[results.all_metrics["verdict"].ne("")].copy(), study.tolerance
    checks = calibration_checks(results.all_metrics, study.calibration) if study.calibration else []
    if len(set(cells["neighbour"]) - {""}) > 1:  # several rules: append the rule to the method's name
        names = zip(cells["label"], cells["neighbour"], strict=True)
        cells["label"] = [f"{label} ({wording.rule_title(rule)})" if rule else label for label, rule in names]
    first = statement(cells, tolerance)
    met = [check.sentence for check in checks if check.status != "missed"]
    text = " ".join([first, *(["Calibration:", *met] if met else [])])
    parts = []
    if len(cells):
        parts.append(ReportPart(text=text))
    if study.remarks:
        lines = [
            [Cell(wording.enumeration([results.label_of.get(name, name) for name in as_list(remark.method)])),
             Cell(remark.text, kind="prose")]
            for remark in study.remarks
        ]  # fmt: skip
        parts.append(ReportPart(tables=[Table("Remarks", [words("Methods"), words("Remark")], lines)]))
    if study.claims:
        columns = [words(title) for title in ("Claim", "Verdict", "What this study shows")]
        lines = [
            [Cell(claim.text, below=claim.source, kind="prose"),
             Cell(claim.verdict, kind=f"verdict {CLAIM_KINDS.get(claim.verdict, 'none')}"),
             Cell(claim.evidence, kind="prose")]
            for claim in study.claims
        ]  # fmt: skip
        parts.append(ReportPart(tables=[Table("Claims of the papers", columns, lines)]))
    pairs = [
        differences_table(comparison, frame, results)
        for comparison in study.comparisons
        if len(frame := pair_differences(comparison, results, predictions))
    ]
    parts += [ReportPart(tables=pairs)] if pairs else []
    parts += [ReportPart(tables=_source_tables(cells, tolerance))] if len(cells) else []
    title = "Published values" if len(cells) or study.remarks or study.claims else "Pairs of methods"
    alerts = [check.sentence for check in checks if check.status == "missed"]
    return Section("published", title, parts, lead=first.partition(". ")[0], printed=True), alerts


def statement(cells: pd.DataFrame, tolerance: Tolerance) -> str:
    """Return a text: number of reproduced cells, methods reproduced in every cell, and other cells by verdict."""
    if cells.empty:
        return ""
    judged = cells[cells["verdict"].isin(JUDGED)]
    total = cells["verdict"].value_counts().reindex(verdicts.VERDICTS, fill_value=0)
    same = [str(label) for label, group in judged.groupby("label", sort=False)["verdict"] if set(group) == {JUDGED[0]}]
    others = [f"{verdict} ({number})" for verdict, number in total.iloc[1:].items() if number]
    first = f"{total.iloc[0]} of {len(judged)} published cells reproduce: they differ from ours by at most"
    return " ".join([
        f"{first} {_limit(tolerance)}.",
        *([f"In every judged cell: {'; '.join(same)}."] if same else []),  # semicolons, as method names may have commas
        *([f"Others: {'; '.join(others)}."] if others else []),
    ])  # fmt: skip


def _limit(tolerance: Tolerance) -> str:
    points = f" or {tolerance.points:g} points" if tolerance.points else ""
    return f"{tolerance.noise:g} units of split noise{points}"


def _source_tables(cells: pd.DataFrame, tolerance: Tolerance) -> list[Table]:
    """Return a table for each source, data set and metric, with a row per method and a column per training size."""
    tables = list[Table]()
    for (source, title, metric), part in cells.groupby(["published_source", "dataset_title", "metric"], sort=False):
        named = "" if metric == "accuracy" else f" · {metric_named(str(metric)).title}"
        by_size = plain_records(part.sort_values("train_size", kind="stable"))
        places = list(dict.fromkeys((row["protocol"], row["train_size"]) for row in by_size))
        lines = []
        for label, of_label in part.groupby("label", sort=False):
            by_place = {(row["protocol"], row["train_size"]): row for row in plain_records(of_label)}
            lines.append((Cell(str(label)), *(_cell(by_place.get(place)) for place in places)))
        note = "" if tables else _note(cells, tolerance)
        columns = (words("Method"), *setting_columns(places))
        tables.append(Table(f"{source} · {title}{named}", columns, lines, note=note))
    return tables


def _cell(row: dict[str, Any] | None) -> Cell:
    """Return a cell with ``ours ± std | published``, and with z and the verdict below."""
    if row is None:
        return number_cell(wording.DASH, None)
    ours = wording.spread(row["mean"], row["std"])
    published = wording.spread(row["published"], row["published_std"])
    mark, kind = MARKS[row["verdict"]]
    unsure = pd.isna(row["z"]) or row["verdict"] == verdicts.UNCERTAIN
    z = "" if unsure else f"z {wording.signed(row['z'], 1)} "
    return number_cell(
        f"{ours} | {published}", row["mean"], kind=f"verdict {kind}", note=str(row["reason"] or ""),
        below=f"{z}{mark}",
    )  # fmt: skip


def _note(cells: pd.DataFrame, tolerance: Tolerance) -> str:
    splits = sorted({int(value) for value in cells["published_repeats"].dropna()})
    over = f"over {' or '.join(map(str, splits))} splits" if splits else "over as many splits as ours"
    printed = "" if cells["published_std"].notna().all() else ", which is assumed to be ours where it is not printed"
    rules = set(cells["neighbour"]) - {""}
    rule = f" Rule: {wording.rule_title(rules.pop())}." if len(rules) == 1 else ""
    return (
        "Each cell: ours (mean ± std, %) | published (%). Ours is the oracle's value: the best dimension of the mean "
        "test curve, chosen on the test samples, as the papers have it; of a method that decides itself, its value. "
        "z = (published − ours) / √(sd²/n of ours + sd²/n of the paper's), with our standard deviation over splits and "
        f"the paper's{printed}; published means are {over}. A difference of at most {_limit(tolerance)} is what other "
        "random splits explain: reproduced. A larger one is certain where Student's t, with the degrees of freedom of "
        f"these deviations, is as rare. z > 0: the published value is higher.{rule}"
    )
