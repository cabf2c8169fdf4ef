"""Names as figures show them: short, without characters that a renderer stumbles on, and still different."""

from __future__ import annotations

from typing import Any
from unicodedata import category

LONGEST = 120
"""Characters of a name in a figure; tables have it whole."""
_UNSAFE_CATEGORIES = frozenset({"Cc", "Cn", "Cs", "Zl", "Zp"})
_UNSAFE = frozenset("\\\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\ufeff")
"""Beside these categories: the backslash, by which Vega's expressions make any other character, characters that turn
the direction of what follows, and the byte order mark."""
_OF_EVERY_OBJECT = frozenset(
    (
        "constructor", "hasOwnProperty", "isPrototypeOf", "propertyIsEnumerable", "toLocaleString", "toString",
        "valueOf", "__proto__", "__defineGetter__", "__defineSetter__", "__lookupGetter__", "__lookupSetter__",
    )
)  # fmt: skip
"""Names that each JavaScript object has: Vega finds them in its tables without having put them there."""


class FigureNames:
    """The names of one report, each with its form in figures; different names have different forms."""

    def __init__(self) -> None:
        self._forms: dict[str, str] = {}
        self._taken: set[str] = set()

    def __call__(self, name: str) -> str:
        """Return the form of a name; most names are their own."""
        if name not in self._forms:
            form = stem = _safe(name)
            number = 1
            while form in self._taken:
                number += 1
                form = f"{stem} ({number})"
            self._taken.add(form)
            self._forms[name] = form
        return self._forms[name]

    def inside(self, specification: Any) -> Any:
        """Return a figure's specification with the form of each of its texts."""
        if isinstance(specification, str):
            return self(specification)
        if isinstance(specification, dict):
            return {key: self.inside(value) for key, value in specification.items()}
        if isinstance(specification, list | tuple):
            return [self.inside(value) for value in specification]
        return specification


def _safe(name: str) -> str:
    text = name if len(name) <= LONGEST else f"{name[: LONGEST - 1]}…"
    text = "".join(_escaped(each) if each in _UNSAFE or category(each) in _UNSAFE_CATEGORIES else each for each in text)
    return f"{text} " if text in _OF_EVERY_OBJECT else text


def _escaped(character: str) -> str:
    return "∖" if character == "\\" else " " if character.isspace() else f"<U+{ord(character):04X}>"
