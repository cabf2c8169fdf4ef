"""The command ``init``, which writes a study file for the user's own data."""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path

from mklearn.errors import ConfigError


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the command ``init`` to the parser."""
    init = commands.add_parser(
        "init",
        help="write a study file for a folder of images or of tables",
        description="Look at FOLDER, write a study file that is valid, and print it.",
    )
    init.add_argument("folder", metavar="FOLDER", help="images in a folder per class, a folder of tables, or one table")
    init.add_argument("--output", metavar="FILE", help="study file (default: NAME.yaml)")
    init.add_argument("--force", action="store_true", help="replace the file")
    init.add_argument("--name", default="", help="name of the study (default: name of FOLDER)")
    for flags, name, text in (
        (("--id",), "id_column", "of ids (default: id, sample ...)"),
        (("--label",), "label_column", "of classes (default: label, diagnosis ...)"),
        (("--target",), "target", "in place of --label: of numbers (or classes) to predict"),
        (("--time",), "time", "in place of --label: of times until an event, or until the end of observation"),
        (("--event",), "event", "with --time: whether the event occurred (0 or 1, or see --occurred)"),
        (("--group", "--groups"), "group_column", "of groups, held out as a whole (default: patient ...; '' for none)"),
    ):
        default = None if name == "group_column" else ""
        init.add_argument(*flags, dest=name, default=default, metavar="COLUMN", help=text)
    init.add_argument("--occurred", default="", metavar="VALUE", help="value of --event if the event occurred")
    init.add_argument("--id-prefix", type=int, metavar="N", help="use the first N characters of ids (TCGA: 12)")
    init.add_argument("--labels", default="", metavar="FILE", help="table with the labels and no features")
    init.add_argument("--views", nargs="+", default=(), metavar="NAME", help="tables of FOLDER that are views")
    init.set_defaults(run=_init)


def _init(options: argparse.Namespace) -> None:
    from mklearn.atomic import write_text
    from mklearn.study.engine.new_study import Choices, new_study

    if options.id_prefix is not None and options.id_prefix < 1:
        raise ConfigError(f"--id-prefix {options.id_prefix}: expected a number of characters, 1 or more.")
    choices = Choices(**{name: getattr(options, name) for name in Choices.__dataclass_fields__})
    study = new_study(options.folder, choices, options.name, Path(options.output or ".").parent)
    path = Path(options.output or f"{study.name}.yaml")
    if path.exists() and not options.force:
        raise ConfigError(f"{path}: the file exists; --force replaces it, --output names another.")
    write_text(path, study.text)
    print("\n".join([study.text, *study.notes]))
    print(f"{path} is written and valid. Run it: mklearn run {shlex.quote(str(path))}")
