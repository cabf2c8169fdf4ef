"""Run the function of a rule's script: as a Snakemake job, from the command line, or with explicit values.

Such a function takes input paths (`Path` or ``list[Path]``), output paths (`Output`), and the specification, value by
value or as one model ``spec``. Some functions also take the rule's ``threads``, and most take a ``record`` of
provenance for their outputs. pydantic validates all arguments.
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
from typing import Annotated, Any, get_args

from pydantic import ConfigDict, ValidationError, create_model
from threadpoolctl import threadpool_limits

from mklearn.errors import ConfigError, DataError, UserError, absence
from mklearn.study import log
from mklearn.study.provenance import input_digests, stamp

Output = Annotated[Path, "written"]
"""Path of an output file of a script."""
Record = dict[str, Any]
"""Provenance of an output, see :func:`mklearn.study.provenance.stamp`."""
Function = Callable[..., None]


def run_script(function: Function, snakemake: Any) -> None:
    """Run the function of a script, with arguments from the `snakemake` object or, without one, the command line.

    All output of a job goes to its log. The first line is the command that replays the job, and the last line of a
    failed job is the reason. A user's mistake is also printed on the terminal, without a traceback.
    """
    if snakemake is None:
        log.start()
        try:
            call(function, **_command_line(function))
        except UserError as error:
            sys.exit(f"error: {error}")
        return
    name, values = function.__name__, dict(snakemake.params.items())
    for files in (snakemake.input, snakemake.output):
        values |= {key: value if isinstance(value, str) else list(value) for key, value in files.items()}
    code, threads = values.pop("code", None), snakemake.threads
    try:
        with log.output_in(snakemake.log[0]) as terminal:
            print(command(function, **values, threads=threads), flush=True)
            try:
                call(function, code=code, **values, threads=threads)
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
                os._exit(0)  # unloading all libraries would cost each job a quarter of a second
    except OSError as error:  # the log can't be written: use the terminal
        print(f"\nmklearn, {name}: {snakemake.log[0]}: can't be written: {error.strerror}\n", file=sys.stderr)
    sys.exit(1)


def call(function: Function, *, code: str | None = None, **values: Any) -> None:
    """Call the function of a script with paths and a specification as plain values; ``code`` is its fingerprint.

    A specification ``spec`` is unpacked for a function that takes its values one by one. Raise ConfigError if a value
    is missing, unknown or invalid, and DataError if, for example, an input is missing or damaged.
    """
    _limit_threads(values.get("threads", 1))
    name, parameters = function.__name__, _parameters(function)
    values = _spelled_out(function, values)
    arguments = _validated(function, values)
    read = [key for key in values if _is_path(hint := parameters[key].annotation) and not _is_output(hint)]
    files = {key: arguments[key] for key in read}
    for each in files.values():
        for path in each if isinstance(each, list) else [each]:
            if not path.is_file():
                raise DataError(f"{path}: {absence(path)}")
    if "record" in parameters:
        spec = {key: values[key] for key in values if key != "threads" and not _is_path(parameters[key].annotation)}
        arguments["record"] = stamp(name, spec.get("spec", spec), input_digests(**files), code)
    function(**arguments)


def command(function: Function, **values: Any) -> str:
    """Return the shell command that runs the same job outside Snakemake."""
    words, parameters = [sys.executable, function.__globals__["__file__"]], _parameters(function)
    for key, value in _spelled_out(function, values).items():
        if (key, value) != ("threads", 1):
            paths = value if isinstance(value, list) else [value]
            words += [f"--{key}", *(paths if _is_path(parameters[key].annotation) else [json.dumps(value)])]
    return shlex.join(words)


def _command_line(function: Function) -> dict[str, Any]:
    parser = argparse.ArgumentParser(
        prog=function.__name__, description=inspect.getdoc(function), formatter_class=argparse.RawTextHelpFormatter,
        argument_default=argparse.SUPPRESS, allow_abbrev=False,
    )  # fmt: skip
    for key, parameter in _parameters(function).items():
        if _is_path(parameter.annotation):
            parser.add_argument(f"--{key}", nargs="+", metavar="PATH")
        elif key != "record":
            parser.add_argument(f"--{key}", type=json.loads, metavar="JSON")
    return vars(parser.parse_args())


def _parameters(function: Function) -> Mapping[str, inspect.Parameter]:
    return inspect.signature(function, eval_str=True).parameters  # Snakemake's preamble may make annotations strings


def _spelled_out(function: Function, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a function from a job's values: unpack ``spec``, omit inputs that the job lacks."""
    every, parameters = dict(values), _parameters(function)
    if "spec" not in parameters:
        every |= every.pop("spec", {})
    if "threads" not in parameters:
        every.pop("threads", None)
    return {key: value for key, value in every.items() if value is not None and value != []}


def _validated(function: Function, values: Mapping[str, Any]) -> dict[str, Any]:
    """Return the arguments of a function, validated and converted to their types.

    A single path is accepted for a list of paths, and a list of one path for a single path.
    """
    fields, plain = dict[str, Any](), dict(values)
    for key, parameter in _parameters(function).items():
        if key != "record":
            fields[key] = parameter.annotation, ... if parameter.default is parameter.empty else parameter.default
        if key in values and _is_path(parameter.annotation):
            paths = values[key] if isinstance(values[key], list) else [values[key]]
            plain[key] = paths if "list[" in str(parameter.annotation) or len(paths) > 1 else paths[0]
    try:
        model = create_model(function.__name__, __config__=ConfigDict(extra="forbid"), **fields)(**plain)
    except ValidationError as error:
        wrong = [f"{'.'.join(map(str, entry['loc']))}: {entry['msg']}" for entry in error.errors()]
        raise ConfigError(f"{function.__name__}: {'; '.join(wrong)}. It takes {', '.join(fields)}.") from None
    return {key: getattr(model, key) for key in values}


def _is_output(hint: Any) -> bool:
    return hint == Output or any(map(_is_output, get_args(hint)))


def _is_path(hint: Any) -> bool:
    return _is_output(hint) or hint is Path or any(map(_is_path, get_args(hint)))


def _limit_threads(threads: int) -> None:
    """Limit BLAS and Numba to the threads of the rule: jobs share cores, and the order of sums must be fixed.

    Environment variables limit libraries that are loaded later, and a call limits the loaded ones.
    """
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = str(threads)
    threadpool_limits(limits=threads)
