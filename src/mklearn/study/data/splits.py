"""Splits of samples into training and test parts, drawn from a seed or read from a file.

Seed policy: every repeat has its own generator, ``default_rng([crc32(data set's name), size, repeat, seed])``, where
`size` is the number of training samples per class or of folds. The name is the registry's, or for a user's own data the
study's; variants of a data set with one name and the same labels have the same splits. A split thus depends on these
four only: more repeats do not change the first ones, and all methods see the same splits of a data set. (NumPy ignores
a trailing 0: with seed 0 the splits are those of ``default_rng([crc32(name), size, repeat])``.)
"""

from __future__ import annotations

import itertools
import os
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.base.folds import number_folds
from mklearn.base.parameters import ListOf, at_least, constrained, from_to
from mklearn.errors import DataError, NotApplicable
from mklearn.rows import load
from mklearn.study.artefacts import read_table, write_table
from mklearn.study.data.readers.tables import column_text, read_frame, sample_positions, whole_numbers
from mklearn.study.data.samples import some, target_of

ROLES = ("train", "validation", "test")
CHOICE = -1
"""Number, in files, of the repeat of samples that only serve the choice of parameters."""


@dataclass(frozen=True, eq=False)
class Split:
    """One division of the samples into a training part, a test part and sometimes a validation part.

    Parts are (k,) int64 arrays of positions of samples, ascending and disjoint. `repeat` and `fold` are counted from 0;
    `fold` is 0 where there are no folds. `train_size` is the number of training samples per class, where the protocol
    has such sizes. By the samples in `validation` parameters are chosen: on all splits of the same repeat, training
    size and test part together, which are then models of one draw.
    """

    repeat: int
    fold: int
    train: np.ndarray
    test: np.ndarray
    train_size: int | None = None
    validation: np.ndarray | None = None

    @property
    def parts(self) -> list[tuple[str, np.ndarray]]:
        """The parts that the split has, with their roles."""
        return [(role, part) for role in ROLES if (part := getattr(self, role)) is not None]

    def converted(self, convert: Callable[[np.ndarray], np.ndarray]) -> Split:
        """Return the split with each of its parts converted."""
        parts: dict[str, Any] = {role: convert(part) for role, part in self.parts}
        return replace(self, **parts)

    @property
    def name(self) -> str:
        """Description for messages."""
        size = "" if self.train_size is None else f"training size {self.train_size}, "
        return f"{size}repeat {self.repeat}, fold {self.fold}"


@dataclass(frozen=True, eq=False)
class Splits:
    """The splits of one protocol on one data set of `n_samples`: positions lie in 0..n_samples-1.

    DataError: no splits; an empty part; a position out of range, repeated, or in two parts; two splits of the same
    training size, repeat and fold; a validation part in some splits and not in all.
    """

    splits: tuple[Split, ...]
    n_samples: int
    choosing: tuple[np.ndarray, np.ndarray] | None = None
    """Training and validation samples by which the parameters of all splits are chosen."""
    samples: Any = None
    """Samples that are composed of those of the data set, such as pairs of them: `mklearn.papers.fsvm.pairs.Pairs`
    shows what they need. The positions are then theirs."""

    def __post_init__(self) -> None:
        if not self.splits:
            raise DataError("splits: none given")
        if len({split.validation is None for split in self.splits}) > 1:
            raise DataError("splits: some have a validation part and others have none; give all of them one, or none")
        seen = set()
        for split in self.splits:
            where = f"splits: {split.name}"
            if (split.train_size, split.repeat, split.fold) in seen:
                raise DataError(f"{where} occurs twice")
            seen.add((split.train_size, split.repeat, split.fold))
            if empty := [role for role, part in split.parts if not len(part)]:
                raise DataError(f"{where} has no {empty[0]} samples")
            every = np.concatenate([part for _, part in split.parts])
            if every.min() < 0 or every.max() >= self.n_samples:
                there = f"there are {self.n_samples} samples (0..{self.n_samples - 1})"
                raise DataError(f"{where} has positions {every.min()}..{every.max()}, but {there}")
            if len(several := np.flatnonzero(np.bincount(every) > 1)):
                raise DataError(f"{where} has samples in several parts, or twice in one: {some(several)}")

    def __len__(self) -> int:
        return len(self.splits)

    def __iter__(self) -> Iterator[Split]:
        return iter(self.splits)

    def __getitem__(self, index: int) -> Split:
        return self.splits[index]

    def of_size(self, train_size: int | None) -> list[Split]:
        """Return the splits of one training size (None: of a protocol without sizes); DataError if there are none."""
        splits = [split for split in self.splits if split.train_size == train_size]
        if not splits:
            raise DataError(f"splits: none of training size {train_size}")
        return splits

    def among(self, rows: np.ndarray, n_samples: int) -> Splits:
        """Convert splits of selected rows of a larger data set: positions become those in the data set."""
        rows = np.asarray(rows)
        return Splits(tuple(split.converted(lambda part: np.sort(rows[part])) for split in self.splits), n_samples)

    def save(self, path: str | os.PathLike[str], ids: np.ndarray, provenance: Mapping[str, Any] | None = None) -> None:
        """Write a Parquet table with columns train_size, repeat, fold, role, index and id.

        `ids` are those of the data set; `provenance` tells how the splits were drawn and from what.
        """
        metadata: dict[str, Any] = {"n_samples": self.n_samples}
        if self.samples is not None:
            ids, kind = self.samples.names(ids), type(self.samples)
            metadata["samples"] = {"implementation": f"{kind.__module__}:{kind.__name__}"} | asdict(self.samples)
        if len(ids) != self.n_samples:
            raise DataError(f"{path}: {len(ids)} ids for splits of {self.n_samples} samples")
        parts = [(split, role, part) for split in self.splits for role, part in split.parts]
        if self.choosing is not None:
            choice = Split(CHOICE, 0, *self.choosing)
            parts += [(choice, role, part) for role, part in zip(ROLES, self.choosing, strict=False)]
        columns = ("train_size", "repeat", "fold", "role")
        frame = pd.DataFrame([(split.train_size, split.repeat, split.fold, role) for split, role, _ in parts],
                             columns=columns).astype({"train_size": "Int64"})  # fmt: skip
        frame = frame.loc[frame.index.repeat([len(part) for _, _, part in parts])].reset_index(drop=True)
        frame["index"] = np.concatenate([part for _, _, part in parts])
        frame["id"] = np.asarray(ids)[frame["index"]]
        write_table(path, frame, metadata | ({"provenance": dict(provenance)} if provenance else {}))

    @classmethod
    def load(cls, path: str | os.PathLike[str], ids: np.ndarray) -> Splits:
        """Read a file written by :meth:`save`; DataError for another file, or one for other ids than these."""
        frame, metadata = read_table(path)
        if "n_samples" not in metadata:
            raise DataError(f"{path}: not a file of splits written by mklearn")
        samples = None
        if "samples" in metadata:
            fields = dict(metadata["samples"])
            samples = load(fields.pop("implementation"))(**fields)
            ids = samples.names(ids)
        n_samples = metadata["n_samples"]
        if len(ids) != n_samples or not np.array_equal(np.asarray(ids)[frame["index"]], frame["id"].to_numpy(str)):
            raise DataError(f"{path}: made for other samples than those of the data set; delete it and run again")
        chosen = frame[frame["repeat"].eq(CHOICE)]
        train, validation = (chosen["index"][chosen["role"].eq(role)].to_numpy(np.int64) for role in ROLES[:2])
        drawn = _from_frame(frame[frame["repeat"].ne(CHOICE)])
        return cls(drawn, n_samples, (train, validation) if len(chosen) else None, samples)


