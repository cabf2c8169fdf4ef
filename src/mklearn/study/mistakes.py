"""Readable messages for pydantic's validation errors in a study file."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args, get_origin

from pydantic import BaseModel, ValidationError

from mklearn.errors import nearest

GIVEN = "given"
"""Field for the implementation's parameters in an entry; the study file has them next to the options."""
LONG_LIST = 100
"""Length in characters above which a list of names is not repeated in a message."""


@dataclass(frozen=True, order=True)
class Mistake:
    """One mistake in a study file: dotted path, value, and expectation."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path or '(top level)'}: {self.message}"


def listed(has: str, mistakes: Collection[object]) -> str:
    """Return an error message with all mistakes, numbered, after a text such as ``study.yaml has``.

    A long list of valid names is shown only once.
    """
    count = "1 mistake" if len(mistakes) == 1 else f"{len(mistakes)} mistakes"
    lines, first = [f"{has} {count}:"], dict[str, int]()
    for number, mistake in enumerate(mistakes, start=1):
        text, expected, names = str(mistake).partition(" Expected: ")
        seen = first.setdefault(names, number)
        names = f"as in {seen}." if seen < number and len(names) > LONG_LIST else names
        lines.append(f"  {number}. {text}{expected}{names}")
    return "\n".join(lines)


def show(value: Any) -> str:
    """Return a value as a short text for a message."""
    text = repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def unknown_key(key: str, valid: Sequence[str]) -> str:
    """Return the message for an unknown key, with the nearest valid key and all valid keys."""
    return f"unknown key {key!r}.{nearest(key, valid)} Valid keys: {one_of(valid)}."


def one_of(words: Iterable[str]) -> str:
    """Return the words sorted and joined for a message; at most the first 40."""
    every = sorted(map(str, words))
    return ", ".join(every) if len(every) <= 40 else f"{', '.join(every[:40])}, ... ({len(every)} in all)"


def mistakes_of(error: ValidationError, model: type[BaseModel], study: Any) -> list[Mistake]:
    """Convert a validation error of pydantic to mistakes with dotted path, value, and nearest valid key."""
    owners: dict[str, type[BaseModel]] = {}  # by possible names in a location: field, class or kind
    for name, owner in models_in(model):
        kind = owner.model_fields.get("kind")
        tags = get_args(kind.annotation) if kind is not None and get_origin(kind.annotation) is Literal else ()
        owners |= dict.fromkeys([name, owner.__name__, *tags], owner)
    located = [(_dotted(study, item), _owner(item["loc"], owners), item) for item in error.errors(include_url=False)]
    useful = [path for path, _, item in located if not _of_another_type(item)]
    forms: dict[tuple[str, str], dict[tuple[str, str], None]] = {}
    for path, owner, item in located:
        # For a field that is a number or a list of numbers, errors of the other form are not useful.
        if not _of_another_type(item) or not any(f"{other}.".startswith((f"{path}.", f"{path}[")) for other in useful):
            sentence, *form = _reason(item, owner)
            forms.setdefault((path, sentence), {})[tuple(form)] = None  # type: ignore[index]
    lists = {path for path, _, item in located if item["type"] == "list_type"}
    return sorted(Mistake(path, _joined(text, [*each], path in lists)) for (path, text), each in forms.items())


def _joined(sentence: str, forms: Sequence[tuple[str, str]], may_be_list: bool) -> str:
    """Append hints and all valid forms of a value to a sentence; a list is one of the forms if ``may_be_list``."""
    hints, expected = (list(dict.fromkeys(filter(None, each))) for each in zip(*forms, strict=True))
    if expected and may_be_list and not any("list" in form for form in expected):
        expected.append("a list of them")
    return "".join([sentence, *hints, *([f" Expected {'; or '.join(expected)}."] if expected else [])])


def _steps_in(value: Any, loc: Sequence[int | str]) -> Iterator[Any]:
    """Yield the keys on the path to a mistake, without the union tags and missing keys in its pydantic location."""
    for step in loc:
        matches = [(key, inner) for key, inner in _items(value) if key == step or step in (str(key), repr(key))]
        for key, inner in matches[:1]:
            yield key
            value = inner


def _items(value: Any) -> Iterable[tuple[Any, Any]]:
    return value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()


def _of_another_type(item: Any) -> bool:
    kind = item["type"]
    return kind.endswith("_type") or (kind == "literal_error" and isinstance(item["input"], (dict, list)))


def _reason(item: Any, owner: type[BaseModel]) -> tuple[str, str, str]:
    """Return a sentence for an error of pydantic, a hint at the intended value, and the valid form of the value."""
    kind, value, context, message = item["type"], item.get("input"), item.get("ctx") or {}, item["msg"]
    if kind == "extra_forbidden":
        return unknown_key(str(item["loc"][-1]), list(owner.model_fields)), "", ""
    if kind == "missing":
        return "is required but missing.", "", ""
    if kind == "union_tag_invalid":
        tags, tag = [tag.strip("' ") for tag in str(context.get("expected_tags", "")).split(",")], context.get("tag")
        return f"unknown kind {tag!r}.{nearest(tag, tags)} Valid kinds: {one_of(tags)}.", "", ""
    if kind == "union_tag_not_found":
        return "has no key 'kind'; it is required.", "", ""
    if message.startswith("Value error, "):
        return message.removeprefix("Value error, "), "", ""
    if kind == "string_pattern_mismatch":
        return f"invalid name {show(value)}.", "", "lower-case letters, digits, '.', '_' and '-' only"
    sentence = f"invalid value {show(value)}."
    if kind == "literal_error":
        words = [word.strip("' ") for word in str(context.get("expected", "")).replace(" or ", ", ").split(",")]
        return sentence, nearest(value, words), f"one of: {one_of(words)}"
    if kind in ("dict_type", "model_type", "model_attributes_type"):
        return sentence, "", "a mapping of keys to values"
    form = re.sub(r"^(\w+) should have", lambda match: f"a {match[1].lower()} with", message.partition(", unable")[0])
    form = form.removeprefix("Input should be ")
    return sentence, "", f"a number {form}" if form.startswith(("greater", "less")) else form


def _dotted(study: Any, item: Any) -> str:
    missing = [str(item["loc"][-1])] if item["type"] == "missing" else []
    steps = [f"[{step}]" if isinstance(step, int) else str(step) for step in _steps_in(study, item["loc"])]
    return ".".join([*steps, *missing]).replace(".[", "[")


def models_in(annotation: Any, name: str = "") -> Iterator[tuple[str, type[BaseModel]]]:
    """Yield the models of an annotation and of their fields, each with the name of its field."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        yield name, annotation
        for field, info in annotation.model_fields.items():
            yield from models_in(info.annotation, field)
    for part in get_args(annotation):
        yield from models_in(part, name)


def _owner(loc: Sequence[int | str], owners: Mapping[str, type[BaseModel]]) -> type[BaseModel]:
    """Return the model that contains the last key of a location."""
    names = [re.sub(r"^function-\w+\[.*, (\w+)\]$", r"\1", str(step)) for step in loc[:-1]]
    return next((owners[name] for name in reversed(names) if name in owners), owners[""])
