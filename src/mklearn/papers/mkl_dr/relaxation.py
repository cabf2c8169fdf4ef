"""Table of MKL-DR's beta-steps, with mixed signs, gaps to the relaxation's bound and times; a pair of embeddings."""

from __future__ import annotations

from functools import partial

import pandas as pd

from mklearn.study.report.figures_of_fits import embedding
from mklearn.study.report.parts import PartFigure, ReportPart, StudyResults
from mklearn.study.report.tables import Cell, Column, Table, number_cell
from mklearn.study.report.wording import count, percent, scientific, seconds

NOTE = (
    "Beta-steps of all splits. The value of the paper's semidefinite program is the smallest generalised eigenvalue "
    "of (S, S′). Mixed signs: its eigenvector has entries of both signs, so that the only optimal beta of the program "
    "is 0. Gap: (f − value of the program) / f, with f at the weights of the step; with exact beta-steps this is the "
    "distance of the smallest f over all nonnegative weights from the program's value. Times are medians of the wall "
    "times of the eigenproblem (A-step) and of the solver (beta-step), in seconds."
)
SHOWN = ("lda", "lda-equal")
"""Methods of a study whose embeddings are drawn beside each other: learned and equal weights with one graph."""


def relaxation(results: StudyResults) -> ReportPart:
    """Tabulate by data set and method how tight the relaxation is, and draw two embeddings; without MKL-DR, nothing."""
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
            *(number_cell(seconds(each), each) for each in part[["a_step_seconds", "seconds"]].median()),
        ])  # fmt: skip
    titles = ("Beta-steps", "Mixed signs, %", "Gap, median", "Gap, largest", "A-step, s", "Beta-step, s")
    columns = [Column("Method", numeric=False), *map(Column, titles)]
    alt = "Points: first two dimensions of the embedding, by class."
    figures = [
        PartFigure(f"{name}, {fit.dataset}", alt, partial(embedding, fit.embedding, (), label=name))
        for fit in results.fits
        if fit.method in SHOWN and fit.embedding is not None and (name := fit.method_title)
    ]
    return ReportPart(figures, [Table("Tightness of the relaxation", columns, rows, note=NOTE)])
