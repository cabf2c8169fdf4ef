"""Commands on the results of studies: ``compare`` two studies, print a ``table`` for a paper, ``export`` an archive.

Archives conform to the profiles RO-Crate 1.1, Workflow RO-Crate 1.0 and Workflow Run Crate 0.5
(https://w3id.org/ro/wfrun/workflow/0.5).
"""

from __future__ import annotations

import argparse
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mklearn.errors import ConfigError, DataError
from mklearn.extras import require

if TYPE_CHECKING:
    from mklearn.study.report.comparison import StudyTables

STUDY_HELP = "study file, or folder of its results (such as results/six-views)"
PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add the commands ``compare``, ``table`` and ``export`` to the parser."""
    compare = commands.add_parser(
        "compare",
        help="tabulate the results of two studies, or of two runs of one, side by side",
        description="Methods that both have are compared by paired differences where the splits are the same.",
    )
    for name in ("first", "second"):
        compare.add_argument(name, metavar=name.upper(), help=STUDY_HELP)
    compare.add_argument("--metric", metavar="NAME", help="a metric of both studies (default: the first of FIRST)")
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
    table.add_argument("--metric", metavar="NAME", help="a metric of the study (default: the first)")
    table.add_argument("--caption", default="", metavar="TEXT", help="default: what the numbers and the marks are")
    table.add_argument("--label", metavar="TEXT", help="of the LaTeX table (default: tab:STUDY)")
    table.add_argument("--output", metavar="FILE", help="write the table to a file")
    table.set_defaults(run=_table)

    export = commands.add_parser(
        "export",
        help="write a study that was run as one file for an archive",
        description="The archive is a Workflow Run RO-Crate with the study file, the workflow, the versions of "
        "packages, the record of the run and its results. The data are not in it.",
    )
    export.add_argument("study", metavar="STUDY", help="study file, or name of a study of mklearn")
    export.add_argument("out", metavar="FILE.zip", help="the archive")
    export.add_argument("--licence", metavar="URL", default="", help="licence of the archive")
    export.set_defaults(run=_export)


def _compare(options: argparse.Namespace) -> None:
    require("pandas", "yaml", "jinja2")
    from mklearn.study.report.comparison import compare
    from mklearn.study.report.tables import markdown

    first, second = (study_tables(Path(path)) for path in (options.first, options.second))
    if Path(first.name).resolve() == Path(second.name).resolve():
        raise ConfigError(f"{first.name} and {second.name} are the same results: there is nothing to compare.")
    _write(markdown(compare(first, second, options.metric)), options.output)


def _table(options: argparse.Namespace) -> None:
    require("pandas", "yaml", "jinja2")
    from mklearn.study.report.result_tables import paper_table
    from mklearn.study.report.tables import FORMATS

    study = study_tables(Path(options.study))
    label = f"tab:{study.config['study']}" if options.label is None else options.label
    table = paper_table(study.results(options.metric), options.columns, options.caption)
    _write(FORMATS[options.format](table, label), options.output)


def _write(text: str, output: str | None) -> None:
    from mklearn.atomic import write_text

    if output is None:
        print(text, end="")
    else:
        write_text(output, text)


def study_tables(path: Path) -> StudyTables:
    """Read and verify the results of a study file or folder; raise ConfigError if there are none."""
    from mklearn.atomic import read_parquet
    from mklearn.study.artefacts import read_record
    from mklearn.study.report.comparison import StudyTables

    folder, record = (path, None) if path.is_dir() else finished_run(path)
    missing = [name for name in ("run.json", "scores.parquet") if not (folder / name).is_file()]
    if missing:
        raise ConfigError(f"{folder}: there is no {missing[0]}: run the study first, or name its folder of results.")
    scores, predictions = (read_parquet(folder / f"{name}.parquet")[0] for name in ("scores", "predictions"))
    summary, made = read_parquet(folder / "summary.parquet")
    config = (record or read_record(folder / "run.json"))["config"]
    return StudyTables(str(path), scores, predictions, summary, made["spec"]["reference"], config)


def finished_run(study: Path) -> tuple[Path, dict[str, Any]]:
    """Return the results folder and run record of a study file; raise an error if they belong to another study."""
    from mklearn.study.artefacts import read_record
    from mklearn.study.engine.workflow_files import study_file
    from mklearn.study.reading import read_study

    source = study_file(str(study))
    checked = read_study(source)
    folder = Path(checked.results) / checked.study
    if not (folder / "run.json").is_file():
        raise DataError(
            f"{folder / 'run.json'} is missing: run the study first (mklearn run {shlex.quote(str(source))})."
        )
    record = read_record(folder / "run.json")
    if record["config"] != checked.model_dump(mode="json"):
        raise ConfigError(
            f"{study}: not the study that was run at {record['utc']}: run it again (mklearn run "
            f"{shlex.quote(str(source))}), or name the folder of results, {folder}"
        )
    return folder, record


def _export(options: argparse.Namespace) -> None:
    require("rocrate")
    from mklearn.atomic import atomic_path
    from mklearn.study.engine.workflow_files import study_file

    out = Path(options.out)
    if out.suffix != ".zip":
        raise ConfigError(f"{out}: the archive is a zip file; end its name with .zip.")
    folder, record = finished_run(Path(options.study))
    with atomic_path(out) as temporary:
        _write_crate(temporary, study_file(options.study), folder, record, options.licence)
    print(f"{out}: study {record['study']}, run at {record['utc']}")


def _write_crate(out: Path, source: Path, folder: Path, record: dict[str, Any], licence: str) -> None:
    from rocrate.model.contextentity import ContextEntity
    from rocrate.rocrate import ROCrate

    from mklearn.study.engine.workflow_files import workflow_file

    crate = ROCrate(version="1.1", gen_preview=True)
    properties = {"name": "mklearn", "version": str(record["commit"] or "unknown")}
    workflow = crate.add_workflow(
        workflow_file("Snakefile"), "Snakefile", main=True, lang="snakemake", properties=properties
    )
    for name in ("workflow/rules", "workflow/scripts", "requirements.lock", "envs/mklearn.yaml"):
        path = workflow_file(name)
        for file in sorted(path.glob("*.*")) if path.is_dir() else [path] * path.is_file():
            crate.add_file(file, f"{name}/{file.name}" if path.is_dir() else name)
    study = crate.add_file(source, source.name, properties={"encodingFormat": "application/yaml"})
    workflow["input"] = study["exampleOfWork"] = crate.add_formal_parameter("study", "File", valueRequired=True)
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    results = [crate.add_file(path, f"results/{path.relative_to(folder).as_posix()}") for path in files]
    times = {name: str(record[key]).replace("Z", "+00:00")
             for name, key in {"startTime": "started", "endTime": "utc"}.items() if record[key]}  # fmt: skip
    about = {"name": f"Run of study {record['study']}", "description": record["command"], **times}
    root = crate.root_dataset
    root["name"] = f"Study {record['study']}"
    root["description"] = f"Study {record['study']} of mklearn: study file, workflow, record of the run and results."
    root["license"] = licence or "None stated: ask the author"
    root["mentions"] = crate.add_action(workflow, "#run", [study], results, about)
    root["conformsTo"] = [
        crate.add(ContextEntity(crate, address, {"@type": "CreativeWork", "name": name, "version": address[-3:]}))
        for address, name in PROFILES.items()
    ]
    crate.write_zip(out)
