"""Functions for the Snakefile: open a study, begin a run (``onstart``), and show its answer (``onsuccess``).

Dry runs and cluster jobs only open the study, which has no side effects.
"""

from __future__ import annotations

import fcntl
import os
import shlex
import sys
from collections.abc import Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, NoReturn

from mklearn.errors import ConfigError, UserError
from mklearn.study.jobs import Jobs
from mklearn.study.plan.plan import plan_study
from mklearn.study.provenance import PACKAGE, SCRIPTS
from mklearn.study.reading import check_parameters, check_study
from mklearn.study.yaml_file import from_folder, read_yaml

_open_locks: list[IO[str]] = []
"""Lock files, kept open: the system releases their locks when this process ends for any reason."""


def readable(path: str) -> str:
    """Return the path of a study file; end the run if it is invalid YAML, where Snakemake would print a traceback."""
    try:
        read_yaml(path)
    except UserError as error:
        end_run(error)
    return path


def open_study(config: Mapping[str, Any], workflow: Any) -> Jobs:
    """Check and plan the study that Snakemake has read; if there are mistakes, print all of them and end the run."""
    source = ", ".join(os.path.relpath(path) for path in workflow.configfiles)
    try:
        for path in workflow.configfiles:
            read_yaml(path)  # Snakemake's own reader accepts duplicate keys
        study = from_folder(dict(config), Path(*workflow.configfiles[-1:]).parent)
        scripts = Path(str(workflow.current_basedir)).parent / "scripts"  # for the rules being read
        plan = plan_study(check_study(study, source=source))
        return Jobs(plan, source, scripts.resolve() if scripts.is_dir() else SCRIPTS)
    except UserError as error:
        end_run(error)
    except OSError as error:  # a path in the study that the system rejects
        end_run(ConfigError(f"{source}: {error.filename}: {error.strerror}."))


def end_run(error: UserError) -> NoReturn:
    """End the run with the message only; Snakemake would add the code location, which does not help the user."""
    print(f"\nmklearn: {error}\nNothing was run.", file=sys.stderr)
    raise SystemExit(1) from None


def begin(jobs: Jobs) -> None:
    """Check the parameters of the study, lock the results folder, and set up the environment of the jobs.

    End the run if a parameter is invalid, or if another run uses the folder.
    """
    study = jobs.plan.study
    try:
        check_parameters(study, jobs.source)
        lock(Path(study.results))
    except UserError as error:
        end_run(error)
    program = Path(sys.argv[0])  # mklearn/__main__.py for `python -m mklearn`
    name = program.parent.name if program.name == "__main__.py" else program.name
    os.environ["MKLEARN_COMMAND"] = shlex.join([name, *sys.argv[1:]])
    os.environ["MKLEARN_STARTED"] = datetime.now(tz=UTC).strftime("%Y-%m-%dT%H:%M:%SZ")
    if PACKAGE.parent.name == "src":  # a checkout; the folder of an installed package holds all others too
        # Jobs in a conda environment can import mklearn, which is not installed there.
        paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))


def lock(folder: Path) -> None:
    """Lock a results folder until this process ends; raise UserError if another run has the lock."""
    folder.mkdir(parents=True, exist_ok=True)
    stream = (folder / ".lock").open("a", encoding="utf-8")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        raise UserError(f"another run uses {folder}. Wait for it to finish, or stop it.") from None
    except OSError as error:
        print(f"mklearn: no locks in {folder} ({error.strerror}): start no second run there.", file=sys.stderr)
    _open_locks.append(stream)


def show_answer(workflow: Any, jobs: Jobs) -> None:
    """Print the answer, the path of the page, and the use of the final model, if this run wrote them."""
    end_display(workflow)
    page, model = jobs.path("page"), jobs.path("model")
    written = {str(file) for job in workflow.dag.finished_jobs for file in job.output}
    if page in written:
        print(f"\n{answer_of(page)}", file=sys.stderr)
    if model in written:
        print(f"{model} (mklearn predict {shlex.quote(model)} NEW)", file=sys.stderr)


def answer_of(page: str) -> str:
    """Return the answer written with a page, followed by the path of the page."""
    return f"{Path(page).with_name('answer.txt').read_text(encoding='utf-8')}\n{page}"


def end_display(workflow: Any) -> None:
    """End the progress display, so that it does not interfere with the last lines of a run."""
    for handler in workflow.logger_manager.get_log_handlers():
        handler.close()
