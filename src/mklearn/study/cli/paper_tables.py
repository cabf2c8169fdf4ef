"""The command that prints the result table of a study for a paper."""

from __future__ import annotations

import argparse
from pathlib import Path

from mklearn.extras import require
from mklearn.study.cli.comparisons import STUDY_HELP, study_tables


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``table``."""
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
        help="of each setting: score (default), difference, p (after Holm's correction), time, interval, rule, "
        "dimension, oracle, oracle_dimension, splits, seconds, status, and published of a paper's study",
    )  # fmt: skip
    table.add_argument("--caption", default="", metavar="TEXT", help="default: what the numbers and the marks are")
    table.add_argument("--label", metavar="TEXT", help="of the LaTeX table (default: tab:STUDY)")
    table.add_argument("--output", metavar="FILE", help="write the table to a file")
    table.set_defaults(run=_table)


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
