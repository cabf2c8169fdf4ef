"""Pair protocols as in Labelled Faces in the Wild: do both samples of a pair have the same class?

With its official lists, parameters are chosen on View 1 (pairsDevTrain and pairsDevTest) and the result is that of the
ten folds of View 2 (pairs.txt). Other lists have folds only.
"""

from __future__ import annotations

import logging
import os
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike

from mklearn.atomic import existing_file
from mklearn.base.pairs import TERMS, ComparedSamples, PairTerm, PairView
from mklearn.base.parameters import ListOf, at_least, constrained, one_of
from mklearn.errors import DataError
from mklearn.study.artefacts import read_table, write_table
from mklearn.study.data.readers.tabular import column_text, read_frame, require_columns, sample_positions, whole_numbers
from mklearn.study.data.samples import check_unique, some
from mklearn.study.data.splits import Split, Splits

CLASSES = ("different", "same")
"""Names of the classes of pairs, by code."""
TRAINS, VALIDATES = -2, -1
"""Folds of the pairs by which parameters are chosen, once for all splits."""
_logger = logging.getLogger(__name__)
_SAME = dict.fromkeys(("1", "1.0", "true", "same", "yes"), True) | dict.fromkeys(
    ("0", "0.0", "false", "different", "no"), False
)
"""Words of the column ``same``, and what they mean."""
_SUFFIX = re.compile(r"(_\d+)\.[^/]*$")


@dataclass(frozen=True, eq=False)
class Pairs:
    """Pairs of samples, which are the samples of a protocol: each fold is the test part of one split.

    Parameters
    ----------
    first, second : (m,) int arrays
        Positions of the two samples.
    y : (m,) int array
        Class codes: 1 for samples of the same class.
    fold : (m,) int array
        Fold of each pair, from 0; ``TRAINS`` and ``VALIDATES`` of pairs by which parameters are chosen.
    comparison : mapping of str to value
        How samples are compared: parameters of :class:`mklearn.base.pairs.ComparedSamples`.
    """

    first: np.ndarray
    second: np.ndarray
    y: np.ndarray
    fold: np.ndarray
    comparison: Mapping[str, Any]

    @property
    def groups(self) -> np.ndarray:
        """The groups that an inner cross-validation holds out: the fold of each pair, (m,)."""
        return self.fold.astype(str)

    @property
    def splits(self) -> Splits:
        """One split for each fold."""
        tested, every = np.flatnonzero(self.fold >= 0), range(int(self.fold.max()) + 1)
        parts = ((tested[self.fold[tested] != fold], tested[self.fold[tested] == fold]) for fold in every)
        return Splits(tuple(Split(0, fold, *part) for fold, part in enumerate(parts)), len(self.fold))

    @property
    def choosing(self) -> Split | None:
        """The pairs by which parameters are chosen, as a split; None without any."""
        train, validation = (np.flatnonzero(self.fold == role) for role in (TRAINS, VALIDATES))
        return Split(0, 0, train, validation) if len(train) else None

    def names(self, ids: np.ndarray) -> np.ndarray:
        """Return the id of each pair, (m,), from the ids of the samples: ``first | second``."""
        return np.array([f"{one} | {other}" for one, other in zip(ids[self.first], ids[self.second], strict=True)])

    def view(self, features: ArrayLike) -> PairView:
        """Return the view of the pairs in one descriptor, given the features of all samples."""
        return PairView(self.first, self.second, ComparedSamples(features, **self.comparison))

    def save(self, path: str | os.PathLike[str], ids: np.ndarray, provenance: Any = None) -> None:
        """Write a Parquet table for :meth:`load`: columns fold, first and second (ids), and same."""
        columns = {"fold": self.fold, "first": ids[self.first], "second": ids[self.second], "same": self.y == 1}
        recorded = {"provenance": dict(provenance)} if provenance else {}
        write_table(path, pd.DataFrame(columns), {"pairs": dict(self.comparison), **recorded})

    @classmethod
    def load(cls, path: str | os.PathLike[str], ids: np.ndarray) -> Pairs:
        """Read a file written by :meth:`save` for the samples with these ids; DataError if one of them is not there."""
        frame, metadata = read_table(path)
        first, second = (sample_positions(frame[name].to_numpy(str), ids, Path(path)) for name in ("first", "second"))
        y, fold = (frame[name].to_numpy(np.int64) for name in ("same", "fold"))
        return cls(first, second, y, fold, metadata["pairs"])


