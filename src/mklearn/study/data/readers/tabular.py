"""Tables in Parquet, CSV or TSV files, and columns of ids, labels and numbers, for the readers of own data."""

from __future__ import annotations

import datetime
import decimal
import re
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.atomic import existing_file, read_parquet
from mklearn.checks import LARGEST_VALUE
from mklearn.errors import DataError
from mklearn.study.data.samples import check_numbers, check_text, check_unique, some
from mklearn.study.data.text_tables import (
    MISSING,
    SEPARATORS,
    TEXT_TABLES,
    first_rows,
    is_number,
    table_suffix,
    text_errors,
)  # fmt: skip
from mklearn.study.specs.data_specs import TargetKind

_WHOLE_IN_DOUBLE = 2**53
"""From here on, float64 does not tell one integer from the next."""
_DECIMAL = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
_NAMELESS = re.compile(r"\s*|Unnamed: \d+(_level_\d+)?")
"""A column without a name, and the name that pandas gives it."""


def read_frame(path: Path, text_columns: Sequence[str] = (), header: bool = True) -> pd.DataFrame:
    """Read a Parquet, CSV or TSV table, which may be compressed; the first of `text_columns` is that of ids.

    Every column has a name, and no two columns the same. Columns of True, False and missing values are logical. Of text
    tables `text_columns` are read as they are written: an id "007" or "NA" is text.
    """
    if path.suffix == ".parquet":
        frame = read_parquet(path)[0]
        _check_names([str(name) for name in frame.columns], path)
        index, ids = frame.index, next(iter(text_columns), None)
        is_ids = index.name == ids if index.name else pd.api.types.is_string_dtype(index.dtype)
        if ids is not None and ids not in frame.columns and index.nlevels == 1 and is_ids:
            frame = frame.rename_axis(ids).reset_index()
    elif table_suffix(path) in SEPARATORS:
        if header:
            _check_header(path)
        options: dict[str, Any] = {"sep": SEPARATORS[table_suffix(path)], "keep_default_na": False}
        with text_errors(path):
            frame = pd.read_csv(
                existing_file(path), header="infer" if header else None, na_values=("", *MISSING),
                dtype=dict.fromkeys(text_columns, str), **options,
            )  # fmt: skip
            # again, for the words of missing values in them: `na_values` for each column would take 14 kB a column
            as_text = pd.read_csv(path, usecols=lambda name: name in text_columns, dtype=str, **options)
        for name in as_text.columns:
            frame[name] = as_text[name]
    else:
        valid = ", ".join((".parquet", *TEXT_TABLES))
        raise DataError(f"{path}: unknown kind of table {path.suffix!r}; valid: {valid}")
    objects = [name for name, dtype in frame.dtypes.items() if dtype.kind == "O" and name not in text_columns]
    logical = [name for name in objects if pd.api.types.infer_dtype(frame[name], skipna=True) == "boolean"]
    return frame.astype(dict.fromkeys(logical, "boolean"))


def _check_header(path: Path) -> None:
    """Raise DataError if the first line does not name each column; pandas would take nameless ones for an index."""
    rows = first_rows(path)
    if not rows:
        raise DataError(f"{path}: is empty; expected a line of names of columns, and a line for each sample")
    names, *first = rows
    other = next((mark for mark in ";\t," if mark in names[0]), None) if len(names) == 1 else None
    if other:
        raise DataError(
            f"{path}: its values are separated by {'a tab' if other == chr(9) else repr(other)}; a .csv file has ',' "
            "between values, a .tsv file a tab, and numbers have a decimal point: save it so"
        )
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


# --- columns


def require_columns(columns: Any, required: Sequence[str], path: Path, what: str = "column") -> None:
    """Raise DataError if a table lacks a column (or array)."""
    missing = [name for name in required if name not in columns]
    if missing:
        raise DataError(
            f"{path}: no {what} {', '.join(map(repr, missing))}; it has {some([str(name) for name in columns], 10)}"
        )


