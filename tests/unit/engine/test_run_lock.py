"""Locks of dead runs go, locks of living runs and of other machines stay."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from mklearn.engine.run_lock import clear_stale_locks

HERE = socket.gethostname()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working folder with Snakemake's two locks."""
    locks = tmp_path / ".snakemake" / "locks"
    locks.mkdir(parents=True)
    for name in ("0.input.lock", "0.output.lock"):
        (locks / name).write_text("results/x\n", encoding="utf-8")
    return tmp_path


def note(folder: Path, name: str, **run: object) -> Path:
    path = folder / ".snakemake" / "mklearn-runs" / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(run), encoding="utf-8")
    return path


def locks(folder: Path) -> int:
    return len(list((folder / ".snakemake" / "locks").glob("*.lock")))


def dead_pid() -> int:
    process = subprocess.Popen([sys.executable, "-c", ""])
    process.wait()
    return process.pid


@pytest.fixture
def living():
    """A process that lives, and when it started."""
    import psutil

    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield {"host": HERE, "pid": process.pid, "started": psutil.Process(process.pid).create_time()}
    process.communicate(b"\n")


def test_locks_of_a_dead_run_are_removed_with_its_note(folder: Path) -> None:
    old = note(folder, "1", host=HERE, pid=dead_pid(), started=1.0)
    assert clear_stale_locks(folder)
    assert locks(folder) == 0
    assert not old.exists()


def test_a_process_number_given_again_is_another_run(folder: Path, living: dict) -> None:
    note(folder, "1", **(living | {"started": living["started"] - 100}))
    assert clear_stale_locks(folder)
    assert locks(folder) == 0


def test_locks_stay_while_a_run_lives(folder: Path, living: dict) -> None:
    alive = note(folder, "1", **living)
    dead = note(folder, "2", host=HERE, pid=dead_pid(), started=1.0)
    assert not clear_stale_locks(folder)
    assert locks(folder) == 2
    assert alive.exists()
    assert not dead.exists()


def test_locks_stay_while_a_run_of_another_machine_may_live(folder: Path) -> None:
    other = note(folder, "1", host="another", pid=dead_pid(), started=1.0)
    note(folder, "2", host=HERE, pid=dead_pid(), started=1.0)
    assert not clear_stale_locks(folder)
    assert locks(folder) == 2
    assert other.exists()


def test_locks_that_nobody_noted_are_left_to_snakemake(folder: Path) -> None:
    assert not clear_stale_locks(folder)
    assert locks(folder) == 2


@pytest.mark.parametrize("text", ["", "{", "[]", "null", '{"host": 3}', '{"host": "HERE", "pid": "x", "started": 1}'])
def test_notes_that_can_not_be_read_remove_nothing(folder: Path, text: str) -> None:
    path = note(folder, "1")
    path.write_text(text.replace("HERE", HERE), encoding="utf-8")
    assert not clear_stale_locks(folder)
    assert locks(folder) == 2


def test_a_run_notes_itself_and_lives(folder: Path) -> None:
    clear_stale_locks(folder)
    notes = list((folder / ".snakemake" / "mklearn-runs").iterdir())
    assert [path.name for path in notes] == [f"{os.getpid()}.json"]
    assert json.loads(notes[0].read_text())["pid"] == os.getpid()
    assert not clear_stale_locks(folder)
    assert locks(folder) == 2


def test_a_folder_without_any_run(tmp_path: Path) -> None:
    assert not clear_stale_locks(tmp_path)
    assert (tmp_path / ".snakemake" / "mklearn-runs" / f"{os.getpid()}.json").exists()


def test_a_zombie_is_dead(folder: Path) -> None:
    import psutil

    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    started = psutil.Process(process.pid).create_time()
    assert process.stdin is not None
    process.stdin.close()
    while psutil.Process(process.pid).status() != psutil.STATUS_ZOMBIE:
        pass
    note(folder, "1", host=HERE, pid=process.pid, started=started)
    assert clear_stale_locks(folder)
    process.wait()
