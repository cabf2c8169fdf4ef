"""Methods grouped for a reader who chooses one: where to start, by what they learn from, and those of papers."""

from __future__ import annotations

from mklearn.contract.extensions import own_registries
from mklearn.study.config.model import DEFAULT_METHODS, NUMBER_METHODS
from mklearn.study.config.registry import REGISTRATIONS, Description, Registration, check_packages, description

START, KERNELS, FEATURES, NUMBERS, PAPERS = GROUPS = (
    "Start here: what a study compares that names no methods",
    "On kernels",
    "On features",
    "Predict numbers",
    "A paper's own",
)
"""Titles of the groups, in the order in which they are listed."""
_USUAL = list(dict.fromkeys(str(method["kind"]) for method in [*DEFAULT_METHODS.values(), *NUMBER_METHODS.values()]))


def grouped_methods() -> dict[str, list[Description]]:
    """Return the registered methods by the title of their group; those of studies that name none come first."""
    found: dict[str, list[Description]] = {title: [] for title in GROUPS}
    known = REGISTRATIONS["methods"]
    for kind in dict.fromkeys([*_USUAL, *known]):
        found[_group(kind, known[kind])].append(description(kind, known[kind]))
    return found


def _group(kind: str, registration: Registration) -> str:
    model = registration.model
    if any(model.implementation.startswith(f"{paper.module}.") for paper in own_registries("methods")):
        return PAPERS
    if "classes" not in model.targets:
        return NUMBERS
    if kind in _USUAL:
        return START
    return KERNELS if "kernels" in getattr(model, "inputs", {}) else FEATURES


def list_methods(columns: int) -> str:
    """Return a line for each method, by group, none wider than ``columns``.

    Raises
    ------
    ConfigError
        An installed package has methods that can't be loaded.
    """
    check_packages()
    groups = grouped_methods()
    width = max(len(entry.kind) for entries in groups.values() for entry in entries)
    parts = []
    for title, entries in groups.items():
        lines = [f"  {entry.kind:{width}}  {_told(entry)}" for entry in entries]
        parts.append("\n".join(_cut(line, columns) for line in [title, *lines]))
    return "\n\n".join([*parts, "mklearn list methods NAME: use, paper and parameters"])


def _told(entry: Description) -> str:
    """Return the title, the package of a method that mklearn does not bring, and when to use it."""
    package = f" (package {entry.package})" if entry.package else ""
    return f"{entry.title}{package}{'. ' if entry.advice else ''}{entry.advice}"


def _cut(line: str, columns: int) -> str:
    return line if len(line) <= columns else f"{line[: max(columns, 40) - 3].rstrip()}..."
