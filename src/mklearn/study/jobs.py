"""The jobs of a study, for the rules in workflow/rules: input files, specification and code.

All functions are cheap and have no side effects, because every job of a cluster run calls them again.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mklearn.errors import ConfigError
from mklearn.study.entries import Kernel
from mklearn.study.plan.datasets import PlannedDataset
from mklearn.study.plan.fits import PlannedFit, null_specs, view_specs
from mklearn.study.plan.kernels import pairwise_spec
from mklearn.study.plan.plan import Plan
from mklearn.study.provenance import SCRIPTS, code_fingerprint, digest, file_digest, key
from mklearn.study.run_record import TITLES
from mklearn.study.specs.data_specs import DOWNLOADS, SplitSpec
from mklearn.study.specs.fit_spec import FitSpec
from mklearn.study.specs.model import Spec

OUTPUTS: dict[str, dict[str, str]] = {
    "download": {"target": DOWNLOADS},
    "read": {"samples": "cache/data/{dataset}.npz", "labels": "cache/data/{dataset}.labels.parquet"},
    "split": {"splits": "cache/splits/{dataset}/{protocol}.parquet"},
    "learn": {"learned": "cache/descriptors/{dataset}/{descriptor}.learned.npz"},
    "describe": {"features": "cache/descriptors/{dataset}/{descriptor}/{part}.npz"},
    "distances": {"matrix": "cache/distances/{dataset}/{descriptor}/{measure}.npz"},
    "moments": {"moments": "cache/moments/{dataset}/{protocol}/{landmark_set}/{part}.npz"},
    "fit": {
        "model": "cache/fits/{dataset}/{protocol}/{method}.npz",
        "predictions": "cache/fits/{dataset}/{protocol}/{method}.predictions.npz",
    },
    "null_control": {"control": "cache/null/{dataset}/{method}.npz"},
    "view_contributions": {"contributions": "cache/views/{dataset}/{protocol}/{method}.npz"},
    "evaluate": {"scores": "{study}/scores.parquet", "predictions": "{study}/predictions.parquet"},
    "tables": {"summary": "{study}/summary.parquet", "run": "{study}/run.json"},
    "model": {
        "model": "{study}/model.mklearn",
        "card": "{study}/model.md",
        "importances": "{study}/importances.parquet",
    },
    "page": {"page": "{study}/report/index.html"},
}
"""Outputs of each rule, relative to the results folder; rules are in running order."""
WHOLE = "1of1"
"""Name of the block that has all samples."""
Files = str | Sequence[str]


@dataclass(frozen=True)
class Job:
    """Inputs and specification of one job of a rule."""

    inputs: Mapping[str, Files]
    """Input files, by their names in the rule."""
    spec: Any
    """Arguments of the script's function other than paths, as a model or a mapping; or a function that returns them."""


