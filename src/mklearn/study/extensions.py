"""Data sets and studies of packages that extend mklearn, listed by entry points without importing the packages.

A package declares a file with entries for the registry of data sets, and a folder of study files::

    [project.entry-points."mklearn.datasets"]
    gating = "gating_package:datasets.yaml"

    [project.entry-points."mklearn.studies"]
    gating = "gating_package:studies"

mklearn declares its own papers (`mklearn.papers`) in the same way. Methods, kernels, descriptors, protocols, metrics
and report parts need no entry point: a study names them as ``module:name``.
"""

from __future__ import annotations

import functools
import importlib.metadata
import importlib.util
from importlib.metadata import EntryPoint
from importlib.resources import files as package_files
from pathlib import Path

from mklearn.errors import ConfigError

GROUPS = ("datasets", "studies")
"""Entry point groups without their prefix: ``mklearn.datasets`` and ``mklearn.studies``."""
OWN_PACKAGE = "mklearn"
"""Package whose entry points belong to mklearn itself."""


@functools.cache
def entry_points() -> dict[str, tuple[EntryPoint, ...]]:
    """Return the entry points of all installed packages, by group."""
    every = importlib.metadata.entry_points()
    return {what: tuple(filter(_is_there, every.select(group=f"mklearn.{what}"))) for what in GROUPS}


def _is_there(point: EntryPoint) -> bool:
    """Return whether the target of mklearn's own entry point is installed; its papers are optional."""
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
    """Return the names of all other packages that extend mklearn."""
    return sorted({package_of(point) for points in entry_points().values() for point in points} - {OWN_PACKAGE})


@functools.cache
def study_files() -> dict[str, Path]:
    """Return the study files of packages, by name; raise ConfigError if a package or its studies can't be found."""
    studies: dict[str, Path] = {}
    for point in entry_points()["studies"]:
        try:
            folder = Path(str(package_files(point.module).joinpath(point.attr)))
            files = sorted(folder.glob("*.yaml"))
        except Exception as error:  # importing the package may raise anything
            raise ConfigError(f"package {package_of(point)}: studies of {point.value}: {error}") from error
        if not files:
            raise ConfigError(f"package {package_of(point)}: there is no study file (*.yaml) in {point.value}.")
        studies |= {path.stem: path for path in files}
    return studies
