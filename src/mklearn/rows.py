"""Rows of the tables of names that a study can use, and import of the code that rows name."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from mklearn.errors import ConfigError, nearest


def load(implementation: str) -> Any:
    """Import the object that ``"module:name"`` names.

    Raises
    ------
    ConfigError
        The text has another form, or the module or name does not exist.
    """
    module, _, name = implementation.partition(":")
    if not module or not name:
        raise ConfigError(f"invalid implementation {implementation!r}: expected 'module:name'.")
    try:
        return getattr(importlib.import_module(module), name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f"implementation {implementation!r}: {error}. Install the package that provides it."
        ) from error
    except AttributeError as error:
        raise ConfigError(f"implementation {implementation!r}: module {module!r} has no {name!r}.") from error


ROW = "study_row"
"""Attribute that holds the row of a class or function outside mklearn."""


@dataclass(frozen=True)
class Row:
    """Table row with the fields that all tables share."""

    implementation: str = ""
    """``"module:name"`` of a class or function."""
    title: str = ""
    reference: str = ""
    """Reference to the paper."""
    advice: str = ""
    """Advice on when to use it."""
    defaults: Mapping[str, Any] = field(default_factory=dict, kw_only=True)
    """Default parameters in studies, if the signature has another default or none, or if the plan needs the value."""


RowType = TypeVar("RowType", bound=Row)


def row_of(kind: str, table: Mapping[str, RowType], inferred: Callable[[Any], RowType]) -> RowType:
    """Return the row of a kind: a name in a table, or ``"module:name"`` of another package, which is imported.

    Raises `ConfigError` if the kind does not exist or the module can't be imported.
    """
    if kind in table:
        return table[kind]
    if ":" not in kind:
        raise ConfigError(
            f"unknown kind {kind!r}.{nearest(kind, table)} Valid kinds: {', '.join(sorted(table))}; or module:name of "
            "another package."
        )
    return _outside_row(kind, inferred)  # type: ignore[return-value]


@functools.cache
def _outside_row(kind: str, inferred: Callable[[Any], Row]) -> Row:
    try:
        implementation = load(kind)
        given = getattr(implementation, "__dict__", {}).get(ROW)
        row = given if isinstance(given, Row) else inferred(implementation)
    except ConfigError:
        raise
    except Exception as error:  # importing a package can raise any error
        raise ConfigError(f"{kind!r} can't be imported: {type(error).__name__}: {error}") from error
    return replace(row, implementation=kind, title=row.title or kind.rpartition(":")[2])


def exported(table: Mapping[str, Row], package: str) -> dict[str, list[str]]:
    """Return the names that the lazy ``__init__`` of a package exports, by module."""
    names: dict[str, list[str]] = {}
    for row in table.values():
        module, _, name = row.implementation.partition(":")
        if module.startswith(f"{package}."):
            names.setdefault(module.removeprefix(f"{package}."), []).append(name)
    return names
