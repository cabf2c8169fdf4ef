"""Conversion of study files between YAML and plain objects. The only heavy import is yaml, for a fast check of runs."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Collection, Mapping
from pathlib import Path
from typing import Any

import yaml

from mklearn.errors import ConfigError


def read_yaml(path: str | Path) -> Any:
    """Read a YAML file as plain objects.

    Raise ConfigError if the file is missing, is not UTF-8 or YAML, or has a duplicate key.
    """
    text = ""
    try:
        text = Path(path).read_text(encoding="utf-8")
        study = yaml.load(text, Loader=_StudyLoader)
        json.dumps(study, default=str, ensure_ascii=False).encode()  # fails for loops, surrogates and deep nesting
        return study
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
    except (ArithmeticError, AttributeError, LookupError, RecursionError, TypeError, ValueError) as error:
        raise ConfigError(f"{path}: is not valid YAML: {error}") from None


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
    """A loader that rejects duplicate keys in a mapping, of which YAML silently keeps the last."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen = set[str]()
        for key_node, _ in node.value:
            if isinstance(key_node, yaml.ScalarNode) and key_node.tag != "tag:yaml.org,2002:merge":
                if key_node.value in seen:
                    message = f"the key {key_node.value!r} appears twice in one mapping"
                    raise yaml.constructor.ConstructorError(None, None, message, key_node.start_mark)
                seen.add(key_node.value)
        return super().construct_mapping(node, deep=deep)
