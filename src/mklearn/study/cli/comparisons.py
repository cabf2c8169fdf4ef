"""Commands that tabulate results: of two studies side by side, and of one for a paper."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING

from mklearn.errors import ConfigError
from mklearn.extras import require

if TYPE_CHECKING:
    from mklearn.study.report.comparison import StudyTables

STUDY_HELP = "study file, or folder of its results (such as results/digits)"


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``compare`` and ``table``."""
    compare = commands.add_parser(
        "compare",
        help="tabulate the results of two studies, or of two runs of one, side by side",
        description="Methods that both have are compared by paired differences where the splits are the same.",
    )
    for name in ("first", "second"):
        compare.add_argument(name, metavar=name.upper(), help=STUDY_HELP)
    compare.add_argument("--output", metavar="FILE", help="write the table to a file, as Markdown")
    compare.set_defaults(run=_compare)

    table = commands.add_parser(
        "table",
        help="print the result table of a study as LaTeX, Markdown or CSV",
        description="Methods in rows, data sets and training sizes in columns. The LaTeX takes the package booktabs.",
    )
    table.add_argument("study", metavar="STUDY", help=STUDY_HELP)
    table.add_argument(
        "--format", choices=("latex", "markdown", "csv"), default="markdown", help="default: %(default)s"
    )
    table.add_argument(
        "--columns", nargs="+", default=["score"], metavar="NAME",
        help="of each setting: score (default), difference, p (after Holm's correction), time, interval, "
        "dimension, oracle, oracle_dimension, splits, seconds, status, and published of a paper's study",
    )  # fmt: skip
    table.add_argument("--caption", default="", metavar="TEXT", help="default: what the numbers and the marks are")
    table.add_argument("--label", metavar="TEXT", help="of the LaTeX table (default: tab:STUDY)")
    table.add_argument("--output", metavar="FILE", help="write the table to a file")
    table.set_defaults(run=_table)


def _compare(options: argparse.Namespace) -> None:
    require("pandas", "yaml", "jinja2")
    from mklearn.atomic import write_text
    from mklearn.study.report.comparison import compare
    from mklearn.study.report.tables import markdown

    first, second = (study_tables(Path(path)) for path in (options.first, options.second))
    if Path(first.name).resolve() == Path(second.name).resolve():
        raise ConfigError(f"{first.name} and {second.name} are the same results: there is nothing to compare.")
    text = markdown(compare(first, second))
    if options.output is None:
        print(text, end="")
    else:
        write_text(options.output, text)


def study_tables(path: Path) -> StudyTables:
    """Read the results of a study file or folder, verified; raise ConfigError where there are none."""
    from mklearn.study.artefacts import read_record, read_table
    from mklearn.study.report.comparison import StudyTables

    folder, study = path, None
    if not path.is_dir():
        from mklearn.study.engine.workflow_files import study_file
        from mklearn.study.reading import read_study

        study = read_study(study_file(str(path)))
        folder = Path(study.results) / study.study
    missing = [name for name in ("run.json", "scores.parquet") if not (folder / name).is_file()]
    if missing:
        raise ConfigError(f"{folder}: there is no {missing[0]}: run the study first, or name its folder of results.")
    record = read_record(folder / "run.json")
    if study is not None and record["config"] != study.model_dump(mode="json"):
        raise ConfigError(
            f"{path}: not the study that was run at {record['utc']}: run it, or name the folder of results, {folder}."
        )
    scores, predictions = (read_table(folder / f"{name}.parquet")[0] for name in ("scores", "predictions"))
    summary, made = read_table(folder / "summary.parquet")
    return StudyTables(str(path), scores, predictions, summary, made["spec"], record["config"])


def _table(options: argparse.Namespace) -> None:
    require("pandas", "yaml", "jinja2")
    from mklearn.atomic import write_text
    from mklearn.study.report.result_tables import paper_table
    from mklearn.study.report.tables import FORMATS

    study = study_tables(Path(options.study))
    label = f"tab:{study.config['study']}" if options.label is None else options.label
    text = FORMATS[options.format](paper_table(study.results(), options.columns, options.caption), label)
    if options.output is None:
        print(text, end="")
    else:
        write_text(options.output, text)
