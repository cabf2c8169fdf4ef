"""The command that runs one step of the workflow by itself."""

from __future__ import annotations

import argparse
import json
from collections.abc import Sequence
from typing import Any

from mklearn.errors import ConfigError


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``step``."""
    step = commands.add_parser(
        "step",  # hidden: no `help`
        description="The first line of every log in logs/ is such a command: paste it to replay that job.",
    )
    step.add_argument("name", help="the step; 'list' lists them")
    step.add_argument("--spec", default="{}", metavar="JSON", help="specification: JSON, or a file that holds it")
    step.add_argument("--in", dest="inputs", action="append", default=[], metavar="KEY=PATH", help="input file; repeat")
    step.add_argument("--out", dest="outputs", action="append", default=[], metavar="KEY=PATH", help="output file")
    step.add_argument("--threads", type=int, default=1)
    step.set_defaults(run=_step)


def _step(options: argparse.Namespace) -> None:
    from mklearn.study.steps import log
    from mklearn.study.steps.runner import STEPS, call

    if options.name == "list":
        print("\n".join(STEPS))
        return
    log.start()
    call(options.name, _files(options.inputs), _files(options.outputs), _spec(options.spec), options.threads)


def _files(pairs: Sequence[str]) -> dict[str, Any]:
    files: dict[str, Any] = {}
    for pair in pairs:
        key, separator, path = pair.partition("=")
        if not separator or not key or not path:
            raise ConfigError(f"{pair!r} is not KEY=PATH.")
        files.setdefault(key, []).append(path)
    return {key: paths[0] if len(paths) == 1 else paths for key, paths in files.items()}


def _spec(text: str) -> dict[str, Any]:
    from mklearn.atomic import file_content

    given = text.encode() if text.lstrip().startswith("{") else file_content(text)
    try:
        content = json.loads(given)
    except (ValueError, RecursionError) as error:
        raise ConfigError(f"--spec is not JSON: {error}.") from None
    if not isinstance(content, dict):
        raise ConfigError("--spec: a specification is a JSON object.")
    return content
