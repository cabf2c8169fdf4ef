"""Readable messages for the mistakes that pydantic finds in a study file."""

from __future__ import annotations

import re
import types
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from mklearn.errors import nearest

Model = TypeVar("Model", bound=BaseModel)
Path = tuple[str, ...]
"""Keys on the way to a value, and positions in lists."""
_TAG = re.compile(r"(dict|list|literal|tuple)\[.*\]$")
"""Pydantic's names for members of a union that are no models; no key of a user has brackets."""
_VALIDATED = re.compile(r"function-\w+\[.*, (\w+)\]$")
"""Pydantic's name for a member of a union that is a model with a validator of the whole."""

GIVEN = "given"
"""Field that holds the parameters of an entry, which a study gives beside the options."""
LONG_LIST = 100
"""Characters of a list of names that a message has once."""


@dataclass(frozen=True, order=True)
class Mistake:
    """One mistake in a study file: where (a dotted path), what was found, and what is expected."""

    path: str
    message: str

    def __str__(self) -> str:
        return f"{self.path or '(top level)'}: {self.message}"


def listed(has: str, mistakes: Collection[object]) -> str:
    """Return the message of an error with all mistakes, numbered, after a text such as ``study.yaml has``.

    A long list of names that are valid stands once.
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
    """Say that there is no such key, which one may be meant, and which there are."""
    return f"unknown key {key!r}.{nearest(key, valid)} Valid keys: {one_of(valid)}."


def one_of(words: Iterable[str]) -> str:
    """Return the words as a sorted list for a message; the first 40 of many."""
    every = sorted(map(str, words))
    return ", ".join(every) if len(every) <= 40 else f"{', '.join(every[:40])}, ... ({len(every)} in all)"


def mistakes_of(error: ValidationError, model: type[BaseModel]) -> list[Mistake]:
    """Return all that pydantic found, each with its dotted path, the value, and the nearest valid key."""
    located = [(*_walk(model, item["loc"]), item) for item in error.errors(include_url=False)]
    useful = [path for path, _, item in located if not _of_another_type(item)]
    found: dict[tuple[str, str], dict[str, None]] = {}
    for path, owner, item in located:
        # A field may be a number or a list of numbers: errors of the form that was not meant say nothing useful.
        if not _of_another_type(item) or not any(other.startswith(path) for other in useful):
            sentence, value = _sentence(item, owner), f"invalid value {show(item.get('input'))}"
            value = value if sentence.startswith(value) else sentence
            found.setdefault((path, value), {})[sentence.removeprefix(value)] = None
    lists = {path for path, _, item in located if item["type"] == "list_type"}
    return sorted(Mistake(path, _joined(value, list(forms), path in lists)) for (path, value), forms in found.items())


def _joined(value: str, forms: list[str], may_be_list: bool) -> str:
    """Make one sentence of what is said of one value with several legal forms, and name a list among these."""
    if forms == [""] or (len(forms) == 1 and not may_be_list):
        return value + forms[0]
    meant, named = zip(*map(_hint_and_form, forms), strict=True)
    more = ["a list of them"] if may_be_list and not any("list" in form for form in named) else []
    return f"{value}.{''.join(dict.fromkeys(meant))} Expected {'; or '.join([*named, *more])}."


def _hint_and_form(text: str) -> tuple[str, str]:
    """Return the hint and what is expected, of the end of a sentence: " Did you mean 'a'?" and ``one of: a, b``."""
    hint, expected, form = text.partition(" Expected ")
    form = form if expected else text.removeprefix(": ").removeprefix("should be ")
    form = form.removesuffix(".").partition(", unable")[0]
    return hint.removeprefix(".") if expected else "", f"a number {form}" if form.startswith(
        ("greater", "less")
    ) else form


def valid_part(model: type[Model], given: Any) -> tuple[Model, set[Path]]:
    """Validate without the values that are invalid; return also their paths. All fields need defaults."""
    left_out: set[Path] = set()
    while True:
        try:
            return model.model_validate(given), left_out
        except ValidationError as error:
            paths = {_path_in(given, item["loc"]) for item in error.errors(include_url=False, include_context=False)}
            left_out |= paths
            given = {} if () in paths else _without(given, paths)


def _path_in(value: Any, loc: tuple[int | str, ...]) -> Path:
    """Return the keys on the way to a mistake; its location also has tags of unions, and missing keys."""
    path: list[str] = []
    for step in loc:
        found = [(key, inner) for key, inner in _items(value) if key == step or step in (str(key), repr(key))]
        for key, inner in found[:1]:
            path.append(str(key))
            value = inner
    return tuple(path)


def _without(value: Any, paths: set[Path]) -> Any:
    if not paths:
        return value
    kept = {
        key: _without(inner, {path[1:] for path in paths if path[0] == str(key)})
        for key, inner in _items(value)
        if (str(key),) not in paths
    }
    return list(kept.values()) if isinstance(value, list) else kept


def _items(value: Any) -> Iterable[tuple[Any, Any]]:
    return value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()


def _of_another_type(item: Any) -> bool:
    kind = item["type"]
    return kind.endswith("_type") or (kind == "literal_error" and isinstance(item["input"], (dict, list)))


def _sentence(item: Any, owner: type[BaseModel] | None) -> str:
    kind, value, context = item["type"], item.get("input"), item.get("ctx") or {}
    if kind == "extra_forbidden":
        key = str(item["loc"][-1])
        return unknown_key(key, list(owner.model_fields) if owner is not None else [])
    if kind == "missing":
        return "is required but missing."
    if kind == "union_tag_invalid":
        tags = [tag.strip("' ") for tag in str(context.get("expected_tags", "")).split(",")]
        tag = context.get("tag")
        return f"unknown kind {tag!r}.{nearest(tag, tags)} Valid kinds: {one_of(tags)}."
    if kind == "union_tag_not_found":
        return "has no key 'kind'; it is required."
    if kind == "literal_error":
        expected = str(context.get("expected", ""))
        words = [word.strip("' ") for word in expected.replace(" or ", ", ").split(",")]
        return f"invalid value {show(value)}.{nearest(value, words)} Expected one of: {one_of(words)}."
    if kind == "string_pattern_mismatch":
        return f"invalid name {show(value)}: expected lower-case letters, digits, '.', '_' and '-' only."
    if kind in ("dict_type", "model_type", "model_attributes_type"):
        return f"invalid value {show(value)}: should be a mapping of keys to values."
    message = item["msg"]
    if message.startswith("Value error, "):
        return message.removeprefix("Value error, ")
    message = message.removeprefix("Input ")
    return f"invalid value {show(value)}: {message[0].lower()}{message[1:]}."


def _walk(model: type[BaseModel], loc: Sequence[int | str]) -> tuple[str, type[BaseModel] | None]:
    """Follow an error's location through the models; return its path without union tags, and the model of the key."""
    annotation: Any = model
    owner: type[BaseModel] | None = model
    path: list[str] = []
    for number, step in enumerate(loc):
        if step == GIVEN and owner is not None and GIVEN in owner.model_fields and annotation is owner:
            annotation = owner.model_fields[GIVEN].annotation
            continue
        annotation, is_tag = _descend(annotation, step)
        annotation = _unwrap(annotation)
        if isinstance(annotation, type) and issubclass(annotation, BaseModel) and is_tag:
            owner = annotation
        if not is_tag:
            path.append(f"[{step}]" if isinstance(step, int) else str(step))
        if number < len(loc) - 1 and isinstance(annotation, type) and issubclass(annotation, BaseModel):
            owner = annotation
    return ".".join(path).replace(".[", "["), owner


