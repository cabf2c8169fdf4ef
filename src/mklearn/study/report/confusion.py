"""Which classes a study confuses: the methods to look at, accuracies of classes, confused pairs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
import pandas as pd

from mklearn.study.report.frames import Results, Setting, best_and_reference
from mklearn.study.report.records import FitRecord
from mklearn.study.report.series import Series
from mklearn.study.report.tables import Cell, Column, Table, number_cell
from mklearn.study.report.wording import percent

FEW_CLASSES = 25
"""Up to this many classes have a map; more have a table of pairs and a figure of accuracies."""
MOST_PAIRS = 20
EXTREMES = 10
"""Of many classes, how many are named at each end."""


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

    @property
    def precisions(self) -> np.ndarray:
        """Counts as shares of their column; NaN in one without counts."""
        taken = self.counts.sum(axis=0)
        return np.asarray(self.counts / np.where(taken, taken, np.nan))


class Confused(NamedTuple):
    """The best method of a setting by its counts, first, and the one to compare it with, if there is any."""

    setting: Setting
    shown: list[Confusion]

    @property
    def best(self) -> Confusion:
        return self.shown[0]


def confused(results: Results) -> list[Confused]:
    """Find what is confused in each setting; of several training sizes, in the largest one.

    The best method is compared with the reference; where the reference is the best itself or has no counts, with the
    next best one. Methods without an accuracy by inner cross-validation, as those whose kernel the test samples choose,
    are not considered, and neither are fits without counts. Classes that are neither tested nor predicted are left out.
    """
    inner = results.inner_cv.dropna(subset=["mean"])
    found = []
    for setting in results.largest_settings():
        considered = set(setting.of(inner)["method"])
        counted = [
            (record, np.asarray(record.confusion, dtype=np.int64))
            for record in setting.fits(results.fits)
            if record.method in considered and record.confusion is not None and np.sum(record.confusion) > 0
        ]
        if not counted:
            continue
        ranked = sorted(counted, key=lambda item: -np.trace(item[1]) / item[1].sum())
        shown = best_and_reference(ranked, lambda item: item[0].method == results.reference)
        tested = np.flatnonzero(np.sum([counts.sum(axis=0) + counts.sum(axis=1) for _, counts in shown], axis=0))
        found.append(Confused(setting, [_confusion(*item, tested, results.series) for item in shown]))
    return found


def _confusion(record: FitRecord, counts: np.ndarray, tested: np.ndarray, series: Series) -> Confusion:
    names = np.arange(len(counts)) if record.classes is None else record.classes
    label = series.of_method(record.method, record.method_title)
    return Confusion(label, tuple(str(names[code]) for code in tested), counts[np.ix_(tested, tested)])


def class_accuracies(found: Confused) -> pd.DataFrame:
    """Return ``c, total, label, accuracy, rank``: a row per class and shown method, best-recognised classes first.

    Classes that the best method recognises equally well are ordered by the other method, then by name.
    """
    columns = [np.diag(shown.rates) for shown in found.shown]
    classes, totals = found.best.classes, found.best.totals
    order = sorted(
        (code for code in range(len(classes)) if totals[code]),
        key=lambda code: (*(-column[code] for column in columns), classes[code]),
    )
    rows = [
        (classes[code], int(totals[code]), shown.label, float(column[code]), rank)
        for rank, code in enumerate(order, start=1)
        for shown, column in zip(found.shown, columns, strict=True)
    ]
    return pd.DataFrame(rows, columns=["c", "total", "label", "accuracy", "rank"])


def class_table(found: Confused) -> Table:
    """Tabulate the test samples of each class, and recall and precision of the methods that are shown.

    A class that no sample is taken for has no precision.
    """
    columns = [
        Column("Class", numeric=False),
        Column("Test samples", "over all splits"),
        *(
            Column(f"{shown.label}, {name}, %", note)
            for shown in found.shown
            for name, note in (
                ("recall", "share of the class's test samples that are recognised"),
                ("precision", "share of the samples taken for the class that are of it"),
            )
        ),
    ]
    rows = [
        [
            Cell(name),
            number_cell(f"{found.best.totals[code]:,}", found.best.totals[code]),
            *(_share(rates[code, code]) for shown in found.shown for rates in (shown.rates, shown.precisions)),
        ]
        for code, name in enumerate(found.best.classes)
    ]
    return Table(found.setting.title, columns, rows)


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
        cells = [
            Cell(best.classes[true]),
            Cell(best.classes[taken]),
            _share(rates[true, taken]),
            Cell(f"{best.counts[true, taken]:,} of {best.totals[true]:,}", str(best.counts[true, taken]), "number"),
            _share(rates[taken, true]),
        ]
        cells += [_share(other.rates[true, taken]) for other in others]
        rows.append(cells)
    return Table(found.setting.title, columns, rows, sorted_by=2)


def _share(value: float) -> Cell:
    return number_cell(percent(value), value)
