"""Origins of artefacts: canonical specifications and their keys, the code behind a step, versions, the commit."""

from __future__ import annotations

import ast
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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from mklearn.cards import exported, own_entries
from mklearn.contract.extensions import (
    entry_points,
    module_roots,
    names_registry,
    own_registries,
    packages,
    registry_file,
)

PACKAGE = Path(__file__).resolve().parents[1]
SILENT = frozenset(
    {
        "mklearn.cards",
        "mklearn.errors",
        "mklearn.contract.extensions",
        "mklearn.extras",
        "mklearn.study.steps.log",
        "mklearn.study.supervisor",
    }
)
"""Modules whose edits change no number. (Package ``__init__`` files only re-export, lazily, and are left out too.)"""


def canonical(spec: Any) -> str:
    """Return JSON with sorted keys and no white space: equal specifications give equal text."""
    return json.dumps(spec, sort_keys=True, separators=(",", ":"), ensure_ascii=True, allow_nan=False)


def key(name: str, spec: Any) -> str:
    """Return ``name-<16 hex>``: a readable name made unique by its specification.

    64 bits: among a million specifications two have one name with probability 3e-8, so that a file of the right name
    is of the right specification (see :mod:`mklearn.study.artefacts`).
    """
    slug = re.sub(r"[^a-z0-9.]+", "-", name.lower()).strip("-.") or "x"
    return f"{slug}-{digest(spec)[:16]}"


def name_of(found: str) -> str:
    """Return the readable name in a `key`."""
    return found.rpartition("-")[0]


def digest(spec: Any) -> str:
    """Return the sha256 of a specification's canonical text."""
    return hashlib.sha256(canonical(spec).encode()).hexdigest()


def file_digest(path: str | Path) -> str:
    """Return the sha256 of a file's bytes."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


def input_digests(**files: str | Path | Sequence[str | Path] | None) -> dict[str, Any]:
    """Return the sha256 of a step's input files, by the step's names for them; inputs without files are left out.

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
    """Return files by the part of their paths below their common folder: the same wherever the folder lies."""
    folder = os.path.commonpath([os.path.dirname(os.path.abspath(path)) for path in paths])
    return {os.path.relpath(os.path.abspath(path), folder).replace(os.sep, "/"): Path(path) for path in paths}


def array_digest(array: Any) -> str:
    """Return the sha256 of an array's type, shape and C-ordered bytes, whatever its memory layout."""
    import numpy as np

    array = np.ascontiguousarray(array)
    digest = hashlib.sha256(f"{array.dtype.str}{array.shape}".encode())
    digest.update(array.data if array.size else b"")
    return digest.hexdigest()


# --- the code behind a step


def code_of(*modules: str) -> list[str]:
    """Return the files of every module that these modules import, directly or not, themselves included.

    Modules are those of mklearn and of installed packages that add to it. Imports are read from the source (those
    inside functions too), so the list can't drift from the code; modules are never imported. Not followed: names given
    as text (a step adds the method's or descriptor's module by name). Left out: mklearn's own package ``__init__``
    files and the modules of ``SILENT``. Templates and styles are in: the files of a folder beside a module and of its
    name (``page/`` beside ``page.py``) belong to the module.
    """
    return list(_code_of(tuple(sorted(set(filter(None, modules))))))


@functools.cache  # a plan asks for each of its jobs
def _code_of(modules: tuple[str, ...]) -> tuple[str, ...]:
    # Modules of mklearn import no other package that adds to it: installed packages are searched only if one is named.
    others = not all(map(_is_own, modules))
    seen: dict[str, Path] = {}
    todo = list(modules)
    while todo:
        module = todo.pop()
        if module not in seen and (path := _source(module, others)) is not None:
            seen[module] = path
            todo.extend(_imports(module, path))
    re_exports = {module for module, path in seen.items() if path.name == "__init__.py" and _is_own(module)}
    kept = [path for module, path in seen.items() if module not in SILENT | re_exports]
    return tuple(sorted(str(file) for path in kept for file in (path, *_data_files(path))))


def step_code(step: str, spec: Mapping[str, Any] | None = None) -> list[str]:
    """Return the files behind a step such as ``fit``: of its module, and of the code that its specification names."""
    return code_of(f"mklearn.study.steps.{step}", *_named_modules(spec or {}))