def _descend(annotation: Any, step: int | str) -> tuple[Any, bool]:
    """Go one step down an annotation; return what lies there, and whether the step was only a union's tag."""
    annotation = _unwrap(annotation)
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        field = annotation.model_fields.get(str(step))
        return (field.annotation if field is not None else None), False
    origin, arguments = get_origin(annotation), get_args(annotation)
    if origin in (Union, types.UnionType):
        if isinstance(step, str) and _TAG.match(step):
            return annotation, True
        members = [_unwrap(member) for member in arguments]
        if isinstance(step, str) and (validated := _VALIDATED.match(step)):
            step = validated[1]
        for member in members:
            if isinstance(member, type) and issubclass(member, BaseModel) and step in (_tag(member), member.__name__):
                return member, True
        for member in members:
            inner, is_tag = _descend(member, step)
            if inner is not None and not is_tag:
                return inner, False
        return annotation, True
    if origin is dict:
        return (annotation if step == "[key]" else arguments[1]), step == "[key]"
    if origin in (list, tuple):
        return (arguments[0] if isinstance(step, int) else annotation), not isinstance(step, int)
    return None, isinstance(step, str)


def _unwrap(annotation: Any) -> Any:
    while get_origin(annotation) is Annotated:
        annotation = get_args(annotation)[0]
    if get_origin(annotation) in (Union, types.UnionType):
        rest = [a for a in get_args(annotation) if a is not type(None)]
        if len(rest) == 1:
            return _unwrap(rest[0])
    return annotation


def _tag(model: type[BaseModel]) -> str | None:
    field = model.model_fields.get("kind")
    return get_args(field.annotation)[0] if field is not None and get_origin(field.annotation) is Literal else None
