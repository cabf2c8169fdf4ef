"""The jobs of a study, as the rules in workflow/rules ask for them: input files, specification and code.

Everything here is cheap and changes nothing: it runs again in every job of a cluster run.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mklearn.errors import ConfigError
from mklearn.study.plan.datasets import PlannedDataset
from mklearn.study.plan.plan import Plan
from mklearn.study.plan.tables import evaluate_spec, report_spec, tables_spec
from mklearn.study.provenance import SCRIPTS, code_fingerprint, digest, file_digest
from mklearn.study.run_record import TITLES
from mklearn.study.specs.data_specs import DOWNLOADS, SplitSpec

OUTPUTS: dict[str, dict[str, str]] = {
    "download": {"target": DOWNLOADS},
    "read": {"samples": "cache/data/{dataset}.npz", "labels": "cache/data/{dataset}.labels.parquet"},
    "resize": {"resized": "cache/resized/{dataset}.npz"},
    "split": {"splits": "cache/splits/{dataset}/{protocol}.parquet"},
    "learn": {"learned": "cache/descriptors/{dataset}/{descriptor}.learned.npz"},
    "describe_part": {"features": "cache/descriptors/{dataset}/{descriptor}/{part}.npz"},
    "describe": {"features": "cache/descriptors/{dataset}/{descriptor}.npz"},
    "distances": {"matrix": "cache/distances/{dataset}/{descriptor}/{measure}.npz"},
    "moments": {"moments": "cache/moments/{dataset}/{protocol}/{landmark_set}/{part}.npz"},
    "fit": {
        "model": "cache/fits/{dataset}/{protocol}/{method}.npz",
        "predictions": "cache/fits/{dataset}/{protocol}/{method}.predictions.npz",
    },
    "evaluate": {"scores": "{study}/scores.parquet", "predictions": "{study}/predictions.parquet"},
    "tables": {"summary": "{study}/summary.parquet", "run": "{study}/run.json"},
    "model": {"model": "{study}/model.mklearn", "card": "{study}/model.md", "importances": "{study}/importances.csv"},
    "page": {"page": "{study}/report/index.html"},
}
"""Outputs of each rule below the folder of results, in the order of the work; as the rules have them."""
Files = str | Sequence[str]


@dataclass(frozen=True)
class Job:
    """A job of a rule."""

    inputs: Mapping[str, Files]
    """Files by the names that the rule has for them."""
    spec: dict[str, Any] | Callable[[], dict[str, Any]]
    """Arguments of its script's function beside paths, in builtin types; or what computes them when they are needed."""


