"""Readers of a user's own features (one table per descriptor) and own kernel or distance matrices."""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path, PurePosixPath
from typing import Any, Literal

import numpy as np
import pandas as pd

from mklearn.checks import ROUNDING
from mklearn.errors import DataError, nearest
from mklearn.kernels.feature_scaling import is_heavy_tailed
from mklearn.study.data.readers.images import class_folders
from mklearn.study.data.readers.tables import Columns, Table, column_text, numeric_values, read_table
from mklearn.study.data.samples import SampleSet, check_numbers, check_unique, read_each, some
from mklearn.study.data.text_tables import MISSING_CODES
from mklearn.study.specs.data_specs import FOLDER_KEY
from mklearn.study.specs.fit_spec import Impute

MissingViews = Literal["error", "drop", "mean"]
_EXTREME = 20
"""Distance from the median of numbers to predict, in interquartile ranges, from which a value is extreme."""
_SYMMETRY = 1e-6
"""Largest accepted negative value and diagonal of distances, relative to the largest entry."""
_SPELLING = "case, leading zeros or R's names (X1 of 1, a.b of a-b; check.names = FALSE keeps them)"


def feature_tables(
    paths: Mapping[str, Path], *, labels: str | None = None, arrays: Mapping[str, str] | None = None,
    transposed: Collection[str] = (), missing_views: MissingViews = "error", impute: Impute = "none",
    images: Table | None = None, **columns: Any,
) -> SampleSet:  # fmt: skip
    """Read tables of features of the same samples. `paths` has one file per descriptor.

    Rows may be in any order. Samples are in the order of the first table, followed by samples that it lacks. Arrays
    without ids are in the order of the labels file. Without a labels file they must all be in one file, and ids are the
    row numbers from 1. Samples without a label are left out.

    `labels` is the key in `paths` of a file with ids, labels and groups only. Without it, at least one table must have
    labels; labels in several files must agree. `arrays` names the array of a descriptor whose file has several, and
    `transposed` the descriptors whose tables have features in rows.
    `missing_views` decides about samples that lack a table or whose row has no value: "error" raises DataError, "drop"
    leaves them out, "mean" keeps them with a row of NaN (see :mod:`mklearn.kernels.completion`). With `impute`, single
    values may be missing; they stay NaN here. `images` has the paths and labels of images, which count as a table first
    in order, but samples without an image are never kept. `columns` are fields of :class:`Columns`.
    """
    special, read = Columns(**columns), list[Table]()

    def opened(name: str) -> Table:
        array, turned = (arrays or {}).get(name), name in transposed
        table = read_table(Path(paths[name]), special, array, view=name, transpose=turned, others=read)
        read.append(table if images is None else rows_of_images(table, images.ids, images.path))
        return read[-1]

    tables = read_each(opened, sorted(paths, key=lambda name: name != labels))
    tables = tables if images is None else {FOLDER_KEY: images} | tables
    sources = list(tables.values())
    _check_columns(sources, special, has_holder=labels is not None)
    holder = tables.pop(labels) if labels else None
    tables = _with_ids(tables, holder, special.id_column)
    names = {name: table.names for name, table in tables.items() if table.names is not None}
    views = read_each(lambda name: _numbers(tables[name], impute), list(tables))
    absent = _absent(views, tables, holder, missing_views)
    extra = [] if images is None else absent.index[absent[FOLDER_KEY]].tolist()
    without = f"{len(extra)} of {len(absent)} samples have a row but no image and are left out: {some(extra)}"
    notes, absent = [without] * bool(extra), absent.drop(extra)
    kept = absent.index[~absent.any(axis=1) if missing_views == "drop" else ~absent.all(axis=1)].to_numpy(dtype=str)

    def content(ids: np.ndarray) -> dict[str, Any]:
        values = {name: views.pop(name).reindex(ids).to_numpy() for name in tables if name != FOLDER_KEY}
        notes = [*_notes_on_values(values, impute), *_codes(values, names)]
        return {"tables": values, "columns": names, "notes": notes}

    return _labelled_samples([*([holder] if holder else []), *tables.values()], kept, special, content,
                             [*notes, *_missing_notes(absent, missing_views)])  # fmt: skip


