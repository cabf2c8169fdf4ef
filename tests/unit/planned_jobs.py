"""Jobs of a study as Snakemake plans them by the rules of the workflow, and their scripts run in this process."""

import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import yaml
from snakemake.api import SnakemakeApi
from snakemake.settings.types import ConfigSettings, OutputSettings, Quietness, ResourceSettings

from mklearn.study.engine.workflow_files import load_script, workflow_file
from mklearn.study.script import call


@dataclass
class PlannedJob:
    """A job: files by their names in the rule, and its specification."""

    rule: str
    wildcards: dict[str, str]
    inputs: dict[str, Any]
    outputs: dict[str, str]
    spec: dict[str, Any]
    log: str
    script: str

    def run(self) -> None:
        """Run the script in the present folder, as Snakemake does: former outputs are removed."""
        for path in self.outputs.values():
            Path(path).unlink(missing_ok=True)
        call(load_script(self.script), **self.inputs, **self.outputs, spec=self.spec)

    @property
    def files(self) -> list[str]:
        """All input files."""
        return [path for files in self.inputs.values() for path in ([files] if isinstance(files, str) else files)]


def planned_jobs(study: Mapping[str, Any]) -> list[PlannedJob]:
    """Return all jobs of a study in the present folder, in an order in which they can run."""
    Path("planned.yaml").write_text(yaml.safe_dump(dict(study), sort_keys=False), encoding="utf-8")
    config = ConfigSettings(configfiles=[Path("planned.yaml")])
    with SnakemakeApi(OutputSettings(quiet={Quietness.ALL})) as api:
        workflow = api.workflow(
            resource_settings=ResourceSettings(cores=1), config_settings=config, snakefile=workflow_file("Snakefile"),
            workdir=Path(),
        )  # fmt: skip
        workflow.dag()
        internal = workflow._workflow
        internal._prepare_dag(forceall=True, ignore_incomplete=True, lock_warn_only=True)
        internal._build_dag()
        levels = list(internal.dag.toposorted())
        ordered = [job for level in levels for job in sorted(level, key=lambda job: str(job.output))]
        jobs = [_planned(job) for job in ordered if job.rule.name != "all"]
    Path("planned.yaml").unlink()
    shutil.rmtree(".snakemake", ignore_errors=True)
    return jobs


def _planned(job: Any) -> PlannedJob:
    inputs = {name: str(files) if isinstance(files, str) else [*map(str, files)] for name, files in job.input.items()}
    return PlannedJob(
        job.rule.name,
        dict(job.wildcards.items()),
        {name: files for name, files in inputs.items() if files},
        {name: str(path) for name, path in job.output.items()},
        job.params.spec,
        str(job.log[0]),
        Path(job.rule.script).stem,
    )
