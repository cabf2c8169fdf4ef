"""Tables and text as Markdown."""

from __future__ import annotations

import re

from mklearn.study.report.tables import Cell, Table


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
