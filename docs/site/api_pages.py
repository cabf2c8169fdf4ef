"""Pages of the library's public names: a table for each room, from which autosummary makes a page for each name.

``python docs/site/api_pages.py`` prints the full names, one a line.
"""

from __future__ import annotations

import importlib
from collections.abc import Sequence
from types import ModuleType

from mklearn.cards import exported

ROOMS = {
    "mklearn.subspace": "Embeddings of features or kernels",
    "mklearn.classifiers": "Classifiers",
    "mklearn.regressors": "Regressors",
    "mklearn.kernels": "Kernels, distances and views",
    "mklearn.graphs": "Graphs",
    "mklearn.optimize": "Solvers",
    "mklearn.inspection": "Contributions of views, stability of weights",
    "mklearn.saved_models": "Models in files",
    "mklearn.base.landmark_features": "Features from landmarks",
    "mklearn.base.moments": "Moments of features",
    "mklearn.base.side_by_side": "Views side by side",
    "mklearn.errors": "Errors",
    "mklearn.papers.mkl_dr": "MKL-DR: for its tables only",
    "mklearn.papers.mkmmc": "MKMMC",
    "mklearn.papers.two_d_mmc": "2DMMC: embeddings of images as matrices",
    "mklearn.papers.fsvm": "F-SVM: for its tables only",
}
"""Modules with public names, and the titles of their tables."""


def names_of(module: ModuleType) -> list[str]:
    """Return the public names of a room: those it re-exports, or defines."""
    if exported := getattr(module, "__all__", None):
        return [name for name in exported if callable(getattr(module, name))]
    return [
        name
        for name, value in vars(module).items()
        if not name.startswith("_") and callable(value) and getattr(value, "__module__", "") == module.__name__
    ]


def rooms() -> dict[str, list[str]]:
    """Return the public names of each room."""
    return {room: names_of(importlib.import_module(room)) for room in ROOMS}


def public_names() -> dict[str, str]:
    """Return the full name of each public name."""
    return {name: f"{room}.{name}" for room, names in rooms().items() for name in names}


def descriptors() -> list[str]:
    """Return the descriptors' functions by their names in the package, with their modules."""
    return [f"{module}.{name}" for module, (name,) in exported("mklearn.descriptors", "descriptors").items()]


def full_names() -> list[str]:
    """Return the full name of everything public, sorted."""
    places = {"mklearn": names_of(importlib.import_module("mklearn")), "mklearn.descriptors": descriptors(), **rooms()}
    return sorted(f"{room}.{name}" for room, names in places.items() for name in names)


def api_pages() -> dict[str, str]:
    """Return the text of each page by its path: one of each room, and the list of them."""
    tables = {room: (title, names) for (room, title), names in zip(ROOMS.items(), rooms().values(), strict=True)}
    tables["mklearn.descriptors"] = ("Descriptors", descriptors())
    written = {}
    for room, (title, names) in tables.items():
        head = [title, "=" * len(title), "", f".. currentmodule:: {room}", ""]
        written[f"api/{room}.rst"] = "\n".join([*head, *table(names)]) + "\n"
    introduction = (
        "Everything that the library exports. Estimators follow scikit-learn's conventions; solvers take arrays and "
        "return frozen dataclasses with a status and a gap."
    )
    pages = [".. toctree::", "   :maxdepth: 1", "", *(f"   {room}" for room in tables)]
    written["api/index.rst"] = "\n".join(["API", "===", "", introduction, "", *pages]) + "\n"
    return written


def table(names: Sequence[str]) -> list[str]:
    """Return the lines of a table of names with their first sentences."""
    return [".. autosummary::", "   :toctree: generated", "   :nosignatures:", "", *(f"   {name}" for name in names)]


if __name__ == "__main__":
    print("\n".join(full_names()))
