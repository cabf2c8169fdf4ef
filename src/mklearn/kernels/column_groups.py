"""Kernels of groups of columns: gene sets, patches of an image, blocks of a questionnaire."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from numbers import Integral
from typing import Any, Literal, get_args

import numpy as np

from mklearn.checks import check_choice, check_integer
from mklearn.errors import ConfigError, DataError

Groups = Mapping[str, Sequence[Any]]
Unknown = Literal["warn", "error", "ignore"]


class UnknownColumnsWarning(UserWarning):
    """Warning that groups name columns that the table does not have."""


def group_kernels(
    groups: Groups,
    columns: Any,
    *,
    view: str | None = None,
    kind: str = "linear",
    feature_scaling: str = "standard",
    least: int = 1,
    unknown: Unknown = "warn",
    **others: Any,
) -> list[dict[str, Any]]:
    """Return one kernel spec for each group of columns, for `mklearn.kernels.StackTransform`.

    Parameters
    ----------
    groups : mapping of str to list of columns
        Names or positions. Groups may overlap. A column that a group names twice counts once.
    columns : DataFrame, int, or sequence of str
        The table, its number of columns, or its column names. If no name is a string, columns are chosen by position.
    view, kind, feature_scaling, **others
        Keys that all specs share, e.g. ``missing_views="mean"``. Omit `view` if the samples are one table.
    least : int
        Smallest number of columns, among those in the table, of a group; smaller groups are left out.
    unknown : {"warn", "error", "ignore"}
        Treatment of names that the table does not have: gene sets often name genes that were not measured.

    Raises
    ------
    ConfigError
        A group is not a list of columns, or is empty.
    DataError
        Positions are out of range, column names are not unique, names are unknown with ``unknown="error"``, or no
        group is left.

    Examples
    --------
    >>> sets = {"stress": ["a", "b"], "growth": ["b", "c"]}
    >>> [spec["columns"] for spec in group_kernels(sets, ["a", "b", "c"])]
    [['a', 'b'], ['b', 'c']]
    """
    check_choice(unknown, "unknown", get_args(Unknown))
    check_integer(least, "least", 1)
    known = _known(columns)
    named = {str(name): _columns_of(str(name), chosen, known) for name, chosen in groups.items()}
    every = dict.fromkeys(each for chosen in named.values() for each in chosen)
    missing, total = [each for each in every if each not in known], len(every)
    kept = {name: [each for each in chosen if each in known] for name, chosen in named.items()}
    small = [name for name, chosen in kept.items() if len(chosen) < least]
    if missing and unknown != "ignore":
        message = f"{len(missing)} of the {total} columns that groups name are unknown: {_shown(missing)}"
        if unknown == "error":
            raise DataError(message)
        warnings.warn(message + (f"; groups left out: {_shown(small)}" if small else ""), UnknownColumnsWarning, 2)
    if len(small) == len(kept):
        raise DataError(f"no group has {least} or more of the table's columns, such as {_shown(list(known)[:3])}")
    source = others if view is None else {"view": view, **others}
    return [
        {"id": name, "kind": kind, "columns": chosen, "feature_scaling": feature_scaling, **source}
        for name, chosen in kept.items()
        if name not in small
    ]


def _known(columns: Any) -> dict[Any, None]:
    """Return the columns that groups can name, in order, as a dictionary for look-up."""
    names = getattr(columns, "columns", columns)
    if len(getattr(names, "shape", ())) == 2:
        names = names.shape[1]
    labels = range(int(names)) if isinstance(names, Integral) else list(names)
    if not any(isinstance(label, str) for label in labels):
        return dict.fromkeys(range(len(labels)))
    listed = [str(label) for label in labels]
    known = dict.fromkeys(listed)
    if len(known) < len(listed):
        twice = list(dict.fromkeys(name for name in listed if listed.count(name) > 1))
        raise DataError(f"groups can't name columns: several columns have the name {_shown(twice)}")
    return known


def _columns_of(name: str, chosen: Any, known: Mapping[Any, None]) -> list[Any]:
    """Return the columns of a group without duplicates."""
    if isinstance(chosen, str) or not isinstance(chosen, Iterable):
        raise ConfigError(f"group {name!r} is {chosen!r}; expected a list of columns")
    listed: list[Any] = list(dict.fromkeys(each.item() if isinstance(each, np.generic) else each for each in chosen))
    if not listed:
        raise ConfigError(f"group {name!r} is empty; omit it")
    by_position = isinstance(next(iter(known), 0), int)
    wrong = [each for each in listed if not isinstance(each, int if by_position else str) or isinstance(each, bool)]
    if wrong:
        of_positions = "positions: the table has no column names, or none is a text"
        expected = of_positions if by_position else "names, as the table's columns have"
        raise ConfigError(f"group {name!r} has {wrong[0]!r}; expected {expected}")
    outside = [each for each in listed if each not in known] if by_position else []
    if outside:
        raise DataError(f"group {name!r} has position {outside[0]}; the table has columns 0 to {len(known) - 1}")
    return listed


def _shown(names: Sequence[Any]) -> str:
    return ", ".join(map(repr, names[:5])) + (f" and {len(names) - 5} more" if len(names) > 5 else "")
