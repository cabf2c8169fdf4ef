"""Archives from the web, read with the standard library within a budget, without trusting them.

A zip or tar archive may name files outside its folder, contain links that lead there, or unpack to far more than memory
can hold. Nothing of the kind is repaired: such an archive is refused as a whole. Files are read as streams and never
unpacked to disk, so that names serve as identifiers only.
"""

from __future__ import annotations

import bz2
import errno
import gzip
import io
import lzma
import os
import re
import stat
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import IO, Any, BinaryIO

from mklearn.atomic import existing_file
from mklearn.errors import DataError

Wanted = Callable[[str], bool]
_CHUNK = 1 << 20
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
_DECOMPRESS: dict[bytes, Callable[[Any], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, RuntimeError, ValueError)
# Bytes of a tar archive per member beside its content: header, long name, padding.
_TAR_OVERHEAD = 2048
_MAX_MEMBERS = 200_000
# Unpacked size: of the wanted members of a zip archive, of all members of a tar archive.
_MAX_BYTES = 8 * 1024**3
# Unpacked size over the archive's own size. Deflate reaches at most about 1030; photographs stay below 2.
_MAX_RATIO = 200.0


def read_members(
    archive: str | os.PathLike[str], wanted: Wanted, inner: str | None = None
) -> Iterator[tuple[str, bytes]]:
    """Read the regular files of an archive as a stream, in the archive's order.

    Parameters
    ----------
    archive : path
        A zip or tar(.gz, .bz2, .xz) archive.
    wanted : callable
        Given a name, tells whether to read that member. The other names are checked too.
    inner : str, optional
        Read a tar archive inside the zip archive `archive`: its file name, in any folder. Neither archive is held in
        memory.

    Yields
    ------
    (name, content)
        Relative name with forward slashes, and bytes.

    Raises
    ------
    DataError
        No archive or a damaged one; a name outside the archive's folder, a link, a device or a repeated name; too many
        members, or a decompression bomb; no file `inner`, or several.
    """
    path = existing_file(archive)
    size = path.stat().st_size
    with _damage(str(path)), path.open("rb") as stream:
        budget = _Budget(str(path), size)
        if inner is not None:
            yield from _read_inner(stream, inner, wanted, budget, _Budget(f"{path}: {inner}", size))
        elif stream.peek(4)[:4] in _ZIP_MAGIC:  # zipfile.is_zipfile also accepts a tar archive that ends with a zip
            for name, content in _zip_members(stream, wanted, budget):
                yield name, content.read()
        else:
            yield from _read_tar(stream, wanted, budget)


def member_names(archive: str | os.PathLike[str], inner: str | None = None) -> list[str]:
    """List the names of the regular files of an archive; see :func:`read_members`."""
    names: list[str] = []

    def record(name: str) -> bool:
        names.append(name)
        return False

    for _ in read_members(archive, record, inner):
        raise AssertionError("no member was wanted")
    return names


class _Budget:
    """Bytes that may still be unpacked from one archive: the sizes that an archive states may be wrong."""

    def __init__(self, label: str, packed_bytes: int) -> None:
        self.label = label
        # A small archive of text may exceed the ratio; a megabyte does no harm.
        self._left = min(_MAX_BYTES, max(int(packed_bytes * _MAX_RATIO), _CHUNK))
        self._members = 0
        self._seen: set[str] = set()

    def spend(self, count: int) -> None:
        self._left -= count
        if self._left < 0:
            limits = f"{_MAX_RATIO:g} times its own size or {_MAX_BYTES} bytes"
            raise DataError(f"{self.label}: unpacks to more than {limits}; refused as a decompression bomb")

    def checked_name(self, name: str, is_folder: bool) -> str:
        """Count a member; return its name if that lies below the archive's folder on every system and is new."""
        path = PurePosixPath(name)
        drive = re.match(r"[A-Za-z]:", name)
        if not name or "\0" in name or "\\" in name or drive or path.is_absolute() or ".." in path.parts:
            raise DataError(f"{self.label}: member {name!r} lies outside the archive's folder; archive refused")
        if str(path) in self._seen:
            raise DataError(f"{self.label}: contains {name!r} twice; archive refused")
        self._members += 1
        if self._members > _MAX_MEMBERS:
            raise DataError(f"{self.label}: more than the {_MAX_MEMBERS} members allowed")
        if not is_folder:
            self._seen.add(str(path))
        return str(path)


class _Metered(io.RawIOBase):
    """A stream whose bytes are taken from a budget as they are read."""

    def __init__(self, source: IO[bytes], budget: _Budget) -> None:
        self._source, self._budget = source, budget

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: Any) -> int:
        chunk = self._source.read(len(buffer))
        self._budget.spend(len(chunk))
        buffer[: len(chunk)] = chunk
        return len(chunk)


