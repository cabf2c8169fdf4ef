"""The jobs of a study, as the rules in workflow/rules ask for them: input files, specification and code.

Input functions and helpers take Snakemake's wildcards. Everything here is cheap and changes nothing: it runs again in
every job of a cluster run.
"""

from __future__ import annotations

import functools
import os
import re
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from mklearn.errors import ConfigError
from mklearn.study.plan.datasets import PlannedDataset
from mklearn.study.plan.final import PlannedFinal
from mklearn.study.plan.fits import PlannedFit
from mklearn.study.plan.plan import Plan
from mklearn.study.plan.tables import evaluate_spec, report_spec, run_spec, summary_spec
from mklearn.study.provenance import SCRIPTS, code_fingerprint, digest, file_digest
from mklearn.study.specs.data_specs import DOWNLOADS, DownloadSpec, SplitSpec

OUTPUTS: dict[str, dict[str, str]] = {
    "download": {"target": DOWNLOADS},
    "read": {"samples": "cache/data/{dataset}.npz", "labels": "cache/data/{dataset}.labels.parquet"},
    "resize": {"resized": "cache/resized/{dataset}.npz"},
    "split": {"splits": "cache/splits/{dataset}/{protocol}.parquet"},
    "learn": {"learned": "cache/descriptors/{dataset}/{descriptor}.learned.npz"},
    "describe_part": {"features": "cache/descriptors/{dataset}/{descriptor}/{part}.npz"},
    "describe": {"features": "cache/descriptors/{dataset}/{descriptor}.npz"},
    "distances": {"matrix": "cache/distances/{dataset}/{descriptor}/{measure}.npz"},
    "landmarks": {"landmarks": "cache/landmarks/{dataset}/{protocol}/{landmark_set}.npz"},
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
NOT_BY_CODE = ("download",)
"""Rules whose jobs an edit of the code behind them does not run again."""
BLOCKS_OF_ONE = ["1of1"]


class Jobs:
    """The jobs of a planned study; ``source`` is its study file, ``scripts`` the folder of the rules' scripts."""

    def __init__(self, plan: Plan, source: str = "config.yaml", scripts: Path = SCRIPTS) -> None:
        self.plan, self.source, self.scripts = plan, source, scripts
        self.results, self.study = plan.study.results, plan.study.study

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
        names = [name for name in re.findall(r"{(\w+)}", next(iter(OUTPUTS[rule].values()))) if name != "study"]
        return [dict(zip(names, key, strict=True)) for key in dict.fromkeys(self._keys(rule))]

    def _keys(self, rule: str) -> Iterable[tuple[str, ...]]:
        plan = self.plan
        match rule:
            case "download":
                return self._downloads
            case "read":
                return [(dataset.original,) for dataset in plan.datasets.values()]
            case "resize":
                return [(dataset.key,) for dataset in plan.datasets.values() if dataset.resize]
            case "split":
                return [(dataset, protocol) for dataset, protocol, _ in plan.fits]
            case "learn":
                return [key for key, planned in plan.descriptors.items() if planned.spec.learns]
            case "describe_part":
                return [(*key, part) for key, planned in plan.descriptors.items() for part in parts(planned.n_parts)]
            case "describe":
                return [key for key in plan.descriptors if key in self._read_whole()]
            case "distances":
                return plan.pairwise
            case "landmarks":
                return plan.landmark_sets
            case "moments":
                return [(*key, part) for key in plan.landmark_sets for part in blocks(plan.datasets[key[0]])]
            case "fit":
                return plan.fits
            case "model":
                return [] if plan.final is None else [()]
        return [()]

    def _read_whole(self) -> set[tuple[str, str]]:
        plan, final = self.plan, self.plan.final
        whole = {(dataset, name) for dataset, name, _ in plan.pairwise}
        for (dataset, *_), fit in plan.fits.items():
            if fit.landmark_set is None or plan.datasets[dataset].n_blocks == 1:
                whole |= {(dataset, name) for name in fit.spec.descriptors}
        return whole | ({(final.dataset.key, view.descriptor) for view in final.spec.views} if final else set())

    def everything(self, wildcards: object = None) -> list[str]:
        """Return the tables, the page and the model, and all that they are made from but downloads.

        A job that fails or is killed leaves its output deleted, and Snakemake makes a missing file only if it is a
        target or its readers must run. Were the tables the only targets, the next run would find them up to date.
        """
        made = [(rule, output) for rule in OUTPUTS if rule != "download" for output in OUTPUTS[rule]]
        return [path for rule, output in made for path in self.all_of(rule, output)]

    def wildcard_constraints(self) -> dict[str, str]:
        """Return a regular expression by wildcard that matches this study's values of it and nothing else."""
        values: dict[str, set[str]] = {
            name: set()
            for outputs in OUTPUTS.values()
            for pattern in outputs.values()
            for name in re.findall(r"{(\w+)}", pattern)
            if name != "study"
        }
        for rule in OUTPUTS:
            for key in self.keys(rule):
                for name, value in key.items():
                    values[name].add(value)
        return {name: "|".join(map(re.escape, sorted(every))) or "none" for name, every in values.items()}

    # --- what a rule asks for

    def params(self, rule: str) -> dict[str, Callable[[Any], Any]]:
        """Return the specification of a rule's jobs, and the fingerprint of the code behind them.

        Forty input files for each job would slow large plans.
        """
        params: dict[str, Callable[[Any], Any]] = {"spec": functools.partial(self.specification, rule)}
        return params if rule in NOT_BY_CODE else params | {"code": self.code(rule)}

    def code(self, rule: str) -> Callable[[Any], str]:
        """Return the fingerprint of the code of a rule's jobs; of a rule that is not mklearn's, of its script."""

        def code(wildcards: Any) -> str:
            spec = self.specification(rule, wildcards) if rule in OUTPUTS else {}
            return code_fingerprint(rule, spec, self.scripts)

        return code

    def specification(self, rule: str, wildcards: Any) -> dict[str, Any]:
        """Return the specification of a job: arguments of its script's function beside paths, in builtin types."""
        plan, w = self.plan, wildcards
        match rule:
            case "download":
                return self._downloads[w.source, w.file].as_dict()
            case "read":
                return self._read(w)
            case "resize":
                resize = self.dataset(w).resize
                return {} if resize is None else resize.as_dict()
            case "split":
                return self.split_spec(w).as_dict()
            case "learn":
                spec = plan.descriptors[w.dataset, w.descriptor].spec
                return spec.model_dump(include={"learns", "learns_from", "seed", "parameters"})
            case "describe" | "describe_part":
                spec = plan.descriptors[w.dataset, w.descriptor].spec
                part = {"part": w.part} if rule == "describe_part" else {}
                return spec.model_dump(exclude={"learns", "learns_from", "seed", "part"}, exclude_unset=True) | part
            case "distances":
                return plan.pairwise[w.dataset, w.descriptor, w.measure].spec.as_dict()
            case "landmarks":
                return self.landmark_set(w).as_dict()
            case "moments":
                return self.landmark_set(w).model_copy(update={"part": w.part}).as_dict()
            case "fit":
                return self.fit(w).spec.as_dict()
            case "evaluate":
                return evaluate_spec(plan).as_dict()
            case "tables":
                return {"compared": summary_spec(plan).as_dict(), "study": run_spec(plan, self.source).as_dict()}
            case "model":
                return self.final.spec.as_dict()
            case "page":
                return report_spec(plan).as_dict()
        raise ConfigError(f"mklearn has no rule {rule!r}: name its params, and code=jobs.code({rule!r})")

    # --- data sets

    def dataset(self, wildcards: Any) -> PlannedDataset:
        """Return a data set by its key before or after resizing."""
        datasets, key = self.plan.datasets, wildcards.dataset
        return datasets.get(key) or next(each for each in datasets.values() if each.original == key)

    @functools.cached_property
    def _downloads(self) -> dict[tuple[str, str], DownloadSpec]:
        """The specification of each file by its folder and name."""
        every = {path: spec for dataset in self.plan.datasets.values() for path, spec in dataset.downloads.items()}
        return {(Path(path).parent.name, Path(path).name): spec for path, spec in every.items()}

    def dataset_files(self, wildcards: Any) -> list[str]:
        """Return the files that a data set is read from."""
        return self.dataset(wildcards).files

    def samples_as_read(self, wildcards: Any) -> str:
        """Return a data set before resizing."""
        return self.path("read", dataset=self.dataset(wildcards).original)

    def samples(self, wildcards: Any) -> str:
        """Return a data set at its final size."""
        return self._samples(self.dataset(wildcards))

    def all_samples(self, wildcards: Any = None) -> list[str]:
        """Return all data sets at their final size."""
        return list(map(self._samples, self.plan.datasets.values()))

    def _samples(self, dataset: PlannedDataset) -> str:
        return self.path("resize" if dataset.resize else "read", dataset=dataset.key)

    def labels(self, wildcards: Any) -> str:
        """Return the labels of a data set."""
        return self.path("read", "labels", dataset=self.dataset(wildcards).original)

    def _read(self, wildcards: Any) -> dict[str, Any]:
        dataset = self.dataset(wildcards)
        if dataset.downloads or not dataset.files:
            return dataset.read.as_dict()
        return dataset.read.as_dict() | {"listing": digest([content_digest(path) for path in dataset.files])}

    def split_spec(self, wildcards: Any) -> SplitSpec:
        """Return how a data set is split; with the content of the user's file, if the protocol has one."""
        spec, dataset = self.plan.protocols[wildcards.protocol], self.dataset(wildcards)
        update: dict[str, Any] = {"dataset": dataset.splits_of}
        if spec.kind == "released":
            update["source"] = dataset.released_splits
        if path := spec.parameters.get("path"):
            update["file_sha256"] = content_digest(path)
        return spec.model_copy(update=update)

    def split_files(self, wildcards: Any) -> list[str]:
        """Return the files that a protocol reads: the user's, or those that come with the data set."""
        protocol, dataset = self.plan.protocols[wildcards.protocol], self.dataset(wildcards)
        if path := protocol.parameters.get("path"):
            return [path]
        if protocol.kind == "released":
            return dataset.files
        return dataset.protocol_files.get(protocol.kind, [])

    def reference_labels(self, wildcards: Any) -> list[str]:
        """Return the labels of the data set whose splits this one has by ``splits_of``, if it is another one."""
        source = self.dataset(wildcards).splits_from
        references = [dataset for dataset in self.plan.datasets.values() if dataset.id == source]
        return [self.path("read", "labels", dataset=dataset.original) for dataset in references]

    # --- descriptors

    def samples_to_describe(self, wildcards: Any) -> list[str]:
        """Return the samples of a descriptor; none where it is put together from parts."""
        return [] if self.feature_parts(wildcards) else [self.samples(wildcards)]

    def learned(self, wildcards: Any) -> list[str]:
        """Return what a descriptor has learned from the images; nothing of most."""
        key = {"dataset": wildcards.dataset, "descriptor": wildcards.descriptor}
        return [self.path("learn", **key)] if self.plan.descriptors[tuple(key.values())].spec.learns else []

    def feature_parts(self, wildcards: Any) -> list[str]:
        """Return the parts of a descriptor's features; none where one job describes all samples."""
        key = {"dataset": wildcards.dataset, "descriptor": wildcards.descriptor}
        n_parts = self.plan.descriptors[tuple(key.values())].n_parts
        return [self.path("describe_part", **key, part=part) for part in parts(n_parts)]

    def features(self, dataset: str, descriptors: Iterable[str]) -> list[str]:
        """Return the features of descriptors."""
        return [self.path("describe", dataset=dataset, descriptor=name) for name in descriptors]

    def all_features(self, wildcards: Any = None) -> list[str]:
        """Return the features of all descriptors that one file holds."""
        return self.all_of("describe")

    def _blocks_of_features(self, dataset: str, descriptors: Iterable[str], blocks: Iterable[str]) -> list[str]:
        """Return the features of blocks of samples, descriptor by descriptor: the parts that its jobs have made."""
        every = [({"dataset": dataset, "descriptor": name}, part) for name in descriptors for part in blocks]
        return [
            self.path("describe", **key) if part in BLOCKS_OF_ONE else self.path("describe_part", **key, part=part)
            for key, part in every
        ]

    def compared(self, wildcards: Any) -> str:
        """Return what distances are computed from: the features of a descriptor, or the user's own matrices."""
        if self.plan.pairwise[wildcards.dataset, wildcards.descriptor, wildcards.measure].spec.array:
            return self.samples(wildcards)
        return self.path("describe", dataset=wildcards.dataset, descriptor=wildcards.descriptor)

    # --- landmarks

    def landmark_set(self, wildcards: Any) -> Any:
        """Return the kernels and landmarks that methods share."""
        return self.plan.landmark_sets[wildcards.dataset, wildcards.protocol, wildcards.landmark_set]

    def landmark_features(self, wildcards: Any) -> list[str]:
        """Return the features of all blocks of samples that landmarks are chosen from."""
        descriptors = self.landmark_set(wildcards).descriptors
        return self._blocks_of_features(wildcards.dataset, descriptors, blocks(self.dataset(wildcards)))

    def block_features(self, wildcards: Any) -> list[str]:
        """Return the features of one block of samples."""
        descriptors = self.landmark_set(wildcards).descriptors
        return self._blocks_of_features(wildcards.dataset, descriptors, [wildcards.part])

    # --- fits

    def fit(self, wildcards: Any) -> PlannedFit:
        """Return a fit of the plan."""
        return self.plan.fits[wildcards.dataset, wildcards.protocol, wildcards.method]

    def fit_inputs(self, wildcards: Any) -> dict[str, Any]:
        """Return what a fit reads: labels, and what the views of its method are made from.

        ``matrices`` of distances that its kernels are made from, and as ``sources`` its images and the features of its
        descriptors, each once. Of a method with landmarks these, ``moments`` and ``blocks`` of features in their place.
        """
        w, fit = wildcards, self.fit(wildcards)
        matrices = [name.split("/") for name in fit.spec.pairwise]
        inputs = {
            "labels": self.labels(w),
            "matrices": [self.path("distances", dataset=w.dataset, descriptor=d, measure=m) for d, m in matrices],
        }
        if fit.landmark_set is not None:
            every = blocks(self.dataset(w))
            key = {"dataset": w.dataset, "protocol": w.protocol, "landmark_set": fit.landmark_set}
            inputs["landmarks"] = self.path("landmarks", **key)
            inputs["moments"] = [self.path("moments", **key, part=part) for part in every]
            inputs["blocks"] = self._blocks_of_features(w.dataset, fit.spec.descriptors, every)
        else:
            on_images = any(entry.kind == "images" for entry in fit.spec.method.inputs.values())
            images = [self.samples(w)] if on_images else []
            inputs["sources"] = [*images, *self.features(w.dataset, fit.spec.descriptors)]
        return {name: files for name, files in inputs.items() if files}

    def all_predictions(self, wildcards: Any = None) -> list[str]:
        """Return the predictions of all fits, in the order of the plan."""
        return self.all_of("fit", "predictions")

    def all_models(self, wildcards: Any = None) -> list[str]:
        """Return what the page shows of all fits: weights, objectives, embeddings."""
        return self.all_of("fit", "model")

    # --- the model and the page

    @property
    def final(self) -> PlannedFinal:
        """The model of the study; `ConfigError` if it makes none, but a job of the rule is asked for."""
        if self.plan.final is None:
            raise ConfigError("the study makes no model: add a section `final`, such as final: {method: best}")
        return self.plan.final

    def model_inputs(self, wildcards: Any) -> dict[str, Any]:
        """Return what the final model is fitted to: labels, splits, and the files of its views."""
        final = self.final
        dataset, views = final.dataset, final.spec.views
        tables = [view.column_table for view in views if view.column_table is not None]
        inputs = {
            "labels": self.path("read", "labels", dataset=dataset.original),
            "splits": self.path("split", dataset=dataset.key, protocol=final.protocol),
            "sources": self.features(dataset.key, [view.descriptor for view in views]),
            "learned": [self.path("learn", dataset=dataset.key, descriptor=v.descriptor) for v in views if v.learns],
            "images": [] if final.spec.images is None else self._samples(dataset),
            "tables": tables,  # for the names of their columns
        }
        return {name: files for name, files in inputs.items() if files}

    def importances(self, wildcards: Any = None) -> list[str]:
        """Return the importances of a study that measures them: the page waits for the model then."""
        final = self.plan.final
        return [] if final is None or not final.spec.permutations else [self.path("model", "importances")]


def parts(n: int) -> list[str]:
    """Return the names of the parts of a job that is split: ``1of3``; none of a single job."""
    return [f"{number}of{n}" for number in range(1, n + 1)] if n > 1 else []


def blocks(dataset: PlannedDataset) -> list[str]:
    """Return the names of the blocks of samples that a pass over a data set is made of."""
    return parts(dataset.n_blocks) or BLOCKS_OF_ONE


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
