"""Reading of tables of ids, labels and numbers from text, Parquet, NumPy, MATLAB, AnnData and MuData files."""

from __future__ import annotations

import unicodedata
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.atomic import existing_file, read_npz
from mklearn.errors import DataError
from mklearn.extras import require
from mklearn.study.data.readers.frames import decimal_mark, read_frame, readable
from mklearn.study.data.readers.labels import check_decimal_points, class_names, survival_times, target_numbers
from mklearn.study.data.samples import check_numbers, check_unique, some
from mklearn.study.data.text_tables import BATCH_NAMES, LIMIT, MISSING, is_number, named_like, table_suffix
from mklearn.study.specs.data_specs import TargetKind

MUDATA = ".h5mu"
ANNOTATED = (".h5ad", MUDATA)
ARRAYS = (".npy", ".npz", ".mat")
"""Suffixes of files of arrays: features have no names, and ids are optional."""
MOST_BYTES = 8 << 30
"""Maximum size of a sparse matrix as a dense table, in bytes."""


@dataclass(frozen=True)
class Columns:
    """Columns of tables that do not hold features, and how they are read."""

    id_column: str = "id"
    """Column of the ids. Without it, ids are the index of a Parquet table, or of ``obs`` in AnnData."""
    label_column: str = "label"
    group_column: str | None = None
    leave_out: Sequence[str] = ()
    task: TargetKind = "classes"
    """Kind of the labels: classes, numbers, or survival times in `label_column`, which end in `event_column`."""
    event_column: str | None = None
    occurred: str | None = None
    """Value of `event_column` that means that the event occurred; None for 1 or true."""
    missing_labels: Collection[str] = MISSING
    """Words that mean a missing label or group, as an empty cell does."""
    id_prefix: int | None = None
    """Number of leading characters of each id that identify the sample; None for all."""
    rows: str | None = None
    """Expression over the columns named here, as text, for ``DataFrame.eval``: other rows have no label."""
    categories: Sequence[str] = ()
    """Columns of text whose values each become a feature that is 1 or 0."""


@dataclass(frozen=True)
class Table:
    """Samples of one file."""

    path: Path
    features: pd.DataFrame
    """Features, indexed by unique ids: row numbers from 1 if the file has no ids. Columns of arrays are unnamed."""
    has_ids: bool
    labels: np.ndarray | None
    """Label of each sample, (n,) str, "" for a missing one; None if the file has no such column."""
    groups: np.ndarray | None
    batches: Mapping[str, np.ndarray]
    """Columns (n,) str that may be batches: the group column, and columns with a usual name."""
    columns: Sequence[str]
    """Names of the columns that do not hold features."""
    notes: Sequence[str] = ()

    @property
    def ids(self) -> np.ndarray:
        """Ids of the samples, (n,) str."""
        return self.features.index.to_numpy(dtype=str)

    @property
    def names(self) -> np.ndarray | None:
        """Names of the features, (d,) str; None if they have no names."""
        is_numbered = isinstance(self.features.columns, pd.RangeIndex)
        return None if is_numbered else self.features.columns.to_numpy(dtype=str)


