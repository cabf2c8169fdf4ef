"""Zip and tar archives from the web, read as streams: nothing is unpacked to disk, and names are identifiers only."""

from __future__ import annotations

import errno
import lzma
import os
import tarfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from pathlib import PurePosixPath
from typing import IO

from mklearn.atomic import existing_file
from mklearn.errors import DataError

MOST_BYTES = 8 * 1024**3
"""Unpacked size of the members that are read; of a tar archive, of all."""
Wanted = Callable[[str], bool]
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, RuntimeError, ValueError)


def read_members(
    archive: str | os.PathLike[str], wanted: Wanted, inner: str | None = None
) -> Iterator[tuple[str, bytes]]:
    """Yield name and content of the regular files of an archive that are `wanted` by their names, in its order.

    The archive is a zip or tar(.gz, .bz2, .xz) file; with `inner`, a tar archive with that file name, in any folder,
    inside the zip archive `archive`.

    Raises
    ------
    DataError
        No archive or a damaged one; a name outside the archive's folder, a link there or a device; more than
        `MOST_BYTES`; no file `inner`, or several.
    """
    path = existing_file(archive)
    try:
        with path.open("rb") as stream:
            if (
                stream.peek(2)[:2] == b"PK"
            ):  # zipfile.is_zipfile also accepts a tar archive that ends with a zip archive
                with zipfile.ZipFile(stream) as opened:
                    yield from _zip_members(opened, wanted, inner)
            else:
                yield from _tar_members(stream, wanted)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error
    except (*_DAMAGED, OSError) as error:
        # bz2 and gzip report damage as an OSError without a number, and a damaged zip makes zipfile seek where nothing
        # is (EINVAL); others are the disk's.
        if isinstance(error, OSError) and error.errno not in (None, errno.EINVAL):
            raise
        reason = " ".join(str(error).split())
        raise DataError(f"{path}: not a readable zip or tar archive ({reason}); damaged or of another kind") from error


def member_names(archive: str | os.PathLike[str], inner: str | None = None) -> list[str]:
    """List the names of the regular files of an archive; see :func:`read_members`."""
    names: dict[str, None] = {}
    list(read_members(archive, lambda name: names.setdefault(name) is not None, inner))
    return list(names)


def _zip_members(opened: zipfile.ZipFile, wanted: Wanted, inner: str | None) -> Iterator[tuple[str, bytes]]:
    files = [member for member in opened.infolist() if not member.is_dir()]
    if inner is not None:
        tars = [member.filename for member in files if PurePosixPath(member.filename).name == inner]
        if len(tars) != 1:
            names = ", ".join(tars or [member.filename for member in files][:5]) or "nothing"
            raise DataError(f"contains {'several files' if tars else 'no file'} {inner} (found {names}); expected one")
        with opened.open(tars[0]) as content:
            yield from _tar_members(content, wanted)
        return
    for member in files:
        if ".." in PurePosixPath(member.filename).parts or member.filename.startswith("/"):
            raise DataError(f"member {member.filename!r} lies outside the archive's folder")
    chosen = [member for member in files if wanted(member.filename)]
    _check_size(sum(member.file_size for member in chosen))
    for member in chosen:
        yield member.filename, opened.read(member)


def _tar_members(stream: IO[bytes], wanted: Wanted) -> Iterator[tuple[str, bytes]]:
    with tarfile.open(fileobj=stream) as archive:
        size = 0
        for member in archive:
            tarfile.data_filter(member, "/archive")  # refuses names and links outside, and devices
            _check_size(size := size + member.size)
            name = str(PurePosixPath(member.name))
            if member.isreg() and wanted(name):
                content = archive.extractfile(member)
                assert content is not None
                yield name, content.read()
        while archive.fileobj.read(1 << 20):  # a tar archive ends before its file, which ends with its checksum
            pass


def _check_size(size: int) -> None:
    if size > MOST_BYTES:
        raise DataError(f"unpacks to more than {MOST_BYTES:,} bytes")