def images_and_tables(paths: Mapping[str, Path], *, colour: str = "grey", **options: Any) -> SampleSet:
    """Read a folder of images and tables of further features; `options` are those of :func:`feature_tables`."""
    images = class_folders(paths, colour=colour)
    features = pd.DataFrame(0.0, index=images.ids, columns=range(1))
    source = Table(paths[FOLDER_KEY], features, True, images.labels, None, {}, [Columns.label_column])
    files = {name: path for name, path in paths.items() if name != FOLDER_KEY}
    samples = feature_tables(files, images=source, **options)
    rows = pd.Index(images.ids).get_indexer(pd.Index(samples.ids))
    return replace(samples, images=images.subset(rows).images, notes=(*images.notes, *samples.notes))


def rows_of_images(table: Table, images: np.ndarray, folder: Path) -> Table:
    """Return a table with the paths of images as ids: equal paths, or else a path or name that only one image has.

    Paths are relative to the folder of the images and may have backslashes, a leading ``./``, and no suffix. Ids
    without an image stay. Raise DataError if no row has an image, two rows have the same one, or rows have no ids.
    """
    paths = images.tolist()
    every = [(name, str(path)) for path in map(PurePosixPath, paths)
             for name in {path.name, path.stem, str(path.with_suffix(""))}]  # fmt: skip
    times = Counter(name for name, _ in every)
    single = [pair for pair in every if times[pair[0]] == 1]
    known = {unicodedata.normalize("NFC", name): path for name, path in [*single, *zip(paths, paths, strict=True)]}
    rows = [name.replace("\\", "/").removeprefix("./") for name in table.ids.tolist()]
    ids = np.array([known.get(row, row) for row in rows])
    if not table.has_ids or not np.isin(ids, paths).any():
        raise DataError(
            f"{table.path}: none of its ids {some(table.ids)} is an image of {folder}; expected paths in the "
            f"folder, such as {some(paths[:1])}, or names that one image has"
        )
    check_unique(ids, f"{table.path}: images of rows")
    return replace(table, features=table.features.set_axis(ids))


def precomputed(paths: Mapping[str, Path], *, labels: str, measure: str = "kernel", **columns: Any) -> SampleSet:
    """Read pairwise matrices of the same samples, one per file. `labels` is the key of the labels file in `paths`.

    A table has one row per sample, a column of ids, and one column per sample, named by its id. A text table of numbers
    only, without a header, is in the order of the labels file. NPZ and MATLAB files have one square array, and
    optionally an array of ids; without ids they are in the order of the labels file. Rows and columns are reordered as
    in the labels file, and samples without a label are left out. `columns` are fields of :class:`Columns`.

    `measure` is the content of the matrices: "kernel", "distance", "squared_euclidean" or "chi2". Matrices are made
    exactly symmetric: K[i, j] and K[j, i] are averaged if they differ by at most `mklearn.checks.ROUNDING` of the
    largest entry. A larger difference raises DataError. So does a constant matrix.
    """
    special = Columns(**columns)
    holder = read_table(Path(paths[labels]), special)
    _check_columns([holder], special, has_holder=True)

    def content(ids: np.ndarray) -> dict[str, Any]:
        def matrix(name: str) -> np.ndarray:
            return _matrix(Path(paths[name]), special.id_column, holder, measure).loc[ids, ids].to_numpy()

        return {"matrices": read_each(matrix, [name for name in paths if name != labels])}

    return _labelled_samples([holder], holder.ids, special, content)


