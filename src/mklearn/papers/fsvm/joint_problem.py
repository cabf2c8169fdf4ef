"""Tables of F-SVM's joint problem: distance of fits from the constant classifier, of alternations from the optimum."""

from __future__ import annotations

from typing import Any

import pandas as pd

from mklearn.study.report.parts import ReportPart, StudyResults
from mklearn.study.report.tables import Cell, Column, Table, number_cell
from mklearn.study.report.wording import count, percent, scientific

JOINT_PROBLEM = (
    "F-SVM learns a support vector machine w together with a transformation M of the features. This joint problem has "
    "a closed form: its optimum is a support vector machine on whitened features, and M tends to a projection on w. Of "
    "its two parameters only C/√ρ matters. A study chooses the C of the whitened machine; C′ is the C of the joint "
    "problem with the same solution, for ρ = 1. Up to C0 the optimum of the joint problem is w = 0, a constant "
    "classifier, so a grid of C and ρ can lie below C0 altogether; C′ never does, but for small C it comes close. "
    "Regular simplex: n samples have n − 1 features or more, and the solution does not depend on C. Each pair of "
    "classes of each split counts; numbers are medians unless their column says otherwise."
)
ALTERNATION = "Distance from the optimum: (F − F*) / F*, before and after the alternation, medians."
FITS = Column("Fits", "splits times pairs of classes")


def joint_problem(results: StudyResults) -> ReportPart:
    """Tabulate the joint problems of all fits of F-SVM; without such fits there are no tables."""
    fits = joint_problems(results)
    if not len(fits):
        return ReportPart()
    tables = joint_problem_table(fits), alternation_table(fits)
    return ReportPart(tables=[table for table in tables if table.rows])


def joint_problems(results: StudyResults) -> pd.DataFrame:
    """Collect F-SVM's diagnostics of all fits: ``label, place, ratio, zero, simplex, start, end, rises``.

    ``place`` is the data set, ``ratio`` is C′ / C0.
    """
    parts = [
        record.diagnostics.assign(label=record.method_title, place=record.dataset)
        for record in results.fits
        if record.diagnostics is not None and len(record.diagnostics)
    ]
    if not parts:
        return pd.DataFrame()
    fits = pd.concat(parts, ignore_index=True)
    fits = fits.astype(dict.fromkeys(["equivalent_C", "C0", "start", "end"], float))
    return fits.assign(ratio=fits["equivalent_C"] / fits["C0"])


def joint_problem_table(fits: pd.DataFrame) -> Table:
    """Tabulate by method how far its fits are from C0; ``fits`` is the result of :func:`joint_problems`."""
    rows = []
    for label, part in fits.groupby("label", sort=False):
        place = str(part["place"].iloc[int(part["ratio"].argmin())]) if part["ratio"].notna().any() else ""
        cells = (
            _median(part["ratio"]),
            _number(part["ratio"].min(), place),
            _share(part["zero"]),
            _share(part["simplex"]),
        )
        rows.append((Cell(str(label)), *cells, number_cell(count(len(part)), len(part))))
    zero, simplex = Column("w = 0, %", "fits for which w = 0 is optimal, too"), Column("Regular simplex, %")
    columns = (Column("Method", numeric=False), Column("C′/C0"), Column("Least C′/C0"), zero, simplex, FITS)
    return Table("F-SVM: the joint problem", columns, rows, note=JOINT_PROBLEM)


def alternation_table(fits: pd.DataFrame) -> Table:
    """Tabulate how near each alternation comes to the optimum."""
    fits = fits[fits["end"].notna()]
    rows = []
    for label, part in fits.groupby("label", sort=False):
        place, rises = str(part["place"].iloc[int(part["end"].argmax())]), part["rises"]
        cells = _median(part["start"]), _median(part["end"]), _number(part["end"].max(), place)
        up = number_cell(f"{rises.median():g} | {rises.max():g}", rises.median())
        rows.append((Cell(str(label)), *cells, up, number_cell(count(len(part)), len(part))))
    columns = (
        Column("Method", numeric=False),
        Column("Distance before"),
        Column("after"),
        Column("Greatest after"),
        Column("Rises", "steps that made F larger: median over the fits, and most"),
        FITS,
    )
    return Table("F-SVM: distance of the alternation from the optimum", columns, rows, note=ALTERNATION)


def _median(values: pd.Series) -> Cell:
    """Show the median; for an even number of values, the lower of the middle two."""
    return _number(values.dropna().quantile(interpolation="lower"))


def _number(value: Any, below: str = "") -> Cell:
    return number_cell(scientific(value), value, below=below)


def _share(flags: pd.Series) -> Cell:
    share = float(flags.astype(float).mean())
    return number_cell(percent(share), share, kind="warn" if share else "")
