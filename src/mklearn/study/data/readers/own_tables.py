"""The user's own features, a table per descriptor with a row per sample, and own kernel or distance matrices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from mklearn.errors import DataError, UserError, nearest
from mklearn.study.data.readers.tables import (
    ARRAYS,
    MUDATA,
    Table,
    is_bare,
    numeric_values,
    require_columns,
    sample_positions,
)
from mklearn.study.data.samples import SampleSet, check_numbers, some
from mklearn.study.data.text_tables import MISSING
from mklearn.study.specs.data_specs import TargetKind
from mklearn.study.specs.fit_spec import Impute

MissingViews = Literal["error", "drop", "mean"]
_SYMMETRY = 1e-6
"""Largest difference of mirrored entries, by the largest entry: rounding of single precision or of seven digits."""


@dataclass(frozen=True)
class _Part:
    """The samples of a file; ids are None where it has none."""

    path: Path
    ids: np.ndarray
    has_ids: bool
    features: pd.DataFrame | None
    labels: np.ndarray | None
    groups: np.ndarray | None
    columns: np.ndarray | None = None
    """Names of the features, as far as they have names."""


def array_of_view(path: Path, view: str, chosen: str | None) -> str | None:
    """Return the name of the array that is a view, of MuData the modality of the view; None: the file's only one."""
    return chosen or (view if path.suffix == MUDATA else None)