def column_text(
    values: Any, path: Path, column: str, ids: np.ndarray | None = None, *, may_be_empty: bool = False
) -> np.ndarray:
    """Convert a column of ids or labels to text; whole numbers stored as floats lose their ".0".

    With `may_be_empty` missing values are "". Raise DataError unless there is one value for each of `ids`, and for a
    value that is missing, no text or number, not UTF-8, or a whole number of 2**53 or more stored as a float.
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
    if missing.any() and not may_be_empty:
        where = f"rows {some(np.nonzero(missing)[0])}" if ids is None else f"samples {some(ids[missing])}"
        raise DataError(f"{what} is empty in {where}")
    check_text(text, what)
    return np.array(text, dtype=str)


def _text(value: Any, what: str) -> str:
    if isinstance(value, bytes):
        try:
            return value.decode().strip()
        except UnicodeDecodeError as error:
            raise DataError(f"{what} has bytes that are not UTF-8: {value!r}") from error
    if not np.isscalar(value) and not isinstance(value, (datetime.date, decimal.Decimal)):
        raise DataError(f"{what} has a value that is neither text nor a number: {str(value)[:40]!r}")
    return str(value).strip()


def class_names(labels: np.ndarray, path: Path, column: str) -> np.ndarray:
    """Return labels as names of classes: whole numbers without ".0", as they are written beside missing ones.

    Samples without a label have "". Raise DataError if all are numbers, some with fractions: no classes, but amounts.
    """
    labelled = [label for label in dict.fromkeys(labels.tolist()) if label]
    if not any("." in label for label in labelled) or not all(map(_DECIMAL.fullmatch, labelled)):
        return labels
    fractions = [label for label in labelled if float(label) % 1]
    if fractions:
        raise DataError(
            f"{path}: column {column!r} has numbers with fractions, such as {fractions[0]} ({len(labelled)} different "
            "numbers), and labels are the names of classes; write the classes as whole numbers or as text, such as "
            f"'grade 2.5', or, to predict the numbers themselves, set `target: {column}` in place of `label_column`, "
            f"without `task: classes` (mklearn init: --target {column})"
        )
    return np.array([label and str(int(float(label))) for label in labels.tolist()], dtype=str)


def target_numbers(
    values: Any, path: Path, column: str, ids: np.ndarray, missing: Collection[str] = MISSING
) -> np.ndarray:
    """Return numbers to predict as text that holds every digit: equal numbers are equal, however they are written.

    Missing values and the words `missing` become "". Raise DataError for values that are no numbers, infinite, or so
    large that their squares can't be computed with.
    """
    what = f"{path}: column {column!r}"
    if np.shape(values) != (len(ids),):
        raise DataError(f"{what} has shape {np.shape(values)}; expected ({len(ids)},), one number for each id")
    column_values: list[Any] = pd.Series(values).tolist()
    words = ("" if pd.isna(value) else str(value).strip() for value in column_values)
    text = ["" if word in missing else word for word in words]
    for value, name in zip(text, ids.tolist(), strict=True):
        if value and not is_number(value):
            raise DataError(
                f"{what} has values that are not numbers, such as {value[:40]!r} of sample {name!r}; write "
                "numbers, leave them empty, or set `task: classes` to predict classes"
            )
        if value and not abs(float(value)) <= LARGEST_VALUE:
            raise DataError(
                f"{what} has the value {float(value):g} for sample {name!r}; expected at most {LARGEST_VALUE:g}"
            )
    return np.array([value and repr(float(value)) for value in text], dtype=str)


def numeric_values(frame: pd.DataFrame, path: Path, ids: np.ndarray, *, may_have_nan: bool = False) -> np.ndarray:
    """Convert a table of numbers to float64, shape (n, d); True is 1 and False is 0.

    With `may_have_nan` values may be missing (NaN). Raise DataError if there are no columns, another number of rows
    than of ids, or values that are no real numbers, missing, infinite or above 1e60.
    """
    if frame.shape[1] == 0:
        raise DataError(f"{path}: no columns of features")
    if len(frame) != len(ids):
        raise DataError(f"{path}: {len(ids)} ids but {len(frame)} rows")
    wrong = [name for name, dtype in frame.dtypes.items() if dtype.kind not in "uifb"]
    if wrong:
        example = next((value for value in frame[wrong[0]] if not is_number(value)), *frame[wrong[0]][:1])
        raise DataError(
            f"{path}: columns that are not numbers: {some([str(name) for name in wrong])}; "
            f"for example {str(example)!r} in {str(wrong[0])!r}; write numbers or leave such columns out, or name a "
            "column of groups as group_column"
        )
    values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    if not may_have_nan or np.isinf(values).any():
        check_numbers(values, str(path), ids, frame.columns.to_numpy())
    huge = (np.abs(values) > LARGEST_VALUE).any(axis=0)
    if huge.any():
        raise DataError(
            f"{path}: values above {LARGEST_VALUE:g}, whose squares can't be computed with: columns "
            f"{some(frame.columns[huge])}; rescale them"
        )
    return values


def whole_numbers(values: Any, path: Path, column: str) -> np.ndarray:
    """Convert a column, such as that of folds, to int64; raise DataError for what is no whole number below 2**53."""
    try:
        numbers = pd.to_numeric(pd.Series(values), errors="coerce").to_numpy(dtype=np.float64, na_value=np.nan)
    except (TypeError, ValueError) as error:
        raise DataError(f"{path}: column {column!r} has values that are not whole numbers ({error})") from error
    bad = ~(np.abs(numbers) < _WHOLE_IN_DOUBLE) | (np.mod(numbers, 1) != 0)
    if bad.any():
        where = f"in rows {some(bad.nonzero()[0])}; expected ones below 2**53"
        raise DataError(f"{path}: column {column!r} has values that are not whole numbers, {where}")
    return numbers.astype(np.int64)


# --- samples


def unlabelled_note(
    n: int, task: TargetKind = "classes", words: Collection[str] = (), n_nowhere: int = 0
) -> tuple[str, ...]:
    """Return a remark about samples without a label or number, some of which lack every table; none if n is 0.

    `words` are those that stand for no label in these files.
    """
    if not n:
        return ()
    what, done = ("label", "labels") if task == "classes" else ("number", "predicts")
    subject = f"1 sample without a {what} is" if n == 1 else f"{n} samples without a {what} are"
    but = f", but {n_nowhere} that {'lacks' if n_nowhere == 1 else 'lack'} every table" if n_nowhere else ""
    note = f"{subject} left out; a final model {done} them{but}: mklearn predict"
    return (note + (missing_hint(words) if task == "classes" else ""),)


def missing_hint(words: Collection[str]) -> str:
    """Return what follows a sentence about samples without a label, where words stand for none."""
    if not words:
        return ""
    return f". {some(sorted(words))} in place of a label means none; `missing_labels: []` makes it a class"


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
