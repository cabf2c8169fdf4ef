"""Commands on study files: check them, and print their schema."""

from __future__ import annotations

import argparse
import sys

from mklearn.errors import UserError, printable


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``validate`` and ``schema``."""
    validate = commands.add_parser("validate", help="check a study file, and open your own data")
    validate.add_argument("file", nargs="+", help="study file (YAML), or the name of a study of mklearn")
    validate.set_defaults(run=_validate)
    schema = commands.add_parser("schema", description="Print the JSON schema of study files.")  # hidden: no `help`
    schema.set_defaults(run=_schema)


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