@contextmanager
def _damage(label: str) -> Iterator[None]:
    """Turn the errors of a damaged archive into a DataError that names it."""
    try:
        yield
    except DataError:
        raise
    except (*_DAMAGED, OSError) as error:
        # bz2 and gzip report damage as an OSError without a number, and a damaged zip makes zipfile seek where nothing
        # is (EINVAL); others are the disk's.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise DataError(f"{label}: not a readable zip or tar archive ({error}); damaged or of another kind") from error


def _zip_members(stream: BinaryIO, wanted: Wanted, budget: _Budget) -> Iterator[tuple[str, io.BufferedReader]]:
    with zipfile.ZipFile(stream) as archive:
        chosen = []
        for member in archive.infolist():  # every name is checked before anything is read
            name = budget.checked_name(member.filename, member.is_dir())
            # A mode of 0 is an archive made outside Unix; a mode without a file type is a regular file.
            if stat.S_IFMT(member.external_attr >> 16) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise DataError(f"{budget.label}: member {member.filename!r} is a link or a special file; refused")
            if not member.is_dir() and wanted(name):
                if member.flag_bits & 0x1:
                    raise DataError(f"{budget.label}: member {name!r} is encrypted")
                chosen.append((name, member))
        for name, member in chosen:
            with archive.open(member) as content:
                yield name, io.BufferedReader(_Metered(content, budget), _CHUNK)


def _read_inner(
    stream: BinaryIO, inner: str, wanted: Wanted, outer_budget: _Budget, inner_budget: _Budget
) -> Iterator[tuple[str, bytes]]:
    label = outer_budget.label
    names: list[str] = []

    def is_inner(name: str) -> bool:
        names.append(name)
        return PurePosixPath(name).name == inner

    found = ""
    for name, content in _zip_members(stream, is_inner, outer_budget):
        if found:
            raise DataError(f"{label}: contains several files {inner} ({found}, {name}); expected one")
        found = name
        with _damage(inner_budget.label):
            yield from _read_tar(content, wanted, inner_budget)
    if not found:
        others = ", ".join(names[:5]) or "nothing"
        raise DataError(f"{label}: contains no file {inner} (found {others}); another archive, or a damaged one")


def _read_tar(stream: io.BufferedReader, wanted: Wanted, budget: _Budget) -> Iterator[tuple[str, bytes]]:
    magic = stream.peek(6)[:6]
    source: Any = next((opened(stream) for start, opened in _DECOMPRESS.items() if magic.startswith(start)), stream)
    metered = io.BufferedReader(_Metered(source, budget), _CHUNK)
    # One pass, member by member: a list of all members first would unpack everything twice, bombs included.
    with tarfile.open(fileobj=metered, mode="r|") as archive:
        for member in archive:
            name = budget.checked_name(member.name, member.isdir())
            budget.spend(-_TAR_OVERHEAD)
            if member.isdir():
                continue
            if not member.isreg() or member.issparse():  # a sparse file unpacks to zeros that no stream counts
                raise DataError(f"{budget.label}: member {member.name!r} is a link or a special file; refused")
            if wanted(name):
                content = archive.extractfile(member)
                assert content is not None
                yield name, content.read()
    # A tar archive ends before its file does, and a compressed file ends with its checksum.
    while metered.read(_CHUNK):
        pass
