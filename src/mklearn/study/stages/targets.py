"""What the Snakefile asks: the study, planned, with a rule for each stage of the workflow.

Everything here is cheap and changes nothing: it runs again in every job of a cluster run.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, NoReturn

from mklearn.errors import ConfigError, UserError
from mklearn.study.config.reading import check_study
from mklearn.study.config.yaml_file import read_yaml
from mklearn.study.plan.plan import Plan, plan_study
from mklearn.study.stages.order import STAGES
from mklearn.study.stages.stage import Job, Stage, StudyFiles


def readable(path: str) -> str:
    """Return the path of a study file that YAML can read; Snakemake's own reader ends in a traceback with others.

    Raises
    ------
    SystemExit
        The file can't be read. The reason is printed.
    """
    try:
        read_yaml(path)
    except UserError as error:
        _end(error)
    return path


def open_study(config: Mapping[str, Any], workflow: Any) -> Targets:
    """Check the study that Snakemake has read, and plan it.

    Raises
    ------
    SystemExit
        After every mistake in the study was printed, one per line.
    """
    source = ", ".join(os.path.relpath(path) for path in workflow.configfiles)
    try:
        for path in workflow.configfiles:
            read_yaml(path)  # Snakemake's own reader accepts a key twice
        return Targets(plan_study(check_study(dict(config), source=source)), source)
    except UserError as error:
        _end(error)
    except OSError as error:  # a path of the study that the system refuses
        _end(ConfigError(f"{source}: {error.filename}: {error.strerror}."))


def _end(error: UserError) -> NoReturn:
    """End the run. Snakemake would add where in our code it was raised, which is no help with a study file."""
    print(f"\nmklearn: {error}\nNothing was run.", file=sys.stderr)
    raise SystemExit(1) from None


class Targets(StudyFiles):
    """The files and jobs of a planned study; ``source`` is its study file."""

    def __init__(self, plan: Plan, source: str = "config.yaml") -> None:
        super().__init__(plan, STAGES, source)

    def everything(self, wildcards: object = None) -> list[str]:
        """Return the tables, the page and the model, and all that they are made from but downloads.

        A job that fails or is killed leaves its output deleted, and Snakemake makes a missing file only if it is a
        target or its readers must run. Were the tables the only targets, the next run would find them up to date.
        """
        paths = [path for name in ("scores", "summary", "report", "final_model") for path in self.all_of(name)]
        for job in (job for stage in STAGES if stage != "read" for job in self.jobs(stage)):
            for files in job.inputs.values():
                paths += [files] if isinstance(files, str) else files
        return list(dict.fromkeys(paths))

    def samples(self) -> list[str]:
        """Return all data sets at their final size."""
        return list(self.job("report").input("samples"))

    def wildcard_constraints(self) -> dict[str, str]:
        """Return a regular expression by wildcard that matches this study's values of it and nothing else."""
        values: dict[str, set[str]] = {name: set() for stage in STAGES.values() for name in stage.wildcards}
        for stage in STAGES:
            for job in self.jobs(stage):
                for name, value in job.wildcards.items():
                    values[name].add(value)
        return {name: "|".join(map(re.escape, sorted(found))) or "none" for name, found in values.items()}

    def rules(self) -> list[Rule]:
        """Return what the rule of each stage takes."""
        return [Rule(self, stage) for stage in STAGES.values()]


class Rule:
    """What the rule of a stage takes: patterns, and functions of wildcards as Snakemake calls them."""

    def __init__(self, study: StudyFiles, stage: Stage) -> None:
        self._study, self._stage = study, stage
        pattern = study.job(stage.name)  # wildcards that are not given stay in its paths
        self.name, self.message, self.log, self.benchmark = stage.name, stage.message, pattern.log, pattern.benchmark
        self._outputs = pattern.outputs
        self.local = stage.memory is None
        self.threads = 1 if stage.threads is None else self._of_job(stage.threads)
        self.priority = self._of_job(stage.priority) if callable(stage.priority) else stage.priority

    @property
    def inputs(self) -> dict[str, Any]:
        """An input function by name."""
        return {name: self._of_job(partial(Job.input, name=name)) for name in self._stage.inputs}

    def outputs(self, report: Callable[..., Any], **about: str) -> dict[str, Any]:
        """Return the outputs by name; `report` is Snakemake's mark of files that its own report shows."""
        return {name: report(path, **about) if self._stage.shown else path for name, path in self._outputs.items()}

    @property
    def params(self) -> dict[str, Any]:
        """The specification of a job, and the fingerprint of the code behind it."""
        found = {"spec": self._of_job(lambda job: job.spec)}
        return found | ({"code": self._of_job(lambda job: job.code)} if self._stage.follows_code else {})

    @property
    def resources(self) -> dict[str, Any]:
        """What a job asks a cluster for; nothing of local ones."""
        if self.local:
            return {}

        def memory(wildcards: Any, input: Any, attempt: int) -> int:
            return self._job(wildcards).asked_mb(input, attempt)

        def minutes(wildcards: Any, input: Any, attempt: int) -> int:
            return self._job(wildcards).asked_minutes(input, attempt)

        found = {"mem_mb": memory, "runtime": minutes}
        licences = self._stage.licences
        return found if licences is None else found | {"mosek": self._of_job(licences)}

    def _of_job(self, function: Callable[[Job], Any]) -> Callable[[Any], Any]:
        return lambda wildcards: function(self._job(wildcards))

    def _job(self, wildcards: Any) -> Job:
        return self._study.job(self.name, **dict(wildcards.items()))
