"""Predicted numbers: whose are shown, and errors by group."""

from __future__ import annotations

import numpy as np
import pandas as pd

from mklearn.study.report.frames import MAX_EMBEDDING_POINTS, Results, Setting, best_and_reference, spread
from mklearn.study.report.records import FitRecord
from mklearn.study.report.tables import Cell, Column, Table, number_cell
from mklearn.study.report.wording import DASH, count, number

MOST_GROUPS = 30


def shown_numbers(results: Results, setting: Setting) -> list[FitRecord]:
    """Return the best method and the reference of a setting, or the two best; none where classes are predicted."""
    means = setting.of(results.inner_cv).groupby("method")["mean"].max().dropna()
    known = [
        record
        for record in setting.fits(results.fits)
        if record.predicted is not None and len(record.predicted) and record.method in means
    ]
    ranked = sorted(known, key=lambda record: means[record.method], reverse=results.score.larger_is_better)
    return best_and_reference(ranked, lambda record: record.method == results.reference)


def first_repeat(record: FitRecord) -> pd.DataFrame:
    """Return ``sample, true, predicted`` and, where there is one, ``group`` of the first repeat, thinned evenly."""
    assert record.predicted is not None
    rows = record.predicted[record.predicted["repeat"].eq(record.predicted["repeat"].min())]
    return rows.iloc[spread(len(rows), MAX_EMBEDDING_POINTS)]


def group_tables(results: Results) -> list[Table]:
    """Tabulate the errors of the methods that are shown by group; no table of samples without groups."""
    tables = []
    for setting in results.settings:
        shown = [
            record
            for record in shown_numbers(results, setting)
            if record.predicted is not None and "group" in record.predicted
        ]
        if shown:
            tables.append(_group_table(results, setting, shown))
    return tables


def _group_table(results: Results, setting: Setting, shown: list[FitRecord]) -> Table:
    columns, by_method = [Column("Group", numeric=False), Column("Samples")], []
    for record in shown:
        label = results.series.of_method(record.method, record.method_title)
        columns += [Column(f"{label}, RMSE"), Column(f"{label}, mean of predicted − true")]
        by_method.append(_errors(record))
    order = by_method[0].sort_values("rmse", ascending=False, kind="stable").index[:MOST_GROUPS]
    rows = []
    for group in order:
        cells = [Cell(str(group)), number_cell(count(by_method[0]["n"][group]), by_method[0]["n"][group])]
        for errors in by_method:
            for name in ("rmse", "bias"):
                value = errors[name].get(group, np.nan)
                cells.append(number_cell(DASH if pd.isna(value) else number(value), value))
        rows.append(cells)
    return Table(setting.title, columns, rows, sorted_by=2)


def _errors(record: FitRecord) -> pd.DataFrame:
    """Return ``n, rmse, bias`` by group."""
    assert record.predicted is not None
    rows = record.predicted.assign(error=record.predicted["predicted"] - record.predicted["true"])
    grouped = rows.groupby("group", sort=False)
    squares = rows.assign(square=rows["error"] ** 2).groupby("group", sort=False)["square"].mean()
    return pd.DataFrame({
        "n": grouped["sample"].nunique(), "rmse": np.sqrt(squares), "bias": grouped["error"].mean()
    })  # fmt: skip
