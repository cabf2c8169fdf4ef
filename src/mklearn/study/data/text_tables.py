"""File and column names of tables, and words for missing values, without pandas, so that studies are parsed quickly."""

from __future__ import annotations

import re
from collections.abc import Collection
from pathlib import Path
from typing import Any

SEPARATORS = {".csv": ",", ".tsv": "\t"}
SUFFIXES = (".parquet", ".csv", ".csv.gz", ".tsv", ".tsv.gz", ".npz", ".npy", ".mat", ".h5ad", ".h5mu")
"""File suffixes of the supported tables."""
MISSING = (
    "NA", "N/A", "n/a", "NaN", "nan", "-NaN", "-nan", "NULL", "null", "None", "<NA>", "#N/A", "#N/A N/A", "#NA",
    "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN",
)  # fmt: skip
"""Words that mean a missing value, as in ``pandas.read_csv``; so does an empty cell."""
MISSING_CODES = (-9, -99, -128, -999, -9999, -32768, -99999, 99, 999, 9999, 65535, 99999, 1e20)
"""Numbers that often mean a missing value."""
LIMIT = 1e30
"""Bound on the size of values in tables: geographic files have 1e30, or float32's least number, -3.4e38, for none."""
BATCH_NAMES = (
    "batch", "plate", "run", "lane", "chip", "slide", "scanner", "instrument", "site", "centre", "center", "hospital",
    "lab", "cohort",
)  # fmt: skip
"""Usual names of columns of batches, which may be confounded with the target."""


def is_number(value: Any) -> bool:
    """Check whether a value is a number or the text of a number, such as "1.5e3" (not "1_500", as in Python)."""
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return "_" not in str(value)


def table_suffix(path: Path) -> str:
    """Return the suffix of a table without ``.gz``, such as ``.csv`` for ``cells.csv.gz``; "" for other files."""
    suffix = path.suffix if path.suffix != ".gz" else Path(path.stem).suffix
    return suffix if path.name.endswith(SUFFIXES) else ""


def table_stem(path: Path) -> str:
    """Return the file name of a table without its suffixes: ``cells`` for ``cells.csv.gz``."""
    return Path(path.stem if path.suffix == ".gz" else path.name).stem


def slug(text: str) -> str:
    """Convert a text, such as a file name, to a valid name of a study or view."""
    return re.sub(r"[^a-z0-9._-]+", "-", text.lower()).strip("-._")[:60].strip("-._") or "data"


def named_like(column: str, names: Collection[str]) -> bool:
    """Return whether a column has one of the names, ignoring case and endings as in ``patient_id``."""
    return column == "id" in names or re.sub(r"[\s_.-]*(id|no|number)?$", "", column.strip().lower()) in names


def read_gene_sets(path: str) -> dict[str, list[str]]:
    """Return the genes of each set of a GMT file by the set's name as a slug.

    A line has the name, a description and the genes, separated by tabs. Raise ValueError for a file that can't be read,
    a line without genes, or two sets with equal names.
    """
    try:
        lines = Path(path).read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ValueError(f"{path}: can't be read: {error}.") from None
    sets: dict[str, list[str]] = {}
    for number, line in enumerate(lines, start=1):
        name, *rest = line.rstrip("\t").split("\t")
        if len(rest) < 2 or slug(name) in sets:
            wrong = f"the set {name!r} a second time" if slug(name) in sets else "no genes"
            raise ValueError(f"{path}: line {number} has {wrong}; expected a name, a description and genes, by tabs.")
        sets[slug(name)] = list(dict.fromkeys(rest[1:]))
    if not sets:
        raise ValueError(f"{path}: has no sets.")
    return sets