def _labelled_samples(
    sources: Sequence[Table], ids: np.ndarray, columns: Columns, content: Callable[[np.ndarray], dict[str, Any]],
    notes: Sequence[str] = (),
) -> SampleSet:  # fmt: skip
    """Return the samples of `ids` that have a target, with their content; DataError if there are none."""
    paths = ", ".join(str(source.path) for source in sources)
    labels = agreed(sources, ids, "labels")
    labelled = labels != ""
    if not labelled.any():
        named = " and ".join(map(repr, filter(None, (columns.label_column, columns.event_column))))
        raise DataError(f"{paths}: no sample has a target ({named}, in one table); NA means none (missing_labels)")
    if n := len(without_target := ids[~labelled].tolist()):
        notes = [*notes, f"samples without a target are left out (missing_labels): {n}; a final model predicts them"]
    ids, labels = ids[labelled], labels[labelled]
    groups = agreed(sources, ids, "groups") if columns.group_column else None
    batches = {
        name: pd.Series(values, source.ids).reindex(ids, fill_value="").to_numpy(dtype=str)
        for source in sources
        for name, values in source.batches.items()
    }
    fields = {"without_target": without_target, **content(ids)}
    notes = (*(note for source in sources for note in source.notes), *notes, *fields.pop("notes", ()))
    target = labels if columns.task == "classes" else labels.astype(np.float64)
    if columns.task == "numbers":
        name = columns.label_column
        notes = (*notes, *_codes({name: target[:, None]}, {name: np.array([name])}), *_extremes(target, ids, name))
    try:
        return SampleSet(
            ids, target, groups=groups, batches=batches, notes=notes, survival=columns.task == "survival", **fields
        )
    except DataError as error:
        raise DataError(f"{paths}: {error}") from error


def agreed(sources: Sequence[Any], ids: np.ndarray, what: Literal["labels", "groups"]) -> np.ndarray:
    """Return the label or group of each sample, "" if no file has one; raise DataError if files disagree.

    Sources have attributes ``path``, ``ids``, and ``labels`` or ``groups``, which may be None.
    """
    every = pd.Series("", ids, dtype=object)
    for source in sources:
        if getattr(source, what) is None:
            continue
        here = pd.Series(getattr(source, what), source.ids, dtype=object).reindex(ids, fill_value="")
        differs = ids[(here != "") & (every != "") & (here != every)]
        if len(differs):
            raise DataError(
                f"{source.path}: {what} disagree with another file for {some(differs)}; {str(differs[0])!r} "
                f"is {here[differs[0]]!r} here and {every[differs[0]]!r} there"
            )
        every = every.where(here == "", here)
    return every.to_numpy(dtype=str)


# --- tables


def _check_columns(tables: Sequence[Table], columns: Columns, *, has_holder: bool) -> None:
    """Raise DataError if no table has the label column, the group column, or a column in ``leave_out``."""
    valid = {name for table in tables for name in table.columns}
    wanted = filter(None, (columns.label_column, columns.event_column, columns.group_column, *columns.leave_out))
    unknown = [name for name in wanted if name not in valid]
    if unknown:
        hint = "" if has_holder or unknown[0] != columns.label_column else ", and no labels file given (labels: ...)"
        every = [*valid, *(str(name) for table in tables for name in table.features.columns)]
        paths = ", ".join(str(table.path) for table in tables)
        raise DataError(f"{paths}: no column {some(unknown)}{hint}.{nearest(unknown, every)}")


def _with_ids(tables: dict[str, Table], holder: Table | None, id_column: str) -> dict[str, Table]:
    """Give the ids of the labels file, in its order, to the tables without ids."""
    without = {name: table for name, table in tables.items() if not table.has_ids}
    if holder is not None:
        return tables | {name: _with_ids_of(holder, table, id_column) for name, table in without.items()}
    if without and len({(table.path, len(table.ids)) for table in tables.values()}) > 1:
        raise DataError(
            f"{next(iter(without.values())).path}: no array {id_column!r} of ids; samples of several files, or of "
            "arrays with different numbers of rows, need ids, or a labels file in their order (labels: ...)"
        )
    return tables