class Jobs:
    """The jobs of a planned study; ``source`` is the study file, ``scripts`` the folder of the rules' scripts."""

    def __init__(self, plan: Plan, source: str = "config.yaml", scripts: Path = SCRIPTS) -> None:
        self.plan, self.source, self.scripts = plan, source, scripts
        self.results, self.study = plan.study.results, plan.study.study
        self._jobs: dict[str, dict[tuple[str, ...], Job]] = {rule: {} for rule in OUTPUTS}
        for add_jobs in (self._add_data, self._add_fits, self._add_results):
            add_jobs()

    # --- used by the rules

    def input(self, rule: str, name: str) -> Callable[[Any], Files]:
        """Return an input function for one named input of a rule; it gives no files if the job lacks the input."""
        return lambda wildcards: self.job(rule, wildcards).inputs.get(name, [])

    def params(self, rule: str) -> dict[str, Callable[[Any], Any]]:
        """Return the parameters of a rule: the specification of its jobs, and the fingerprint of their code.

        Source files as inputs, forty per job, would slow large plans. Changed code triggers no new download.
        """
        params: dict[str, Callable[[Any], Any]] = {"spec": functools.partial(self.specification, rule)}
        return params if rule == "download" else params | {"code": self.code(rule)}

    def code(self, rule: str) -> Callable[[Any], str]:
        """Return the fingerprint of the code of a rule's jobs; for a rule outside mklearn, of its script only."""

        def code(wildcards: Any) -> str:
            spec = self.specification(rule, wildcards) if rule in OUTPUTS else {}
            return code_fingerprint(rule, spec, self.scripts)

        return code

    def specification(self, rule: str, wildcards: Any = None) -> dict[str, Any]:
        """Return the specification of a job."""
        spec = self.job(rule, wildcards).spec
        spec = spec() if callable(spec) else spec
        return spec.as_dict() if isinstance(spec, Spec) else spec

    def job(self, rule: str, wildcards: Any = None) -> Job:
        """Return a job by its rule and wildcards; raise ConfigError if the study has no such job."""
        if rule not in OUTPUTS:
            raise ConfigError(f"mklearn has no rule {rule!r}: name its params, and code=jobs.code({rule!r})")
        if rule == "model" and not self._jobs[rule]:
            raise ConfigError("the study makes no model: add a section `final`, such as final: {method: best}")
        key = tuple(wildcards[name] for name in wildcards_of(rule))
        if key not in self._jobs[rule]:
            raise ConfigError(f"the study has no job of rule {rule} for {', '.join(key)}")
        return self._jobs[rule][key]

    def everything(self, wildcards: object = None) -> list[str]:
        """Return the tables, the page, the model, and all intermediate files except downloads.

        Snakemake deletes the output of a failed or killed job, and makes a missing file only if it is a target or a job
        that reads it must run. If only the tables were targets, the next run would consider them up to date.
        """
        made = [(rule, output) for rule in OUTPUTS if rule != "download" for output in OUTPUTS[rule]]
        return [path for rule, output in made for path in self.all_of(rule, output)]

    # --- files and keys

    def path(self, rule: str, output: str = "", **wildcards: str) -> str:
        """Return the path of a job's output; by default the first output of its rule."""
        pattern = OUTPUTS[rule][output] if output else next(iter(OUTPUTS[rule].values()))
        return str(Path(self.results, pattern.format(study=self.study, **wildcards)))

    def all_of(self, rule: str, output: str = "") -> list[str]:
        """Return the paths of one output for all jobs of a rule, in the order of the plan."""
        return [self.path(rule, output, **key) for key in self.keys(rule)]

    def log(self, rule: str, **wildcards: str) -> str:
        """Return the path of a job's log."""
        return "/".join(["logs", rule, *(wildcards.values() or [self.study])]) + ".log"

    def keys(self, rule: str) -> list[dict[str, str]]:
        """Return the wildcards of each job of a rule, in the order of the plan."""
        return [dict(zip(wildcards_of(rule), key, strict=True)) for key in self._jobs[rule]]

    # --- jobs before the fits: each function adds a job, unless it is there already, and returns the path of its file

    def _add(self, rule: str, key: tuple[str, ...], spec: Any, **inputs: Files) -> str:
        self._jobs[rule].setdefault(key, Job(inputs, spec))
        return self.path(rule, **dict(zip(wildcards_of(rule), key, strict=True)))

    def _add_data(self) -> None:
        plan = self.plan
        for dataset in plan.datasets.values():
            for path, download in dataset.downloads.items():
                self._add("download", Path(path).parts[-2:], download)
            self._add("read", (dataset.key,), functools.partial(_read_spec, dataset), files=dataset.files)
        for wildcards in dict.fromkeys(each[:2] for each in plan.fits):
            dataset, protocol = plan.datasets[wildcards[0]], plan.protocols[wildcards[1]]
            others = [other for other, each in plan.datasets.items() if each.id == dataset.splits_from]
            self._add(
                "split", wildcards, split_spec(dataset, protocol), files=split_files(dataset, protocol),
                reference=[self.path("read", "labels", dataset=other) for other in others],
            )  # fmt: skip

    def _learned(self, dataset: str, descriptor: str) -> list[str]:
        spec = self.plan.descriptors[dataset, descriptor].learning
        return [self._add("learn", (dataset, descriptor), spec)] if spec else []

    def _features(self, dataset: str, descriptors: Iterable[str], parts: Sequence[str] = (WHOLE,)) -> list[str]:
        """Return the features of all samples, or of blocks of samples, descriptor by descriptor."""
        return [
            self._add(
                "describe", (dataset, name, part), self.plan.descriptors[dataset, name].spec | {"part": part},
                learned=self._learned(dataset, name),
            )
            for name in descriptors for part in parts
        ]  # fmt: skip

    def _matrices(self, dataset: str, fit: FitSpec) -> list[str]:
        """Return the matrices ``SOURCE/MEASURE`` of a fit, computed from a descriptor or copied from the user's."""
        paths = []
        for descriptor, measure in (name.split("/") for name in fit.pairwise):
            spec = pairwise_spec(descriptor, measure, self.plan.datasets[dataset])
            source = self.path("read", dataset=dataset) if "array" in spec else self._features(dataset, [descriptor])[0]
            paths.append(self._add("distances", (dataset, descriptor, measure), spec, source=source))
        return paths

    def _moments(self, fit: PlannedFit, blocks: Sequence[str]) -> list[str]:
        """Return the moments of the blocks. The first job chooses landmarks from all samples, the others read them."""
        spec, paths = fit.moments, list[str]()
        if spec is None:
            return []
        landmark_set = key(f"{spec.landmarks['n']}-landmarks", spec.as_dict())
        for part in blocks:
            wildcards, of_part = (*fit.key[:2], landmark_set, part), spec.model_copy(update={"part": part})
            features = self._features(fit.dataset.key, spec.descriptors, [part] if paths else blocks)
            paths.append(self._add("moments", wildcards, of_part, features=features, landmarks=paths[:1]))
        return paths

    # --- fits

    def _add_fits(self) -> None:
        """Add fits, null controls and contributions of views; inputs are the labels and the views of their methods.

        The inputs of views are distance ``matrices`` for kernels, and images and descriptor features as ``sources``,
        without duplicates. Methods with landmarks on blocks of samples read ``moments``, and features in blocks.
        """
        for fit in self.plan.fits.values():
            blocks = [WHOLE] if fit.moments is None else parts(fit.dataset.n_blocks)
            self._add_fit("fit", fit.key, fit.spec, fit.spec, blocks, moments=self._moments(fit, blocks))
        for dataset in self.plan.datasets:
            fits = [fit for (of, *_), fit in self.plan.fits.items() if of == dataset]
            for name, control in null_specs(self.plan.study, fits).items():
                self._add_fit("null_control", (dataset, name), control, control.fit)
            for names, spec in view_specs(self.plan.study, fits).items():
                self._add_fit("view_contributions", (dataset, *names), spec, spec)

    def _add_fit(
        self, rule: str, key: tuple[str, ...], spec: Spec, fit: FitSpec, blocks: Sequence[str] = (WHOLE,), **more: Files
    ) -> None:
        on_images = any(entry.kind == "images" for entry in fit.method.inputs.values())
        images = [self.path("read", dataset=key[0])] * on_images
        sources = images + self._features(key[0], fit.descriptors, blocks)
        self._add(rule, key, spec, matrices=self._matrices(key[0], fit), sources=sources, **more)

    # --- tables, model and page

    def _add_results(self) -> None:
        final = self.plan.final
        if final is not None:
            dataset = final.dataset.key
            self._add(
                "model", (), final.spec, samples=self.path("read", dataset=dataset),
                splits=self.path("split", dataset=dataset, protocol=final.protocol),
                sources=self._features(dataset, final.descriptors),
                learned=[file for name in final.descriptors for file in self._learned(dataset, name)],
            )  # fmt: skip
        self._add("evaluate", (), self._evaluate_spec, fits=self.all_of("fit", "predictions"))
        self._add("tables", (), self._tables_spec)
        measured = final is not None and final.spec.permutations  # the page then needs the model
        self._add(
            "page", (), self._page_spec, models=self.all_of("fit", "model"),
            samples=self.all_of("read"), splits=self.all_of("split"),
            importances=[self.path("model", "importances")] if measured else [], controls=self.all_of("null_control"),
            contributions=self.all_of("view_contributions"),
        )  # fmt: skip

    def _evaluate_spec(self) -> dict[str, Any]:
        order, metrics = self._names("fit"), self.plan.study.evaluation.metrics
        return {"study": self.study, "order": order, "kernels": self.plan.kernels, "metrics": metrics}

    def _tables_spec(self) -> dict[str, Any]:
        plan, study = self.plan, self.plan.study
        config = study.model_dump(mode="json")
        return {
            "reference": plan.reference,
            "titles": {
                "datasets": {dataset.id: dataset.title for dataset in plan.datasets.values()},
                "methods": {fit.spec.method.id: fit.label for fit in plan.fits.values()},
            },
            "study": {"study": self.study, "seed": study.seed, "source": self.source, "config": config},
            "jobs": {rule: self._names(rule) for rule in TITLES},
        }

    def _page_spec(self) -> dict[str, Any]:
        """Return the specification of the page, with title and papers of each method, kernel and descriptor."""
        plan = self.plan
        kinds = {kernel["id"]: kernel["kind"] for fit in plan.fits.values() for kernel in fit.spec.kernels}
        kernels = [name for name in plan.kernels if name in kinds]
        descriptors = {planned.id: planned.config.row for planned in plan.descriptors.values()}
        rows = [method.row for method in plan.study.methods.values()]
        rows += [*(Kernel.row_of(kinds[name]) for name in kernels), *descriptors.values()]
        return {
            "reference": plan.reference,
            "average": plan.study.average,
            "order": [*kernels, *descriptors],
            "sources": [[row.title, row.reference] for row in rows if row.reference],
            "final": None if plan.final is None else plan.final.spec.as_dict(),
            "rivals": [] if plan.final is None else plan.final.rivals,
        }

    def _names(self, rule: str) -> list[str]:
        return ["/".join(key) for key in self._jobs[rule]]


