"""Methods that put all the weight on one kernel: which kernel, in how many repeats, and with what accuracy."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mklearn.study.report.frames import Results, Setting, records
from mklearn.study.report.records import FitRecord
from mklearn.study.report.tables import Cell, Column, Table, number_cell, setting_columns
from mklearn.study.report.wording import enumeration, percent

PICKED = 0.999
"""A kernel with more than this share of the weight is the one that was picked."""
NEARLY_ALWAYS = 0.9
"""A method that picks one kernel in at least this share of the repeats is shown by its picks, not by its weights."""
MIXED = "several"


class Picks(NamedTuple):
    """A fit, and how many repeats put all the weight on each kernel; under "" those that mix kernels."""

    record: FitRecord
    counts: dict[str, int]


def pick_counts(record: FitRecord) -> dict[str, int]:
    """Count how many repeats put all the weight on each kernel; under "" those that mix kernels."""
    table = np.atleast_2d(np.asarray(record.weights, dtype=float))
    table = table[~np.isnan(table).any(axis=1)]
    counts = dict.fromkeys(record.kernel_ids, 0) | {"": 0}
    for row in table:
        total = row.sum()
        top = int(row.argmax())
        picked = total > 0 and row[top] > PICKED * total and row.min() >= -1e-9
        counts[record.kernel_ids[top] if picked else ""] += 1
    return counts


def picks(fits: Sequence[FitRecord]) -> list[Picks]:
    """Find the fits of methods that nearly always put all the weight on one kernel of a data set.

    A method is judged over all settings of a data set, so that its figure has a row for each of them.
    """
    counted = [Picks(record, pick_counts(record)) for record in fits if record.weights is not None]
    groups: dict[tuple[str, str], list[dict[str, int]]] = {}
    for record, counts in counted:
        groups.setdefault((record.dataset, record.method), []).append(counts)
    chosen = set()
    for key, group in groups.items():
        total, mixed = sum(sum(counts.values()) for counts in group), sum(counts[""] for counts in group)
        if total and len(group[0]) > 2 and total - mixed >= NEARLY_ALWAYS * total:
            chosen.add(key)
    return [item for item in counted if (item.record.dataset, item.record.method) in chosen]


def picks_tables(found: Sequence[Picks], results: Results, baselines: Sequence[str]) -> list[Table]:
    """Return a table per data set: accuracy and picked kernels of each method, and accuracy of the baselines."""
    titles = results.method_titles()
    summary = results.summary[results.summary["neighbour"].isin(set(results.by_one_rule["neighbour"]))]
    tables = []
    for dataset in dict.fromkeys(record.dataset for record, _ in found):
        settings = [setting for setting in results.settings if setting.dataset == dataset]
        here = [(record, counts) for record, counts in found if record.dataset == dataset]
        picked = {(record.method, record.protocol, record.train_size): counts for record, counts in here}
        prefix = common_prefix(list(dict.fromkeys(name for record, _ in here for name in record.kernel_ids)))
        methods = {record.method: record.method_title for record, _ in here}
        methods |= {method: str(titles[method]) for method in baselines if method in titles}
        rows = []
        for method, title in methods.items():
            cells = (
                _cell(summary, setting, method, picked.get((method, setting.protocol, setting.train_size)), prefix)
                for setting in settings
            )
            rows.append((Cell(results.series.of_method(method, title)), *cells))
        columns = setting_columns([(setting.protocol, setting.train_size) for setting in settings])
        tables.append(Table(settings[0].dataset_title, (Column("Method", numeric=False), *columns), rows))
    return tables


def _cell(summary: pd.DataFrame, setting: Setting, method: str, counts: dict[str, int] | None, prefix: str) -> Cell:
    """Format ``72.8 | 75.5``: inner cross-validation and oracle by the headline's rule; below it the picked kernels."""
    rows = setting.of(summary)
    means: dict[str, Any] = {}
    for row in records(rows[rows["method"].eq(method)]):
        means.setdefault(str(row["selection"]), row["mean"])
    inner, oracle = means.get("inner_cv"), means.get("oracle")
    value = oracle if pd.isna(inner) else inner
    ordered = sorted((item for item in (counts or {}).items() if item[1]), key=lambda item: -item[1])
    below = enumeration([f"{name.removeprefix(prefix) or MIXED} ({number})" for name, number in ordered], limit=3)
    return number_cell(f"{percent(inner)} | {percent(oracle)}", value, kind="verdict", below=below)


def common_prefix(names: Sequence[str]) -> str:
    """Return what all names begin with, up to a hyphen or underscore; empty for a single name."""
    if len(names) < 2:
        return ""
    first, last = min(names), max(names)
    length = next((i for i, pair in enumerate(zip(first, last, strict=False)) if pair[0] != pair[1]), len(first))
    return first[: max(first.rfind(mark, 0, length) for mark in "-_") + 1]
