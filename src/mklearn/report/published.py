"""The part of a report about published values: what reproduces, in tables, one paragraph and remarks."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mklearn.evaluation.reproduction import (
    HIGHER,
    LOWER,
    NO_SPREAD,
    NO_VALUE,
    OTHER_DATA,
    REPRODUCED,
    TOLERANCE,
    Reproduction,
    compare_published,
    sentence,
)  # fmt: skip
from mklearn.report.frames import families, protocol_family, records, with_labels
from mklearn.report.series import Series
from mklearn.report.tables import Cell, Column, Table
from mklearn.report.wording import (
    DASH,
    count,
    enumeration,
    in_order,
    missing,
    percent,
    percent_spread,
    plural,
    rule_title,
    signed,
)  # fmt: skip

if TYPE_CHECKING:
    import pandas as pd

MARKS = {
    REPRODUCED: ("✓ reproduced", "good"),
    LOWER: ("▼ ours is lower", "off"),
    HIGHER: ("▲ ours is higher", "off"),
    NO_VALUE: ("no value", "none"),
    NO_SPREAD: ("no spread to judge by", "none"),
    OTHER_DATA: ("another crop: not comparable", "none"),
}
"""How a verdict is written in a cell, and its class in the style sheet."""
MOST_NAMED = 16
"""Of more methods than that the paragraph would be a list of names."""


@dataclass(frozen=True)
class Published:
    """Everything that the report says of published values, worded and formatted.

    Attributes
    ----------
    cells : DataFrame
        The columns of :func:`mklearn.evaluation.reproduction.compare_published`.
    labelled : DataFrame
        The same with ``label``, the name of its method (and rule) in tables and figures.
    alerts : list of str
        What stands above everything else: data sets that are others than the papers'.
    statement, calibration : str
        What reproduces, and what the calibration says; each a paragraph, or empty.
    overview : Table or None
        Each method over all its cells; None without published values.
    tables : list of Table
        One for each source and data set.
    remarks : list of (names of methods, text)
    note : str
        How the tables are read.
    """

    cells: pd.DataFrame
    labelled: pd.DataFrame
    alerts: list[str]
    statement: str
    calibration: str
    overview: Table | None
    tables: list[Table]
    remarks: list[tuple[str, str]]
    note: str


def published_part(
    summary: pd.DataFrame,
    series: Series,
    calibration: Mapping[str, Any] | None = None,
    remarks: Sequence[Mapping[str, Any]] = (),
    beside: Sequence[str] = (),
) -> Published:
    """Compare a summary with the published values in it, and word the result.

    Parameters
    ----------
    summary : DataFrame
        From :func:`mklearn.evaluation.summary.summarise`.
    series : Series
    calibration : dict, optional
        ``{"method", "tolerance"}`` of the study.
    remarks : sequence of dict
        ``{"methods": list of ids, "text"}``.
    beside : sequence of str
        Ids of methods without published values that stand in every table all the same: the reference and the best
        single kernel.
    """
    found = compare_published(summary, calibration)
    labelled = _labelled(found.cells, series)
    rules = set(labelled["neighbour"]) - {""}
    extra = _labelled(summary[summary["selection"].eq("oracle") & summary["method"].isin(list(beside))], series)
    extra = extra[extra["neighbour"].isin([*rules, ""])]
    if len(rules) > 1:
        labelled, extra = (_with_rule(frame) for frame in (labelled, extra))
    titles = dict(zip(summary["method"], summary["method_title"], strict=True))
    return Published(
        cells=found.cells,
        labelled=labelled,
        alerts=[sentence(check) for check in found.checks if check.status == "missed"],
        statement=statement(labelled),
        calibration=_calibration(found),
        overview=_overview(labelled) if len(labelled) else None,
        tables=[
            _table(part, extra, str(source), str(title))
            for (source, title), part in labelled.groupby(["published_source", "dataset_title"], sort=False)
        ],
        remarks=[
            (enumeration([str(titles.get(method, method)) for method in remark["methods"]]), str(remark["text"]))
            for remark in remarks
        ],
        note=_note(labelled) if len(labelled) else "",
    )


def statement(labelled: pd.DataFrame) -> str:
    """Which methods reproduce in all their cells, which in some, which in none: one paragraph.

    Of many methods only those that reproduce are named; the table under the paragraph has the others.
    """
    if labelled.empty:
        return ""
    comparable = labelled[~labelled["verdict"].eq(OTHER_DATA)]
    groups: dict[str, list[str]] = {"all": [], "some": [], "none": [], "unjudged": []}
    for label, part in comparable.groupby("label", sort=False):
        counts = Counter(part["verdict"])
        same, lower, higher = (counts[name] for name in (REPRODUCED, LOWER, HIGHER))
        judged = same + lower + higher
        off = [f"ours is {word} in {number}" for word, number in (("lower", lower), ("higher", higher)) if number]
        text = f"{label} ({'; '.join([f'{same} of {judged}', *off])})"
        groups["unjudged" if not judged else "all" if same == judged else "some" if same else "none"].append(
            str(label) if not judged else text
        )
    total = Counter(labelled["verdict"])
    judged = sum(total[name] for name in (REPRODUCED, LOWER, HIGHER))
    parts = []
    if judged:
        same = total[REPRODUCED]
        parts.append(
            f"{same} of {judged} published {'cell reproduces' if judged == 1 else 'cells reproduce'}: they differ from "
            f"ours by at most {TOLERANCE:g} units of split noise."
        )
    heads = {"all": "In every cell", "some": "In some", "none": "In none", "unjudged": "Without a value to compare"}
    many = sum(map(len, groups.values())) > MOST_NAMED
    parts += [
        f"{heads[name]}: {plural(len(names), 'method') if many and name != 'all' else _list(names)}."
        for name, names in groups.items()
        if names
    ]
    for verdict, what in (
        (NO_VALUE, "without a value of ours"),
        (NO_SPREAD, "without a spread to judge by"),
        (OTHER_DATA, "on data that are another crop than the paper's, and not compared"),
    ):
        if total[verdict]:
            parts.append(f"{plural(total[verdict], 'cell is', 'cells are')} {what}.")
    return " ".join(parts)


def _list(names: Sequence[str]) -> str:
    """Names with their counts; semicolons, as names have commas."""
    return "; ".join(names)


def _calibration(found: Reproduction) -> str:
    sentences = [sentence(check) for check in found.checks if check.status != "missed"]
    return f"Calibration: {' '.join(sentences)}" if sentences else ""


def _labelled(cells: pd.DataFrame, series: Series) -> pd.DataFrame:
    return with_labels(cells, series).assign(neighbour=cells["neighbour"].fillna(""))


def _with_rule(frame: pd.DataFrame) -> pd.DataFrame:
    pairs = zip(frame["label"], frame["neighbour"], strict=True)
    return frame.assign(label=[f"{label} ({rule_title(rule)})" if rule else label for label, rule in pairs])


def _overview(labelled: pd.DataFrame) -> Table:
    columns = (
        Column("Method", numeric=False),
        Column("Cells that reproduce", f"|z| at most {TOLERANCE:g}"),
        Column("Published − ours, points", "mean over the cells with a value"),
        Column("from", "lowest of the cells"),
        Column("to", "highest of the cells"),
        Column("Largest |z|", "difference in units of split noise"),
    )
    rows = []
    for label, part in labelled.groupby("label", sort=False):
        counts, known = Counter(part["verdict"]), part.dropna(subset=["difference_points"])
        same = counts[REPRODUCED]
        below = [
            f"{counts[name]} {what}"
            for name, what in (
                (LOWER, "lower than published"),
                (HIGHER, "higher than published"),
                (NO_VALUE, "without a value"),
                (NO_SPREAD, "without a spread"),
                (OTHER_DATA, "not comparable"),
            )
            if counts[name]
        ]
        differences = [float(f(known["difference_points"])) if len(known) else math.nan for f in (_mean, min, max)]
        z = float(part["z"].abs().max())
        rows.append(
            (
                Cell(str(label)),
                Cell(
                    f"{'✓ ' if same == len(part) else ''}{same} of {len(part)}", repr(same / len(part)),
                    f"number verdict {'good' if same == len(part) else 'off'}", below=", ".join(below),
                ),
                *(Cell(signed(value, 2), "" if missing(value) else repr(value), "number") for value in differences),
                Cell(DASH if missing(z) else f"{z:.1f}", "" if missing(z) else repr(z), "number"),
            )
        )  # fmt: skip
    return Table("Published values, each method over all its cells", columns, tuple(rows))


def _mean(values: pd.Series) -> float:
    return float(values.mean())


def _table(part: pd.DataFrame, extra: pd.DataFrame, source: str, dataset_title: str) -> Table:
    """One source on one data set: a row for each method, a column for each training size."""
    several = len(set(families(part))) > 1
    places = {
        (row["protocol"], None if missing(row["train_size"]) else int(row["train_size"])): ""
        for row in records(part.sort_values("train_size", kind="stable"))
    }
    columns = [Column("Method", numeric=False)]
    for protocol, size in places:
        title = f"training size {size}" if size is not None else protocol or "all"
        family = protocol_family(protocol, size)
        columns.append(Column(f"{title}, {family}" if several and size is not None else title))
    beside = extra[extra["dataset"].isin(part["dataset"]) & ~extra["label"].isin(part["label"])]
    rows = []
    for frame, is_compared in ((part, True), (beside, False)):
        for label, own in frame.groupby("label", sort=False):
            by_place = {
                (row["protocol"], None if missing(row["train_size"]) else int(row["train_size"])): row
                for row in records(own)
            }
            cells = (_cell(by_place.get(place), is_compared) for place in places)
            rows.append((Cell(str(label)), *cells))
    return Table(f"{source} · {dataset_title}", tuple(columns), tuple(rows))


def _cell(row: dict[str, Any] | None, is_compared: bool) -> Cell:
    """``ours ± std | published``, and below it z and the verdict, and what else one wants to know."""
    if row is None:
        return Cell(DASH, "", "number")
    ours = percent_spread(row["mean"], row["std"])
    sort = "" if missing(row["mean"]) else repr(float(row["mean"]))
    if not is_compared:
        return Cell(f"{ours} | {DASH}", sort, "number verdict", below="not published")
    published = percent_spread(row["published"], row["published_std"])
    mark, kind = MARKS[row["verdict"]]
    z = "" if missing(row["z"]) else f"z {signed(row['z'], 1)} "
    details = []
    if not missing(row["dimension"]) or not missing(row["published_dimension"]):
        details.append(f"dim. {count(row['dimension'])} | {count(row['published_dimension'])}")
    if not missing(row["inner_cv_mean"]):
        details.append(f"inner CV {percent(row['inner_cv_mean'])}")
    return Cell(
        f"{ours} | {published}",
        sort,
        f"number verdict {kind}",
        note=str(row["reason"] or ""),
        below=f"{z}{mark}",
        detail=" · ".join(details),
    )


def _note(labelled: pd.DataFrame) -> str:
    splits = sorted({int(value) for value in labelled["published_repeats"].dropna()})
    known = f"{' or '.join(map(str, splits))} splits" if splits else ""
    unknown = "as many splits as ours, as the number is not given" if labelled["published_repeats"].isna().any() else ""
    rules = [rule_title(rule) for rule in in_order(labelled["neighbour"]) if rule]
    rule = f" Rule: {rules[0]}." if len(rules) == 1 else ""
    return (
        "Each cell: ours (mean ± std, %) | published (%). Ours is the oracle's value: the best dimension of the mean "
        "test curve, chosen on the test samples, as the papers have it; of a method that decides itself, its value. "
        "z = (published − ours) / (sd √(1/n ours + 1/n published)), with our standard deviation over splits, which "
        "assumes that the paper's is the same; the published means are taken to be over "
        f"{' or '.join(filter(None, (known, unknown)))}. |z| ≤ {TOLERANCE:g} is what other random splits explain: "
        f"reproduced. z > 0: the published value is higher.{rule}"
    )
