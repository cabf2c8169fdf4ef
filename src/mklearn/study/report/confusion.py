"""Which classes a study confuses: the methods to look at, and the most confused pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from mklearn.study.report.frames import Results, Setting, shown_fits
from mklearn.study.report.records import FitRecord
from mklearn.study.report.series import Series
from mklearn.study.report.tables import Cell, Column, Table, number_cell
from mklearn.study.report.wording import percent

FEW_CLASSES = 25
"""Up to this many classes have a map; more have a table of the most confused pairs."""
MOST_PAIRS = 20


@dataclass(frozen=True)
class Confusion:
    """Test samples of one method over all repeats, by true class (row) and predicted class (column)."""

    label: str
    classes: tuple[str, ...]
    counts: np.ndarray

    @property
    def totals(self) -> np.ndarray:
        """Number of test samples of each class."""
        return np.asarray(self.counts.sum(axis=1))

    @property
    def rates(self) -> np.ndarray:
        """Counts as shares of their row; NaN in a class without test samples."""
        return np.asarray(self.counts / np.where(self.totals, self.totals, np.nan)[:, None])


class Confused(NamedTuple):
    """The best method of a setting first, and the one to compare it with, if there is any."""

    setting: Setting
    shown: list[Confusion]

    @property
    def best(self) -> Confusion:
        return self.shown[0]


def confused(results: Results) -> list[Confused]:
    """Find what the best method and the reference confuse; of several training sizes, in the largest one.

    Classes that are neither tested nor predicted are left out.
    """
    found = []
    for setting in results.largest_settings():
        shown = [
            (record, np.asarray(record.confusion, dtype=np.int64))
            for record in shown_fits(results, setting, "confusion")
        ]
        tested = np.flatnonzero(sum(counts.sum(axis=0) + counts.sum(axis=1) for _, counts in shown))
        if len(tested):
            found.append(Confused(setting, [_confusion(*item, tested, results.series) for item in shown]))
    return found


def _confusion(record: FitRecord, counts: np.ndarray, tested: np.ndarray, series: Series) -> Confusion:
    names = np.arange(len(counts)) if record.classes is None else record.classes
    label = series.of_method(record.method, record.method_title)
    return Confusion(label, tuple(str(names[code]) for code in tested), counts[np.ix_(tested, tested)])


def pairs_table(found: Confused) -> Table:
    """Tabulate the most confused pairs of classes of the best method, and how often the other confuses them.

    Pairs are ordered by the share of the true class's test samples; equal ones in the order of the classes.
    """
    best, *others = found.shown
    rates = best.rates.copy()
    np.fill_diagonal(rates, 0)
    order = np.argsort(-rates, axis=None, kind="stable")[:MOST_PAIRS]
    columns = [
        Column("True class", numeric=False),
        Column("Taken for", numeric=False),
        Column(f"{best.label}, %", "share of the test samples of the true class, over all splits"),
        Column("Samples", "how many of how many"),
        Column("Reverse, %", "share of the other class that is taken for this one"),
    ]
    columns += [Column(f"{other.label}, %", "the same pair") for other in others]
    rows = []
    for place in order:
        true, taken = (int(code) for code in np.unravel_index(place, rates.shape))
        if not rates[true, taken] > 0:
            break
        number = int(best.counts[true, taken])
        rows.append([
            Cell(best.classes[true]), Cell(best.classes[taken]), _share(rates[true, taken]),
            number_cell(f"{number:,} of {best.totals[true]:,}", number), _share(rates[taken, true]),
            *(_share(other.rates[true, taken]) for other in others),
        ])  # fmt: skip
    return Table(found.setting.title, columns, rows, sorted_by=2)


def _share(value: float) -> Cell:
    return number_cell(percent(value), value)
