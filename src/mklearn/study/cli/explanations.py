"""The command that explains a file."""

from __future__ import annotations

import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``explain``."""
    explain = commands.add_parser(
        "explain",
        help="say where a file came from, and why a run would or would not make it again",
        description="Run it in the folder of the runs. FILE may be missing: then it says how it would be made.",
    )
    explain.add_argument("file", metavar="FILE", help="a file in results/ (or a log in logs/)")
    explain.add_argument("--study", metavar="STUDY", help="the study to ask about (default: that of the run)")
    explain.set_defaults(run=_explain)


def _explain(options: argparse.Namespace) -> None:
    from mklearn.study.engine.explain import explain

    print(explain(options.file, options.study), end="")
