"""The result table of a study for a paper: methods in rows, settings in columns, as LaTeX, Markdown or CSV."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pandas as pd

from mklearn.atomic import csv_text
from mklearn.errors import ConfigError
from mklearn.study.report.frames import Results
from mklearn.study.report.markup import escape_latex, escape_markdown, markdown_table
from mklearn.study.report.tables import Cell, Column, Table, result_table
from mklearn.study.report.wording import DASH, MINUS

SCORE, DIFFERENCE = "score", "difference"
MARKS = {"number up": " ▲", "number down": " ▼"}


def paper_table(results: Results, columns: Sequence[str] = (SCORE,), caption: str = "") -> Table:
    """Tabulate a study: a row for each method, by the headline's nearest-neighbour rule, and columns of each setting.

    Parameters
    ----------
    results : Results
    columns : sequence of str
        Names of columns of :func:`mklearn.study.report.tables.result_table`. The score has the mark of the difference
        where that has no column of its own.
    caption : str
        By default it says what the numbers and the marks are.

    Raises
    ------
    ConfigError
        A column that no setting has.
    """
    tables = [result_table(results, setting) for setting in results.settings]
    known = {column.name: column for table in tables for column in table.columns if column.name}
    for name in columns:
        if name not in known:
            raise ConfigError(f"--columns {name}: the results have no such column; valid: {', '.join(known)}.")
    rows = [_rows(table, results.one_rule, columns) for table in tables]
    labels = [label for label in results.series.labels if any(label in found for found in rows)]
    dashes = {name: Cell(DASH, kind="number") for name in columns}
    heads = [known[name] for _ in tables for name in columns]
    if len(tables) > 1:  # a head names what differs, and the caption the rest
        places = [(table.caption, name) for table in tables for name in columns]
        titles = [title + (f": {known[name].title}" if len(columns) > 1 else "") for title, name in places]
        heads = [replace(head, title=title) for head, title in zip(heads, titles, strict=True)]
    return Table(
        caption or _caption(results, columns, known),
        [Column("Method", numeric=False), *heads],
        [[Cell(label), *(found.get(label, dashes)[name] for found in rows for name in columns)] for label in labels],
    )


def _rows(table: Table, rules: Sequence[str], columns: Sequence[str]) -> dict[str, dict[str, Cell]]:
    """Return the chosen cells of a result table by method and column; the first score, the best one, is strong."""
    found: dict[str, dict[str, Cell]] = {}
    names = [column.name for column in table.columns]
    kept = [row for row, rule in zip(table.rows, table.rules, strict=True) if rule in rules]
    best = next((row[names.index(SCORE)].sort for row in kept), "")
    for row in kept:
        cells = dict(zip(names, row, strict=True))
        score = cells[SCORE]
        mark = "" if DIFFERENCE in columns or DIFFERENCE not in cells else MARKS.get(cells[DIFFERENCE].kind, "")
        strong = "number strong" if score.sort and score.sort == best else "number"
        cells[SCORE] = replace(score, text=f"{score.text}{mark}", kind=strong)
        found[row[0].text] = {name: cells.get(name, Cell(DASH, kind="number")) for name in columns}
    return found


def _caption(results: Results, columns: Sequence[str], known: dict[str, Column]) -> str:
    parts = [results.settings[0].title] if len(results.settings) == 1 else []
    if SCORE in columns:
        parts.append(f"{known[SCORE].title}: {known[SCORE].note}")
    elif len(columns) == 1:
        parts.append(known[columns[0]].title)
    if results.reference and {SCORE, DIFFERENCE} & set(columns):
        parts.append(
            f"▲ better and ▼ worse than {results.reference_title}: the 95 % interval of the paired difference excludes "
            "0 after Holm's correction"
        )
    return ". ".join(parts) + "." if parts else ""


def latex(table: Table, label: str = "") -> str:
    """Return a table environment; it takes the package booktabs. The best score of each setting is bold."""
    rows = [
        [rf"\textbf{{{text}}}" if "strong" in cell.kind else text for cell in row for text in [escape_latex(cell.text)]]
        for row in table.rows
    ]
    frame = pd.DataFrame(rows, columns=[escape_latex(column.title) for column in table.columns])
    text: str = frame.style.hide(axis="index").to_latex(
        column_format="".join("r" if column.numeric else "l" for column in table.columns), hrules=True,
        caption=escape_latex(table.caption) or None, label=label or None, position_float="centering",
    )  # fmt: skip
    return f"% \\usepackage{{booktabs}}\n{text}"


def markdown(table: Table, label: str = "") -> str:
    """Return a Markdown table with its caption above it."""
    caption = f"{escape_markdown(table.caption)}\n\n" if table.caption else ""
    return caption + markdown_table(table)


def csv(table: Table, label: str = "") -> str:
    """Return the cells as CSV, with plain minus signs."""
    rows = [[cell.text.replace(MINUS, "-") for cell in row] for row in table.rows]
    return csv_text(pd.DataFrame(rows, columns=[column.title for column in table.columns]))


FORMATS = {"latex": latex, "markdown": markdown, "csv": csv}