def feature_tables(
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
        Descriptor name -> array in its file, where the file has several.
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
        Files that can't be read, all at once; a column that is missing, not numeric or not finite; ids that are
        repeated or differ between tables; labels that disagree. The message names files, columns and ids.
    """
    named = {name: Path(path) for name, path in paths.items() if name != labels}
    text = [column for column in (label_column, group_column, *leave_out) if column]

    def opened(name: str) -> Table:
        path = Path(paths[name])
        array = None if name == labels else array_of_view(path, name, (arrays or {}).get(name))
        return Table(path, id_column, text, array=array, missing=missing_labels)

    tables = _each(opened, [*([labels] if labels else []), *named])
    _check_columns(list(tables.values()), label_column, group_column, leave_out, has_holder=labels is not None)

    def part(name: str, holder: _Part | None = None) -> _Part:
        table = tables.pop(name)
        path, features, ids = table.path, table.numbers(), None
        if id_column in table or name == labels or path.suffix not in ARRAYS:
            ids = table.unique_ids(id_column, id_prefix)
        elif holder is not None and len(holder.ids) != len(features):
            raise DataError(
                f"{path}: no array {id_column!r} of ids, and {len(features)} rows where {holder.path} has "
                f"{len(holder.ids)} samples"
            )
        rows = ids if ids is not None else np.arange(1, len(features) + 1).astype(str) if holder is None else holder.ids
        read = table.labels(label_column, task) if label_column in table or name == labels else None
        groups = table.text(group_column) if group_column and group_column in table else None
        values = columns = None
        if name != labels:
            features = features.drop(columns=[column for column in leave_out if column in features])
            columns = features.columns.to_numpy(dtype=str) if table.names_columns else None
            values = pd.DataFrame(numeric_values(features, path, rows, may_have_nan=True), rows, features.columns)
            _check_complete(values, path, impute)
        return _Part(path, rows, ids is not None, values, read, groups, columns)

    holder = part(labels) if labels else None
    parts: dict[str, _Part] = _each(lambda name: part(name, holder), list(named))
    numbered = [each for each in parts.values() if not each.has_ids]
    if numbered and holder is None and len({(each.path, len(each.ids)) for each in parts.values()}) > 1:
        raise DataError(
            f"{numbered[0].path}: no array {id_column!r} of ids; samples of several files, or of arrays with different "
            "numbers of rows, need ids, or a labels file in their order (labels: ...)"
        )
    absent = _absent(parts, holder, missing_views)
    kept = absent.index[~absent.any(axis=1) if missing_views == "drop" else ~absent.all(axis=1)].to_numpy(dtype=str)
    sources = [*([] if holder is None else [holder]), *parts.values()]
    label_text = agreed(sources, kept, "labels")
    labelled, note = _labelled(label_text, sources[0].path, label_column, task)
    ids = kept[labelled]
    values = {name: each.features.reindex(ids).to_numpy() for name, each in parts.items() if each.features is not None}
    gaps = {name: np.isnan(table) for name, table in values.items()}
    single = {name: int(gap[~gap.all(axis=1)].sum()) for name, gap in gaps.items()}
    notes = [*_missing_notes(absent, missing_views), *note]
    if counted := ", ".join(f"{name} {n}" for name, n in single.items() if n):
        notes.append(
            f"missing values are filled in by the {impute} over the training samples (impute: {impute}): {counted}"
        )
    return _sample_set(
        ids, label_text[labelled], task, ", ".join(map(str, named.values())), tables=values, notes=tuple(notes),
        groups=agreed(sources, ids, "groups") if group_column else None,
        columns={name: each.columns for name, each in parts.items() if each.columns is not None},
    )  # fmt: skip


def precomputed(
    paths: Mapping[str, Path], *, labels: str, measure: str = "kernel", id_column: str = "id",
    label_column: str = "label", group_column: str | None = None, task: TargetKind = "classes",
    missing_labels: Sequence[str] = MISSING,
) -> SampleSet:  # fmt: skip
    """Read pairwise matrices of the same samples, one file each; `labels` is the key of the labels file in `paths`.

    Tables have a row per sample, a column of ids and one column per sample, named by its id. Text tables without a
    header, of numbers only, are in the order of the labels file. NPZ and MATLAB files have one square array, and
    optionally an array of ids (without it, the order of the labels file). Rows and columns are brought to the order of
    the labels file, and samples without a label left out.

    `measure` says what matrices hold: "kernel", "distance", "squared_euclidean" or "chi2". They are made exactly
    symmetric: differences between K[i, j] and K[j, i] up to 1e-6 of the largest entry count as rounding and are
    averaged.
    """
    path = Path(paths[labels])
    holder = Table(path, id_column, [name for name in (label_column, group_column) if name], missing=missing_labels)
    ids = holder.unique_ids(id_column)
    text = holder.labels(label_column, task)
    groups = holder.text(group_column) if group_column else None
    labelled, note = _labelled(text, path, label_column, task)

    def matrix(name: str) -> np.ndarray:
        return _matrix(Path(paths[name]), id_column, ids, path, measure)[np.ix_(labelled, labelled)]

    matrices = _each(matrix, [name for name in paths if name != labels])
    return _sample_set(
        ids[labelled], text[labelled], task, str(path), matrices=matrices, measures=dict.fromkeys(matrices, measure),
        notes=note, groups=None if groups is None else groups[labelled],
    )  # fmt: skip


def _each(read: Callable[[str], Any], names: Sequence[str]) -> dict[str, Any]:
    """Read each file, and raise what is wrong with all of them at once."""
    done, mistakes = {}, list[str]()
    for name in names:
        try:
            done[name] = read(name)
        except UserError as error:
            mistakes.append(str(error))
    if mistakes:
        raise DataError("; ".join(dict.fromkeys(mistakes)))
    return done


def _labelled(text: np.ndarray, path: Path, column: str, task: TargetKind) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return the positions of samples with a label or number, and a note on the others; DataError if none has one."""
    what, predicts = ("label", "labels") if task == "classes" else ("number", "predicts")
    labelled = np.flatnonzero(text != "")
    n = len(text) - len(labelled)
    if not len(labelled):
        raise DataError(
            f"{path}: no sample has a {what} (column {column!r}); NA and the like mean none (missing_labels)"
        )
    subject = f"1 sample without a {what} is" if n == 1 else f"{n} samples without a {what} are"
    note = f"{subject} left out (missing_labels); a final model {predicts} them: mklearn predict"
    return labelled, (note,) if n else ()


def _sample_set(ids: np.ndarray, labels: np.ndarray, task: TargetKind, source: str, **content: Any) -> SampleSet:
    try:
        return (SampleSet.from_labels if task == "classes" else SampleSet.from_numbers)(ids, labels, **content)
    except DataError as error:
        raise DataError(f"{source}: {error}") from error


def agreed(sources: Sequence[Any], ids: np.ndarray, what: Literal["labels", "groups"]) -> np.ndarray:
    """Return the label or group of each sample, "" if no file has one; files that have one must agree.

    Sources have a ``path``, ``ids``, and ``labels`` or ``groups`` of these, or None.
    """
    every = pd.Series("", ids, dtype=object)
    for source in sources:
        if getattr(source, what) is None:
            continue
        here = pd.Series(getattr(source, what), source.ids, dtype=object).reindex(ids, fill_value="")
        differs = ids[(here != "") & (every != "") & (here != every)]
        if len(differs):
            raise DataError(
                f"{source.path}: {what} disagree with those of another file for {some(differs)}; {str(differs[0])!r} "
                f"is {here[differs[0]]!r} here and {every[differs[0]]!r} there"
            )
        every = every.where(here == "", here)
    return every.to_numpy(dtype=str)


# --- tables


def _check_columns(
    tables: Sequence[Table], label_column: str, group_column: str | None, leave_out: Sequence[str], *, has_holder: bool
) -> None:
    """Raise DataError for a column of labels, groups or what is no feature that no table has."""
    columns = [str(name) for table in tables for name in (*table.columns, *table.numbers().columns)]
    wanted = [label_column, *([group_column] if group_column else []), *leave_out]
    held = {name for table in tables for name in table.columns} | (set(columns) & set(leave_out))
    unknown = [name for name in wanted if name not in held]
    if unknown:
        hint = "" if has_holder or unknown[0] != label_column else ", and no labels file given (labels: ...)"
        raise DataError(
            f"{', '.join(str(table.path) for table in tables)}: no column {some(unknown)}{hint}."
            f"{nearest(unknown, columns)}"
        )


def _check_complete(values: pd.DataFrame, path: Path, impute: Impute) -> None:
    missing = values.isna().to_numpy()
    partly = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))
    if impute == "none" and partly.size:
        try:
            check_numbers(
                values.to_numpy()[partly], str(path), values.index.to_numpy()[partly], values.columns.to_numpy()
            )
        except DataError as error:
            raise DataError(
                f"{error}. Fill them in, or set impute: mean (or median), which is fitted on training samples"
            ) from error


