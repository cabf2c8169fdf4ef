"""Jobs that a killed run has left in SLURM are cancelled, all others left alone. SLURM's programs are stood in for."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from mklearn.engine.left_jobs import cancel_left_jobs
from mklearn.engine.run_lock import clear_stale_locks
from mklearn.errors import UserError

SQUEUE = """#!/bin/sh
cat {queue}
"""
SCANCEL = """#!/bin/sh
echo "$@" > {told}
{then}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A working folder in which this process is noted as the only run."""
    made = tmp_path / "project"
    made.mkdir()
    clear_stale_locks(made)
    return made


@pytest.fixture
def slurm(tmp_path: Path, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder with the queue, and with what scancel was told; cancelled jobs are gone at once."""
    made = tmp_path / "slurm"
    made.mkdir()
    queue = made / "queue"
    (tmp_path / "link").symlink_to(folder)
    queue.write_text(
        f"11|rule_fit_wildcards_a|{folder}\n12|rule_read|{tmp_path / 'link'}\n13|rule_fit|{tmp_path}\n"
        f"14|(null)|{folder}\n15|my own|{folder}\nnot a row\n"
    )
    monkeypatch.setenv("PATH", str(made), prepend=os.pathsep)
    _program(made / "squeue", SQUEUE.format(queue=queue))
    _program(made / "scancel", SCANCEL.format(told=made / "told", then=f": > {queue}"))
    return made


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def test_snakemakes_jobs_of_this_folder_are_cancelled(
    folder: Path, slurm: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cancel_left_jobs(folder) == ["11", "12"]
    assert (slurm / "told").read_text().split() == ["11", "12"]
    assert "2 jobs" in capfd.readouterr().err
    assert cancel_left_jobs(folder) == []


def test_nothing_is_cancelled_while_another_run_may_live(folder: Path, slurm: Path) -> None:
    note = {"host": "elsewhere", "pid": 1, "started": 1.0}
    (folder / ".snakemake" / "mklearn-runs" / "1.json").write_text(json.dumps(note))
    assert cancel_left_jobs(folder) == []
    assert not (slurm / "told").exists()


def test_jobs_that_do_not_end_are_a_sentence(folder: Path, slurm: Path) -> None:
    _program(slurm / "scancel", SCANCEL.format(told=slurm / "told", then=""))
    with pytest.raises(UserError, match="11, 12 of a killed run"):
        cancel_left_jobs(folder, wait_seconds=0.2)


def test_a_machine_whose_slurm_does_not_answer_has_no_jobs(folder: Path, slurm: Path) -> None:
    _program(slurm / "squeue", "#!/bin/sh\necho 'Unable to contact slurm controller' >&2\nexit 1\n")
    assert cancel_left_jobs(folder) == []


def test_a_machine_without_slurm_has_no_jobs(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(folder))
    assert cancel_left_jobs(folder) == []
