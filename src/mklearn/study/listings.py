"""Listings of everything that a study can use: titles, papers, advice and parameters, by name and group."""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection
from typing import Any

from mklearn.errors import ConfigError, MissingExtra, nearest
from mklearn.rows import load
from mklearn.study.data.registry import Entry as Dataset
from mklearn.study.data.registry import entry, registry
from mklearn.study.entries import REQUIRED, Descriptor, Entry, Kernel, Protocol
from mklearn.study.method import Method
from mklearn.study.parameters import OF_THE_STUDY
from mklearn.study.schema import field_texts
from mklearn.study.study import USUAL_METHODS

ENTRIES: dict[str, type[Entry]] = {
    "descriptors": Descriptor,
    "kernels": Kernel,
    "methods": Method,
    "protocols": Protocol,
}
"""Pydantic model of an entry, by section of the study."""
START, KERNELS, FEATURES, NUMBERS, SURVIVAL, PAPERS = GROUPS = (
    "Start here: what a study compares that names no methods",
    "On kernels",
    "On features",
    "Predict numbers",
    "Predict survival times",
    "A paper's own",
)
"""Titles of the groups of methods, in listing order."""
_USUAL = list(dict.fromkeys(str(each["kind"]) for methods in USUAL_METHODS.values() for each in methods.values()))


def grouped_methods() -> dict[str, list[str]]:
    """Return the kinds of methods by group title; the default methods of a study come first."""
    groups: dict[str, list[str]] = {title: [] for title in GROUPS}
    for kind in dict.fromkeys([*_USUAL, *Method.rows]):
        groups[_group(kind)].append(kind)
    return groups


def _group(kind: str) -> str:
    row = Method.row_of(kind)
    if row.implementation.startswith("mklearn.papers."):
        return PAPERS
    if "classes" not in row.targets:
        return NUMBERS if "numbers" in row.targets else SURVIVAL
    if kind in _USUAL:
        return START
    return KERNELS if row.takes in ("kernels", "dictionary") else FEATURES


def list_methods(columns: int) -> str:
    """Return one line per method, by group, with at most ``columns`` characters each."""
    width = max(map(len, Method.rows))
    parts = []
    for title, kinds in grouped_methods().items():
        rows = {kind: Method.row_of(kind) for kind in kinds}
        lines = [f"  {kind:{width}}  {row.title}{'. ' if row.advice else ''}{row.advice}" for kind, row in rows.items()]
        cut = [line if len(line) <= columns else f"{line[: max(columns, 40) - 3].rstrip()}..." for line in lines]
        parts.append("\n".join([title[:columns], *cut]))
    return "\n\n".join([*parts, "mklearn list methods NAME: use, paper and parameters"])


def describe_all(what: str) -> str:
    """Return a readable listing of all descriptors, kernels, protocols or data sets."""
    names = registry() if what == "datasets" else ENTRIES[what].rows
    return "\n\n".join(describe_one(what, name) for name in names)


def describe_one(what: str, name: str) -> str:
    """Return the listing of one kind or data set; raise ConfigError if there is no such name."""
    if what == "datasets":
        return _dataset(entry(name))
    model = ENTRIES[what]
    rows = model.rows
    if name not in rows and ":" not in name:
        raise ConfigError(
            f"there is no {what.removesuffix('s')} {name!r}.{nearest(name, rows)} Valid: {', '.join(rows)}."
        )
    row = model.row_of(name)
    texts, options = field_texts(model), model.options_of(row) | {"datasets": None}
    about, parameters = _about(row, options)
    keys = [
        _line(option, "required" if default is REQUIRED else f"default {default!r}", texts.get(option, ""))
        for option, default in options.items()
    ]
    lines = [about, row.advice, row.reference]
    return "\n".join([f"{name}: {row.title}", *(f"  {line}" for line in lines if line), *keys, *parameters])


def _about(row: Any, options: Collection[str]) -> tuple[str, list[str]]:
    """Return the summary and one line per parameter of an implementation, from its docstring and signature."""
    if not row.implementation:
        return "", []
    try:
        function = load(row.implementation)
    except MissingExtra as error:
        return str(error), []
    texts, lines = parameter_texts(function), []
    views, fixed = getattr(row, "views", {}), getattr(row, "fixed", ())
    for name, parameter in inspect.signature(function).parameters.items():
        if name in {*OF_THE_STUDY - {*getattr(row, "tuned", ())}, *fixed, *options}:
            continue
        default = {**row.defaults, **views}.get(name, parameter.default)
        default = "required" if default in (inspect.Parameter.empty, "") else f"default {default!r}"
        first_sentence = re.split(r"(?<=[a-z\])`'\"]\.)\s+(?=[A-Z`\"])", texts.get(name, ""))[0]
        lines.append(_line(name, default, first_sentence))
    return _paragraph((inspect.getdoc(function) or "").split("\n\n")[0]), lines


def _line(name: str, default: str, text: str) -> str:
    about = _paragraph(text)
    return f"    {name} ({default}){': ' if about else ''}{about}"


_SECTION = re.compile(r"^Parameters\n-+\n(.*?)(?=^\w[\w ]*\n-+$|\Z)", re.MULTILINE | re.DOTALL)
_PARAMETER = re.compile(r"^(\w[\w, ]*?)(?: : .*)?\n((?:[ ]+.*\n?|\n)*)", re.MULTILINE)


def parameter_texts(implementation: Any) -> dict[str, str]:
    """Return the parameter descriptions in the numpydoc docstring of a function, or of a class and its bases."""
    texts: dict[str, str] = {}
    for described in inspect.getmro(implementation) if isinstance(implementation, type) else (implementation,):
        section = _SECTION.search(inspect.cleandoc(described.__doc__ or ""))
        for names, text in _PARAMETER.findall(f"{section[1]}\n" if section else ""):
            for name in names.split(","):
                texts.setdefault(name.strip(), _paragraph(text))
    return texts


def _paragraph(text: str) -> str:
    return " ".join(re.sub(r"\s*\[\d+\]_", "", text).split())  # without references


def _dataset(entry: Dataset) -> str:
    size = ", ".join(f"{name.replace('n_', '')} {value}" for name, value in entry.expected.items())
    package = [f"  package: {entry.package}"] if entry.package else []
    lines = [f"{entry.id}: {entry.title}", *package, f"  {size}", f"  licence: {entry.licence}"]
    if entry.merge:
        lines.append(f"  classes: {', '.join(entry.merge)}, merged from those of {entry.of}")
    if entry.released_splits:
        lines.append("  published splits: protocol released")
    if entry.missing_views == "mean":
        lines.append("  samples that lack a table are filled in from the training samples there")
    lines += [f"  {entry.citation}", *([f"  note: {entry.note}"] if entry.note else []), f"  {entry.homepage}"]
    return "\n".join(lines)
