"""Where artefacts come from: canonical specifications and their keys, the code behind a step, versions, the commit."""

from __future__ import annotations

import ast
import functools
import hashlib
import importlib.metadata
import json
import os
import platform
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

PACKAGE = Path(__file__).resolve().parent
SILENT = frozenset({"mklearn.errors", "mklearn.steps.log"})
"""Modules whose edits change no number. (Package ``__init__`` files only re-export, lazily, and are left out too.)"""


def canonical(spec: Any) -> str:
    """JSON with sorted keys and no white space: equal specifications give equal text."""
    return json.dumps(spec, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def key(name: str, spec: Any) -> str:
    """``name-<8 hex>``: a readable name made unique by its specification."""
    slug = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.") or "x"
    return f"{slug}-{digest(spec)[:8]}"


def digest(spec: Any) -> str:
    """sha256 of a specification's canonical text."""
    return hashlib.sha256(canonical(spec).encode()).hexdigest()


def file_digest(path: str | Path) -> str:
    """sha256 of a file's bytes."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def input_digests(**files: str | Path | Sequence[str | Path] | None) -> dict[str, Any]:
    """sha256 of a step's input files, by the step's names for them; inputs that are not there are left out.

    ``{"samples": "ab12...", "blocks": {"1of2.npz": "...", "2of2.npz": "..."}}``: several files of one input are named
    as :func:`names_below` names them.
    """
    found: dict[str, Any] = {}
    for name, given in files.items():
        if isinstance(given, (str, Path)):
            found[name] = file_digest(given)
        elif given:
            found[name] = {short: file_digest(path) for short, path in names_below(given).items()}
    return found


def names_below(paths: Sequence[str | Path]) -> dict[str, Path]:
    """Files by the part of their paths below the folder that they have in common: the same wherever it lies."""
    folder = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths])
    return {os.path.relpath(os.path.abspath(path), folder).replace(os.sep, "/"): Path(path) for path in paths}


def array_digest(array: Any) -> str:
    """sha256 of an array's type, shape and C-ordered bytes: the same for equal arrays, however they are stored."""
    import numpy as np

    array = np.ascontiguousarray(array)
    digest = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    digest.update(array.data if array.size else b"")
    return digest.hexdigest()


# --- the code behind a step


def code_of(*modules: str) -> list[str]:
    """Files of every mklearn module that these modules import, directly or not, themselves included.

    Imports are read from the source (those inside functions too), so the list can't drift from the code; modules are
    never imported. Not followed: names given as text (a step adds the method's or descriptor's module by name).
    Left out: package ``__init__`` files and the modules of ``SILENT``. Templates and styles are in: the files of a
    folder beside a module and of its name (``page/`` beside ``page.py``) belong to the module.
    """
    return list(_code_of(tuple(sorted(set(filter(None, modules))))))


@functools.cache  # a plan asks for each of its jobs
def _code_of(modules: tuple[str, ...]) -> tuple[str, ...]:
    seen: dict[str, Path] = {}
    todo = list(modules)
    while todo:
        module = todo.pop()
        path = _source(module)
        if path is None or module in seen:
            continue
        seen[module] = path
        todo.extend(_imports(path))
    kept = [path for module, path in seen.items() if path.name != "__init__.py" and module not in SILENT]
    return tuple(sorted(str(file) for path in kept for file in (path, *_data_files(path))))


def step_code(step: str, spec: Mapping[str, Any] | None = None) -> list[str]:
    """Files behind a step (``fit``): its module's, and those of the code that its specification names."""
    return code_of(f"mklearn.steps.{step}", *_named_modules(spec or {}))


_IN_PACKAGE = re.compile(r"mklearn(\.\w+)+:\w+")
"""Code that a specification names: an implementation, or a function among its parameters."""


def _named_modules(spec: Any) -> list[str]:
    found: list[str] = []
    if isinstance(spec, Mapping):
        for name, value in spec.items():
            if isinstance(value, str) and _IN_PACKAGE.fullmatch(value):
                found.append(value.split(":")[0])
            elif name == "reader" and isinstance(value, str):
                found.append(f"mklearn.datasets.readers.{value}")
            elif isinstance(value, Mapping):
                found += _named_modules(value)
    return found


def code_fingerprint(files: Iterable[str | Path]) -> str:
    """12 hex digits over the content of source files, independent of where they lie."""
    return digest(code_digests(files))[:12]


def code_digests(files: Iterable[str | Path]) -> dict[str, str]:
    """The first 12 hex digits of each source file's sha256, by its place in the package (outside of it, its name)."""
    found = {}
    for path in map(Path, files):
        try:
            name = path.resolve().relative_to(PACKAGE).as_posix()
        except ValueError:
            name = path.name
        found[name] = file_digest(path)[:12]
    return found


def _source(module: str) -> Path | None:
    parts = module.split(".")
    if parts[0] != "mklearn":
        return None
    base = PACKAGE.joinpath(*parts[1:])
    if base.with_suffix(".py").is_file() and parts[1:]:
        return base.with_suffix(".py")
    return base / "__init__.py" if (base / "__init__.py").is_file() else None


def _data_files(module: Path) -> list[Path]:
    return [path for path in module.with_suffix("").glob("*") if path.is_file() and path.suffix not in (".py", ".pyc")]


@functools.cache
def _imports(path: Path) -> tuple[str, ...]:
    found: set[str] = set()
    for node in _statements(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return tuple(sorted(name for name in found if name.split(".")[0] == "mklearn"))


def _statements(tree: ast.AST) -> Iterator[ast.AST]:
    """Every statement, however deep, without the expressions in them: those can't import."""
    todo = [tree]
    while todo:
        node = todo.pop()
        yield node
        for part in ("body", "orelse", "finalbody", "handlers", "cases"):
            inner = getattr(node, part, None)
            todo += inner if isinstance(inner, list) else []


# --- the machine, the versions, the commit


def versions(packages: Iterable[str] = ("numpy", "scipy", "scikit-learn", "scikit-image", "cvxpy", "clarabel", "mosek",
                                        "numba", "opencv-python-headless", "pandas", "pyarrow", "h5py", "pydantic",
                                        "altair", "snakemake")) -> dict[str, str]:  # fmt: skip
    """Versions of Python, mklearn and the packages that numbers depend on; those not installed are left out."""
    found = {"python": platform.python_version(), "mklearn": importlib.metadata.version("mklearn")}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """Processor, cores, memory, system: what run times depend on."""
    import psutil

    model = platform.processor()
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        model = next(line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    memory = round(psutil.virtual_memory().total / 2**20)
    return {"system": platform.platform(), "processor": model, "cores": os.cpu_count(), "memory_mb": memory}


def commit(folder: str | Path = ".") -> str:
    """The commit of the checkout, with ``+`` when files differ from it; empty outside a checkout."""
    try:
        head = subprocess.run(
            ["git", "-C", str(folder), "describe", "--always", "--dirty=+", "--exclude=*", "--abbrev=12"],
            capture_output=True, text=True, timeout=20, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return head.stdout.strip()


def stamp(spec: Mapping[str, Any], inputs: Mapping[str, Any], code: Iterable[str | Path]) -> dict[str, Any]:
    """What every artefact carries beside its data. No times and no paths: equal inputs give equal bytes.

    ``inputs`` are those of :func:`input_digests`. Where the stamp lies in each kind of file: :mod:`mklearn.stamps`.
    """
    files = list(code)
    return {
        "spec": dict(spec),
        "inputs": dict(inputs),
        "code": code_fingerprint(files),
        "modules": code_digests(files),
        "mklearn": importlib.metadata.version("mklearn"),
    }
