"""Prepare a run before its first job: lock its files, cancel what a killed run left in SLURM, set up its jobs.

Snakemake calls :func:`begin` (``onstart`` in the Snakefile) when a plan has jobs and is no dry run. Parsing the
Snakefile changes nothing.
"""

from __future__ import annotations

import fcntl
import getpass
import json
import logging
import os
import re
import shlex
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from datetime import UTC, datetime
from pathlib import Path
from types import FrameType
from typing import IO, Any

from mklearn.errors import UserError
from mklearn.study.provenance import PACKAGE

WAIT_SECONDS = 90.0
"""How long cancelled SLURM jobs may take to end: SLURM gives them KillWait, usually 30 seconds, before it kills."""
ENGINE_ERROR = "At least one job did not complete successfully."
_NOT_PLAIN = re.compile(r"[^\w@%+=:,./-]")
"""What a shell may not take as it is."""
_open_locks: list[IO[str]] = []
"""Kept open: the system releases their locks when this process ends, however it ends."""


def begin(workflow: Any, mirror: str | None) -> None:
    """Prepare a run of Snakemake's ``workflow``; ``mirror`` is the study's, used where the environment names none.

    Raises
    ------
    SystemExit
        Another run uses the same files, or jobs of a killed run do not end. The reason is printed.
    """
    jobs = list(workflow.dag.needrun_jobs())
    made = {str(file) for job in jobs for file in [*job.output, *job.log]}  # logs lie beside all results folders
    read = {str(file) for job in jobs for file in job.input}
    try:
        folder, executor = Path(workflow.persistence.path) / "mklearn-runs", workflow.executor_plugin.name
        ended = lock_files(folder, made, read, executor)
        if "slurm" in ended.values():  # else SLURM is not asked: where its controller is down, it answers late
            cancel_left_jobs(Path.cwd())
        for path in ended:
            path.unlink(missing_ok=True)
    except UserError as error:
        print(f"\nmklearn: {error}\nNothing was run.", file=sys.stderr)
        raise SystemExit(1) from None
    mark_outdated(workflow.persistence, jobs)
    limiter = workflow.scheduler.job_rate_limiter
    if limiter is not None and (limiter.max_jobs, limiter.timespan) == (100, 1):  # the default, not a user's choice
        # With a limit, Snakemake 9.27 starts a chain of timers with every job that ends. After 120 jobs they take a
        # third of a core, to look up the inputs of all ready jobs over and over.
        workflow.scheduler.job_rate_limiter = None
    program = Path(sys.argv[0])  # of `python -m mklearn` mklearn/__main__.py
    name = program.parent.name if program.name == "__main__.py" else program.name
    os.environ["MKLEARN_COMMAND"] = shlex.join([name, *sys.argv[1:]])
    os.environ["MKLEARN_STARTED"] = datetime.now(tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if mirror and not os.environ.get("MKLEARN_MIRROR"):
        os.environ["MKLEARN_MIRROR"] = mirror
    if PACKAGE.parent.name == "src":  # of a checkout; beside an installed package lie all others of this Python
        # Jobs in a conda environment find the package, which is not installed there.
        paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    from snakemake.logging import logger

    logger.addHandler(failures)
    note_interruption()


def mark_outdated(persistence: Any, jobs: Iterable[Any]) -> None:
    """Mark what a run will make anew as incomplete, until its jobs have ended: the next run makes the rest.

    A job that fails or is killed leaves its output deleted. Without the marks the next run would find the files that
    were made from the former output up to date, as Snakemake asks for a missing file only where its readers must run.
    """
    for job in jobs:
        if any(os.path.exists(path) for path in job.output):
            persistence.started(job)


def show_answer(workflow: Any, page: str, model: str = "") -> None:
    """Print the answer of the study, the path of its page, and how to use its final model, if this run wrote them."""
    end_display(workflow)
    written = {str(file) for job in workflow.dag.finished_jobs for file in job.output}
    if page in written:
        print(f"\n{answer_of(page)}", file=sys.stderr)
    if model in written:
        print(f"{model} (mklearn predict {shlex.quote(model)} NEW)", file=sys.stderr)


def answer_of(page: str) -> str:
    """Return the answer that was written with a page, and the path of the page."""
    return f"{Path(page).with_name('answer.txt').read_text(encoding='utf-8')}\n{page}"


def end_display(workflow: Any) -> None:
    """End the display of progress, which would be drawn around the last lines of a run."""
    for handler in workflow.logger_manager.get_log_handlers():
        handler.close()


def silence_the_engine() -> None:
    """Drop Snakemake's last line after failed jobs, which says less than what mklearn has printed above it."""
    from snakemake.logging import logger

    logger.addFilter(lambda record: ENGINE_ERROR not in record.getMessage())


def call_python_by_a_plain_path() -> None:
    """Let Snakemake call this Python by its path from the present folder, if its full path has a space, say.

    Snakemake 9.27 writes the path into the shell commands of its jobs without quotes.

    Raises
    ------
    SystemExit
        The path from here is not plain either. The reason is printed.
    """
    if _NOT_PLAIN.search(sys.executable) is None:
        return
    relative = os.path.relpath(sys.executable)
    if _NOT_PLAIN.search(relative):
        print(
            f"\nmklearn: Python is at {sys.executable!r}. Snakemake can't call it from {str(Path.cwd())!r} because of "
            "special characters in the path. Start the run in the folder of the checkout.\nNothing was run.",
            file=sys.stderr,
        )
        raise SystemExit(1)
    sys.executable = relative


# --- locks


def lock_files(folder: Path, made: set[str], read: set[str], executor: str = "local") -> dict[Path, str]:
    """Lock the files that this run makes and reads, until this process ends.

    Each run has a locked file with their names in ``folder``; the operating system holds the lock, and no clock decides
    whether a run lives. On NFS that holds between hosts where the server has locks (v4, or v3 with lockd).

    Return the files of runs that have ended, with their executors, if this is known to be the only run. They may have
    left jobs on a cluster. There are none if another run uses other files, or if the file system has no locks.

    Raises
    ------
    UserError
        Another run makes one of the files, or reads one that this run makes.
    """
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "lock").open("a") as one_at_a_time:
        try:
            fcntl.flock(one_at_a_time, fcntl.LOCK_EX)
        except OSError as error:
            print(f"mklearn: no locks in {folder} ({error.strerror}): start no second run here.", file=sys.stderr)
            return {}
        runs = {path: _read_run(path) for path in folder.glob("*.json")}
        living = [run for run in runs.values() if run["lives"]]
        for run in living:
            shared = (made & {*run["made"], *run["read"]}) | (read & {*run["made"]})
            if shared:
                raise UserError(
                    f"process {run['process']} on {run['host']} is another run in this folder, and uses "
                    f"{min(shared)} too. Wait until it has ended, or end it."
                )
        stream = tempfile.NamedTemporaryFile("w", dir=folder, suffix=".json", delete=False)  # noqa: SIM115 - stays open
        os.chmod(stream.name, 0o644)  # for runs of other people in a shared folder
        fcntl.flock(stream, fcntl.LOCK_EX)
        record = {"process": os.getpid(), "host": socket.gethostname(), "executor": executor}
        json.dump(record | {"made": [*made], "read": [*read]}, stream)
        stream.flush()
        _open_locks.append(stream)
    return {} if living else {path: run["executor"] for path, run in runs.items()}


