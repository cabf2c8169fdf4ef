"""Run the function of a rule's script: as a Snakemake job, from the command line, or with explicit values.

The parameters before ``*`` of such a function are paths: `Path` or ``list[Path]`` of files that it reads, `Output` of
those that it writes. The others are the job's specification, value by value or as one model ``spec``, and, where the
function has them, ``threads`` and ``record``, what its outputs say of their origin.
"""

from __future__ import annotations

import argparse
import inspect
import json
import os
import shlex
import sys
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, get_args, get_type_hints

from mklearn.errors import ConfigError, DataError, UserError, absence
from mklearn.study import log
from mklearn.study.provenance import input_digests, stamp

Output = Annotated[Path, "written"]
"""Path of a file that a script writes."""
Record = dict[str, Any]
"""What an output says of its origin, see :func:`mklearn.study.provenance.stamp`."""
Function = Callable[..., None]
GIVEN_BY_JOB = ("threads", "record")


def run_script(function: Function, snakemake: Any) -> None:
    """Run the function of a script: as the job of Snakemake's object, or by the arguments of a command without one.

    All output of a job goes to its log, whose first line is the command to replay it. The last line of the log of a job
    that fails is its reason. A user's mistake is also printed on the terminal, and has no traceback.
    """
    if snakemake is None:
        log.start()
        try:
            call(function, **_arguments(function))
        except UserError as error:
            sys.exit(f"error: {error}")
        return
    name, threads, values = function.__name__, snakemake.threads, dict(snakemake.params.items())
    for files in (snakemake.input, snakemake.output):
        values |= {key: value if isinstance(value, str) else list(value) for key, value in files.items()}
    code = values.pop("code", None)
    try:
        with log.output_in(snakemake.log[0]) as terminal:
            print(command(function, threads=threads, **values), flush=True)
            try:
                call(function, threads=threads, code=code, **values)
            except UserError as error:
                log.logger.error("error: %s", " ".join(str(error).split()))
                os.write(terminal, f"\nmklearn, {name}: {error}\n\n".encode())
            except Exception as error:
                traceback.print_exc()
                log.logger.error("error: %s: %s", type(error).__name__, " ".join(str(error).split()))
            except KeyboardInterrupt:
                log.logger.error("interrupted")
            else:
                log.logger.info("done")
                sys.stdout.flush()
                os._exit(0)  # taking down all that a script has loaded costs each job a quarter of a second
    except OSError as error:  # of the log itself: there is the terminal alone
        print(f"\nmklearn, {name}: {snakemake.log[0]}: can't be written: {error.strerror}\n", file=sys.stderr)
    sys.exit(1)


def call(function: Function, *, threads: int = 1, code: str | None = None, **values: Any) -> None:
    """Call the function of a script with paths and a specification as plain values; ``code`` is its fingerprint.

    A specification ``spec`` is spelled out for a function that takes its values one by one.
    ConfigError is raised where a value is missing, unknown or invalid, or there are several files where the function
    takes one; DataError where, among others, an input is missing or damaged.
    """
    _limit_threads(threads)
    name, parameters = function.__name__, inspect.signature(function).parameters
    values = _spelled_out(function, values)
    needed = {key for key, p in parameters.items() if p.default is p.empty and key not in GIVEN_BY_JOB}
    wrong = [f"missing {key}" for key in sorted(needed - set(values))]
    wrong += [f"not known: {key}" for key in sorted(set(values) - set(parameters))]
    if wrong:
        raise ConfigError(f"{name}: {'; '.join(wrong)}. It takes {', '.join(parameters)}.")
    files, spec, arguments = dict[str, Any](), dict[str, Any](), dict[str, Any]()
    for key, hint in _hints(function).items():
        if key not in values:
            continue
        if _is_path(hint):
            arguments[key] = _paths(name, key, values[key], several=_is_list(hint))
            files |= {} if _is_output(hint) else {key: arguments[key]}
        else:
            spec[key], arguments[key] = values[key], _typed(name, key, values[key], hint)
    for each in files.values():
        for path in each if isinstance(each, list) else [each]:
            if not path.is_file():
                raise DataError(f"{path}: {absence(path)}")
    if "threads" in parameters:
        arguments["threads"] = threads
    if "record" in parameters:
        arguments["record"] = stamp(name, spec.get("spec", spec), input_digests(**files), code)
    function(**arguments)


def command(function: Function, *, threads: int = 1, **values: Any) -> str:
    """Return the shell command that runs the same job outside Snakemake."""
    words, hints = [sys.executable, function.__globals__["__file__"]], _hints(function)
    for key, value in _spelled_out(function, values).items():
        path = key in hints and _is_path(hints[key])
        plain = [json.dumps(value)] if not path else [value] if isinstance(value, str) else value
        words += [f"--{key}", *map(str, plain)]
    if threads != 1:
        words += ["--threads", str(threads)]
    return shlex.join(words)


def _spelled_out(function: Function, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that a function takes, without inputs that a job does not have."""
    every = dict(values)
    if "spec" not in inspect.signature(function).parameters:
        every |= every.pop("spec", {})
    return {key: value for key, value in every.items() if value is not None and value != []}


def _arguments(function: Function) -> dict[str, Any]:
    parser = argparse.ArgumentParser(
        prog=function.__name__, description=inspect.getdoc(function), formatter_class=argparse.RawTextHelpFormatter,
        argument_default=argparse.SUPPRESS, allow_abbrev=False,
    )  # fmt: skip
    for key, hint in _hints(function).items():
        if hint is bool:
            parser.add_argument(f"--{key}", action="store_true")
        elif _is_path(hint):
            parser.add_argument(f"--{key}", nargs="+" if _is_list(hint) else None, metavar="PATH")
        elif key not in GIVEN_BY_JOB:
            parser.add_argument(f"--{key}", type=json.loads, metavar="JSON")
    parser.add_argument("--threads", type=int, help=argparse.SUPPRESS)
    return vars(parser.parse_args())


def _hints(function: Function) -> dict[str, Any]:
    hints = get_type_hints(function, include_extras=True)
    return {key: hints[key] for key in inspect.signature(function).parameters}


def _is_output(hint: Any) -> bool:
    return hint == Output or any(map(_is_output, get_args(hint)))


def _is_list(hint: Any) -> bool:
    return "list[" in str(hint)


def _is_path(hint: Any) -> bool:
    return _is_output(hint) or hint is Path or any(_is_path(part) for part in get_args(hint))


def _paths(name: str, key: str, value: Any, *, several: bool) -> Path | list[Path]:
    paths = [Path(value)] if isinstance(value, (str, Path)) else [Path(path) for path in value]
    if several:
        return paths
    if len(paths) > 1:
        raise ConfigError(f"{name}: {key} is one file; {len(paths)} were given.")
    return paths[0]


def _typed(name: str, key: str, value: Any, hint: Any) -> Any:
    from pydantic import TypeAdapter, ValidationError

    try:
        return TypeAdapter(hint).validate_python(value)
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, (key, *entry['loc'])))}: {entry['msg']}" for entry in error.errors()]
        raise ConfigError(f"{name}: invalid value {value!r:.80}: {'; '.join(wrong)}") from None


def _limit_threads(threads: int) -> None:
    """Limit BLAS to one thread unless the rule asks for more: jobs share cores, and the order of a sum has to be fixed.

    By environment for libraries that are not loaded yet (SciPy brings its own BLAS), by call for those that are.
    """
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = str(threads)
    if "numpy" in sys.modules:
        from threadpoolctl import threadpool_limits

        threadpool_limits(limits=threads)
