"""Splits of samples into training and test parts, and their files. `draw_splits` draws them by a protocol."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np
import pandas as pd

from mklearn.atomic import read_parquet, write_parquet
from mklearn.errors import DataError, NotApplicable
from mklearn.rows import load
from mklearn.study.data.samples import some

ROLES = ("train", "validation", "test", "unlabelled")
CHOICE = -1
"""Repeat number in files of splits that marks samples used only to choose parameters (`Splits.choosing`)."""


@dataclass(frozen=True, eq=False)
class Split:
    """One division of the samples into a training part, a test part and sometimes other parts.

    Parts are (k,) int64 arrays of positions of samples, ascending, and disjoint unless the test part is the training
    part: such samples are clustered, which means that methods are fitted to them without labels. `repeat` and `fold`
    are counted from 0; `fold` is 0 if there are no folds. `train_size` is the number of training samples, or of those
    per class, if the protocol has such sizes. Samples in `validation` serve to choose parameters, jointly for all
    splits with the same repeat, training size and test part: these are models of one draw. Methods that can use samples
    without a label are fitted to `unlabelled` too.
    """

    repeat: int
    fold: int
    train: np.ndarray
    test: np.ndarray
    train_size: int | None = None
    validation: np.ndarray | None = None
    train_labels: np.ndarray | None = None
    """Class codes of the training samples in a fit, (k,), some of them replaced; None: the true ones."""
    unlabelled: np.ndarray | None = None

    @property
    def clusters(self) -> bool:
        """Whether the samples are clustered: the test part is the training part."""
        return np.array_equal(self.train, self.test)

    @property
    def parts(self) -> list[tuple[str, np.ndarray]]:
        """Role and positions of each part that the split has."""
        return [(role, part) for role in ROLES if (part := getattr(self, role)) is not None]

    def converted(self, convert: Callable[[np.ndarray], np.ndarray]) -> Split:
        """Return a copy of the split with `convert` applied to each part."""
        parts: dict[str, Any] = {role: convert(part) for role, part in self.parts}
        return replace(self, **parts)

    def flipped(self, y: np.ndarray, share: float, rng: np.random.Generator) -> Split:
        """Return a copy in which a share of the training samples, rounded, has another class of `y` at random."""
        classes, labels = np.unique(y), y[self.train]
        if len(classes) < 2:
            raise NotApplicable("flipped: there is no other class than the one of all samples")
        places = rng.choice(len(labels), round(share * len(labels)), replace=False)
        steps = rng.integers(1, len(classes), len(places))
        labels[places] = classes[(np.searchsorted(classes, labels[places]) + steps) % len(classes)]
        return replace(self, train_labels=labels)

    def target(self, y: np.ndarray) -> np.ndarray:
        """Return the class codes or numbers of all samples, `y`, with the replaced labels of training samples."""
        if self.train_labels is not None:
            y = y.copy()
            y[self.train] = self.train_labels
        return y

    @property
    def name(self) -> str:
        """Description of the split for messages."""
        size = "" if self.train_size is None else f"training size {self.train_size}, "
        return f"{size}repeat {self.repeat}, fold {self.fold}"


@dataclass(frozen=True, eq=False)
class Splits:
    """Splits of one protocol on one data set. Positions lie in 0..n_samples-1.

    Raise DataError if there are no splits; a part is empty; a position is out of range, repeated, or in two parts; two
    splits have the same training size, repeat and fold; or only some splits have a validation part.
    """

    splits: tuple[Split, ...]
    n_samples: int
    choosing: tuple[np.ndarray, np.ndarray] | None = None
    """Training and validation samples for the choice of parameters for all splits; None: each split chooses its own."""
    samples: Any = None
    """Composed samples, such as pairs of samples of the data set; positions then refer to these. See
    `mklearn.papers.fsvm.pairs.Pairs` for the attributes that they need."""

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
            every = np.concatenate([part for role, part in split.parts if role != "test" or not split.clusters])
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
        """Return the splits of one training size (None if the protocol has no sizes); DataError if there are none."""
        splits = [split for split in self.splits if split.train_size == train_size]
        if not splits:
            raise DataError(f"splits: none of training size {train_size}")
        return splits

    def n_dividing(self, names: np.ndarray) -> int:
        """Count the splits that test samples of a name, such as a group, and train on others of it."""
        return sum(not split.clusters and bool(np.isin(names[split.test], names[split.train]).any()) for split in self)

    def among(self, rows: np.ndarray, n_samples: int) -> Splits:
        """Map splits of selected `rows` to positions in the whole data set of `n_samples`."""
        rows, splits = np.asarray(rows), []
        for split in self.splits:
            labels = None if split.train_labels is None else split.train_labels[np.argsort(rows[split.train])]
            splits.append(replace(split.converted(lambda part: np.sort(rows[part])), train_labels=labels))
        return Splits(tuple(splits), n_samples)

    def save(self, path: str | os.PathLike[str], ids: np.ndarray, provenance: Mapping[str, Any] | None = None) -> None:
        """Write a Parquet table with columns train_size, repeat, fold, role, index and id.

        Splits with replaced labels have a column train_label, empty for test samples. `ids` are the sample ids of the
        data set; `provenance` records how the splits were drawn, and from what.
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
        if self.splits[0].train_labels is not None:
            labels = np.concatenate([split.train_labels for split in self.splits])
            frame.loc[frame["role"].eq("train"), "train_label"] = labels
        write_parquet(path, frame, metadata | ({"provenance": dict(provenance)} if provenance else {}))

    @classmethod
    def load(cls, path: str | os.PathLike[str], ids: np.ndarray) -> Splits:
        """Read a file written by :meth:`save`; raise DataError for any other file, or if its ids are not `ids`."""
        frame, metadata = read_parquet(path)
        if "n_samples" not in metadata:
            raise DataError(f"{path}: not a file of splits written by mklearn")
        samples = None
        if "samples" in metadata:
            fields = dict(metadata["samples"])
            samples = load(fields.pop("implementation"))(**fields)
            ids = samples.names(ids)
        n_samples = metadata["n_samples"]
        if len(ids) != n_samples or not np.array_equal(np.asarray(ids)[frame["index"]], frame["id"].to_numpy(str)):
            raise DataError(f"{path}: made for other samples than the data set has; delete it and run again")
        chosen = frame[frame["repeat"].eq(CHOICE)]
        train, validation = (chosen["index"][chosen["role"].eq(role)].to_numpy(np.int64) for role in ROLES[:2])
        drawn = splits_of_frame(frame[frame["repeat"].ne(CHOICE)])
        return cls(drawn, n_samples, (train, validation) if len(chosen) else None, samples)


