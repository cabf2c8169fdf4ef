"""How good the solutions of optimisation problems are: duality gaps, and F-SVM against its joint problem."""

from __future__ import annotations

from typing import Any

import pandas as pd

from mklearn.report.frames import Results, records, usable
from mklearn.report.tables import Cell, Column, Table, number_cell
from mklearn.report.wording import DASH, count, percent, scientific

GAPS = (
    "Relative duality gap of the fits with the chosen parameters: the objective is at most that far from its optimum."
)
JOINT_PROBLEM = (
    "F-SVM learns a support vector machine w together with a transformation M of the features. This joint problem has "
    "a closed form: its optimum is a support vector machine on whitened features, and M tends to a projection on w. Of "
    "its two parameters only C/√ρ matters. A study chooses the C of the whitened machine; C′ is the C of the joint "
    "problem with the same solution, for ρ = 1. Up to C0 the optimum of the joint problem is w = 0, a constant "
    "classifier, so a grid of C and ρ can lie below C0 altogether; C′ never does, but for small C it comes close. "
    "Regular simplex: n samples have n − 1 features or more, and the solution does not depend on C. The last columns "
    "are of the alternation: its distance from the optimum, (F − F*) / F*, before and after it, and how often F rose. "
    "Its duality gap is that of its support vector machines. Each pair of classes of each split counts; numbers are "
    "medians unless their column says otherwise."
)


def solution_tables(results: Results) -> list[Table]:
    """Return the tables of duality gaps and of F-SVM's joint problem that the study has something for."""
    return [table for table in (gap_table(results), joint_problem_table(results)) if table is not None]


def gap_table(results: Results) -> Table | None:
    """Tabulate the relative duality gap of each method over all settings; None if no fit has one."""
    scores = usable(results.scores)
    if "gap" not in scores or scores["gap"].isna().all():
        return None
    chosen = scores[scores["selection"].eq("inner_cv") & scores["gap"].notna()]
    titles = {(s.dataset, s.protocol, s.train_size): s.title for s in results.settings}
    rows = []
    for label, own in chosen.groupby("label", sort=False):
        fits = own.drop_duplicates(["dataset", "protocol", "train_size", "repeat", "fold"])
        worst = records(fits.loc[[fits["gap"].idxmax()]])[0]
        size = None if pd.isna(worst["train_size"]) else int(worst["train_size"])
        place = titles[worst["dataset"], worst["protocol"], size] if len(titles) > 1 else ""
        inaccurate = int(fits["status"].eq("inaccurate").sum())
        rows.append((
            Cell(str(label)),
            number_cell(_power(fits["gap"].median()), fits["gap"].median()),
            number_cell(_power(worst["gap"]), worst["gap"], below=place),
            number_cell(count(inaccurate), inaccurate, kind="warn" if inaccurate else ""),
            number_cell(count(len(fits)), len(fits)),
        ))  # fmt: skip
    columns = (
        Column("Method", numeric=False), Column("Median gap"), Column("Largest gap"),
        Column("Inaccurate", "fits that a solver ended above its tolerance"), Column("Fits"),
    )  # fmt: skip
    return Table("Duality gaps", columns, rows, note=GAPS) if rows else None


def joint_problem_table(results: Results) -> Table | None:
    """Tabulate F-SVM's joint problem by setting and method, from the diagnostics of the fits; None without any."""
    rows = []
    for setting in results.settings:
        for record in setting.fits(results.fits):
            if record.diagnostics is not None and len(record.diagnostics):
                label = results.series.of_method(record.method, record.method_title)
                rows.append(_joint_row(setting.title, label, record.diagnostics))
    columns = (
        Column("Setting", numeric=False),
        Column("Method", numeric=False),
        Column("C", "of the support vector machine on whitened features"),
        Column("C′", "C/√ρ of the joint problem with the same solution"),
        Column("C0", "up to this C/√ρ, w = 0 is optimal"),
        Column("Least C′/C0"),
        Column("w = 0, %", "fits for which w = 0 is optimal, too"),
        Column("Regular simplex, %"),
        Column("Distance before"),
        Column("after"),
        Column("Rises", "steps that made F larger: median over the fits and most"),
        Column("Fits", "splits times pairs of classes"),
    )
    return Table("F-SVM: the joint problem", columns, rows, note=JOINT_PROBLEM) if rows else None


def _joint_row(setting: str, label: str, fits: pd.DataFrame) -> tuple[Cell, ...]:
    scale = fits["rho"].astype(float) ** -0.5
    equivalent, threshold = (fits[name].astype(float) * scale for name in ("equivalent_C", "C0"))
    chosen = fits["C"].astype(float).quantile(interpolation="lower")
    shown = (chosen, equivalent.median(), threshold.median(), (equivalent / threshold).min())
    alternates = fits["end"].notna().any()
    zero, simplex = (float(fits[name].mean()) for name in ("zero", "simplex"))
    rises = fits["rises"] if alternates else pd.Series(dtype=float)
    text = f"{rises.median():g} | {rises.max():g}" if alternates else DASH
    return (
        Cell(setting), Cell(label), *(number_cell(scientific(value), value) for value in shown),
        number_cell(percent(zero), zero, kind="warn" if zero else ""),
        number_cell(percent(simplex), simplex, kind="warn" if simplex else ""),
        *(_distance(fits[name].astype(float).median()) for name in ("start", "end")),
        number_cell(text, rises.max()), number_cell(count(len(fits)), len(fits)),
    )  # fmt: skip


def _distance(value: Any) -> Cell:
    return number_cell(scientific(value), value)


def _power(value: Any) -> str:
    """Format a small number as ``1.2e−07``."""
    return f"{value:.1e}".replace("-", "−")