class Jobs:
    """The jobs of a planned study; ``source`` is its study file, ``scripts`` the folder of the rules' scripts."""

    def __init__(self, plan: Plan, source: str = "config.yaml", scripts: Path = SCRIPTS) -> None:
        self.plan, self.source, self.scripts = plan, source, scripts
        self.results, self.study = plan.study.results, plan.study.study
        self._jobs: dict[str, dict[tuple[str, ...], Job]] = {rule: {} for rule in OUTPUTS}
        for add_jobs in (self._add_data, self._add_descriptors, self._add_moments, self._add_fits, self._add_results):
            add_jobs()

    # --- what the rules ask for

    def input(self, rule: str, name: str) -> Callable[[Any], Files]:
        """Return an input function of a rule: its files of a name, none of a job that has none."""
        return lambda wildcards: self.job(rule, wildcards).inputs.get(name, [])

    def params(self, rule: str) -> dict[str, Callable[[Any], Any]]:
        """Return the specification of a rule's jobs, and the fingerprint of the code behind them.

        Forty input files for each job would slow large plans. An edit of code downloads nothing again.
        """
        params: dict[str, Callable[[Any], Any]] = {"spec": functools.partial(self.specification, rule)}
        return params if rule == "download" else params | {"code": self.code(rule)}

    def code(self, rule: str) -> Callable[[Any], str]:
        """Return the fingerprint of the code of a rule's jobs; of a rule that is not mklearn's, of its script."""

        def code(wildcards: Any) -> str:
            spec = self.specification(rule, wildcards) if rule in OUTPUTS else {}
            return code_fingerprint(rule, spec, self.scripts)

        return code

    def specification(self, rule: str, wildcards: Any = None) -> dict[str, Any]:
        """Return the specification of a job."""
        spec = self.job(rule, wildcards).spec
        return spec() if callable(spec) else spec

    def job(self, rule: str, wildcards: Any = None) -> Job:
        """Return a job by its rule and wildcards, an attribute each; raise ConfigError where the study has none."""
        if rule not in OUTPUTS:
            raise ConfigError(f"mklearn has no rule {rule!r}: name its params, and code=jobs.code({rule!r})")
        if rule == "model" and not self._jobs[rule]:
            raise ConfigError("the study makes no model: add a section `final`, such as final: {method: best}")
        key = tuple(getattr(wildcards, name) for name in wildcards_in(next(iter(OUTPUTS[rule].values()))))
        if key not in self._jobs[rule]:
            raise ConfigError(f"the study has no job of rule {rule} for {', '.join(key)}")
        return self._jobs[rule][key]

    def labels(self, wildcards: Any) -> str:
        """Return the labels of a data set, for rules of ``{dataset}``."""
        return self._labels(self.dataset(wildcards))

    def everything(self, wildcards: object = None) -> list[str]:
        """Return the tables, the page and the model, and all that they are made from but downloads.

        A job that fails or is killed leaves its output deleted, and Snakemake makes a missing file only if it is a
        target or its readers must run. Were the tables the only targets, the next run would find them up to date.
        """
        made = [(rule, output) for rule in OUTPUTS if rule != "download" for output in OUTPUTS[rule]]
        return [path for rule, output in made for path in self.all_of(rule, output)]

    # --- files and keys

    def path(self, rule: str, output: str = "", **wildcards: str) -> str:
        """Return an output of a job; by default the first one of its rule."""
        pattern = OUTPUTS[rule][output] if output else next(iter(OUTPUTS[rule].values()))
        return str(Path(self.results, pattern.format(study=self.study, **wildcards)))

    def all_of(self, rule: str, output: str = "") -> list[str]:
        """Return an output of all jobs of a rule, in the order of the plan."""
        return [self.path(rule, output, **key) for key in self.keys(rule)]

    def log(self, rule: str, **wildcards: str) -> str:
        """Return the log of a job."""
        return "/".join(["logs", rule, *(wildcards.values() or [self.study])]) + ".log"

    def keys(self, rule: str) -> list[dict[str, str]]:
        """Return the wildcards of each job of a rule, in the order of the plan."""
        names = wildcards_in(next(iter(OUTPUTS[rule].values())))
        return [dict(zip(names, key, strict=True)) for key in self._jobs[rule]]

    # --- data sets

    def dataset(self, wildcards: Any) -> PlannedDataset:
        """Return a data set by its key before or after resizing."""
        datasets, key = self.plan.datasets, wildcards.dataset
        return datasets.get(key) or next(each for each in datasets.values() if each.original == key)

    def _labels(self, dataset: PlannedDataset) -> str:
        return self.path("read", "labels", dataset=dataset.original)

    def samples(self, dataset: PlannedDataset) -> str:
        """Return a data set at its final size."""
        return self.path("resize" if dataset.resize else "read", dataset=dataset.key)

    def _add(self, rule: str, key: tuple[str, ...], spec: Any, **inputs: Files) -> None:
        self._jobs[rule].setdefault(key, Job(inputs, spec))

    def _add_data(self) -> None:
        plan = self.plan
        for dataset in plan.datasets.values():
            for path, download in dataset.downloads.items():
                self._add("download", Path(path).parts[-2:], download.as_dict)
            self._add("read", (dataset.original,), functools.partial(_read_spec, dataset), files=dataset.files)
            if dataset.resize is not None:
                as_read = self.path("read", dataset=dataset.original)
                self._add("resize", (dataset.key,), dataset.resize, samples=as_read)
        for key, name in dict.fromkeys(key[:2] for key in plan.fits):
            dataset, protocol = plan.datasets[key], plan.protocols[name]
            self._add(
                "split", (key, name), split_spec(dataset, protocol).as_dict(),
                labels=self._labels(dataset), files=split_files(dataset, protocol),
                reference=[self._labels(each) for each in plan.datasets.values() if each.id == dataset.splits_from],
            )  # fmt: skip

    # --- descriptors and distances

    def _add_descriptors(self) -> None:
        plan = self.plan
        whole = {(dataset, name) for dataset, name, _ in plan.pairwise}
        whole |= {(key[0], name) for key, fit in plan.fits.items() if not fit.moments for name in fit.spec.descriptors}
        if plan.final is not None:
            whole |= {(plan.final.dataset.key, name) for name in plan.final.descriptors}
        for key, planned in plan.descriptors.items():
            samples, (dataset, name) = self.samples(plan.datasets[key[0]]), key
            learned = [self.path("learn", dataset=dataset, descriptor=name)] if planned.learning else []
            if learned:
                self._add("learn", key, planned.learning, samples=samples)
            every = parts(planned.n_parts)
            for part in every:
                spec = planned.spec | {"part": part}
                self._add("describe_part", (*key, part), spec, samples=samples, learned=learned)
            if key in whole:
                inputs = {"samples": [] if every else samples, "learned": learned}
                self._add("describe", key, planned.spec, **inputs, parts=self._blocks(dataset, [name], every))
        for (dataset, name, measure), matrix in plan.pairwise.items():
            features = self.path("describe", dataset=dataset, descriptor=name)
            source = self.samples(plan.datasets[dataset]) if "array" in matrix else features
            self._add("distances", (dataset, name, measure), matrix, source=source)

    def _features(self, dataset: str, descriptors: Iterable[str]) -> list[str]:
        return [self.path("describe", dataset=dataset, descriptor=name) for name in descriptors]

    def _blocks(self, dataset: str, descriptors: Iterable[str], parts: Iterable[str]) -> list[str]:
        """Return the features of blocks of samples, descriptor by descriptor."""
        each = [{"descriptor": name, "part": part} for name in descriptors for part in parts]
        return [self.path("describe_part", dataset=dataset, **key) for key in each]

    # --- moments and fits

    def _add_moments(self) -> None:
        """Plan the moments of blocks; the first one chooses the landmarks among all samples, the others read them."""
        for key, spec in self.plan.moments.items():
            dataset = self.plan.datasets[key[0]]
            first, *others = every = parts(dataset.n_blocks)
            for part in every:
                self._add(
                    "moments", (*key, part), spec.model_copy(update={"part": part}).as_dict,
                    labels=self._labels(dataset),
                    features=self._blocks(dataset.key, spec.descriptors, [part] if part in others else every),
                    landmarks=self._moments(key, [first])[0] if part in others else [],
                )  # fmt: skip

    def _moments(self, key: tuple[str, str, str], parts: Iterable[str]) -> list[str]:
        wildcards = dict(zip(("dataset", "protocol", "landmark_set"), key, strict=True))
        return [self.path("moments", **wildcards, part=part) for part in parts]

    def _add_fits(self) -> None:
        """Plan fits, which read labels, and what the views of their methods are made from.

        ``matrices`` of distances that kernels are made from, and as ``sources`` images and the features of descriptors,
        each once. Methods with landmarks on blocks of samples read ``moments`` and ``blocks`` of features.
        """
        for (key, protocol, method), fit in self.plan.fits.items():
            dataset, matrices = self.plan.datasets[key], [name.split("/") for name in fit.spec.pairwise]
            views: dict[str, Files] = {}
            if fit.landmark_set is None:
                on_images = any(entry.kind == "images" for entry in fit.spec.method.inputs.values())
                views["sources"] = [self.samples(dataset)] * on_images + self._features(key, fit.spec.descriptors)
            else:
                every = parts(dataset.n_blocks)
                views["moments"] = self._moments((key, protocol, fit.landmark_set), every)
                views["blocks"] = self._blocks(key, fit.spec.descriptors, every)
            self._add(
                "fit", (key, protocol, method), fit.spec.as_dict, labels=self._labels(dataset),
                matrices=[self.path("distances", dataset=key, descriptor=d, measure=m) for d, m in matrices], **views,
            )  # fmt: skip

    # --- tables, model and page

    def _add_results(self) -> None:
        plan, final = self.plan, self.plan.final
        names = {rule: ["/".join(key) for key in self._jobs[rule]] for rule in TITLES}
        self._add("evaluate", (), functools.partial(evaluate_spec, plan), fits=self.all_of("fit", "predictions"))
        self._add("tables", (), functools.partial(tables_spec, plan, self.source, names))
        if final is not None:
            dataset, views = final.dataset, zip(final.descriptors, final.spec.inputs.views, strict=True)
            learned = [name for name, view in views if view.learns]
            self._add(
                "model", (), final.spec.as_dict, samples=self.samples(dataset),
                splits=self.path("split", dataset=dataset.key, protocol=final.protocol),
                sources=self._features(dataset.key, final.descriptors),
                learned=[self.path("learn", dataset=dataset.key, descriptor=name) for name in learned],
            )  # fmt: skip
        measured = final is not None and final.spec.permutations  # the page waits for the model then
        self._add(
            "page", (), lambda: report_spec(plan).as_dict(), models=self.all_of("fit", "model"),
            samples=[self.samples(dataset) for dataset in plan.datasets.values()],
            importances=[self.path("model", "importances")] if measured else [],
        )  # fmt: skip


