"""The kind of target of a study: classes, numbers or survival times, from its data sets."""

from __future__ import annotations

import functools
import itertools
import re
from collections.abc import Collection, Mapping
from pathlib import Path
from typing import Any

from mklearn.errors import UserError
from mklearn.study.data.registry import registry
from mklearn.study.data.text_tables import MISSING, is_number
from mklearn.study.specs.data_specs import TargetKind
from mklearn.study.specs.model import as_list

USUAL_METRICS = {
    "numbers": ("r2", "rmse", "mae", "pearson", "spearman"),
    "survival": ("harrell_c", "uno_c", "integrated_brier"),
}
"""Default metrics of studies of numbers and of survival times; the first one chooses parameters."""


def target_kind(entry: Mapping[str, Any]) -> TargetKind:
    """Return the kind of target of a data set from its entry in a study, which may be invalid.

    The kind of a registered data set is in the registry. A mapping ``target`` names columns of survival times.
    Otherwise ``task`` gives the kind, or the first values of the column ``target``: "numbers" if most are numbers, and
    the reader reports the text among them. The kind is "classes" without a ``target``.
    """
    if entry.get("kind", "registered") == "registered":
        registered = registry().get(str(entry.get("name", "")))
        return "classes" if registered is None else registered.target
    task, column = entry.get("task"), entry.get("target")
    if isinstance(column, Mapping):
        return "survival"
    if task in ("classes", "numbers") or not isinstance(column, str):
        return "numbers" if task == "numbers" else "classes"
    tables = entry.get("tables")
    files = [entry.get("labels"), *(tables.values() if isinstance(tables, Mapping) else ())]
    missing = entry.get("missing_labels")
    missing = tuple(map(str, missing)) if isinstance(missing, (list, tuple)) else None
    paths = [file.get("path") if isinstance(file, Mapping) else file for file in files if file]
    return next((kind for path in paths if (kind := _kind_in(str(path), column, missing))), "numbers")


def _kind_in(path: str, column: str, missing: tuple[str, ...] | None) -> TargetKind | None:
    """Return the kind of the values of a column; None if the file has no such column or can't be read."""
    try:
        stat = Path(path).stat()
        return _kind_at(path, column, missing, stat.st_mtime_ns, stat.st_size)
    except (UserError, OSError, ValueError):
        return None  # the plan reports a missing file, the reader an invalid one


@functools.cache
def _kind_at(path: str, column: str, missing: tuple[str, ...] | None, _modified: int, _size: int) -> TargetKind | None:
    from mklearn.study.data.readers.tables import first_values  # imports pandas, only for studies with a target

    words = ("", *(MISSING if missing is None else missing))
    values = [value for value in first_values(Path(path), column) if value not in words]
    if not values:
        return None
    without_commas = [re.sub(r"(?<=\d),(?=\d{3}\b)", "", value) for value in values]  # of thousands
    return "numbers" if 2 * sum(map(is_number, without_commas)) > len(values) else "classes"


def of_each_target(key: str, entry: dict[str, Any], taken: Collection[str] = ()) -> dict[str, dict[str, Any]]:
    """Expand an entry whose ``target`` is a list to entries with one target each, such as ``wheat-yield``.

    The columns of the other targets are not used as features. A duplicate name, or a name in `taken` (the names of the
    other data sets), gets a number: ``wheat-yield-2``.
    """
    targets = entry.get("target")
    if not isinstance(targets, list) or not targets or not all(isinstance(name, str) for name in targets):
        return {key: entry}
    title = entry.get("title") or key
    entries: dict[str, dict[str, Any]] = {}
    for name in dict.fromkeys(targets):
        of_target = {**entry, "target": name, "title": f"{title}, {name}"}
        others = [other for other in targets if other != name]
        if others and entry.get("kind") == "feature_tables":
            of_target["leave_out"] = [*as_list(entry.get("leave_out") or []), *others]
        slug = "".join(letter if letter.isascii() and letter.isalnum() else "-" for letter in name.lower()).strip("-")
        plain = f"{key}-{slug or 'target'}"
        numbered = itertools.chain([plain], (f"{plain}-{number}" for number in itertools.count(2)))
        entries[next(new for new in numbered if new not in entries and new not in taken)] = of_target
    return entries


def study_target(datasets: Any) -> TargetKind:
    """Return the kind of target of a study: the kind of its first data set; the entries may be invalid."""
    entries = datasets.values() if isinstance(datasets, Mapping) else ()
    return next((target_kind(entry) for entry in entries if isinstance(entry, Mapping)), "classes")
