"""The user's own files as tables of ids, labels and numbers: text, Parquet, and files of arrays."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.atomic import read_npz
from mklearn.errors import DataError
from mklearn.study.data.readers.annotated_data import ANNDATA, MUDATA, arrays_of, obs_column, read_annotated
from mklearn.study.data.readers.content import dense
from mklearn.study.data.readers.matlab import matlab_variables
from mklearn.study.data.readers.tabular import class_names, column_text, read_frame, require_columns, target_numbers
from mklearn.study.data.samples import check_unique, some
from mklearn.study.data.text_tables import MISSING, SEPARATORS, TEXT_TABLES, first_rows, table_suffix
from mklearn.study.specs.data_specs import TargetKind

ARRAYS = (".npz", ".mat")
"""Files of named arrays, which may have no ids."""
ANNOTATED = (ANNDATA, MUDATA)
SUFFIXES = (".parquet", *TEXT_TABLES, *ARRAYS, *ANNOTATED)
_SPARSE = ("data", "indices", "indptr", "row", "col", "shape", "format", "_is_array")
"""Arrays of a file of ``scipy.sparse.save_npz``."""


def array_of_view(path: Path, view: str, chosen: str | None) -> str | None:
    """Return the name of the array that is a view, of MuData the modality of the view; None: the file's only table."""
    return chosen or (view if path.suffix == MUDATA else None)


class Table:
    """A file of ids, labels and numbers: columns of a table, or named arrays.

    Columns of ids, labels and groups (`id_column`, `text_columns`) are text, as far as the file has them; all others
    hold numbers. The index of a Parquet table is the column of ids if it has its name, or if there is no such column
    and the index is text without a name. `header` tells whether a text table begins with names of columns, and `array`
    names the array of numbers where there may be several. `missing` are words that stand for no label or group, as an
    empty cell does; ``missing_words`` has those that the file has.

    Raises
    ------
    DataError
        The file is missing, empty, damaged or of an unknown kind.
    """

    def __init__(
        self, path: Path, id_column: str, text_columns: Sequence[str] = (), *, header: bool = True,
        array: str | None = None, missing: Collection[str] = MISSING,
    ) -> None:  # fmt: skip
        self.path = path
        self.missing_words: set[str] = set()
        self._missing = missing
        self.holds_arrays = path.suffix in (*ARRAYS, *ANNOTATED)
        self._text_columns = (id_column, *text_columns)
        self._array = array
        self._names: list[str] | None = None
        self._columns: Any
        if table_suffix(path) not in SUFFIXES:
            raise DataError(f"{path}: unknown kind of table {path.suffix!r}; valid: {', '.join(SUFFIXES)}")
        if path.suffix == ".npz":
            self._columns = _with_sparse(read_npz(path), path)
        elif path.suffix == ".mat":
            self._columns = matlab_variables(path, None if array is None else (array, *self._text_columns))
            for name in self._columns.keys() & self._text_columns:
                if 1 in self._columns[name].shape:
                    self._columns[name] = self._columns[name].ravel()
        elif path.suffix in ANNOTATED:
            self._array = array or "X"
            self._columns, self._names = read_annotated(path, self._array, id_column, text_columns)
        else:
            if array is not None:
                raise DataError(f"{path}: `array` {array!r} is for files of several arrays; omit it")
            self._columns = read_frame(path, self._text_columns, header)

    @property
    def names_columns(self) -> bool:
        """Whether the columns of numbers have names: those of tables, and the features of annotated data."""
        return not self.holds_arrays or self._names is not None

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def text(self, name: str, ids: np.ndarray | None = None) -> np.ndarray:
        """Return a column of labels or groups, "" where a sample has none; see :func:`column_text`."""
        text = self._complete(name, ids, may_be_empty=True)
        absent = np.isin(text, list(self._missing))
        self.missing_words |= set(text[absent].tolist())
        return np.where(absent, "", text)

    def _complete(self, name: str, ids: np.ndarray | None = None, *, may_be_empty: bool = False) -> np.ndarray:
        require_columns(self._columns, (name,), self.path, "array" if self.holds_arrays else "column")
        return column_text(self._columns[name], self.path, name, ids, may_be_empty=may_be_empty)

    def labels(self, name: str, ids: np.ndarray, task: TargetKind = "classes") -> np.ndarray:
        """Return a column of labels or numbers to predict, (n,) text, "" where there is none.

        See :func:`class_names` and :func:`target_numbers`.
        """
        if task == "numbers" and name in self:
            return target_numbers(self._columns[name], self.path, name, ids, self._missing)
        return class_names(self.text(name, ids), self.path, name)

    def unique_ids(self, name: str, prefix: int | None = None) -> np.ndarray:
        """Return a complete column of ids, or of their first characters, that differ; raise DataError otherwise."""
        ids = self._complete(name)
        if not len(ids):
            raise DataError(f"{self.path}: no rows")
        check_unique(ids, f"{self.path}: ids")
        cut = ids if prefix is None else ids.astype(f"U{prefix}")
        order = np.argsort(cut, kind="stable")
        alike = np.flatnonzero(cut[order[1:]] == cut[order[:-1]])
        if alike.size:
            one, other = ids[order[alike[0] : alike[0] + 2]].tolist()
            raise DataError(
                f"{self.path}: {one!r} and {other!r} are one sample by their first {prefix} characters (id_prefix); "
                f"keep one row of it{'' if alike.size == 1 else f', and of {alike.size - 1} more'}"
            )
        return cut

    def numbers(self) -> pd.DataFrame:
        """Return all columns but those of text; of a file of arrays, the one that is named or its only matrix."""
        if not self.holds_arrays:
            return self._columns.drop(columns=list(self._text_columns), errors="ignore")
        if self._array is not None:
            require_columns(self._columns, (self._array,), self.path, "array")
            matrices = [self._array]
        else:
            matrices = [name for name in self._columns if name not in self._text_columns and self._is_matrix(name)]
        if len(matrices) != 1:
            hint = "; name it: {path: ..., array: NAME}" if matrices else ""
            raise DataError(f"{self.path}: expected one two-dimensional array, found {some(matrices) or 'none'}{hint}")
        values = self._columns[matrices[0]]
        if values.ndim != 2 or values.dtype.names is not None:
            raise DataError(
                f"{self.path}: array {matrices[0]!r} has shape {values.shape} and type {values.dtype}; expected two "
                "dimensions of numbers"
            )
        return pd.DataFrame(values, columns=self._names)

    def _is_matrix(self, name: str) -> bool:
        values = self._columns[name]
        is_cell_or_vector = self.path.suffix == ".mat" and (values.dtype.hasobject or min(values.shape) <= 1)
        return values.ndim == 2 and not is_cell_or_vector


