"""A disk that fails during runs of the workflow, again and again: no damaged file, and the plain rerun completes."""

from __future__ import annotations

import errno
import os
import subprocess
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from typing import Any

import pytest
from tests.faulty_disk import SharedDisk
from tests.workflow.conftest import TABLES, Checkout, tables

from mklearn.study.engine.integrity import artefacts, verify_file

SMALL: dict[str, Any] = {
    "study": "smoke",
    "datasets": {"digits": {"per_class": 6}},
    "descriptors": {"pixels": {"kind": "pixels"}},
    "methods": {"average": {"kind": "kernel_fda"}},
    "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
}
SITE = """
import sys
sys.path.append({repository!r})
from tests.faulty_disk import SharedDisk
in_use = SharedDisk({folder!r}, {record!r}, fail_at={fail_at}, number={number}, lasting={lasting}).in_use()
in_use.__enter__()
"""
"""Python imports ``sitecustomize`` when it starts: so do Snakemake and each of its jobs."""
TOLERATED = {"sync of a folder", "create"}
"""Operations whose failure is no harm, or that are tried again."""


class FaultyCheckout(Checkout):
    """A checkout whose results are on a disk that fails."""

    def __init__(self, folder: Path, repository: Path) -> None:
        super().__init__(folder / "checkout", repository)
        self.site, self.repository = folder / "site", repository
        self.site.mkdir()
        self.write(SMALL)

    @property
    def environment(self) -> dict[str, str]:
        own = super().environment
        return own | {"PYTHONPATH": os.pathsep.join([own["PYTHONPATH"], str(self.site)])}

    def run(self, **fault: Any) -> tuple[subprocess.CompletedProcess[str], SharedDisk]:
        """Make the tables on a disk with a fault, one job after the other."""
        disk = SharedDisk(self.folder / "results", self.site, **fault)
        for name in ("operations", "failed"):
            (self.site / name).unlink(missing_ok=True)
        text = SITE.format(
            repository=str(self.repository), folder=disk.folder, record=str(self.site), fail_at=disk.fail_at,
            number=disk.number, lasting=disk.lasting,
        )  # fmt: skip
        (self.site / "sitecustomize.py").write_text(text, encoding="utf-8")
        return self.snakemake("--cores", "1", *TABLES, check=False), disk

    def assert_whole(self) -> None:
        """Every file with a final name is one that was written."""
        assert not list((self.folder / "results").rglob("*.tmp*"))
        for path in artefacts(self.folder / "results"):
            verify_file(path)


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory, repository: Path) -> tuple[dict[str, bytes], list[str]]:
    """The tables of a run on a disk without faults, and the operations that it takes."""
    checkout = FaultyCheckout(tmp_path_factory.mktemp("sound"), repository)
    done, disk = checkout.run()
    assert done.returncode == 0, done.stderr[-3000:]
    assert {"create", "write", "sync", "rename", "sync of a folder"} <= set(disk.all_operations)
    return tables(checkout), list(disk.all_operations)


@pytest.mark.exhaustive
@pytest.mark.parametrize("runs", [1, 8])
@pytest.mark.parametrize("lasting", [False, True], ids=["once", "from then on"])
def test_runs_on_a_disk_that_fails_end_with_equal_tables(
    tmp_path: Path, repository: Path, sound: tuple[dict[str, bytes], list[str]], runs: int, lasting: bool
) -> None:
    """Each run goes on where the last one has failed, and fails at a later operation of its own."""
    expected, operations = sound
    checkout = FaultyCheckout(tmp_path, repository)
    number, reason = (errno.ENOSPC, "no space left") if lasting else (errno.EIO, "Input/output error")
    n_failures = 0
    for at in faults(operations, runs):
        done, disk = checkout.run(fail_at=at, number=number, lasting=lasting)
        checkout.assert_whole()
        if set(disk.all_failed) - TOLERATED:
            n_failures += 1
            assert done.returncode != 0
            assert reason in done.stderr
            assert "Traceback" not in done.stderr
        if len(disk.all_operations) < at:
            break
    assert n_failures
    done, disk = checkout.run()
    assert done.returncode == 0, done.stderr[-3000:]
    assert tables(checkout) == expected
    for path in artefacts(checkout.folder / "results"):
        verify_file(path)


def faults(operations: list[str], runs: int) -> Iterator[int]:
    """Yield the operation at which each run fails: later and later, in what is left of the study.

    Of a single run it is amid the most writes in a row, as independent jobs have no order.
    """
    if runs == 1:
        writes = max((list(group) for _, group in groupby(range(len(operations)), operations.__getitem__)), key=len)
        yield writes[len(writes) // 2] + 1
        return
    for number in range(runs):
        yield len(operations) * (number + 1) // (3 * runs) + 1
