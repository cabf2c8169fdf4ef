"""Text tables by their names and first lines, and words in them: without pandas, for the parsing of a study."""

from __future__ import annotations

import bz2
import csv
import gzip
import itertools
import lzma
import re
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mklearn.errors import DataError

SEPARATORS = {".csv": ",", ".tsv": "\t"}
_OPENERS: dict[str, Any] = {".gz": gzip.open, ".bz2": bz2.open, ".xz": lzma.open}
TEXT_TABLES = tuple(f"{suffix}{packed}" for suffix in SEPARATORS for packed in ("", *_OPENERS))
MISSING = (
    "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "<NA>", "#N/A", "#N/A N/A", "#NA",
    "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip
"""Words that stand for no value, as an empty cell does: those of ``pandas.read_csv``."""
GROWTH = 5
"""Size of what a compressed file holds, by that of the file."""


def is_number(value: Any) -> bool:
    """Tell whether a value is a number or text that writes one, as 1.5e3 does; 1_500 is a number in Python alone."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return "_" not in str(value)


def is_compressed(path: Path) -> bool:
    """Tell whether a file is a compressed text table, by its name."""
    return path.suffix in _OPENERS and Path(path.stem).suffix in SEPARATORS


def unpacked_bytes(path: Path) -> int:
    """Estimate the size of a file's content: that of the file, `GROWTH` times as much if it is compressed."""
    return path.stat().st_size * (GROWTH if path.suffix in (*_OPENERS, ".zip") else 1)


def table_suffix(path: Path) -> str:
    """Return the suffix that tells how a table is read: ``.csv`` of ``cells.csv.gz`` too."""
    return Path(path.stem).suffix if is_compressed(path) else path.suffix


def table_stem(path: Path) -> str:
    """Return the name of a table's file without its suffixes: ``cells`` of ``cells.csv.gz``."""
    return Path(path.stem).stem if is_compressed(path) else path.stem


def slug(text: str) -> str:
    """Return a text, such as the name of a table's file, as the name of a study or view."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._")[:60].strip("-._") or "data"


@contextmanager
def text_errors(path: Path) -> Iterator[None]:
    """Raise DataError for what pandas and decompression raise of a file that is no text table."""
    try:
        yield
    except DataError:
        raise
    except UnicodeDecodeError as error:
        raise DataError(f"{path}: not a readable CSV table: not UTF-8 ({error}); save it as UTF-8 text") from error
    except (ValueError, OverflowError, csv.Error, EOFError, OSError, zlib.error, lzma.LZMAError) as error:
        raise DataError(f"{path}: not a readable CSV table ({' '.join(str(error).split())})") from error


def first_rows(path: Path, count: int = 2) -> list[list[str]]:
    """Return the cells of the first rows of a text table that are not blank."""
    from mklearn.atomic import existing_file

    with text_errors(path):
        opened = _OPENERS.get(path.suffix, open)(existing_file(path), "rt", encoding="utf-8-sig", newline="")
        with opened as stream:
            rows = csv.reader(stream, delimiter=SEPARATORS[table_suffix(path)])
            return list(itertools.islice(filter(None, rows), count))