def _absent(parts: Mapping[str, _Part], holder: _Part | None, missing_views: MissingViews) -> pd.DataFrame:
    """Return which samples lack each table; samples are in the order of the first table, then of the others.

    Raises
    ------
    DataError
        A sample lacks a table, and `missing_views` does not say what to do; tables without a common sample; or a labels
        file without a sample of the tables.
    """
    cut = "`id_prefix` takes the first characters of longer ids"
    ids = pd.Index(dict.fromkeys(name for part in parts.values() for name in part.ids.tolist()))
    if holder is not None:
        lacking = ids[~ids.isin(holder.ids)].tolist()
        if lacking:
            raise DataError(
                f"{holder.path}: lacks {some(lacking)}, which the tables have; add them, without a label too ({cut})"
            )
        ids = ids.append(pd.Index(holder.ids).difference(ids, sort=False))
    present = {name: part.features.dropna(how="all").index for name, part in parts.items() if part.features is not None}
    absent = pd.DataFrame({name: ~ids.isin(index) for name, index in present.items()}, index=ids)
    for name, part in parts.items():
        if len(parts) > 1 and (absent[name] | absent.drop(columns=name).all(axis=1)).all():
            raise DataError(
                f"{part.path}: none of its ids {some(part.ids)} is in another table; are they ids at all? ({cut})"
            )
    n = int(absent.any(axis=1).sum())
    if n and missing_views == "error":
        each = "; ".join(
            f"{parts[str(name)].path}: lacks {some(ids[gone].tolist())}" for name, gone in absent.items() if gone.any()
        )
        raise DataError(
            f"{each}. {n} of {len(ids)} samples {'lacks' if n == 1 else 'lack'} a table. If that is so, set "
            "missing_views: drop (these samples are left out) or mean (kernels put them at the mean of the others)"
        )
    return absent


