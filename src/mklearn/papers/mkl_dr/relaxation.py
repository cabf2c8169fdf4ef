"""Table of MKL-DR's relaxation: beta-steps with mixed signs, and how far their weights are above its bound."""

from __future__ import annotations

import pandas as pd

from mklearn.study.report.parts import ReportPart, StudyResults
from mklearn.study.report.tables import Cell, Column, Table, number_cell
from mklearn.study.report.wording import count, percent, scientific

NOTE = (
    "Beta-steps of all splits. The value of the paper's semidefinite program is the smallest generalised eigenvalue "
    "of (S, S′). Mixed signs: its eigenvector has entries of both signs, so that the only optimal beta of the program "
    "is 0. Gap: (f − value of the program) / f, with f at the weights of the step; with exact beta-steps this is the "
    "distance of the smallest f over all nonnegative weights from the program's value."
)


def relaxation(results: StudyResults) -> ReportPart:
    """Tabulate by data set and method how tight the relaxation is; without fits of MKL-DR there is no table."""
    steps = [
        record.diagnostics.assign(dataset=record.dataset, method=record.method_title)
        for record in results.fits
        if record.diagnostics is not None and "mixed_sign" in record.diagnostics
    ]
    if not steps:
        return ReportPart()
    rows = []
    for (dataset, method), part in pd.concat(steps).groupby(["dataset", "method"], sort=False):
        gaps = (part["value"] - part["bound"]) / part["value"]
        mixed, median, largest = part["mixed_sign"].mean(), gaps.median(), gaps.max()
        rows.append([
            Cell(str(method), below=str(dataset)), number_cell(count(len(part)), len(part)),
            number_cell(percent(mixed), mixed), *(number_cell(scientific(gap), gap) for gap in (median, largest)),
        ])  # fmt: skip
    titles = ("Beta-steps", "Mixed signs, %", "Gap, median", "Gap, largest")
    columns = [Column("Method", numeric=False), *map(Column, titles)]
    return ReportPart(tables=[Table("Tightness of the relaxation", columns, rows, note=NOTE)])
