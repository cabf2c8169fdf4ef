"""A disk that fails at the n-th operation on files below a folder, in this process or in every process of a run."""

from __future__ import annotations

import builtins
import errno
import fcntl
import io
import os
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

ALWAYS = 10**9


class Disk:
    """Counts the operations on files that are written below a folder; fails at one of them, or from it on.

    Operations: creating a file, writing, syncing, renaming. Half of the bytes of a write that fails are on the disk. A
    sync is only counted: waiting for it tests nothing.
    """

    def __init__(
        self, folder: str | Path, fail_at: int = ALWAYS, number: int = errno.EIO, lasting: bool = False
    ) -> None:
        self.folder = os.path.abspath(folder)
        self.fail_at, self.number, self.lasting = fail_at, number, lasting
        self.operations: list[str] = []
        self.failed: list[str] = []

    def count(self, operation: str) -> int:
        """Note an operation; return how many there were."""
        self.operations.append(operation)
        return len(self.operations)

    def note_failure(self, operation: str) -> None:
        self.failed.append(operation)

    def check(self, operation: str) -> None:
        """Count an operation, and raise if it fails."""
        n = self.count(operation)
        if n == self.fail_at or (self.lasting and n > self.fail_at):
            self.note_failure(operation)
            raise OSError(self.number, os.strerror(self.number))

    def holds(self, path: Any) -> bool:
        """Return whether a path, or the file behind a descriptor, is on this disk."""
        if isinstance(path, int):
            path = os.readlink(f"/proc/self/fd/{path}")
        if not isinstance(path, str | os.PathLike):
            return False
        absolute = os.path.abspath(os.fspath(path))
        return absolute == self.folder or absolute.startswith(f"{self.folder}{os.sep}")

    @contextmanager
    def in_use(self) -> Iterator[Disk]:
        """Let Python's own files, and `os.fsync`, `os.replace` and `os.sendfile`, be of this disk."""
        real_open, real_replace, real_send, real_sync = io.open, os.replace, os.sendfile, os.fsync
        disk = self

        class Written(io.FileIO):
            def write(self, content: Any) -> int:
                try:
                    disk.check("write")
                except OSError:
                    super().write(bytes(content)[: len(content) // 2])
                    raise
                return super().write(content)

        def opened(
            file: Any, mode: str = "r", buffering: int = -1, encoding: Any = None, *more: Any, **named: Any
        ) -> Any:
            path = isinstance(file, str | os.PathLike)
            if not path or not set(mode) & set("wxa+") or not disk.holds(file):
                return real_open(file, mode, buffering, encoding, *more, **named)
            if not os.path.exists(file):
                disk.check("create")
            raw = Written(file, mode.replace("b", "").replace("t", ""))
            buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            if "b" in mode:
                return buffered
            return io.TextIOWrapper(buffered, encoding or "utf-8", named.get("errors"), named.get("newline"))

        def synced(descriptor: int) -> None:
            if not disk.holds(descriptor):
                real_sync(descriptor)
            else:
                disk.check("sync of a folder" if os.path.isdir(f"/proc/self/fd/{descriptor}") else "sync")

        def replaced(source: Any, target: Any, **options: Any) -> None:
            if disk.holds(target):
                disk.check("rename")
            real_replace(source, target, **options)

        def sent(out: int, into: int, offset: int, count: int, *more: Any) -> int:
            if disk.holds(out):
                try:
                    disk.check("write")
                except OSError:
                    real_send(out, into, offset, min(count, os.fstat(into).st_size) // 2)
                    raise
            return real_send(out, into, offset, count, *more)

        with ExitStack() as stack:
            for owner, name, function in (
                (io, "open", opened),
                (builtins, "open", opened),
                (os, "fsync", synced),
                (os, "replace", replaced),
                (os, "sendfile", sent),
            ):
                stack.enter_context(mock.patch.object(owner, name, function))
            yield self


class SharedDisk(Disk):
    """A disk of all processes of a run: what they do is counted in a file.

    Parameters
    ----------
    folder : str or Path
        What is on the disk.
    record : str or Path
        Existing folder, not on the disk, for the files ``operations`` and ``failed``: a line each.
    **more
        As of :class:`Disk`.
    """

    def __init__(self, folder: str | Path, record: str | Path, **more: Any) -> None:
        super().__init__(folder, **more)
        self.record = Path(record)

    def _lines(self, name: str) -> list[str]:
        path = self.record / name
        return path.read_text(encoding="utf-8").splitlines() if path.exists() else []

    @property
    def all_operations(self) -> list[str]:
        return self._lines("operations")

    @property
    def all_failed(self) -> list[str]:
        return self._lines("failed")

    def count(self, operation: str) -> int:
        descriptor = os.open(self.record / "operations", os.O_RDWR | os.O_CREAT | os.O_APPEND)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            os.write(descriptor, f"{operation}\n".encode())
            return os.pread(descriptor, os.fstat(descriptor).st_size, 0).count(b"\n")
        finally:
            os.close(descriptor)

    def note_failure(self, operation: str) -> None:
        descriptor = os.open(self.record / "failed", os.O_WRONLY | os.O_CREAT | os.O_APPEND)
        os.write(descriptor, f"{operation}\n".encode())
        os.close(descriptor)
