"""Running a step: the same call from a Snakemake script and from ``python -m mklearn step``."""

from __future__ import annotations

import importlib
import inspect
import json
import os
import shlex
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mklearn.errors import ConfigError, UserError
from mklearn.provenance import step_code
from mklearn.steps import log

STEPS: dict[str, str] = {
    "download": "mklearn.steps.download:download",
    "read": "mklearn.steps.read:read",
    "resize": "mklearn.steps.resize:resize",
    "learn": "mklearn.steps.learn:learn",
    "describe": "mklearn.steps.describe:describe",
    "pairwise": "mklearn.steps.pairwise:pairwise",
    "pairwise_block": "mklearn.steps.pairwise_block:pairwise_block",
    "kernel_set": "mklearn.steps.kernel_set:kernel_set",
    "split": "mklearn.steps.split:split",
    "fit": "mklearn.steps.fit:fit",
    "scores": "mklearn.steps.scores:scores",
    "summary": "mklearn.steps.summary:summary",
    "report": "mklearn.steps.report:report",
    "run_record": "mklearn.steps.run_record:run_record",
}
Files = Mapping[str, str | Sequence[str]]


def load_step(name: str) -> Any:
    """The function of a step, imported only now."""
    if name not in STEPS:
        raise ConfigError(f"there is no step {name!r}. Steps: {', '.join(STEPS)}.")
    module, function = STEPS[name].split(":")
    return getattr(importlib.import_module(module), function)


def call(name: str, inputs: Files, outputs: Files, spec: Mapping[str, Any], threads: int = 1) -> None:
    """Run a step with explicit paths. Parameters of the step that are lists take one file or several.

    Raises
    ------
    ConfigError
        Files that the step needs and did not get, or got and does not know; several where it takes one.
    """
    _limit_threads(1)
    step = load_step(name)
    parameters = inspect.signature(step).parameters
    if "threads" not in parameters:  # else they are for processes that the step starts
        _limit_threads(threads)
    files = {key: value for key, value in {**inputs, **outputs}.items() if value}
    if "code" in parameters and "code" not in files:
        files["code"] = step_code(name, spec)
    needed = {n for n, p in parameters.items() if n not in ("spec", "threads") and p.default is p.empty}
    legal = [name for name in parameters if name not in ("spec", "threads")]
    unknown, missing = sorted(set(files) - set(legal)), sorted(needed - set(files))
    if unknown or missing:
        wrong = [f"missing {', '.join(missing)}"] * bool(missing) + [f"not known: {', '.join(unknown)}"] * bool(unknown)
        raise ConfigError(f"step {name}: {'; '.join(wrong)}. It takes {', '.join(legal)}.")
    arguments: dict[str, Any] = {}
    for key, value in files.items():
        several = "list" in str(parameters[key].annotation)
        paths = [Path(value)] if isinstance(value, (str, Path)) else [Path(path) for path in value]
        if not several and len(paths) > 1:
            raise ConfigError(f"step {name}: {key} is one file; {len(paths)} were given.")
        arguments[key] = paths if several else paths[0]
    if "threads" in parameters:
        arguments["threads"] = threads
    step(**arguments, spec=dict(spec))


def _limit_threads(threads: int) -> None:
    """One BLAS thread unless the rule asks for more: jobs share cores, and the last bits of a sum depend on its parts.

    By environment for libraries that are not loaded yet (SciPy brings its own BLAS), by call for those that are.
    """
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = str(threads)
    if "numpy" in sys.modules:
        from threadpoolctl import threadpool_limits

        threadpool_limits(limits=threads)


def command(name: str, inputs: Files, outputs: Files, spec: Mapping[str, Any], threads: int) -> str:
    """The shell command that runs the same job outside Snakemake."""
    words = ["python", "-m", "mklearn", "step", name, "--spec", json.dumps(spec, sort_keys=True)]
    for flag, files in (("--in", inputs), ("--out", outputs)):
        for key, value in files.items():
            if key == "code":  # follows from the step and its specification
                continue
            for path in [value] if isinstance(value, (str, Path)) else value:
                words += [flag, f"{key}={path}"]
    if threads != 1:
        words += ["--threads", str(threads)]
    return shlex.join(words)


def run(name: str, snakemake: Any) -> None:
    """Run a step as a Snakemake job: all output goes to the job's log, whose first line is the command to replay it.

    A user's mistake ends the job with its sentence, in the log and on the terminal, and without a traceback.
    """
    inputs, outputs = _named(snakemake.input), _named(snakemake.output)
    spec, threads = snakemake.params.spec, snakemake.threads
    terminal = os.dup(2)
    with open(snakemake.log[0], "w", encoding="utf-8", buffering=1) as stream:
        os.dup2(stream.fileno(), 1)
        os.dup2(stream.fileno(), 2)
        print(command(name, inputs, outputs, spec, threads), file=stream, flush=True)
        log.start(stream)
        try:
            call(name, inputs, outputs, spec, threads)
        except UserError as error:
            log.logger.error("error: %s", error)
            os.write(terminal, f"\nmklearn, step {name}: {error}\n\n".encode())
            stream.flush()
            os._exit(1)
        log.logger.info("done")
        sys.stdout.flush()


def _named(files: Any) -> dict[str, Any]:
    return {key: value if isinstance(value, str) else list(value) for key, value in files.items()}
