"""Provenance of artefacts: canonical specifications and their keys, source files of a job, versions, the commit."""

from __future__ import annotations

import contextlib
import functools
import hashlib
import importlib.metadata
import importlib.util
import json
import os
import platform
import re
import subprocess
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from mklearn.study.extensions import packages

PACKAGE = Path(__file__).resolve().parents[1]
_IN_WHEEL = PACKAGE / "workflow_files" / "workflow" / "scripts"
SCRIPTS = _IN_WHEEL if _IN_WHEEL.is_dir() else PACKAGE.parents[1] / "workflow" / "scripts"
"""Folder of the rules' scripts, in a checkout or in a wheel."""
_NUMERICAL = (
    "numpy", "scipy", "scikit-learn", "scikit-image", "cvxpy", "clarabel", "mosek", "numba", "opencv-python-headless",
    "pandas", "pyarrow", "h5py", "pydantic", "snakemake",
)  # fmt: skip


def canonical(spec: Any) -> str:
    """Return a specification as JSON with sorted keys and no white space: equal specifications give equal text."""
    return json.dumps(spec, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def key(name: str, spec: Any) -> str:
    """Return ``name-<16 hex>``: a readable name made unique by its specification.

    With 64 bits, two of a million specifications share a key with probability 3e-8.
    """
    slug = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.") or "x"
    return f"{slug}-{digest(spec)[:16]}"


def digest(spec: Any) -> str:
    """Return the SHA-256 of a specification's canonical text."""
    return hashlib.sha256(canonical(spec).encode()).hexdigest()


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a file's content."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def input_digests(**files: str | Path | Sequence[str | Path] | None) -> dict[str, Any]:
    """Return the SHA-256 of a job's input files, by input name; inputs without files are omitted.

    Several files of one input are named by their paths relative to their common folder.
    """
    digests: dict[str, Any] = {}
    for name, paths in files.items():
        if isinstance(paths, str | Path):
            digests[name] = file_digest(paths)
        elif paths:
            folder = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths])
            below = [Path(os.path.relpath(path, folder)).as_posix() for path in paths]
            digests[name] = dict(zip(below, map(file_digest, paths), strict=True))
    return digests


def array_digest(array: Any) -> str:
    """Return the SHA-256 of an array's type, shape and C-ordered bytes, independent of its memory layout."""
    import numpy as np

    array = np.ascontiguousarray(array)
    digest = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    digest.update(array.data if array.size else b"")
    return digest.hexdigest()


# --- the code of a job

_FIT = (
    "kernels", "optimize", "base", "study/evaluation",
    "graphs", "extras.py", "nearest_neighbour.py", "survival/metrics.py",
)  # fmt: skip
_FOLDERS: dict[str, tuple[str, ...]] = {
    "read": (
        "base/folds.py", "base/permutation.py", "kernels/feature_scaling.py", "optimize/ridge_path.py",
        "optimize/left_out.py",
    ),
    "split": ("base/folds.py",),
    "distances": ("kernels", "extras.py"),
    **dict.fromkeys(("moments", "fit"), _FIT),
    "null_control": (*_FIT, "study/evaluation/null_control.py"),
    "view_contributions": (*_FIT, "study/evaluation/view_contributions.py"),
    "model": (*_FIT, "saved_models.py", "study/final_model.py"),
    "evaluate": (
        "study/evaluation/metrics", "study/evaluation/outputs.py", "study/evaluation/predictions.py",
        "study/evaluation/score_table.py", "survival",
    ),
    "tables": ("study/evaluation", "base/statistics.py"),
    "page": ("study/evaluation", "study/report", "base/statistics.py", "survival"),
}  # fmt: skip
"""Folders and files in `PACKAGE` on which each rule depends, besides its script and the code in its specification."""
_AFTER_FITS = frozenset({
    "headline.py", "importances.py", "null_control.py", "predictions.py", "reproduction.py", "sample_values.py",
    "score_table.py", "statistics.py", "summary.py", "view_contributions.py",
})  # fmt: skip
"""Files of ``study/evaluation`` and ``base`` that only tables and reports use."""
_FOLLOWED = re.compile(
    r"^\s*from (mklearn\.(?:extras"
    r"|(?:subspace|classifiers|regressors|survival|papers|descriptors|study\.data)\.[\w.]+)) import",
    re.MULTILINE,
)
"""Imports that are followed, in a script or in the file of a method, descriptor or reader."""


def code_fingerprint(rule: str, spec: Mapping[str, Any], scripts: Path = SCRIPTS) -> str:
    """Return the fingerprint of a job's code: 12 hex digits of a hash over its `code_files`."""
    return _fingerprint(rule, named_modules(spec), scripts)


