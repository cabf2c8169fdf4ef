"""Text and tables that Markdown and LaTeX print as they are."""

from __future__ import annotations

import re

from mklearn.study.report.tables import Cell, Table

_CHARACTERS = str.maketrans(
    {character: f"\\{character}" for character in "&%#_${}"}
    | {
        "\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "[": "{[}", "]": "{]}",
        "<": "$<$", ">": "$>$", "|": "$|$", "±": r"$\pm$", "−": "$-$", "–": "--", "×": r"$\times$", "·": r"$\cdot$",
        "▲": r"$\bigtriangleup$", "▼": r"$\bigtriangledown$", "≥": r"$\geq$", "≤": r"$\leq$", "²": "$^2$", "′": "$'$",
        "…": r"\ldots{}", "\u00a0": "~",
    }
)  # fmt: skip
"""With the symbols of the report, by commands of plain LaTeX; a bracket after ``\\\\`` would be its argument."""


def escape_latex(text: str) -> str:
    """Return text on one line that LaTeX takes literally."""
    return " ".join(text.splitlines()).translate(_CHARACTERS)


def escape_markdown(text: str) -> str:
    """Return text that Markdown and the HTML in it take literally, on one line."""
    return re.sub(r"([\\`*_{}\[\]<>|#~&$!])", r"\\\1", " ".join(str(text).split()))


def markdown_table(table: Table) -> str:
    """Return the lines of a table without its caption; strong cells are bold."""
    head = [escape_markdown(column.title) for column in table.columns]
    rule = ["---:" if column.numeric else "---" for column in table.columns]
    body = [[_cell(cell) for cell in row] for row in table.rows]
    return "".join(f"| {' | '.join(line)} |\n" for line in (head, rule, *body))


def _cell(cell: Cell) -> str:
    text = escape_markdown(f"{cell.text} | {cell.below}" if cell.below else cell.text)
    return f"**{text}**" if "strong" in cell.kind else text