def read_table(
    path: Path, columns: Columns, array: str | None = None, *, view: str = "X", transpose: bool = False,
    others: Sequence[Table] = (),
) -> Table:  # fmt: skip
    """Read the samples of a file: columns of ids, labels and groups, and one matrix of features.

    `array` selects the matrix in a file with several: a variable of NPZ or MATLAB; ``X``, ``obsm/NAME`` or
    ``layers/NAME`` of AnnData; a modality (by default `view`) or ``MODALITY/obsm/NAME`` of MuData. A text table whose
    first line has numbers only is a matrix with unnamed columns, like an array. With `transpose`, rows are features,
    named in the first column, and other columns are samples; the ids of `others`, tables of the same samples, show if
    it is wrong.
    """
    targets = (columns.label_column, columns.event_column)
    text = list(dict.fromkeys(filter(None, (columns.id_column, *targets, columns.group_column, *columns.leave_out))))
    notes, left_out, suffix = list[str](), list[str](), table_suffix(path)
    if transpose and suffix in (*ARRAYS, *ANNOTATED):
        raise DataError(f"{path}: `transpose` is for tables of named columns (.csv, .tsv, .parquet)")
    if suffix in ANNOTATED:
        about, features = _annotated(path, array or (view if suffix == MUDATA else "X"), columns.id_column)
    elif suffix in ARRAYS:
        about, features = _of_arrays(path, array, text)
    elif array is not None:
        raise DataError(f"{path}: `array` {array!r} is for files of several arrays; omit it")
    else:
        frame = read_frame(path, text)
        left_out = [name for name in columns.leave_out if name in frame]
        if transpose:
            frame = _transposed(frame.drop(columns=left_out), path, columns.id_column)
        for other in others:
            if n := columns_of_samples(frame, other.ids, columns.id_prefix):
                named = f"{n} of its {'rows' if transpose else 'columns'} are named as the samples of {other.path}"
                raise DataError(f"{path} looks transposed: {named}; {'omit' if transpose else 'set'} `transpose: true`")
        notes = _notes_on_index(frame, columns.id_column, path)
        about = frame[[name for name in text if name in frame]]
        features = frame.drop(columns=list(about))
    if not len(features):
        raise DataError(f"{path}: no rows")
    if categories := [name for name in columns.categories if name in features]:
        features = pd.get_dummies(features, columns=categories)
    has_ids, ids = columns.id_column in about, np.arange(1, len(features) + 1).astype(str)
    if has_ids:
        ids, cut = column_text(about[columns.id_column], path, columns.id_column), ""
        if columns.id_prefix:
            ids, cut = ids.astype(f"U{columns.id_prefix}"), f" of {columns.id_prefix} characters (id_prefix)"
        advice = "; each row is a sample: give the rows different ids, and name repeated ones as groups (group_column)"
        check_unique(ids, f"{path}: ids{cut}", advice)
    elif suffix not in ARRAYS and not isinstance(features.columns, pd.RangeIndex):
        require_columns([*about, *features], (columns.id_column,), path)
    labels, censored = _targets(about, ids, path, columns)
    batches = {
        str(name): column_text(frame[name], path, str(name), may_be_empty=True)
        for frame in (about, features)
        for name in frame
        if name == columns.group_column or (named_like(str(name), BATCH_NAMES) and name not in targets)
    }
    features = features.drop(columns=[name for name in columns.leave_out if name in features]).set_axis(ids)
    groups, names = _words(about, columns.group_column, path, columns), [*left_out, *map(str, about)]
    return Table(path, features, has_ids, labels, groups, batches, names, [*notes, *censored])


def _words(about: pd.DataFrame, name: str | None, path: Path, columns: Columns) -> np.ndarray | None:
    """Return a column of labels, events or groups as text, "" for a missing one; None if there is no such column."""
    if name not in about:
        return None
    values = column_text(about[name], path, str(name), may_be_empty=True)
    return np.where(np.isin(values, list(columns.missing_labels)), "", values)


def _targets(
    about: pd.DataFrame, ids: np.ndarray, path: Path, columns: Columns
) -> tuple[np.ndarray | None, Sequence[str]]:
    """Return the labels as names of classes, numbers or survival times, with notes; None if a column is missing."""
    labels, events = (_words(about, name, path, columns) for name in (columns.label_column, columns.event_column))
    if labels is None or (events is None and columns.event_column is not None):
        return None, []
    if columns.rows is not None:
        labels = np.where(np.asarray(about.eval(columns.rows, engine="python")), labels, "")
    what = f"{path}: column {columns.label_column!r}"
    if columns.task != "classes" and decimal_mark(path) == ",":
        check_decimal_points(labels, what)
    if events is not None:
        names = (columns.label_column, str(columns.event_column))
        return survival_times(labels, events, ids, path, names, columns.occurred)
    if columns.task == "classes":
        return class_names(labels, what, columns.label_column), []
    return target_numbers(labels, what, ids), []


def columns_of_samples(frame: pd.DataFrame, ids: Collection[str], prefix: int | None = None) -> int:
    """Return the number of columns that are named as samples, if they are most columns or samples and no row is."""
    n = int(frame.columns.astype(str).str[:prefix].isin(ids).sum())
    words = frame.select_dtypes(exclude="number").astype(str)
    in_rows = any(words[name].str[:prefix].isin(ids).any() for name in words)
    return n if 2 * n > min(len(ids), frame.shape[1]) and not in_rows else 0


