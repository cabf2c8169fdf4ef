"""Files that are either whole or not there: write under a temporary name in the same folder, fsync, rename.

An interrupted job must never leave a file that a later run takes for good. Every artefact of the project is written
through this module: NPZ (uncompressed, never pickled, the same bytes for the same arrays), Parquet with a JSON
description in its metadata, and text.
"""

from __future__ import annotations

import errno
import json
import os
import secrets
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mklearn.errors import DataError
from mklearn.provenance import canonical

if TYPE_CHECKING:
    import pandas as pd

_FULL = {errno.ENOSPC, errno.EDQUOT}
# The date in every zip member: a zip file can't hold an earlier one, and the time of writing would change the bytes.
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
# The key of the Parquet metadata under which the JSON description lies.
_METADATA_KEY = b"mklearn"


@contextmanager
def atomic_path(path: str | os.PathLike[str]) -> Iterator[Path]:
    """Give a temporary name in the folder of `path`; rename it to `path` on success, remove it on failure.

    Parameters
    ----------
    path : path
        The file that is to exist afterwards. Its folder is made if need be. The temporary name keeps the suffix, as
        writers choose their format by it.

    Yields
    ------
    Path
        A name that does not exist yet; the body has to write a file there.

    Raises
    ------
    DataError
        The folder can't be written, the disk is full, or the body wrote no file.
    """
    path = Path(path)
    temporary = path.with_name(f".{path.stem}.{secrets.token_hex(4)}.tmp{path.suffix}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise DataError(f"{path}: its folder can't be made: {error.strerror or error}") from error
    try:
        yield temporary
        _sync_and_rename(temporary, path)
    except OSError as error:
        if error.errno in _FULL:
            raise DataError(f"{path}: no space left on the disk (or quota used up); make room and run again") from error
        if error.errno in (errno.EACCES, errno.EPERM, errno.EROFS):
            named = error.filename or path
            raise DataError(f"{path}: can't be written: {error.strerror}: {named}; check the permissions") from error
        raise
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


def _sync_and_rename(temporary: Path, path: Path) -> None:
    if not temporary.is_file():
        raise DataError(f"{path}: nothing was written (expected a file at {temporary})")
    descriptor = os.open(temporary, os.O_RDWR)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
    os.replace(temporary, path)
    # The rename itself is only on disk once the folder is. Some file systems (and Windows) can't sync a folder.
    with suppress(OSError):
        folder = os.open(path.parent, os.O_RDONLY)
        try:
            os.fsync(folder)
        finally:
            os.close(folder)


def write_text(path: str | os.PathLike[str], text: str) -> None:
    """Write `text` as UTF-8 with Unix line ends."""
    with atomic_path(path) as temporary:
        temporary.write_bytes(text.encode("utf-8"))


def write_npz(path: str | os.PathLike[str], **arrays: Any) -> None:
    """Write named arrays as uncompressed NPZ: byte for byte the same file for the same arrays.

    Parameters
    ----------
    path : path
        Target file.
    **arrays : array_like
        Names may hold a slash. No object arrays: nothing is ever pickled.

    Raises
    ------
    DataError
        An array of dtype object, or a file that can't be written.
    """
    converted = {name: np.asanyarray(array) for name, array in arrays.items()}
    for name, array in converted.items():
        if array.dtype.hasobject:
            raise DataError(f"{path}: array {name!r} has dtype {array.dtype}; only numbers and strings can be stored")
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
    """Read an NPZ file whole, checking its checksums.

    Parameters
    ----------
    path : path
        File written by :func:`write_npz` or ``numpy.savez``.
    names : tuple of str, optional
        Only these arrays; all by default.

    Returns
    -------
    dict of str to ndarray
        In the order of the file.

    Raises
    ------
    DataError
        The file is missing, truncated, corrupt, no NPZ, holds pickled objects, or lacks one of `names`.
    """
    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    arrays: dict[str, np.ndarray] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            held = {member.removesuffix(".npy"): member for member in archive.namelist()}
            wanted = tuple(held) if names is None else names
            missing = [name for name in wanted if name not in held]
            if missing:
                raise DataError(f"{path}: has no array named {', '.join(missing)}; it has {', '.join(held) or 'none'}")
            for name in wanted:
                with archive.open(held[name]) as stream:
                    arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
                    # zipfile compares the checksum when the end is reached, and an array may stop short of it
                    if stream.read(1):
                        raise DataError(f"{path}: array {name!r} has bytes after its end: the file is corrupt")
    except DataError:
        raise
    except (zipfile.BadZipFile, ValueError, EOFError, KeyError, NotImplementedError, RuntimeError, zlib.error) as error:
        raise DataError(
            f"{path}: not a readable NPZ file ({error}); it is truncated, corrupt or of another format. "
            "Delete it and make it again"
        ) from error
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror or error}") from error
    return arrays


def write_parquet(path: str | os.PathLike[str], frame: pd.DataFrame, metadata: dict[str, Any] | None = None) -> None:
    """Write a table as Parquet, with a description as JSON in the file's metadata.

    Parameters
    ----------
    path : path
        Target file.
    frame : DataFrame
        The index is dropped.
    metadata : dict, optional
        Anything JSON can hold; read back by :func:`read_parquet`.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(frame, preserve_index=False)
    described = {**(table.schema.metadata or {}), _METADATA_KEY: canonical(metadata or {}).encode()}
    with atomic_path(path) as temporary:
        pq.write_table(table.replace_schema_metadata(described), temporary)


def read_parquet(path: str | os.PathLike[str]) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read a Parquet table and the description that :func:`write_parquet` stored in it (``{}`` if there is none).

    Raises
    ------
    DataError
        The file is missing, truncated, corrupt or no Parquet.
    """
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(path)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    try:
        with path.open("rb") as stream:
            table = pq.read_table(stream)
        metadata = json.loads((table.schema.metadata or {}).get(_METADATA_KEY, b"{}"))
        return table.to_pandas(), metadata
    except (pa.ArrowException, OSError, ValueError) as error:
        raise DataError(
            f"{path}: not a readable Parquet file ({error}); it is truncated, corrupt or of another format"
        ) from error
