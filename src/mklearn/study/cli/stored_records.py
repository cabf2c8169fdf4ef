"""The command that prints where a file of a run came from."""

from __future__ import annotations

import argparse
from pathlib import Path

from mklearn.errors import DataError, absence, printable


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``show``."""
    show = commands.add_parser(
        "show",
        help="print where a file came from: specification, inputs, log",
        description="Print the record that a file in results/ carries. Where logs/ has the log of its job, print its "
        "path and its first line: the command that replays the job.",
    )
    show.add_argument("file", metavar="FILE", help="a file in results/")
    show.set_defaults(run=_show)


def _show(options: argparse.Namespace) -> None:
    from mklearn.study.artefacts import read_record
    from mklearn.study.jobs import log_of
    from mklearn.study.yaml_file import yaml_text

    path = Path(options.file)
    if not path.is_file():
        raise DataError(f"{path}: {absence(path)}")
    lines = [yaml_text(read_record(path)).rstrip()] if path.suffix in (".npz", ".parquet", ".json") else []
    log = log_of(path)
    if log is not None and log.is_file():
        with log.open(encoding="utf-8", errors="replace") as stream:
            lines += [f"log: {log}", f"replay: {stream.readline().rstrip()}"]
    if not lines:
        raise DataError(f"{path}: has no record and no log: mklearn did not write it, or its log was deleted")
    print(printable("\n".join(lines)))
