"""Readers of tables of views: text files, files of R packages, data sets that are part of scikit-learn or mklearn."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.errors import DataError
from mklearn.extras import require
from mklearn.study.data.readers.frames import read_frame, readable
from mklearn.study.data.readers.own_tables import feature_tables
from mklearn.study.data.readers.registered import only_path
from mklearn.study.data.readers.tables import column_text, require_columns
from mklearn.study.data.samples import SampleSet, some
from mklearn.study.data.text_tables import table_stem

_SAMPLES = "SAMPLES"
"""Key of the table of samples among the views. It can't clash: names of views are lower case."""
_BODY = 4
"""Number of columns in view "body" of `diabetes`: age, sex, body mass index, blood pressure. The rest is "serum"."""


def diabetes(paths: Mapping[str, Path] | None = None, *, target: str = "progression") -> SampleSet:
    """Read the 442 diabetes patients of scikit-learn, unscaled. `paths` and `target` are ignored."""
    from sklearn.datasets import load_diabetes

    data, progression = load_diabetes(return_X_y=True, scaled=False)
    ids = [f"patient-{row:03d}" for row in range(len(data))]
    tables = {"body": np.asarray(data[:, :_BODY]), "serum": np.asarray(data[:, _BODY:])}
    return SampleSet(np.array(ids), progression, tables=tables)


def linnerud(paths: Mapping[str, Path] | None = None, *, target: str = "weight") -> SampleSet:
    """Read the 20 men of scikit-learn's Linnerud data: pounds, inches and beats per minute. `paths` is ignored."""
    from sklearn.datasets import load_linnerud

    loaded = load_linnerud()
    ids = [f"man-{row:02d}" for row in range(len(loaded.data))]
    column = [name.lower() for name in loaded.target_names].index(target)
    return SampleSet(np.array(ids), loaded.target[:, column], tables={"exercise": loaded.data})


def mfeat_500(paths: Mapping[str, Path] | None = None, *, tables: Sequence[str]) -> SampleSet:
    """Read the 500 numerals of `mfeat` that are part of mklearn. `paths` is ignored.

    The file has a row per feature, named by its view and a number, and a column per sample, named by class and id.
    """
    frame = pd.read_csv(Path(__file__).parents[1] / "mfeat" / "mfeat-500.csv.bz2", header=[0, 1], index_col=0)
    labels, ids = map(np.array, zip(*frame.columns, strict=True))
    return SampleSet(ids, labels, tables={name: frame.filter(like=name, axis=0).to_numpy().T for name in tables})


def text(
    paths: Mapping[str, Path], *, tables: Sequence[str] | Mapping[str, str], label: str = "label",
    part_column: str | None = None, group_column: str | None = None, target: str | None = None,
    filled_column: str | None = None, kernels: Sequence[str] = (), samples_table: str = "samples",
    event_column: str | None = None, **columns: Any,
) -> SampleSet:  # fmt: skip
    """Read one text table per view, ``NAME.csv`` or ``NAME.csv.gz`` with a column ``id``, and a table of the samples.

    `tables` are the names of the views and their files, or a mapping from views to file names. The other arguments name
    columns of `samples_table`: `label` has the classes, or `target` the numbers to predict, which are survival times if
    `event_column` has the events; `group_column` the groups; `part_column` the part of the published split, which
    becomes a prefix of the id (``train/s1``). `filled_column` lists, joined by "+", the files whose row of this sample
    was filled in upstream; the sample then lacks these views.
    `kernels` names the tables that are kernels among all samples. They are replaced by a root, so that the linear
    kernel of the view equals the kernel. `columns` are further fields of :class:`Columns`.
    """
    by_stem = {table_stem(path): path for path in map(Path, paths.values())}
    stems = tables if isinstance(tables, Mapping) else {name: name for name in tables}
    if lacking := [stem for stem in (*stems.values(), samples_table) if stem not in by_stem]:
        raise DataError(f"{', '.join(map(str, paths.values())) or 'views'}: no table {some(lacking)}")
    samples = feature_tables(
        {name: by_stem[stem] for name, stem in stems.items()} | {_SAMPLES: by_stem[samples_table]}, labels=_SAMPLES,
        label_column=target or label, task="survival" if event_column else "numbers" if target else "classes",
        group_column=group_column, event_column=event_column, missing_views="mean", **columns,
    )  # fmt: skip
    path = by_stem[samples_table]
    frame = read_frame(path, [name for name in ("id", filled_column, part_column) if name])
    require_columns(frame, [name for name in (filled_column, part_column) if name], path)
    about = frame.set_index("id").loc[samples.ids]
    views, ids = dict(samples.tables), samples.ids
    if filled_column is not None:
        filled = [cell.split("+") for cell in column_text(about[filled_column], path, filled_column, may_be_empty=True)]
        for name, table in views.items():
            views[name] = np.where(np.array([stems[name] in names for names in filled])[:, None], np.nan, table)
    if part_column is not None:
        ids = np.array([f"{part}/{name}" for part, name in zip(about[part_column], ids, strict=True)])
    views |= {name: _root(views[name], by_stem[stems[name]]) for name in kernels}
    return replace(samples, ids=ids, tables=views, notes=())


