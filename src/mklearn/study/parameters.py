"""Check of a study's parameters by its implementations, which are imported for this."""

from __future__ import annotations

import inspect
from collections.abc import Collection, Iterator, Mapping
from typing import Any

from mklearn.errors import ConfigError, MissingExtra, UserError
from mklearn.rows import load
from mklearn.study.entries import Descriptor, Entry, Protocol
from mklearn.study.method import Method
from mklearn.study.mistakes import Mistake, unknown_key
from mklearn.study.study import Study

OF_THE_STUDY = frozenset({
    "kernels", "landmarks", "random_state", "images", "learned", "target", "ids", "groups", "files", "source", "seed",
    "name", "classes", "factors", "without_target",
})  # fmt: skip
"""Parameters of implementations that a study can't set, unless the row of a method names them in ``tuned``."""


def parameter_mistakes(study: Study) -> Iterator[Mistake]:
    """Yield a mistake for each parameter of a study that its implementation rejects or does not have."""
    for path, entry in study.entries():
        yield from _of_entry(path, entry)
    for part in study.report.parts:
        try:
            load(part)
        except ConfigError as error:
            yield Mistake("report.parts", str(error))


def _of_entry(path: str, entry: Entry) -> Iterator[Mistake]:
    if not entry.row.implementation:  # a table
        for name in entry.given:
            yield Mistake(f"{path}.{name}", unknown_key(name, entry.valid_options()))
        return
    views, tuned, parts, fixed = (getattr(entry.row, name, ()) for name in ("views", "tuned", "parts", "fixed"))
    given = {name: value for name, value in entry.given.items() if name not in views}
    refused_here = {*type(entry).model_fields} - entry.either  # options that are invalid for the kind
    values = {name: value for name, value in given.items() if name not in {*parts, *refused_here}}
    hidden = {*(OF_THE_STUDY - {*tuned}), *fixed, *views, *entry.valid_options()}
    lists = {*tuned, *(("bandwidth",) if "bandwidth" in values else ())}
    n_data = 1 if isinstance(entry, Descriptor | Protocol) else 0
    yield from _refused(path, entry.row.implementation, values, lists, hidden, entry.valid_options(), n_data)
    for name in parts:
        part = given.get(name)
        if isinstance(part, Mapping) and part.get("kind") in parts[name].kinds:
            row = Method.row_of(part["kind"])
            inner = {key: value for key, value in part.items() if key != "kind"}
            without = {*OF_THE_STUDY, *parts[name].without}
            yield from _refused(f"{path}.{name}", row.implementation, inner, set(row.tuned), without, ["kind"])


def _refused(
    path: str, implementation: str, given: Mapping[str, Any], lists: Collection[str], hidden: Collection[str],
    options: Collection[str], n_data: int = 0,
) -> Iterator[Mistake]:  # fmt: skip
    """Yield a mistake for each invalid parameter; ``lists`` names the parameters whose lists are candidates.

    The first ``n_data`` parameters of functions are images or targets, whatever their names.
    """
    try:
        function = load(implementation)
    except MissingExtra:  # the plan reports which
        return
    except ConfigError as error:
        yield Mistake(f"{path}.kind", str(error))
        return
    signature = inspect.signature(function).parameters
    others = [name for name, each in signature.items() if each.kind is each.VAR_KEYWORD]
    names = [name for name in list(signature)[n_data:] if name not in {*hidden, *others}]
    for name, value in given.items():
        if name not in names and others:  # **kwargs accepts any name
            continue
        if name not in names:
            yield Mistake(f"{path}.{name}", unknown_key(name, [*options, *names]))
            continue
        several = name in lists and isinstance(value, list)
        for number, candidate in enumerate(value if several else [value]):
            if reason := _reason(function, name, candidate, signature[name].default):
                yield Mistake(f"{path}.{name}[{number}]" if several else f"{path}.{name}", reason)
    for name in names:
        if signature[name].default is inspect.Parameter.empty and name not in given:
            yield Mistake(f"{path}.{name}", "is required but missing.")


def _reason(function: Any, name: str, value: Any, default: Any) -> str:
    """Return why an implementation rejects a value; empty if the value is valid."""
    from mklearn.base.parameters import validate_parameter_constraints
    from mklearn.kernels.base import Kernel

    constraints = getattr(function, "_parameter_constraints", {})
    if isinstance(value, bool) and not isinstance(default, bool) and "boolean" not in constraints.get(name, ()):
        return f"invalid value {value}: expected a number or text; YAML reads yes, no, on, off as booleans."
    try:
        if isinstance(function, type) and issubclass(function, Kernel):
            if isinstance(value, list) and isinstance(default, int | float | str):
                return f"invalid value {value}: expected one value; each needs a kernel of its own."
            function(**{name: value})
        else:
            validate_parameter_constraints(constraints, {name: value}, function.__name__)
    except (UserError, TypeError, ValueError) as error:
        return str(error)
    return ""
