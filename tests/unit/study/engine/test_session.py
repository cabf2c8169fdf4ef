"""Before the first job: one run in a folder of results, and the environment of the jobs."""

import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from tests.workflow.conftest import SMOKE

from mklearn.errors import UserError
from mklearn.study.engine import session
from mklearn.study.engine.session import begin, lock
from mklearn.study.reading import check_study

OTHER = """
import sys
from pathlib import Path
from mklearn.study.engine.session import lock
lock(Path(sys.argv[1]))
print("locked", flush=True)
input()
"""


@pytest.fixture(autouse=True)
def no_locks_afterwards() -> Iterator[None]:
    yield
    while session._open_locks:
        session._open_locks.pop().close()


@pytest.fixture
def other(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another run in the folder of results."""
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER, str(tmp_path / "results")], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
        text=True, env=os.environ | {"PYTHONPATH": str(Path(session.__file__).parents[3])},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "locked\n"
    yield process
    process.kill()
    process.communicate()


def jobs(folder: Path, mirror: str | None = None) -> Any:
    study = check_study(SMOKE | {"results": str(folder / "results"), "mirror": mirror})
    return SimpleNamespace(plan=SimpleNamespace(study=study, final=None), source="study.yaml")


def test_parameters_are_checked_before_the_first_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    given = jobs(tmp_path)
    given.plan.study = check_study(SMOKE | {"methods": {"m": {"kind": "kernel_fda", "ridge": -1, "scale": 1}}})
    with pytest.raises(SystemExit):
        begin(given)
    said = capsys.readouterr().err
    assert "study.yaml has 2 mistakes:\n  1. methods.m.ridge: invalid value -1." in said
    assert "  2. methods.m.scale: unknown key 'scale'. Did you mean 'scaling'? Valid keys: components, " in said


def test_a_second_run_ends_with_a_sentence_until_the_first_is_killed(
    tmp_path: Path, other: subprocess.Popen[str], capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        begin(jobs(tmp_path))
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert f"another run uses {tmp_path / 'results'}" in said
    assert said.endswith("Nothing was run.\n")
    other.kill()
    other.wait()
    lock(tmp_path / "results")
    with pytest.raises(UserError):
        lock(tmp_path / "results")


def test_a_file_system_without_locks_is_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(session.fcntl, "flock", Mock(side_effect=OSError(38, "Function not implemented")))
    lock(tmp_path)
    assert "Function not implemented" in capsys.readouterr().err


def test_jobs_get_their_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MKLEARN_COMMAND", "MKLEARN_STARTED", "MKLEARN_MIRROR"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("PYTHONPATH", "own")
    monkeypatch.setattr(sys, "argv", ["/bin/snakemake", "--cores", "2 3"])
    begin(jobs(tmp_path, "a mirror"))
    assert os.environ["MKLEARN_COMMAND"] == "snakemake --cores '2 3'"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", os.environ["MKLEARN_STARTED"])
    assert os.environ["PYTHONPATH"].split(os.pathsep) == [str(Path(session.__file__).parents[3]), "own"]
    session._open_locks.pop().close()
    begin(jobs(tmp_path, "the study's"))
    assert os.environ["MKLEARN_MIRROR"] == "a mirror"
