"""A disk that fails at the n-th write, sync or rename of a step: no damaged file, and the next run completes."""

from __future__ import annotations

import builtins
import errno
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.unit.steps.small_study import SmallStudy, content_of

from mklearn.errors import UserError

ALWAYS = 10**9


class Disk:
    """Counts the operations on files that are written below a folder; fails at one of them, or from it on.

    Half of the bytes of a write that fails are on the disk. A sync is only counted: waiting for it tests nothing.
    """

    def __init__(self, folder: Path, fail_at: int = ALWAYS, number: int = errno.EIO, lasting: bool = False) -> None:
        self.folder = str(folder)
        self.fail_at, self.number, self.lasting = fail_at, number, lasting
        self.operations: list[str] = []
        self.failed: list[str] = []

    def fails(self, operation: str) -> bool:
        """Count an operation; return whether it fails."""
        self.operations.append(operation)
        n = len(self.operations)
        fails = n == self.fail_at or (self.lasting and n > self.fail_at)
        self.failed += [operation] * fails
        return fails

    def error(self) -> OSError:
        return OSError(self.number, os.strerror(self.number))

    @contextmanager
    def in_use(self) -> Iterator[Disk]:
        """Let Python's own files, `os.fsync` and `os.replace` be of this disk."""
        real_open, real_replace = io.open, os.replace
        disk = self

        class Written(io.FileIO):
            def write(self, content: Any) -> int:
                if not disk.fails("write"):
                    return super().write(content)
                super().write(bytes(content)[: len(content) // 2])
                raise disk.error()

        def opened(
            file: Any, mode: str = "r", buffering: int = -1, encoding: Any = None, *more: Any, **named: Any
        ) -> Any:
            here = isinstance(file, str | os.PathLike) and os.path.abspath(file).startswith(disk.folder)
            if not here or not set(mode) & set("wxa+"):
                return real_open(file, mode, buffering, encoding, *more, **named)
            raw = Written(file, mode.replace("b", "").replace("t", ""))
            buffered = io.BufferedRandom(raw) if "+" in mode else io.BufferedWriter(raw)
            if "b" in mode:
                return buffered
            return io.TextIOWrapper(buffered, encoding or "utf-8", named.get("errors"), named.get("newline"))

        def synced(descriptor: int) -> None:
            folder = os.path.isdir(f"/proc/self/fd/{descriptor}")
            if disk.fails("sync of a folder" if folder else "sync"):
                raise disk.error()

        def replaced(source: Any, target: Any, **options: Any) -> None:
            if disk.fails("rename"):
                raise disk.error()
            real_replace(source, target, **options)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(io, "open", opened)
            patch.setattr(builtins, "open", opened)
            patch.setattr(os, "fsync", synced)
            patch.setattr(os, "replace", replaced)
            yield self


def files_of(study: SmallStudy, job: dict[str, Any]) -> dict[str, Any]:
    """Return the verified content of what a job has written; of a report the bytes of every file."""
    paths = [study.folder / path for path in job["outputs"].values()]
    if job["step"] == "report":
        return {str(path): path.read_bytes() for path in sorted(paths[0].parent.rglob("*")) if path.is_file()}
    return {str(path): content_of(path) for path in paths if path.exists()}


def check_faults(study: SmallStudy, job: dict[str, Any], every: int = 1, both: bool = False) -> None:
    """Run a job once for each operation of it, which fails; and again without a fault."""
    disk = Disk(study.folder)
    with disk.in_use():
        study.run(job)
    expected, n = files_of(study, job), len(disk.operations)
    assert {"write", "sync", "rename", "sync of a folder"} <= set(disk.operations)
    assert n >= 4 * len(job["outputs"])
    cases = [(at, lasting) for at in range(1, n + 1, every) for lasting in ((True, False) if both else (at % 2 == 0,))]
    for at, lasting in cases:
        fault = Disk(study.folder, at, errno.ENOSPC if lasting else errno.EIO, lasting)
        with fault.in_use():
            try:
                study.run(job)
            except UserError as error:
                message = str(error)
            else:
                message = ""
        where = f"{job['step']}, operation {at} of {n} ({fault.failed[0]})"
        assert message or fault.failed == ["sync of a folder"] * len(fault.failed), where
        assert not message or "no space left" in message or "Input/output error" in message, where
        left = files_of(study, job)
        assert left == {path: expected[path] for path in left}, where
        assert not list(study.folder.rglob("*.tmp*")), where
        study.run(job)
        assert files_of(study, job) == expected, where


STEPS = ("read", "resize", "learn", "describe", "pairwise", "pairwise_block", "kernel_set", "split", "fit", "scores",
         "summary", "run_record")  # fmt: skip


@pytest.mark.parametrize("step", STEPS)
def test_each_operation_of_a_step_may_fail(finished: SmallStudy, tmp_path: Path, step: str) -> None:
    """The last job of each step, as it is the smallest; of a fit, which starts processes, some. See below for all."""
    study = finished.copy(tmp_path / "copy")
    check_faults(study, [job for job in study.jobs if job["step"] == step][-1], every=5 if step == "fit" else 1)


@pytest.mark.usefixtures("plain_figures")
def test_operations_of_the_report_may_fail(finished: SmallStudy, tmp_path: Path) -> None:
    study = finished.copy(tmp_path / "copy")
    check_faults(study, study.jobs[-1], every=7)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("plain_figures")
def test_each_operation_of_all_jobs_may_fail(finished: SmallStudy, tmp_path: Path) -> None:
    study = finished.copy(tmp_path / "copy")
    for job in study.jobs:
        check_faults(study, job, both=True)