def numbered_test_parts(splits: Iterable[Split]) -> dict[tuple[int | None, int, int], int]:
    """Number the test part of each split, by its training size, repeat and fold.

    The number is the fold of the first split of the same training size and repeat with the same test samples: splits
    that share it are models of one draw, and not independent.
    """
    first: dict[tuple[Any, ...], int] = {}
    numbers = {}
    for split in splits:
        key = (split.train_size, split.repeat, split.fold)
        numbers[key] = first.setdefault((*key[:2], split.test.tobytes()), split.fold)
    return numbers


def generator(name: str, size: int, repeat: int, seed: int = 0) -> np.random.Generator:
    """Create the random generator of one repeat by the seed policy above."""
    return np.random.default_rng([zlib.crc32(name.encode()), size, repeat, seed])


LARGEST_NUMBER = 2**31 - 1
"""Of a repeat or fold: what tables of predictions hold."""
REPEATS = from_to(1, 10_000)


@constrained(train_size=[at_least(1), ListOf(at_least(1))], repeats=[REPEATS])
def random_per_class(
    target: np.ndarray, train_size: int | Sequence[int], repeats: int = 10, seed: int = 0, name: str = "", *,
    classes: np.ndarray | None = None,
) -> Splits:  # fmt: skip
    """Draw a fixed number of training samples from each class; the rest are test samples.

    Raise NotApplicable, with the names in `classes`, if a class has no more samples than that.

    Parameters
    ----------
    train_size : int or sequence of int
        Training samples per class, or a list of sizes, which are drawn independently of each other. All sizes run in
        one job: to run a size as its own job, give it its own protocol.
    repeats : int
        Number of random splits of each size.
    seed : int
        Non-negative.
    """
    y = np.asarray(target)
    sizes = [int(size) for size in np.atleast_1d(train_size)]
    codes = np.unique(y)
    small = [code for code in codes if (y == code).sum() <= max(sizes)]
    if small:
        wanted = f"{max(sizes)} training samples per class (train_size) and at least one test sample"
        raise NotApplicable(f"{wanted}: {_too_small(small, y, classes)}")
    splits = []
    for size, repeat in itertools.product(sizes, range(repeats)):
        rng = generator(name, size, repeat, seed)
        members = [rng.permutation(np.flatnonzero(y == code)) for code in codes]
        train, test = (np.sort(np.concatenate([each[part] for each in members]))
                       for part in (slice(size), slice(size, None)))  # fmt: skip
        splits.append(Split(repeat, 0, train, test, size))
    return Splits(tuple(splits), len(y))


