"""What the rules ask: the plan of the study as paths, inputs and specifications of jobs.

Everything here is cheap and changes nothing: it runs again in every job of a cluster run.
"""

from __future__ import annotations

import functools
import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, NoReturn

from mklearn.contract.fit_spec import FitSpec
from mklearn.contract.landmark_specs import EmbedSpec, LandmarkSetSpec
from mklearn.contract.specs import DescriptorSpec, PairwiseSpec, ReadSpec, ResizeSpec, Spec, SplitSpec
from mklearn.contract.table_specs import ScoresSpec
from mklearn.errors import ConfigError, UserError
from mklearn.provenance import code_fingerprint, digest, file_digest, step_code
from mklearn.study.expansion import tables
from mklearn.study.expansion.datasets import PlannedDataset
from mklearn.study.expansion.final import PlannedFinal
from mklearn.study.expansion.fits import PlannedFit
from mklearn.study.expansion.plan import Plan, plan_study
from mklearn.study.reading import check_study
from mklearn.study.yaml_file import read_yaml

Wildcards = Any
Specification = Spec | FitSpec
read_last: list[Any] = []
"""The variable ``workflow`` of the Snakefile that was read last in this process: what a dry run has planned."""


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
    read_last[:] = [workflow]
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


class Targets:
    """The plan as the rules need it, and its study file. Methods that take ``wildcards`` are input functions."""

    def __init__(self, plan: Plan, source: str = "config.yaml") -> None:
        self.plan = plan
        self.source = source
        self.path, self.log, self.benchmark = plan.layout.path, plan.layout.log, plan.layout.benchmark
        self._datasets: dict[str, PlannedDataset] = {}
        for dataset in plan.datasets.values():
            self._datasets[dataset.original] = self._datasets[dataset.key] = dataset

    def one_of(self, wildcard: str) -> str:
        """Return a regular expression that matches this study's values of a wildcard and nothing else."""
        plan = self.plan
        downloads = [Path(path) for dataset in plan.datasets.values() for path in dataset.downloads]
        values: dict[str, Iterable[str]] = {
            "dataset": self._datasets,
            "descriptor": {name for _, name, _ in plan.pairwise} | {name for _, name in plan.descriptors},
            "measure": {name for _, _, name in plan.pairwise},
            "kernel_set": {name for _, name in plan.kernel_sets},
            "protocol": plan.protocols,
            "method": {name for _, _, name in plan.fits},
            "kernel_method": {name for (*_, name), fit in plan.fits.items() if not fit.landmark_set},
            "landmark_method": {name for (*_, name), fit in plan.fits.items() if fit.landmark_set},
            "landmark_set": {name for *_, name in plan.landmark_sets},
            "source": {path.parent.name for path in downloads},
            "file": {path.name for path in downloads},
        }
        return "|".join(re.escape(value) for value in sorted(values[wildcard])) or "none"

    # --- targets

    def everything(self) -> list[str]:
        """Return the tables, the page and the model."""
        final = [] if self.plan.final is None else ["final_model"]
        return [self.path(name) for name in ("scores", "summary", "report", *final)]

    def kernels(self) -> list[str]:
        """Return the manifests of all kernel sets."""
        return [self.path("kernel_set", dataset=d, kernel_set=name) for d, name in self.plan.kernel_sets]

    def all_scores(self) -> list[str]:
        """Return the scores of all fits, in the order of the plan."""
        return [self.path("fit_scores", dataset=d, protocol=p, method=m) for d, p, m in self.plan.fits]

    def all_models(self) -> list[str]:
        """Return the files with what a report shows of the fits, in the order of the plan."""
        return [self.path("fit_model", dataset=d, protocol=p, method=m) for d, p, m in self.plan.fits]

    def all_predictions(self) -> list[str]:
        """Return the predictions of all fits, in the order of the plan."""
        return [self.path("fit_predictions", dataset=d, protocol=p, method=m) for d, p, m in self.plan.fits]

    def all_samples(self) -> list[str]:
        """Return all data sets at their final size."""
        return [self._samples(dataset) for dataset in self.plan.datasets.values()]

    # --- specifications, and the code behind each step

    def spec(self, step: str) -> Callable[[Wildcards], dict[str, Any]]:
        """Return the function of wildcards that gives a rule the specification of its step, in builtin types."""
        return lambda wildcards: self.specification(step, wildcards).as_dict()

    def code(self, step: str) -> Callable[[Wildcards], str]:
        """Return the function of wildcards that gives a rule the fingerprint of the source files behind its step.

        As a parameter it makes the job run again after an edit; forty input files for each job would slow large plans.
        """
        of_job = self.spec(step)
        return lambda wildcards: _fingerprint(tuple(step_code(step, of_job(wildcards))))

    def specification(self, step: str, wildcards: Wildcards = None) -> Specification:
        """Return the specification of a step's job."""
        return self._specifications[step](wildcards)

    @functools.cached_property
    def _specifications(self) -> dict[str, Callable[[Wildcards], Specification]]:
        downloads = {path: spec for dataset in self.plan.datasets.values() for path, spec in dataset.downloads.items()}
        return {
            "download": lambda w: downloads[self.path("download", source=w.source, file=w.file)],
            "read": self.read_spec,
            "resize": lambda w: self.dataset(w).resize or ResizeSpec(),
            "split": self.split_spec,
            "learn": self.descriptor_spec,
            "describe": self.descriptor_spec,
            "pairwise": self.pairwise_spec,
            "pairwise_block": self.pairwise_spec,
            "project": lambda w: self.plan.projections[w.dataset, w.protocol, w.descriptor],
            "kernel_set": lambda w: self.plan.kernel_sets[w.dataset, w.kernel_set],
            "landmarks": self.landmark_set_spec,
            "moments": self.landmark_set_spec,
            "moments_block": self.landmark_set_spec,
            "solve": lambda w: self.planned_fit(w).spec,
            "embed": self.embed_spec,
            "fit": lambda w: self.planned_fit(w).spec,
            "fit_embeddings": lambda w: self.planned_fit(w).spec,
            "scores": lambda _: ScoresSpec(study=self.plan.study.study),
            "summary": lambda _: tables.summary_spec(self.plan),
            "run_record": lambda _: tables.run_spec(self.plan, self.source),
            "report": lambda _: tables.report_spec(self.plan),
            "final_model": lambda _: self.final.spec,
        }

    # --- data

    def dataset(self, wildcards: Wildcards) -> PlannedDataset:
        """Return the data set, by its key before or after resizing."""
        return self._datasets[wildcards.dataset]

    def read_spec(self, wildcards: Wildcards) -> ReadSpec:
        """Return how a data set is read; with the content of the user's own files, which may be older than before."""
        dataset = self.dataset(wildcards)
        if dataset.downloads or not dataset.files:
            return dataset.read
        contents = [content_digest(path) for path in dataset.files]
        return dataset.read.model_copy(update={"listing": digest(contents)})

    def split_spec(self, wildcards: Wildcards) -> SplitSpec:
        """Return how a data set is split; with the content of the user's file, if the protocol has one."""
        spec, dataset = self.plan.protocols[wildcards.protocol], self.dataset(wildcards)
        known: dict[str, Any] = {"dataset": dataset.splits_of}
        if spec.kind == "released":
            known["source"] = dataset.released_splits
        if path := spec.parameters.get("path"):
            known["file_sha256"] = content_digest(path)
        return spec.model_copy(update=known)

    def source_files(self, wildcards: Wildcards) -> list[str]:
        """Return the files that a data set is read from."""
        return self.dataset(wildcards).files

    def original(self, wildcards: Wildcards) -> str:
        """Return the data set before resizing."""
        return self.path("samples", dataset=self.dataset(wildcards).original)

    def samples(self, wildcards: Wildcards) -> str:
        """Return the data set at its final size."""
        return self._samples(self.dataset(wildcards))

    def _samples(self, dataset: PlannedDataset) -> str:
        return self.path("resized" if dataset.resize else "samples", dataset=dataset.key)

    def labels(self, wildcards: Wildcards) -> str:
        """Return the labels of the data set."""
        return self.path("labels", dataset=self.dataset(wildcards).original)

    def split_files(self, wildcards: Wildcards) -> list[str]:
        """Return the files that the protocol reads: the user's, or the splits or lists of pairs of the data set."""
        spec = self.plan.protocols[wildcards.protocol]
        path = spec.parameters.get("path")
        if path:
            return [path]
        if spec.kind == "released":
            return self.source_files(wildcards)
        return self.dataset(wildcards).pairs if spec.kind == "verification" else []

    # --- descriptors and pairwise matrices

    def descriptor_spec(self, wildcards: Wildcards) -> DescriptorSpec:
        """Return the specification of a descriptor, or of one part of its images."""
        spec = self.plan.descriptors[wildcards.dataset, wildcards.descriptor].spec
        return spec.model_copy(update=_part(wildcards))

    def features(self, wildcards: Wildcards) -> str:
        """Return the features of a descriptor."""
        return self.path("features", dataset=wildcards.dataset, descriptor=wildcards.descriptor)

    def learned(self, wildcards: Wildcards) -> list[str]:
        """Return what the descriptor has learned from the images; nothing for most."""
        if not self.descriptor_spec(wildcards).learns:
            return []
        return [self.path("learned", dataset=wildcards.dataset, descriptor=wildcards.descriptor)]

    def descriptor_parts(self, wildcards: Wildcards) -> list[str]:
        """Return the parts of the features, if several jobs compute them."""
        w, n = wildcards, self.plan.descriptors[wildcards.dataset, wildcards.descriptor].n_parts
        return [self.path("features_part", dataset=w.dataset, descriptor=w.descriptor, part=part) for part in parts(n)]

    def described(self, wildcards: Wildcards) -> list[str]:
        """Return the images, unless the features are merged from parts."""
        return [] if self.descriptor_parts(wildcards) else [self.samples(wildcards)]

    def pairwise_spec(self, wildcards: Wildcards) -> PairwiseSpec:
        """Return the specification of a pairwise matrix, or of one block of its rows."""
        spec = self.plan.pairwise[wildcards.dataset, wildcards.descriptor, wildcards.measure].spec
        return spec.model_copy(update=_part(wildcards))

    def pairwise_source(self, wildcards: Wildcards) -> str:
        """Return the features of a descriptor, or the user's own matrices."""
        return self.samples(wildcards) if self.pairwise_spec(wildcards).matrix else self.features(wildcards)

    def pairwise_blocks(self, wildcards: Wildcards) -> list[str]:
        """Return the blocks of rows, if several jobs compute them."""
        w, n = wildcards, self.plan.pairwise[wildcards.dataset, wildcards.descriptor, wildcards.measure].n_blocks
        names = {"dataset": w.dataset, "descriptor": w.descriptor, "measure": w.measure}
        return [self.path("pairwise_block", **names, part=part) for part in parts(n)]

    def matrices(self, wildcards: Wildcards) -> list[str]:
        """Return the pairwise matrices of a kernel set."""
        return self._matrices(wildcards.dataset, wildcards.kernel_set)

    def _matrices(self, dataset: str, kernel_set: str) -> list[str]:
        names = [name.split("/") for name in self.plan.kernel_sets[dataset, kernel_set].pairwise]
        return [self.path("pairwise", dataset=dataset, descriptor=source, measure=m) for source, m in names]

    # --- fits

    def planned_fit(self, wildcards: Wildcards) -> PlannedFit:
        """Return the fit of a job."""
        return self.plan.fits[wildcards.dataset, wildcards.protocol, wildcards.method]

    def manifest(self, wildcards: Wildcards) -> list[str]:
        """Return the manifest of a method's kernel set; nothing for methods without cached matrices."""
        name = self.planned_fit(wildcards).kernel_set
        return [self.path("kernel_set", dataset=wildcards.dataset, kernel_set=name)] if name else []

    def fit_matrices(self, wildcards: Wildcards) -> list[str]:
        """Return the pairwise matrices of a method's kernel set; nothing for methods without them."""
        name = self.planned_fit(wildcards).kernel_set
        return self._matrices(wildcards.dataset, name) if name else []

    def fit_sources(self, wildcards: Wildcards) -> list[str]:
        """Return the files of each input: the images, features of its descriptors, or those its kernels scale.

        Of pairs with projections, the features are taken for inner folds only, each file once.
        """
        files = []
        spec = self.planned_fit(wildcards).spec
        if spec.pairs is not None:
            return [] if self._has_all_projections(wildcards) else self._features(wildcards.dataset, spec.descriptors)
        for entry in spec.method.inputs.values():
            if entry.kind == "images":
                files.append(self.samples(wildcards))
            files += self._features(wildcards.dataset, spec.descriptors_of(entry))
        return files

    def _features(self, dataset: str, descriptors: Iterable[str]) -> list[str]:
        return [self.path("features", dataset=dataset, descriptor=name) for name in descriptors]

    def projections(self, wildcards: Wildcards) -> list[str]:
        """Return the projections that a method on pairs takes; nothing without components."""
        dataset, protocol = wildcards.dataset, wildcards.protocol
        return [
            self.path("projections", dataset=dataset, protocol=protocol, descriptor=name)
            for name in self.planned_fit(wildcards).spec.descriptors
            if (dataset, protocol, name) in self.plan.projections
        ]

    # --- landmarks: blocks of samples are the parts of their descriptors

    def landmark_set_spec(self, wildcards: Wildcards) -> LandmarkSetSpec:
        """Return the specification of a landmark set or of one block of its moments, or of the set of a fit."""
        if not hasattr(wildcards, "landmark_set"):
            spec = self.planned_fit(wildcards).landmark_set_spec
            assert spec is not None
            return spec
        spec = self.plan.landmark_sets[wildcards.dataset, wildcards.protocol, wildcards.landmark_set]
        return spec.model_copy(update=_part(wildcards))

    def landmark_features(self, wildcards: Wildcards) -> list[str]:
        """Return the features of all samples that a landmark set reads: of each descriptor every block."""
        return self._blocks_of_features(wildcards.dataset, self.landmark_set_spec(wildcards).descriptors)

    def moments_blocks(self, wildcards: Wildcards) -> list[str]:
        """Return the moments of all blocks."""
        w = wildcards
        names = {"dataset": w.dataset, "protocol": w.protocol, "landmark_set": w.landmark_set}
        return [self.path("moments_block", **names, part=part) for part in self._blocks(w.dataset)]

    def block_of_landmark_features(self, wildcards: Wildcards) -> list[str]:
        """Return the features of one block of samples, of each descriptor of a landmark set."""
        return self._block_of_features(wildcards, self.landmark_set_spec(wildcards).descriptors)

    def block_of_fit_features(self, wildcards: Wildcards) -> list[str]:
        """Return the features of one block of samples, of each descriptor of a fit."""
        return self._block_of_features(wildcards, self.planned_fit(wildcards).spec.descriptors)

    def fit_landmarks(self, wildcards: Wildcards) -> str:
        """Return the landmarks of a fit."""
        return self._of_landmark_set("landmarks", wildcards)

    def fit_moments(self, wildcards: Wildcards) -> str:
        """Return the moments that a fit learns from."""
        return self._of_landmark_set("moments", wildcards)

    def embed_spec(self, wildcards: Wildcards) -> EmbedSpec:
        """Return the specification of the embeddings of one block."""
        spec = self.planned_fit(wildcards).spec
        code = spec.method.implementation
        return EmbedSpec(descriptors=spec.descriptors, implementation=code, part=wildcards.part)

    def embeddings(self, wildcards: Wildcards) -> list[str]:
        """Return the embeddings of all blocks by one fit."""
        w = wildcards
        names = {"dataset": w.dataset, "protocol": w.protocol, "method": w.method}
        return [self.path("embeddings", **names, part=part) for part in self._blocks(w.dataset)]

    def _of_landmark_set(self, artefact: str, wildcards: Wildcards) -> str:
        name = self.planned_fit(wildcards).landmark_set
        assert name is not None
        return self.path(artefact, dataset=wildcards.dataset, protocol=wildcards.protocol, landmark_set=name)

    def _blocks(self, dataset: str) -> list[str]:
        return parts(self._datasets[dataset].n_blocks) or ["1of1"]

    def _blocks_of_features(self, dataset: str, descriptors: Iterable[str]) -> list[str]:
        every = [(name, part) for name in descriptors for part in self._blocks(dataset)]
        return [self._part_of_features(dataset, name, part) for name, part in every]

    def _block_of_features(self, wildcards: Wildcards, descriptors: Iterable[str]) -> list[str]:
        return [self._part_of_features(wildcards.dataset, name, wildcards.part) for name in descriptors]

    def _part_of_features(self, dataset: str, descriptor: str, part: str) -> str:
        if part == "1of1":
            return self.path("features", dataset=dataset, descriptor=descriptor)
        return self.path("features_part", dataset=dataset, descriptor=descriptor, part=part)

    # --- the final model

    @property
    def final(self) -> PlannedFinal:
        """The job of the final model."""
        assert self.plan.final is not None, "the study has no section `final`"
        return self.plan.final

    def final_labels(self, wildcards: Wildcards) -> str:
        """Return the labels of the data set of the final model."""
        return self.path("labels", dataset=self.final.dataset.original)

    def final_splits(self, wildcards: Wildcards) -> str:
        """Return the splits by which the study says what is expected of the final model."""
        return self.path("splits", dataset=self.final.dataset.key, protocol=self.final.protocol)

    def final_sources(self, wildcards: Wildcards) -> list[str]:
        """Return the features of each view of the final model."""
        return self._features(self.final.dataset.key, [view.descriptor for view in self.final.spec.views])

    def final_learned(self, wildcards: Wildcards) -> list[str]:
        """Return what descriptors of the final model have learned from the images."""
        dataset, learning = self.final.dataset.key, [view for view in self.final.spec.views if view.learns]
        return [self.path("learned", dataset=dataset, descriptor=view.descriptor) for view in learning]

    def final_images(self, wildcards: Wildcards) -> list[str]:
        """Return the images of the data set of the final model; nothing of tables."""
        return [self._samples(self.final.dataset)] if self.final.spec.images is not None else []

    def final_tables(self, wildcards: Wildcards) -> list[str]:
        """Return the user's tables of the final model, for the names of their columns."""
        return [view.column_table for view in self.final.spec.views if view.column_table is not None]

    def final_label_table(self, wildcards: Wildcards) -> list[str]:
        """Return the user's file of labels of the final model; nothing where the tables hold them."""
        path = self.final.spec.label_table
        return [] if path is None else [path]

    def _has_all_projections(self, wildcards: Wildcards) -> bool:
        """Whether no inner folds choose parameters: the official lists do, of which one trains and one validates."""
        on_test = self.planned_fit(wildcards).spec.evaluation.choice == "test_set"
        return bool(self.projections(wildcards)) and (on_test or len(self.split_files(wildcards)) == 3)


def _part(wildcards: Wildcards) -> dict[str, str]:
    part = getattr(wildcards, "part", None)
    return {"part": part} if part else {}


def parts(n: int) -> list[str]:
    """Return the names of the parts of a job that is split: ``1of3``; none of a single job."""
    return [f"{number}of{n}" for number in range(1, n + 1)] if n > 1 else []


def content_digest(path: str) -> str:
    """Return the sha256 of a file's content, computed once while the file stays as it is."""
    stat = os.stat(path)
    return _content_digest(path, stat.st_ino, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns)


@functools.cache
def _content_digest(path: str, *_: int) -> str:
    return file_digest(path)


_fingerprint = functools.cache(code_fingerprint)
"""Thousands of jobs have few lists of code."""
