"""Rows of the tables of names that a study can use, and import of the code that rows name."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, TypeVar

from mklearn.errors import ConfigError, nearest


def load(implementation: str) -> Any:
    """Import the object that ``"module:name"`` names; raise `ConfigError` for another form or a missing name."""
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


@dataclass(frozen=True)
class Part:
    """A parameter that is itself an estimator: its valid kinds, and the parameters of it that the method sets."""

    kinds: Sequence[str]
    without: Sequence[str] = ()


@dataclass(frozen=True)
class MethodRow(Row):
    """Description of a method for studies."""

    takes: Literal["kernels", "dictionary", "descriptor", "descriptors", "images"] = "kernels"
    """Input of the method: kernels of the study; a dictionary of kernels of every descriptor
    (`mklearn.kernels.dictionary`), unless the study names kernels; features of one descriptor; concatenated features of
    several descriptors; or images."""
    views: Mapping[str, str] = field(default_factory=dict)
    """Parameters that name an additional descriptor, with their defaults; "" if the study has to name one."""
    embeds: bool = False
    """Whether the method is an embedding, whose components are swept; otherwise it predicts labels or numbers."""
    combines: bool = False
    """Whether the method takes one kernel or a fixed combination, chosen by ``kernel_weights`` of the study."""
    landmarks: bool = False
    """Whether the method can learn from landmarks."""
    scales_features: bool = False
    """Whether the method scales its features by its own parameter ``feature_scaling``."""
    tuned: Sequence[str] = ()
    """Parameters for which a study can give a list, from which inner cross-validation chooses. Candidates are ordered
    by the first parameter's values, then by the next one's; ties go to the first candidate."""
    parts: Mapping[str, Part] = field(default_factory=dict)
    fixed: Sequence[str] = ()
    """Parameters that a study can't set, in addition to those reserved in every method."""
    targets: Sequence[str] = ("classes",)
    """Kinds of target that the method predicts: "classes", "numbers", "survival"."""
    learns_weights: bool = False
    """Whether the method learns kernel weights; a report then compares them with equal weights."""
    refit: bool = False
    """Whether each number of components needs its own fit."""
    at_most: Literal["n_classes", "image_side"] | None = None
    """Upper bound on these numbers, see :class:`mklearn.study.specs.fit_spec.RefitSpec`."""
    order_decides: bool = False
    """Whether the order of its kernels or descriptors changes results beyond rounding; the study order is then kept."""
    in_model_files: bool = True
    """Whether a model file can hold the method. Trees can't, since scikit-learn does not check their array indices, nor
    can models of packages other than scikit-learn."""


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
