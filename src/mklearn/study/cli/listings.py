"""The command that lists what a study can name."""

from __future__ import annotations

import argparse
import shutil
import textwrap

from mklearn.errors import ConfigError

KINDS = ("datasets", "descriptors", "kernels", "methods", "metrics", "protocols", "solvers", "studies")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``list``."""
    listing = commands.add_parser(
        "list",
        help="list what a study can name: methods, kernels, data sets, ...",
        description="List what a study can name: methods by task, the others with their parameters. Solvers are those "
        "of semidefinite problems; studies are those that come with mklearn.",
    )
    listing.add_argument("what", choices=KINDS)
    listing.add_argument("name", nargs="?", metavar="NAME", help="show only this one")
    listing.set_defaults(run=_list)


def _list(options: argparse.Namespace) -> None:
    what, name, columns = options.what, options.name, shutil.get_terminal_size().columns
    if what in ("solvers", "studies"):
        if name is not None:
            raise ConfigError(f"list {what} takes no name.")
        print("\n".join(_solvers() if what == "solvers" else _studies()))
    elif what == "metrics":
        from mklearn.study.evaluation.metrics.metric import METRICS, described, metric_named

        names = list(METRICS) if name is None else [name]
        print("\n\n".join(wrapped(described(metric_named(each)), columns) for each in names))
    else:
        from mklearn.study.listings import describe_all, describe_one, list_methods

        if name is not None:
            print(wrapped(describe_one(what, name), columns))
        else:
            print(list_methods(columns) if what == "methods" else describe_all(what))


def wrapped(text: str, columns: int) -> str:
    """Wrap each line at its own indent, parameters with a hanging one; words that are too long stay whole."""
    lines = []
    for line in text.splitlines():
        indent = " " * (len(line) - len(line.lstrip()))
        hanging = indent * 2 if len(indent) > 2 else indent
        lines += textwrap.wrap(
            line.strip(), max(columns, 40), initial_indent=indent, subsequent_indent=hanging,
            break_long_words=False, break_on_hyphens=False,
        )  # fmt: skip
    return "\n".join(lines)


def _solvers() -> list[str]:
    from mklearn.optimize.solvers import SDP_SOLVERS, available_solvers, solver_problem

    lines = [f"{name}: {solver_problem(name) or 'can run'}" for name in SDP_SOLVERS]
    return [*lines, f"solver: auto is {next(iter(available_solvers()), 'none of them')}"]


def _studies() -> list[str]:
    from mklearn.study.engine.workflow_files import studies

    return [f"{name}: {path}" for name, path in studies().items()]
