"""List the public names of the library: on pages for autosummary, and one a line if run as a script."""

from __future__ import annotations

import importlib

from mklearn.descriptors.table import DESCRIPTORS
from mklearn.rows import exported

ROOMS = (
    "mklearn.subspace",
    "mklearn.classifiers",
    "mklearn.regressors",
    "mklearn.descriptors",
    "mklearn.kernels",
    "mklearn.graphs",
    "mklearn.neighbour_graphs",
    "mklearn.optimize",
    "mklearn.inspection",
    "mklearn.saved_models",
    "mklearn.base.landmark_features",
    "mklearn.base.moments",
    "mklearn.base.side_by_side",
    "mklearn.errors",
    "mklearn.papers.mkl_dr",
    "mklearn.papers.mkmmc",
    "mklearn.papers.two_d_mmc",
    "mklearn.papers.fsvm",
)
"""Modules with public names. `mklearn` itself re-exports a few of them."""


def names_of(room: str) -> list[str]:
    """Return the public names of a module: those it re-exports, or defines."""
    if room == "mklearn.descriptors":
        return [f"{module}.{name}" for module, names in exported(DESCRIPTORS, room).items() for name in names]
    module = importlib.import_module(room)
    defined = [name for name, value in vars(module).items() if getattr(value, "__module__", "") == room]
    names: list[str] = getattr(module, "__all__", None) or [name for name in defined if not name.startswith("_")]
    return [name for name in names if callable(getattr(module, name))]


def full_names(rooms: tuple[str, ...] = ("mklearn", *ROOMS)) -> list[str]:
    """Return the full names of everything public, sorted."""
    return sorted(f"{room}.{name}" for room in rooms for name in names_of(room))


def api_pages() -> dict[str, str]:
    """Return the text of each page by its path: one of each module, where autosummary makes a page for each name."""
    rooms = "\n".join(f"   {room}" for room in ROOMS)
    text = "Estimators follow scikit-learn's conventions; solvers take arrays and return dataclasses."
    pages = {"api/index.rst": f"API\n===\n\n{text}\n\n.. toctree::\n   :maxdepth: 1\n\n{rooms}\n"}
    for room in ROOMS:
        head = f"{room}\n{'=' * len(room)}\n\n.. automodule:: {room}\n\n.. currentmodule:: {room}\n\n"
        names = "\n".join(f"   {name}" for name in names_of(room))
        pages[f"api/{room}.rst"] = f"{head}.. autosummary::\n   :toctree: generated\n   :nosignatures:\n\n{names}\n"
    return pages


if __name__ == "__main__":
    print("\n".join(full_names()))