@functools.cache
def wildcards_of(rule: str) -> list[str]:
    """Return the wildcards of a rule's outputs, other than the study."""
    return [name for name in re.findall(r"{(\w+)}", next(iter(OUTPUTS[rule].values()))) if name != "study"]


def split_files(dataset: PlannedDataset, protocol: SplitSpec) -> list[str]:
    """Return the files that a protocol reads: the user's, or the ones supplied with the data set."""
    if path := protocol.parameters.get("path"):
        return [path]
    return dataset.files if protocol.kind == "released" else dataset.protocol_files.get(protocol.kind, [])


def split_spec(dataset: PlannedDataset, protocol: SplitSpec) -> SplitSpec:
    """Return the specification of a data set's splits, with the digest of the user's file if there is one."""
    update: dict[str, Any] = {"dataset": dataset.splits_of}
    if protocol.kind == "released":
        update["source"] = dataset.registered and dataset.registered.released_splits
    if path := protocol.parameters.get("path"):
        update["file_sha256"] = content_digest(path)
    return protocol.model_copy(update=update)


def _read_spec(dataset: PlannedDataset) -> dict[str, Any]:
    if dataset.downloads or not dataset.files:
        return dataset.read
    listed = [dataset.read["listing"]] if "listing" in dataset.read else []  # of images, which are no input files
    return dataset.read | {"listing": digest([*listed, *map(content_digest, dataset.files)])}


def parts(n: int) -> list[str]:
    """Return the names of the blocks of samples, such as ``1of3``."""
    return [f"{number}of{n}" for number in range(1, n + 1)]


def log_of(path: Path) -> Path | None:
    """Return the log of the job that made a results file; None for other files."""
    patterns = [(pattern, rule) for rule, outputs in OUTPUTS.items() for pattern in outputs.values()]
    longest_first = sorted(patterns, key=lambda each: -len(each[0]))  # a.predictions.npz must not match {method}.npz
    for pattern, rule in longest_first:
        values = re.search("/" + re.sub(r"\\{\w+\\}", "([^/]+)", re.escape(pattern)) + "$", f"/{path.as_posix()}")
        if values:
            return Path("/".join(["logs", rule, *values.groups()]) + ".log")
    return None


def content_digest(path: str) -> str:
    """Return the SHA-256 of a file's content, cached until the file changes."""
    stat = os.stat(path)
    return _content_digest(path, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


@functools.cache
def _content_digest(path: str, *_: int) -> str:
    return file_digest(path)