def _with_ids_of(holder: Table, table: Table, id_column: str) -> Table:
    if len(table.ids) != len(holder.ids):
        raise DataError(
            f"{table.path}: {len(table.ids)} rows and no ids, but {holder.path} has {len(holder.ids)} samples; add the "
            f"ids (column or array {id_column!r}), or the rows that one of the two lacks"
        )
    return replace(table, features=table.features.set_axis(holder.ids))


def _numbers(table: Table, impute: Impute) -> pd.DataFrame:
    """Return the features as float64, by id. Whole rows may be missing; with `impute`, single values too."""
    values = numeric_values(table.features, table.path, table.ids, may_have_nan=True)
    missing = np.isnan(values)
    if missing.all():
        raise DataError(f"{table.path}: has no value in any column of features; leave the table out")
    partly = np.flatnonzero(missing.any(axis=1) & ~missing.all(axis=1))
    if impute == "none" and partly.size:
        advice = ". Fill them in, or set impute: mean (or median), which is fitted on training samples"
        check_numbers(values[partly], str(table.path), table.ids[partly], table.features.columns.to_numpy(), advice)
    return pd.DataFrame(values, table.ids)


def _absent(
    views: Mapping[str, pd.DataFrame], tables: Mapping[str, Table], holder: Table | None, missing_views: MissingViews
) -> pd.DataFrame:
    """Return a boolean frame that marks which samples (rows) lack which tables (columns).

    Samples are in the order of the first table, then of the others. Raise DataError if a sample lacks a table and
    `missing_views` is "error", or if the labels file lacks a sample of the tables; see `check_ids` too.
    """
    check_ids(tables, holder)
    ids = pd.Index(dict.fromkeys(name for view in views.values() for name in view.index))
    if holder is not None:
        unknown = ids[~ids.isin(holder.ids)].tolist()
        if unknown:
            raise DataError(
                f"{holder.path}: lacks {some(unknown)}, which the tables have; add them, even without a label, or name "
                "columns of a table with `transpose: true` that are no samples in `leave_out`"
            )
        ids = ids.append(pd.Index(holder.ids).difference(ids, sort=False))
    absent = pd.DataFrame({name: ~ids.isin(view.dropna(how="all").index) for name, view in views.items()}, index=ids)
    n = int(absent.any(axis=1).sum())
    if n and missing_views == "error":
        lacking = {name: ids[absent[name]].tolist() for name in tables}
        each = "; ".join(f"{tables[name].path}: lacks {some(gone)}" for name, gone in lacking.items() if gone)
        raise DataError(
            f"{each}. {n} of {len(ids)} samples lack a table or image. If that is so, set missing_views: drop (they "
            "are left out) or mean (kernels put them at the mean of the others)"
        )
    return absent


def check_ids(tables: Mapping[str, Table], holder: Table | None = None) -> None:
    """Raise DataError if the ids of a table, or of the labels file `holder`, are spelled unlike those of the others.

    Some differ from others only in spelling, none is in another table, or they begin with the ids of another (such as
    aliquots with patients).
    """
    sources = [*tables.values(), *([holder] if holder else [])]
    for short, long in itertools.permutations(sources, 2):
        n, ids = len(short.ids[0]), pd.Index(long.ids)
        begun = ids[ids.str[:n].isin(short.ids)]
        if 2 * len(begun) >= len(ids) and not ids.isin(short.ids).any() and set(map(len, short.ids)) == {n}:
            raise DataError(
                f"{long.path}: its ids begin with the ids of {short.path}, such as {begun[0]!r} with {begun[0][:n]!r}; "
                f"`id_prefix: {n}` in the data set (mklearn init: --id-prefix {n}) keeps {n} characters of each id"
            )
    for table in sources if len(sources) > 1 else ():
        elsewhere = set[str]().union(*(other.ids for other in sources if other is not table))
        alone = [name for name in table.ids if name not in elsewhere]
        if alike := spelled_alike(alone, elsewhere.difference(table.ids)):
            raise DataError(f"{table.path}: {alike}")
        if len(alone) == len(table.ids):
            others = f"such as {some(sorted(elsewhere), 3)}"
            raise DataError(f"{table.path}: none of its ids {some(alone, 3)} is in another table, {others}")


