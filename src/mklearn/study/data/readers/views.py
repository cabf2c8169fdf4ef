"""Tables of views of the same samples, each with a class or number, as repositories of multi-view data publish them.

MATLAB: a cell ``X`` of one matrix (n, d) for each view, and the codes ``y``, from 1. R: lists of matrices or data
frames, and a factor. Text: a table for each view, and one of the samples. The parts of a published split are in the
ids: ``train/s1``, ``test/s2``, which protocol ``released`` reads.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.errors import DataError
from mklearn.study.data.readers import feature_tables
from mklearn.study.data.readers.content import only_path
from mklearn.study.data.readers.matlab import load_mat
from mklearn.study.data.readers.r_files import r_values
from mklearn.study.data.readers.tabular import column_text, read_frame, require_columns, whole_numbers
from mklearn.study.data.samples import SampleSet, some
from mklearn.study.data.text_tables import TEXT_TABLES, table_stem

_SAMPLES = "samples"
Text = NDArray[np.str_]


def read(
    paths: Mapping[str, Path], *, tables: Sequence[str] | Mapping[str, str], label: str = "label",
    classes: Sequence[str] | None = None, sample: str = "", parts: Mapping[str, str | int] | None = None,
    part_column: str | None = None, group_column: str | None = None, target: str | None = None,
    filled_column: str | None = None, kernels: Sequence[str] = (),
) -> SampleSet:  # fmt: skip
    """Read the views, unscaled, as float64; a sample that lacks a view has NaN there.

    Parameters
    ----------
    paths : dict of str to Path
        One file of MATLAB or R; or text tables ``NAME.csv`` (or ``NAME.csv.gz``) for each view, with a column ``id``,
        and ``samples.csv``.
    tables : sequence of str, or mapping of str to str
        Names of the views: of a MATLAB file in the order of ``X``, otherwise of the matrices or files. Of text tables
        also the name of the file by that of the view.
    label, target, group_column, part_column : str
        Columns of classes (of R a factor), or in its place of numbers to predict, of groups, and of parts of the
        published split (text).
    classes : sequence of str, optional
        Of a MATLAB file: names of the codes 1, 2, ...
    sample : str
        Beginning of ids: of a MATLAB file before the row from 0, of R before the names of rows.
    parts : dict of str to str or int, optional
        Parts of the published split, in the order of the samples: of a MATLAB file the number of samples of each, of R
        the list that holds it.
    filled_column : str, optional
        Column with the files, joined by "+", whose row was filled in upstream: the sample lacks these views (text).
    kernels : sequence of str
        Views whose table is a kernel among all samples. They become a root of it, so that a linear kernel of the view
        is the kernel (text).
    """
    suffix = next(iter(paths.values())).suffix.lower() if paths else ""
    if suffix == ".mat":
        return _of_matlab(only_path(paths, "views"), list(tables), classes, sample, parts or {})
    if suffix in (".rda", ".rdata"):
        return _of_r(only_path(paths, "views"), list(tables), label, sample, parts or {"": ""})
    by_stem = {table_stem(path): path for path in map(Path, paths.values()) if path.name.endswith(TEXT_TABLES)}
    stems = tables if isinstance(tables, Mapping) else {name: name for name in tables}
    lacking = [stem for stem in (*stems.values(), _SAMPLES) if stem not in by_stem]
    if lacking:
        raise DataError(f"{', '.join(map(str, paths.values())) or 'views'}: no table {some(lacking)}")
    rows = by_stem[_SAMPLES]
    samples = feature_tables.read(
        {name: by_stem[stem] for name, stem in stems.items()} | {_SAMPLES: rows}, labels=_SAMPLES,
        label_column=target or label, task="numbers" if target else "classes", group_column=group_column,
        missing_views="mean",
    )  # fmt: skip
    samples = replace(samples, notes=())
    if filled_column is not None:
        samples = _without_filled_rows(samples, rows, filled_column, stems)
    if kernels:
        roots = {name: _root(samples.tables[name], rows, name) for name in kernels}
        samples = replace(samples, tables={**samples.tables, **roots})
    if part_column is None:
        return samples
    return replace(samples, ids=_with_parts(samples.ids, np.array(_column(rows, part_column, samples.ids))))


def _of_matlab(
    path: Path, tables: Sequence[str], classes: Sequence[str] | None, sample: str, parts: Mapping[str, str | int]
) -> SampleSet:
    cells, codes = load_mat(path, ("X", "y"))
    views = [np.asarray(cell) for cell in cells.ravel()]
    target = whole_numbers(codes.ravel(), path, "y")
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
    by_name = {name: view.astype(np.float64) for name, view in zip(tables, views, strict=True)}
    return _sample_set(path, ids, np.array(names)[target - 1], by_name)


def _of_r(path: Path, tables: Sequence[str], label: str, sample: str, parts: Mapping[str, str | int]) -> SampleSet:
    values = r_values(path)
    (name,) = {where.split("/")[0] for where in values} or {""}
    ids, labels, frames = list[str](), list[str](), list[pd.DataFrame]()
    for part, place in parts.items():
        here = f"{name}/{place}".rstrip("/")
        frame = {view: table for view in tables if isinstance(table := values.get(f"{here}/{view}"), pd.DataFrame)}
        factor = values.get(f"{here}/{label}")
        if not frame or not isinstance(factor, np.ndarray):
            raise DataError(f"{path}: no tables {some(list(tables))} with a factor {label!r} in {here}")
        rows = next(iter(frame.values())).index
        if any(not table.index.equals(rows) for table in frame.values()) or len(factor) != len(rows):
            raise DataError(f"{path}: the tables and classes of {here} are of different samples")
        ids += [f"{part}/{sample}{row}" if part else f"{sample}{row}" for row in rows]
        labels += factor.tolist()
        frames.append(pd.concat(frame, axis=1))
    whole = pd.concat(frames, ignore_index=True)
    lacking = [view for view in tables if view not in whole]
    if lacking:
        raise DataError(f"{path}: no table {some(lacking)}; it has {some(list(values), 20)}")
    for view in tables:
        if any(view in frame and not frame[view].columns.equals(whole[view].columns) for frame in frames):
            raise DataError(f"{path}: the parts of {view} have different columns")
    views = {view: np.ascontiguousarray(whole[view].to_numpy()) for view in tables}
    return _sample_set(path, np.array(ids), np.array(labels), views)


def _column(path: Path, name: str, ids: Text) -> list[str]:
    """Return a column of the table of samples as text, "" where it is empty, in the order of the samples."""
    frame = read_frame(path, ("id", name))
    require_columns(frame, (name,), path)
    of_id = dict(zip(frame["id"], column_text(frame[name], path, name, may_be_empty=True), strict=True))
    return [str(of_id[sample]) for sample in ids]


def _without_filled_rows(samples: SampleSet, path: Path, column: str, stems: Mapping[str, str]) -> SampleSet:
    """Return the samples without the rows that were filled in upstream."""
    filled = [set(text.split("+")) for text in _column(path, column, samples.ids)]
    tables = {name: table.copy() for name, table in samples.tables.items()}
    for name, table in tables.items():
        table[[stems[name] in names for names in filled]] = np.nan
    gaps = tuple(name for name, table in tables.items() if np.isnan(table).any())
    return replace(samples, tables=tables, incomplete=gaps)


def _root(kernel: np.ndarray, path: Path, name: str) -> np.ndarray:
    """Return a root of a kernel, (n, n): its symmetric root times a fixed random rotation.

    Each column is then a mixture of all samples, of about the same spread. Columns of other roots are of few samples:
    one that is 0 but for rounding among training samples would be scaled up by 1e13 for the others.
    """
    n = len(kernel)
    if kernel.shape != (n, n) or not np.allclose(kernel, kernel.T, rtol=1e-8, atol=1e-8):
        raise DataError(f"{path}: the table {name!r} of shape {kernel.shape} is no symmetric kernel among the samples")
    values, vectors = np.linalg.eigh((kernel + kernel.T) / 2.0)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    rotation, scales = np.linalg.qr(np.random.default_rng(0).normal(size=(n, n)))
    return np.asarray(root @ (rotation * np.sign(np.diag(scales))))


def _with_parts(ids: Text, parts: Text) -> Text:
    return np.array([f"{part}/{name}" for part, name in zip(parts, ids, strict=True)])


def _sample_set(path: Path, ids: Text, labels: Text, tables: Mapping[str, np.ndarray]) -> SampleSet:
    gaps = tuple(name for name, table in tables.items() if np.isnan(table).all(axis=1).any())
    try:
        return SampleSet.from_labels(ids, labels, tables=tables, incomplete=gaps)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
