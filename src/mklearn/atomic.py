"""Atomic files: written under a temporary name in the same folder, synced to disk, then renamed.

An interrupted job never leaves a partial file under a final name. Every artefact is written through this module: NPZ
(uncompressed, no pickles, equal bytes for equal arrays), Parquet with a JSON description in its metadata, and text.

What is read is what was written: NPZ has a checksum of each array; Parquet files get one of all their bytes, because
checksums of pages, which the format knows, leave out types, names and the description.
"""

from __future__ import annotations

import errno
import hashlib
import io
import json
import math
import os
import re
import secrets
import struct
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from mklearn.errors import DamagedFile, DataError, UserError, absence
from mklearn.extras import require

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from pyarrow import parquet as pq

DISK_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
NOT_WRITABLE = frozenset(
    {errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EISDIR, errno.EEXIST, errno.ENOENT, errno.ELOOP,
     errno.ENAMETOOLONG, errno.EIO, errno.EFBIG}
)  # fmt: skip
# The date of every zip member: the earliest that the format knows. The time of writing would change the bytes.
_ZIP_EPOCH = (1980, 1, 1, 0, 0, 0)
# Unpacked size over packed size of one member: deflate reaches about 1030.
_MOST_DEFLATED = 1100
# The end of a zip archive without a comment: mark, three numbers of disks, number of members, size, place, length.
_LAST_RECORD = struct.Struct("<4sHHHHIIH")
# Key of the JSON description in the metadata of a Parquet file.
_METADATA_KEY = b"mklearn"
# In the metadata of a Parquet file, before the sha256 of all bytes of the file with zeros in place of these 64 digits.
_SEAL = b"mklearn sha256 "
_DIGITS = 64
_COLUMNS_AT_ONCE = 20_000
_FORMULA = re.compile(r"[=@\t\r]|[+-](?![\d.,%±\[\]\s+-]*(e[+-]?\d+)?$)", re.IGNORECASE)


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
            raise kind(f"{path}: can't be written: {reason}; check the folder, its permissions and the disk") from error
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
    try:
        found = path.is_file()
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror or error}") from error
    if not found:
        raise DataError(f"{path}: {absence(path)}")
    return path