@constrained(folds=[at_least(2)], repeats=[REPEATS])
def k_fold(
    target: np.ndarray, folds: int = 5, repeats: int = 1, seed: int = 0, name: str = "", *,
    classes: np.ndarray | None = None,
) -> Splits:  # fmt: skip
    """Draw folds for k-fold cross-validation, shuffled, with each class, or the range of numbers, spread evenly.

    Of samples in the order of their numbers, each fold gets one of every ``folds``. Raise NotApplicable if a class has
    fewer samples than there are folds.

    Parameters
    ----------
    folds : int
        At least 2. Fold sizes differ by at most one sample, and so do the numbers of samples of a class per fold.
    repeats : int
        How often folds are drawn.
    """
    y = np.asarray(target)
    numbers = target_of(y) == "numbers"
    groups = [] if numbers else [np.flatnonzero(y == code) for code in np.unique(y)]
    small = [y[group[0]] for group in groups if len(group) < folds]
    if small:
        raise NotApplicable(f"{folds} stratified folds: {_too_small(small, y, classes)}")

    def dealt(rng: np.random.Generator) -> np.ndarray:
        if numbers:
            return number_folds(y, folds, rng)
        # Deal out the shuffled classes like cards; each class continues where the previous one stopped.
        fold_of = np.empty(len(y), dtype=np.int64)
        fold_of[np.concatenate([rng.permutation(group) for group in groups])] = np.arange(len(y)) % folds
        return fold_of

    dealings = [dealt(generator(name, folds, repeat, seed)) for repeat in range(repeats)]
    splits = (
        Split(repeat, fold, np.flatnonzero(fold_of != fold), np.flatnonzero(fold_of == fold))
        for repeat, fold_of in enumerate(dealings)
        for fold in range(folds)
    )
    return Splits(tuple(splits), len(y))


@constrained(path=[str])
def given(path: str | os.PathLike[str], ids: np.ndarray) -> Splits:
    """Read splits from a Parquet, CSV or TSV file.

    Parameters
    ----------
    path : path
        Parquet, CSV or TSV file with columns ``role`` ("train", "test" or "validation"), and ``id`` or ``index``
        (position, from 0; ignored if there are ids); optionally ``repeat`` and ``fold``, 0 by default. Others are
        ignored.
    """
    path = Path(path)
    frame = read_frame(path, ("id", "role")).reset_index(drop=True)
    columns = set(frame.columns)
    if "role" not in columns or not columns & {"id", "index"}:
        raise DataError(f"{path}: splits need the columns role and id (or index); it has {some(list(frame.columns))}")
    frame["role"] = column_text(frame["role"], path, "role")
    wrong = sorted(set(frame["role"]) - set(ROLES))
    if wrong:
        raise DataError(f"{path}: unknown roles {some(wrong)}; valid: {', '.join(ROLES)}")
    if "id" in columns:
        frame["index"] = sample_positions(column_text(frame["id"], path, "id"), ids, path)
    frame["train_size"] = pd.NA  # a user's splits have no sizes
    for name in ("repeat", "fold", "index"):
        frame[name] = whole_numbers(frame[name], path, name) if name in frame else 0
        if not frame[name].between(0, LARGEST_NUMBER).all():
            raise DataError(f"{path}: column {name!r} has numbers outside 0 to {LARGEST_NUMBER}")
    try:
        return Splits(_from_frame(frame), len(ids))
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def released(test_ids: Sequence[np.ndarray], ids: np.ndarray) -> Splits:
    """Build the splits that were released with a data set; all samples outside a test part are training samples.

    Each split, by the ids of its test samples, is a repeat of its own. Ids that the data set does not have, of which a
    study may take a part, are left out.
    """
    tests = [np.isin(ids, part) for part in test_ids]
    parts = (Split(repeat, 0, np.flatnonzero(~test), np.flatnonzero(test)) for repeat, test in enumerate(tests))
    return Splits(tuple(parts), len(ids))


def _from_frame(frame: Any) -> tuple[Split, ...]:
    splits = []
    for (size, repeat, fold), rows in frame.groupby(["train_size", "repeat", "fold"], dropna=False):
        train, validation, test = (
            np.sort(rows["index"][rows["role"] == role].to_numpy(dtype=np.int64)) for role in ROLES
        )
        train_size = None if pd.isna(size) else int(size)
        splits.append(Split(int(repeat), int(fold), train, test, train_size, validation if len(validation) else None))
    return tuple(splits)


def _too_small(codes: Sequence[Any], y: np.ndarray, classes: np.ndarray | None) -> str:
    """Name classes with their sizes, and the line of a data set of a study that leaves them out."""
    names = [str(code if classes is None else classes[code]) for code in codes]
    shown = [f"{name} ({int((y == code).sum())})" for code, name in zip(codes[:5], names, strict=False)]
    listed = f"class {', '.join(shown)}" + (f", ... ({len(codes)} classes)" if len(codes) > 5 else "")
    remedy = f"leave out what is too small by exclude_classes: [{', '.join(map(repr, names))}] in the data set"
    return f"too few samples in {listed}; use smaller numbers, or {remedy}"