def _transposed(frame: pd.DataFrame, path: Path, id_column: str) -> pd.DataFrame:
    """Return a table with a feature in each row, named by its first column, as a table with a sample in each row."""
    if not len(frame):
        raise DataError(f"{path}: no rows")
    first, *samples = frame.columns
    names = column_text(frame[first], path, str(first))
    check_unique(np.array([id_column, *names]), f"{path}: names of features, in column {str(first)!r},")
    turned = pd.DataFrame(numeric_values(frame[samples], path, names, may_have_nan=True).T, columns=names)
    turned.insert(0, id_column, samples)
    return turned


def _notes_on_index(frame: pd.DataFrame, ids: str, path: Path) -> list[str]:
    """Return a note on an index, or first column, without a name: it has the ids, or is left out."""
    if isinstance(frame.index, pd.RangeIndex) or frame.index.name is not None:
        return []
    place = "the index" if path.suffix == ".parquet" else "the first column, which has no name,"
    if ids not in frame:
        raise DataError(f"{path}: no column {ids!r}; {place} has no ids (as row numbers are none): name their column")
    return [f"{path}: {place} {'has the ids' if frame.index.equals(pd.Index(frame[ids])) else 'is left out'}"]


# --- files of arrays


def arrays_in(path: Path, names: Collection[str] | None = None) -> dict[str, np.ndarray]:
    """Read the arrays of an NPZ, NPY or MATLAB file (versions 5 to 7.3); from MATLAB, only `names` if given.

    The array of NPY is named ``X``. A MATLAB cell of text becomes a vector. A file of ``scipy.sparse.save_npz`` becomes
    a dense matrix ``X``.
    """
    path = existing_file(path)
    if path.suffix == ".npz":
        arrays = read_npz(path)
        if {"format", "shape", "data"} <= set(arrays):
            from scipy import sparse

            with readable(path):
                return {**arrays, "X": _dense(sparse.load_npz(path), path)}
        return arrays
    with readable(path):
        if path.suffix == ".npy":
            return {"X": np.load(path, allow_pickle=False)}
        variables = matlab_variables(path, names)
        return {name: _array(value, path) for name, value in variables.items()}


def matlab_variables(path: Path, names: Collection[str] | None = None) -> dict[str, Any]:
    """Read the variables of a MATLAB file, or only `names`. Axes of length 1 are dropped; cells become lists."""
    require("pymatreader", "h5py")
    from pymatreader import read_mat

    with readable(existing_file(path)):
        variables = read_mat(str(path), variable_names=None if names is None else list(names))
    return {str(name): value for name, value in variables.items() if not name.startswith(("__", "#"))}


def _array(value: Any, path: Path) -> np.ndarray:
    if hasattr(value, "toarray"):
        return _dense(value, path)
    if not isinstance(value, list):
        return np.asarray(value)
    if all(isinstance(cell, str) or np.size(cell) == 0 for cell in value):
        return np.array([cell.rstrip() if isinstance(cell, str) else "" for cell in value], dtype=str)
    cells = np.empty(len(value), dtype=object)
    cells[:] = value
    return np.array(value) if all(np.ndim(cell) == 0 for cell in value) else cells