def spelled_alike(names: Collection[str], others: Collection[str]) -> str:
    """Return a clause on the names that agree with one of `others` but for `_SPELLING`; "" if none does."""
    plain = set(map(_plain, others))
    alike = [name for name in names if _plain(name) in plain]
    return f"{some(alike, 3)} differ from others only in {_SPELLING}: write them alike" if alike else ""


def _plain(name: str) -> str:
    """Return a name without the differences in `_SPELLING`."""
    name = re.sub(r"[\W_]", ".", name.lower())
    return re.sub(r"^x(?=\d)|(?<!\d)0+(?=\d)", "", name)


def _missing_notes(absent: pd.DataFrame, missing_views: MissingViews) -> Sequence[str]:
    """Return a note that counts the samples that lack a table and states their treatment."""
    n, n_nowhere = int(absent.any(axis=1).sum()), int(absent.all(axis=1).sum())
    if not n:
        return ()
    each = "; ".join(f"{name}: {some(absent.index[gone].tolist())}" for name, gone in absent.items() if gone.any())
    done = "are filled in from the training samples there" if missing_views == "mean" else "are left out"
    none = f", but {n_nowhere} that lack every table are left out" if n_nowhere and missing_views == "mean" else ""
    return (f"{n} of {len(absent)} samples lack a table and {done} (missing_views: {missing_views}){none}. {each}",)


def _notes_on_values(tables: Mapping[str, np.ndarray], impute: Impute) -> list[str]:
    """Return notes that count the single missing values, and that name heavy-tailed tables."""
    gaps = {name: np.isnan(table) for name, table in tables.items()}
    single = {name: int(gap[~gap.all(axis=1)][:, ~gap.all(axis=0)].sum()) for name, gap in gaps.items()}
    counted = ", ".join(f"{name} {n}" for name, n in single.items() if n)
    filled = f"missing values are filled in by the {impute} over the training samples (impute: {impute}): {counted}"
    return [filled] * bool(counted) + [
        f"view {name!r} is nonnegative and heavy-tailed: multi-view methods take its logarithms too, kernels with "
        "`kernels: {NAME: {kind: gaussian, feature_scaling: log}}`, methods on features with `feature_scaling: log`"
        for name, table in tables.items()
        if is_heavy_tailed(table)
    ]


def _codes(tables: Mapping[str, np.ndarray], names: Mapping[str, np.ndarray]) -> Iterator[str]:
    """Yield a note for each usual code of missing values that columns have, unlike all other values.

    It is the only negative value of a column, or lies farther from the others than they from each other (once: 100x).
    """
    for (name, table), code in itertools.product(tables.items(), MISSING_CODES):
        is_code = table == code
        columns = np.flatnonzero(is_code.any(axis=0))
        others = pd.DataFrame(np.where(is_code[:, columns], np.nan, table[:, columns]))
        low, high = others.min().to_numpy(), others.max().to_numpy()
        several, alone = is_code[:, columns].sum(axis=0) > 1, (low >= 0) & (code < 0)
        farther = np.maximum(low - code, code - high) / np.maximum(high - low, 1.0)
        columns = columns[np.where(several, alone | (farther > 1), farther > 100)]
        if n := int(is_code[:, columns].sum()):
            named = names.get(name, np.arange(1, table.shape[1] + 1))[columns]
            yield (
                f"{name!r} has {n} value{'s' * (n > 1)} {code}, unlike all others of the column(s) "
                f"{some(named, 3)}: if they mean missing values, leave these cells empty"
            )


