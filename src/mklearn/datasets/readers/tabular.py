"""Tables of ids, labels and numbers in Parquet, NPZ or CSV files, for the readers of own data."""

from __future__ import annotations

import csv
import datetime
import decimal
import io
import itertools
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.atomic import existing_file, read_npz, read_parquet
from mklearn.datasets.samples import check_numbers, check_text, check_unique, some
from mklearn.errors import DataError
from mklearn.kernels.checks import LARGEST_VALUE

SUFFIXES = (".parquet", ".npz", ".csv")
_WHOLE_IN_DOUBLE = 2**53
"""From here on, float64 does not tell one integer from the next."""
_FEWEST_SAMPLES = 10
"""Of fewer samples, different whole numbers in a column mean nothing."""
_NAMELESS = re.compile(r"\s*|Unnamed: \d+(_level_\d+)?")
"""A column without a name, and the name that pandas gives it."""


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
        found = [name for name, array in self._columns.items() if array.ndim == 2 and name not in self._text_columns]
        if len(found) != 1:
            raise DataError(f"{self.path}: expected one two-dimensional array, found {some(found) or 'none'}")
        return pd.DataFrame(self._columns[found[0]])


def read_frame(path: Path, text_columns: Sequence[str] = (), header: bool = True) -> pd.DataFrame:
    """Read a Parquet or CSV table; see :class:`Table`. Every column has a name, and no two columns the same."""
    if path.suffix == ".parquet":
        frame = read_parquet(path)[0]
        _check_names([str(name) for name in frame.columns], path)
        return frame
    if path.suffix != ".csv":
        raise DataError(f"{path}: unknown kind of table {path.suffix!r}; valid: {', '.join(SUFFIXES)}")
    content = existing_file(path).read_bytes()
    if b"\0" in content:
        raise DataError(f"{path}: not a readable CSV table: it has NUL characters; save it as UTF-8 text")
    try:
        if header:
            _check_header(content, path)
        # An id "NA" or an empty label is text; missing numbers are reported column by column later.
        frame = pd.read_csv(
            io.BytesIO(content), dtype=dict.fromkeys(text_columns, str), header="infer" if header else None
        )
        kept = pd.read_csv(
            io.BytesIO(content), usecols=lambda name: name in text_columns, dtype=str, keep_default_na=False
        )
    except DataError:
        raise
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not a readable CSV table: not UTF-8 ({error}); save it as UTF-8 text") from error
    except (pd.errors.ParserError, pd.errors.EmptyDataError, csv.Error, ValueError, OverflowError) as error:
        raise DataError(f"{path}: not a readable CSV table ({' '.join(str(error).split())})") from error
    for name in kept.columns:
        frame[name] = kept[name]
    return frame


def _check_header(content: bytes, path: Path) -> None:
    """Raise DataError if the first line does not name each column; pandas would take nameless ones for an index."""
    with io.TextIOWrapper(io.BytesIO(content), encoding="utf-8-sig", newline="") as stream:
        names, *first = itertools.islice(filter(None, csv.reader(stream)), 2) or [[]]
    _check_names(names, path)
    if first and len(first[0]) > len(names):
        raise DataError(
            f"{path}: the first line names {len(names)} columns, but the next one has {len(first[0])} values; "
            "name every column in the first line"
        )


