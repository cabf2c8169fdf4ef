"""Tables of views of the same samples, with a class for each, as repositories of multi-view data publish them.

MATLAB: a cell ``X`` of one matrix (n, d) for each view, and the codes ``y``, from 1. R: lists of matrices or data
frames, and a factor. Text: a table for each view, and one of the samples. The parts of a published split are in the
ids: ``train/s1``, ``test/s2``, which protocol ``released`` reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mklearn.errors import DataError
from mklearn.study.data.readers import feature_tables
from mklearn.study.data.readers.content import only_path
from mklearn.study.data.readers.matlab import integer_values, load_mat
from mklearn.study.data.readers.r_files import RTable, RValue, r_values
from mklearn.study.data.readers.tabular import column_text, read_frame, require_columns
from mklearn.study.data.readers.text_tables import TEXT_TABLES, table_stem
from mklearn.study.data.samples import SampleSet, some

_SAMPLES = "samples"
Text = NDArray[np.str_]


def read(
    paths: Mapping[str, Path], *, tables: Sequence[str], label: str = "label", classes: Sequence[str] | None = None,
    sample: str = "", parts: Mapping[str, str | int] | None = None, part_column: str | None = None,
    group_column: str | None = None,
) -> SampleSet:  # fmt: skip
    """Read the views.

    Parameters
    ----------
    paths : dict of str to Path
        One file of MATLAB or R; or text tables ``NAME.csv`` (or ``NAME.csv.gz``) for each view, with a column ``id``,
        and ``samples.csv``.
    tables : sequence of str
        Names of the views: of a MATLAB file in the order of ``X``, otherwise of the matrices or files.
    label : str
        Name of the factor of classes (R), or of the column of classes (text).
    classes : sequence of str, optional
        Of a MATLAB file: names of the codes 1, 2, ...
    sample : str
        What precedes the number of a sample in its id: of a MATLAB file, in which samples have no names, its row from
        0, and of R the names of rows.
    parts : dict of str to str or int, optional
        Parts of the published split, in the order of the samples: of a MATLAB file the number of samples of each, of R
        the list that holds it.
    part_column : str, optional
        Column of the part of each sample (text).
    group_column : str, optional
        Column of the group of each sample (text).

    Returns
    -------
    SampleSet
        Unscaled float64 tables. A sample that lacks a view has NaN there.

    Raises
    ------
    DataError
        Not such files; other numbers of views, samples or features than their parts have.
    """
    suffix = next(iter(paths.values())).suffix.lower() if paths else ""
    if suffix == ".mat":
        return _of_matlab(only_path(paths, "views"), tables, classes, sample, parts or {})
    if suffix in (".rda", ".rdata"):
        return _of_r(only_path(paths, "views"), tables, label, sample, parts or {"": ""})
    return _of_text(paths, tables, label, part_column, group_column)


def _of_matlab(
    path: Path, tables: Sequence[str], classes: Sequence[str] | None, sample: str, parts: Mapping[str, str | int]
) -> SampleSet:
    cells, codes = load_mat(path, ("X", "y"))
    views = [np.asarray(cell) for cell in cells.ravel()]
    target = integer_values(codes, path, "y")
    n = len(target)
    wrong = [view.shape for view in views if view.ndim != 2 or len(view) != n or view.dtype.kind not in "uif"]
    if cells.dtype != object or len(views) != len(tables) or wrong:
        raise DataError(
            f"{path}: X has {len(views)} views of shapes {some([view.shape for view in views], 20)}; expected "
            f"{len(tables)} matrices of {n} rows, one for each label"
        )
    names = list(classes) if classes is not None else [str(code) for code in range(1, int(target.max()) + 1)]
    if target.min() < 1 or target.max() > len(names):
        raise DataError(f"{path}: y has the codes {target.min()} to {target.max()}; expected 1 to {len(names)}")
    ids = np.array([f"{sample}{row:0{len(str(n - 1))}d}" for row in range(n)])
    if parts:
        if sum(map(int, parts.values())) != n:
            raise DataError(f"{path}: {n} samples; expected {' + '.join(map(str, parts.values()))}")
        ids = _with_parts(ids, np.repeat(list(parts), [int(size) for size in parts.values()]))
    held = {name: view.astype(np.float64) for name, view in zip(tables, views, strict=True)}
    return _sample_set(path, ids, np.array(names)[target - 1], held)


def _of_r(path: Path, tables: Sequence[str], label: str, sample: str, parts: Mapping[str, str | int]) -> SampleSet:
    values = r_values(path)
    (name,) = {where.split("/")[0] for where in values} or {""}
    read_parts = [_r_part(values, f"{name}/{place}".rstrip("/"), tables, label, path) for place in parts.values()]
    columns: dict[str, list[str]] = {}
    for part, _, _ in read_parts:
        for view, table in part.items():
            if columns.setdefault(view, table.columns) != table.columns:
                raise DataError(f"{path}: the parts of {view} have different columns")
    lacking = [view for view in tables if view not in columns]
    if lacking:
        raise DataError(f"{path}: no table {some(lacking)}; it has {some(list(values), 20)}")
    ids = np.concatenate([np.array([f"{sample}{row}" for row in rows]) for _, _, rows in read_parts])
    if any(parts):
        ids = _with_parts(ids, np.repeat(list(parts), [len(rows) for _, _, rows in read_parts]))
    held = {
        view: np.concatenate([
            part[view].values if view in part else np.full((len(rows), len(columns[view])), np.nan)
            for part, _, rows in read_parts
        ])
        for view in tables
    }  # fmt: skip
    return _sample_set(path, ids, np.concatenate([labels for _, labels, _ in read_parts]), held)


def _r_part(
    values: Mapping[str, RValue], place: str, tables: Sequence[str], label: str, path: Path
) -> tuple[dict[str, RTable], Text, list[str]]:
    """Return the tables that a list of R has, its classes, and the names of its rows, which its tables share."""
    held = {view: table for view in tables if isinstance(table := values.get(f"{place}/{view}"), RTable)}
    labels = values.get(f"{place}/{label}")
    if not held or labels is None or isinstance(labels, RTable):
        raise DataError(f"{path}: no tables {some(list(tables))} with a factor {label!r} in {place}")
    rows = next(iter(held.values())).rows
    if any(table.rows != rows for table in held.values()) or len(labels) != len(rows):
        raise DataError(f"{path}: the tables and classes of {place} are of different samples")
    return held, labels, rows


def _of_text(
    paths: Mapping[str, Path], tables: Sequence[str], label: str, part_column: str | None, group_column: str | None
) -> SampleSet:
    by_name = {table_stem(path): path for path in map(Path, paths.values()) if path.name.endswith(TEXT_TABLES)}
    lacking = [name for name in (*tables, _SAMPLES) if name not in by_name]
    if lacking:
        raise DataError(f"{', '.join(map(str, paths.values())) or 'views'}: no table {some(lacking)}")
    samples = feature_tables.read(
        {name: by_name[name] for name in (*tables, _SAMPLES)}, labels=_SAMPLES, label_column=label,
        group_column=group_column, missing_views="mean",
    )  # fmt: skip
    if part_column is None:
        return replace(samples, notes=())
    frame = read_frame(by_name[_SAMPLES], ("id", part_column))
    require_columns(frame, (part_column,), by_name[_SAMPLES])
    part_of = dict(zip(frame["id"], column_text(frame[part_column], by_name[_SAMPLES], part_column), strict=True))
    return replace(samples, ids=_with_parts(samples.ids, np.array([part_of[name] for name in samples.ids])), notes=())


def _with_parts(ids: Text, parts: Text) -> Text:
    return np.array([f"{part}/{name}" for part, name in zip(parts, ids, strict=True)])


def _sample_set(path: Path, ids: Text, labels: Text, tables: Mapping[str, np.ndarray]) -> SampleSet:
    gaps = tuple(name for name, table in tables.items() if np.isnan(table).all(axis=1).any())
    try:
        return SampleSet.from_labels(ids, labels, tables=tables, incomplete=gaps)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
