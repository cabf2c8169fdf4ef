"""Artefacts: files that jobs write for later jobs, each with the record of its job: spec, inputs, code and versions.

An NPZ file holds its record as an array, a Parquet table in its schema metadata; a JSON file is itself a record. Arrays
and tables are read by :mod:`mklearn.atomic`, which verifies their checksums.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from mklearn.atomic import file_content, read_npz, read_parquet, write_npz, write_text
from mklearn.errors import DataError
from mklearn.study.provenance import canonical

_RECORD = "provenance"
"""Name of the array that holds the record of an NPZ file."""


def write_arrays(
    path: str | os.PathLike[str], record: Mapping[str, Any], compressed: bool = False, **arrays: Any
) -> None:
    """Write named arrays with the record of their job as NPZ; see :func:`mklearn.atomic.write_npz`."""
    write_npz(path, compressed, **arrays, **{_RECORD: canonical(record)})


def write_record(path: str | os.PathLike[str], record: Mapping[str, Any]) -> None:
    """Write a record as a JSON file."""
    write_text(path, json.dumps(record, indent=1, sort_keys=True, ensure_ascii=False) + "\n")


def read_record(path: str | os.PathLike[str]) -> dict[str, Any]:
    """Read the record of an artefact: spec, inputs, code and versions; JSON files have further keys.

    Raise DataError if the file is damaged or missing, or is an NPZ file without a record.
    """
    suffix = Path(path).suffix
    if suffix == ".parquet":
        return read_parquet(path)[1]
    text = str(read_npz(path, (_RECORD,))[_RECORD]) if suffix == ".npz" else file_content(path)
    try:
        return dict(json.loads(text))
    except (ValueError, TypeError) as error:
        raise DataError(f"{path}: not a readable JSON object ({error}); delete it and run again") from error
