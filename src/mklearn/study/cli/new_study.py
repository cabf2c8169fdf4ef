"""The command that writes a study file for the user's own data."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from mklearn.errors import ConfigError

if TYPE_CHECKING:
    from mklearn.study.engine.found_data import FoundData
    from mklearn.study.engine.new_study import Choices

_OF_TABLES = {
    "id_column": "--id", "label_column": "--label", "target": "--target", "group_column": "--group",
    "labels": "--labels",
}  # fmt: skip
_OF_FEATURES = {"views": "--views", "missing_views": "--missing-views", "impute": "--impute",
                "id_prefix": "--id-prefix"}  # fmt: skip
_OF_MATRICES = {"measure": "--measure"}


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``init``."""
    init = commands.add_parser(
        "init",
        help="write a study file for a folder of images or of tables",
        description="Look at FOLDER and write a study file that is valid. On a terminal it asks for what it can't find "
        "out; elsewhere options say it.",
    )
    init.add_argument("folder", nargs="?", metavar="FOLDER", help="one sub-folder per class, or tables; or one table")
    init.add_argument("--output", metavar="FILE", help="study file (default: NAME.yaml)")
    init.add_argument("--force", action="store_true", help="replace the file")
    init.add_argument("--name", default="", help="of the study (default: that of FOLDER)")
    init.add_argument("--id", dest="id_column", metavar="COLUMN", help="of tables: column of ids (default: id)")
    init.add_argument(
        "--id-prefix", type=int, metavar="N", help="how many characters of an id count (12 of TCGA barcodes: patients)"
    )
    init.add_argument("--label", dest="label_column", metavar="COLUMN", help="column of classes (default: label)")
    init.add_argument(
        "--target", default="", metavar="COLUMN", help="in place of --label: column of numbers (or classes) to predict"
    )
    init.add_argument(
        "--group", "--groups", dest="group_column", metavar="COLUMN",
        help="column of groups, e.g. persons, which folds hold out as a whole ('' for none)"
    )  # fmt: skip
    init.add_argument(
        "--labels", default="", metavar="FILE", help="table with the labels, which holds no features; may lie elsewhere"
    )
    init.add_argument(
        "--views", nargs="+", default=(), metavar="NAME",
        help="tables of FOLDER that are views (default: all but the one that holds the labels)"
    )  # fmt: skip
    init.add_argument(
        "--missing-views", choices=("error", "drop", "mean"),
        help="what the study does with samples that lack a table (default: error, or mean where there are some)",
    )  # fmt: skip
    init.add_argument(
        "--impute", choices=("none", "mean", "median"),
        help="how it fills in single missing values (default: none, or median where there are some)",
    )  # fmt: skip
    init.add_argument(
        "--measure", choices=("kernel", "distance", "squared_euclidean", "chi2"),
        help="what square matrices hold (default: kernel, or distance where the diagonal is zero)",
    )  # fmt: skip
    init.set_defaults(run=_init)


def _init(options: argparse.Namespace) -> None:
    from mklearn.atomic import write_text
    from mklearn.study.engine.found_data import find_data
    from mklearn.study.engine.new_study import new_study

    folder = options.folder or _ask("Folder of images or tables, or one table", "name a folder: mklearn init FOLDER")
    if options.id_prefix is not None and options.id_prefix < 1:
        raise ConfigError(f"--id-prefix {options.id_prefix}: expected a number of characters, 1 or more.")
    found = find_data(folder, options.labels)
    _check_options(found, options)
    choices, taken = _choices(found, options)
    made = new_study(found, choices, options.name)
    path = Path(options.output or f"{made.name}.yaml")
    if path.exists() and not options.force:
        raise ConfigError(f"{path}: there is such a file; --force replaces it, --output names another.")
    try:
        write_text(path, made.text)
    except OSError as error:
        raise ConfigError(f"{path}: can't be written: {error.strerror}.") from None
    print("".join(f"{note}\n" for note in (*taken, *made.notes)), end="")
    print(f"{path} is written and valid. Run it: mklearn run {path}")


def _check_options(found: FoundData, options: argparse.Namespace) -> None:
    """Refuse options that do not apply to what was found."""
    if not found.tables:
        unsuited, what = _OF_TABLES | _OF_FEATURES | _OF_MATRICES, "images, and its sub-folders are the classes"
    elif found.matrices:
        unsuited, what = _OF_FEATURES, "square matrices, not tables of features"
    else:
        unsuited, what = _OF_MATRICES, "tables of features, and no square symmetric matrix"
    given = [flag for name, flag in unsuited.items() if getattr(options, name)]
    if given:
        raise ConfigError(f"{found.path} holds {what}: omit {', '.join(given)}.")


def _choices(found: FoundData, options: argparse.Namespace) -> tuple[Choices, list[str]]:
    """Return what is said of tables or can be told, and sentences about the latter; ask for what can't."""
    from mklearn.study.engine.new_study import Choices, likely_ids, likely_labels

    if not found.tables:
        return Choices(), []
    taken, columns = [], found.columns
    ids = options.id_column or likely_ids(found)
    if ids is None:
        ids = _ask(
            f"Column of the ids, one of {_some(columns)}", f"no column 'id': name one with --id, of {_some(columns)}"
        )
    if ids not in (options.id_column, "id"):
        taken.append(f"Ids are in column {ids!r}.")
    label, candidates = (options.label_column or "label", {}) if options.target else likely_labels(found, ids)
    label = options.label_column or label
    if label is None:
        known = _some([f"{name} ({column.n_distinct} values)" for name, column in candidates.items()] or columns)
        label = _ask(f"Column of the labels, one of {known}", f"no column 'label': name one with --label, of {known}")
    elif label not in (options.label_column, "label"):
        taken.append(f"Classes are in column {label!r}, with {candidates[label].n_distinct} values.")
    said = ("target", "group_column", "views", "missing_views", "impute", "measure", "id_prefix")
    return Choices(ids, label, **{name: getattr(options, name) for name in said}), taken


def _some(names: Sequence[str]) -> str:
    return ", ".join(names[:20]) + (", ..." if len(names) > 20 else "")


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
