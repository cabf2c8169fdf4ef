"""Paths of the Snakefile, profiles and studies, in a checkout or in an installed wheel.

The repository has one copy of each file; ``pyproject.toml`` defines its place in a wheel. Packages that extend mklearn,
including its own papers, also supply studies.
"""

from __future__ import annotations

import difflib
import runpy
from collections.abc import Callable
from pathlib import Path

from mklearn.errors import ConfigError, absence
from mklearn.study.extensions import study_files
from mklearn.study.provenance import PACKAGE

DEFAULT_STUDY = "config.yaml"
_IN_WHEEL = PACKAGE / "workflow_files"
_STUDIES = "workflow/studies"


def workflow_file(name: str) -> Path:
    """Return the path of a workflow file or folder, given relative to a checkout, such as ``Snakefile``.

    The root is the current folder if it is a checkout, else the checkout that contains this code, else the wheel.
    """
    for folder in (Path(), PACKAGE.parents[1]):
        if (folder / "Snakefile").is_file() and (folder / "src" / "mklearn").is_dir():
            return folder / name
    return _IN_WHEEL / name


def load_script(rule: str) -> Callable[..., None]:
    """Load the script of a rule, and return its function."""
    function: Callable[..., None] = runpy.run_path(str(workflow_file(f"workflow/scripts/{rule}.py")))[rule]
    return function


def studies() -> dict[str, Path]:
    """Return the study files of mklearn and other packages, by name."""
    of_mklearn = {path.stem: path for path in sorted(workflow_file(_STUDIES).glob("*.yaml"))}
    return dict(sorted({**study_files(), **of_mklearn}.items()))


def study_file(name: str | None) -> Path:
    """Return the study file for a path, or for the name of a study in mklearn or another package.

    The default is ``config.yaml`` in the current folder, else mklearn's own. Raise ConfigError if no file is found.
    """
    named = Path(DEFAULT_STUDY if name is None else name)
    if named.is_file():
        return named
    by_name = studies()
    if name is None:
        return workflow_file(DEFAULT_STUDY)
    if name in by_name:
        return by_name[name]
    beside = (path for path in named.parent.glob("*.y*ml") if path.is_file())
    names = {stem: stem for stem in by_name} | {path.stem: str(path) for path in beside}
    near = difflib.get_close_matches(named.stem, names, n=1)
    hint = f" Did you mean {names[near[0]]!r}?" if near else ""
    raise ConfigError(f"{name or repr(name)}: {absence(named)}.{hint} Studies of mklearn: {', '.join(by_name)}.")
