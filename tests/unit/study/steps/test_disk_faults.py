"""A disk that fails at the n-th write, sync or rename of a step: no damaged file, and the next run completes."""

from __future__ import annotations

import errno
import itertools
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.faulty_disk import Disk
from tests.unit.study.data import test_download as downloads
from tests.unit.study.steps.small_study import SmallStudy, content_of

from mklearn.errors import UserError
from mklearn.study.report import build


def files_of(study: SmallStudy, job: dict[str, Any]) -> dict[str, Any]:
    """Return the verified content of what a job has written; of a report or a download the bytes of every file."""
    paths = [study.folder / path for path in job["outputs"].values()]
    if job["step"] in ("report", "download"):
        found = [path for path in sorted(paths[0].parent.rglob("*")) if path.is_file() and path.suffix != ".part"]
        return {str(path): path.read_bytes() for path in found}
    return {str(path): content_of(path) for path in paths if path.exists()}


def check_faults(study: SmallStudy, job: dict[str, Any], most: int = 10**9, both: bool = False) -> None:
    """Run a job once for each operation of it, or for so many at most, which fails; and again without a fault."""
    disk = Disk(study.folder)
    with disk.in_use():
        study.run(job)
    expected, n = files_of(study, job), len(disk.operations)
    assert {"create", "write", "sync", "rename", "sync of a folder"} <= set(disk.operations)
    assert n >= 5 * len(job["outputs"])
    places = range(1, n + 1, max(1, round(n / most)))
    kinds = (True, False) if both else (None,)
    for number, (at, kind) in enumerate(itertools.product(places, kinds)):
        lasting = number % 2 == 1 if kind is None else kind
        fault = Disk(study.folder, at, errno.ENOSPC if lasting else errno.EIO, lasting)
        with fault.in_use():
            try:
                study.run(job)
            except UserError as error:
                message = str(error)
            else:
                message = ""
        if not fault.failed:  # a server's answer came in fewer pieces than before, and was written in fewer
            assert (job["step"], message) == ("download", ""), f"{job['step']} has no operation {at} any more"
            continue
        where = f"{job['step']}, operation {at} of {n} ({fault.failed[0]})"
        assert not message or "no space left" in message or "Input/output error" in message, where
        left = files_of(study, job)
        assert left == {path: expected[path] for path in left}, where
        assert message or left == expected, f"{where}: an error was swallowed"
        assert not list(study.folder.rglob("*.tmp*")), where
        study.run(job)
        assert files_of(study, job) == expected, where
        assert not list(study.folder.rglob("*.part")), where


STEPS = ("read", "resize", "learn", "describe", "pairwise", "pairwise_block", "split", "project", "fit",
         "landmarks", "moments", "scores", "summary", "run_record")  # fmt: skip

LONG = ("fit", "moments", "scores", "summary")
OFTEN = ("describe", "pairwise", "split", "fit", "scores", "run_record")
"""One of each kind of file; a fit writes several."""


@pytest.mark.parametrize(
    "step", [step if step in OFTEN else pytest.param(step, marks=pytest.mark.exhaustive) for step in STEPS]
)
def test_each_operation_of_a_step_may_fail(finished: SmallStudy, tmp_path: Path, step: str) -> None:
    """The last job of each step, as it is the smallest; some operations of the long ones. See below for all."""
    study = finished.copy(tmp_path / "copy")
    check_faults(study, [job for job in study.jobs if job["step"] == step][-1], most=3 if step in LONG else 10**9)


@pytest.fixture
def computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """What a report computes before it writes, which is most of its time, is computed by the first run alone."""

    def once(compute: Callable[..., Any]) -> Callable[..., Any]:
        results: list[Any] = []

        def first(*arguments: Any, **named: Any) -> Any:
            if not results:
                results.append(compute(*arguments, **named))
            return results[0]

        return first

    for name in ("results_of", "_content", "render"):
        monkeypatch.setattr(build, name, once(getattr(build, name)))


@pytest.mark.usefixtures("plain_figures", "computed_once")
def test_operations_of_the_report_may_fail(finished: SmallStudy, tmp_path: Path) -> None:
    study = finished.copy(tmp_path / "copy")
    check_faults(study, study.jobs[-1], most=3)


@pytest.mark.exhaustive
@pytest.mark.usefixtures("plain_figures", "computed_once")
def test_each_operation_of_the_report_may_fail(finished: SmallStudy, tmp_path: Path) -> None:
    study = finished.copy(tmp_path / "copy")
    check_faults(study, study.jobs[-1], both=True)


@pytest.mark.exhaustive
@pytest.mark.parametrize("step", STEPS)
def test_each_operation_of_all_other_jobs_may_fail(finished: SmallStudy, tmp_path: Path, step: str) -> None:
    study = finished.copy(tmp_path / "copy")
    for job in study.jobs:
        if job["step"] == step:
            check_faults(study, job, most=100, both=True)


# --- downloads

server = downloads.server


@pytest.mark.parametrize("source", ["mirror", "server"])
def test_each_operation_of_a_download_may_fail(
    tmp_path: Path, source: str, server: downloads.Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Copied from a mirror's folder; and from a server, where the next run goes on with what is there."""
    server.trouble = 0
    spec = {"name": "x.bin", "sha256": [downloads.SHA], "bytes": len(downloads.DATA)}
    if source == "mirror":
        (tmp_path / "mirror").mkdir()
        (tmp_path / "mirror" / "x.bin").write_bytes(downloads.DATA)
        monkeypatch.setenv("MKLEARN_MIRROR", str(tmp_path / "mirror"))
        spec["mirror"] = "x.bin"
    else:
        spec["urls"] = [f"{server.url}/whole/x.bin"]
    job: dict[str, Any] = {"step": "download", "inputs": {}, "outputs": {"target": "results/downloads/own/x.bin"},
           "spec": {"file": spec, "reader": "digits"}}  # fmt: skip
    (tmp_path / "study").mkdir()
    study = SmallStudy(tmp_path / "study", [job])
    check_faults(study, job, both=True)
    assert (study.folder / job["outputs"]["target"]).read_bytes() == downloads.DATA
    if source == "server":
        assert any(wanted for _, wanted in server.requests), "no transfer was resumed"
