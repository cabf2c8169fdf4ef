"""The command that writes a study file for the user's own data."""

from __future__ import annotations

import argparse
from pathlib import Path

from mklearn.errors import ConfigError


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``init``."""
    init = commands.add_parser(
        "init",
        help="write a study file for a folder of images or of tables",
        description="Look at FOLDER, write a study file that is valid, and say what was taken for what.",
    )
    init.add_argument("folder", metavar="FOLDER", help="one sub-folder per class, or tables; or one table")
    init.add_argument("--output", metavar="FILE", help="study file (default: NAME.yaml)")
    init.add_argument("--force", action="store_true", help="replace the file")
    init.add_argument("--name", default="", help="of the study (default: that of FOLDER)")
    init.add_argument("--id", dest="id_column", default="", metavar="COLUMN", help="of ids (default: id, sample ...)")
    init.add_argument(
        "--id-prefix", type=int, metavar="N", help="how many characters of an id count (12 of TCGA barcodes: patients)"
    )
    init.add_argument(
        "--label", dest="label_column", default="", metavar="COLUMN", help="of classes (default: label, diagnosis ...)"
    )
    init.add_argument(
        "--target", default="", metavar="COLUMN", help="in place of --label: column of numbers (or classes) to predict"
    )
    init.add_argument(
        "--group", "--groups", dest="group_column", metavar="COLUMN",
        help="of groups, e.g. persons, which folds hold out as a whole (default: patient, donor ...; '' for none)"
    )  # fmt: skip
    init.add_argument(
        "--labels", default="", metavar="FILE", help="table with the labels, which holds no features; may lie elsewhere"
    )
    init.add_argument(
        "--views", nargs="+", default=(), metavar="NAME",
        help="tables of FOLDER that are views (default: all but the one that holds the labels)"
    )  # fmt: skip
    init.add_argument(
        "--measure", choices=("kernel", "distance", "squared_euclidean", "chi2"),
        help="tables are square matrices of pairs of samples, of this kind",
    )  # fmt: skip
    init.set_defaults(run=_init)


def _init(options: argparse.Namespace) -> None:
    from mklearn.atomic import write_text
    from mklearn.study.engine.new_study import Choices, new_study

    if options.id_prefix is not None and options.id_prefix < 1:
        raise ConfigError(f"--id-prefix {options.id_prefix}: expected a number of characters, 1 or more.")
    choices = Choices(**{name: getattr(options, name) for name in Choices.__dataclass_fields__})
    folder = Path(options.output or ".").parent
    study = new_study(options.folder, choices, options.name, folder)
    path = Path(options.output or f"{study.name}.yaml")
    if path.exists() and not options.force:
        raise ConfigError(f"{path}: there is such a file; --force replaces it, --output names another.")
    try:
        write_text(path, study.text)
    except OSError as error:
        raise ConfigError(f"{path}: can't be written: {error.strerror}.") from None
    print("\n".join(study.notes))
    print(f"{path} is written and valid. Run it: mklearn run {path}")
