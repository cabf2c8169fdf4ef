"""Archives from the web, taken apart without trusting them.

A zip or tar archive may name files outside the target folder, hold links that lead there, or unpack to far more than
the disk can hold. Nothing of the kind is repaired: such an archive is refused as a whole.
"""

from __future__ import annotations

import bz2
import gzip
import io
import lzma
import os
import re
import shutil
import stat
import tarfile
import tempfile
import zipfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, Any, BinaryIO

from mklearn.errors import DataError

Wanted = Callable[[str], bool]
_CHUNK = 1 << 20
_ZIP_MAGIC = (b"PK\x03\x04", b"PK\x05\x06")
_DAMAGED = (zipfile.BadZipFile, tarfile.TarError, EOFError, zlib.error, lzma.LZMAError, RuntimeError, ValueError)


@dataclass(frozen=True)
class Limits:
    """What an archive may at most contain.

    Parameters
    ----------
    files : int
        Number of members.
    total_bytes : int
        Unpacked size of all wanted members.
    ratio : float
        Unpacked size over the archive's own size. Deflate reaches at most about 1030; photographs are below 2.
    """

    files: int = 200_000
    total_bytes: int = 8 * 1024**3
    ratio: float = 200.0


def read_members(
    archive: str | os.PathLike[str] | bytes, wanted: Wanted | None = None, limits: Limits = Limits()
) -> Iterator[tuple[str, bytes]]:
    """Give the regular files of a zip or tar(.gz, .bz2, .xz) archive, in the archive's order, from memory.

    Parameters
    ----------
    archive : path or bytes
        The archive; bytes serve for an archive within an archive.
    wanted : callable, optional
        Says by name which members to give; all by default. Names of the others are checked all the same.
    limits : Limits

    Yields
    ------
    (name, content)
        Name with forward slashes, relative.

    Raises
    ------
    DataError
        Not an archive, a damaged one, or one that names files outside, holds links, devices or a name twice, or
        exceeds the limits.
    """
    for name, stream, budget in _members(archive, wanted, limits):
        buffer = io.BytesIO()
        budget.copy(stream, buffer)
        yield name, buffer.getvalue()


def read_nested(
    archive: str | os.PathLike[str], inner: str, wanted: Wanted | None = None, limits: Limits = Limits()
) -> Iterator[tuple[str, bytes]]:
    """Give the regular files of a tar archive that lies within a zip archive, as a stream.

    Neither archive is unpacked to disk or held in memory.

    Parameters
    ----------
    archive : path
        The zip archive.
    inner : str
        File name of the tar(.gz, .bz2, .xz) archive in it, in whatever folder.
    wanted, limits
        As for :func:`read_members`; they concern the files of the inner archive. The limits hold for each of the two.

    Yields
    ------
    (name, content)
        As :func:`read_members`, names as they are in the inner archive.

    Raises
    ------
    DataError
        As :func:`read_members`, of either archive; the outer one is no zip, or holds no or several files `inner`.
    """
    for name, stream, budget in _nested_members(Path(archive), inner, wanted, limits):
        buffer = io.BytesIO()
        budget.copy(stream, buffer)
        yield name, buffer.getvalue()


def nested_names(archive: str | os.PathLike[str], inner: str, limits: Limits = Limits()) -> list[str]:
    """Names of the regular files that :func:`read_nested` gives, in the archive's order."""
    names: list[str] = []

    def note(name: str) -> bool:
        names.append(name)
        return False

    for _ in _nested_members(Path(archive), inner, note, limits):
        raise AssertionError("none was wanted")
    return names


def extract(
    archive: str | os.PathLike[str] | bytes,
    folder: str | os.PathLike[str],
    wanted: Wanted | None = None,
    limits: Limits = Limits(),
) -> list[Path]:
    """Unpack a zip or tar archive into a new folder: all of it or nothing.

    Parameters
    ----------
    archive, wanted, limits
        As for :func:`read_members`.
    folder : path
        Must not exist, or be empty. The files first go to a temporary folder beside it, which is renamed at the end.

    Returns
    -------
    list of Path
        The files, in the archive's order.
    """
    folder = Path(folder)
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise DataError(f"{folder}: exists and is not an empty folder; archives are unpacked into a new one")
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}.", suffix=".tmp", dir=folder.parent))
    try:
        names = []
        for name, stream, budget in _members(archive, wanted, limits):
            target = temporary / name
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
                with target.open("xb") as out:
                    budget.copy(stream, out)
            except (FileExistsError, NotADirectoryError) as error:
                # "a" and "a/b", or names that the file system takes for the same
                raise DataError(f"{_label(archive)}: member {name!r} collides with another one") from error
            names.append(name)
        temporary.chmod(0o755)
        if folder.exists():
            folder.rmdir()
        os.replace(temporary, folder)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)
    return [folder / name for name in names]


