"""The command that writes a study file for the user's own data."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from mklearn.errors import ConfigError


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``init``."""
    init = commands.add_parser(
        "init",
        help="write a study file for a folder of images or for tables of features",
        description="Look at FOLDER and write a study file that is valid. On a terminal it asks for what it can't find "
        "out; elsewhere options say it.",
    )
    init.add_argument("folder", nargs="?", metavar="FOLDER", help="one sub-folder per class, or tables; or one table")
    init.add_argument("--output", metavar="FILE", help="study file (default: NAME.yaml)")
    init.add_argument("--force", action="store_true", help="replace the file")
    init.add_argument("--name", default="", help="of the study (default: that of FOLDER)")
    init.add_argument("--id", dest="id_column", metavar="COLUMN", help="of tables: column of ids (default: id)")
    init.add_argument("--label", dest="label_column", metavar="COLUMN", help="column of classes (default: label)")
    init.add_argument(
        "--target", default="", metavar="COLUMN", help="in place of --label: column of numbers (or classes) to predict"
    )
    init.add_argument(
        "--group", dest="group_column", default="", metavar="COLUMN", help="column of groups, e.g. persons"
    )
    init.add_argument(
        "--missing-views", choices=("error", "drop", "mean"), default="error",
        help="what the study does with samples that lack a table (default: error)",
    )  # fmt: skip
    init.set_defaults(run=_init)


def _init(options: argparse.Namespace) -> None:
    from mklearn.atomic import write_text
    from mklearn.study.engine.new_study import find_data, new_study

    folder = options.folder or _ask("Folder of images or tables, or one table", "name a folder: mklearn init FOLDER")
    found = find_data(folder)
    every = list(dict.fromkeys(name for columns in found.columns.values() for name in columns))
    columns = {}
    for what, given in (("id", options.id_column), ("label", options.label_column)):
        if found.tables and not (what == "label" and options.target):
            columns[f"{what}_column"] = _column(what, given, every)
    made = new_study(
        found,
        name=options.name,
        group_column=options.group_column,
        missing_views=options.missing_views,
        target=options.target,
        **columns,
    )
    path = Path(options.output or f"{made.name}.yaml")
    if path.exists() and not options.force:
        raise ConfigError(f"{path}: there is such a file; --force replaces it, --output names another.")
    try:
        write_text(path, made.text)
    except OSError as error:
        raise ConfigError(f"{path}: can't be written: {error.strerror}.") from None
    print("".join(f"{note}\n" for note in made.notes), end="")
    print(f"{path} is written and valid. Run it: mklearn run {path}")


def _column(what: str, given: str | None, columns: Sequence[str]) -> str:
    """Return the column of ids or labels: the given one, the one of that name, or the user's answer."""
    if given is not None or what in columns:
        return given or what
    known = ", ".join(columns[:20]) + (", ..." if len(columns) > 20 else "")
    return _ask(f"Column of the {what}s, one of {known}", f"no column {what!r}: name one with --{what}, of {known}")


def _ask(question: str, otherwise: str) -> str:
    """Return the user's answer; where nobody can answer, raise ConfigError with a sentence."""
    if not (sys.stdin.isatty() and sys.stdout.isatty()):
        raise ConfigError(f"{otherwise}.")
    try:
        answer = input(f"{question}: ").strip()
    except EOFError:
        answer = ""
    if not answer:
        raise ConfigError(f"{otherwise}.")
    return answer
