"""Parsing the Snakefile changes nothing: not in a dry run, and not for any other command that runs no job."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from tests.workflow.conftest import Checkout

from mklearn.study.provenance import file_digest

SNAKEMAKES_OWN = (".snakemake/log/", ".snakemake/iocache/")
"""What Snakemake itself writes in a dry run, with any Snakefile."""


def listing(folder: Path) -> dict[str, tuple[int, str]]:
    """Modification time and digest of each file, and the folders."""
    found = {}
    for path in folder.rglob("*"):
        name = path.relative_to(folder).as_posix()
        if path.is_dir():
            found[f"{name}/"] = (0, "")
        elif not name.startswith(SNAKEMAKES_OWN):
            found[name] = (path.stat().st_mtime_ns, file_digest(path))
    return found


@pytest.fixture(scope="module")
def disturbed(finished: Checkout, tmp_path_factory: pytest.TempPathFactory) -> Checkout:
    """A finished study after a kill and an edit: with locks, the file of a dead run, and something to do."""
    checkout = finished.copy(tmp_path_factory.mktemp("disturbed") / "copy")
    state = checkout.folder / ".snakemake"
    (state / "locks" / "0.output.lock").write_text("results/smoke/scores.parquet\n", encoding="utf-8")
    (state / "mklearn-runs" / "dead.json").write_text(json.dumps({"executor": "slurm"}), encoding="utf-8")
    checkout.edit("src/mklearn/subspace/mkldr.py")
    for program in ("squeue", "scancel"):
        path = checkout.folder / "bin" / program
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/sh\necho {program} >> {checkout.folder}/called\n", encoding="utf-8")
        path.chmod(0o755)
    return checkout


@pytest.fixture(autouse=True)
def with_slurm(disturbed: Checkout, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(disturbed.folder / "bin"), prepend=os.pathsep)


@pytest.mark.parametrize(
    "words",
    [
        "snakemake --cores 1 --dry-run",
        pytest.param("mklearn run --dry-run", marks=pytest.mark.full),
        pytest.param("mklearn failed", marks=pytest.mark.full),
    ],
)
def test_nothing_is_changed(disturbed: Checkout, words: str) -> None:
    before = listing(disturbed.folder)
    disturbed.said(*words.split())
    assert listing(disturbed.folder) == before


@pytest.mark.full
def test_unlock_removes_snakemakes_locks_alone(disturbed: Checkout) -> None:
    before = listing(disturbed.folder)
    disturbed.said("snakemake", "--unlock")
    gone = {".snakemake/locks/", ".snakemake/locks/0.output.lock"}
    assert listing(disturbed.folder) == {name: state for name, state in before.items() if name not in gone}


@pytest.mark.full
def test_a_second_run_that_makes_the_same_files_ends_with_a_sentence(disturbed: Checkout) -> None:
    """The first one is stood in for; when it is killed, its lock is gone."""
    script = (
        "import sys, pathlib\nfrom mklearn.study.engine.session import lock_files\n"
        "lock_files(pathlib.Path('.snakemake/mklearn-runs'), {'results/smoke/scores.parquet'}, set())\n"
        "print(flush=True)\nsys.stdin.read()"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script], cwd=disturbed.folder, env=disturbed.environment,
        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
    ) as first:  # fmt: skip
        assert first.stdout is not None
        first.stdout.readline()
        done = disturbed.ended("snakemake", "--cores", "2", "results/smoke/scores.parquet")
        first.kill()
    assert done.returncode == 1
    assert f"mklearn: process {first.pid} on " in done.stderr
    assert "uses results/smoke/scores.parquet too. Wait until it has ended" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.full
def test_a_run_does_what_a_dry_run_does_not(disturbed: Checkout) -> None:
    """Nor do Snakemake's own locks stop it: a run locks its files itself."""
    (disturbed.folder / ".snakemake" / "locks").mkdir(exist_ok=True)
    (disturbed.folder / ".snakemake" / "locks" / "0.output.lock").write_text("results/smoke/scores.parquet\n")
    disturbed.said("snakemake", "--cores", "2", "results/smoke/scores.parquet")
    assert (disturbed.folder / "called").read_text(encoding="utf-8") == "squeue\n"
    assert not (disturbed.folder / ".snakemake" / "mklearn-runs" / "dead.json").exists()