def wildcards_in(pattern: str) -> list[str]:
    """Return the wildcards of the path of an output; the study is none."""
    return [name for name in re.findall(r"{(\w+)}", pattern) if name != "study"]


def split_files(dataset: PlannedDataset, protocol: SplitSpec) -> list[str]:
    """Return the files that a protocol reads: the user's, or those that come with the data set."""
    if path := protocol.parameters.get("path"):
        return [path]
    return dataset.files if protocol.kind == "released" else dataset.protocol_files.get(protocol.kind, [])


def split_spec(dataset: PlannedDataset, protocol: SplitSpec) -> SplitSpec:
    """Return how a data set is split; with the content of the user's file, if the protocol has one."""
    update: dict[str, Any] = {"dataset": dataset.splits_of}
    if protocol.kind == "released":
        update["source"] = dataset.released_splits
    if path := protocol.parameters.get("path"):
        update["file_sha256"] = content_digest(path)
    return protocol.model_copy(update=update)


def _read_spec(dataset: PlannedDataset) -> dict[str, Any]:
    if dataset.downloads or not dataset.files:
        return dataset.read
    return dataset.read | {"listing": digest([content_digest(path) for path in dataset.files])}


def parts(n: int) -> list[str]:
    """Return the names of the parts of a job that is split: ``1of3``; none of a single job."""
    return [f"{number}of{n}" for number in range(1, n + 1)] if n > 1 else []


def wildcards_of(key: Mapping[str, str]) -> SimpleNamespace:
    """Return wildcards as Snakemake has them, with an attribute for each."""
    return SimpleNamespace(**key)


def log_of(path: Path) -> Path | None:
    """Return the log of the job that made a file of the results; None of other files."""
    patterns = [(pattern, rule) for rule, outputs in OUTPUTS.items() for pattern in outputs.values()]
    longest_first = sorted(patterns, key=lambda each: -len(each[0]))  # a.predictions.npz is no model {method}.npz
    for pattern, rule in longest_first:
        values = re.search("/" + re.sub(r"\\{\w+\\}", "([^/]+)", re.escape(pattern)) + "$", f"/{path.as_posix()}")
        if values:
            return Path("/".join(["logs", rule, *values.groups()]) + ".log")
    return None


def content_digest(path: str) -> str:
    """Return the sha256 of a file's content, computed once while the file stays as it is."""
    stat = os.stat(path)
    return _content_digest(path, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


@functools.cache
def _content_digest(path: str, *_: int) -> str:
    return file_digest(path)