def _of_arrays(path: Path, array: str | None, text: Sequence[str]) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the vectors named in `text`, and the matrix `array` (by default the only one)."""
    arrays = arrays_in(path, None if array is None else (array, *text))
    matrices = {name: values for name, values in arrays.items() if name not in text and values.ndim == 2}
    if array is not None:
        require_columns(arrays, (array,), path, "array")
        is_column = path.suffix == ".mat" and arrays[array].ndim == 1
        matrices = {array: arrays[array][:, None] if is_column else arrays[array]}
    if len(matrices) != 1:
        hint = "; name it: {path: ..., array: NAME}" if matrices else ""
        raise DataError(f"{path}: expected one matrix, found {some(list(matrices)) or 'none'}{hint}")
    ((name, matrix),) = matrices.items()
    if matrix.ndim != 2 or matrix.dtype.kind not in "uifb":
        raise DataError(f"{path}: array {name!r} has shape {matrix.shape} and type {matrix.dtype}; expected a matrix")
    columns = {name: arrays[name] for name in text if name in arrays}
    for name, values in columns.items():
        if values.shape != (len(matrix),):
            raise DataError(
                f"{path}: array {name!r} has shape {values.shape}; expected {len(matrix)} values, one per row"
            )
    return pd.DataFrame(columns, index=range(len(matrix))), pd.DataFrame(matrix)


def _annotated(path: Path, array: str, id_column: str) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return the columns of ``obs`` (for MuData, of the modality and the file) and a matrix named by ``var``."""
    place = array
    with annotated_file(path) as (file, read):
        part = file
        if path.suffix == MUDATA:
            modality, _, place = array.partition("/")
            require_columns(file["mod"], (modality,), path, "modality")
            part, place = file["mod"][modality], place or "X"
        inside = [f"{folder}/{name}" for folder in ("obsm", "layers") for name in part.get(folder, ())]
        require_columns(["X"] * ("X" in part) + inside, (place,), path, "array")
        columns, values = read(part["obs"]), read(part[place])
        columns = columns if part is file else _joined(columns, read(file["obs"]))
        if id_column not in columns:
            columns[id_column] = columns.index
        names = None if place.startswith("obsm/") else read(part["var"]).index.astype(str)
        matrix = _dense(values, path) if hasattr(values, "toarray") else np.asarray(values)
        if names is not None:
            check_unique(names.to_numpy(dtype=str), f"{path}: names of features (var_names_make_unique() changes them)")
        return columns.reset_index(drop=True), pd.DataFrame(matrix, columns=names)


@contextmanager
def annotated_file(path: Path) -> Iterator[tuple[Any, Callable[[Any], Any]]]:
    """Open an AnnData or MuData file; yield the file and the function that reads its elements."""
    require("anndata", "h5py")
    with readable(path):
        import h5py
        from anndata.io import read_elem

        with h5py.File(existing_file(path)) as file:
            yield file, read_elem


def modalities(path: Path) -> list[str]:
    """List the modalities of a MuData file."""
    with annotated_file(path) as (file, _):
        return list(file["mod"])


def _dense(matrix: Any, path: Path) -> np.ndarray:
    size = 8.0 * matrix.shape[0] * matrix.shape[1]
    if size > MOST_BYTES:
        raise DataError(
            f"{path}: a sparse matrix takes {size / 1e9:.1f} GB as a dense table; expected at most "
            f"{MOST_BYTES / 1e9:.1f} GB. Keep fewer features (highly variable genes), or name an array of components, "
            "such as obsm/X_pca"
        )
    return np.asarray(matrix.toarray())


def sample_columns(path: Path, names: Sequence[str] = (), rows: int | None = None) -> pd.DataFrame:
    """Read possible ids, labels and groups (or `names` only): columns, vectors of a file of arrays, or ``obs``.

    Ids in an index (also of ``obs``), or first column, without a name are the column "".
    """
    if path.suffix in ARRAYS:
        vectors = {name: values for name, values in arrays_in(path, names or None).items() if values.ndim == 1}
        length = len(vectors.get("id", next(iter(vectors.values()), ())))
        return pd.DataFrame({name: values for name, values in vectors.items() if len(values) == length})
    if path.suffix in ANNOTATED:
        with annotated_file(path) as (file, read):
            obs = read(file["obs"])
            for part in file.get("mod", {}).values():
                obs = _joined(obs, read(part["obs"]))
            return obs if "id" in obs else obs.assign(**{"": obs.index})
    frame = read_frame(path, ("", "id", *names), rows)
    return pd.DataFrame() if isinstance(frame.columns, pd.RangeIndex) else frame


def first_values(path: Path, column: str, count: int = 100) -> list[str]:
    """Return the first values of a column as text, "" for a missing one; an empty list if there is no such column."""
    columns = sample_columns(path, (column,), count)
    return column_text(columns[column], path, column, may_be_empty=True)[:count].tolist() if column in columns else []


def _joined(obs: pd.DataFrame, other: pd.DataFrame) -> pd.DataFrame:
    return obs.join(other[[name for name in other if name not in obs]])


# --- columns


