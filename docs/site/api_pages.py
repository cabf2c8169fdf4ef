"""List the public names of the library: on pages for autosummary, and one per line if run as a script."""

from __future__ import annotations

import importlib

from mklearn.descriptors.table import DESCRIPTORS
from mklearn.rows import exported

MODULES = (
    "mklearn.subspace",
    "mklearn.classifiers",
    "mklearn.regressors",
    "mklearn.survival",
    "mklearn.descriptors",
    "mklearn.kernels",
    "mklearn.graphs",
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


def names_of(module: str) -> list[str]:
    """Return the public names of a module: those in ``__all__``, or defined in it."""
    if module == "mklearn.descriptors":
        return [f"{file}.{name}" for file, names in exported(DESCRIPTORS, module).items() for name in names]
    imported = importlib.import_module(module)
    defined = [name for name, value in vars(imported).items() if getattr(value, "__module__", "") == module]
    names: list[str] = getattr(imported, "__all__", None) or [name for name in defined if not name.startswith("_")]
    return [name for name in names if callable(getattr(imported, name))]


def full_names(modules: tuple[str, ...] = ("mklearn", *MODULES)) -> list[str]:
    """Return the full public names of modules, sorted."""
    return sorted(f"{module}.{name}" for module in modules for name in names_of(module))


def api_pages() -> dict[str, str]:
    """Return the text of one page per module, by path; autosummary adds a page for each name."""
    pages = {}
    for module in MODULES:
        head = f"{module}\n{'=' * len(module)}\n\n.. automodule:: {module}\n\n.. currentmodule:: {module}\n\n"
        summary = [".. autosummary::", ":toctree: generated", ":nosignatures:\n", *names_of(module)]
        pages[f"api/{module}.rst"] = head + "\n   ".join(summary)
    return pages


if __name__ == "__main__":
    print("\n".join(full_names()))
