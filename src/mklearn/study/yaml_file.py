"""Study files as plain objects, and as YAML. Imports nothing but yaml: a run checks its file before it starts."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import yaml

from mklearn.errors import ConfigError

DEEPEST = 50
"""Nested lists and mappings that a study file may have."""


def read_yaml(path: str | Path) -> Any:
    """Read a YAML file as plain objects.

    ConfigError is raised where it is missing, is not UTF-8 or not YAML, has a key twice, or is nested too deep.
    """
    text = ""
    try:
        text = Path(path).read_text(encoding="utf-8")
        return yaml.load(text, Loader=_StudyLoader)
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file.") from None
    except UnicodeDecodeError as error:
        raise ConfigError(f"{path}: can't be read: {error}; save it as UTF-8.") from None
    except OSError as error:
        raise ConfigError(f"{path}: can't be read: {error}.") from None
    except yaml.reader.ReaderError as error:  # tells the position alone
        before = text[: error.position].split("\n")
        where = f"line {len(before)}, column {len(before[-1]) + 1}"
        raise ConfigError(f"{path}: is not valid YAML: a character that YAML does not allow, at {where}") from None
    except yaml.YAMLError as error:
        message = " ".join(str(error).split()).replace('in "<unicode string>", ', "at ")
        raise ConfigError(f"{path}: is not valid YAML: {message}") from None


def read_study_file(path: str | Path) -> Any:
    """Read a study file as plain objects, with the paths in it from the present folder; see :func:`read_yaml`."""
    return from_folder(read_yaml(path), Path(path).parent)


def from_folder(study: Any, folder: str | Path) -> Any:
    """Return a study of a file in a folder with its paths of data from the present folder; absolute ones stay."""
    place = os.path.relpath(folder)
    if place == os.curdir:
        return study
    return with_paths(study, lambda path: path if os.path.isabs(path) else os.path.relpath(os.path.join(place, path)))


def with_paths(study: Any, changed: Callable[[str], str]) -> Any:
    """Return a study, which need not be valid, with each path of the user's own data and splits changed."""

    def change(value: Any) -> Any:
        if isinstance(value, Mapping):  # of names to files, or a file with an array in it
            return {key: inner if key == "array" else change(inner) for key, inner in value.items()}
        return changed(value) if isinstance(value, str) and value else value

    def section(entries: Any, keys: Collection[str]) -> Any:
        if not isinstance(entries, Mapping):
            return entries
        return {
            name: {key: change(value) if key in keys else value for key, value in entry.items()}
            if isinstance(entry, Mapping) else entry
            for name, entry in entries.items()
        }  # fmt: skip

    if not isinstance(study, Mapping):
        return study
    paths = {"datasets": ("path", "tables", "labels", "matrices"), "protocols": ("path",)}
    return {name: section(value, paths[name]) if name in paths else value for name, value in study.items()}


def yaml_text(config: dict[str, object]) -> str:
    """Return a configuration as YAML, in the order of its keys."""
    return yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=110)


class _StudyLoader(yaml.SafeLoader):
    """Refuses what YAML allows and a study has no use for; everything it raises names line and column.

    Two equal keys in one mapping, of which YAML keeps the last without a message; keys that are no plain values;
    aliases of the list or mapping that they are in; text that can't be written as UTF-8.
    """

    def __init__(self, stream: str) -> None:
        super().__init__(stream)
        self._depth, self._complete = 0, set[int]()

    def compose_node(self, parent: yaml.Node | None, index: int) -> yaml.Node | None:
        mark, is_alias = self.peek_event().start_mark, self.check_event(yaml.AliasEvent)
        self._depth += 1
        node = super().compose_node(parent, index) if self._depth <= DEEPEST else None
        self._depth -= 1
        if node is None:
            raise yaml.composer.ComposerError(None, None, f"nested more than {DEEPEST} deep", mark)
        if is_alias and id(node) not in self._complete:
            raise yaml.composer.ComposerError(None, None, "an alias stands for a list or mapping that it is in", mark)
        self._complete.add(id(node))
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep=deep)
            if isinstance(value, str):
                value.encode()
        # An impossible date, a number of thousands of digits; a tag that the text after it does not fit.
        except (ValueError, OverflowError, AttributeError, LookupError, TypeError) as error:
            raise yaml.constructor.ConstructorError(None, None, f"invalid value: {error}", node.start_mark) from None
        return value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        if not isinstance(node, yaml.MappingNode):  # by a tag of its own
            raise yaml.constructor.ConstructorError(None, None, "expected a mapping", node.start_mark)
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