def column_names(path: Path) -> tuple[str, ...]:
    """Return the names of a table's columns, or of a file's arrays, with the index of a table if it has a name."""
    if path.suffix == ".npz":
        return tuple(_with_sparse(read_npz(path), path))
    if path.suffix == ".mat":
        return tuple(matlab_variables(path))
    if path.suffix in ANNOTATED:
        columns, arrays = arrays_of(path)
        return ("id", *(column for column in columns if column != "id"), *arrays)
    return tuple(map(str, read_frame(path, ("id",)).columns))


def first_values(path: Path, column: str, count: int = 100) -> list[str]:
    """Return the first values of a column as text, "" where there is none; no values if the file has no such column."""
    if table_suffix(path) in SEPARATORS:
        names, *rows = first_rows(path, count + 1) or [[]]
        place = names.index(column) if column in names else len(names)
        return [row[place].strip() for row in rows if len(row) > place and column in names]
    if path.suffix in ANNOTATED:
        values = column_text(obs_column(path, column), path, column, may_be_empty=True)
    else:
        values = Table(path, "id", (column,), missing=()).text(column)
    return [str(value) for value in values[:count]]


def _with_sparse(arrays: dict[str, np.ndarray], path: Path) -> dict[str, np.ndarray]:
    """Replace the arrays of a sparse matrix of SciPy's by the dense matrix ``X``."""
    if not {"format", "shape", "data"} <= set(arrays):
        return arrays
    from scipy import sparse

    try:
        matrix = dense(sparse.load_npz(path), path)
    except (KeyError, TypeError, ValueError, IndexError, OverflowError, NotImplementedError) as error:
        raise DataError(f"{path}: not a readable sparse matrix ({' '.join(str(error).split())})") from error
    return {**{name: values for name, values in arrays.items() if name not in _SPARSE}, "X": matrix}
