"""Pair protocols as in Labelled Faces in the Wild: do both samples of a pair have the same class?"""

from __future__ import annotations

import os
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd

from mklearn.atomic import write_parquet
from mklearn.datasets.readers.tabular import column_text, read_frame, require_columns, sample_positions
from mklearn.datasets.samples import some
from mklearn.datasets.splits import generator
from mklearn.errors import ConfigError, DataError, NotApplicable


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
        Lengths differ, a position is out of range, a sample is paired with itself, or a fold is empty.
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
        folds = np.unique(self.fold)
        if len(folds) < 2 or not np.array_equal(folds, np.arange(len(folds))):
            raise DataError(f"pairs: folds {some(folds)}; at least two are needed, counted from 0 without a gap")

    def __len__(self) -> int:
        return len(self.first)

    def folds(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """Give (training pairs, test pairs) of each fold as positions into the pairs."""
        for fold in range(int(self.fold.max()) + 1):
            yield np.nonzero(self.fold != fold)[0], np.nonzero(self.fold == fold)[0]

    def save(self, path: str | os.PathLike[str], ids: np.ndarray) -> None:
        """Write a Parquet table for :func:`given_pairs`: columns fold, first, second (ids) and same."""
        ids = np.asarray(ids)
        columns = {"fold": self.fold, "first": ids[self.first], "second": ids[self.second], "same": self.same}
        write_parquet(path, pd.DataFrame(columns), {"n_samples": self.n_samples})


def random_pairs(y: np.ndarray, folds: int, pairs_per_fold: int, seed: int = 0, name: str = "") -> Pairs:
    """Draw random pairs, half of them of the same class, in folds that share no class.

    Parameters
    ----------
    y : (n,) int array
        Class codes. Classes are assigned to folds at random; pairs of a fold are drawn without repetition.
    folds, pairs_per_fold : int
        At least 2 each; `pairs_per_fold` even.
    seed, name
        As in :func:`mklearn.datasets.splits.generator`, with size `folds` and repeat 0.

    Raises
    ------
    NotApplicable
        A fold has too few pairs of either kind.
    ConfigError
        An invalid size.
    """
    y = np.asarray(y)
    if folds < 2 or pairs_per_fold < 2 or pairs_per_fold % 2:
        raise ConfigError(f"folds={folds} must be at least 2, pairs_per_fold={pairs_per_fold} even and at least 2")
    rng = generator(name, folds, 0, seed)
    codes = rng.permutation(np.unique(y))
    half = pairs_per_fold // 2
    chosen: list[np.ndarray] = []
    for fold in range(folds):
        members = np.nonzero(np.isin(y, codes[fold::folds]))[0]
        i, j = np.triu_indices(len(members), k=1)
        candidates = np.stack([members[i], members[j]], axis=1)
        same = y[candidates[:, 0]] == y[candidates[:, 1]]
        for kind, wanted in (("same", same), ("different", ~same)):
            positions = np.nonzero(wanted)[0]
            if len(positions) < half:
                raise NotApplicable(
                    f"pairs: fold {fold} has {len(positions)} pairs of the {kind} class, {half} are needed; "
                    "lower pairs_per_fold or folds"
                )
            chosen.append(candidates[np.sort(rng.choice(positions, half, replace=False))])
    pairs = np.concatenate(chosen)
    fold_of = np.repeat(np.arange(folds), pairs_per_fold)
    return Pairs(pairs[:, 0], pairs[:, 1], y[pairs[:, 0]] == y[pairs[:, 1]], fold_of, len(y))


def given_pairs(path: str | os.PathLike[str], ids: np.ndarray, y: np.ndarray) -> Pairs:
    """Read pairs from a Parquet or CSV file.

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
        stated = frame["same"].map(lambda value: str(value).strip().lower() in ("1", "1.0", "true", "same"))
        differs = np.nonzero(stated.to_numpy(dtype=bool) != same)[0]
        if len(differs):
            raise DataError(f"{path}: column 'same' contradicts the labels in rows {some(differs)}")
    try:
        return Pairs(first, second, same, frame["fold"].to_numpy(dtype=np.int64), len(ids))
    except (DataError, ValueError, TypeError) as error:
        raise DataError(f"{path}: {error}") from error
