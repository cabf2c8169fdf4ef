"""Own features: one table per descriptor, a row per sample; formats: :mod:`mklearn.study.data.readers.table_files`."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.contract.fit_spec import Impute
from mklearn.contract.specs import TargetKind
from mklearn.errors import ConfigError, DataError, nearest
from mklearn.study.data.readers.table_files import ARRAYS, Table, array_of_view, column_names
from mklearn.study.data.readers.tabular import (
    MISSING,
    missing_hint,
    numeric_values,
    row_order,
    suspicious_columns,
    unlabelled_note,
)
from mklearn.study.data.samples import SampleSet, check_numbers, some

MissingViews = Literal["error", "drop", "mean"]
"""What is done with a sample that lacks a table, or whose row there is empty."""
Mask = NDArray[np.bool_]


def read(
    paths: Mapping[str, Path], *, id_column: str = "id", label_column: str = "label", group_column: str | None = None,
    labels: str | None = None, arrays: Mapping[str, str] | None = None, missing_views: MissingViews = "error",
    impute: Impute = "none", task: TargetKind = "classes", leave_out: Sequence[str] = (),
    missing_labels: Sequence[str] = MISSING, id_prefix: int | None = None,
) -> SampleSet:  # fmt: skip
    """Read tables that describe the same samples.

    Parameters
    ----------
    paths : dict of str to Path
        Descriptor name -> file. Parquet, CSV and TSV (``.csv.gz`` too): a row per sample, a column of ids, optionally
        one of labels, all others numbers. NPZ and MATLAB: an array of ids, optionally one of labels, and a matrix of
        numbers; NPZ may hold a sparse matrix of SciPy's beside them. ``.h5ad`` and ``.h5mu``: ids, labels and groups
        are in ``obs``. Rows may be in any order; the order of the first table is used, samples that it lacks follow.
        Arrays without ids, all in one file or beside a labels file, have its order; without one their ids are the row
        numbers, from 1.
    id_column, label_column : str
        Names of these columns or arrays.
    group_column : str, optional
        Name of the column or array of groups, such as persons, in the files that may hold the labels.
    labels : str, optional
        Key in `paths` of a file with ids, labels and groups only. Without it, at least one table must have labels;
        those of several files must agree.
    arrays : dict of str to str, optional
        Descriptor name -> array in its file, where the file has several. By default the only matrix; of ``.h5ad`` X,
        and of ``.h5mu`` the modality with the name of the descriptor.
    missing_views : {"error", "drop", "mean"}
        What is done with samples that lack a table, or whose row there has no value: refused, left out, or kept with a
        row of NaN (see :mod:`mklearn.kernels.completion`).
    impute : {"none", "mean", "median"}
        Whether single values may be missing; they stay NaN here, and are filled in by the training samples.
    task : {"classes", "numbers"}
        What the column of labels holds.
    leave_out : sequence of str
        Columns that are no features, each in at least one file.
    missing_labels : sequence of str
        Words that stand for no label, group or number to predict, as an empty cell does.
    id_prefix : int, optional
        Number of characters of each id that count.

    Returns
    -------
    SampleSet
        With ``tables``; classes in natural order; ``notes`` about samples that are left out or lack a table, missing
        values, and columns that are probably no features, see
        :func:`mklearn.study.data.readers.tabular.suspicious_columns`. Samples without a label are left out.

    Raises
    ------
    DataError
        A column has no name, is missing, not numeric or not finite; ids are repeated or differ between tables; labels
        are missing, disagree, or are not one for each id. The message names files, columns and ids.
    """
    for name, value, valid in (("missing_views", missing_views, ("error", "drop", "mean")),
                               ("impute", impute, ("none", "mean", "median"))):  # fmt: skip
        if value not in valid:
            raise ConfigError(f"{name}={value!r} is unknown; valid: {', '.join(valid)}")
    named = {name: Path(path) for name, path in paths.items() if name != labels}
    if not named:
        raise DataError("feature tables: no table given")
    reading = _Reading(id_column, label_column, group_column, impute, task, leave_out, missing_labels, id_prefix)
    given = None if labels is None else reading.labels_file(Path(paths[labels]))
    chosen = arrays or {}
    try:
        parts = {
            name: reading.table(path, array_of_view(path, name, chosen.get(name)), given)
            for name, path in named.items()
        }
    except DataError as error:  # perhaps the column of labels, which has another name, is taken for a feature
        columns = _columns_of(named.values())
        if given is not None or not columns or label_column in columns:
            raise
        raise DataError(f"{_no_labels(next(iter(named.values())), label_column, columns)} ({error})") from error
    _check_row_numbers(list(parts.values()), given, id_column)
    ids, absent = _aligned(list(parts.values()), given, missing_views)
    notes = _missing_note(dict(zip(parts, absent, strict=True)), ids, missing_views)
    kept = ~np.logical_or.reduce(absent) if missing_views == "drop" else ~np.logical_and.reduce(absent)
    sources = ([] if given is None else [given]) + list(parts.values())
    first = next(iter(parts.values())).path
    unknown = sorted(set(leave_out).difference(*(source.left_out for source in sources)))
    if unknown:
        columns = [f"{name}" for part in parts.values() for name in part.columns]
        raise DataError(f"leave_out: no table has a column {some(unknown)}.{nearest(unknown, columns)}")
    if all(source.labels is None for source in sources):
        raise DataError(
            _no_labels(first, label_column, [f"{name}" for part in parts.values() for name in part.columns])
        )
    if group_column and all(source.groups is None for source in sources):
        raise DataError(f"{paths[labels] if labels else first}: no column {group_column!r} of groups (group_column)")
    label_text = _agreed(sources, ids, "labels")
    words = frozenset[str]().union(*(source.missing_words for source in sources))
    if not (label_text[kept] != "").any():
        raise DataError(f"{sources[0].path}: no sample has a label (column {label_column!r}){missing_hint(words)}")
    unlabelled, nowhere = label_text == "", np.logical_and.reduce(absent)
    notes += unlabelled_note(int(unlabelled.sum()), task, words, int((unlabelled & nowhere).sum()))
    kept &= label_text != ""
    groups = _agreed(sources, ids, "groups")[kept] if group_column else None
    tables = {name: part.rows(ids[kept]) for name, part in parts.items()}
    notes += _imputed_note(tables, impute)
    try:
        made = SampleSet.from_labels if task == "classes" else SampleSet.from_numbers
        samples = made(
            ids[kept], label_text[kept], tables=tables, groups=groups,
            incomplete=tuple(name for name, table in tables.items() if np.isnan(table).any()),
        )  # fmt: skip
    except DataError as error:
        raise DataError(f"{', '.join(map(str, named.values()))}: {error}{missing_hint(words)}") from error
    for name, part in parts.items():
        notes += suspicious_columns(tables[name], part.columns, samples.y, part.path)
    return replace(samples, notes=notes)


@dataclass(frozen=True)
class _Part:
    """What a file says: of each of its samples the features, the label and the group."""

    path: Path
    ids: np.ndarray
    has_ids: bool = True
    values: np.ndarray | None = None
    columns: Sequence[Any] = ()
    labels: np.ndarray | None = None
    groups: np.ndarray | None = None
    missing_words: frozenset[str] = frozenset()
    """Words that stand for no label in it."""
    left_out: frozenset[str] = frozenset()
    """Columns that it has and that are no features."""

    @property
    def present(self) -> Mask:
        """Which of its samples have a value at all."""
        assert self.values is not None
        return ~np.isnan(self.values).all(axis=1)

    def rows(self, ids: np.ndarray) -> np.ndarray:
        """Return the features of samples; NaN of those that it lacks."""
        assert self.values is not None
        found = np.full((len(ids), self.values.shape[1]), np.nan)
        own, positions = _positions(self.ids, ids)
        found[positions] = self.values[own]
        return found


def _columns_of(paths: Iterable[Path]) -> list[str]:
    """Return the names of all columns; none if a table can't be read."""
    try:
        return list(dict.fromkeys(column for path in paths for column in column_names(path)))
    except DataError:
        return []