def _root(kernel: np.ndarray, path: Path) -> np.ndarray:
    """Return a root of a kernel, (n, n): the symmetric root times a fixed random rotation.

    The rotation mixes all samples in each column, and gives columns about the same spread. Columns of other roots
    depend on few samples: a column that is zero up to rounding on the training samples would be scaled by 1e13.
    """
    n = len(kernel)
    if kernel.shape != (n, n) or not np.allclose(kernel, kernel.T, rtol=1e-8, atol=1e-8):
        raise DataError(f"{path}: a table of shape {kernel.shape} is no symmetric kernel among {n} samples")
    values, vectors = np.linalg.eigh((kernel + kernel.T) / 2.0)
    root = (vectors * np.sqrt(np.maximum(values, 0.0))) @ vectors.T
    rotation, scales = np.linalg.qr(np.random.default_rng(0).normal(size=(n, n)))
    return np.asarray(root @ (rotation * np.sign(np.diag(scales))))


def r_package(
    paths: Mapping[str, Path], *, tables: Sequence[str], label: str = "label", sample: str = "",
    parts: Mapping[str, str] | None = None,
) -> SampleSet:  # fmt: skip
    """Read an R object: a list of matrices or data frames, named by `tables`, and a factor, `label`.

    Ids are `sample` followed by the row name. `parts` maps each part of the published split to the nested list that
    holds it; ids then begin with the part (``train/s1``), and a part may lack a table.
    """
    path = only_path(paths)
    require("rdata")
    with readable(path), warnings.catch_warnings():
        import rdata

        values = dict(_flattened(rdata.conversion.convert(rdata.parser.parse_data(path.read_bytes()))))
    name = next(iter(values), "").split("/")[0]
    ids, labels, frames = list[str](), list[str](), list[pd.DataFrame]()
    for part, place in (parts or {"": ""}).items():
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
    require_columns(whole, tables, path, "table")
    views = {view: np.ascontiguousarray(whole[view].to_numpy()) for view in tables}
    return SampleSet(np.array(ids), np.array(labels), tables=views)


def _flattened(values: Mapping[str, Any], place: str = "") -> Iterator[tuple[str, pd.DataFrame | np.ndarray]]:
    """Yield the numeric tables, and the factors as text, with their path, such as ``nutrimouse/gene``."""
    for name, value in values.items():
        if isinstance(value, Mapping):
            yield from _flattened(value, f"{place}{name}/")
            continue
        array, shape = np.asarray(value), getattr(value, "shape", ())
        if len(shape) == 1 and (hasattr(value, "categories") or array.dtype.kind == "U"):
            yield f"{place}{name}", array.astype(str)
        elif len(shape) == 2 and array.dtype.kind in "uif":
            table = value.to_pandas() if hasattr(value, "to_pandas") else pd.DataFrame(value)  # a matrix has names
            yield f"{place}{name}", table.astype(np.float64).rename(index=str, columns=str)
