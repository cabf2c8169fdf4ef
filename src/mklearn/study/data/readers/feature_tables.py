"""Own features: one table per descriptor, a row per sample; formats: :mod:`mklearn.study.data.readers.table_files`."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.errors import DataError, nearest
from mklearn.study.data.readers.table_files import ARRAYS, Table, array_of_view, column_names
from mklearn.study.data.readers.tabular import missing_hint, numeric_values, row_order, unlabelled_note
from mklearn.study.data.samples import SampleSet, check_numbers, some
from mklearn.study.data.text_tables import MISSING
from mklearn.study.specs.data_specs import TargetKind
from mklearn.study.specs.fit_spec import Impute

MissingViews = Literal["error", "drop", "mean"]
"""What is done with a sample that lacks a table, or whose row there is empty."""
Mask = NDArray[np.bool_]


def read(
    paths: Mapping[str, Path], *, id_column: str = "id", label_column: str = "label", group_column: str | None = None,
    labels: str | None = None, arrays: Mapping[str, str] | None = None, missing_views: MissingViews = "error",
    impute: Impute = "none", task: TargetKind = "classes", leave_out: Sequence[str] = (),
    missing_labels: Sequence[str] = MISSING, id_prefix: int | None = None,
) -> SampleSet:  # fmt: skip
    """Read tables that describe the same samples: `paths` has a file for each descriptor, see :class:`Table`.

    Rows may be in any order: that of the first table is used, and samples that it lacks follow. Arrays without ids, all
    in one file or beside a labels file, have its order; without one their ids are the row numbers, from 1. Samples
    without a label are left out.

    Parameters
    ----------
    group_column : str, optional
        Column or array of groups, such as persons, in the files that may hold the labels.
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
    leave_out : sequence of str
        Columns that are no features, each in at least one file.
    missing_labels : sequence of str
        Words that stand for no label, group or number to predict, as an empty cell does.
    id_prefix : int, optional
        Number of characters of each id that count.

    Raises
    ------
    DataError
        A column has no name, is missing, not numeric or not finite; ids are repeated or differ between tables; labels
        are missing, disagree, or are not one for each id. The message names files, columns and ids.
    """
    named = {name: Path(path) for name, path in paths.items() if name != labels}
    if not named:
        raise DataError("feature tables: no table given")
    text = [column for column in (label_column, group_column, *leave_out) if column]

    def opened(path: Path, array: str | None = None) -> Table:
        return Table(path, id_column, text, array=array, missing=missing_labels)

    tables = {name: opened(path, array_of_view(path, name, (arrays or {}).get(name))) for name, path in named.items()}
    holder = None if labels is None else opened(Path(paths[labels]))
    files = [*([] if holder is None else [holder]), *tables.values()]
    if holder is None and not any(label_column in table for table in files):
        columns = list(dict.fromkeys(column for path in named.values() for column in column_names(path)))
        raise DataError(
            f"{files[0].path}: no column {label_column!r}, and no labels file given (labels: ...)."
            f"{nearest(label_column, columns)}"
        )
    if group_column and not any(group_column in table for table in files):
        raise DataError(f"{files[0].path}: no column {group_column!r} of groups (group_column)")
    features = [str(name) for table in tables.values() for name in table.numbers().columns] if leave_out else []
    unknown = sorted(name for name in set(leave_out).difference(features) if not any(name in table for table in files))
    if unknown:
        raise DataError(f"leave_out: no table has a column {some(unknown)}.{nearest(unknown, features)}")
    words = set[str]()

    def part(table: Table, numbers: pd.DataFrame | None = None, given: _Part | None = None) -> _Part:
        """Read a table of features, or without `numbers` the labels file, which is `given` for the tables."""
        path, values, columns = table.path, None, None
        has_ids = id_column in table or path.suffix not in ARRAYS
        if numbers is None or has_ids:
            ids = table.unique_ids(id_column, id_prefix)
        elif given is not None and len(given.ids) == len(numbers):
            ids = given.ids
        else:
            ids = np.arange(1, len(numbers) + 1).astype(str)
        if len(ids) == 0:
            raise DataError(f"{path}: no rows")
        if numbers is not None:
            numbers = numbers.drop(columns=[name for name in leave_out if name in numbers])
            columns = numbers.columns.to_numpy(dtype=str) if table.names_columns else None
            values = numeric_values(numbers, path, ids, may_have_nan=True)
            _check_complete(values, path, ids, numbers.columns.to_numpy(), impute)
        is_labelled = numbers is None or label_column in table
        of_labels = table.labels(label_column, ids, task) if is_labelled else None
        of_groups = table.text(group_column, ids) if group_column and group_column in table else None
        words.update(table.missing_words)
        return _Part(path, ids, has_ids, values, of_labels, of_groups, columns)

    given = None if holder is None else part(holder)
    parts = {name: part(tables[name], tables.pop(name).numbers(), given) for name in named}
    _check_row_numbers(list(parts.values()), given, id_column)
    ids, absent = _aligned(list(parts.values()), given, missing_views)
    notes = _missing_note(dict(zip(parts, absent, strict=True)), ids, missing_views)
    nowhere = np.logical_and.reduce(absent)
    kept = ~np.logical_or.reduce(absent) if missing_views == "drop" else ~nowhere
    sources = [*([] if given is None else [given]), *parts.values()]
    label_text = agreed(sources, ids, "labels")
    unlabelled = label_text == ""
    if not (kept & ~unlabelled).any():
        raise DataError(f"{sources[0].path}: no sample has a label (column {label_column!r}){missing_hint(words)}")
    notes += unlabelled_note(int(unlabelled.sum()), task, words, int((unlabelled & nowhere).sum()))
    kept &= ~unlabelled
    values = {name: pd.DataFrame(part.values, part.ids).reindex(ids[kept]).to_numpy() for name, part in parts.items()}
    try:
        made = SampleSet.from_labels if task == "classes" else SampleSet.from_numbers
        return made(
            ids[kept], label_text[kept], tables=values, notes=notes + _imputed_note(values, impute),
            groups=agreed(sources, ids, "groups")[kept] if group_column else None,
            incomplete=tuple(name for name, table in values.items() if np.isnan(table).any()),
            columns={name: part.columns for name, part in parts.items() if part.columns is not None},
        )  # fmt: skip
    except DataError as error:
        raise DataError(f"{', '.join(map(str, named.values()))}: {error}{missing_hint(words)}") from error


@dataclass(frozen=True)
class _Part:
    """The samples of a file: features, labels and groups."""

    path: Path
    ids: np.ndarray
    has_ids: bool
    values: np.ndarray | None
    labels: np.ndarray | None
    groups: np.ndarray | None
    columns: np.ndarray | None

    @property
    def present(self) -> np.ndarray:
        """Ids of the samples that have a value at all."""
        assert self.values is not None
        return np.asarray(self.ids[~np.isnan(self.values).all(axis=1)])


def _check_complete(values: np.ndarray, path: Path, ids: np.ndarray, columns: np.ndarray, impute: Impute) -> None:
    missing = np.isnan(values)
    partly = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))
    if impute != "none" or not partly.size:
        return
    try:
        check_numbers(values[partly], str(path), ids[partly], columns)
    except DataError as error:
        raise DataError(
            f"{error}. Fill them in, or set impute: mean (or median), which is fitted on training samples"
        ) from error


def _check_row_numbers(parts: Sequence[_Part], given: _Part | None, id_column: str) -> None:
    """Refuse arrays without ids whose samples could be in different orders."""
    for part in parts:
        if part.has_ids:
            continue
        wrong = ""
        if given is not None and len(part.ids) != len(given.ids):
            wrong = f", and {len(part.ids)} rows where {given.path} has {len(given.ids)} samples"
        elif given is None and any(other.path != part.path for other in parts):
            wrong = "; samples in several files need ids, or a labels file in their order (labels: ...)"
        elif given is None and any(len(other.ids) != len(part.ids) for other in parts):
            wrong = ", and its arrays have different numbers of rows"
        if wrong:
            raise DataError(f"{part.path}: no array {id_column!r} of ids{wrong}")


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
    absent = [~np.isin(ids, part.present) for part in parts]
    n_lacking = int(np.logical_or.reduce(absent).sum())
    if n_lacking and missing_views == "error":
        _refuse(parts, ids, absent, n_lacking)
    for part, lacks in zip(parts, absent, strict=True):
        if len(parts) > 1 and sum((~other & ~lacks).any() for other in absent) < 2:  # itself is one
            raise DataError(f"{part.path}: none of its ids {some(part.ids)} is in another table; are they ids at all?")
    return ids, absent


def _check_prefixes(sources: Sequence[_Part]) -> None:
    """Raise DataError if ids of one table are beginnings of those of another, as of patients of those of aliquots."""
    for short, long in itertools.permutations(sources, 2):
        length = len(short.ids[0])
        begun = np.intersect1d(long.ids.astype(f"U{length}"), short.ids)
        is_short = set(map(len, short.ids.tolist())) == {length} and not np.isin(long.ids, short.ids).any()
        if is_short and 2 * len(begun) >= len(long.ids):
            name = next(name for name in long.ids.tolist() if name[:length] == begun[0])
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
    part, lacks = next(pair for pair in zip(parts, absent, strict=True) if pair[1].any())
    raise DataError(f"{part.path}: no value at all for the samples {some(ids[lacks])}; {what}")


def agreed(sources: Sequence[Any], ids: np.ndarray, what: Literal["labels", "groups"]) -> np.ndarray:
    """Return the label or group of each sample, "" if no file has one; files that have one must agree.

    Sources have a ``path``, ``ids``, and ``labels`` or ``groups`` of these, or None.
    """
    agreed = np.full(len(ids), "", dtype=object)
    origin = np.full(len(ids), None, dtype=object)
    for source in sources:
        if getattr(source, what) is None:
            continue
        here = pd.Series(getattr(source, what), source.ids, dtype=object).reindex(ids, fill_value="").to_numpy()
        differs = np.flatnonzero((here != "") & (agreed != "") & (here != agreed))
        if differs.size:
            k = differs[0]
            raise DataError(
                f"{source.path}: {what} disagree with {origin[k]} for {some(ids[differs])}; {str(ids[k])!r} is "
                f"{here[k]!r} here and {agreed[k]!r} there"
            )
        new = (agreed == "") & (here != "")
        agreed[new], origin[new] = here[new], source.path
    return agreed.astype(str)


def _missing_note(absent: Mapping[str, Mask], ids: np.ndarray, missing_views: MissingViews) -> tuple[str, ...]:
    """Count the samples that lack a table, and say what is done with them."""
    n = int(np.logical_or.reduce(list(absent.values())).sum())
    if not n:
        return ()
    each = "; ".join(f"{name}: {some(ids[lacks])}" for name, lacks in absent.items() if lacks.any())
    n_nowhere = int(np.logical_and.reduce(list(absent.values())).sum())
    done = "are at the mean of the training samples there" if missing_views == "mean" else "are left out"
    none = f", but {n_nowhere} that lack every table are left out" if n_nowhere and missing_views == "mean" else ""
    return (f"{n} of {len(ids)} samples lack a table and {done} (missing_views: {missing_views}){none}. {each}",)


def _imputed_note(tables: Mapping[str, np.ndarray], impute: Impute) -> tuple[str, ...]:
    """Count single values that are missing."""
    gone = {name: np.isnan(table) for name, table in tables.items()}
    counts = {name: int(each[~each.all(axis=1)].sum()) for name, each in gone.items()}
    each = ", ".join(f"{name} {n}" for name, n in counts.items() if n)
    note = f"missing values are filled in by the {impute} over the training samples (impute: {impute}): {each}"
    return (note,) if each else ()
