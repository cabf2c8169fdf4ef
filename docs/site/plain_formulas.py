"""Sphinx extension: the plain text of docstrings as Sphinx reads it.

Formulas such as ``|w'x|`` and ``theta_`` are no markup, and public names in backticks are references.
"""

from __future__ import annotations

import re
from typing import Any

from api_pages import public_names
from sphinx.application import Sphinx

CODE = re.compile(r"(:[\w:]+:`[^`]+`|``.+?``|`[^`]+`_*)")
MARKUP = re.compile(r"(?<=\w)_(?!\w)|\|")
"""A reference by a trailing underscore, and a substitution."""
ELSEWHERE = re.compile(r":(?:ref|term|doc):`([^`<]+?)(?: <[^>`]*>)?`")
"""A reference to scikit-learn's user guide, in a docstring that is inherited from it."""
NAME = re.compile(r"`(\w+)`")
NAMES = public_names()
"""Full names by public name."""


def escaped(text: str) -> str:
    """Return a text of a docstring in which underscores and bars mean themselves; code stays as it is."""
    lines = text.split("\n")
    section = ""
    for i, line in enumerate(lines):
        if i + 1 < len(lines) and re.fullmatch(r"-{3,}", lines[i + 1]):
            section = line
        if line.lstrip().startswith((">>>", "...", "..")):
            continue
        name, colon, rest = line.partition(" : ")
        if section in ("Attributes", "Parameters", "Returns") and line[:1].strip():
            lines[i] = f"{name}{colon}{escaped_line(rest)}"  # numpydoc escapes names
        else:
            lines[i] = escaped_line(line)
    return "\n".join(lines)


def escaped_line(line: str) -> str:
    """Return a line with its markup characters escaped outside of code, and public names as references."""
    pieces = CODE.split(line)
    pieces[::2] = [MARKUP.sub(r"\\\g<0>", piece) for piece in pieces[::2]]
    for i, code in enumerate(pieces):
        if (name := NAME.fullmatch(code)) and name.group(1) in NAMES:
            pieces[i] = f":py:obj:`{name.group(1)} <{NAMES[name.group(1)]}>`"
    return "".join(pieces)


def process(app: Sphinx, what: str, name: str, item: Any, options: Any, lines: list[str]) -> None:
    """Escape a docstring before numpydoc reads it."""
    lines[:] = escaped(ELSEWHERE.sub(r"\1", "\n".join(lines))).split("\n")


def setup(app: Sphinx) -> dict[str, bool]:
    """Connect it before numpydoc."""
    app.setup_extension("sphinx.ext.autodoc")
    app.connect("autodoc-process-docstring", process, priority=100)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