def _missing_notes(absent: pd.DataFrame, missing_views: MissingViews) -> tuple[str, ...]:
    """Count the samples that lack a table, and say what is done with them."""
    n, n_nowhere = int(absent.any(axis=1).sum()), int(absent.all(axis=1).sum())
    if not n:
        return ()
    each = "; ".join(f"{name}: {some(absent.index[gone].tolist())}" for name, gone in absent.items() if gone.any())
    done = "are at the mean of the training samples there" if missing_views == "mean" else "are left out"
    none = f", but {n_nowhere} that lack every table are left out" if n_nowhere and missing_views == "mean" else ""
    return (f"{n} of {len(absent)} samples lack a table and {done} (missing_views: {missing_views}){none}. {each}",)


# --- matrices


def _matrix(path: Path, id_column: str, ids: np.ndarray, labels_path: Path, measure: str) -> np.ndarray:
    """Read a matrix in the order of `ids`, exactly symmetric."""
    bare = is_bare(path)
    table = Table(path, id_column, header=not bare)
    numbers = table.numbers()
    if len(set(numbers.shape)) > 1:
        raise DataError(f"{path}: the matrix has {len(numbers)} rows and {numbers.shape[1]} columns; it must be square")
    if id_column in table and not bare:
        rows = table.unique_ids(id_column)
        order = _row_order(rows, path, ids, labels_path)
        columns = order
        if table.names_columns:  # maybe in another order than the rows
            columns = _row_order(np.array([str(name).strip() for name in numbers.columns]), path, ids, labels_path)
        matrix = numeric_values(numbers, path, rows)[np.ix_(order, columns)]
    elif not bare and table.names_columns:
        require_columns(table.columns, (id_column,), path)
    elif len(numbers) != len(ids):
        raise DataError(
            f"{path}: {len(numbers)} rows and no ids, but {labels_path} has {len(ids)} samples; add the ids (column or "
            f"array {id_column!r}) or the missing rows"
        )
    else:
        matrix = numeric_values(numbers, path, ids)
    return _symmetric(matrix, path, ids, measure)


def _row_order(names: np.ndarray, path: Path, ids: np.ndarray, labels_path: Path) -> np.ndarray:
    """Return the positions of `ids` in `names`, which must be the same set."""
    lacking, extra = np.setdiff1d(ids, names), np.setdiff1d(names, ids)
    if len(lacking) or len(extra):
        raise DataError(
            f"{path}: its ids are not those of {labels_path}: it lacks {some(lacking) or 'none'} and has "
            f"{some(extra) or 'none'} that {labels_path} lacks"
        )
    return sample_positions(ids, names, path)


def _symmetric(matrix: np.ndarray, path: Path, ids: np.ndarray, measure: str) -> np.ndarray:
    def at(values: np.ndarray) -> str:
        i, j = np.unravel_index(int(values.argmax()), values.shape)
        return f"({str(ids[i])!r}, {str(ids[j])!r}) is {matrix[i, j]:g}"

    tolerance = _SYMMETRY * (float(np.abs(matrix).max()) or 1.0)
    gap = np.abs(matrix - matrix.T)
    if gap.max() > tolerance:
        raise DataError(f"{path}: not symmetric: {at(np.triu(gap))} but {at(np.tril(gap))}")
    matrix = (matrix + matrix.T) / 2
    diagonal = np.diag(matrix)
    if measure == "kernel":
        if diagonal.min() <= 0:
            raise DataError(
                f"{path}: not a kernel: {at(np.diag(1.0 + diagonal.max() - diagonal))}; the diagonal of a kernel is "
                "positive (of a distance it is 0: measure: distance)"
            )
        return matrix
    if matrix.min() < -tolerance or np.abs(diagonal).max() > tolerance:
        wrong = at(-matrix) if matrix.min() < -tolerance else at(np.diag(np.abs(diagonal)))
        raise DataError(f"{path}: not a {measure}: {wrong}; expected no negative value, and 0 on the diagonal")
    matrix = np.maximum(matrix, 0.0)
    np.fill_diagonal(matrix, 0.0)
    return matrix