_NAMED_CODE = re.compile(r"[\w.]+:\w+")
"""Code that a specification names, as ``"module:name"``; other texts of this form are no module."""


def _named_modules(spec: Mapping[str, Any]) -> list[str]:
    found: list[str] = []
    todo: list[Any] = [dict(spec)]
    while todo:
        value = todo.pop()
        if isinstance(value, str):
            if ":" in value and _NAMED_CODE.fullmatch(value):
                found.append(value.split(":")[0])
        elif isinstance(value, dict):
            reader = value.get("reader")
            if isinstance(reader, str) and ":" not in reader:
                found.append(f"mklearn.study.data.readers.{reader}")
            todo.extend(_code_by_name(value))
            todo.extend(value.values())
        elif isinstance(value, list):
            todo.extend(value)
    return found


def _code_by_name(spec: Mapping[str, Any]) -> list[str]:
    """Return the code, ``"module:name"``, of the kernels and metrics that a specification names by their kinds."""
    kernels, metrics = (found if isinstance(found := spec.get(sort), list) else [] for sort in ("kernels", "metrics"))
    named = [("kernels", kernel.get("kind", "")) for kernel in kernels if isinstance(kernel, dict)]
    named += [("metrics", name) for name in metrics]
    return [code for sort, kind in named for code in _registered_code(sort).get(kind, ())]


@functools.cache
def _registered_code(sort: str) -> dict[str, list[str]]:
    """Return the code of what is registered, by kind; of a metric also what gives the values of samples."""
    found: dict[str, list[str]] = {}
    entries = dict(own_entries(sort))
    for point in entry_points()[sort]:
        if not names_registry(point):
            found[point.name] = [point.value]
        elif point not in own_registries(sort):
            entries = {**registry_file(point)[sort], **entries}
    return found | {
        kind: [entry["implementation"], *filter(None, [entry.get("by_sample")])] for kind, entry in entries.items()
    }


def code_fingerprint(files: Iterable[str | Path]) -> str:
    """Return 12 hex digits for the content of source files, independent of where they lie."""
    return digest(code_digests(files))[:12]


def code_digests(files: Iterable[str | Path]) -> dict[str, str]:
    """Return the first 12 hex digits of each source file's sha256, by its path in mklearn or below its own package."""
    found = {}
    for path in files:
        state = os.stat(path)
        found[_name_of_source(Path(path))] = _source_digest(path, state.st_mtime_ns, state.st_size)[:12]
    return found


@functools.cache  # a plan asks for each of its jobs
def _source_digest(path: str | Path, modified: int, size: int) -> str:
    return file_digest(path)


@functools.cache
def _name_of_source(path: Path) -> str:
    resolved = path.resolve()
    if resolved.is_relative_to(PACKAGE):
        return resolved.relative_to(PACKAGE).as_posix()
    folders = (root.parent for root in module_roots().values())
    folder = next((folder for folder in folders if resolved.is_relative_to(folder)), resolved.parent)
    return resolved.relative_to(folder).as_posix()


@functools.cache
def _source(module: str, others: bool) -> Path | None:
    """Return the file of a module of mklearn, or of ``others``: packages that add to it."""
    roots = {"mklearn": PACKAGE} | (module_roots() if others else {})
    top, *parts = module.split(".")
    if top not in roots:
        return None
    base = roots[top].joinpath(*parts)
    return next((path for path in (base.with_suffix(".py"), base / "__init__.py") if path.is_file()), None)


def _is_own(module: str) -> bool:
    return module.split(".")[0] == "mklearn"


def _data_files(module: Path) -> list[Path]:
    return [path for path in module.with_suffix("").glob("*") if path.is_file() and path.suffix not in (".py", ".pyc")]


@functools.cache
def _imports(module: str, path: Path) -> tuple[str, ...]:
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    found: set[str] = set()
    for node in _import_statements(path.read_text(encoding="utf-8")):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            with contextlib.suppress(ImportError):  # relative, and leads out of the top package
                source = importlib.util.resolve_name("." * node.level + (node.module or ""), package)
                found |= {source, *(f"{source}.{alias.name}" for alias in node.names)}
                found |= {_home(source, alias.name) for alias in node.names}
    return tuple(sorted(found))


def _home(package: str, name: str) -> str:
    """Return the module that a name of a package of mklearn comes from, through lazy ``__init__`` files."""
    path = _source(package, others=False)
    while path is not None and path.name == "__init__.py" and name in (exports := _lazy_exports(package, path)):
        package = exports[name]
        path = _source(package, others=False)
    return package


