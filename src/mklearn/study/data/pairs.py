"""Pair protocols as in Labelled Faces in the Wild: do both samples of a pair have the same class?

With its official lists, parameters are chosen on View 1 (pairsDevTrain and pairsDevTest) and the result is that of the
ten folds of View 2 (pairs.txt). Other lists have folds only.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.atomic import existing_file
from mklearn.base.pairs import Projection
from mklearn.errors import DataError
from mklearn.study.artefacts import read_arrays, read_table, write_arrays, write_table
from mklearn.study.data.readers.tabular import column_text, read_frame, require_columns, sample_positions, whole_numbers
from mklearn.study.data.samples import check_unique, some
from mklearn.study.data.splits import Split, Splits

LABELS = ("different", "same")
"""Names of the classes of pairs, by code."""
SEPARATOR = " | "
"""Between the ids of both samples, in the id of a pair."""
_LISTS = ("test", "choice")
_logger = logging.getLogger(__name__)
_SAME, _DIFFERENT = ("1", "1.0", "true", "same", "yes"), ("0", "0.0", "false", "different", "no")
"""Words of the column ``same``."""
_SUFFIX = re.compile(r"(_\d+)\.[^/]*$")


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of samples in folds; each fold is the test part once, the others the training part.

    Parameters
    ----------
    first, second : (m,) int64 arrays
        Positions of the two samples.
    same : (m,) bool array
        Whether both samples have the same class.
    fold : (m,) int64 array
        Fold of each pair: at least two, counted from 0 without a gap.
    n_samples : int
        Size of the data set.

    Raises
    ------
    DataError
        Lengths differ, a position is out of range, a sample is paired with itself, a pair is listed twice, or a fold is
        empty.
    """

    first: np.ndarray
    second: np.ndarray
    same: np.ndarray
    fold: np.ndarray
    n_samples: int

    def __post_init__(self) -> None:
        lengths = {len(self.first), len(self.second), len(self.same), len(self.fold)}
        if len(lengths) > 1 or lengths == {0}:
            raise DataError(f"pairs: columns of lengths {sorted(lengths)}; expected equal lengths > 0")
        both = np.concatenate([self.first, self.second])
        if both.min() < 0 or both.max() >= self.n_samples:
            raise DataError(f"pairs: positions {both.min()}..{both.max()}, but there are {self.n_samples} samples")
        if (self.first == self.second).any():
            raise DataError(f"pairs: samples paired with themselves: {some(self.first[self.first == self.second])}")
        pairs = np.minimum(self.first, self.second) * self.n_samples + np.maximum(self.first, self.second)
        twice = pd.Series(pairs).duplicated()
        if twice.any():
            one, other = np.flatnonzero(pairs == pairs[twice][0])[:2] + 1
            raise DataError(f"pairs: the same two samples are listed twice, as pair {one} and as pair {other}")
        folds = np.unique(self.fold)
        if len(folds) < 2 or not np.array_equal(folds, np.arange(len(folds))):
            raise DataError(f"pairs: folds {some(folds)}; at least two are needed, counted from 0 without a gap")

    def __len__(self) -> int:
        return len(self.first)

    def folds(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Give (training pairs, test pairs) of each fold as positions into the pairs."""
        for fold in range(int(self.fold.max()) + 1):
            yield np.nonzero(self.fold != fold)[0], np.nonzero(self.fold == fold)[0]


@dataclass(frozen=True, eq=False)
class PairLists:
    """The pairs of a protocol, as samples of two classes (different and same), with their splits.

    Positions in the splits are those of pairs: first those of ``tested``, then those of ``choosing``.

    Parameters
    ----------
    tested : Pairs
        Each fold is the test part of one split.
    choosing : Pairs, optional
        Two folds by which parameters are chosen, once for all splits: fold 0 trains, fold 1 validates.

    Raises
    ------
    DataError
        The lists are of different data sets, or ``choosing`` has more than two folds.
    """

    tested: Pairs
    choosing: Pairs | None = None

    def __post_init__(self) -> None:
        if self.choosing is None:
            return
        if self.choosing.n_samples != self.tested.n_samples:
            raise DataError(f"pairs: lists of {self.tested.n_samples} and of {self.choosing.n_samples} samples")
        if self.choosing.fold.max() > 1:
            raise DataError(f"pairs that choose parameters: {self.choosing.fold.max() + 1} folds; expected 2")

    def _both(self, name: str) -> np.ndarray:
        lists = [self.tested] if self.choosing is None else [self.tested, self.choosing]
        return np.concatenate([getattr(pairs, name) for pairs in lists])

    @cached_property
    def first(self) -> np.ndarray:
        """Positions of the first samples of all pairs, (m,)."""
        return self._both("first")

    @cached_property
    def second(self) -> np.ndarray:
        """Positions of the second samples of all pairs, (m,)."""
        return self._both("second")

    def samples_of(self, pairs: np.ndarray) -> np.ndarray:
        """Return the samples of some pairs, ascending."""
        return np.unique([self.first[pairs], self.second[pairs]])

    @cached_property
    def y(self) -> np.ndarray:
        """Class codes of all pairs, (m,): 1 for samples of the same class."""
        return self._both("same").astype(np.int64)

    @cached_property
    def groups(self) -> np.ndarray:
        """Name of the fold of each pair, (m,): the groups that an inner cross-validation holds out."""
        n_choosing = 0 if self.choosing is None else len(self.choosing)
        return np.concatenate([self.tested.fold.astype(str), np.full(n_choosing, "choice")])

    @cached_property
    def splits(self) -> Splits:
        """One split for each fold of ``tested``."""
        folds = enumerate(self.tested.folds())
        return Splits(tuple(Split(0, fold, train, test) for fold, (train, test) in folds), len(self.first))

    @property
    def choosing_split(self) -> Split | None:
        """The split of ``choosing``; None without it."""
        if self.choosing is None:
            return None
        positions = len(self.tested) + np.arange(len(self.choosing))
        return Split(0, 0, *(positions[self.choosing.fold == fold] for fold in (0, 1)))

    def names(self, ids: np.ndarray) -> np.ndarray:
        """Return the id of each pair, (m,), from the ids of the samples: ``first | second``."""
        ids = np.asarray(ids)
        named = zip(ids[self.first].tolist(), ids[self.second].tolist(), strict=True)
        return np.array([SEPARATOR.join(pair) for pair in named], dtype=str)

    def save(self, path: str | os.PathLike[str], ids: np.ndarray, provenance: Any = None) -> None:
        """Write a Parquet table for :meth:`load`: columns list, fold, first and second (ids), and same."""
        lists = [self.tested] if self.choosing is None else [self.tested, self.choosing]
        columns = {"list": np.repeat(_LISTS[: len(lists)], [len(pairs) for pairs in lists]), "fold": self._both("fold")}
        ids = np.asarray(ids)
        columns |= {"first": ids[self.first], "second": ids[self.second], "same": self._both("same")}
        recorded = {"provenance": dict(provenance)} if provenance else {}
        write_table(path, pd.DataFrame(columns), {"pairs": True, "n_samples": self.tested.n_samples, **recorded})

    @classmethod
    def load(cls, path: str | os.PathLike[str], ids: np.ndarray) -> PairLists:
        """Read a file written by :meth:`save` for the samples with these ids.

        Raises
        ------
        DataError
            Not such a file, or made for other samples.
        """
        frame, metadata = read_table(path)
        if "pairs" not in metadata:
            raise DataError(f"{path}: not a file of pairs written by mklearn")
        if metadata["n_samples"] != len(ids):
            raise DataError(f"{path}: made for other samples than those of the data set; delete it and run again")
        lists = []
        for name in _LISTS:
            rows = frame[frame["list"] == name]
            if len(rows):
                first, second = (
                    sample_positions(rows[column].to_numpy(str), ids, Path(path)) for column in ("first", "second")
                )
                same, fold = rows["same"].to_numpy(bool), rows["fold"].to_numpy(np.int64)
                lists.append(Pairs(first, second, same, fold, len(ids)))
        return cls(*lists)


def verification(
    target: np.ndarray,
    *,
    ids: np.ndarray,
    files: Sequence[str | os.PathLike[str]],
    seed: int = 0,
    name: str = "",
    classes: np.ndarray | None = None,
) -> PairLists:
    """Read the pairs of a verification protocol; nothing is random.

    Parameters
    ----------
    target, ids : (n,) arrays of int, of str
        Class codes and ids of the data set.
    files : sequence of path
        The list whose folds give the result. Optionally two more in the format of LFW, of one fold each: parameters are
        chosen by training on the first and validating on the second, as in View 1 of LFW.
    seed, name, classes
        Not used: every protocol has them.

    Raises
    ------
    DataError
        No list, or not one or three; an invalid list, or one that names a sample that the data set does not have.
    """
    paths = [Path(path) for path in files]
    if len(paths) not in (1, 3):
        raise DataError(f"verification takes one list of pairs, or three as LFW has them; got {len(paths)}")
    ids, y = np.asarray(ids), np.asarray(target)
    clash = [sample for sample in ids.tolist() if SEPARATOR in sample]
    if clash:
        raise DataError(f"verification: ids must not contain {SEPARATOR!r}: {some(clash)}")
    read = lfw_pairs if paths[0].suffix == ".txt" else given_pairs
    tested = read(paths[0], ids, y)
    people = [set(y[np.r_[tested.first[test], tested.second[test]]]) for _, test in tested.folds()]
    if sum(map(len, people)) > len(set().union(*people)):
        _logger.warning("%s: folds share classes, so that test pairs show classes that were trained on", paths[0])
    if len(paths) == 1:
        return PairLists(tested)
    training, validation = (_lfw_rows(path, ids, y) for path in paths[1:])
    first, second, same = (np.concatenate(columns) for columns in zip(training[:3], validation[:3], strict=True))
    fold = np.repeat([0, 1], [len(training[0]), len(validation[0])])
    return PairLists(tested, Pairs(first, second, same, fold, len(ids)))


def lfw_pairs(path: str | os.PathLike[str], ids: np.ndarray, y: np.ndarray) -> Pairs:
    """Read a list in the format of Labelled Faces in the Wild.

    The first line has the number of folds and n, or n alone. Each fold has n lines ``NAME I J`` and then n lines
    ``NAME I OTHER J``, separated by tabs: image I of NAME has the id ``NAME/NAME_000I``, with any suffix.

    Raises
    ------
    DataError
        Another format, a sample that the data set does not have, or a line that contradicts the labels; the message
        names the file.
    """
    path = Path(path)
    first, second, same, fold = _lfw_rows(path, np.asarray(ids), np.asarray(y))
    try:
        return Pairs(first, second, same, fold, len(ids))
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def _lfw_rows(path: Path, ids: np.ndarray, y: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Read first, second, same and fold of the pairs of a list in the format of LFW."""
    existing_file(path)
    try:
        lines = [line.split("\t") for line in path.read_text(encoding="utf-8").splitlines() if line.strip()]
        sizes = [int(number) for number in lines[0]] if lines else []
        named = [_lfw_names(line) for line in lines[1:]]
    except ValueError as error:  # of int, and of characters
        raise DataError(f"{path}: not a list of pairs as LFW has them ({error})") from error
    if len(sizes) not in (1, 2) or min(sizes) < 1:
        raise DataError(f"{path}: the first line must have the number of folds and of pairs of each kind in a fold")
    n_folds, n = (1, *sizes)[-2:]
    if len(named) != 2 * n * n_folds:
        raise DataError(f"{path}: {len(named)} pairs; the first line says {n_folds} x 2 x {n}")
    stems = np.array([_SUFFIX.sub(r"\1", name) for name in ids.tolist()])
    check_unique(stems, f"{path}: names of images without suffix")
    first, second = (sample_positions(np.array(names), stems, path) for names in zip(*named, strict=True))
    same = np.tile(np.repeat([True, False], n), n_folds)
    wrong = np.flatnonzero((y[first] == y[second]) != same)
    if len(wrong):
        raise DataError(f"{path}: pairs that contradict the labels, in lines {some(wrong + 2)}")
    return first, second, same, np.repeat(np.arange(n_folds), 2 * n)


def _lfw_names(line: list[str]) -> tuple[str, str]:
    """Return both ids, without suffix, of a line ``NAME I J`` or ``NAME I OTHER J``."""
    if len(line) not in (3, 4):
        raise ValueError(f"line {' '.join(line)!r} has {len(line)} columns; expected 3 or 4")
    name, number, other, last = line if len(line) == 4 else (line[0], line[1], line[0], line[2])
    return f"{name}/{name}_{int(number):04d}", f"{other}/{other}_{int(last):04d}"


def given_pairs(path: str | os.PathLike[str], ids: np.ndarray, y: np.ndarray) -> Pairs:
    """Read pairs from a Parquet, CSV or TSV file.

    Parameters
    ----------
    path : path
        Columns ``fold`` (from 0), ``first`` and ``second`` (ids), optionally ``same``, which must agree with the
        classes.
    ids, y : (n,) arrays of str, of int
        Ids and class codes of the data set.

    Raises
    ------
    DataError
        A column is missing, an id is unknown, or ``same`` contradicts the labels; the message names the file.
    """
    path = Path(path)
    frame = read_frame(path, ("first", "second"))
    require_columns(frame.columns, ("fold", "first", "second"), path)
    first, second = (
        sample_positions(column_text(frame[column], path, column), ids, path) for column in ("first", "second")
    )
    same = np.asarray(y)[first] == np.asarray(y)[second]
    if "same" in frame:
        words = frame["same"].map(lambda value: str(value).strip().lower())
        unknown = words[~words.isin((*_SAME, *_DIFFERENT))]
        if len(unknown):
            valid = ", ".join((*_SAME, *_DIFFERENT))
            raise DataError(f"{path}: column 'same' has {some(unknown.unique())}; valid: {valid}")
        differs = np.nonzero(words.isin(_SAME).to_numpy(dtype=bool) != same)[0]
        if len(differs):
            raise DataError(f"{path}: column 'same' contradicts the labels in rows {some(differs)}")
    fold = whole_numbers(frame["fold"], path, "fold")
    try:
        return Pairs(first, second, same, fold, len(ids))
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


# --- projections of samples, which the step `project` computes once for all methods on a protocol's pairs


def save_projections(path: str | os.PathLike[str], projections: Sequence[Projection], stamp: Mapping[str, Any]) -> None:
    """Write the projections of a protocol's splits by one descriptor: arrays such as ``3/values``, by split."""
    arrays = {
        f"{number}/{part.name}": getattr(projection, part.name)
        for number, projection in enumerate(projections)
        for part in fields(Projection)
    }
    write_arrays(path, stamp, **arrays)


def load_projections(path: str | os.PathLike[str]) -> list[Projection]:
    """Read a file written by :func:`save_projections`; DataError if it is damaged."""
    held = read_arrays(path)
    numbers = sorted({int(name.split("/")[0]) for name in held if "/" in name})
    return [Projection(*(held[f"{number}/{part.name}"] for part in fields(Projection))) for number in numbers]
