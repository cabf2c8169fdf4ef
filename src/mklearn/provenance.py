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
from collections.abc import Iterable, Mapping
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
    seen: dict[str, Path] = {}
    todo = [module for module in modules if module]
    while todo:
        module = todo.pop()
        path = _source(module)
        if path is None or module in seen:
            continue
        seen[module] = path
        todo.extend(_imports(path))
    kept = [path for module, path in seen.items() if path.name != "__init__.py" and module not in SILENT]
    return sorted(str(file) for path in kept for file in (path, *_data_files(path)))


def step_code(step: str, spec: Mapping[str, Any] | None = None) -> list[str]:
    """Files behind a step (``fit``): its module's, and those of the code that its specification names."""
    return code_of(f"mklearn.steps.{step}", *_named_modules(spec or {}))


def _named_modules(spec: Any) -> list[str]:
    found: list[str] = []
    if isinstance(spec, Mapping):
        for name, value in spec.items():
            if name == "implementation" and isinstance(value, str):
                found.append(value.split(":")[0])
            elif name == "reader" and isinstance(value, str):
                found.append(f"mklearn.datasets.readers.{value}")
            elif isinstance(value, Mapping):
                found += _named_modules(value)
    return found


def code_fingerprint(files: Iterable[str | Path]) -> str:
    """12 hex digits over the content of source files, independent of where they lie."""
    digest = hashlib.sha256()
    for path in sorted(map(Path, files), key=lambda p: p.as_posix()):
        try:
            name = path.resolve().relative_to(PACKAGE).as_posix()
        except ValueError:
            name = path.name
        digest.update(name.encode() + b"\0" + path.read_bytes() + b"\0")
    return digest.hexdigest()[:12]


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
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            found.add(node.module)
            found |= {f"{node.module}.{alias.name}" for alias in node.names}
    return tuple(sorted(name for name in found if name.split(".")[0] == "mklearn"))


# --- the machine, the versions, the commit


def versions(packages: Iterable[str] = ("numpy", "scipy", "scikit-learn", "scikit-image", "cvxpy", "clarabel", "mosek",
                                        "pandas", "pyarrow", "snakemake")) -> dict[str, str]:  # fmt: skip
    """Versions of Python, mklearn and the packages that numbers depend on; those not installed are left out."""
    found = {"python": platform.python_version(), "mklearn": importlib.metadata.version("mklearn")}
    for package in packages:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """Processor, cores, system: what run times depend on."""
    model = platform.processor()
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        model = next(line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    return {"system": platform.platform(), "processor": model, "cores": os.cpu_count()}


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
    """What every artefact carries beside its data. No times and no paths: equal inputs give equal bytes."""
    return {
        "spec": dict(spec),
        "inputs": dict(inputs),
        "code": code_fingerprint(code),
        "mklearn": importlib.metadata.version("mklearn"),
    }