def _extremes(target: np.ndarray, ids: np.ndarray, name: str) -> Iterator[str]:
    """Yield a note if few values lie far from the others: squared errors are then those of few samples."""
    first, median, third = np.quantile(target, (0.25, 0.5, 0.75))
    far = np.flatnonzero(np.abs(target - median) > _EXTREME * (third - first))
    if third > first and len(far):
        named = some([f"{target[row]:g} of {ids[row]}" for row in far], 3)
        yield (
            f"{name!r}: {named} lie far from the median, {median:g}, and decide R2 and RMSE: are they right? A "
            "column of logarithms, or the metrics mae and spearman, weigh them less"
        )


# --- matrices


def _matrix(path: Path, id_column: str, holder: Table, measure: str) -> pd.DataFrame:
    """Read a pairwise matrix of the samples of the labels file, in its order, and make it exactly symmetric."""
    table = read_table(path, Columns(id_column))
    rows, columns = table.features.shape
    if rows != columns:
        header = "; its first line may be a header, which needs a column of ids" if rows == columns + 1 else ""
        raise DataError(f"{path}: the matrix has {rows} rows and {columns} columns; it must be square{header}")
    table = table if table.has_ids else _with_ids_of(holder, table, id_column)
    values, ids = numeric_values(table.features, path, table.ids), table.ids
    names = ids if table.names is None else column_text(table.names, path, "names")
    for side in (ids, names):  # columns may be in another order than rows
        lacking, extra = np.setdiff1d(holder.ids, side), np.setdiff1d(side, holder.ids)
        if len(lacking) or len(extra):
            remedy = spelled_alike(lacking, extra) or "both need all samples, with an empty label where there is none"
            raise DataError(
                f"{path}: its ids are not the ids of {holder.path}: it lacks {some(lacking) or 'none'} and has "
                f"{some(extra) or 'none'} that {holder.path} lacks; {remedy}"
            )
    matrix = pd.DataFrame(values, ids, names).loc[holder.ids, holder.ids]
    return pd.DataFrame(_symmetric(matrix.to_numpy(), path, holder.ids, measure), holder.ids, holder.ids)


def _symmetric(matrix: np.ndarray, path: Path, ids: np.ndarray, measure: str) -> np.ndarray:
    def at(values: np.ndarray) -> str:
        i, j = np.unravel_index(int(values.argmax()), values.shape)
        return f"({str(ids[i])!r}, {str(ids[j])!r}) is {matrix[i, j]:g}"

    tolerance = _SYMMETRY * (float(np.abs(matrix).max()) or 1.0)
    gap = np.abs(matrix - matrix.T)
    if gap.max() > ROUNDING * np.abs(matrix).max():
        which = f"{at(np.triu(gap))} but {at(np.tril(gap))}"
        raise DataError(f"{path}: not symmetric: {which}; symmetrise it: K = (K + K.T) / 2")
    matrix = (matrix + matrix.T) / 2
    if np.ptp(matrix) <= 1e-12 * np.abs(matrix).max():
        raise DataError(f"{path}: all values are {matrix[0, 0]:g}, so that no samples differ; leave the matrix out")
    diagonal = np.diag(matrix)
    if measure == "kernel":
        wrong = (diagonal < 0) | ((diagonal == 0) & matrix.any(axis=1))
        if wrong.any():
            raise DataError(
                f"{path}: not a kernel: {at(np.diag(1.0 * wrong))}; the diagonal of a kernel is positive, or 0 in rows "
                "of zeros (of a distance it is 0: measure: distance)"
            )
        return matrix
    if matrix.min() < -tolerance or np.abs(diagonal).max() > tolerance:
        wrong = at(-matrix) if matrix.min() < -tolerance else at(np.diag(np.abs(diagonal)))
        raise DataError(f"{path}: not a {measure}: {wrong}; expected no negative value, and 0 on the diagonal")
    matrix = np.maximum(matrix, 0.0)
    np.fill_diagonal(matrix, 0.0)
    return matrix
