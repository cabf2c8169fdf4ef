"""What a stage of the workflow is: one record, which its rule, its files and what its jobs ask for are derived from."""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from mklearn.study.plan.resources import UNKNOWN_SAMPLES, asked_mb, asked_minutes, counted_samples
from mklearn.study.provenance import code_fingerprint

if TYPE_CHECKING:  # jobs read the records too, and plan nothing
    from mklearn.contract.fit_spec import FitSpec
    from mklearn.contract.specs import Spec, SplitSpec
    from mklearn.study.plan.datasets import PlannedDataset
    from mklearn.study.plan.plan import Plan

Files = str | Sequence[str]


class Artefact(NamedTuple):
    """A file that a stage makes: its name, and its pattern below the folder of results, in Snakemake's notation."""

    name: str
    pattern: str


@dataclass(frozen=True)
class Stage:
    """A stage of the workflow.

    Parameters
    ----------
    name : str
        Also that of its rule.
    message : str
        What a job does, with wildcards in Snakemake's notation.
    jobs : callable
        From a plan to the values of the wildcards of each job, in the order in which the outputs have them.
    spec : callable
        From a job to its specification.
    inputs : dict of str to (str or callable)
        By the parameter of the step: an artefact of the job's own wildcards, or a function from a job to paths.
    outputs : dict of str to Artefact
        By the parameter of the step. All have the same wildcards.
    memory : callable, optional
        From a job and its input files to the MB that its arrays take at their peak. None: the job runs where Snakemake
        runs and asks for nothing.
    seconds : callable, optional
        From the same to an estimate of the run time. None: two seconds for each MB of input files.
    minutes : callable, optional
        From the same to the run time to ask for at the first attempt, where it does not follow from ``seconds``.
    priority : number or callable
        1 where fits wait for it.
    threads : callable, optional
        From a job to its threads, which the step takes as a parameter; by default one.
    licences : callable, optional
        From a job to the MOSEK licences that it takes.
    step : str
        Module and function of `mklearn.study.steps`, where it has not the name of the stage.
    follows_code : bool
        Whether an edit of the code behind the step makes its jobs run again.
    shown : bool
        Whether Snakemake's own report shows the outputs.
    title : str
        In the page's table of what a run cost; empty for what does not stand there.
    part_of : str
        The stage that it does a part of, for which its costs count.
    """

    name: str
    message: str
    jobs: Callable[[Plan], Iterable[tuple[str, ...]]]
    spec: Callable[[Job], Spec | FitSpec]
    inputs: Mapping[str, str | Callable[[Job], Files]]
    outputs: Mapping[str, Artefact]
    memory: Callable[[Job, Any], float] | None = None
    seconds: Callable[[Job, Any], float] | None = None
    minutes: Callable[[Job, Any], int] | None = None
    priority: float | Callable[[Job], float] = 1
    threads: Callable[[Job], int] | None = None
    licences: Callable[[Job], int] | None = None
    step: str = ""
    follows_code: bool = True
    shown: bool = False
    title: str = ""
    part_of: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "step", self.step or self.name)

    @property
    def wildcards(self) -> list[str]:
        """Names of the wildcards of its outputs, in order; not ``{study}``, which the plan gives."""
        first = next(iter(self.outputs.values()))
        return [name for name in re.findall(r"{(\w+)}", first.pattern) if name != "study"]

    @property
    def log(self) -> str:
        """Pattern of the logs of its jobs, below their folder."""
        own = [f"{{{name}}}" for name in self.wildcards]
        return "/".join([self.name, *own] if own else ["{study}", self.name]) + ".log"


@dataclass(frozen=True)
class StudyFiles:
    """The files and jobs of a study, by its plan and the stages of the workflow; ``source`` is the study file."""

    plan: Plan
    stages: Mapping[str, Stage]
    source: str = "config.yaml"

    def path(self, artefact: str, **wildcards: str) -> str:
        """Return the path of an artefact; wildcards that are not given stay in it, as a rule needs them."""
        return _filled(self._by_name[artefact][1], wildcards)

    def all_of(self, artefact: str) -> list[str]:
        """Return the paths of an artefact of all jobs, in the order of the plan."""
        return [job.path(artefact) for job in self.jobs(self._by_name[artefact][0].name)]

    def jobs(self, stage: str) -> list[Job]:
        """Return all jobs of a stage, in the order of the plan."""
        names = self.stages[stage].wildcards
        return [self.job(stage, **dict(zip(names, key, strict=True))) for key in self.stages[stage].jobs(self.plan)]

    def job(self, stage: str, **wildcards: str) -> Job:
        """Return one job of a stage."""
        return Job(self, self.stages[stage], wildcards)

    @functools.cached_property
    def _by_name(self) -> dict[str, tuple[Stage, str]]:
        """The stage that makes an artefact, and its pattern."""
        results, own = self.plan.study.results, self.plan.study.study
        return {
            name: (stage, str(Path(results, pattern.replace("{study}", own))))
            for stage in self.stages.values()
            for name, pattern in stage.outputs.values()
        }


