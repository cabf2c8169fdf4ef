"""Read and check a study file: all mistakes at once."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml
from pydantic import ValidationError

from mklearn.errors import ConfigError
from mklearn.study.mistakes import Mistake, mistakes_of, show
from mklearn.study.model import Study
from mklearn.study.references import broken_references
from mklearn.study.registry import check_packages


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
        If the file is missing, is not YAML, or has a key twice in one mapping.
    """
    try:
        return yaml.load(Path(path).read_text(encoding="utf-8"), Loader=_UniqueKeys)
    except FileNotFoundError:
        raise ConfigError(f"{path}: there is no such file.") from None
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{path}: can't be read: {error}.") from None
    except yaml.YAMLError as error:
        raise ConfigError(f"{path}: is not valid YAML: {' '.join(str(error).split())}") from None


class _UniqueKeys(yaml.SafeLoader):
    """Refuses two equal keys in one mapping, of which YAML keeps the last without a message."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        seen: set[Any] = set()
        for key_node, _ in node.value:
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
    mistakes += _published_mistakes(study) if study is not None else []
    if mistakes or study is None:
        lines = [f"  {number}. {mistake}" for number, mistake in enumerate(sorted(set(mistakes)), start=1)]
        count = "1 mistake" if len(lines) == 1 else f"{len(lines)} mistakes"
        raise ConfigError(f"{source} has {count}:\n" + "\n".join(lines))
    return study


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
