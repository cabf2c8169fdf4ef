"""Tables of a report: cells, columns and their output as LaTeX, Markdown and CSV; the page template writes HTML."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import pandas as pd

from mklearn.atomic import csv_text
from mklearn.study.report.wording import MINUS

_LATEX = str.maketrans(
    {character: f"\\{character}" for character in "&%#_${}"}
    | {
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "[": "{[}", "]": "{]}",
        "<": "$<$", ">": "$>$", "|": "$|$", "±": r"$\pm$", "−": "$-$", "–": "--", "×": r"$\times$", "·": r"$\cdot$",
        "▲": r"$\bigtriangleup$", "▼": r"$\bigtriangledown$", "≥": r"$\geq$", "≤": r"$\leq$", "²": "$^2$", "′": "$'$",
        "…": r"\ldots{}", "\u00a0": "~",
    }
)  # fmt: skip
"""LaTeX escapes, also of the report's symbols. Brackets are in braces: after ``\\\\`` LaTeX would read an argument."""


@dataclass(frozen=True)
class Cell:
    """A cell of a table: its text, the value it sorts by, and CSS classes such as "number", "strong", "up", "warn".

    The note is shown on hover and read by screen readers. ``below`` is a second line, the ``footnote`` below the table.
    """

    text: str
    sort: str = ""
    kind: str = ""
    note: str = ""
    below: str = ""
    footnote: str = ""


@dataclass(frozen=True)
class Column:
    """A column of a table; ``note`` explains its title on hover, ``name`` identifies it in `mklearn table`.

    ``on_page=False`` leaves the column out of the page. ``cell`` returns the cell of a row, for `Table.of`.
    """

    title: str
    note: str = ""
    numeric: bool = True
    name: str = ""
    on_page: bool = True
    cell: Callable[[Any], Cell] = lambda row: Cell(str(row))


def words(title: str, key: str = "label", kind: str = "") -> Column:
    """Return a text column with the values of the rows at ``key``."""
    return Column(title, numeric=False, cell=lambda row: Cell(str(row[key]), kind=kind))


def number(title: str, key: str, form: Callable[[Any], str], note: str = "", **more: Any) -> Column:
    """Return a numeric column with the values of the rows at ``key``, formatted by ``form``."""
    return Column(title, note, cell=lambda row: number_cell(form(row.get(key)), row.get(key)), **more)


@dataclass(frozen=True)
class Table:
    """A table with a caption; the first cell of each row is its heading.

    The rows are in the ``order`` of the column ``sorted_by``. ``marked`` is True for rows of the reference method.
    ``note`` stands above the table and explains it.
    """

    caption: str
    columns: Sequence[Column]
    rows: Sequence[Sequence[Cell]]
    sorted_by: int | None = None
    order: Literal["ascending", "descending"] = "descending"
    marked: Sequence[bool] = ()
    note: str = ""

    @classmethod
    def of(cls, caption: str, columns: Sequence[Column], rows: Iterable[Any], **more: Any) -> Table:
        """Build a table from rows of any type, with the cells made by each column's ``cell``."""
        return cls(caption, columns, [[column.cell(row) for column in columns] for row in rows], **more)

    @property
    def footnotes(self) -> list[str]:
        """Different footnotes of the cells, in their order."""
        return list(dict.fromkeys(cell.footnote for row in self.rows for cell in row if cell.footnote))

    def on_page(self) -> Table:
        """Return the table without the columns that only files have, all of them after the sorted column."""
        return self.with_columns([column.on_page for column in self.columns])

    def with_columns(self, kept: Sequence[bool]) -> Table:
        """Return the table with only the ``kept`` columns."""
        rows = [list(itertools.compress(row, kept)) for row in self.rows]
        return replace(self, columns=list(itertools.compress(self.columns, kept)), rows=rows)


def number_cell(text: str, value: Any, *, kind: str = "", note: str = "", below: str = "") -> Cell:
    """Return a cell with a formatted number, sorted by its value."""
    sort = "" if pd.isna(value) else repr(float(value))
    return Cell(text, sort, f"number {kind}".strip(), note, below)


def escape_latex(text: str) -> str:
    """Return the text escaped for LaTeX, on one line."""
    return " ".join(text.splitlines()).translate(_LATEX)


def escape_markdown(text: str) -> str:
    """Return the text escaped for Markdown and embedded HTML, on one line."""
    return re.sub(r"([\\`*_{}\[\]<>|#~&$!])", r"\\\1", " ".join(str(text).split()))


def latex(table: Table, label: str = "") -> str:
    """Return a LaTeX table environment, which requires the package booktabs; strong cells are bold."""
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


def markdown_rows(table: Table) -> str:
    """Return the lines of a Markdown table without its caption; strong cells are bold."""
    head = [escape_markdown(column.title) for column in table.columns]
    rule = ["---:" if column.numeric else "---" for column in table.columns]
    texts = [
        [(cell, escape_markdown(f"{cell.text} | {cell.below}" if cell.below else cell.text)) for cell in row]
        for row in table.rows
    ]
    body = [[f"**{text}**" if "strong" in cell.kind else text for cell, text in row] for row in texts]
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, rule, *body))


def markdown(table: Table, label: str = "") -> str:
    """Return a Markdown table with its caption above it."""
    caption = f"{escape_markdown(table.caption)}\n\n" if table.caption else ""
    return caption + markdown_rows(table)


def csv(table: Table, label: str = "") -> str:
    """Return the cells as CSV, with plain minus signs."""
    rows = [[cell.text.replace(MINUS, "-") for cell in row] for row in table.rows]
    return csv_text(pd.DataFrame(rows, columns=[column.title for column in table.columns]))


FORMATS = {"latex": latex, "markdown": markdown, "csv": csv}
