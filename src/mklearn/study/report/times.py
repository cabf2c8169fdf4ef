"""Training times in units of the reference method's, on the same splits."""

from __future__ import annotations

import pandas as pd

from mklearn.study.report.frames import Results
from mklearn.study.report.tables import Cell, Column, Table, number_cell
from mklearn.study.report.wording import count, times_as_long

NOTE = (
    "Processor seconds of the fit with the chosen parameters, divided by those of {reference} on the same split: "
    "median over splits, then over settings. Included are the scaling of features, the kernels, and of a method with "
    "several numbers of components the fits with all of them. Choosing parameters by inner cross-validation is not "
    "included. Fits of a few milliseconds have noisy times."
)


def time_ratio_table(results: Results) -> Table | None:
    """Tabulate training times of classifiers relative to the reference method; None unless that is one of several.

    Embeddings are left out: their nearest-neighbour search is not training.
    """
    of_reference = results.scores[results.scores["method"].eq(results.reference)]
    titles = set(of_reference["label"])
    times = results.times[results.times["neighbour"].eq("")].dropna(subset=["ratio"])
    parts = [setting.of(times).assign(setting=setting.title) for setting in results.settings]
    if of_reference["neighbour"].ne("").any() or not parts:
        return None
    ratios = pd.concat(parts, ignore_index=True)
    if ratios["label"].nunique() < 2:
        return None
    several = ratios["setting"].nunique() > 1
    rows = [_row(str(label), own, several, label in titles) for label, own in ratios.groupby("label", sort=False)]
    rows.sort(key=lambda row: float(row[1].sort))
    columns = (
        Column("Method", numeric=False),
        Column("Ratio"),
        *((Column("Least"), Column("Greatest")) if several else ()),
        Column("Splits", "splits that both methods have"),
    )
    marked = [row[0].text in titles for row in rows]
    caption = f"Training time in units of {results.reference_title}"
    return Table(caption, columns, rows, marked=marked, note=NOTE.format(reference=results.reference_title))


def _row(label: str, ratios: pd.DataFrame, several: bool, is_reference: bool) -> tuple[Cell, ...]:
    medians = ratios.groupby("setting", sort=False)["ratio"].median()
    middle = float(medians.median())
    ends = [(medians.min(), str(medians.idxmin())), (medians.max(), str(medians.idxmax()))]
    places = [
        Cell("") if is_reference else number_cell(times_as_long(value), value, below=place) for value, place in ends
    ]
    shown = places if several else []
    return Cell(label), number_cell(times_as_long(middle), middle), *shown, number_cell(count(len(ratios)), len(ratios))
