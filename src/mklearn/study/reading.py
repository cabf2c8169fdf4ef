"""Read and check a study file: all mistakes at once."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from mklearn.errors import ConfigError
from mklearn.study.mistakes import Mistake, mistakes_of, show
from mklearn.study.model import Study
from mklearn.study.references import broken_references
from mklearn.study.registry import check_packages

DEEPEST = 50
LARGEST = 300_000
"""Limits of a study file: nested lists and mappings, and values with every alias written out."""


def read_study(path: str | Path) -> Study:
    """Read and check a study file.

    Raises
    ------
    ConfigError
        If the file is missing, is not YAML, or has mistakes: all of them are listed.
    """
    return check_study(read_yaml(path), source=str(path))


def read_yaml(path: str | Path) -> Any:
    """Read a YAML file as plain objects.

    Raises
    ------
    ConfigError
        If the file is missing, is not UTF-8 or not YAML, has a key twice in one mapping, or is nested too deep.
    """
    try:
        return yaml.load(Path(path).read_text(encoding="utf-8"), Loader=_StudyLoader)
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file.") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: can't be read: {error}; save it as UTF-8.") from None
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error}.") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: is not valid YAML: {' '.join(str(error).split())}") from None


class _StudyLoader(yaml.SafeLoader):
    """Refuses what YAML allows and a study has no use for; everything it raises names line and column.

    Two equal keys in one mapping, of which YAML keeps the last without a message; keys that are no plain values;
    aliases that stand for more than `LARGEST` values, or for what they are in; text that can't be written as UTF-8.
    """

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth = 0
        self._sizes: dict[int, int] = {}

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        mark, is_alias = self.peek_event().start_mark, self.check_event(yaml.AliasEvent)
        self._depth += 1
        node = super().compose_node(parent, index) if self._depth <= DEEPEST else None
        self._depth -= 1
        if node is None:
            raise yaml.composer.ComposerError(None, None, f"nested more than {DEEPEST} deep", mark)
        if not is_alias:
            parts = node.value if isinstance(node, yaml.CollectionNode) else []
            if isinstance(node, yaml.MappingNode):
                parts = [part for pair in parts for part in pair]
            self._sizes[id(node)] = 1 + sum(self._sizes[id(part)] for part in parts)
        if id(node) not in self._sizes:
            raise yaml.composer.ComposerError(None, None, "an alias stands for a list or mapping that it is in", mark)
        if self._sizes[id(node)] > LARGEST:
            what = f"more than {LARGEST:,} values, with every alias written out"
            raise yaml.composer.ComposerError(None, None, what, mark)
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep=deep)
            if isinstance(value, str):
                value.encode()
        except (ValueError, OverflowError) as error:  # an impossible date, a number of thousands of digits
            raise yaml.constructor.ConstructorError(None, None, f"invalid value: {error}", node.start_mark) from None
        return value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
            if not isinstance(key_node, yaml.ScalarNode):
                raise yaml.constructor.ConstructorError(None, None, "a key is a list or mapping", key_node.start_mark)
            name = key_node.value
            if key_node.tag != "tag:yaml.org,2002:merge" and name in seen:
                raise yaml.constructor.ConstructorError(
                    None, None, f"the key {name!r} appears twice in one mapping", key_node.start_mark
                )
            seen.add(name)
        return super().construct_mapping(node, deep=deep)


def check_study(raw: Any, source: str = "config") -> Study:
    """Make a study from plain objects.

    Raises
    ------
    ConfigError
        One line per mistake: dotted path, what was found, what is expected, the nearest valid key. Or a package that
        adds to mklearn can't be loaded.
    """
    check_packages()
    if not isinstance(raw, Mapping):
        raise ConfigError(f"{source}: a study is a mapping of keys to values; found {show(raw)}.")
    raw = dict(raw)
    mistakes: list[Mistake] = []
    study: Study | None = None
    try:
        study = Study.model_validate(raw)
    except ValidationError as error:
        mistakes += mistakes_of(error, Study)
    mistakes += broken_references(raw)
    if study is not None:
        mistakes += [*_published_mistakes(study), *_booleans_as_numbers(raw, study.model_dump())]
    if mistakes or study is None:
        lines = [f"  {number}. {mistake}" for number, mistake in enumerate(sorted(set(mistakes)), start=1)]
        count = "1 mistake" if len(lines) == 1 else f"{len(lines)} mistakes"
        raise ConfigError(f"{source} has {count}:\n" + "\n".join(lines))
    return study


def _booleans_as_numbers(given: Any, read: Any, path: str = "") -> Iterator[Mistake]:
    """Find booleans that the models take for 1 and 0."""
    if isinstance(given, Mapping) and isinstance(read, Mapping):
        for key in given.keys() & read.keys():
            yield from _booleans_as_numbers(given[key], read[key], f"{path}.{key}".lstrip("."))
    elif isinstance(given, list) and isinstance(read, list | tuple):
        for number, pair in enumerate(zip(given, read, strict=False)):
            yield from _booleans_as_numbers(*pair, f"{path}[{number}]")
    elif isinstance(given, bool) and isinstance(read, int | float) and not isinstance(read, bool):
        yield Mistake(path, f"invalid value {given}: expected a number; YAML reads yes, no, on, off as booleans.")


def _published_mistakes(study: Study) -> list[Mistake]:
    """Find published values of metrics that the study does not report, and cells with two values."""
    reported = study.evaluation.metrics
    mistakes = [
        Mistake(
            f"published[{number}].metric", f"{entry.metric!r} is not among evaluation.metrics: {', '.join(reported)}."
        )
        for number, entry in enumerate(study.published)
        if entry.metric not in reported
    ]
    first: dict[tuple[Any, ...], int] = {}
    for number, entry in enumerate(study.published):
        for cell in entry.cells():
            key = (cell.dataset, cell.train_size, cell.method, cell.protocol, cell.neighbour, cell.metric)
            if key in first:
                size = "" if cell.train_size is None else f", training size {cell.train_size}"
                where = f"{cell.dataset}{size}, {cell.method}"
                text = f"{where} has a value already, in published[{first[key]}]."
                mistakes.append(Mistake(f"published[{number}]", text))
            first.setdefault(key, number)
    return mistakes
