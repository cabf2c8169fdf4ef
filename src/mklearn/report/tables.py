"""The tables of the report as rows of formatted cells, and the same in Markdown."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from mklearn.kernels.identity_like import IDENTITY_LIKE_BELOW
from mklearn.report.frames import Setting, records, with_labels
from mklearn.report.series import Series
from mklearn.report.wording import (
    DASH,
    count,
    missing,
    percent,
    percent_interval,
    percent_spread,
    plural,
    points,
    rule_title,
    scientific,
    seconds,
    status_title,
)

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True)
class Cell:
    """A cell: its text, the value it sorts by (text or number), and what marks it."""

    text: str
    sort: str = ""
    kind: str = ""  # css classes: "number", "strong", "up", "down", "warn"
    note: str = ""  # read out and shown on hover
    below: str = ""  # a second line
    detail: str = ""  # a third one, in the page only


@dataclass(frozen=True)
class Column:
    """A column head; ``note`` explains it on hover."""

    title: str
    note: str = ""
    numeric: bool = True


@dataclass(frozen=True)
class Table:
    """A table with a caption. The first cell of each row is its heading."""

    caption: str
    columns: tuple[Column, ...]
    rows: tuple[tuple[Cell, ...], ...]
    sorted_by: int | None = None  # column by which the rows come sorted, descending
    marked: tuple[bool, ...] = ()  # rows that are set off: those of the reference method


def result_table(summary: pd.DataFrame, setting: Setting, series: Series, reference: str, title: str) -> Table:
    """Accuracies of a setting: what inner cross-validation chose, and the oracle beside it.

    Parameters
    ----------
    summary : DataFrame
        From :func:`mklearn.evaluation.summary.summarise`.
    setting : Setting
    series : Series
    reference, title : str
        Id and title of the method that differences are taken to.
    """
    rows = with_labels(setting.of(summary), series)
    has_published = bool(rows["published"].notna().any())
    columns = [
        Column("Method", numeric=False),
        Column("Rule", "how a test sample is classified in the embedding", numeric=False),
        Column("Inner CV, %", "mean ± std over repeats, dimension and parameters chosen by inner cross-validation"),
        Column("95 % interval", "corrected resampled interval of the inner-CV mean (Nadeau and Bengio, 2003; bounded)"),
        Column(f"Difference to {title}, points", "paired over repeats, with its 95 % corrected resampled interval"),
        Column("Dim.", "median of the dimensions that inner cross-validation chose"),
        Column("Oracle, %", "mean ± std at the best dimension of the mean test curve: chosen on the test samples"),
        Column("Oracle dim."),
    ]
    if has_published:
        columns.append(Column("Published, %", "as printed in the source"))
    columns += [
        Column("Repeats", "repeats with a value, and how many failed"),
        Column("Fit, s", "mean seconds of one fit"),
        Column("Status", numeric=False),
    ]
    lines = []
    for (label, rule), pair in rows.groupby(["label", "neighbour"], sort=False, dropna=False):
        by_selection = {str(row["selection"]): row for row in records(pair)}
        inner, oracle = by_selection.get("inner_cv"), by_selection.get("oracle")
        any_row: dict[str, Any] = inner or oracle or {}
        cells = _result_row(str(label), str(rule), inner or {}, oracle or {}, any_row, has_published)
        height = (inner or {}).get("mean")
        if missing(height):
            height = -1.0 if missing((oracle or {}).get("mean")) else float((oracle or {})["mean"]) - 1.0
        lines.append((float(height or 0.0), any_row["method"] == reference, tuple(cells)))
    lines.sort(key=lambda line: -line[0])
    best = max((line[0] for line in lines), default=0.0)
    return Table(
        setting.title,
        tuple(columns),
        tuple(_emphasise(cells, best > 0 and value == best) for value, _, cells in lines),
        sorted_by=2,
        marked=tuple(is_reference for _, is_reference, _ in lines),
    )


def _result_row(
    label: str, rule: str, inner: dict[str, Any], oracle: dict[str, Any], row: dict[str, Any], has_published: bool
) -> list[Cell]:
    cells = [
        Cell(label),
        Cell(rule_title(rule)),
        _number(percent_spread(inner.get("mean"), inner.get("std")), inner.get("mean")),
        _number(percent_interval(inner.get("ci_low"), inner.get("ci_high")), inner.get("ci_low")),
        _difference(inner),
        _number(count(inner.get("dimension")), inner.get("dimension")),
        _number(percent_spread(oracle.get("mean"), oracle.get("std")), oracle.get("mean")),
        _number(count(oracle.get("dimension")), oracle.get("dimension")),
    ]
    if has_published:
        source = next((part for part in (oracle, inner) if not missing(part.get("published"))), {})
        text = percent_spread(source.get("published"), source.get("published_std"))
        cells.append(_number(text, source.get("published"), note=str(source.get("published_source") or "")))
    # What is chosen on the test samples has values there only, and has not failed.
    counted = max((part for part in (inner, oracle) if part), key=lambda part: int(part["n_repeats"]), default=row)
    failed = int(counted["n_failed"])
    repeats = f"{count(counted['n_repeats'])}, {failed:,} failed" if failed else count(counted["n_repeats"])
    worst = next((part for part in (inner, oracle) if part.get("status", "ok") != "ok"), row)
    status = Cell(
        status_title(str(worst["status"])),
        kind="" if worst["status"] == "ok" and not failed and not worst["message"] else "warn",
        note=str(worst["message"] or ""),
    )
    return [
        *cells,
        Cell(repeats, str(int(counted["n_repeats"])), "number warn" if failed else "number"),
        _number(seconds(counted["fit_seconds_mean"]), counted["fit_seconds_mean"]),
        status,
    ]


def _difference(row: dict[str, Any]) -> Cell:
    value, low, high = (row.get(name) for name in ("difference", "difference_low", "difference_high"))
    if value is None or missing(value):
        return Cell(DASH, "", "number")
    text = points(value)
    if low is None or high is None or missing(low) or missing(high):
        return Cell(text, repr(float(value)), "number", "one repeat: no interval")
    if value == low == high == 0:
        return Cell("0", "0", "number")
    text += f" [{points(low)}, {points(high)}]"
    if low > 0:
        return Cell(f"{text} ▲", repr(float(value)), "number up", "the interval lies above 0")
    if high < 0:
        return Cell(f"{text} ▼", repr(float(value)), "number down", "the interval lies below 0")
    return Cell(text, repr(float(value)), "number", "the interval contains 0")


def _emphasise(cells: tuple[Cell, ...], is_best: bool) -> tuple[Cell, ...]:
    if not is_best:
        return cells
    best = cells[2]
    return (*cells[:2], Cell(best.text, best.sort, f"{best.kind} strong", "highest of this table"), *cells[3:])


def kernel_table(info: pd.DataFrame, caption: str) -> Table:
    """Diagnostics of the kernels of a setting, with a warning where one is close to the identity.

    Parameters
    ----------
    info : DataFrame
        From :func:`mklearn.report.frames.kernel_info`.
    caption : str
    """
    columns = (
        Column("Kernel", numeric=False),
        Column("Bandwidth", "gamma of exp(-d²/gamma), fitted on the training samples; median over repeats"),
        Column(
            "Min. eigenvalue", "of the training kernel before it was made positive semidefinite; least over repeats"
        ),
        Column("Off-diagonal mass", "share of the centred kernel that no diagonal kernel explains; least over repeats"),
        Column("Remarks", numeric=False),
    )
    rows = []
    for row in records(info):
        remarks = kernel_remarks(row)
        rows.append(
            (
                Cell(str(row["kernel"])),
                _number(scientific(row.get("bandwidth")), row.get("bandwidth")),
                _number(scientific(row.get("min_eigenvalue")), row.get("min_eigenvalue")),
                _number(percent(row.get("off_diagonal_mass")) + " %", row.get("off_diagonal_mass"))
                if not missing(row.get("off_diagonal_mass"))
                else Cell(DASH, "", "number"),
                Cell("; ".join(remarks) or DASH, kind="warn" if remarks else ""),
            )
        )
    return Table(caption, columns, tuple(rows))


def kernel_remarks(row: dict[str, Any]) -> list[str]:
    """What to watch out for in a kernel: identity-like, not positive semidefinite, shifted."""
    remarks = []
    known: dict[str, Any] = {name: value for name, value in row.items() if not missing(value)}
    if known.get("identity_like") or known.get("off_diagonal_mass", 1.0) < IDENTITY_LIKE_BELOW:
        remarks.append("close to the identity: weight learning may prefer it without cause")
    if known.get("min_eigenvalue", 0.0) < -1e-8:
        remarks.append("not positive semidefinite before the repair")
    if known.get("shift", 0.0) > 0:
        remarks.append(f"diagonal shifted by {scientific(known['shift'])}")
    return remarks


def failure_table(scores: pd.DataFrame, settings: Sequence[Setting], series: Series) -> Table:
    """Every status that is not ok: which method, where, how often, and why."""
    rows = []
    labelled = with_labels(scores[scores["status"].ne("ok")], series)
    for setting in settings:
        own = setting.of(labelled)
        for (label, status, message), part in own.groupby(["label", "status", "message"], sort=False, dropna=False):
            repeats = len(part.drop_duplicates(["repeat", "fold"]))
            rows.append(
                (
                    Cell(setting.title),
                    Cell(str(label)),
                    Cell(status_title(str(status)), kind="warn"),
                    Cell(plural(repeats, "repeat"), str(repeats), "number"),
                    Cell("" if missing(message) else str(message), kind="prose"),
                )
            )
    columns = (
        Column("Setting", numeric=False),
        Column("Method", numeric=False),
        Column("Status", numeric=False),
        Column("How often"),
        Column("Message", numeric=False),
    )
    return Table("Fits that did not end well", columns, tuple(rows))


def markdown(table: Table) -> str:
    """A table in GitHub's Markdown."""
    lines = [
        "| " + " | ".join(escape_markdown(column.title) for column in table.columns) + " |",
        "| " + " | ".join("---:" if column.numeric else "---" for column in table.columns) + " |",
    ]
    for row in table.rows:
        texts = (f"**{escape_markdown(_flat(c))}**" if "strong" in c.kind else escape_markdown(_flat(c)) for c in row)
        lines.append("| " + " | ".join(texts) + " |")
    return "\n".join(lines) + "\n"


def _flat(cell: Cell) -> str:
    """A cell on one line."""
    return f"{cell.text} | {cell.below}" if cell.below else cell.text


def escape_markdown(text: str) -> str:
    """Text that Markdown and the HTML in it take literally, on one line."""
    return re.sub(r"([\\`*_{}\[\]<>|#~&$!])", r"\\\1", " ".join(str(text).split()))


def _number(text: str, value: Any, *, note: str = "") -> Cell:
    return Cell(text, "" if missing(value) else repr(float(value)), "number", note)
