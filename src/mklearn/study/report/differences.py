"""Tables of paired differences over all settings of a study, between any two methods."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import pandas as pd

from mklearn.study.evaluation.predictions import Predictions
from mklearn.study.evaluation.summary import summarise
from mklearn.study.report.frames import records
from mklearn.study.report.parts import ReportPart
from mklearn.study.report.tables import Cell, Column, Table, number_cell
from mklearn.study.report.wording import in_order, setting_title
from mklearn.study.specs.table_specs import DifferenceTable

SETTING = ["dataset", "protocol", "train_size"]
COLUMNS = [
    *SETTING, "method", "reference", "difference", "low", "high", "repeats", "below", "above", "worst_repeat",
    "reference_accuracy",
]  # fmt: skip
"""Differences, their 95 % interval and the worst repeat in points; ``below`` and ``above`` count repeats, and a
``train_size`` of 0 stands for none."""
NOTE = (
    "Difference in points and its paired 95 % interval, which allows for training sets that overlap. ▲ and ▼: the "
    "interval lies above or below 0, a win or a loss; it is not corrected for the number of comparisons."
)


def paired_differences(
    scores: pd.DataFrame, predictions: Predictions, pairs: Iterable[tuple[str, str]], metric: str = "accuracy"
) -> pd.DataFrame:
    """Return the paired differences of methods to their references, one row per pair and setting that has both.

    Scores are those of inner cross-validation, by the first nearest-neighbour rule; the folds of a repeat count as
    their mean.

    Parameters
    ----------
    scores : DataFrame
        The score table of a study.
    predictions : Predictions
    pairs : iterable of (method, reference)
    metric : str
        With values from 0 to 1.

    Returns
    -------
    DataFrame
        Columns as in ``COLUMNS``.
    """
    first = [rule for rule in in_order(scores["neighbour"]) if rule][:1]
    chosen = scores["selection"].eq("inner_cv") & scores["metric"].eq(metric) & scores["neighbour"].isin(["", *first])
    scores, pairs = scores[chosen], list(dict.fromkeys(pairs))
    sized = scores.assign(train_size=scores["train_size"].fillna(0).astype(int))
    by_repeat = 100 * sized.groupby([*SETTING, "method", "repeat"])["value"].mean()
    rows: list[tuple[Any, ...]] = []
    for reference in dict.fromkeys(reference for _, reference in pairs):
        methods = [method for method, against in pairs if against == reference]
        compared = scores[scores["method"].isin([*methods, reference])]  # intervals of other methods take time
        table = summarise(compared, predictions, reference=reference)
        for row in records(table[table["method"].isin(methods) & table["difference"].notna()]):
            setting = row["dataset"], row["protocol"], 0 if pd.isna(row["train_size"]) else int(row["train_size"])
            level, own = by_repeat.loc[(*setting, reference)], by_repeat.loc[(*setting, row["method"])]
            gained = (own - level).to_numpy()
            bounds = (100 * row[name] for name in ("difference", "difference_low", "difference_high"))
            counts = (len(gained), int((gained < -1e-9).sum()), int((gained > 1e-9).sum()), gained.min())
            rows.append((*setting, row["method"], reference, *bounds, *counts, level.mean()))
    return pd.DataFrame(rows, columns=COLUMNS)


def differences_part(
    tables: Sequence[DifferenceTable], scores: pd.DataFrame, predictions: Predictions, titles: Mapping[str, str],
    metric: str,
) -> ReportPart:  # fmt: skip
    """Return the tables of differences that a study asks for, and their numbers as ``differences.csv``."""
    if not tables:
        return ReportPart()
    pairs = [pair for table in tables for pair in table.columns.values()]
    found = paired_differences(scores, predictions, pairs, metric)
    return ReportPart(
        tables=[difference_table(table, found, titles) for table in tables],
        files={"differences.csv": found.round(4)},
    )


def difference_table(asked: DifferenceTable, found: pd.DataFrame, titles: Mapping[str, str]) -> Table:
    """Tabulate differences: a row for each setting, a column for each pair; wins, losses and the worst case below.

    Parameters
    ----------
    asked : DifferenceTable
    found : DataFrame
        As :func:`paired_differences` gives it.
    titles : mapping
        Of data sets.
    """
    groups = [
        found[found["method"].eq(method) & found["reference"].eq(reference)].set_index(SETTING)
        for method, reference in asked.columns.values()
    ]
    one_reference = len({reference for _, reference in asked.columns.values()}) == 1
    several = found.groupby(["dataset", "train_size"])["protocol"].nunique().gt(1).any()
    rows = []
    for setting in dict.fromkeys(found[SETTING].itertuples(index=False, name=None)):
        here = [group.loc[setting] if setting in group.index else None for group in groups]
        known = [row for row in here if row is not None]
        if known:
            dataset, protocol, size = setting
            title = setting_title(titles.get(dataset, dataset), size or None, protocol if several else "")
            levels = [number_cell(f"{row['reference_accuracy']:.1f}", row["reference_accuracy"]) for row in known[:1]]
            rows.append([Cell(title), *(levels if one_reference else []), *map(_cell, here)])
    for title, summary in SUMMARY_ROWS.items():
        cells = [Cell(summary(group) if len(group) else "") for group in groups]
        rows.append([Cell(title, kind="strong"), *([Cell("")] if one_reference else []), *cells])
    heads = [Column("Setting", numeric=False), *([Column("Reference, %")] if one_reference else [])]
    return Table(asked.title, [*heads, *map(Column, asked.columns)], rows, note=NOTE)


def _cell(row: pd.Series | None) -> Cell:
    if row is None:
        return Cell("")
    mark = " ▲" if row["low"] > 0 else " ▼" if row["high"] < 0 else ""
    text = f"{_signed(row['difference'])} [{_signed(row['low'])}, {_signed(row['high'])}]{mark}"
    return number_cell(text, row["difference"])


def _signed(points: float) -> str:
    return f"{points:+.1f}" if abs(points) >= 0.05 else "0.0"


def _verdicts(group: pd.DataFrame) -> str:
    wins, losses = int((group["low"] > 0).sum()), int((group["high"] < 0).sum())
    return f"{wins} / {losses} / {len(group) - wins - losses}"


def _repeats(group: pd.DataFrame) -> str:
    return f"{group['below'].sum()} / {group['above'].sum()} of {group['repeats'].sum()}"


SUMMARY_ROWS: Mapping[str, Callable[[pd.DataFrame], str]] = {
    "wins / losses / ties": _verdicts,
    "settings below 0": lambda group: str(int((group["difference"] < -1e-9).sum())),
    "mean": lambda group: f"{group['difference'].mean():+.2f}",
    "worst setting": lambda group: f"{group['difference'].min():+.2f}",
    "repeats below / above": _repeats,
    "worst repeat": lambda group: f"{group['worst_repeat'].min():+.1f}",
}
