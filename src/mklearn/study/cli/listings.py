"""Commands that list what a study can name, and the solvers that can run here."""

from __future__ import annotations

import argparse
import shutil
import textwrap


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``datasets``, ``descriptors``, ``kernels``, ``methods``, ``metrics``, ``protocols`` and ``solvers``."""
    for name, help_text in (
        ("datasets", "list the registered data sets, or show one"),
        ("descriptors", "list the descriptors with their parameters, or show one"),
        ("kernels", "list the kernels with their parameters, or show one"),
        ("methods", "list the methods by task, or show one with its parameters and its paper"),
        ("metrics", "list the metrics, or show one"),
        ("protocols", "list the protocols with their parameters, or show one"),
    ):
        listing = commands.add_parser(name, help=help_text)
        listing.add_argument("name", nargs="?", metavar="NAME", help="only this one")
        listing.set_defaults(run=_list, what=name)
    solvers = commands.add_parser("solvers", help="say which solvers of semidefinite problems can run here")
    solvers.set_defaults(run=_solvers)


def _list(options: argparse.Namespace) -> None:
    from mklearn.study.config.method_groups import list_methods
    from mklearn.study.config.registry import describe_all, describe_one

    columns = shutil.get_terminal_size().columns
    if options.what == "metrics":
        from mklearn.study.evaluation.metrics.metric import described, metric_named, metric_names

        named = [options.name] if options.name is not None else metric_names()
        print("\n\n".join(wrapped(described(metric_named(name)), columns) for name in named))
        return
    if options.name is not None:
        print(wrapped(describe_one(options.what, options.name), columns))
    else:
        print(list_methods(columns) if options.what == "methods" else describe_all(options.what))


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


def _solvers(options: argparse.Namespace) -> None:
    from mklearn.optimize.solvers import SDP_SOLVERS, available_solvers, solver_problem

    for name in SDP_SOLVERS:
        print(f"{name}: {solver_problem(name) or 'can run'}")
    print(f"solver: auto is {next(iter(available_solvers()), 'none of them')}")
