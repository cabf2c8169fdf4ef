"""The part of a report about published values: what reproduces, in tables, one paragraph and remarks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from mklearn.study.evaluation import reproduction as verdicts
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.reproduction import compare_published, judged_rows, sentence
from mklearn.study.report import wording
from mklearn.study.report.frames import Results, records, whole_or_none
from mklearn.study.report.tables import Cell, Column, Table, number_cell, setting_columns
from mklearn.study.specs.table_specs import Claim, ReportSpec, Tolerance

MARKS = {
    verdicts.REPRODUCED: ("✓ reproduced", "good"),
    verdicts.LOWER: ("▼ ours is lower", "off"),
    verdicts.HIGHER: ("▲ ours is higher", "off"),
    verdicts.UNCERTAIN: ("? differs, not for certain", "none"),
    verdicts.NO_VALUE: ("no value", "none"),
    verdicts.NO_SPREAD: ("no spread to judge by", "none"),
    verdicts.OTHER_DATA: ("another crop: not comparable", "none"),
}
"""How a verdict is written in a cell, and its class in the style sheet."""
JUDGED = (verdicts.REPRODUCED, verdicts.LOWER, verdicts.HIGHER, verdicts.UNCERTAIN)
"""Verdicts of cells with a value and a spread."""


@dataclass(frozen=True)
class Published:
    """Everything that the report says about published values, worded and formatted.

    ``cells`` are the rows of :func:`mklearn.study.evaluation.reproduction.compare_published`, with ``label``, the name
    of their method and rule. ``alerts`` name the data sets that are not the papers'. ``overview`` tabulates each method
    over all its cells; ``tables`` each source on one data set. ``remarks`` are names of methods, and a text. ``claims``
    tabulates what papers say in words, with verdicts. ``pairs`` tabulate differences between two methods.
    """

    cells: pd.DataFrame
    alerts: list[str]
    statement: str
    calibration: str
    overview: Table | None
    tables: list[Table]
    remarks: list[tuple[str, str]]
    claims: Table | None
    pairs: Sequence[Table]
    note: str

    @property
    def exists(self) -> bool:
        """Whether there is anything to show."""
        return bool(self.tables or self.remarks or self.claims or self.pairs)

    @property
    def title(self) -> str:
        """The title of the section, which may hold comparisons of pairs of methods alone."""
        return "Published values" if self.tables or self.remarks or self.claims else "Pairs of methods"


def published_part(
    results: Results, study: ReportSpec, baselines: Sequence[str], pairs: Sequence[Table] = ()
) -> Published:
    """Compare the results with the published values in their summary, and word the comparison.

    The baselines stand in every table, also where they have no published value. ``pairs`` are shown as they are.
    """
    summary, tolerance = results.all_metrics, study.tolerance
    found = compare_published(summary, study.calibration.model_dump() if study.calibration else None, tolerance)
    labelled = found.cells.assign(label=summary.loc[found.cells.index, "label"])
    rules = set(labelled["neighbour"]) - {""}
    extra = summary[judged_rows(summary) & summary["method"].isin(baselines)]
    extra = extra[extra["neighbour"].isin([*rules, ""])]
    if len(rules) > 1:
        labelled, extra = (_with_rule(frame) for frame in (labelled, extra))
    titles = results.method_titles()
    keys = ["published_source", "dataset_title", "metric"]
    met = [sentence(check) for check in found.checks if check.status != "missed"]
    return Published(
        cells=labelled,
        alerts=[sentence(check) for check in found.checks if check.status == "missed"],
        statement=statement(labelled, tolerance),
        calibration=f"Calibration: {' '.join(met)}" if met else "",
        overview=_overview(labelled, tolerance) if len(labelled) else None,
        tables=[
            _table(part, extra[extra["metric"].eq(str(metric))], f"{source} · {title}{_metric(str(metric))}")
            for (source, title, metric), part in labelled.groupby(keys, sort=False)
        ],
        remarks=[
            (wording.enumeration([titles.get(method, method) for method in remark.methods]), remark.text)
            for remark in study.remarks
        ],
        claims=_claims(study.claims) if study.claims else None,
        pairs=pairs,
        note=_note(labelled, tolerance) if len(labelled) else "",
    )


def _claims(claims: Sequence[Claim]) -> Table:
    kinds = {"holds": "good", "does not hold": "off"}
    rows = [
        (
            Cell(claim.text, below=claim.source),
            Cell(claim.verdict, kind=f"verdict {kinds.get(claim.verdict, 'none')}"),
            Cell(claim.evidence),
        )
        for claim in claims
    ]
    columns = [Column(title, numeric=False) for title in ("Claim", "Verdict", "What this study shows")]
    return Table("Claims of the papers", columns, rows)


def _metric(name: str) -> str:
    return "" if name == "accuracy" else f" · {metric_named(name).title}"


def statement(labelled: pd.DataFrame, tolerance: Tolerance) -> str:
    """Say how many cells reproduce, and which methods in all of theirs; the table below has the others."""
    if labelled.empty:
        return ""
    total, parts = _counts(labelled), []
    if judged := total[[*JUDGED]].sum():
        cells = "cell reproduces" if judged == 1 else "cells reproduce"
        parts.append(
            f"{total[verdicts.REPRODUCED]} of {judged} published {cells}: they differ from ours by at most "
            f"{_limit(tolerance)}."
        )
    if unsure := total[verdicts.UNCERTAIN]:
        parts.append(f"{wording.plural(unsure, 'cell differs', 'cells differ')} by more, and not for certain.")
    by_method = labelled[labelled["verdict"].isin(JUDGED)].groupby("label", sort=False)["verdict"]
    if same := [str(label) for label, found in by_method if found.eq(verdicts.REPRODUCED).all()]:
        parts.append(f"In every judged cell: {'; '.join(same)}.")  # as the names of methods have commas
    for verdict, what in (
        (verdicts.NO_VALUE, "without a value of ours"),
        (verdicts.NO_SPREAD, "without a spread to judge by"),
        (verdicts.OTHER_DATA, "on data that are another crop than the paper's, and not compared"),
    ):
        if total[verdict]:
            parts.append(f"{wording.plural(total[verdict], 'cell is', 'cells are')} {what}.")
    return " ".join(parts)


def _limit(tolerance: Tolerance) -> str:
    points = f" or {tolerance.points:g} points" if tolerance.points else ""
    return f"{tolerance.noise:g} units of split noise{points}"


def _counts(cells: pd.DataFrame) -> pd.Series:
    return cells["verdict"].value_counts().reindex(verdicts.VERDICTS, fill_value=0)


def _with_rule(frame: pd.DataFrame) -> pd.DataFrame:
    pairs = zip(frame["label"], frame["neighbour"], strict=True)
    return frame.assign(label=[f"{label} ({wording.rule_title(rule)})" if rule else label for label, rule in pairs])


def _overview(labelled: pd.DataFrame, tolerance: Tolerance) -> Table:
    columns = (
        Column("Method", numeric=False),
        Column("Cells that reproduce", f"differ by at most {_limit(tolerance)}"),
        Column("Published − ours, points", "mean over the cells with a value"),
        Column("from", "lowest of the cells"),
        Column("to", "highest of the cells"),
        Column("Largest |z|", "difference in units of split noise; of cells whose verdict is certain"),
    )
    others = {
        verdicts.LOWER: "lower than published",
        verdicts.HIGHER: "higher than published",
        verdicts.UNCERTAIN: "not certain",
        verdicts.NO_VALUE: "without a value",
        verdicts.NO_SPREAD: "without a spread",
        verdicts.OTHER_DATA: "not comparable",
    }
    rows = []
    for label, part in labelled.groupby("label", sort=False):
        counts = _counts(part)
        same, complete = int(counts[verdicts.REPRODUCED]), counts[verdicts.REPRODUCED] == len(part)
        share = number_cell(
            f"{'✓ ' if complete else ''}{same} of {len(part)}",
            same / len(part),
            kind=f"verdict {'good' if complete else 'off'}",
            below=", ".join(f"{counts[name]} {what}" for name, what in others.items() if counts[name]),
        )
        off = part["difference_points"].astype(float).agg(["mean", "min", "max"])
        z = float(part["z"].abs()[part["verdict"].ne(verdicts.UNCERTAIN)].max())
        cells = (number_cell(wording.signed(value, 2), value) for value in off)
        rows.append((Cell(str(label)), share, *cells, number_cell(wording.DASH if pd.isna(z) else f"{z:.1f}", z)))
    return Table("Published values, each method over all its cells", columns, rows)


def _table(part: pd.DataFrame, extra: pd.DataFrame, caption: str) -> Table:
    """Tabulate one source on one data set: a row for each method, a column for each training size."""
    places = list(dict.fromkeys(map(_place, records(part.sort_values("train_size", kind="stable")))))
    baselines = extra[extra["dataset"].isin(part["dataset"]) & ~extra["label"].isin(part["label"])]
    rows = []
    for frame, is_compared in ((part, True), (baselines, False)):
        for label, own in frame.groupby("label", sort=False):
            by_place = {_place(row): row for row in records(own)}
            rows.append((Cell(str(label)), *(_cell(by_place.get(place), is_compared) for place in places)))
    return Table(caption, (Column("Method", numeric=False), *setting_columns(places)), rows)


def _place(row: dict[str, Any]) -> tuple[str, int | None]:
    return row["protocol"], whole_or_none(row["train_size"])


def _cell(row: dict[str, Any] | None, is_compared: bool) -> Cell:
    """Format ``ours ± std | published``, below it z and the verdict, and below that the dimensions and inner CV."""
    if row is None:
        return number_cell(wording.DASH, None)
    ours = wording.spread(row["mean"], row["std"])
    if not is_compared:
        return number_cell(f"{ours} | {wording.DASH}", row["mean"], kind="verdict", below="not published")
    published = wording.spread(row["published"], row["published_std"])
    mark, kind = MARKS[row["verdict"]]
    unsure = pd.isna(row["z"]) or row["verdict"] == verdicts.UNCERTAIN
    z = "" if unsure else f"z {wording.signed(row['z'], 1)} "
    dimensions = [wording.count(row[name]) for name in ("dimension", "published_dimension")]
    details = [f"dim. {' | '.join(dimensions)}"] if set(dimensions) != {wording.DASH} else []
    details += [] if pd.isna(row["inner_cv_mean"]) else [f"inner CV {wording.percent(row['inner_cv_mean'])}"]
    return number_cell(
        f"{ours} | {published}",
        row["mean"],
        kind=f"verdict {kind}",
        note=str(row["reason"] or ""),
        below=f"{z}{mark}",
        detail=" · ".join(details),
    )


def _note(labelled: pd.DataFrame, tolerance: Tolerance) -> str:
    splits = sorted({int(value) for value in labelled["published_repeats"].dropna()})
    known = wording.plural(splits[0], "split") if len(splits) == 1 else f"{' or '.join(map(str, splits))} splits"
    unknown = "as many splits as ours, as the number is not given" if labelled["published_repeats"].isna().any() else ""
    printed = labelled["published_std"].notna()
    deviation = (
        "the paper's standard deviation as printed" if printed.all()
        else "the paper's standard deviation, which is assumed to be ours" if not printed.any()
        else "the paper's standard deviation, which is assumed to be ours where it is not printed"
    )  # fmt: skip
    rules = [wording.rule_title(rule) for rule in wording.in_order(labelled["neighbour"]) if rule]
    rule = f" Rule: {rules[0]}." if len(rules) == 1 else ""
    return (
        "Each cell: ours (mean ± std, %) | published (%). Ours is the oracle's value: the best dimension of the mean "
        "test curve, chosen on the test samples, as the papers have it; of a method that decides itself, its value. "
        "z = (published − ours) / √(sd²/n of ours + sd²/n of the paper's), with our standard deviation over splits and "
        f"{deviation}; the published means are taken to be over "
        f"{' or '.join(filter(None, (known if splits else '', unknown)))}. A difference of at most {_limit(tolerance)} "
        "is what other random splits explain: reproduced. A larger one is certain where Student's t, with the degrees "
        f"of freedom of these deviations, is as rare. z > 0: the published value is higher.{rule}"
    )
