"""Packages that add to mklearn's core, found by their entry points and without importing them.

A package declares, for example, a method in its ``pyproject.toml``::

    [project.entry-points."mklearn.methods"]
    gated_voting = "gating_package.gated_voting:GatedVoting"

or a file with the registry entries of all its methods (kernels, descriptors, protocols), which is read without
importing anything numerical, and a folder of study files::

    [project.entry-points."mklearn.methods"]
    gating = "gating_package:registry.json"

    [project.entry-points."mklearn.studies"]
    gating = "gating_package:studies"

mklearn declares its own papers (`mklearn.papers`) in this way: the core does not name them.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
import json
from collections.abc import Mapping
from importlib.metadata import EntryPoint
from importlib.resources import files as package_files
from pathlib import Path
from typing import Any

from mklearn.errors import ConfigError

GROUPS = ("methods", "kernels", "descriptors", "protocols", "datasets", "metrics", "studies", "report_parts")
"""What a package can add: the entry points of group ``mklearn.methods``, and so on."""
OWN_PACKAGE = "mklearn"
"""The package whose additions count as mklearn's own."""


@functools.cache
def entry_points() -> dict[str, tuple[EntryPoint, ...]]:
    """Return the entry points of all installed packages, by what they add."""
    every = importlib.metadata.entry_points()
    return {what: tuple(filter(_is_there, every.select(group=f"mklearn.{what}"))) for what in GROUPS}


def _is_there(point: EntryPoint) -> bool:
    """Return whether mklearn has its own part that a point names: its core works without its papers."""
    if package_of(point) != OWN_PACKAGE:
        return True
    try:
        spec = importlib.util.find_spec(point.module)
    except ModuleNotFoundError:
        return False
    return spec is not None and spec.origin is not None


def package_of(point: EntryPoint) -> str:
    """Return the name of the package that declares an entry point."""
    return point.dist.name if point.dist is not None else point.value


def packages() -> list[str]:
    """Return the names of all other packages that add something."""
    return sorted({package_of(point) for points in entry_points().values() for point in points} - {OWN_PACKAGE})


@functools.cache
def module_roots() -> dict[str, Path]:
    """Return where each top-level module of these packages lies: a folder, or the file of a single module.

    They are not imported: plans load nothing numerical.
    """
    names = {point.module.split(".")[0] for points in entry_points().values() for point in points} - {OWN_PACKAGE}
    found = {}
    for name in sorted(names):
        spec = importlib.util.find_spec(name)
        if spec is not None and spec.submodule_search_locations:
            found[name] = Path(next(iter(spec.submodule_search_locations))).resolve()
        elif spec is not None and spec.origin:
            found[name] = Path(spec.origin).resolve()
    return found


def names_registry(point: EntryPoint) -> bool:
    """Return whether an entry point names a file with entries of the registry, and not an implementation."""
    return point.attr.endswith(".json")


@functools.cache  # the name of a package is read from its metadata
def own_registries(what: str) -> tuple[EntryPoint, ...]:
    """Return the entry points of mklearn itself that name registry files: its papers."""
    return tuple(point for point in entry_points()[what] if package_of(point) == OWN_PACKAGE and names_registry(point))


def registry_file(point: EntryPoint) -> Mapping[str, Mapping[str, Mapping[str, Any]]]:
    """Return the entries of the file that an entry point names, by sort and kind.

    Raises
    ------
    ConfigError
        It is no such file.
    """
    found = json.loads(file_of(point).read_text(encoding="utf-8"))
    if not isinstance(found, dict):
        raise ConfigError(f"{point.value} is no registry: expected entries by sort and kind")
    return found


def file_of(point: EntryPoint) -> Path:
    """Return the file or folder of a package that an entry point names, such as ``"my_package:studies"``."""
    return Path(str(package_files(point.module).joinpath(point.attr)))


def report_parts() -> dict[str, str]:
    """Return the functions, ``"module:name"``, that make parts of reports, by name."""
    return {point.name: point.value for point in entry_points()["report_parts"]}


@functools.cache
def study_files() -> dict[str, Path]:
    """Return the study files that packages bring, by name.

    Raises
    ------
    ConfigError
        A package can't be found, or has no study file in the folder that it names.
    """
    found: dict[str, Path] = {}
    for point in entry_points()["studies"]:
        try:
            files = {path.stem: path for path in sorted(file_of(point).glob("*.yaml"))}
        except Exception as error:  # whatever importing the package raises
            raise ConfigError(
                f"package {package_of(point)}: studies of {point.value} can't be read: {error}"
            ) from error
        if not files:
            raise ConfigError(f"package {package_of(point)}: there is no study file (*.yaml) in {point.value}.")
        found |= files
    return found