@dataclass(frozen=True)
class Job:
    """A job of a stage in a study; its wildcards are its items: ``job["dataset"]``."""

    study: StudyFiles
    stage: Stage
    wildcards: Mapping[str, str]

    def __getitem__(self, wildcard: str) -> str:
        return self.wildcards[wildcard]

    @property
    def plan(self) -> Plan:
        """The plan of the study."""
        return self.study.plan

    @property
    def key(self) -> Any:
        """By what the plan has it: the values of its wildcards, without the part."""
        return tuple(self[name] for name in self.stage.wildcards if name != "part")

    # --- what Snakemake asks

    @property
    def inputs(self) -> dict[str, Files]:
        """Its input files, by the parameter of the step."""
        return {name: self.input(name) for name in self.stage.inputs}

    def input(self, name: str) -> Files:
        """Return the files of one input."""
        found = self.stage.inputs[name]
        return self.path(found) if isinstance(found, str) else found(self)

    @property
    def outputs(self) -> dict[str, str]:
        """Its output files, by the parameter of the step."""
        return {name: self.path(artefact.name) for name, artefact in self.stage.outputs.items()}

    @property
    def log(self) -> str:
        """Its log."""
        return _filled(f"logs/{self.stage.log}", {"study": self.plan.study.study, **self.wildcards})

    @property
    def benchmark(self) -> str:
        """Where Snakemake writes its time and memory: beside its log."""
        return self.log.removesuffix(".log") + ".tsv"

    @property
    def spec(self) -> dict[str, Any]:
        """Its specification in builtin types, a parameter of the rule."""
        return self.stage.spec(self).as_dict()

    @property
    def code(self) -> str:
        """The fingerprint of the source files behind the step, a parameter of the rule.

        Forty input files for each job would slow large plans.
        """
        return code_fingerprint(self.stage.step, self.spec)

    def asked_mb(self, files: Any, attempt: int = 1) -> int:
        """Return the memory in MB to ask for, given its input files; the first attempt is 1."""
        assert self.stage.memory is not None
        return attempt * asked_mb(self.stage.memory(self, files))

    def asked_minutes(self, files: Any, attempt: int = 1) -> int:
        """Return the run time in minutes to ask for."""
        if self.stage.minutes is not None:
            return attempt * self.stage.minutes(self, files)
        return attempt * asked_minutes(self.seconds(files))

    def seconds(self, files: Any) -> float:
        """Return an estimate of the run time: by default two seconds for each MB of its input files."""
        return float(self.stage.seconds(self, files) if self.stage.seconds else 2 * files.size_mb)

    # --- what stages have in common

    @property
    def dataset(self) -> PlannedDataset:
        """The data set, by its key before or after resizing."""
        datasets, key = self.plan.datasets, self["dataset"]
        return datasets.get(key) or next(each for each in datasets.values() if each.original == key)

    @property
    def protocol(self) -> SplitSpec:
        """The protocol."""
        return self.plan.protocols[self["protocol"]]

    def path(self, artefact: str, **wildcards: str) -> str:
        """Return the path of an artefact; wildcards that are not given are those of the job."""
        return self.study.path(artefact, **{**self.wildcards, **wildcards})

    def samples(self, dataset: PlannedDataset | None = None) -> str:
        """Return a data set at its final size; by default that of the job."""
        dataset = dataset or self.dataset
        return self.path("resized" if dataset.resize else "samples", dataset=dataset.key)

    def labels(self, dataset: PlannedDataset | None = None) -> str:
        """Return the labels of a data set; by default that of the job."""
        return self.path("labels", dataset=(dataset or self.dataset).original)

    def n_samples(self, dataset: PlannedDataset | None = None) -> int:
        """Return the planned sample count of a data set; for a user's own data the counted one after reading."""
        dataset = dataset or self.dataset
        samples = Path(self.path("samples", dataset=dataset.original))
        return dataset.n_samples or counted_samples(samples) or UNKNOWN_SAMPLES

    def features(self, descriptors: Iterable[str], dataset: str | None = None) -> list[str]:
        """Return the features of descriptors."""
        return [self.path("features", dataset=dataset or self["dataset"], descriptor=name) for name in descriptors]

    def features_of_blocks(self, descriptors: Iterable[str], blocks: Iterable[str]) -> list[str]:
        """Return the features of blocks of samples, descriptor by descriptor: the parts that its jobs have made."""
        every = [(name, part) for name in descriptors for part in blocks]
        return [
            self.path("features" if part == "1of1" else "features_part", descriptor=name, part=part)
            for name, part in every
        ]


def _filled(pattern: str, wildcards: Mapping[str, str]) -> str:
    for name, value in wildcards.items():
        pattern = pattern.replace(f"{{{name}}}", value)
    return pattern


def parts(n: int) -> list[str]:
    """Return the names of the parts of a job that is split: ``1of3``; none of a single job."""
    return [f"{number}of{n}" for number in range(1, n + 1)] if n > 1 else []


def blocks(dataset: PlannedDataset) -> list[str]:
    """Return the names of the blocks of samples that a pass over a data set is made of."""
    return parts(dataset.n_blocks) or ["1of1"]
