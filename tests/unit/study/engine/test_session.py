"""Before the first job: files of living runs stay locked, jobs that a killed run left in SLURM are cancelled."""

from __future__ import annotations

import errno
import fcntl
import importlib
import inspect
import json
import logging
import os
import re
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from mklearn.errors import UserError
from mklearn.study.engine import session
from mklearn.study.engine.session import FailureLog, begin, cancel_left_jobs, lock_files

OTHER = """
import sys
from pathlib import Path
from mklearn.study.engine.session import lock_files
print(lock_files(Path(sys.argv[1]), {"made"}, {"read"}, "slurm"), flush=True)
input()
"""


@pytest.fixture(autouse=True)
def no_locks_afterwards() -> Iterator[None]:
    yield
    for stream in session._open_locks:
        stream.close()
    session._open_locks.clear()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "mklearn-runs"


@pytest.fixture
def other(folder: Path) -> Iterator[subprocess.Popen[str]]:
    """Another run, which makes one file and reads another."""
    process = subprocess.Popen(
        [sys.executable, "-c", OTHER, str(folder)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env=os.environ | {"PYTHONPATH": str(Path(session.__file__).parents[3])},
    )  # fmt: skip
    assert process.stdout is not None
    assert process.stdout.readline() == "{}\n"
    yield process
    process.kill()
    process.communicate()


# --- the path of Python


@pytest.mark.parametrize("name", ["my folder", "o'Neill", "$HOME", "a;b", "(1)"])
def test_python_in_a_folder_with_special_characters(
    tmp_path: Path, name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    checkout = tmp_path / name
    python = checkout / ".venv" / "bin" / "python"
    python.parent.mkdir(parents=True)
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.chdir(checkout)
    session.call_python_by_a_plain_path()
    assert sys.executable == ".venv/bin/python"
    monkeypatch.setattr(sys, "executable", str(python))
    monkeypatch.chdir(tmp_path)
    with pytest.raises(SystemExit):
        session.call_python_by_a_plain_path()
    assert "Start the run in the folder of the checkout" in capsys.readouterr().err


def test_python_in_a_usual_folder_is_called_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    for path in ("/usr/bin/python3.11", "/home/größe/猫/.venv/bin/python"):
        monkeypatch.setattr(sys, "executable", path)
        session.call_python_by_a_plain_path()
        assert sys.executable == path


# --- locks


def test_a_run_alone_has_the_folder(folder: Path) -> None:
    assert lock_files(folder, {"made"}, set()) == {}
    files = list(folder.glob("*.json"))
    assert len(files) == 1
    assert json.loads(files[0].read_text())["process"] == os.getpid()


@pytest.mark.parametrize(("made", "read"), [({"made"}, set()), (set(), {"made"}), ({"read"}, set())])
def test_no_two_runs_make_a_file_or_make_what_the_other_reads(
    folder: Path, other: subprocess.Popen[str], made: set[str], read: set[str]
) -> None:
    with pytest.raises(UserError, match=rf"process {other.pid} on .* uses (made|read) too\. Wait until it has ended"):
        lock_files(folder, made, read)


def test_runs_with_other_files_go_on_beside_each_other(folder: Path, other: subprocess.Popen[str]) -> None:
    left = folder / "killed.json"
    left.write_text("")  # before its first job
    assert lock_files(folder, {"x"}, {"read"}) == {}  # but neither is alone
    assert len(list(folder.glob("*.json"))) == 3
    other.kill()
    other.wait()
    session._open_locks.pop().close()
    ended = lock_files(folder, {"y"}, set())
    assert sorted(ended.values()) == ["local", "slurm", "unknown"]
    assert ended[left] == "unknown"


def test_the_locks_of_a_killed_run_end_with_it(folder: Path, other: subprocess.Popen[str]) -> None:
    other.send_signal(signal.SIGKILL)
    other.wait()
    assert [*lock_files(folder, {"made"}, set()).values()] == ["slurm"]


def test_no_step_of_the_clock_frees_a_lock(folder: Path, other: subprocess.Popen[str]) -> None:
    for path in folder.iterdir():
        os.utime(path, (0, 0))  # as old as a clock can say
    for _ in range(2):
        with pytest.raises(UserError, match=f"process {other.pid} on "):
            lock_files(folder, {"made"}, set())


@pytest.mark.full
@pytest.mark.parametrize("seconds", [-86400.0, -1.0, 1.0, 86400.0])
def test_a_second_run_with_another_clock_gets_no_lock(
    folder: Path, other: subprocess.Popen[str], seconds: float
) -> None:
    """As after a step of the clock between two runs, of a second and of a day: all that Python can ask is stepped."""
    stepped = (
        f"import time\nreal = time.time\ntime.time = lambda: real() + {seconds}\n"
        f"time.time_ns = lambda: int(1e9 * time.time())\nsteady = time.monotonic\n"
        f"time.monotonic = lambda: steady() + {seconds}\n"
    )
    for path in folder.iterdir():
        now = path.stat().st_mtime - seconds
        os.utime(path, (now, now))
    second = subprocess.run(
        [sys.executable, "-c", stepped + OTHER, str(folder)], input="\n", capture_output=True, text=True,
        env=os.environ | {"PYTHONPATH": str(Path(session.__file__).parents[3])},
    )  # fmt: skip
    assert f"UserError: process {other.pid} on " in second.stderr
    assert second.stdout == ""
    assert len(list(folder.glob("*.json"))) == 1


def test_a_file_system_without_locks_is_said(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def no_lock(*_: Any) -> None:
        raise OSError(38, "Function not implemented")

    monkeypatch.setattr(session.fcntl, "flock", no_lock)
    assert lock_files(folder, {"made"}, set()) == {}
    assert "Function not implemented" in capsys.readouterr().err


def test_records_of_other_runs_are_read_where_an_exclusive_lock_needs_a_writable_file(
    folder: Path, other: subprocess.Popen[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As on NFS, where locks are of ranges of bytes."""
    flock = fcntl.flock

    def of_nfs(stream: Any, operation: int) -> None:
        if operation & fcntl.LOCK_EX and fcntl.fcntl(stream, fcntl.F_GETFL) & os.O_ACCMODE == os.O_RDONLY:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        flock(stream, operation)

    monkeypatch.setattr(session.fcntl, "flock", of_nfs)
    assert lock_files(folder, {"x"}, set()) == {}
    with pytest.raises(UserError, match=f"process {other.pid} on "):
        lock_files(folder, {"made"}, set())


# --- SLURM, whose programs are stood in for

SCANCEL = '#!/bin/sh\necho "$@" > {told}\n{then}\n'


@pytest.fixture
def project(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


@pytest.fixture
def slurm(tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Folder with the queue, and with what scancel was told; cancelled jobs are gone at once."""
    made = tmp_path / "slurm"
    made.mkdir()
    queue = made / "queue"
    (tmp_path / "link").symlink_to(project)
    queue.write_text(
        f"11|rule_fit_wildcards_a|{project}\n12|rule_read|{tmp_path / 'link'}\n13|rule_fit|{tmp_path}\n"
        f"14|(null)|{project}\n15|my own|{project}\nnot a row\n"
    )
    monkeypatch.setenv("PATH", str(made), prepend=os.pathsep)
    _program(made / "squeue", f"#!/bin/sh\ncat {queue}\n")
    _program(made / "scancel", SCANCEL.format(told=made / "told", then=f": > {queue}"))
    return made


def _program(path: Path, text: str) -> None:
    path.write_text(text)
    path.chmod(0o755)


def test_snakemakes_jobs_of_this_folder_are_cancelled(
    project: Path, slurm: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    assert cancel_left_jobs(project) == ["11", "12"]
    assert (slurm / "told").read_text().split() == ["11", "12"]
    assert "2 jobs" in capfd.readouterr().err
    assert cancel_left_jobs(project) == []


@pytest.mark.full
def test_jobs_that_do_not_end_are_a_sentence(project: Path, slurm: Path) -> None:
    _program(slurm / "scancel", SCANCEL.format(told=slurm / "told", then=""))
    with pytest.raises(UserError, match="11, 12 of a killed run"):
        cancel_left_jobs(project, wait_seconds=0.2)


def test_without_slurm_or_without_its_answer_there_are_no_jobs(
    project: Path, slurm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    _program(slurm / "squeue", "#!/bin/sh\necho 'Unable to contact slurm controller' >&2\nexit 1\n")
    assert cancel_left_jobs(project) == []
    monkeypatch.setenv("PATH", str(project))
    assert cancel_left_jobs(project) == []


# --- the whole beginning


def workflow(tmp_path: Path, executor: str = "local", **limit: Any) -> Any:
    job = SimpleNamespace(input=["read"], output=["made"], log=["logs/made.log"])
    limiter = SimpleNamespace(**({"max_jobs": 100, "timespan": 1.0} | limit))
    return SimpleNamespace(
        dag=SimpleNamespace(needrun_jobs=lambda: [job]), persistence=SimpleNamespace(path=tmp_path),
        scheduler=SimpleNamespace(job_rate_limiter=limiter), executor_plugin=SimpleNamespace(name=executor),
    )  # fmt: skip


@pytest.fixture
def fresh(project: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A project folder, an environment and a logger that are put back after the test."""
    from snakemake.logging import logger

    monkeypatch.chdir(project)
    for name, value in (
        ("MKLEARN_COMMAND", ""),
        ("MKLEARN_STARTED", ""),
        ("MKLEARN_MIRROR", "x"),
        ("PYTHONPATH", "own"),
    ):
        monkeypatch.setenv(name, value)
    monkeypatch.delenv("MKLEARN_MIRROR")
    monkeypatch.setattr(sys, "argv", ["/bin/snakemake", "--cores", "2 3"])
    before, numbers = list(logger.handlers), (signal.SIGINT, signal.SIGTERM)
    handlers = [signal.getsignal(number) for number in numbers]
    yield project
    logger.handlers[:] = before
    for number, handler in zip(numbers, handlers, strict=True):
        signal.signal(number, handler)


def test_jobs_get_their_environment(fresh: Path) -> None:
    begin(workflow(fresh), "a mirror")
    assert os.environ["MKLEARN_COMMAND"] == "snakemake --cores '2 3'"
    assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ", os.environ["MKLEARN_STARTED"])
    assert os.environ["MKLEARN_MIRROR"] == "a mirror"
    assert os.environ["PYTHONPATH"].split(os.pathsep) == [str(Path(session.__file__).parents[3]), "own"]
    session._open_locks.pop().close()
    begin(workflow(fresh), "the study's")
    assert os.environ["MKLEARN_MIRROR"] == "a mirror"
    session._open_locks.pop().close()
    os.environ["MKLEARN_MIRROR"] = ""  # as where it is not set
    begin(workflow(fresh), "the study's")
    assert os.environ["MKLEARN_MIRROR"] == "the study's"


def test_no_two_runs_write_one_log(fresh: Path) -> None:
    """Logs are not below `results`: studies with other results may have one."""
    running = workflow(fresh)
    job = SimpleNamespace(output=["one"], input=[], log=["logs/fit.log"])
    running.dag.needrun_jobs = lambda: [job]
    begin(running, None)
    job.output = ["two"]
    with pytest.raises(SystemExit):
        begin(running, None)


def test_the_default_limit_of_jobs_per_second_is_lifted_and_a_users_own_is_not(fresh: Path) -> None:
    running = workflow(fresh)
    begin(running, None)
    assert running.scheduler.job_rate_limiter is None
    session._open_locks.pop().close()
    running = workflow(fresh, max_jobs=20)
    begin(running, None)
    assert running.scheduler.job_rate_limiter.max_jobs == 20


@pytest.mark.parametrize(("killed", "next_one"), [("slurm", "local"), ("local", "slurm"), ("local", "local")])
def test_left_jobs_are_cancelled_by_a_run_that_is_alone(fresh: Path, slurm: Path, killed: str, next_one: str) -> None:
    """If the killed one was on SLURM; else SLURM is not asked."""
    lock_files(fresh / "mklearn-runs", {"something else"}, set(), killed)
    begin(workflow(fresh), None)
    assert not (slurm / "told").exists()
    while session._open_locks:
        session._open_locks.pop().close()
    begin(workflow(fresh, next_one), None)
    assert (slurm / "told").exists() == (killed == "slurm")
    assert len(list((fresh / "mklearn-runs").glob("*.json"))) == 1


@pytest.mark.full
def test_what_could_not_be_cancelled_is_asked_for_again(
    fresh: Path, slurm: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lock_files(fresh / "mklearn-runs", {"made"}, set(), "slurm")
    _program(slurm / "scancel", SCANCEL.format(told=slurm / "told", then=""))
    monkeypatch.setattr(session.cancel_left_jobs, "__kwdefaults__", {"wait_seconds": 0.2})
    for _ in range(2):
        while session._open_locks:
            session._open_locks.pop().close()
        with pytest.raises(SystemExit):
            begin(workflow(fresh), None)
        (slurm / "told").unlink()


def test_a_run_that_can_not_begin_ends_with_a_sentence(fresh: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lock_files(fresh / "mklearn-runs", {"made"}, set())
    with pytest.raises(SystemExit) as ended:
        begin(workflow(fresh), None)
    assert ended.value.code == 1
    said = capsys.readouterr().err
    assert said.startswith("\nmklearn: process ")
    assert said.endswith("Nothing was run.\n")


def test_reports_of_failed_jobs_are_kept_by_job_number() -> None:
    logger, reports = logging.Logger("snakemake-like"), FailureLog()
    logger.addHandler(reports)
    logger.error("something else")
    extra = {"event": SimpleNamespace(name="JOB_ERROR"), "jobid": 7, "rule_msg": None, "log": ["x.log", None]}
    logger.error("Error in rule fit", extra=extra)
    assert reports.reports == {7: ("", ["x.log"])}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_an_interruption_is_noted_and_left_to_snakemake(
    fresh: Path, monkeypatch: pytest.MonkeyPatch, number: signal.Signals
) -> None:
    handled: list[int] = []
    monkeypatch.setattr(session, "failures", FailureLog())
    signal.signal(signal.SIGINT, lambda sent, _: handled.append(sent))
    signal.signal(signal.SIGTERM, lambda sent, _: handled.append(sent))
    begin(workflow(fresh), None)
    assert not session.failures.interrupted
    os.kill(os.getpid(), number)
    assert session.failures.interrupted
    assert handled == [number]


def test_snakemake_has_what_is_asked_of_it() -> None:
    """Names outside its documented interface; mklearn pins its version. What fails here says what an upgrade breaks."""
    importlib.import_module("snakemake.cli")  # first: the others import each other
    from snakemake.dag import DAG
    from snakemake.persistence import PersistenceBase
    from snakemake.scheduling.job_scheduler import JobRateLimiter, JobScheduler
    from snakemake.settings.types import MaxJobsPerTimespan
    from snakemake.spawn_jobs import SpawnedJobArgsFactory
    from snakemake.workflow import Workflow
    from snakemake_interface_logger_plugins.common import LogEvent

    scheduler = inspect.getsource(JobScheduler)
    for name in (
        "self.failed",
        "signal.signal(signal.SIGTERM, self.exit_gracefully)",
        "except (KeyboardInterrupt, SystemExit):",
        "if self.job_rate_limiter is not None",
    ):
        assert name in scheduler
    assert "self._schedule_reevalutation(self.job_rate_limiter.timespan)" in scheduler, "is the limit still lifted?"
    limit = JobRateLimiter(MaxJobsPerTimespan.parse_choice("100/1s"))
    assert (limit.max_jobs, limit.timespan) == (100, 1)
    for owner, names in (
        (DAG, ("needrun_jobs", "needrun", "finished", "jobs", "reason")),
        (PersistenceBase, ("path", "started", "metadata")),
        (LogEvent, ("JOB_ERROR",)),
    ):
        assert all(hasattr(owner, name) for name in names), owner
    assert "--no-hooks" in inspect.getsource(SpawnedJobArgsFactory), "jobs of a cluster begin and end no run"
    run = inspect.getsource(Workflow.execute)
    assert session.ENGINE_ERROR in run
    assert "self.logger_manager.get_logfile()" in run
    assert "not self.dryrun and not self.execution_settings.no_hooks" in run
    assert run.index("self.scheduler = JobScheduler(") < run.index("self._onstart(") < run.index("scheduler.schedule()")