def _check_names(names: Sequence[str], path: Path) -> None:
    nameless = [number for number, name in enumerate(names, start=1) if _NAMELESS.fullmatch(name)]
    if nameless:
        raise DataError(
            f"{path}: column {nameless[0]} has no name. If it is the index of a pandas table, leave it out "
            "(to_csv(..., index=False)); else name it in the first line"
        )
    check_unique(np.array(names, dtype=str), f"{path}: names of columns")


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

    Raises
    ------
    DataError
        Not one value for each of `ids`; a value that is missing, no text or number, not UTF-8, or a whole number of
        2**53 or more stored as a float. The message names the column, and the ids or rows.
    """
    what, shape = f"{path}: column {column!r}", np.shape(values)
    if len(shape) != 1 or (ids is not None and len(values) != len(ids)):
        expected = "one dimension" if ids is None else f"({len(ids)},), one value for each id"
        raise DataError(f"{what} has shape {shape}; expected {expected}")
    if getattr(values, "dtype", np.dtype(object)).kind not in "biufSUOMm":
        raise DataError(f"{what} has dtype {values.dtype}; expected text or numbers")
    series = pd.Series(values).reset_index(drop=True)
    if series.dtype.kind == "f" and (series.dropna() % 1 == 0).all():
        if (series.dropna().abs() >= _WHOLE_IN_DOUBLE).any():
            raise DataError(
                f"{what} has numbers of 2**53 or more stored as floats, which lose digits; store them as text"
            )
        series = series.astype("Int64")
    absent = series.isna().to_numpy()
    text = ["" if gone else _text(value, what) for value, gone in zip(series, absent, strict=True)]
    missing = np.array([not value for value in text], dtype=bool)
    if missing.any():
        where = f"rows {some(np.nonzero(missing)[0])}" if ids is None else f"samples {some(ids[missing])}"
        raise DataError(f"{what} is empty in {where}")
    check_text(text, what)
    return np.array(text, dtype=str)


def numeric_values(frame: pd.DataFrame, path: Path, ids: np.ndarray) -> np.ndarray:
    """Convert a table of numbers to float64, shape (n, d); True is 1 and False is 0.

    Raises
    ------
    DataError
        No columns, another number of rows than of ids, values that are no real numbers, missing, infinite or above
        1e60, or integers of 2**53 or more, which float64 does not tell apart.
    """
    if frame.shape[1] == 0:
        raise DataError(f"{path}: no columns of features")
    if len(frame) != len(ids):
        raise DataError(f"{path}: {len(ids)} ids but {len(frame)} rows")
    wrong = [name for name, dtype in frame.dtypes.items() if dtype.kind not in "uifb"]
    if wrong:
        example = next((value for value in frame[wrong[0]] if not _is_number(value)), *frame[wrong[0]][:1])
        raise DataError(
            f"{path}: columns that are not numbers: {some([str(name) for name in wrong])}; "
            f"for example {str(example)!r} in {str(wrong[0])!r}"
        )
    values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    check_numbers(values, str(path), ids, frame.columns.to_numpy())
    huge = np.abs(values).max(axis=0, initial=0.0) > LARGEST_VALUE
    if huge.any():
        raise DataError(
            f"{path}: values above {LARGEST_VALUE:g}, whose squares can't be computed with: columns "
            f"{some(frame.columns[huge])}; rescale them"
        )
    whole = np.array([dtype.kind in "ui" for dtype in frame.dtypes])
    large = whole & (np.abs(values).max(axis=0, initial=0.0) >= _WHOLE_IN_DOUBLE)
    if large.any():
        raise DataError(
            f"{path}: integers of 2**53 or more, which lose digits as numbers: columns {some(frame.columns[large])}; "
            "are they ids? Leave them out or rescale them"
        )
    return values


def whole_numbers(values: Any, path: Path, column: str) -> np.ndarray:
    """Convert a column, such as that of folds, to int64; raise DataError for what is no whole number below 2**53."""
    try:
        numbers = pd.to_numeric(values, errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise DataError(f"{path}: column {column!r} has values that are not whole numbers ({error})") from error
    bad = ~(np.abs(numbers) < _WHOLE_IN_DOUBLE) | (np.mod(numbers, 1) != 0)
    if bad.any():
        where = f"in rows {some(bad.nonzero()[0])}; expected ones below 2**53"
        raise DataError(f"{path}: column {column!r} has values that are not whole numbers, {where}")
    return numbers.astype(np.int64)


def suspicious_columns(values: np.ndarray, names: Sequence[Any], y: np.ndarray, path: Path) -> tuple[str, ...]:
    """Describe columns that are probably no features: a row number, an id, or the label itself.

    Parameters
    ----------
    values : (n, d) array
    names : sequence of length d
    y : (n,) int array
        Class codes.
    path : Path

    Returns
    -------
    tuple of str
        A sentence for each kind of such columns.
    """
    representative = values[np.unique(y, return_index=True)[1]]
    constant = np.ones(values.shape[1], dtype=bool)
    for code, row in enumerate(representative):
        constant &= (values[y == code] == row).all(axis=0)
    constant &= len(values) > len(representative)
    labels = [column for column in _positions(constant) if _distinct(representative[:, column])]
    counts: list[int] = []
    numbers: list[int] = []
    for column in _positions((values == np.rint(values)).all(axis=0)):
        if len(values) >= _FEWEST_SAMPLES and _distinct(values[:, column]):
            steps = np.diff(np.sort(values[:, column]))
            (counts if (steps == 1).all() else numbers).append(column)
    found = (
        (labels, "have one value for each class: are they the label"),
        (counts, "count the samples: are they the index of a table"),
        (numbers, "have another whole number for each sample: are they ids"),
    )
    return tuple(
        f"{path}: columns {some([names[column] for column in columns])} {text}? They are used as features"
        for columns, text in found
        if columns
    )


def _positions(chosen: np.ndarray) -> list[int]:
    return [int(position) for position in np.flatnonzero(chosen)]


def _distinct(values: np.ndarray) -> bool:
    return len(np.unique(values)) == len(values)


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


def _text(value: Any, what: str) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode().strip()
        except UnicodeDecodeError as error:
            raise DataError(f"{what} has bytes that are not UTF-8: {value!r}") from error
    if not np.isscalar(value) and not isinstance(value, (datetime.date, decimal.Decimal)):
        raise DataError(f"{what} has a value that is neither text nor a number: {str(value)[:40]!r}")
    return str(value).strip()


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
