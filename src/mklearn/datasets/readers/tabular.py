"""Tables with ids, labels and numbers from Parquet, NPZ or CSV: what the readers of own data share."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mklearn.atomic import read_npz, read_parquet
from mklearn.datasets.samples import some
from mklearn.errors import DataError

if TYPE_CHECKING:
    import pandas as pd

SUFFIXES = (".parquet", ".npz", ".csv")


def read_frame(path: Path, text_columns: Sequence[str] = ()) -> pd.DataFrame:
    """A Parquet or CSV table.

    Parameters
    ----------
    path : Path
    text_columns : sequence of str
        Read as text from CSV, so that an id "007" stays one.

    Raises
    ------
    DataError
        Missing, empty, or not such a file; names it.
    """
    import pandas as pd

    if path.suffix == ".parquet":
        return read_parquet(path)[0]
    if path.suffix != ".csv":
        raise DataError(f"{path}: unknown kind of table {path.suffix!r}; legal: {', '.join(SUFFIXES)}")
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        # An id "NA" or an empty label is text; what is missing among the numbers is looked for column by column.
        frame = pd.read_csv(path, dtype=dict.fromkeys(text_columns, str), skip_blank_lines=True)
        kept = pd.read_csv(path, usecols=lambda name: name in text_columns, dtype=str, keep_default_na=False)
    except (pd.errors.ParserError, pd.errors.EmptyDataError, UnicodeDecodeError, ValueError) as error:
        raise DataError(f"{path}: not a readable CSV table ({error})") from error
    for name in kept.columns:
        frame[name] = kept[name]
    return frame


def column_text(values: Any, path: Path, column: str, ids: np.ndarray | None = None) -> np.ndarray:
    """A column of ids or labels as text; whole numbers stored as floats lose their ".0".

    Raises
    ------
    DataError
        A value is missing; names the column, and the ids or rows.
    """
    import pandas as pd

    series = pd.Series(values).reset_index(drop=True)
    if series.dtype.kind == "f":
        whole = series.dropna()
        if (whole % 1 == 0).all():
            series = series.astype("Int64")
    absent = series.isna().to_numpy()
    text = np.array(["" if gone else _text(value) for value, gone in zip(series, absent, strict=True)], dtype=str)
    missing = text == ""
    if missing.any():
        where = f"rows {some(np.nonzero(missing)[0])}" if ids is None else f"samples {some(ids[missing])}"
        raise DataError(f"{path}: column {column!r} is empty in {where}")
    return text


def numeric_columns(frame: pd.DataFrame, path: Path, ids: np.ndarray) -> np.ndarray:
    """(n, d) float64 values of a table of numbers.

    Raises
    ------
    DataError
        No columns; columns that are not numbers (named, with an example); values missing or infinite (columns and
        samples named).
    """
    import pandas as pd

    if frame.shape[1] == 0:
        raise DataError(f"{path}: no columns of features")
    wrong = [name for name in frame.columns if not pd.api.types.is_numeric_dtype(frame[name])]
    if wrong:
        example = next((value for value in frame[wrong[0]] if not _is_number(value)), "")
        raise DataError(
            f"{path}: columns that are not numbers: {some([str(name) for name in wrong])}; "
            f"for example {str(example)!r} in {str(wrong[0])!r}"
        )
    values = frame.to_numpy(dtype=np.float64, na_value=np.nan)
    bad = ~np.isfinite(values)
    if bad.any():
        columns = [str(name) for name in frame.columns[bad.any(axis=0)]]
        rows = np.nonzero(bad.any(axis=1))[0]
        raise DataError(
            f"{path}: {int(bad.sum())} values missing or infinite: columns {some(columns)}, "
            f"rows {some(rows)}, samples {some(ids[rows])}"
        )
    return values


def check_unique(ids: np.ndarray, path: Path) -> None:
    """Refuse ids that occur twice, naming them."""
    values, counts = np.unique(ids, return_counts=True)
    if (counts > 1).any():
        raise DataError(f"{path}: ids must be unique; more than once: {some(values[counts > 1])}")


def check_same_ids(ids: np.ndarray, path: Path, reference: np.ndarray, reference_path: Path) -> np.ndarray:
    """Positions in `ids` of the ids of `reference`: the order in which to take the rows.

    Raises
    ------
    DataError
        They are not the same set; both files and examples of what is missing on either side are named.
    """
    lacking = np.setdiff1d(reference, ids)
    extra = np.setdiff1d(ids, reference)
    if len(lacking) or len(extra):
        parts = []
        if len(lacking):
            parts.append(f"lacks {some(lacking)}")
        if len(extra):
            parts.append(f"has {some(extra)} that {reference_path} lacks")
        raise DataError(f"{path}: its ids are not those of {reference_path}: it {' and '.join(parts)}")
    order = {name: position for position, name in enumerate(ids)}
    return np.array([order[name] for name in reference], dtype=np.int64)


def read_labels(path: Path, id_column: str, label_column: str) -> tuple[np.ndarray, np.ndarray]:
    """(ids, labels), both (n,) text, from a table with these two columns (NPZ: arrays)."""
    if path.suffix == ".npz":
        arrays = read_npz(path)
        require_names(list(arrays), (id_column, label_column), path, "array")
        ids = column_text(arrays[id_column], path, id_column)
        labels = column_text(arrays[label_column], path, label_column, ids)
    else:
        frame = read_frame(path, (id_column, label_column))
        require_names(list(frame.columns), (id_column, label_column), path, "column")
        ids = column_text(frame[id_column], path, id_column)
        labels = column_text(frame[label_column], path, label_column, ids)
    check_unique(ids, path)
    return ids, labels


def require_names(held: Sequence[Any], wanted: Sequence[str], path: Path, what: str) -> None:
    """Refuse a file that lacks a column or array."""
    missing = [name for name in wanted if name not in held]
    if missing:
        raise DataError(
            f"{path}: no {what} {', '.join(map(repr, missing))}; it has {some([str(name) for name in held], 10)}"
        )


def _text(value: Any) -> str:
    return value.decode() if isinstance(value, bytes) else str(value).strip()


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError):
        return False
    return True
