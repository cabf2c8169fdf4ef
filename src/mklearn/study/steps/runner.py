"""Run a step: the same call from a Snakemake script and from ``python -m mklearn step``."""

from __future__ import annotations

import inspect
import json
import os
import shlex
import sys
import traceback
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePath
from typing import Any

from mklearn.contract.loading import load
from mklearn.errors import ConfigError, DamagedArtefact, DataError, UserError
from mklearn.study.provenance import step_code
from mklearn.study.stages.order import ARTEFACTS, STAGES
from mklearn.study.steps import log
from mklearn.study.steps.deferred_imports import defer
from mklearn.study.supervisor import SplitAborted, supervised

STEPS = tuple(dict.fromkeys(stage.step for stage in STAGES.values()))
"""Each is a function of a module of the same name in ``mklearn.study.steps``."""
Files = Mapping[str, str | Sequence[str]]


def load_step(name: str) -> Any:
    """Import the function of a step."""
    if name not in STEPS:
        raise ConfigError(f"there is no step {name!r}. Steps: {', '.join(STEPS)}.")
    return load(f"mklearn.study.steps.{name}:{name}")


def call(name: str, inputs: Files, outputs: Files, spec: Mapping[str, Any], threads: int = 1) -> None:
    """Run a step with explicit paths. Parameters of the step that are lists take one file or several.

    The specification is validated into the model that the step takes.

    Raises
    ------
    ConfigError
        Files are missing, unknown, or several where the step takes one; or an invalid specification.
    DataError
        Among others: an input is damaged, or of another job; see :func:`set_aside`.
    """
    _limit_threads(threads)
    defer("scipy.stats")  # scikit-learn imports it for what few methods use: a third of the time of all imports
    defer("numpy.f2py")  # SciPy takes all names of NumPy: a twentieth
    step = load_step(name)
    parameters = inspect.signature(step, eval_str=True).parameters
    files = {key: value for key, value in {**inputs, **outputs}.items() if value}
    if "code" in parameters and "code" not in files:
        files["code"] = step_code(name, spec)
    needed = {n for n, p in parameters.items() if n != "spec" and p.default is p.empty}
    legal = [name for name in parameters if name not in ("spec", "threads")]
    unknown, missing = sorted(set(files) - set(legal)), sorted(needed - set(files))
    if unknown or missing:
        wrong = [f"missing {', '.join(missing)}"] * bool(missing) + [f"not known: {', '.join(unknown)}"] * bool(unknown)
        raise ConfigError(f"step {name}: {'; '.join(wrong)}. It takes {', '.join(legal)}.")
    arguments: dict[str, Any] = {"threads": threads} if "threads" in parameters else {}
    for key, value in files.items():
        several = "list" in str(parameters[key].annotation)
        paths = [Path(value)] if isinstance(value, (str, Path)) else [Path(path) for path in value]
        if not several and len(paths) > 1:
            raise ConfigError(f"step {name}: {key} is one file; {len(paths)} were given.")
        arguments[key] = paths if several else paths[0]
    try:
        step(**arguments, spec=_specification(name, spec, parameters["spec"].annotation))
    except DamagedArtefact as error:
        raise DataError(f"{error}. {set_aside(Path(error.path))}") from error


def set_aside(path: Path) -> str:
    """Rename a damaged file of the workflow to ``NAME.damaged``, so that the next run makes it again.

    A file elsewhere, such as one that a user has named on the command line, stays. Returns a sentence for the user.
    """
    from mklearn.study.artefacts import cached_name  # here: jobs load the code behind their step, and no more
    from mklearn.study.stamps import BESIDE

    aside = path.with_name(f"{path.name}.damaged")
    names = ("scores", "predictions", "summary", "run_record", "report", "final_model")
    tables = {PurePath(ARTEFACTS[name]).name for name in names}
    if not (cached_name(path) or path.name in tables or path.with_name(f"{path.name}.{BESIDE}").is_file()):
        return "It is not a file of the workflow, and was left as it is."
    try:
        os.replace(path, aside)
    except OSError as error:
        return f"It can't be renamed ({error.strerror}): delete it; then the next run makes it again."
    return f"It is now {aside.name}; the next run makes it again."


def _specification(name: str, spec: Mapping[str, Any], model: Any) -> Any:
    """Return the specification as the model of the step's annotation."""
    from pydantic import ValidationError

    try:
        return model.model_validate(spec)
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, entry['loc']))}: {entry['msg']}" for entry in error.errors()]
        raise ConfigError(f"step {name}: invalid specification: {'; '.join(wrong)}.") from None


def _limit_threads(threads: int) -> None:
    """Limit BLAS to one thread unless the rule asks for more: jobs share cores, and the order of a sum has to be fixed.

    By environment for libraries that are not loaded yet (SciPy brings its own BLAS), by call for those that are.
    """
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = str(threads)
    if "numpy" in sys.modules:
        from threadpoolctl import threadpool_limits

        threadpool_limits(limits=threads)


def command(name: str, inputs: Files, outputs: Files, spec: Mapping[str, Any], threads: int) -> str:
    """Return the shell command that runs the same job outside Snakemake."""
    text = json.dumps(spec)  # in its own order, which decides between candidates that are equally good
    words = ["python", "-m", "mklearn", "step", name, "--spec", text]
    for flag, files in (("--in", inputs), ("--out", outputs)):
        for key, value in files.items():
            if key == "code":  # follows from the step and its specification
                continue
            for path in [value] if isinstance(value, (str, Path)) else value:
                words += [flag, f"{key}={path}"]
    if threads != 1:
        words += ["--threads", str(threads)]
    return shlex.join(words)


def run(rule: str, snakemake: Any) -> None:
    """Run the step of a rule as a Snakemake job.

    All output goes to the job's log, whose first line is the command to replay it. The step runs in a child process, so
    that the log of a job whose memory was not enough, or which has crashed, says so. The last line of the log of a job
    that fails is its reason. A user's mistake is also printed on the terminal, and has no traceback.
    """
    name = STAGES[rule].step
    inputs, outputs = _named(snakemake.input), _named(snakemake.output)
    spec, threads = snakemake.params.spec, snakemake.threads

    def work() -> Iterator[None]:
        call(name, inputs, outputs, spec, threads)
        yield

    try:
        with log.output_in(snakemake.log[0]) as terminal:
            print(command(name, inputs, outputs, spec, threads), flush=True)
            try:
                list(supervised(work, minutes=None))
            except (UserError, SplitAborted) as error:
                log.logger.error("error: %s", " ".join(str(error).split()))
                os.write(terminal, f"\nmklearn, step {name}: {error}\n\n".encode())
            except Exception as error:
                traceback.print_exc()
                log.logger.error("error: %s: %s", type(error).__name__, " ".join(str(error).split()))
            except KeyboardInterrupt:
                log.logger.error("interrupted")
            else:
                log.logger.info("done")
                return
    except OSError as error:  # of the log itself: there is the terminal alone
        print(f"\nmklearn, step {name}: {snakemake.log[0]}: can't be written: {error.strerror}\n", file=sys.stderr)
    sys.exit(1)


def _named(files: Any) -> dict[str, Any]:
    return {key: value if isinstance(value, str) else list(value) for key, value in files.items()}