def _no_labels(path: Path, label_column: str, columns: Sequence[str]) -> str:
    return (
        f"{path}: no column {label_column!r}, and no labels file given (labels: ...).{nearest(label_column, columns)}"
    )


@dataclass(frozen=True)
class _Reading:
    """How files are read."""

    id_column: str
    label_column: str
    group_column: str | None
    impute: Impute
    task: TargetKind
    leave_out: Sequence[str]
    missing_labels: Sequence[str]
    id_prefix: int | None

    def table(self, path: Path, array: str | None, given: _Part | None) -> _Part:
        """Read a table of features; `given` is the labels file."""
        table = self._open(path, array)
        numbers = table.numbers()
        left_out = frozenset(name for name in self.leave_out if name in table or name in numbers)
        numbers = numbers.drop(columns=list(left_out & set(numbers.columns)))
        has_ids = self.id_column in table or path.suffix not in ARRAYS
        if has_ids:
            ids = table.unique_ids(self.id_column, self.id_prefix)
        elif given is not None and len(given.ids) == len(numbers):
            ids = given.ids
        else:
            ids = np.arange(1, len(numbers) + 1).astype(str)
        if len(ids) == 0:
            raise DataError(f"{path}: no rows")
        values = numeric_values(numbers, path, ids, may_have_nan=True)
        if self.impute == "none":
            partly = np.flatnonzero(np.isnan(values).any(axis=1) & ~np.isnan(values).all(axis=1))
            try:
                check_numbers(values[partly], str(path), ids[partly], numbers.columns.to_numpy())
            except DataError as error:
                raise DataError(
                    f"{error}. Fill them in, or set impute: mean (or median), which is fitted on training samples"
                ) from error
        part = _Part(path, ids, has_ids, values, list(numbers.columns), left_out=left_out)
        return self._with_labels(part, table)

    def labels_file(self, path: Path) -> _Part:
        """Read a file of ids, labels and groups."""
        table = self._open(path, None)
        left_out = frozenset(name for name in self.leave_out if name in table)
        part = self._with_labels(
            _Part(path, table.unique_ids(self.id_column, self.id_prefix), left_out=left_out), table
        )
        return replace(part, labels=table.labels(self.label_column, part.ids, self.task))

    def _open(self, path: Path, array: str | None) -> Table:
        text = [column for column in (self.label_column, self.group_column, *self.leave_out) if column]
        return Table(path, self.id_column, text, array=array, missing=self.missing_labels)

    def _with_labels(self, part: _Part, table: Table) -> _Part:
        group = self.group_column
        labels = table.labels(self.label_column, part.ids, self.task) if self.label_column in table else None
        words = frozenset(table.missing_words)
        groups = table.text(group, part.ids) if group and group in table else None
        return replace(part, labels=labels, groups=groups, missing_words=words)