@constrained(
    components=[at_least(1), None],
    square_root=["boolean"],
    whiten=["boolean"],
    unit_length=["boolean"],
    terms=[ListOf(one_of(PairTerm))],
)
def verification(
    target: np.ndarray,
    components: int | None = 200,
    square_root: bool = False,
    whiten: bool = True,
    unit_length: bool = True,
    terms: Sequence[PairTerm] = TERMS,
    *,
    ids: np.ndarray,
    files: Sequence[str | os.PathLike[str]],
    seed: int = 0,
    name: str = "",
    classes: np.ndarray | None = None,
) -> Pairs:
    """Read the pairs of a verification protocol; nothing is random.

    Parameters
    ----------
    target, ids : (n,) arrays of int, of str
        Class codes and ids of the data set.
    components : int or None
        Principal components of each descriptor; None: the features themselves, which are not whitened.
    square_root : bool
        Take the square roots of the features first, as suits histograms; they must not be negative.
    whiten, unit_length : bool
        Give all components the same variance; then bring the components of each sample to length 1.
    terms : list of {"absolute_difference", "product"}
        Features of a pair: |a - b|, a b, or both.
    files : sequence of path
        The list whose folds give the result: a Parquet, CSV or TSV file with the columns ``fold`` (from 0), ``first``
        and ``second`` (ids) and optionally ``same``, or a list in the format of LFW (.txt). With two more lists
        parameters are chosen by training on the one and validating on the other, as in View 1 of LFW.
    seed, name, classes
        Not used: every protocol has them.

    Raises
    ------
    DataError
        An invalid list, or one that names a sample that the data set does not have, or contradicts the labels.
    """
    tested, *choosing = (_pairs_of(Path(path), ids, target) for path in files)
    folds = sorted(set(tested["fold"]))
    if len(folds) < 2 or folds != list(range(len(folds))):
        raise DataError(f"{files[0]}: folds {some(folds)}; at least two are needed, counted from 0 without a gap")
    people = [set(target[rows[["first", "second"]].to_numpy().ravel()]) for _, rows in tested.groupby("fold")]
    if sum(map(len, people)) > len(set().union(*people)):
        _logger.warning("%s: folds share classes, so that test pairs show classes that were trained on", files[0])
    roles = zip(choosing, (TRAINS, VALIDATES), strict=bool(choosing))
    every = pd.concat([tested, *(pairs.assign(fold=role) for pairs, role in roles)])
    first, second, fold = (every[column].to_numpy(np.int64) for column in ("first", "second", "fold"))
    comparison = {"components": components, "square_root": square_root, "whiten": whiten, "unit_length": unit_length}
    y = (target[first] == target[second]).astype(np.int64)
    return Pairs(first, second, y, fold, comparison | {"terms": list(terms)})


def _pairs_of(path: Path, ids: np.ndarray, y: np.ndarray) -> pd.DataFrame:
    pairs = _lfw_list(path, ids, y) if path.suffix == ".txt" else _table(path, ids, y)
    alone = pairs["first"][pairs["first"] == pairs["second"]]
    if len(alone):
        raise DataError(f"{path}: samples paired with themselves: {some(ids[alone])}")
    either_way = pd.Series(map(frozenset, pairs[["first", "second"]].to_numpy().tolist()), dtype=object)
    if either_way.duplicated().any():
        other = int(either_way.duplicated().argmax())
        one = int((either_way == either_way[other]).argmax())
        raise DataError(f"{path}: the same two samples are listed twice, as pair {one + 1} and as pair {other + 1}")
    return pairs


def _lfw_list(path: Path, ids: np.ndarray, y: np.ndarray) -> pd.DataFrame:
    """Read a list in the format of Labelled Faces in the Wild.

    The first line has the number of folds and n, or n alone. Each fold has n lines ``NAME I J`` and then n lines
    ``NAME I OTHER J``, separated by tabs: image I of NAME has the id ``NAME/NAME_000I``, with any suffix.
    """
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
    wrong = np.flatnonzero((y[first] == y[second]) != np.tile(np.repeat([True, False], n), n_folds))
    if len(wrong):
        raise DataError(f"{path}: pairs that contradict the labels, in lines {some(wrong + 2)}")
    return pd.DataFrame({"first": first, "second": second, "fold": np.repeat(np.arange(n_folds), 2 * n)})


def _lfw_names(line: list[str]) -> tuple[str, str]:
    """Return both ids, without suffix, of a line ``NAME I J`` or ``NAME I OTHER J``."""
    if len(line) not in (3, 4):
        raise ValueError(f"line {' '.join(line)!r} has {len(line)} columns; expected 3 or 4")
    name, number, other, last = line if len(line) == 4 else (line[0], line[1], line[0], line[2])
    return f"{name}/{name}_{int(number):04d}", f"{other}/{other}_{int(last):04d}"


def _table(path: Path, ids: np.ndarray, y: np.ndarray) -> pd.DataFrame:
    """Read a Parquet, CSV or TSV file; its column ``same``, if there is one, must agree with the classes."""
    frame = read_frame(path, ("first", "second"))
    require_columns(frame.columns, ("fold", "first", "second"), path)
    first, second = (
        sample_positions(column_text(frame[column], path, column), ids, path) for column in ("first", "second")
    )
    if "same" in frame:
        says = [_SAME.get(str(value).strip().lower()) for value in frame["same"]]
        wrong = np.flatnonzero(np.array(says) != (y[first] == y[second]))
        if len(wrong):
            raise DataError(
                f"{path}: column 'same' contradicts the labels in rows {some(wrong)}; its words are {', '.join(_SAME)}"
            )
    return pd.DataFrame({"first": first, "second": second, "fold": whole_numbers(frame["fold"], path, "fold")})
