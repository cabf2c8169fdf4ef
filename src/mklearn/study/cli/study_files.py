"""Commands on files: check studies, print their schema, and where a file of a run came from."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from mklearn.errors import DataError, UserError, absence, printable


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``validate``, ``show`` and ``schema``."""
    validate = commands.add_parser("validate", help="check a study file, and open your own data")
    validate.add_argument("file", nargs="+", help="study file (YAML), or the name of a study of mklearn")
    validate.set_defaults(run=_validate)
    schema = commands.add_parser("schema", description="Print the JSON schema of study files.")  # hidden: no `help`
    schema.set_defaults(run=_schema)

    show = commands.add_parser(
        "show",
        help="print where a file came from: specification, inputs, log",
        description="Print the record that a file in results/ carries. Where logs/ has the log of its job, print its "
        "path and its first line: the command that replays the job.",
    )
    show.add_argument("file", metavar="FILE", help="a file in results/")
    show.set_defaults(run=_show)


def _validate(options: argparse.Namespace) -> int:
    from mklearn.study.engine.data_check import check_data
    from mklearn.study.engine.workflow_files import study_file
    from mklearn.study.mistakes import listed
    from mklearn.study.plan.plan import plan_study
    from mklearn.study.reading import read_study

    failed = 0
    for file in options.file:
        try:
            plan = plan_study(read_study(study_file(file), parameters=True))
            checked = check_data(plan)
        except UserError as error:
            print(printable(f"mklearn: {error}"), file=sys.stderr)
            failed = 1
            continue
        if checked.mistakes:
            failed = 1
            print(printable(listed(f"mklearn: the data of {file} have", checked.mistakes)), file=sys.stderr)
        else:
            parts = [("data set", len(plan.datasets)), ("descriptor", len(plan.descriptors))]
            parts += [("distance", len(plan.pairwise)), ("fit", len(plan.fits))]
            counts = ", ".join(f"{number} {name}{'' if number == 1 else 's'}" for name, number in parts)
            print(f"{file}: study {plan.study.study!r} is valid: {counts}.")
        print(printable("".join(f"{line}\n" for line in checked.counts)), end="")
        print(printable("".join(f"note: {note}\n" for note in checked.notes)), end="")
    return failed


def _schema(options: argparse.Namespace) -> None:
    from mklearn.study.schema import study_schema

    print(study_schema(), end="")


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