def _check_row_numbers(parts: Sequence[_Part], given: _Part | None, id_column: str) -> None:
    """Refuse arrays without ids whose samples could be in different orders."""
    without = [part for part in parts if not part.has_ids]
    if not without:
        return
    path = without[0].path
    missing = f"{path}: no array {id_column!r} of ids"
    if given is not None:
        for part in without:
            if len(part.ids) != len(given.ids):
                raise DataError(
                    f"{part.path}: no array {id_column!r} of ids, and {len(part.ids)} rows where {given.path} has "
                    f"{len(given.ids)} samples"
                )
    elif {part.path for part in parts} != {path}:
        raise DataError(f"{missing}; samples in several files need ids, or a labels file in their order (labels: ...)")
    elif len({len(part.ids) for part in parts}) > 1:
        raise DataError(f"{missing}, and its arrays have different numbers of rows")


def _aligned(parts: Sequence[_Part], given: _Part | None, missing_views: MissingViews) -> tuple[np.ndarray, list[Mask]]:
    """Return the ids of all samples, in the order of the first table, and which samples lack each table.

    Raises
    ------
    DataError
        A sample lacks a table, and `missing_views` does not say what to do; tables without a common sample; or a labels
        file without a sample of the tables.
    """
    _check_prefixes([*parts, given] if given is not None else parts)
    first = parts[0]
    ids = np.array(list(dict.fromkeys(name for part in parts for name in part.ids.tolist())), dtype=str)
    if given is not None:
        if missing_views == "error":
            row_order(given.ids, given.path, first.ids, first.path)
        lacking = np.setdiff1d(ids, given.ids)
        if len(lacking):
            raise DataError(
                f"{given.path}: lacks {some(lacking)}, which the tables have; add them, without a label too"
            )
        ids = np.concatenate([ids, given.ids[~np.isin(given.ids, ids)]])
    absent = []
    for part in parts:
        lacks = np.ones(len(ids), dtype=bool)
        lacks[_positions(part.ids[part.present], ids)[1]] = False
        absent.append(lacks)
    n_lacking = int(np.logical_or.reduce(absent).sum())
    if not n_lacking:
        return ids, absent
    if missing_views == "error":
        _refuse(parts, ids, absent, n_lacking)
    for part, lacks in zip(parts, absent, strict=True):
        others = [
            other for other, its in zip(parts, absent, strict=True) if other is not part and (~its & ~lacks).any()
        ]
        if len(parts) > 1 and not others:
            raise DataError(f"{part.path}: none of its ids {some(part.ids)} is in another table; are they ids at all?")
    return ids, absent


