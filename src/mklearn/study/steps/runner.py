"""Run a step: the same call from a Snakemake script and from ``python -m mklearn step``."""

from __future__ import annotations

import inspect
import json
import os
import shlex
import sys
import traceback
from collections.abc import Mapping, Sequence
from importlib.util import find_spec, module_from_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from mklearn.contract.loading import load
from mklearn.errors import ConfigError, UserError
from mklearn.study.stages.order import STAGES
from mklearn.study.steps import log

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
        Among others: an input is damaged.
    """
    _limit_threads(threads)
    _defer_scipy_stats()
    step = load_step(name)
    parameters = inspect.signature(step, eval_str=True).parameters
    files = {key: value for key, value in {**inputs, **outputs}.items() if value}
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
    step(**arguments, spec=_specification(name, spec, parameters["spec"].annotation))


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


class _DeferredPackage(ModuleType):
    """A package that executes itself at its first use."""

    def __getattr__(self, name: str) -> Any:
        spec: Any = self.__spec__
        object.__setattr__(self, "__class__", ModuleType)
        self.__path__ = spec.submodule_search_locations
        spec.loader.exec_module(self)
        return getattr(self, name)


def _defer_scipy_stats() -> None:
    """Let scikit-learn's import of `scipy.stats`, half a second of each job, cost nothing until it is used.

    `importlib.util.LazyLoader` does not serve: in Python 3.11 an import statement executes its modules.
    """
    import scipy

    if "scipy.stats" not in sys.modules:
        spec: Any = find_spec("scipy.stats")
        module = module_from_spec(spec)
        del module.__path__  # asked for when a module of the package is imported, which executes the package first
        object.__setattr__(module, "__class__", _DeferredPackage)
        sys.modules["scipy.stats"] = scipy.stats = module


def command(name: str, inputs: Files, outputs: Files, spec: Mapping[str, Any], threads: int) -> str:
    """Return the shell command that runs the same job outside Snakemake."""
    text = json.dumps(spec)  # in its own order, which decides between candidates that are equally good
    words = ["python", "-m", "mklearn", "step", name, "--spec", text]
    for flag, files in (("--in", inputs), ("--out", outputs)):
        for key, value in files.items():
            for path in [value] if isinstance(value, (str, Path)) else value:
                words += [flag, f"{key}={path}"]
    if threads != 1:
        words += ["--threads", str(threads)]
    return shlex.join(words)


def run(rule: str, snakemake: Any) -> None:
    """Run the step of a rule as a Snakemake job.

    All output goes to the job's log, whose first line is the command to replay it. The last line of the log of a job
    that fails is its reason. A user's mistake is also printed on the terminal, and has no traceback.
    """
    name = STAGES[rule].step
    inputs, outputs = _named(snakemake.input), _named(snakemake.output)
    spec, threads = snakemake.params.spec, snakemake.threads

    try:
        with log.output_in(snakemake.log[0]) as terminal:
            print(command(name, inputs, outputs, spec, threads), flush=True)
            try:
                call(name, inputs, outputs, spec, threads)
            except UserError as error:
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
