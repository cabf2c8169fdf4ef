"""Conversion of study files between YAML and plain objects. The only heavy import is yaml, for a fast check of runs."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import yaml

from mklearn.errors import ConfigError

DEEPEST = 50
"""Largest nesting depth of lists and mappings in a study file."""


def read_yaml(path: str | Path) -> Any:
    """Read a YAML file as plain objects.

    Raise ConfigError if the file is missing, is not UTF-8 or YAML, has a duplicate key, or is nested too deeply.
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
    except yaml.reader.ReaderError as error:  # its message has only the position
        before = text[: error.position].split("\n")
        where = f"line {len(before)}, column {len(before[-1]) + 1}"
        raise ConfigError(f"{path}: is not valid YAML: a character that YAML does not allow, at {where}") from None
    except yaml.YAMLError as error:
        message = " ".join(str(error).split()).replace('in "<unicode string>", ', "at ")
        raise ConfigError(f"{path}: is not valid YAML: {message}") from None


def read_study_file(path: str | Path) -> Any:
    """Read a study file as plain objects, with paths relative to the current folder; see :func:`read_yaml`."""
    return from_folder(read_yaml(path), Path(path).parent)


def from_folder(study: Any, folder: str | Path) -> Any:
    """Return a study with its paths, relative to `folder`, made relative to the current folder; keep absolute paths."""
    place = os.path.relpath(folder)
    if place == os.curdir:
        return study
    return with_paths(study, lambda path: path if os.path.isabs(path) else os.path.relpath(os.path.join(place, path)))


def with_paths(study: Any, changed: Callable[[str], str]) -> Any:
    """Return a study, which may be invalid, with `changed` applied to each path of the user's data and splits."""

    def change(value: Any) -> Any:
        if isinstance(value, Mapping):  # names to files, or a file and the array in it
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
    paths = {"datasets": ("path", "tables", "labels", "matrices"), "descriptors": ("sets",),
             "protocols": ("path",)}  # fmt: skip
    return {name: section(value, paths[name]) if name in paths else value for name, value in study.items()}


def yaml_text(config: dict[str, object]) -> str:
    """Return a configuration as YAML text, with its keys in order."""
    return yaml.safe_dump(config, sort_keys=False, allow_unicode=True, width=110)


class _StudyLoader(yaml.SafeLoader):
    """A loader that rejects YAML that is useless in a study; its errors name line and column.

    It rejects duplicate keys in a mapping, of which YAML silently keeps the last; keys that are not scalars; aliases to
    an enclosing list or mapping; and text that can't be encoded as UTF-8.
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
            raise yaml.composer.ComposerError(None, None, "an alias refers to a list or mapping that contains it", mark)
        self._complete.add(id(node))
        return node

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:
        try:
            value = super().construct_object(node, deep=deep)
            if isinstance(value, str):
                value.encode()
        # An impossible date, a number with thousands of digits, or a value that does not fit its tag.
        except (ValueError, OverflowError, AttributeError, LookupError, TypeError) as error:
            raise yaml.constructor.ConstructorError(None, None, f"invalid value: {error}", node.start_mark) from None
        return value

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        if not isinstance(node, yaml.MappingNode):  # a scalar or sequence with the tag !!map
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
