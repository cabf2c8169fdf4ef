"""Shared by readers of registered data sets: one input file, the sha256 of what is decoded, ids, released splits."""

from __future__ import annotations

import hashlib
import itertools
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.atomic import existing_file
from mklearn.errors import ConfigError, DataError, UserError


def only_path(paths: Mapping[str, Path]) -> Path:
    """Return the single file of a reader that takes one."""
    if len(paths) != 1:
        raise DataError(f"the reader takes one file, got {len(paths)}: {', '.join(map(str, paths.values()))}")
    return existing_file(next(iter(paths.values())))


def read_each(read: Callable[[Any], Any], names: Iterable[Any], most: int | None = None) -> dict[Any, Any]:
    """Read each file, and raise what is wrong with all of them at once, of more than `most` with their number."""
    contents, mistakes = {}, list[str]()
    for name in names:
        try:
            contents[name] = read(name)
        except UserError as error:
            mistakes.append(str(error))
    if mistakes:
        distinct = list(dict.fromkeys(mistakes))
        more = f"; ... ({len(distinct)} in all)" if len(distinct) > (most or len(distinct)) else ""
        raise DataError("; ".join(distinct[:most]) + more)
    return contents


def check_content(array: np.ndarray, expected: str | None, source: Path | str) -> None:
    """Raise DataError if the sha256 of an array's C-ordered bytes is not the expected one, if any."""
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest() if expected else None
    if digest != expected:
        raise DataError(
            f"{source}: its content is not that of the registered data set (sha256 of the decoded values: expected "
            f"{expected}, got {digest}): another crop, scaling or order. Delete the file, and run again to download it"
        )


def number_within_class(labels: Iterable[str]) -> np.ndarray:
    """Build ids "label/k", k = 1, 2, ... in the order of appearance."""
    counters: defaultdict[str, Iterator[int]] = defaultdict(lambda: itertools.count(1))
    return np.array([f"{label}/{next(counters[label])}" for label in labels])


def published_test_part(path: Path, ids: np.ndarray) -> list[np.ndarray]:
    """Return the test part of data sets whose ids begin with "train/" and "test/"; `path` is not read."""
    test = np.char.startswith(ids, "test/")
    if test.all() or not test.any():
        raise ConfigError(
            f"protocol released: all {len(ids)} samples are of the {'test' if test.any() else 'training'} part of the "
            "data set; `per_class` takes the first samples of a class: draw them at random, with `draw: 0`"
        )
    return [ids[test]]


def published_folds(path: Path, ids: np.ndarray) -> list[np.ndarray]:
    """Return the test part of each fold in the column ``fold`` of a data set's table of samples, by number."""
    import pandas as pd

    frame = pd.read_csv(path, dtype={"id": str})
    folds = [frame.loc[frame["fold"].eq(number), "id"] for number in sorted(frame["fold"].unique())]
    return [ids[np.isin(ids, fold.to_numpy(dtype=str))] for fold in folds]