@functools.cache  # called for each job of a plan
def _fingerprint(rule: str, modules: tuple[str, ...], scripts: Path) -> str:
    roots = [scripts, PACKAGE, *(root.parent for module in modules if (root := _outside(module.split(".")[0])))]
    return digest([
        [next(file.relative_to(root).as_posix() for root in roots if file.is_relative_to(root)), _source_digest(file)]
        for file in code_files(rule, modules, scripts)
    ])[:12]  # fmt: skip


def code_files(rule: str, modules: Iterable[str] = (), scripts: Path = SCRIPTS) -> list[Path]:
    """Return the source files on which the jobs of a rule such as ``fit`` depend, sorted.

    They are the rule's folders and script, the modules named in its specification (a method, a descriptor, a reader),
    and followed imports of these files. For another package, they are all its modules.
    """
    folders, script = _FOLDERS.get(rule, ()), scripts / f"{rule}.py"
    files = {script} | {file for folder in folders for file in _files_in(PACKAGE / folder)}
    if folders is _FIT:
        files = {file for file in files if file.name not in _AFTER_FITS}
    todo, seen = [*modules, *_FOLLOWED.findall(script.read_text(encoding="utf-8"))], set[str]()
    while todo:
        module = todo.pop()
        if module in seen:
            continue
        seen.add(module)
        top, *names = module.split(".")
        path = PACKAGE.joinpath(*names).with_suffix(".py")
        if root := _outside(top):
            files |= {file for file in _files_in(root) if file.suffix == ".py"}
        elif top == "mklearn" and path.is_file():
            files.add(path)
            todo += _FOLLOWED.findall(path.read_text(encoding="utf-8"))
    return sorted(files)


@functools.cache
def _outside(top: str) -> Path | None:
    """Return the folder or file of a top-level module outside mklearn, without importing it."""
    spec = None if top == PACKAGE.name else importlib.util.find_spec(top)
    if spec is not None and spec.submodule_search_locations:
        return Path(next(iter(spec.submodule_search_locations))).resolve()
    return Path(spec.origin).resolve() if spec is not None and spec.has_location and spec.origin else None


def _files_in(place: Path) -> set[Path]:
    """Return the file, or the files of a folder without mklearn's ``__init__`` files, which only re-export."""
    files = {place} if place.is_file() else {path for path in place.rglob("*") if path.is_file()}
    ours = place.is_relative_to(PACKAGE)
    return {path for path in files if path.parent.name != "__pycache__" and not (ours and path.name == "__init__.py")}


def named_modules(spec: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the modules in the strings ``"module:name"`` of a specification."""
    return tuple(sorted(set(re.findall(r'"([\w.]+):\w+"', canonical(spec)))))


_source_digest = functools.cache(file_digest)


# --- the machine, the versions, the commit


@functools.cache
def versions() -> dict[str, str]:
    """Return the versions of Python, mklearn, packages that extend it, and numerical dependencies."""
    versions = {"python": platform.python_version()}
    for package in ("mklearn", *_NUMERICAL, *packages()):
        with contextlib.suppress(importlib.metadata.PackageNotFoundError):
            versions[package] = importlib.metadata.version(package)
    return versions


def machine() -> dict[str, Any]:
    """Return the processor, cores, memory and system, on which run times depend."""
    import psutil

    model = None
    with contextlib.suppress(OSError):
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        model = re.search(r"^model name\s*: (.*)$", text, re.MULTILINE)
    memory = round(psutil.virtual_memory().total / 2**20)
    processor = model[1].strip() if model else platform.processor()
    return {"system": platform.platform(), "processor": processor, "cores": os.cpu_count(), "memory_mb": memory}


def commit(checkout: Path = PACKAGE.parents[1]) -> str:
    """Return the commit of a checkout, by default mklearn's, with ``+`` if files are modified; "" without Git."""
    describe = ["git", "-C", str(checkout), "describe", "--always", "--dirty=+", "--exclude=*", "--abbrev=12"]
    if (checkout / ".git").exists():  # otherwise git would report a repository that contains the installed package
        with contextlib.suppress(OSError, subprocess.SubprocessError):
            return subprocess.run(describe, capture_output=True, text=True, timeout=20, check=True).stdout.strip()
    return ""


def stamp(rule: str, spec: Mapping[str, Any], inputs: Mapping[str, Any], code: str | None = None) -> dict[str, Any]:
    """Return the record stored in a job's outputs. It has no times or paths, so that equal inputs give equal bytes.

    ``inputs`` is the result of :func:`input_digests`, ``code`` the job's fingerprint if already known. See
    :mod:`mklearn.study.artefacts`.
    """
    code = code_fingerprint(rule, spec) if code is None else code
    return {"spec": dict(spec), "inputs": dict(inputs), "code": code, "versions": versions()}
