"""The program ``mklearn``: its parser and exit statuses."""

from __future__ import annotations

import argparse
import errno
import os
import sys
from collections.abc import Sequence
from pathlib import Path

from mklearn import __version__
from mklearn.errors import UserError, printable
from mklearn.study.cli import new_study, predictions, results, runs, study_files

DISK_FULL = (errno.ENOSPC, errno.EDQUOT)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command; return 0 on success or 1 for a user's mistake, and exit with 2 for an invalid command line."""
    parser = _parser()
    words = list(sys.argv[1:] if arguments is None else arguments)
    if not words:
        parser.print_help(sys.stderr)
        parser.exit(2)
    end = words.index("--") if "--" in words else len(words)
    options, more = parser.parse_args(words[:end]), words[end + 1 :]
    if more and not hasattr(options, "snakemake"):
        parser.error("only commands that run Snakemake take options after `--`: run, failed")
    if more:
        options.snakemake = more
    try:
        status = options.run(options) or 0
        sys.stdout.flush()
        return status
    except UserError as error:
        print(printable(f"mklearn: {error}"), file=sys.stderr)
        return 1
    except BrokenPipeError:
        return 0
    except OSError as error:
        if error.filename is None and error.errno not in DISK_FULL:
            raise
        place = "the output" if error.filename is None else os.fsdecode(error.filename)
        print(printable(f"mklearn: {place}: {error.strerror}"), file=sys.stderr)
        return 1


def _parser() -> argparse.ArgumentParser:
    called = Path(sys.argv[0]).name
    parser = argparse.ArgumentParser(
        prog="mklearn" if called.startswith("mklearn") else "python -m mklearn",
        description="Learning from many kernels: write, check and run a study, and ask about its results.",
    )
    parser.add_argument("--version", action="version", version=f"mklearn {__version__}")
    commands = parser.add_subparsers(title="commands", required=True, metavar="COMMAND")
    for subject in (new_study, study_files, runs, predictions, results):
        subject.add_to(commands)
    return parser
