"""Atomic files: written under a temporary name in the same folder, synced to disk, then renamed.

An interrupted job never leaves a partial file under a final name. Every artefact is written through this module: NPZ
(uncompressed, no pickles, equal bytes for equal arrays), Parquet with a JSON description in its metadata, and text.
"""

from __future__ import annotations

import errno
import json
import math
import os
import secrets
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from mklearn.errors import DataError, UserError
from mklearn.provenance import canonical

if TYPE_CHECKING:
    import pandas as pd

DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
NOT_WRITABLE = frozenset({errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST})
# The date of every zip member: the earliest that the format knows. The time of writing would change the bytes.
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
# Unpacked size over packed size of one member: deflate reaches about 1030.
_MOST_DEFLATED = 1100
# Key of the JSON description in the metadata of a Parquet file.
_METADATA_KEY = b"mklearn"


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary name in the folder of `path`; rename it to `path` on success, remove it on failure.

    The folder is created. The temporary name does not exist yet; it keeps the suffix, because writers choose the format
    by it.

    Raises
    ------
    DataError
        The folder is not writable, the disk is full, or the body wrote no file.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.tmp{path.suffix}")
    try:
        with disk_errors(path):
            path.parent.mkdir(parents=True, exist_ok=True)
            yield temporary
            if not temporary.is_file():
                raise DataError(f"{path}: nothing was written (expected a file at {temporary})")
            sync_and_rename(temporary, path)
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def disk_errors(path: Path, kind: type[UserError] = DataError) -> Iterator[None]:
    """Turn errors of a full or read-only disk into an error of class `kind` that names `path` and the remedy."""
    try:
        yield
    except OSError as error:
        if error.errno in DISK_FULL:
            raise kind(f"{path}: no space left on the disk (or quota used up); make room and run again") from error
        if error.errno in NOT_WRITABLE:
            reason = f"{error.strerror}: {error.filename or path}"
            raise kind(f"{path}: can't be written: {reason}; check the folder and its permissions") from error
        raise


def sync_and_rename(temporary: Path, path: Path) -> None:
    """Sync the file `temporary` to disk and rename it to `path`, in the same folder."""
    descriptor = os.open(temporary, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.replace(temporary, path)
    # The rename is only on disk once the folder is. Some file systems (and Windows) can't sync a folder.
    with suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def existing_file(path: str | os.PathLike[str]) -> Path:
    """Return `path` if it is a file; raise DataError otherwise."""
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    return path


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` as UTF-8 with Unix line ends, atomically."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def write_npz(path: str | os.PathLike[str], **arrays: Any) -> None:
    """Write named arrays as uncompressed NPZ; equal arrays give equal bytes. Names may contain a slash.

    Raises
    ------
    DataError
        An array has dtype object (nothing is pickled), or the file can't be written.
    """
    converted = {name: np.asanyarray(array) for name, array in arrays.items()}
    for name, array in converted.items():
        if array.dtype.hasobject:
            raise DataError(f"{path}: array {name!r} has dtype {array.dtype}; expected numbers or strings")
    with (
        atomic_path(path) as temporary,
        zipfile.ZipFile(temporary, "w", zipfile.ZIP_STORED, allowZip64=True) as archive,
    ):
        for name, array in converted.items():
            member = zipfile.ZipInfo(f"{name}.npy", date_time=_ZIP_EPOCH)
            member.external_attr = 0o644 << 16
            with archive.open(member, "w", force_zip64=True) as stream:
                np.lib.format.write_array(stream, array, allow_pickle=False)


def read_npz(path: str | os.PathLike[str], names: tuple[str, ...] | None = None) -> dict[str, np.ndarray]:
    """Read the arrays of an NPZ file, or those of `names`, and verify their checksums.

    Raises
    ------
    DataError
        The file is missing, truncated, corrupt, not NPZ, contains pickled objects, or lacks one of `names`.
    """
    path = existing_file(path)
    arrays: dict[str, np.ndarray] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            held = {member.removesuffix(".npy"): member for member in archive.namelist()}
            wanted = tuple(held) if names is None else names
            missing = [name for name in wanted if name not in held]
            if missing:
                raise DataError(f"{path}: has no array named {', '.join(missing)}; it has {', '.join(held) or 'none'}")
            for name in wanted:
                member = archive.getinfo(held[name])
                with archive.open(member) as stream:
                    shape, dtype = _npy_header(stream)
                    size = stream.tell() + math.prod(shape) * dtype.itemsize
                # before memory is taken for what a damaged header claims
                is_possible = size == member.file_size <= _MOST_DEFLATED * member.compress_size + 1024
                if not (is_possible or dtype.hasobject):
                    raise ValueError(f"array {name!r} has not the size of its shape {shape}")
                with archive.open(member) as stream:
                    arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
                    stream.read(1)  # zipfile verifies the checksum at the end of a member
    except DataError:
        raise
    except (zipfile.BadZipFile, ValueError, EOFError, KeyError, NotImplementedError, RuntimeError, zlib.error) as error:
        raise DataError(
            f"{path}: not a readable NPZ file ({error}); it is truncated, corrupt or of another format. "
            "Delete it and run again"
        ) from error
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror or error}") from error
    return arrays


def _npy_header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Read the header of an array: its shape and type."""
    version = np.lib.format.read_magic(stream)
    read = np.lib.format.read_array_header_1_0 if version == (1, 0) else np.lib.format.read_array_header_2_0
    shape, _, dtype = read(stream)
    return shape, dtype


def write_parquet(path: str | os.PathLike[str], frame: pd.DataFrame, metadata: dict[str, Any] | None = None) -> None:
    """Write a table, without its index, as Parquet with a description of JSON types in the file's metadata."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(frame, preserve_index=False)
    described = {**(table.schema.metadata or {}), _METADATA_KEY: canonical(metadata or {}).encode()}
    with atomic_path(path) as temporary:
        pq.write_table(table.replace_schema_metadata(described), temporary)


def read_parquet(path: str | os.PathLike[str]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read a Parquet table and its JSON description (``{}`` if there is none); see :func:`write_parquet`.

    Raises
    ------
    DataError
        The file is missing, truncated, corrupt or not Parquet.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = existing_file(path)
    try:
        with path.open("rb") as stream:
            table = pq.read_table(stream)
        metadata = json.loads((table.schema.metadata or {}).get(_METADATA_KEY, b"{}"))
        return table.to_pandas(), metadata
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(
            f"{path}: not a readable Parquet file ({error}); it is truncated, corrupt or of another format"
        ) from error
