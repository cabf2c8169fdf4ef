"""The command that verifies the files of runs."""

from __future__ import annotations

import argparse


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``verify``."""
    verify = commands.add_parser(
        "verify",
        help="compare the files in results/ with the checksums that they were written with",
        description="Not for use during a run. Damaged files are renamed to NAME.damaged, and the next run makes them "
        "again. Ends with 1 if there are any.",
    )
    verify.add_argument("study", nargs="*", metavar="STUDY", help="study files (default: config.yaml)")
    verify.set_defaults(run=_verify)


def _verify(options: argparse.Namespace) -> int:
    from mklearn.study.engine.integrity import verify

    text, damaged = verify(options.study or [None])
    print(text)
    return int(damaged > 0)
