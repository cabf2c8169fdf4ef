"""Reading of tables of named columns from Parquet and text, as pandas, R, Excel and NumPy write them."""

from __future__ import annotations

import codecs
import csv
import gzip
import re
import warnings
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.atomic import existing_file, read_parquet
from mklearn.errors import DataError, UserError
from mklearn.study.data.samples import check_unique
from mklearn.study.data.text_tables import MISSING, SEPARATORS, SUFFIXES, is_number, table_suffix

_NAMELESS = re.compile(r"\s*|Unnamed: \d+(_level_\d+)?")
"""Pattern of an empty column name, or of the name that pandas gives to such a column."""
_DECIMAL_COMMA = r"[+-]?(?![1-9]\d{0,2}(,\d{3})+$)\d*,\d+([eE][+-]?\d+)?"
"""Pattern of a number with a decimal comma that can't be a number with commas between thousands."""


@contextmanager
def readable(path: Path) -> Iterator[None]:
    """Convert exceptions of libraries, raised for damaged or wrong files, to DataError."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    except (UserError, MemoryError):
        raise
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not UTF-8 ({error}); save it as UTF-8 text") from error
    except Exception as error:
        reason = " ".join(str(error).split())[:200] or type(error).__name__
        raise DataError(f"{path}: not a readable {path.suffix} file ({reason}); truncated or damaged") from error


def read_frame(path: Path, text_columns: Sequence[str] = (), rows: int | None = None) -> pd.DataFrame:
    """Read a Parquet or text table; from text, read only the first `rows` if given.

    The first of `text_columns` has the ids. If there is no such column, an index without a name that is text becomes
    it; so does the first column of a text table that has no name. A frame with such an index keeps it. An index that
    is named as one of `text_columns` becomes this column.

    In text tables, `text_columns` are read verbatim: an id "007" or "NA" is text. Columns of True, False and missing
    values become boolean. Columns that are not empty must have unique names, except in a text table whose first line
    has numbers only: it is a matrix without names, and that line is a row.
    """
    ids, suffix = next(iter(text_columns), None), table_suffix(path)
    if suffix == ".parquet":
        frame = read_parquet(path)[0]
        _check_names(dict(enumerate(map(str, frame.columns), 1)), path)
    elif suffix in SEPARATORS:
        frame = _read_text(path, text_columns, rows)
    else:
        raise DataError(f"{path}: unknown kind of table {path.suffix!r}; valid: {', '.join(SUFFIXES)}")
    name = frame.index.name or (ids if pd.api.types.is_string_dtype(frame.index.dtype) else None)
    if name in text_columns and name not in frame.columns and frame.index.nlevels == 1:
        frame = pd.concat([frame.index.to_series(name=name), frame], axis=1)
    objects = [name for name, dtype in frame.dtypes.items() if dtype.kind == "O" and name not in text_columns]
    logical = [name for name in objects if pd.api.types.infer_dtype(frame[name], skipna=True) == "boolean"]
    return frame.astype(dict.fromkeys(logical, "boolean"))


def _read_text(path: Path, text_columns: Sequence[str], rows: int | None) -> pd.DataFrame:
    """Read a text table; a first column without a name becomes the index."""
    with readable(path):
        options, names, width = _layout(path)
        if len(names) == width and all(map(is_number, names)):
            frame = pd.read_csv(path, header=None, nrows=rows, na_values=["", *MISSING], **options)
            return frame.set_axis(pd.RangeIndex(frame.shape[1]), axis=1)
        ids = next(iter(text_columns), None)
        names = names if width != len(names) + 1 or ids in names else ["", *names]  # R has no name for row names
        if width > len(names):
            counts = f"the first line has {len(names)} names and the second {width} values"
            raise DataError(f"{path}: {counts}; name every column (in R: write.table(..., col.names = NA))")
        names = [f"Unnamed: {k}" * (k > 0) if _NAMELESS.fullmatch(name) else name for k, name in enumerate(names)]
        check_unique(np.array(names, dtype=str), f"{path}: names of columns")
        text = [name for name in ("", *text_columns) if name in names]
        options |= {"header": 0, "names": names, "nrows": rows, "index_col": False}
        warnings.simplefilter("error", pd.errors.ParserWarning)  # a row has more values than there are names
        frame = pd.read_csv(path, na_values=["", *MISSING], dtype=dict.fromkeys(text, str), **options)
        empty = [name for name in names if _NAMELESS.fullmatch(name) and len(frame) and frame[name].isna().all()]
        frame, text = frame.drop(columns=empty), [name for name in text if name not in empty]  # Excel has such columns
        _check_names({k: name for k, name in enumerate(names, 1) if name and name in frame}, path)
        # read text columns again, verbatim: `na_values` per column would take 14 kB for each column
        as_text = pd.read_csv(path, usecols=lambda name: name in text, dtype=str, **options)
        if options["decimal"] == ",":
            as_text = pd.concat([as_text, frame.select_dtypes(exclude=["number", "bool"]).drop(columns=text)], axis=1)
            numbers = as_text.drop(columns=["", ids], errors="ignore")
            as_text[[*numbers]] = numbers.replace(r"^([+-]?\d*),(\d+([eE][+-]?\d+)?)$", r"\1.\2", regex=True)
    for name in as_text.columns:
        frame[name] = as_text[name]
    return _indexed(frame, path) if "" in frame else frame


def decimal_mark(path: Path) -> str:
    """Return the decimal mark of a text table, a point of other files."""
    with readable(path):
        return str(_layout(path)[0]["decimal"]) if table_suffix(path) in SEPARATORS else "."


def _layout(path: Path) -> tuple[dict[str, Any], list[str], int]:
    """Return arguments of ``pandas.read_csv`` for a text table, its first line, and the number of values in the next.

    Lines above the header that begin with "#" are skipped. A header that begins with "#" has as many separators as the
    next line, and no space after "#" unless the next line has numbers (NumPy). The encoding is UTF-8, or UTF-16 if the
    file has its mark. The separator is the usual one of the suffix, a semicolon, tab, space or comma: of those in the
    header the one that fits best. The first rows show if numbers have decimal commas.
    """
    opened = gzip.open if path.suffix == ".gz" else open
    with opened(existing_file(path), "rb") as file:
        is_utf16 = file.read(2) in (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)
    encoding = "utf-16" if is_utf16 else "utf-8-sig"
    with opened(path, "rt", encoding=encoding, newline="") as file:
        skipped, above, first = 0, "", ""
        for line in file:
            if line.strip() and line[0] != "#" and not re.fullmatch(r"sep=.\s*", line):  # Excel writes "sep=;"
                first = line
                break
            skipped, above = skipped + 1, line
        if not first:
            raise DataError(f"{path}: is empty; expected a line of column names, and a line per sample")
        above_width, width = (sum(map(line.count, ";\t,")) for line in (above, first))
        has_numbers = any(map(is_number, re.split('[;\t,"]', first.strip())))
        is_header = above[:1] == "#" and above_width == width and (above[1:2] != " " or has_numbers)
        head = [above, first] if is_header else [first, next(filter(str.strip, file), "")]
        usual = SEPARATORS[table_suffix(path)]
        marks = [mark for mark in dict.fromkeys((usual, *";\t ,")) if mark in head[0]] or [usual]
        csv.field_size_limit(2**31 - 1)  # with a wrong separator, a line of thousands of values is one value
        separator = max(marks, key=lambda mark: _score(mark, head))
        names, *values = islice(csv.reader(filter(str.strip, chain(head, file)), delimiter=separator), 21)
    has_commas = separator != "," and any(re.fullmatch(_DECIMAL_COMMA, value) for row in values for value in row)
    options = {"sep": separator, "decimal": "," if has_commas else ".", "encoding": encoding,
               "skiprows": skipped - is_header, "keep_default_na": False}  # fmt: skip
    return options, names, len(values[0]) if values else len(names)


def _score(mark: str, head: Sequence[str]) -> tuple[bool, int]:
    """Return whether a separator gives the first row as many values as there are names, and how many are numbers.

    One value more is accepted, as R's row names have no name, but not with commas, which occur within names.
    """
    names, row = (next(csv.reader([line], delimiter=mark), []) for line in head)
    decimal = _DECIMAL_COMMA if mark != "," else "(?!)"
    numbers = sum(is_number(value) or re.fullmatch(decimal, value) is not None for value in row)
    return mark != " " and len(row) - len(names) in ((0,) if mark == "," else (0, 1)), numbers


def _indexed(frame: pd.DataFrame, path: Path) -> pd.DataFrame:
    """Make the first column, which has no name, the index: text or whole numbers, different in each row."""
    first = frame.pop("")
    check_unique(first.to_numpy(dtype=str), f"{path}: values of the first column, which has no name,")
    is_text = not all(map(is_number, first)) or first.str.match(r"0\d").any()
    if not is_text and not first.str.isdecimal().all():
        raise DataError(f"{path}: column 1 has no name; name it")
    return frame.set_axis(pd.Index(first.array if is_text else pd.to_numeric(first).array))


def _check_names(names: Mapping[int, str], path: Path) -> None:
    """Check the names of columns by their numbers in the file."""
    nameless = [number for number, name in names.items() if _NAMELESS.fullmatch(name)]
    if nameless:
        raise DataError(f"{path}: column {nameless[0]} has no name; name it")
    check_unique(np.array([*names.values()], dtype=str), f"{path}: names of columns")
