"""Before the first job: locks, the environment of jobs, and files of the workflow; and the display of progress."""

import io
import logging
import os
import re
import sys
import time
import tomllib
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any
from unittest.mock import Mock

import pytest
from rich.console import Console
from tests.workflow.conftest import SMOKE

from mklearn.errors import ConfigError
from mklearn.study.engine import session, workflow_files
from mklearn.study.engine.progress import LogHandler
from mklearn.study.engine.session import begin, lock
from mklearn.study.engine.workflow_files import study_file, workflow_file
from mklearn.study.provenance import PACKAGE
from mklearn.study.reading import check_study


@pytest.fixture(autouse=True)
def no_locks_afterwards() -> Iterator[None]:
    yield
    while session._open_locks:
        session._open_locks.pop().close()


def jobs(folder: Path) -> Any:
    study = check_study(SMOKE | {"results": str(folder / "results")})
    return SimpleNamespace(plan=SimpleNamespace(study=study, final=None), source="study.yaml")


def test_parameters_are_checked_before_the_first_job(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    workflow_jobs = jobs(tmp_path)
    workflow_jobs.plan.study = check_study(SMOKE | {"methods": {"m": {"kind": "kernel_fda", "ridge": -1, "scale": 1}}})
    with pytest.raises(SystemExit):
        begin(workflow_jobs)
    output = capsys.readouterr().err
    assert "study.yaml has 2 mistakes:\n  1. methods.m.ridge: The 'ridge' parameter of KernelFDA must be" in output
    assert "  2. methods.m.scale: unknown key 'scale'. Did you mean 'scaling'? Valid keys: components, " in output


def test_a_second_run_ends_with_a_sentence_until_the_first_has_ended(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lock(tmp_path / "results")
    with pytest.raises(SystemExit) as ended:
        begin(jobs(tmp_path))
    assert ended.value.code == 1
    output = capsys.readouterr().err
    assert f"another run uses {tmp_path / 'results'}" in output
    assert output.endswith("Nothing was run.\n")
    session._open_locks.pop().close()  # as at the end of a process
    lock(tmp_path / "results")


def test_missing_locks_are_a_warning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(session.fcntl, "flock", Mock(side_effect=OSError(38, "Function not implemented")))
    lock(tmp_path)
    assert "Function not implemented" in capsys.readouterr().err


def test_jobs_get_their_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("MKLEARN_COMMAND", "MKLEARN_STARTED"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("PYTHONPATH", "own")
    monkeypatch.setattr(sys, "argv", ["/bin/snakemake", "--cores", "2 3"])
    begin(jobs(tmp_path))
    assert os.environ["MKLEARN_COMMAND"] == "snakemake --cores '2 3'"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", os.environ["MKLEARN_STARTED"])
    assert os.environ["PYTHONPATH"].split(os.pathsep) == [str(Path(session.__file__).parents[3]), "own"]


# --- files of the workflow


def test_the_present_checkout_comes_first(here: Path, repository: Path) -> None:
    assert workflow_file("Snakefile") == repository / "Snakefile"
    Path("Snakefile").touch()  # of another workflow
    assert workflow_file("Snakefile") == repository / "Snakefile"
    Path("src/mklearn").mkdir(parents=True)
    assert workflow_file("Snakefile") == Path("Snakefile")


def test_a_wheel_has_every_file_in_its_place(here: Path, repository: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    project = tomllib.loads((repository / "pyproject.toml").read_text(encoding="utf-8"))
    carried = project["tool"]["hatch"]["build"]["targets"]["wheel"]["force-include"]
    package = here / "site-packages" / "mklearn"
    package.mkdir(parents=True)
    monkeypatch.setattr(workflow_files, "PACKAGE", package)
    monkeypatch.setattr(workflow_files, "_IN_WHEEL", package / "workflow_files")
    for name, place in carried.items():
        assert (repository / name).exists()
        usual = name.removeprefix("workflow/") if name == "workflow/profiles" else name
        assert workflow_file(usual) == here / "site-packages" / place
    # Everything that the Snakefile and the rules name is among them.
    texts = [
        path.read_text(encoding="utf-8") for path in [repository / "Snakefile", *repository.glob("workflow/rules/*")]
    ]
    named = {word for text in texts for word in text.replace('"', " ").split() if word.startswith(("workflow/", "../"))}
    for name in named:
        inside = (repository / ("workflow/rules" if name.startswith("../") else ".") / name).resolve()
        assert any(inside.is_relative_to((repository / part).resolve()) for part in carried), name


def test_a_study_is_a_file_or_one_of_mklearn(here: Path, repository: Path) -> None:
    assert study_file(None) == repository / "config.yaml"
    assert study_file("weights") == repository / "workflow" / "studies" / "weights.yaml"
    assert study_file("2dmmc") == PACKAGE / "papers" / "two_d_mmc" / "studies" / "2dmmc.yaml"
    for name in ("config.yaml", "fsvm", "photos.yaml"):
        Path(name).touch()
    assert [str(study_file(name)) for name in (None, "fsvm", "photos.yaml")] == ["config.yaml", "fsvm", "photos.yaml"]
    Path("folder").mkdir()
    for name, sentence in (
        ("photo.yaml", r"photo\.yaml: there is no such file\. Did you mean 'photos\.yaml'\? Studies of mklearn: 2d"),
        ("nowhere/photos.yaml", r"nowhere/photos\.yaml: there is no such file\. Studies of"),
        ("mkldr_small", "Did you mean 'mkldr-small'"),
        ("folder", "folder: is a folder, not a file"),
    ):
        with pytest.raises(ConfigError, match=sentence):
            study_file(name)


# --- display of progress


def test_jobs_are_shown_by_name_with_the_time_left(monkeypatch: pytest.MonkeyPatch) -> None:
    settings: Any = SimpleNamespace(stdout=False)
    handler, written, now = LogHandler(settings, None), io.StringIO(), [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    handler.live = SimpleNamespace(console=Console(file=written, width=80), start=lambda: None, stop=lambda: None)

    def emit(event: str = "", message: str = "", level: int = logging.INFO, **fields: Any) -> None:
        record = logging.makeLogRecord({"msg": message, "levelno": level, **fields})
        record.event = SimpleNamespace(name=event) if event else None
        handler.emit(record)

    emit(message="Singularity containers: ignored")
    emit("RUN_INFO", stats={"fit": 5, "page": 1, "all": 1, "total": 7})
    for number, name in enumerate(("average-0123456789abcdef", "kfd-0123456789abcdef")):
        wildcards = {"dataset": "digits-0123456789abcdef", "protocol": "random", "method": name}
        emit("JOB_INFO", jobid=number, rule_name="fit", wildcards=wildcards)
    now[0] = 4.0
    emit("JOB_FINISHED", job_id=0)
    emit("JOB_FINISHED", job_id=9)  # of the rule `all`
    emit(message="CalledProcessError in file x", level=logging.ERROR)
    now[0] = 3.0
    handler.live.console.print(handler._display())
    emit("JOB_ERROR", jobid=1)
    emit(message="the disk is slow", level=logging.WARNING)
    handler.close()
    text = written.getvalue()
    assert "1 of 6 jobs" in text
    assert "about 0:00:09 left" in text, "4 fits and a page of 4 s each, less 3 s of one, two at a time"
    assert "  fit digits random kfd\n" in text
    assert "average" not in text
    assert "failed: fit digits random kfd\n" in text
    assert "the disk is slow" in text
    assert "ingularity" not in text
    assert "CalledProcessError" not in text