def _read_run(path: Path) -> dict[str, Any]:
    """Read the file of another run, and whether that run lives."""
    with path.open() as stream:
        try:
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)  # NFS has no LOCK_EX on what is open for reading
            lives = False
        except BlockingIOError:
            lives = True
        try:
            record = json.load(stream)
        except ValueError:  # killed while it wrote, before its first job
            record = {}
    return {"executor": "unknown", "made": [], "read": [], **record, "lives": lives}


# --- SLURM


def cancel_left_jobs(folder: Path, *, wait_seconds: float = WAIT_SECONDS) -> list[str]:
    """Cancel the SLURM jobs that a killed run has left in a folder, and return their numbers.

    A run that is interrupted cancels its jobs itself. Jobs of a killed run go on, and would write and remove the files
    of the next run's jobs. Call this only where no other run is at work.

    Raises
    ------
    UserError
        They have not ended after ``wait_seconds``.
    """
    left = _slurm_jobs(folder)
    if not left:
        return []
    print(f"mklearn: cancelling what a killed run has left in SLURM: {len(left)} jobs.", file=sys.stderr)
    subprocess.run(["scancel", *left], check=False, capture_output=True, timeout=60)
    deadline = time.monotonic() + wait_seconds
    while _slurm_jobs(folder):
        if time.monotonic() > deadline:
            raise UserError(f"SLURM has not ended the jobs {', '.join(left)} of a killed run; run again when it has.")
        time.sleep(0.5)
    return left


def _slurm_jobs(folder: Path) -> list[str]:
    """Return the pending, running and ending jobs that Snakemake has submitted from a folder."""
    if shutil.which("squeue") is None:
        return []
    command = ["squeue", "--noheader", f"--user={getpass.getuser()}", "--format=%i|%k|%Z"]
    try:
        rows = subprocess.run(command, check=True, capture_output=True, text=True, timeout=20).stdout.splitlines()
    except (OSError, subprocess.SubprocessError):
        return []  # SLURM's programs are installed and its controller does not answer
    jobs = [row.split("|", 2) for row in rows if row.count("|") >= 2]
    here = os.path.realpath(folder)
    return [
        number
        for number, comment, submitted_from in jobs
        if comment.startswith(("rule_", "group_")) and os.path.realpath(submitted_from) == here
    ]


# --- what went wrong in this run


class FailureLog(logging.Handler):
    """Snakemake's reports of failed jobs, by job number: the executor's message, and the paths of the job's logs."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)
        self.began = time.time()
        self.interrupted = False
        self.reports: dict[int, tuple[str, list[str]]] = {}

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a report of a failed job."""
        if getattr(getattr(record, "event", None), "name", "") == "JOB_ERROR":
            fields = record.__dict__
            self.reports[fields["jobid"]] = fields["rule_msg"] or "", [str(path) for path in fields["log"] if path]


failures = FailureLog()
"""The reports of this run."""


def note_interruption() -> None:
    """Note Ctrl-C and SIGTERM in :data:`failures`, and leave them to the handlers that Snakemake has set."""

    def noting(former: Any) -> Any:
        def note(number: int, frame: FrameType | None) -> None:
            failures.interrupted = True
            former(number, frame)

        return note

    for number in (signal.SIGINT, signal.SIGTERM):
        former = signal.getsignal(number)
        if callable(former):  # not where they are ignored
            signal.signal(number, noting(former))
