"""Read and write the stamp of an artefact: its specification, inputs and code.

NPZ files have it as an array, Parquet tables in their metadata, JSON files and report pages as an element of their own.
Files that must not be changed (a download) or have no place for it (CSV, figures) are named, with their sha256, in a
``provenance.json`` beside them, which has the sha256 of its own content.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from mklearn.atomic import read_npz, write_text
from mklearn.errors import DataError
from mklearn.study.provenance import digest, file_digest

BESIDE = "provenance.json"
CHECKSUM = "sha256"
"""Key of a JSON object's own checksum."""
_IN_PAGE = re.compile(rb'<script type="application/json" id="provenance">(.*?)</script>', re.DOTALL)
Stamp = dict[str, Any]


def write_beside(files: Sequence[Path], stamp: Stamp, target: Path | None = None) -> None:
    """Write the stamp of a job's files, the declared one first, where not all of them can hold it.

    Into ``target``, or ``NAME.provenance.json`` beside a single file.
    """
    target = target or files[0].with_name(f"{files[0].name}.{BESIDE}")
    digests = {os.path.relpath(path, target.parent).replace(os.sep, "/"): file_digest(path) for path in files}
    content = {**stamp, "made_with": next(iter(digests)), "files": digests}
    write_text(target, sealed_json(content))


def sealed_json(content: Stamp) -> str:
    """Return a JSON object as text, with the sha256 of its content."""
    return json.dumps({**content, CHECKSUM: digest(content)}, indent=1, sort_keys=True, ensure_ascii=False) + "\n"


def read_stamp(path: Path) -> Stamp | None:
    """Return the stamp of a file: its own, or the one beside it; None if it has none.

    Raises
    ------
    DataError
        The file is of a kind that holds a stamp, and can't be read.
    """
    own = _READERS.get(path.suffix)
    if own and (found := own(path)) is not None:
        return found
    beside = stamp_beside(path)
    return None if beside is None else load_beside(beside)


def stamp_beside(path: Path) -> Path | None:
    """Return the file that holds the stamp of another: beside it, or above it in a folder of the same job."""
    folder = path.parent
    for candidate in (folder / f"{path.name}.{BESIDE}", folder / BESIDE, folder.parent / BESIDE):
        if candidate.is_file() and candidate != path:
            name = os.path.relpath(path, candidate.parent).replace(os.sep, "/")
            if name in load_beside(candidate).get("files", {}):
                return candidate
    return None


def load_beside(path: Path) -> Stamp:
    """Read a ``provenance.json``, verified.

    Raises
    ------
    DataError
        It can't be read, or is not what was written.
    """
    content = _load_json(path)
    expected = content.pop(CHECKSUM, None)
    with _readable(path, "JSON"):
        if digest(content) != expected:
            raise ValueError("its checksum is not the one that it was written with")
    return content


def _load_json(path: Path) -> Stamp:
    """Read a JSON object from a file; empty if it holds something else."""
    with _readable(path, "JSON"):
        found = json.loads(path.read_text(encoding="utf-8"))
    return found if isinstance(found, dict) else {}


@contextmanager
def _readable(path: Path, kind: str) -> Iterator[None]:
    """Turn what damaged files raise into a DataError."""
    try:
        yield
    except (OSError, ValueError, RecursionError) as error:
        raise DataError(f"{path}: not a readable {kind} file ({error}); delete it and run again.") from None


def _of_json(path: Path) -> Stamp | None:
    if path.name.endswith(BESIDE):
        found = load_beside(path)
        return found if "files" in found else _stamp(found)
    return _stamp(_load_json(path))


def _of_npz(path: Path) -> Stamp | None:
    try:
        return _stamp({"provenance": json.loads(str(read_npz(path, ("provenance",))["provenance"]))})
    except DataError as error:
        if "has no array named" in str(error):
            return None
        raise


def _of_parquet(path: Path) -> Stamp | None:
    import pyarrow as pa
    import pyarrow.parquet as pq

    with _readable(path, "Parquet"):
        try:
            held = json.loads((pq.read_schema(path).metadata or {}).get(b"mklearn", b"{}"))
        except pa.ArrowException as error:
            raise ValueError(error) from None
    return _stamp(held) or _stamp({"provenance": held})


def _of_page(path: Path) -> Stamp | None:
    with _readable(path, "HTML"):
        found = _IN_PAGE.search(path.read_bytes())
        return _stamp({"provenance": json.loads(found[1])}) if found else None


def _stamp(held: Any) -> Stamp | None:
    """Return the stamp in what a file holds, if it is one."""
    found = held.get("provenance") if isinstance(held, dict) else None
    return found if isinstance(found, dict) and {"spec", "inputs", "code"} <= set(found) else None


_READERS = {".json": _of_json, ".npz": _of_npz, ".parquet": _of_parquet, ".html": _of_page}
