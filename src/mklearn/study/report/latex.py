"""Text that LaTeX prints as it is."""

from __future__ import annotations

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
