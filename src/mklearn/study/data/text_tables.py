"""Names of tables' files, and words in tables: without pandas, for the parsing of a study."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

SEPARATORS = {".csv": ",", ".tsv": "\t"}
SUFFIXES = (".parquet", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".npz", ".npy", ".mat", ".h5ad", ".h5mu")
"""Suffixes of the tables that are read."""
MISSING = (
    "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "<NA>", "#N/A", "#N/A N/A", "#NA",
    "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip
"""Words that stand for no value, as an empty cell does, as in ``pandas.read_csv``."""


def is_number(value: Any) -> bool:
    """Tell whether a value is a number or text that writes one, as 1.5e3 does; 1_500 is a number in Python alone."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return "_" not in str(value)


def table_suffix(path: Path) -> str:
    """Return the suffix that tells how a table is read: ``.csv`` of ``cells.csv.gz`` too; "" of other files."""
    suffix = path.suffix if path.suffix != ".gz" else Path(path.stem).suffix
    return suffix if path.name.endswith(SUFFIXES) else ""


def table_stem(path: Path) -> str:
    """Return the name of a table's file without its suffixes: ``cells`` of ``cells.csv.gz``."""
    return Path(path.stem if path.suffix == ".gz" else path.name).stem


def slug(text: str) -> str:
    """Return a text, such as the name of a table's file, as the name of a study or view."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._")[:60].strip("-._") or "data"