def numbered_test_parts(splits: Iterable[Split]) -> dict[tuple[int | None, int, int], int]:
    """Number the test parts of splits; keys are training size, repeat and fold.

    Splits of one training size and repeat with the same test samples have the same number, the fold of the first of
    them. They are models of one draw, and not independent.
    """
    first: dict[tuple[Any, ...], int] = {}
    numbers = {}
    for split in splits:
        key = (split.train_size, split.repeat, split.fold)
        numbers[key] = first.setdefault((*key[:2], split.test.tobytes()), split.fold)
    return numbers


def splits_of_frame(frame: Any) -> tuple[Split, ...]:
    """Convert a table with columns train_size, repeat, fold, role, index and sometimes train_label to splits."""
    splits = []
    for (size, repeat, fold), rows in frame.groupby(["train_size", "repeat", "fold"], dropna=False):
        train, validation, test, unlabelled = (
            np.sort(rows["index"][rows["role"] == role].to_numpy(dtype=np.int64)) for role in ROLES
        )
        train_size = None if pd.isna(size) else int(size)
        labels = None
        if "train_label" in rows:
            labels = rows[rows["role"].eq("train")].sort_values("index")["train_label"].to_numpy(np.int64)
        optional = [part if part is not None and len(part) else None for part in (validation, labels, unlabelled)]
        splits.append(Split(int(repeat), int(fold), train, test, train_size, *optional))
    return tuple(splits)
