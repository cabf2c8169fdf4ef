"""Begin a run of Snakemake (``onstart`` in the Snakefile), and show its answer (``onsuccess``).

Neither is called in a dry run, nor in the jobs of a cluster: parsing the Snakefile changes nothing.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import sys
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any

from mklearn.errors import UserError
from mklearn.study.engine.opening import end_run
from mklearn.study.jobs import Jobs
from mklearn.study.provenance import PACKAGE
from mklearn.study.reading import check_parameters

_open_locks: list[IO[str]] = []
"""Kept open: the system releases a lock when this process ends, however it ends."""


def begin(jobs: Jobs) -> None:
    """Check the parameters of the study, lock the folder of results, and set up the environment of the jobs.

    A parameter that is refused, or another run in the folder, ends the run.
    """
    study = jobs.plan.study
    try:
        check_parameters(study, jobs.source)
        lock(Path(study.results))
    except UserError as error:
        end_run(error)
    program = Path(sys.argv[0])  # of `python -m mklearn` mklearn/__main__.py
    name = program.parent.name if program.name == "__main__.py" else program.name
    os.environ["MKLEARN_COMMAND"] = shlex.join([name, *sys.argv[1:]])
    os.environ["MKLEARN_STARTED"] = datetime.now(tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if study.mirror and not os.environ.get("MKLEARN_MIRROR"):
        os.environ["MKLEARN_MIRROR"] = study.mirror
    if PACKAGE.parent.name == "src":  # of a checkout; beside an installed package lie all others of this Python
        # Jobs in a conda environment find the package, which is not installed there.
        paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))


def lock(folder: Path) -> None:
    """Lock a folder of results until this process ends; raise UserError where another run has the lock."""
    folder.mkdir(parents=True, exist_ok=True)
    stream = (folder / ".lock").open("a", encoding="utf-8")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UserError(f"another run uses {folder}. Wait until it has ended, or end it.") from None
    except OSError as error:
        print(f"mklearn: no locks in {folder} ({error.strerror}): start no second run there.", file=sys.stderr)
    _open_locks.append(stream)


def show_answer(workflow: Any, jobs: Jobs) -> None:
    """Print the answer of the study, the path of its page, and how to use its final model, if this run wrote them."""
    end_display(workflow)
    page, model = jobs.path("page"), jobs.path("model")
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
