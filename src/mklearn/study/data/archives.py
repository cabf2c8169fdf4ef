"""Zip and tar archives from the web, read as streams: nothing is unpacked to disk, and names are identifiers only."""

from __future__ import annotations

import bz2
import errno
import gzip
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import Any

from mklearn.atomic import existing_file
from mklearn.errors import DataError

MOST_BYTES = 8 * 1024**3
"""Unpacked size of the members that are read; of a tar archive, of all."""
Wanted = Callable[[str], bool]
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
# tarfile's own streams do not verify the checksum at the end of a compressed file
_DECOMPRESS: dict[bytes, Callable[[Any], Any]] = {b"\x1f\x8b": gzip.open, b"BZh": bz2.open, b"\xfd7zXZ\x00": lzma.open}
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, RuntimeError, ValueError)


def read_members(
    archive: str | os.PathLike[str], wanted: Wanted, inner: str | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the regular files of an archive, in its order.

    Parameters
    ----------
    archive : path
        A zip or tar(.gz, .bz2, .xz) archive.
    wanted : callable
        Given a name, tells whether to read that member.
    inner : str, optional
        Read a tar archive inside the zip archive `archive`: its file name, in any folder.

    Raises
    ------
    DataError
        No archive or a damaged one; a link, a device or a name outside the archive's folder; more than `MOST_BYTES`;
        no file `inner`, or several.
    """
    path = existing_file(archive)
    label = str(path)
    try:
        with path.open("rb") as stream:
            # zipfile.is_zipfile also accepts a tar archive that ends with a zip archive
            if stream.peek(4)[:4] not in _ZIP_MAGIC:
                yield from _tar_members(stream, wanted)
                return
            with zipfile.ZipFile(stream) as opened:
                named = {_checked(member.filename): member for member in opened.infolist() if not member.is_dir()}
                if inner is None:
                    chosen = {name: member for name, member in named.items() if wanted(name)}
                    _check_size(sum(member.file_size for member in chosen.values()))
                    for name, member in chosen.items():
                        yield name, opened.read(member)
                    return
                tars = [name for name in named if PurePosixPath(name).name == inner]
                if len(tars) != 1:
                    others = "found " + (", ".join(list(named)[:5]) or "nothing")
                    count, names = ("several files", ", ".join(tars)) if tars else ("no file", others)
                    raise DataError(f"contains {count} {inner} ({names}); expected one")
                label = f"{path}: {inner}"
                with opened.open(named[tars[0]]) as content:
                    yield from _tar_members(content, wanted)
    except DataError as error:
        raise DataError(f"{label}: {error}") from error
    except (*_DAMAGED, OSError) as error:
        # bz2 and gzip report damage as an OSError without a number, and a damaged zip makes zipfile seek where nothing
        # is (EINVAL); others are the disk's.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        raise DataError(f"{label}: not a readable zip or tar archive ({error}); damaged or of another kind") from error


def member_names(archive: str | os.PathLike[str], inner: str | None = None) -> list[str]:
    """List the names of the regular files of an archive; see :func:`read_members`."""
    names: dict[str, None] = {}
    for _ in read_members(archive, lambda name: names.setdefault(name) is not None, inner):
        raise AssertionError("no member was wanted")
    return list(names)


def _tar_members(stream: Any, wanted: Wanted) -> Iterator[tuple[str, bytes]]:
    magic = stream.peek(6)[:6]
    source = next((opened(stream) for start, opened in _DECOMPRESS.items() if magic.startswith(start)), stream)
    size = 0
    with tarfile.open(fileobj=source, mode="r|") as archive:  # in one pass: a list of members would unpack twice
        for member in archive:
            name = _checked(member.name)
            size += member.size
            _check_size(size)
            if not (member.isreg() or member.isdir()):
                raise DataError(f"member {name!r} is a link or a special file")
            if member.isreg() and wanted(name):
                content = archive.extractfile(member)
                assert content is not None
                yield name, content.read()
    while source.read(1 << 20):  # a tar archive ends before its file, and a compressed file ends with its checksum
        pass


def _checked(name: str) -> str:
    path = PurePosixPath(name)
    if path.is_absolute() or ".." in path.parts:
        raise DataError(f"member {name!r} lies outside the archive's folder")
    return str(path)


def _check_size(size: int) -> None:
    if size > MOST_BYTES:
        raise DataError(f"unpacks to more than {MOST_BYTES:,} bytes")
