"""Packages outside mklearn that add to it, found by their entry points and without importing them.

A package declares, for example, a method in its ``pyproject.toml``::

    [project.entry-points."mklearn.methods"]
    gated_voting = "gating_package.voting:GatedVoting"
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
from pathlib import Path

GROUPS = ("methods", "kernels", "descriptors", "protocols", "datasets", "metrics")
"""What a package can add: the entry points of group ``mklearn.methods``, and so on."""


@functools.cache
def entry_points() -> dict[str, tuple[importlib.metadata.EntryPoint, ...]]:
    """Return the entry points of all installed packages, by what they add."""
    every = importlib.metadata.entry_points()
    return {what: tuple(every.select(group=f"mklearn.{what}")) for what in GROUPS}


def package_of(point: importlib.metadata.EntryPoint) -> str:
    """Return the name of the package that declares an entry point."""
    return point.dist.name if point.dist is not None else point.value


def packages() -> list[str]:
    """Return the names of all packages that add something."""
    return sorted({package_of(point) for points in entry_points().values() for point in points})


@functools.cache
def module_roots() -> dict[str, Path]:
    """Return where each top-level module of these packages lies: a folder, or the file of a single module.

    They are not imported: plans load nothing numerical.
    """
    names = {point.module.split(".")[0] for points in entry_points().values() for point in points} - {"mklearn"}
    found = {}
    for name in sorted(names):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations:
            found[name] = Path(next(iter(spec.submodule_search_locations))).resolve()
        elif spec is not None and spec.origin:
            found[name] = Path(spec.origin).resolve()
    return found