@functools.cache
def _lazy_exports(package: str, path: Path) -> dict[str, str]:
    """Return the module of each name in the ``submod_attrs`` of a package's ``attach``."""
    keywords = (node for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))) if isinstance(node, ast.keyword))
    todo: list[ast.expr] = [node.value for node in keywords if node.arg == "submod_attrs"]
    found: dict[str, str] = {}
    for node in todo:
        names: dict[str, list[str]] = {}
        if isinstance(node, ast.Call):  # exported(__name__)
            names = exported(package, *(ast.literal_eval(word) for word in node.args[1:]))
        elif isinstance(node, ast.Dict):
            todo += [value for key, value in zip(node.keys, node.values, strict=True) if key is None]
            named = [(key, value) for key, value in zip(node.keys, node.values, strict=True) if key is not None]
            names = {ast.literal_eval(key): ast.literal_eval(value) for key, value in named}
        found |= {name: f"{package}.{module}" for module, own in names.items() for name in own}
    return found


_IMPORT = re.compile(
    r"""(?:^|[;:])[ \t]*  # where a statement begins
    (from[ \t]+[\w.]+[ \t]+import[ \t]*\([^)]*\) | (?:from|import)[ \t](?:[^\n;\\]|\\\n)*)""",
    re.MULTILINE | re.VERBOSE,
)
_FORM = re.compile(r"from[ \t]+[\w.]+[ \t]+import\b|import[ \t]+[\w.]+[ \t]*(?:$|[,\\]|as\b)")


def _import_statements(source: str) -> Iterator[ast.AST]:
    """Yield the import statements of a module, however deep; those in texts of several lines, too.

    Only what begins like one is parsed: a plan reads hundreds of modules, and this takes a sixth of the time.
    """
    for candidate in _IMPORT.finditer(source):
        try:
            yield from ast.parse(candidate[1]).body
        except SyntaxError:
            if _FORM.match(candidate[1]):  # else a line of a text
                yield from ast.walk(ast.parse(source))
                return


# --- the machine, the versions, the commit


def versions(names: Iterable[str] = ("numpy", "scipy", "scikit-learn", "scikit-image", "cvxpy", "clarabel", "mosek",
                                        "numba", "opencv-python-headless", "pandas", "pyarrow", "h5py", "pydantic",
                                        "snakemake")) -> dict[str, str]:  # fmt: skip
    """Return the versions of Python, mklearn, packages that add to it, and packages that numbers depend on."""
    found = {"python": platform.python_version(), "mklearn": importlib.metadata.version("mklearn")}
    for package in (*names, *packages()):
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return found


def machine() -> dict[str, Any]:
    """Return the processor, cores, memory and system, on which run times depend."""
    import psutil

    model = platform.processor()
    try:
        text = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace")
        model = next(line.split(":", 1)[1].strip() for line in text.splitlines() if line.startswith("model name"))
    except (OSError, StopIteration):
        pass
    memory = round(psutil.virtual_memory().total / 2**20)
    return {"system": platform.platform(), "processor": model, "cores": os.cpu_count(), "memory_mb": memory}


def commit(checkout: Path = PACKAGE.parents[1]) -> str:
    """Return the commit of a checkout, by default of mklearn, with ``+`` if files differ from it; empty of others."""
    if not (checkout / ".git").exists():  # git would answer for a repository around an installed package
        return ""
    try:
        head = subprocess.run(
            ["git", "-C", str(checkout), "describe", "--always", "--dirty=+", "--exclude=*", "--abbrev=12"],
            capture_output=True, text=True, timeout=20, check=True,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError):
        return ""
    return head.stdout.strip()


def stamp(spec: Mapping[str, Any], inputs: Mapping[str, Any], code: Iterable[str | Path]) -> dict[str, Any]:
    """Return what every artefact carries beside its data. No times and no paths: equal inputs give equal bytes.

    ``inputs`` are those of :func:`input_digests`. Where the stamp lies in each kind of file:
    :mod:`mklearn.study.stamps`.
    """
    files = list(code)
    return {
        "spec": dict(spec),
        "inputs": dict(inputs),
        "code": code_fingerprint(files),
        "modules": code_digests(files),
        "mklearn": importlib.metadata.version("mklearn"),
    }