def require_columns(columns: Any, required: Sequence[str], path: Path, what: str = "column") -> None:
    """Raise DataError if a required column (or array, by `what`) is missing."""
    missing = [name for name in required if name not in columns]
    if missing:
        raise DataError(
            f"{path}: no {what} {', '.join(map(repr, missing))}; it has {some([str(name) for name in columns], 10)}"
        )


def column_text(values: Any, path: Path, column: str, *, may_be_empty: bool = False) -> np.ndarray:
    """Convert a column of ids or labels to text in Unicode's form NFC.

    Whole floats below 2**53 lose their ".0"; missing values become "".
    """
    series = pd.Series(values).reset_index(drop=True)
    present = series.dropna()
    if series.dtype.kind == "f" and ((present % 1 == 0) & (present.abs() < 2**53)).all():
        series = series.astype("Int64")
    text = [value.decode(errors="replace") if isinstance(value, bytes) else str(value) for value in series]
    text = ["" if gone else value.strip() for value, gone in zip(text, series.isna(), strict=True)]
    text = [unicodedata.normalize("NFC", value) for value in text]
    missing = np.array([not value for value in text], dtype=bool)
    if missing.any() and not may_be_empty:
        raise DataError(f"{path}: column {column!r} is empty in rows {some(np.nonzero(missing)[0])}")
    return np.array(text, dtype=str)


def numeric_values(frame: pd.DataFrame, path: Path, ids: np.ndarray, *, may_have_nan: bool = False) -> np.ndarray:
    """Convert a table of numbers to float64, shape (n, d). True becomes 1 and False 0.

    With `may_have_nan`, missing values become NaN. Raise DataError if there are no columns, or if values are not real
    numbers, are missing or infinite, or 1e30 or more in magnitude.
    """
    if frame.shape[1] == 0:
        raise DataError(f"{path}: no columns of features")
    wrong = [name for name, dtype in frame.dtypes.items() if dtype.kind not in "uifb"]
    if wrong:
        cells = frame[wrong[0]].tolist()
        row = next((row for row, value in enumerate(cells) if not is_number(value)), 0)
        hint = "write numbers, leave cells empty, or name columns that are no features or samples in `leave_out`"
        if len(wrong) == frame.shape[1]:
            hint = "there are no other features: compute some from the text, as docs/own_data.md#molecules shows"
            if 2 * sum(is_number(str(value).replace(",", "")) for value in cells) > len(cells):
                hint = "delete this row if it has units, and write plain numbers (1234.5, not 1,234.5)"
        raise DataError(
            f"{path}: columns that are not numbers: {some([str(name) for name in wrong])}; "
            f"for example {str(cells[row])!r} of row {str(ids[row])!r} in {str(wrong[0])!r}; {hint}"
        )
    values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    if not may_have_nan or np.isinf(values).any():
        check_numbers(np.where(np.isnan(values) & may_have_nan, 0.0, values), str(path), ids, frame.columns.to_numpy())
    huge = (np.abs(values) >= LIMIT).any(axis=0)
    if huge.any():
        named = f"values of {LIMIT:g} or more in columns {some(frame.columns[huge])}"
        raise DataError(f"{path}: {named}; rescale them, or leave cells without a value empty")
    return values


def whole_numbers(values: Any, path: Path, column: str) -> np.ndarray:
    """Convert a column, such as fold numbers, to int64; raise DataError unless all values are whole and below 2**53."""
    numbers = pd.to_numeric(pd.Series(values), errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    bad = ~(np.abs(numbers) < 2**53) | (np.mod(numbers, 1) != 0)
    if bad.any():
        raise DataError(
            f"{path}: column {column!r} has values that are not whole numbers, in rows {some(bad.nonzero()[0])}"
        )
    return numbers.astype(np.int64)


def sample_positions(names: np.ndarray, ids: np.ndarray, path: Path) -> np.ndarray:
    """Return the positions of `names` in `ids`; raise DataError if a name is not in `ids`."""
    positions = pd.Index(ids).get_indexer(pd.Index(names))
    if (positions < 0).any():
        unknown = list(dict.fromkeys(np.asarray(names)[positions < 0].tolist()))
        raise DataError(
            f"{path}: ids that the data set does not have: {some(unknown)} (samples that are left out count as absent)"
        )
    return np.asarray(positions, dtype=np.int64)