class _Budget:
    """Counts what is really unpacked: the sizes stated in an archive may be lies."""

    def __init__(self, label: str, packed_bytes: int, limits: Limits) -> None:
        self.label = label
        self.limits = limits
        # Small archives of text may well shrink more than the ratio allows for; a megabyte does no harm.
        self.left = min(limits.total_bytes, max(int(packed_bytes * limits.ratio), _CHUNK))
        self.by_ratio = self.left < limits.total_bytes

    def copy(self, source: IO[bytes], target: BinaryIO) -> None:
        while chunk := self._read(source):
            self.spend(len(chunk))
            target.write(chunk)

    def spend(self, count: int) -> None:
        self.left -= count
        if self.left < 0:
            reason = (
                f"more than {self.limits.ratio:g} times its own size"
                if self.by_ratio
                else f"more than {self.limits.total_bytes} bytes"
            )
            raise DataError(f"{self.label}: unpacks to {reason}; refused as a possible decompression bomb")

    def _read(self, source: IO[bytes]) -> bytes:
        with _damage(self.label):
            return source.read(_CHUNK)


@contextmanager
def _damage(label: str) -> Iterator[None]:
    """Errors of a damaged archive, in a sentence."""
    try:
        yield
    except DataError:
        raise
    except _DAMAGED as error:
        raise DataError(f"{label}: not a readable zip or tar archive ({error}); damaged or of another kind") from error
    except OSError as error:
        if error.errno is not None:
            raise
        # bz2 and gzip report damage as an OSError without a number
        raise DataError(f"{label}: not a readable zip or tar archive ({error}); damaged") from error


def _members(
    archive: str | os.PathLike[str] | bytes, wanted: Wanted | None, limits: Limits
) -> Iterator[tuple[str, IO[bytes], _Budget]]:
    label = _label(archive)
    with _damage(label), _open(archive) as (stream, size):
        budget = _Budget(label, size, limits)
        # by the first bytes: zipfile.is_zipfile also says yes to a tar archive that ends with a zip file
        walk = _zip_members if stream.read(4) in _ZIP_MAGIC else _tar_members
        stream.seek(0)
        yield from walk(stream, label, wanted, limits, budget)


@contextmanager
def _open(archive: str | os.PathLike[str] | bytes) -> Iterator[tuple[BinaryIO, int]]:
    if isinstance(archive, bytes):
        yield io.BytesIO(archive), len(archive)
        return
    path = Path(archive)
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    with path.open("rb") as stream:
        yield stream, path.stat().st_size


def _zip_members(
    stream: BinaryIO, label: str, wanted: Wanted | None, limits: Limits, budget: _Budget
) -> Iterator[tuple[str, IO[bytes], _Budget]]:
    with zipfile.ZipFile(stream) as archive:
        members = archive.infolist()
        if len(members) > limits.files:
            raise DataError(f"{label}: {len(members)} members, more than the {limits.files} allowed")
        seen: set[str] = set()
        chosen = []
        # all names are looked at before anything is given
        for member in members:
            name = _safe_name(member.filename, label)
            mode = member.external_attr >> 16
            # archives made outside Unix have no mode; a mode without a file type is a regular file
            if stat.S_IFMT(mode) not in (0, stat.S_IFREG, stat.S_IFDIR):
                raise DataError(f"{label}: member {member.filename!r} is a link or a special file; refused")
            if member.is_dir():
                continue
            _check_new(name, seen, label)
            if wanted is None or wanted(name):
                if member.flag_bits & 0x1:
                    raise DataError(f"{label}: member {name!r} is encrypted")
                chosen.append((name, member))
        for name, member in chosen:
            with archive.open(member) as content:
                yield name, content, budget