def _check_prefixes(sources: Sequence[_Part]) -> None:
    """Raise DataError if ids of one table are beginnings of those of another, as of patients of those of aliquots."""
    for short, long in itertools.permutations(sources, 2):
        (length, *others), known = set(map(len, short.ids.tolist())), set(short.ids.tolist())
        begun = {name[:length] for name in long.ids.tolist()} & known
        if not others and not known.intersection(long.ids.tolist()) and 2 * len(begun) >= len(long.ids):
            name = next(name for name in long.ids.tolist() if name[:length] in known)
            raise DataError(
                f"{long.path}: its ids begin with those of {short.path}, such as {name!r} with {name[:length]!r}; "
                f"`id_prefix: {length}` in the data set (mklearn init: --id-prefix {length}) takes so many characters "
                "of each id"
            )


def _refuse(parts: Sequence[_Part], ids: np.ndarray, absent: Sequence[Mask], n_lacking: int) -> None:
    what = (
        f"{n_lacking} of {len(ids)} samples {'lacks' if n_lacking == 1 else 'lack'} a table. If that is so, set "
        "missing_views: drop (these samples are left out) or mean (kernels put them at the mean of the others)"
    )
    for part in parts[1:]:
        try:
            row_order(part.ids, part.path, parts[0].ids, parts[0].path)
        except DataError as error:
            raise DataError(f"{error}; {what}") from error
    part, lacks = next((part, lacks) for part, lacks in zip(parts, absent, strict=True) if lacks.any())
    raise DataError(f"{part.path}: no value at all for the samples {some(ids[lacks])}; {what}")


def _positions(own: np.ndarray, ids: np.ndarray) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the rows of a table whose ids are among those of the samples, and the positions of these samples."""
    positions = pd.Index(ids).get_indexer(pd.Index(own))
    rows = np.flatnonzero(positions >= 0)
    return rows, positions[rows]


def _agreed(sources: Sequence[_Part], ids: np.ndarray, what: Literal["labels", "groups"]) -> np.ndarray:
    """Return the label or group of each sample, "" if no file has one; files that have one must agree."""
    agreed: np.ndarray = np.full(len(ids), "", dtype=object)
    origin: np.ndarray = np.full(len(ids), None, dtype=object)
    for source in sources:
        values = getattr(source, what)
        if values is None:
            continue
        own, positions = _positions(source.ids, ids)
        given = values[own] != ""
        positions, values = positions[given], values[own[given]]
        differs = (agreed[positions] != "") & (agreed[positions] != values)
        if differs.any():
            example = int(np.argmax(differs))
            there = positions[example]
            other = np.sort(positions[differs])
            raise DataError(
                f"{source.path}: {what} disagree with {origin[there]} for {some(ids[other])}; "
                f"{str(ids[there])!r} is {str(values[example])!r} here and {str(agreed[there])!r} there"
            )
        new = positions[agreed[positions] == ""]
        agreed[positions] = values
        origin[new] = source.path
    return agreed.astype(str)


def _missing_note(absent: Mapping[str, Mask], ids: np.ndarray, missing_views: MissingViews) -> tuple[str, ...]:
    """Count the samples that lack a table, and say what is done with them."""
    lacking = np.logical_or.reduce(list(absent.values()))
    if not lacking.any():
        return ()
    each = "; ".join(f"{name}: {some(ids[lacks])}" for name, lacks in absent.items() if lacks.any())
    nowhere = np.logical_and.reduce(list(absent.values()))
    n, n_nowhere = int(lacking.sum()), int(nowhere.sum())
    if missing_views == "drop":
        return (f"{n} of {len(ids)} samples lack a table and are left out (missing_views: drop). {each}",)
    none = f", but {n_nowhere} that lack every table are left out" if n_nowhere else ""
    text = "lack a table and are at the mean of the training samples there (missing_views: mean)"
    return (f"{n} of {len(ids)} samples {text}{none}. {each}",)


def _imputed_note(tables: Mapping[str, np.ndarray], impute: Impute) -> tuple[str, ...]:
    """Count single values that are missing."""
    counts = {}
    for name, table in tables.items():
        gone = np.isnan(table)
        counts[name] = int(gone[~gone.all(axis=1)].sum())
    if not any(counts.values()):
        return ()
    each = ", ".join(f"{name} {n}" for name, n in counts.items() if n)
    return (f"missing values are filled in by the {impute} over the training samples (impute: {impute}): {each}",)
