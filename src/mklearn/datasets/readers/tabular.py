"""Tables of ids, labels and numbers in Parquet, NPZ or CSV files, for the readers of own data."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.atomic import existing_file, read_npz, read_parquet
from mklearn.datasets.samples import check_numbers, check_unique, some
from mklearn.errors import DataError

SUFFIXES = (".parquet", ".npz", ".csv")


class Table:
    """A file of ids, labels and numbers: columns of a Parquet or CSV table, or arrays of an NPZ file.

    `text_columns` are those of ids and labels, as far as the file has them; all others hold numbers. They are read as
    text from CSV, so that an id "007" stays "007". `header` tells whether a CSV file begins with names of columns.

    Raises
    ------
    DataError
        The file is missing, empty, damaged or of an unknown kind.
    """

    def __init__(self, path: Path, text_columns: Sequence[str], header: bool = True) -> None:
        self.path = path
        self.is_npz = path.suffix == ".npz"
        self._text_columns = text_columns
        self._columns: Any = read_npz(path) if self.is_npz else read_frame(path, text_columns, header)

    def __contains__(self, name: str) -> bool:
        return name in self._columns

    def text(self, name: str, ids: np.ndarray | None = None) -> np.ndarray:
        """Return a column of ids or labels; see :func:`column_text`."""
        what = "array" if self.is_npz else "column"
        require_columns(self._columns, (name,), self.path, what)
        return column_text(self._columns[name], self.path, name, ids)

    def unique_ids(self, name: str) -> np.ndarray:
        """Return a complete column of ids that differ; raise DataError otherwise."""
        ids = self.text(name)
        check_unique(ids, f"{self.path}: ids")
        return ids

    def numbers(self) -> pd.DataFrame:
        """Return all columns but those of text; of an NPZ file, its one two-dimensional array."""
        if not self.is_npz:
            return self._columns.drop(columns=list(self._text_columns), errors="ignore")
        found = [name for name, array in self._columns.items() if array.ndim == 2]
        if len(found) != 1:
            raise DataError(f"{self.path}: expected one two-dimensional array, found {some(found) or 'none'}")
        return pd.DataFrame(self._columns[found[0]])


def read_frame(path: Path, text_columns: Sequence[str] = (), header: bool = True) -> pd.DataFrame:
    """Read a Parquet or CSV table; see :class:`Table`."""
    if path.suffix == ".parquet":
        return read_parquet(path)[0]
    if path.suffix != ".csv":
        raise DataError(f"{path}: unknown kind of table {path.suffix!r}; valid: {', '.join(SUFFIXES)}")
    existing_file(path)
    try:
        # An id "NA" or an empty label is text; missing numbers are reported column by column later.
        frame = pd.read_csv(path, dtype=dict.fromkeys(text_columns, str), header="infer" if header else None)
        kept = pd.read_csv(path, usecols=lambda name: name in text_columns, dtype=str, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError, ValueError) as error:
        raise DataError(f"{path}: not a readable CSV table ({error})") from error
    for name in kept.columns:
        frame[name] = kept[name]
    return frame


def read_labels(
    path: Path, id_column: str, label_column: str, group_column: str | None = None
) -> tuple[np.ndarray, np.ndarray, np.ndarray | None]:
    """Read ids, labels and groups, (n,) text each; None for groups without a column of them."""
    table = Table(path, [column for column in (id_column, label_column, group_column) if column])
    ids = table.unique_ids(id_column)
    return ids, table.text(label_column, ids), table.text(group_column, ids) if group_column else None


def require_columns(columns: Any, required: Sequence[str], path: Path, what: str = "column") -> None:
    """Raise DataError if a table lacks a column (or array)."""
    missing = [name for name in required if name not in columns]
    if missing:
        raise DataError(
            f"{path}: no {what} {', '.join(map(repr, missing))}; it has {some([str(name) for name in columns], 10)}"
        )


def column_text(values: Any, path: Path, column: str, ids: np.ndarray | None = None) -> np.ndarray:
    """Convert a column of ids or labels to text; whole numbers stored as floats lose their ".0".

    A missing value raises DataError, which names the column, and the ids or rows.
    """
    series = pd.Series(values).reset_index(drop=True)
    if series.dtype.kind == "f" and (series.dropna() % 1 == 0).all():
        series = series.astype("Int64")
    absent = series.isna().to_numpy()
    text = np.array(["" if gone else _text(value) for value, gone in zip(series, absent, strict=True)], dtype=str)
    missing = text == ""
    if missing.any():
        where = f"rows {some(np.nonzero(missing)[0])}" if ids is None else f"samples {some(ids[missing])}"
        raise DataError(f"{path}: column {column!r} is empty in {where}")
    return text


def numeric_values(frame: pd.DataFrame, path: Path, ids: np.ndarray) -> np.ndarray:
    """Convert a table of numbers to float64, shape (n, d); raise DataError if it has none, or anything else."""
    if frame.shape[1] == 0:
        raise DataError(f"{path}: no columns of features")
    if len(frame) != len(ids):
        raise DataError(f"{path}: {len(ids)} ids but {len(frame)} rows")
    wrong = [name for name, dtype in frame.dtypes.items() if dtype.kind not in "uifb"]
    if wrong:
        example = next((value for value in frame[wrong[0]] if not _is_number(value)), "")
        raise DataError(
            f"{path}: columns that are not numbers: {some([str(name) for name in wrong])}; "
            f"for example {str(example)!r} in {str(wrong[0])!r}"
        )
    values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    check_numbers(values, str(path), ids, frame.columns.to_numpy())
    return values


def row_order(ids: np.ndarray, path: Path, reference: np.ndarray, reference_path: Path) -> np.ndarray:
    """Find the positions in `ids` of the ids of `reference`; raise DataError if they are different sets."""
    lacking = np.setdiff1d(reference, ids)
    extra = np.setdiff1d(ids, reference)
    parts = [f"lacks {some(lacking)}"] if len(lacking) else []
    parts += [f"has {some(extra)} that {reference_path} lacks"] if len(extra) else []
    if parts:
        raise DataError(f"{path}: its ids are not those of {reference_path}: it {' and '.join(parts)}")
    return sample_positions(reference, ids, path)


def sample_positions(names: np.ndarray, ids: np.ndarray, path: Path) -> np.ndarray:
    """Find the positions of named samples in a data set with these ids; raise DataError if it lacks one."""
    position = {str(name): index for index, name in enumerate(ids)}
    unknown = [name for name in dict.fromkeys(names.tolist()) if name not in position]
    if unknown:
        raise DataError(f"{path}: ids that the data set does not have: {some(unknown)}")
    return np.array([position[name] for name in names], dtype=np.int64)


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value).strip()


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