def _nested_members(
    path: Path, inner: str, wanted: Wanted | None, limits: Limits
) -> Iterator[tuple[str, IO[bytes], _Budget]]:
    others: list[str] = []

    def is_inner(name: str) -> bool:
        others.append(name)
        return PurePosixPath(name).name == inner

    label = _label(path)
    found = ""
    with _damage(label), _open(path) as (outer, size):
        budget = _Budget(label, size, limits)
        for name, stream, _ in _zip_members(outer, label, is_inner, limits, budget):
            if found:
                raise DataError(f"{label}: holds several files {inner} ({found}, {name}); one was expected")
            found = name
            within = f"{label}: {name}"
            with _damage(within):
                inner_budget = _Budget(within, size, limits)  # by the outer one's size: the inner one's is only stated
                yield from _tar_members(_Metered(stream, budget), within, wanted, limits, inner_budget)
    if not found:
        held = ", ".join(others[:5]) or "nothing"
        raise DataError(f"{label}: holds no file {inner} (found {held}); it is another archive, or a damaged one")


def _tar_members(
    stream: BinaryIO | io.RawIOBase, label: str, wanted: Wanted | None, limits: Limits, budget: _Budget
) -> Iterator[tuple[str, IO[bytes], _Budget]]:
    # Member by member in one pass: a list of members first would unpack everything twice, bombs included.
    counted = _Counted(stream, budget)
    with tarfile.open(fileobj=counted, mode="r|") as archive:
        seen: set[str] = set()
        for count, member in enumerate(archive, 1):
            if count > limits.files:
                raise DataError(f"{label}: more than the {limits.files} members allowed")
            name = _safe_name(member.name, label)
            if member.isdir():
                continue
            if not member.isreg():
                raise DataError(f"{label}: member {member.name!r} is a link or a special file; refused")
            _check_new(name, seen, label)
            if wanted is None or wanted(name):
                content = archive.extractfile(member)
                assert content is not None
                yield name, content, budget
    # A tar archive ends before its file does, and the checksum of a compressed one is the file's last word.
    while counted.read(_CHUNK):
        pass


class _Metered(io.RawIOBase):
    """A member's bytes, taken from a budget as they are read: an archive within an archive."""

    def __init__(self, source: IO[bytes], budget: _Budget) -> None:
        self._source, self._budget = source, budget

    def readable(self) -> bool:
        return True

    def seekable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        chunk = self._source.read(size)
        self._budget.spend(len(chunk))
        return chunk

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        return self._source.seek(offset, whence)


class _Counted(io.RawIOBase):
    """Decompressed bytes of a tar stream, counted: members that nobody wants are unpacked too in passing."""

    def __init__(self, stream: BinaryIO | io.RawIOBase, budget: _Budget) -> None:
        source: Any = stream
        magic = source.read(6)
        source.seek(0)
        if magic.startswith(b"\x1f\x8b"):
            source = gzip.GzipFile(fileobj=source)
        elif magic.startswith(b"BZh"):
            source = bz2.BZ2File(source)
        elif magic.startswith(b"\xfd7zXZ\x00"):
            source = lzma.open(source)  # noqa: SIM115 (only a view of `stream`, whose owner closes it)
        self._source = source
        self._passed = 0
        # headers and padding come on top of the files
        self._allowed = 2 * budget.left + 1024 * budget.limits.files
        self._budget = budget

    def readable(self) -> bool:
        return True

    def read(self, size: int = -1) -> bytes:
        chunk = self._source.read(size)
        self._passed += len(chunk)
        if self._passed > self._allowed:
            raise DataError(f"{self._budget.label}: unpacks to far more than allowed; refused")
        return chunk


def _label(archive: str | os.PathLike[str] | bytes) -> str:
    return "archive within an archive" if isinstance(archive, bytes) else os.fspath(archive)


def _safe_name(name: str, label: str) -> str:
    """The member's name, if it can only lie below the folder it is unpacked to on any system."""
    path = PurePosixPath(name)
    if (
        not name
        or "\0" in name
        or "\\" in name
        or path.is_absolute()
        or re.match(r"^[A-Za-z]:", name)
        or ".." in path.parts
    ):
        raise DataError(f"{label}: member {name!r} would lie outside the folder it is unpacked to; archive refused")
    return str(path)


def _check_new(name: str, seen: set[str], label: str) -> None:
    if name in seen:
        raise DataError(f"{label}: holds {name!r} twice; archive refused")
    seen.add(name)
