"""The command that writes a study that was run as an archive: a Workflow Run RO-Crate.

Profiles: RO-Crate 1.1, Workflow RO-Crate 1.0 and Workflow Run Crate 0.5 (https://w3id.org/ro/wfrun/workflow/0.5).
"""

from __future__ import annotations

import argparse
from pathlib import Path

from mklearn.errors import ConfigError, DataError
from mklearn.extras import require

PROFILES = {
    "https://w3id.org/ro/wfrun/process/0.5": "Process Run Crate",
    "https://w3id.org/ro/wfrun/workflow/0.5": "Workflow Run Crate",
    "https://w3id.org/workflowhub/workflow-ro-crate/1.0": "Workflow RO-Crate",
}


def add_to(commands: argparse._SubParsersAction[argparse.ArgumentParser]) -> None:
    """Add ``export``."""
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


def _export(options: argparse.Namespace) -> None:
    require("rocrate")
    from mklearn.atomic import atomic_path
    from mklearn.study.artefacts import read_record
    from mklearn.study.engine.workflow_files import study_file
    from mklearn.study.reading import read_study

    out, source = Path(options.out), study_file(options.study)
    if out.suffix != ".zip":
        raise ConfigError(f"{out}: the archive is a zip file; end its name with .zip.")
    study = read_study(source)
    folder = Path(study.results) / study.study
    if not (folder / "run.json").is_file():
        raise DataError(f"{folder / 'run.json'} is missing: run the study first (mklearn run {source}).")
    record = read_record(folder / "run.json")
    if record["config"] != study.model_dump(mode="json"):
        raise ConfigError(f"{source} was changed since its run at {record['utc']}: run it again (mklearn run {source})")
    with atomic_path(out) as temporary:
        _write_crate(temporary, source, folder, record, options.licence)
    print(f"{out}: study {study.study}, run at {record['utc']}")


def _write_crate(out: Path, source: Path, folder: Path, record: dict[str, object], licence: str) -> None:
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
