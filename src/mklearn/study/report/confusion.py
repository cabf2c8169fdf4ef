"""Which classes a study confuses: the methods to look at, and the most confused pairs."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from mklearn.study.report.frames import Results, Setting, shown_fits
from mklearn.study.report.tables import Cell, Column, Table, number_cell
from mklearn.study.report.wording import percent

FEW_CLASSES = 25
"""Up to this many classes have a map; more have a table of the most confused pairs."""
MOST_PAIRS = 20


class Confused(NamedTuple):
    """Test samples over all repeats by true class (row) and predicted class (column), by the labels of two methods.

    The best method comes first, then the one to compare it with, if there is any.
    """

    setting: Setting
    counts: dict[str, pd.DataFrame]

    @property
    def n_classes(self) -> int:
        return len(next(iter(self.counts.values())))


def confused(results: Results) -> list[Confused]:
    """Find what the best method and the reference confuse; of several training sizes, in the largest one.

    Classes that are neither tested nor predicted are left out.
    """
    found = []
    for setting in results.largest_settings():
        counts = {}
        for record in shown_fits(results, setting, "confusion"):
            names = None if record.classes is None else [str(name) for name in record.classes]
            label = results.series.of_method(record.method, record.method_title)
            counts[label] = pd.DataFrame(record.confusion, names, names)
        tested = np.sum([table.sum(axis=0) + table.sum(axis=1) for table in counts.values()], axis=0) > 0
        if np.any(tested):
            found.append(Confused(setting, {label: table.loc[tested, tested] for label, table in counts.items()}))
    return found


def pairs_table(found: Confused) -> Table:
    """Tabulate the most confused pairs of classes of the best method, and how often the other confuses them.

    Pairs are ordered by the share of the true class's test samples; equal ones in the order of the classes.
    """
    rates = [table.div(table.sum(axis=1), axis=0) for table in found.counts.values()]
    best, (label, *others) = next(iter(found.counts.values())), found.counts
    wrong: Any = rates[0].mask(np.eye(len(best), dtype=bool)).stack()
    columns = [
        Column("True class", numeric=False),
        Column("Taken for", numeric=False),
        Column(f"{label}, %", "share of the test samples of the true class, over all splits"),
        Column("Samples", "how many of how many"),
        Column("Reverse, %", "share of the other class that is taken for this one"),
        *(Column(f"{other}, %", "the same pair") for other in others),
    ]
    rows = []
    for true, taken in wrong[wrong > 0].sort_values(ascending=False, kind="stable").index[:MOST_PAIRS]:
        number: Any = best.at[true, taken]
        rows.append([
            Cell(true), Cell(taken), _share(rates[0].at[true, taken]),
            number_cell(f"{number:,} of {best.loc[true].sum():,}", number), _share(rates[0].at[taken, true]),
            *(_share(other.at[true, taken]) for other in rates[1:]),
        ])  # fmt: skip
    return Table(found.setting.title, columns, rows, sorted_by=2)


def _share(value: Any) -> Cell:
    return number_cell(percent(value), value)
