"""Atomic files: written under a temporary name in the same folder, synced to disk, then renamed.

An interrupted job never leaves a partial file under a final name. NPZ (uncompressed, no pickles) and Parquet files have
equal bytes for equal content. Reading verifies their checksums: one for each array, or for each page.
"""

from __future__ import annotations

import errno
import json
import os
import re
import secrets
import zipfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mklearn.errors import DataError, absence
from mklearn.extras import require

if TYPE_CHECKING:
    import pandas as pd

DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
# Key of the JSON description in Parquet metadata.
_METADATA_KEY = b"mklearn"
_AGAIN = "if a run wrote it, delete it and run again"
# Text that a spreadsheet evaluates; a plus or minus without a call, as in coordinates or "- none", does no harm.
_FORMULA = re.compile(r"[=@\t\r]|[+-].*[\w'][(|!]", re.DOTALL)


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Provide a temporary path next to `path`; rename it to `path` on success, remove it on failure.

    The folder is created if needed. The temporary name keeps the suffix, because writers choose the format by it.
    Raise `DataError` if it is not writable, the disk is full, or the body wrote no file.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.tmp{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        if not temporary.is_file():
            raise DataError(f"{path}: nothing was written (expected a file at {temporary})")
        with temporary.open("rb+") as stream:
            os.fsync(stream)
        os.replace(temporary, path)
    except OSError as error:
        if error.errno is None:  # of a library, not of the system
            raise
        cause = f"{error.strerror}: {error.filename or path}"
        reason = f"can't be written: {cause}; check the folder, its permissions and the disk"
        if error.errno in DISK_FULL:
            reason = "no space left on the disk (or quota used up); make room and run again"
        raise DataError(f"{path}: {reason}") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def existing_file(path: str | os.PathLike[str]) -> Path:
    """Return `path` if it is a file; raise `DataError` otherwise."""
    path = Path(path)
    try:
        if path.is_file():
            return path
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror or error}") from error
    raise DataError(f"{path}: {absence(path)}")


def file_content(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file; raise `DataError` if it does not exist or can't be read."""
    try:
        return existing_file(path).read_bytes()
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror or error}") from error


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` atomically as UTF-8 with Unix line endings."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def write_npz(path: str | os.PathLike[str], compressed: bool = False, **arrays: Any) -> None:
    """Write named arrays as NPZ; equal arrays give equal bytes. Names may contain a slash.

    Raise `DataError` for an array of dtype object (nothing is pickled), or if the file can't be written.
    """
    converted = {name: np.asanyarray(array) for name, array in arrays.items()}
    for name, array in converted.items():
        if array.dtype.hasobject:
            raise DataError(f"{path}: array {name!r} has dtype {array.dtype}; expected numbers or strings")
    with atomic_path(path) as temporary, zipfile.ZipFile(temporary, "w") as archive:
        for name, array in converted.items():
            member = zipfile.ZipInfo(f"{name}.npy")  # dated 1980, since the time of writing would change the bytes
            member.external_attr = 0o644 << 16
            member.compress_type = zipfile.ZIP_DEFLATED if compressed else zipfile.ZIP_STORED
            with archive.open(member, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)


def read_npz(path: str | os.PathLike[str], names: tuple[str, ...] | None = None) -> dict[str, np.ndarray]:
    """Read all arrays of an NPZ file, or only `names`, and verify their checksums.

    Raise `DataError` if the file is missing, truncated, corrupt, not NPZ, has pickled objects, or lacks one of `names`.
    """
    path = existing_file(path)
    arrays: dict[str, np.ndarray] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            present = [member.removesuffix(".npy") for member in archive.namelist()]
            missing = [name for name in names or () if name not in present]
            if missing:
                lacks = f"has no array named {', '.join(missing)}; it has {', '.join(present) or 'none'}"
                raise DataError(f"{path}: {lacks}; {_AGAIN}")
            for name in present if names is None else names:
                with archive.open(f"{name}.npy") as stream:
                    arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
                    # zipfile verifies the checksum only at the end of a member; the array may end earlier
                    if stream.read(1):
                        raise ValueError(f"array {name!r} has bytes after its end")
    except (DataError, MemoryError):
        raise
    except Exception as error:  # zipfile and NumPy raise many kinds of errors for damaged bytes
        if "Object arrays" in str(error):
            raise DataError(f"{path}: has an array of Python objects; save text as array.astype(str)") from error
        # the address of an object varies between runs
        reason = type(error).__name__ if " object at 0x" in str(error) else error
        raise _damaged(path, "NPZ", reason) from error
    return arrays


def _damaged(path: Path, kind: str, reason: Any) -> DataError:
    what = f"not a readable {kind} file ({reason}); it is truncated, corrupt or of another format"
    return DataError(f"{path}: {what}; {_AGAIN}")


def csv_text(frame: pd.DataFrame) -> str:
    """Return a table as CSV, with an apostrophe before text that a spreadsheet would run as a formula."""

    def harmless(value: Any) -> Any:
        return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value

    text = frame.select_dtypes(exclude=["number", "bool"]).columns
    columns = {name: frame[name].map(harmless) for name in text}
    return str(frame.assign(**columns).to_csv(index=False, lineterminator="\n"))


def write_parquet(path: str | os.PathLike[str], frame: pd.DataFrame, metadata: Mapping[str, Any] | None = None) -> None:
    """Write a table without its index as Parquet, with `metadata` of JSON types in its schema, and its ``attrs``."""
    require("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(frame, preserve_index=False)
    attrs = {"attrs": frame.attrs} if frame.attrs else {}
    description = json.dumps({**(metadata or {}), **attrs}, sort_keys=True, allow_nan=False).encode()
    table = table.replace_schema_metadata({**(table.schema.metadata or {}), _METADATA_KEY: description})
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        pq.write_table(table, stream, write_page_checksum=True)


def read_parquet(path: str | os.PathLike[str]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read a Parquet table and its metadata (``{}`` if there are none), and verify the checksums of its pages.

    Raise `DataError` if the file is missing, can't be read, or is truncated, corrupt or not Parquet.
    """
    require("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(path)
    source = pa.BufferReader(file_content(path))
    try:
        table = pq.ParquetFile(source, page_checksum_verification=True).read(use_pandas_metadata=True)
        frame, metadata = table.to_pandas(), json.loads((table.schema.metadata or {}).get(_METADATA_KEY, b"{}"))
        frame.attrs |= metadata.pop("attrs", {})
        return frame, metadata
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(path, "Parquet", error) from error
