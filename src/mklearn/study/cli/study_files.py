"""Commands on study files: check a study, list possible entries, show the provenance of a file, print the schema."""

from __future__ import annotations

import argparse
import shutil
import sys
import textwrap
from pathlib import Path

from mklearn.errors import ConfigError, DataError, UserError, absence, printable

KINDS = ("datasets", "descriptors", "kernels", "methods", "metrics", "protocols", "solvers", "studies")


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands ``validate``, ``list``, ``show`` and ``schema`` to the parser."""
    validate = commands.add_parser("validate", help="check a study file, and open your own data")
    validate.add_argument("file", nargs="+", help="study file (YAML), or the name of a study of mklearn")
    validate.set_defaults(run=_validate)
    schema = commands.add_parser("schema", description="Print the JSON schema of study files.")  # hidden: no `help`
    schema.set_defaults(run=_schema)

    listing = commands.add_parser(
        "list",
        help="list what a study can name: methods, kernels, data sets, ...",
        description="List what a study can name: methods by task, the others with their parameters. Solvers are those "
        "of semidefinite problems; studies are those that come with mklearn.",
    )
    listing.add_argument("what", choices=KINDS)
    listing.add_argument("name", nargs="?", metavar="NAME", help="show only this one")
    listing.set_defaults(run=_list)

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
            distances = {(key[0], name) for key, fit in plan.fits.items() for name in fit.spec.pairwise}
            parts = [("data set", len(plan.datasets)), ("descriptor", len(plan.descriptors))]
            parts += [("distance", len(distances)), ("fit", len(plan.fits))]
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


# --- listings


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
    """Wrap each line at its own indent, with a hanging indent for parameters; long words are not broken."""
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