def file_content(path: str | os.PathLike[str]) -> bytes:
    """Return the bytes of a file; raise DataError if there is none, or it can't be read."""
    path = existing_file(path)
    try:
        return path.read_bytes()
    except OSError as error:
        raise DataError(f"{path}: can't be read: {error.strerror or error}") from error


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
    DamagedFile
        The file is truncated, corrupt, not NPZ, contains pickled objects, or lacks one of `names`.
    DataError
        The file is missing or can't be read.
    """
    path = existing_file(path)
    arrays: dict[str, np.ndarray] = {}
    try:
        with zipfile.ZipFile(path) as archive:
            held = {member.removesuffix(".npy"): member for member in archive.namelist()}
            if len(held) < len(archive.infolist()):  # a flipped bit has made one name of another
                raise ValueError("two arrays have the same name")
            _check_number(path, len(held))
            wanted = tuple(held) if names is None else names
            missing = [name for name in wanted if name not in held]
            if missing:
                lacks = f"has no array named {', '.join(missing)}; it has {', '.join(held) or 'none'}"
                raise DamagedFile(str(path), f"{path}: {lacks}")
            for name in wanted:
                _check_length(archive, held[name])
                with archive.open(held[name]) as stream:
                    arrays[name] = np.lib.format.read_array(stream, allow_pickle=False)
                    # zipfile verifies the checksum at the end of a member; an array may end before it
                    if stream.read(1):
                        raise ValueError(f"array {name!r} has bytes after its end")
    except (DataError, MemoryError):
        raise
    except OSError as error:
        if error.errno not in (None, errno.EINVAL):  # EINVAL: a damaged file has made zipfile seek where nothing is
            raise DataError(f"{path}: can't be read: {error.strerror or error}") from error
        raise _damaged(path, "NPZ", error) from error
    except Exception as error:  # damaged bytes make zipfile and NumPy raise errors of many kinds
        raise _damaged(path, "NPZ", reason_of(error)) from error
    return arrays


def _check_number(path: Path, n_members: int) -> None:
    """Check that a zip archive has as many members as its last record says, which zipfile does not.

    A flipped bit in the length of a comment makes the members after it a part of the comment.
    """
    with path.open("rb") as stream:
        stream.seek(-_LAST_RECORD.size, os.SEEK_END)
        mark, _, _, _, n_recorded, *_ = _LAST_RECORD.unpack(stream.read())
    # A comment after the record, which neither NumPy nor mklearn writes, or the larger format.
    if mark == b"PK\x05\x06" and n_recorded not in (n_members, 0xFFFF):
        raise ValueError(f"{n_members} of its {n_recorded} arrays are found")


def _check_length(archive: zipfile.ZipFile, member: str) -> None:
    """Check that the header of an array claims the bytes that follow it, before memory is taken for what it claims."""
    info = archive.getinfo(member)
    with archive.open(info) as stream:
        version = np.lib.format.read_magic(stream)
        headers = {(1, 0): np.lib.format.read_array_header_1_0, (2, 0): np.lib.format.read_array_header_2_0}
        if version not in headers:
            return
        shape, _, dtype = headers[version](stream)
        length = stream.tell() + math.prod(shape) * dtype.itemsize
    is_possible = length == info.file_size <= _MOST_DEFLATED * info.compress_size + 1024
    if not (is_possible or dtype.hasobject):
        raise ValueError(f"array {member.removesuffix('.npy')!r} has not the size of its shape {shape}")


def reason_of(error: Exception) -> str:
    """Return what an error says; its type where that names the address of an object, which no two runs share."""
    return type(error).__name__ if " object at 0x" in str(error) else str(error)


def _damaged(path: Path, kind: str, reason: Any) -> DamagedFile:
    sentence = f"not a readable {kind} file ({reason}); it is truncated, corrupt or of another format"
    return DamagedFile(str(path), f"{path}: {sentence}")


def csv_text(frame: pd.DataFrame) -> str:
    """Return a table as CSV; text that a spreadsheet would run as a formula gets an apostrophe before it."""
    text = frame.select_dtypes(exclude=["number", "bool"]).columns
    return str(
        frame.assign(**{name: frame[name].map(_no_formula) for name in text}).to_csv(index=False, lineterminator="\n")
    )


def _no_formula(value: Any) -> Any:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def write_parquet(path: str | os.PathLike[str], frame: pd.DataFrame, metadata: dict[str, Any] | None = None) -> None:
    """Write a table, without its index, as Parquet with a description of JSON types in the file's metadata.

    The metadata have the sha256 of the file too, which :func:`read_parquet` verifies.
    """
    require("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    table = pa.Table.from_pandas(frame, preserve_index=False)
    described = {
        **(table.schema.metadata or {}),
        _METADATA_KEY: json.dumps(metadata or {}, sort_keys=True, allow_nan=False).encode(),
        b"sha256": _SEAL + b"0" * _DIGITS,
    }
    written = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(described), written)
    content = written.getvalue()
    start = content.rindex(_SEAL + b"0" * _DIGITS) + len(_SEAL)
    with atomic_path(path) as temporary, temporary.open("wb") as stream:
        for piece in (content[:start], _seal_of(content, start), content[start + _DIGITS :]):
            stream.write(piece)


def read_parquet(
    path: str | os.PathLike[str], *, sealed: bool = False, check: Callable[[tuple[int, int]], None] | None = None
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Read a Parquet table and its JSON description (``{}`` if there is none); see :func:`write_parquet`.

    The checksum of a file that :func:`write_parquet` has written is verified. If `sealed`, a file without one is
    damaged. `check` is called with the shape of a table that others have written, before it is read; its columns of
    text then become categories, because a small file can repeat a long text.

    Raises
    ------
    DamagedFile
        The file is truncated, corrupt, not Parquet, or has not the checksum that it had when it was written.
    DataError
        The file is missing or can't be read.
    """
    require("pyarrow")
    import pyarrow as pa
    import pyarrow.parquet as pq

    path = Path(path)
    content = file_content(path)
    start = content.rfind(_SEAL) + len(_SEAL)
    if start < len(_SEAL):
        if sealed:
            raise _damaged(path, "Parquet", "it has no checksum of mklearn")
    elif content[start : start + _DIGITS] != _seal_of(content, start):
        raise _damaged(path, "Parquet", "its checksum is not the one that it was written with")
    try:
        source = pa.BufferReader(content)
        file = pq.ParquetFile(source)
        schema = file.schema_arrow
        words = [field.name for field in schema if check is not None and pa.types.is_string(field.type)]
        if words:
            file = pq.ParquetFile(source, metadata=file.metadata, read_dictionary=words)
        if check is not None:
            check((file.metadata.num_rows, len(schema)))
        metadata = schema.metadata or {}
        return _columns_of(file, schema.names, metadata), json.loads(metadata.get(_METADATA_KEY, b"{}"))
    except UserError:
        raise
    except (pa.ArrowException, OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        raise _damaged(path, "Parquet", error) from error


def _columns_of(file: pq.ParquetFile, names: list[str], metadata: dict[bytes, bytes]) -> pd.DataFrame:
    """Read a table, a wide one in blocks of columns: each column takes 10 kB of pyarrow's while it is read."""
    import pandas as pd

    if len(names) <= _COLUMNS_AT_ONCE or len(set(names)) < len(names):
        return file.read(use_pandas_metadata=True).to_pandas()
    described = json.loads(metadata.get(b"pandas", b"{}")).get("index_columns", ())
    index = [name for name in described if isinstance(name, str) and name in names]
    rest = [name for name in names if name not in index]
    blocks = [[*index, *rest[start : start + _COLUMNS_AT_ONCE]] for start in range(0, len(rest), _COLUMNS_AT_ONCE)]
    return pd.concat([_block(file, block).to_pandas() for block in blocks], axis=1)


def _block(file: pq.ParquetFile, names: list[str]) -> pa.Table:
    """Read columns: ParquetFile also takes "AC1.2" for "AC1", as if it were a field of it."""
    found, wanted = file.read(columns=names), set(names)
    return found.select([position for position, name in enumerate(found.column_names) if name in wanted])


def _seal_of(content: bytes, start: int) -> bytes:
    """Return the 64 digits of the sha256 of a file's bytes, with zeros in place of the digits from `start` on."""
    sha256 = hashlib.sha256(memoryview(content)[:start])
    sha256.update(b"0" * _DIGITS)
    sha256.update(memoryview(content)[start + _DIGITS :])
    return sha256.hexdigest().encode()
