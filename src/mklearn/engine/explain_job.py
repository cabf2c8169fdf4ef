"""What Snakemake would do about one file, asked in process: the job that makes it, and whether and why it would run.

The plan is Snakemake's own, made by its API with the settings of the profile, so that an answer can't differ from what
a run would do.
"""

from __future__ import annotations

import ast
import contextlib
import io
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from mklearn.errors import ConfigError
from mklearn.provenance import step_code

Spec = dict[str, Any]


@dataclass(frozen=True)
class Record:
    """What Snakemake noted when a file was made."""

    started: float
    ended: float
    log: list[str]
    inputs: list[str]
    spec: Spec | None


@dataclass(frozen=True)
class Reasons:
    """Why Snakemake would run a job; all empty where it would not."""

    missing: list[str] = field(default_factory=list)
    newer: list[str] = field(default_factory=list)
    """Inputs, code among them, that are newer than the outputs and not known to have the same content."""
    remade: list[str] = field(default_factory=list)
    """Inputs that other jobs make again first."""
    interrupted: bool = False
    inputs_differ: bool = False
    parameters_differ: bool = False
    """The specification, or the fingerprint of the code."""
    environment_differs: bool = False
    other: str = ""


@dataclass(frozen=True)
class Job:
    """A job of the plan."""

    rule: str
    message: str
    inputs: dict[str, list[str]]
    outputs: dict[str, str]
    log: list[str]
    spec: Spec
    follows_code: bool
    """Whether an edit of the code makes it run again."""
    threads: int
    runs: bool
    reasons: Reasons
    records: dict[str, Record]
    """By output; empty for files that Snakemake did not see made."""

    @property
    def step(self) -> str:
        return {"describe_part": "describe"}.get(self.rule, self.rule)

    @property
    def code(self) -> list[str]:
        """Source files behind it."""
        return step_code(self.step, self.spec)


@dataclass(frozen=True)
class Answer:
    """The job that makes a file, if the study plans it, and the jobs that would run first."""

    source: str
    """The study file."""
    job: Job | None
    before: list[Job] = field(default_factory=list)
    record: Record | None = None
    """Of the file itself, planned or not."""


def ask_snakemake(path: str, study: str | None = None) -> Answer:
    """Plan one file, as ``snakemake --dry-run PATH`` does, in the present folder.

    Raises
    ------
    ConfigError
        No Snakefile here, a study with mistakes, or a plan that Snakemake can't make.
    """
    if not Path("Snakefile").is_file():
        raise ConfigError(f"{Path.cwd()} has no Snakefile: run this in the folder of the checkout.")
    if study is not None and not Path(study).is_file():
        raise ConfigError(f"--study: there is no file {study!r}.")
    from snakemake.exceptions import WorkflowError

    said = io.StringIO()
    try:
        with contextlib.redirect_stderr(said), contextlib.redirect_stdout(said):
            return _planned(path, study)
    except SystemExit:  # the study has mistakes, and has said which
        text = said.getvalue()
        mistakes = text[text.rfind("mklearn: ") :].removeprefix("mklearn: ").replace("\nNothing was run.", "").strip()
        raise ConfigError(mistakes or "the study can't be planned; `snakemake --dry-run` says why.") from None
    except WorkflowError as error:
        raise ConfigError(f"{path}: Snakemake can't plan it: {' '.join(str(error).split())}") from None


def _planned(path: str, study: str | None) -> Answer:
    from snakemake.api import SnakemakeApi
    from snakemake.cli import parse_args
    from snakemake.exceptions import InputFunctionException, MissingRuleException
    from snakemake.io import IOFile
    from snakemake.settings.types import (
        ConfigSettings,
        DAGSettings,
        DeploymentSettings,
        ExecutionSettings,
        OutputSettings,
        Quietness,
        ResourceSettings,
        WorkflowSettings,
    )

    _, options = parse_args(["--dry-run"])  # for the profile
    quiet = {Quietness.RULES, Quietness.PROGRESS}  # with both, a dry run ends when its plan is made
    with SnakemakeApi(OutputSettings(dryrun=True, quiet=quiet, enable_file_logging=False)) as api:
        workflow_api = api.workflow(
            resource_settings=ResourceSettings(cores=1),
            config_settings=ConfigSettings(configfiles=[Path(study)] if study else []),
            workflow_settings=WorkflowSettings(
                persistence_backend=options.persistence_backend, consider_ancient=options.consider_ancient
            ),
            deployment_settings=DeploymentSettings(deployment_method=options.software_deployment_method),
        )
        dag_api = workflow_api.dag(
            DAGSettings(
                targets={path},
                rerun_triggers=options.rerun_triggers,
                force_incomplete=options.rerun_incomplete,
                max_checksum_file_size=options.max_checksum_file_size,
            )
        )
        workflow = workflow_api._workflow
        source = ", ".join(os.path.relpath(file) for file in workflow.configfiles)
        try:
            dag_api.execute_workflow(executor="dryrun", execution_settings=ExecutionSettings(lock=False))
        except (MissingRuleException, InputFunctionException):
            # No rule, or one whose names match and whose combination the study does not have.
            return Answer(source, None, record=_record(workflow, IOFile(path)))
        jobs = {
            job: _job(workflow, job) for job in workflow.dag.jobs if path in job.output or workflow.dag.needrun(job)
        }
        found = next((view for job, view in jobs.items() if path in job.output), None)
        before = [view for view in jobs.values() if view is not found and view.runs]
        return Answer(source, found, before, None if found is None else found.records.get(path))


def _job(workflow: Any, job: Any) -> Job:
    records = {str(file): _record(workflow, file) for file in job.output}
    runs = bool(workflow.dag.needrun(job))
    return Job(
        rule=job.rule.name,
        message=job.message or "",
        inputs={name: _several(files) for name, files in job.input.items()},
        outputs={name: str(file) for name, file in job.output.items()},
        log=[str(file) for file in job.log],
        spec=dict(job.params.get("spec") or {}),
        follows_code=bool(job.params.get("code")),
        threads=job.threads,
        runs=runs,
        reasons=_reasons(workflow.dag.reason(job)) if runs else Reasons(),
        records={file: record for file, record in records.items() if record is not None},
    )


def _several(files: Any) -> list[str]:
    return [str(files)] if isinstance(files, str) else [str(file) for file in files]


def _reasons(reason: Any) -> Reasons:
    known = Reasons(
        missing=sorted(map(str, reason.missing_output)),
        newer=sorted(map(str, reason.updated_input - reason.updated_input_run)),
        remade=sorted(map(str, reason.updated_input_run)),
        interrupted=bool(reason.forced or reason.incomplete_output),
        inputs_differ=bool(reason.input_changed),
        parameters_differ=bool(reason.params_changed),
        environment_differs=bool(reason.software_stack_changed),
    )
    return known if known != Reasons() else Reasons(other=str(reason))


def _record(workflow: Any, file: Any) -> Record | None:
    found = workflow.persistence.metadata(file)
    if found is None or found.rule is None:
        return None
    specs = [spec for spec in map(_literal, found.params or []) if isinstance(spec, dict)]
    return Record(
        started=float(found.starttime or 0),
        ended=float(found.endtime or 0),
        log=list(found.log or []),
        inputs=[str(path) for path in found.input or []],
        spec=specs[0] if specs else None,
    )


def _literal(text: str) -> Any:
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError):
        return None
