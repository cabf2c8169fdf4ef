"""What the Snakefile asks: the plan of the study as paths, inputs and specifications of each rule.

Everything here is cheap: it runs again in every job of a cluster run.
"""

from __future__ import annotations

import functools
import os
import re
import shlex
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from mklearn.config.study import check_study, read_yaml
from mklearn.errors import UserError
from mklearn.plan import tables
from mklearn.plan.datasets import PlannedDataset
from mklearn.plan.study import Plan, plan_study
from mklearn.provenance import PACKAGE, code_fingerprint, step_code

Wildcards = Any


def open_study(config: Mapping[str, Any], workflow: Any) -> Targets:
    """Check the study, plan it, and make what a killed run has left go away: its locks, and its jobs in SLURM.

    Raises
    ------
    SystemExit
        After every mistake in the study was printed, one per line.
    """
    from mklearn.engine.left_jobs import cancel_left_jobs
    from mklearn.engine.lost_causes import listen
    from mklearn.engine.run_lock import clear_stale_locks
    from mklearn.engine.scheduling import coalesce_reevaluations

    source = ", ".join(os.path.relpath(path) for path in workflow.configfiles)
    try:
        for path in workflow.configfiles:
            read_yaml(path)  # Snakemake has read them, but not noticed a key that stands twice
        plan = plan_study(check_study(dict(config), source=source))
        if workflow.is_main_process:
            clear_stale_locks(Path.cwd())
            if not workflow.output_settings.dryrun:
                cancel_left_jobs(Path.cwd())
    except UserError as error:
        # Snakemake would add where in our code it was raised, which is no help with a study file.
        print(f"\nmklearn: {error}\nNothing was run.", file=sys.stderr)
        raise SystemExit(1) from None
    if plan.study.mirror:
        os.environ.setdefault("MKLEARN_MIRROR", plan.study.mirror)
    if workflow.is_main_process:
        os.environ["MKLEARN_COMMAND"] = shlex.join([Path(sys.argv[0]).name, *sys.argv[1:]])
        coalesce_reevaluations()
        listen()
        # Jobs in a conda environment of their own find the package, which is not installed there.
        paths = [str(PACKAGE.parent), *filter(None, [os.environ.get("PYTHONPATH")])]
        os.environ["PYTHONPATH"] = os.pathsep.join(dict.fromkeys(paths))
    return Targets(plan, source)


class Targets:
    """The plan, as the rules need it. Methods that take ``wildcards`` are input and parameter functions."""

    def __init__(self, plan: Plan, source: str = "config.yaml") -> None:
        self.plan = plan
        self.source = source
        self._datasets: dict[str, PlannedDataset] = {}
        for dataset in plan.datasets.values():
            self._datasets[dataset.original] = self._datasets[dataset.key] = dataset

    # --- paths

    def path(self, pattern: str) -> str:
        """A pattern below the results folder; ``{study}`` is filled in, wildcards are left."""
        return str(Path(self.plan.study.results) / self._named(pattern))

    def log(self, pattern: str) -> str:
        return str(Path("logs") / self._named(pattern))

    def _named(self, pattern: str) -> str:
        return pattern.replace("{study}", self.plan.study.study)

    def one_of(self, wildcard: str) -> str:
        """A regular expression that matches this study's values of a wildcard and nothing else."""
        plan = self.plan
        values: dict[str, Iterable[str]] = {
            "dataset": self._datasets,
            "descriptor": {name for _, name, _ in plan.pairwise} | {name for _, name in plan.descriptors},
            "measure": {name for _, _, name in plan.pairwise},
            "kernel_set": {name for _, name in plan.kernel_sets},
            "protocol": plan.protocols,
            "method": {name for _, _, name in plan.fits},
            "source": {Path(path).parent.name for dataset in plan.datasets.values() for path in dataset.downloads},
            "file": {Path(path).name for dataset in plan.datasets.values() for path in dataset.downloads},
        }
        return "|".join(re.escape(value) for value in sorted(values[wildcard])) or "none"

    def code(self, step: str, spec: Mapping[str, Any] | None = None) -> str:
        """The fingerprint of the source files behind a step: as a parameter of its rule, it makes the job run again.

        One word instead of forty inputs: what a large plan costs is its files.
        """
        return _fingerprint(tuple(step_code(step, spec)))

    # --- targets

    def everything(self) -> list[str]:
        return [self.path(f"{{study}}/{name}") for name in ("scores.parquet", "summary.parquet", "report/index.html")]

    def data(self) -> list[str]:
        return self.all_samples()

    def kernels(self) -> list[str]:
        return [self.path(f"cache/kernels/{dataset}/{name}.json") for dataset, name in self.plan.kernel_sets]

    def fits(self) -> list[str]:
        return self.all_scores()

    def all_scores(self) -> list[str]:
        return [self.path(f"cache/fits/{d}/{p}/{m}.parquet") for d, p, m in self.plan.fits]

    def all_models(self) -> list[str]:
        return [self.path(f"cache/fits/{d}/{p}/{m}.npz") for d, p, m in self.plan.fits]

    def all_samples(self) -> list[str]:
        return [self._samples(dataset) for dataset in self.plan.datasets.values()]

    def files(self) -> list[str]:
        """Every file that the study makes and keeps; not the parts that some of them are put together from."""
        plan = self.plan
        made = {dataset.original: f"data/{dataset.original}" for dataset in plan.datasets.values()}
        names = [f"{name}{end}" for name in made.values() for end in (".npz", ".labels.parquet")]
        names += [f"resized/{dataset.key}.npz" for dataset in plan.datasets.values() if dataset.resize]
        names += [f"descriptors/{'/'.join(key)}.npz" for key in plan.descriptors]
        learning = [key for key, descriptor in plan.descriptors.items() if "learns" in descriptor.spec]
        names += [f"descriptors/{'/'.join(key)}.learned.npz" for key in learning]
        names += [f"pairwise/{'/'.join(key)}.npz" for key in plan.pairwise]
        names += [f"splits/{'/'.join(key)}.parquet" for key in dict.fromkeys((d, p) for d, p, _ in plan.fits)]
        downloads = [path for dataset in plan.datasets.values() for path in dataset.downloads]
        cached = [self.path(f"cache/{name}") for name in names]
        tables = [*self.everything(), self.path("{study}/run.json")]
        return [*downloads, *cached, *self.kernels(), *self.all_scores(), *self.all_models(), *tables]

    # --- data

    def dataset(self, wildcards: Wildcards) -> PlannedDataset:
        return self._datasets[wildcards.dataset]

    def download_spec(self, wildcards: Wildcards) -> dict[str, Any]:
        path = self.path(f"downloads/{wildcards.source}/{wildcards.file}")
        return next(d.downloads[path] for d in self.plan.datasets.values() if path in d.downloads)

    def source_files(self, wildcards: Wildcards) -> list[str]:
        return self.dataset(wildcards).files

    def read_spec(self, wildcards: Wildcards) -> dict[str, Any]:
        return self.dataset(wildcards).read

    def read_code(self, wildcards: Wildcards) -> str:
        return self.code("read", self.read_spec(wildcards))

    def original(self, wildcards: Wildcards) -> str:
        return self.path(f"cache/data/{self.dataset(wildcards).original}.npz")

    def resize_spec(self, wildcards: Wildcards) -> dict[str, Any]:
        return self.dataset(wildcards).resize or {}

    def samples(self, wildcards: Wildcards) -> str:
        """Images or features at their final size."""
        return self._samples(self.dataset(wildcards))

    def _samples(self, dataset: PlannedDataset) -> str:
        return self.path(f"cache/{'resized' if dataset.resize else 'data'}/{dataset.key}.npz")

    def labels(self, wildcards: Wildcards) -> str:
        return self.path(f"cache/data/{self.dataset(wildcards).original}.labels.parquet")

    def split_file(self, wildcards: Wildcards) -> list[str]:
        path = self.plan.protocols[wildcards.protocol]["parameters"].get("path")
        return [path] if path else []

    def split_code(self, wildcards: Wildcards) -> str:
        return self.code("split", self.split_spec(wildcards))

    def split_spec(self, wildcards: Wildcards) -> dict[str, Any]:
        return self.plan.protocols[wildcards.protocol] | {"dataset": self.dataset(wildcards).id}

    # --- descriptors and pairwise matrices

    def descriptor_spec(self, wildcards: Wildcards) -> dict[str, Any]:
        return self.plan.descriptors[wildcards.dataset, wildcards.descriptor].spec

    def descriptor_code(self, wildcards: Wildcards) -> str:
        return self.code("describe", self.descriptor_spec(wildcards))

    def part_spec(self, wildcards: Wildcards) -> dict[str, Any]:
        return self.descriptor_spec(wildcards) | {"part": wildcards.part}

    def pairwise_part_spec(self, wildcards: Wildcards) -> dict[str, Any]:
        return self.pairwise_spec(wildcards) | {"part": wildcards.part}

    def learn_code(self, wildcards: Wildcards) -> str:
        return self.code("learn", self.descriptor_spec(wildcards))

    def learned(self, wildcards: Wildcards) -> list[str]:
        """What the descriptor has learned from the images; none for most."""
        name = f"cache/descriptors/{wildcards.dataset}/{wildcards.descriptor}.learned.npz"
        return [self.path(name)] if self.descriptor_spec(wildcards).get("learns") else []

    def descriptor_blocks(self, wildcards: Wildcards) -> list[str]:
        """Parts of the images, where they are described in several jobs."""
        n = self.plan.descriptors[wildcards.dataset, wildcards.descriptor].n_blocks
        folder = f"cache/descriptors/{wildcards.dataset}/{wildcards.descriptor}"
        return [self.path(f"{folder}/{part}.npz") for part in parts(n)]

    def described(self, wildcards: Wildcards) -> list[str]:
        """The images and what was learned from them; nothing where the parts are there to be put together."""
        return [] if self.descriptor_blocks(wildcards) else [self.samples(wildcards)]

    def pairwise_source(self, wildcards: Wildcards) -> str:
        """A descriptor's features, or the user's own matrices."""
        if "matrix" in self.pairwise_spec(wildcards):
            return self.samples(wildcards)
        return self.path(f"cache/descriptors/{wildcards.dataset}/{wildcards.descriptor}.npz")

    def pairwise_spec(self, wildcards: Wildcards) -> dict[str, Any]:
        return self.plan.pairwise[wildcards.dataset, wildcards.descriptor, wildcards.measure].spec

    def pairwise_code(self, wildcards: Wildcards) -> str:
        return self.code("pairwise", self.pairwise_spec(wildcards))

    def pairwise_block_code(self, wildcards: Wildcards) -> str:
        return self.code("pairwise_block", self.pairwise_spec(wildcards))

    def pairwise_blocks(self, wildcards: Wildcards) -> list[str]:
        """Blocks of rows, where the matrix is computed in several jobs."""
        n = self.plan.pairwise[wildcards.dataset, wildcards.descriptor, wildcards.measure].n_blocks
        folder = f"cache/pairwise/{wildcards.dataset}/{wildcards.descriptor}/{wildcards.measure}"
        return [self.path(f"{folder}/{part}.npz") for part in parts(n)]

    def matrices(self, wildcards: Wildcards) -> list[str]:
        names = self.plan.kernel_sets[wildcards.dataset, wildcards.kernel_set]["pairwise"]
        return [self.path(f"cache/pairwise/{wildcards.dataset}/{name}.npz") for name in names]

    def kernel_set_spec(self, wildcards: Wildcards) -> dict[str, Any]:
        return self.plan.kernel_sets[wildcards.dataset, wildcards.kernel_set]

    # --- fits

    def planned_fit(self, wildcards: Wildcards) -> Any:
        return self.plan.fits[wildcards.dataset, wildcards.protocol, wildcards.method]

    def manifest(self, wildcards: Wildcards) -> list[str]:
        """Of a method's kernel set; none for methods on features or images."""
        name = self.planned_fit(wildcards).kernel_set
        return [self.path(f"cache/kernels/{wildcards.dataset}/{name}.json")] if name else []

    def fit_sources(self, wildcards: Wildcards) -> list[str]:
        """The features or images of a method, in the order of its inputs; none for inputs of kernels."""
        return [
            self.path(f"cache/descriptors/{wildcards.dataset}/{entry.descriptor}.npz")
            if entry.descriptor
            else self.samples(wildcards)
            for entry in self.planned_fit(wildcards).spec.method.inputs.values()
            if entry.kind != "kernels"
        ]

    def ancient_matrices(self, wildcards: Wildcards) -> list[Any]:
        """The matrices, without their modification times: the manifest says when their content has changed."""
        from snakemake.io import ancient

        name = self.planned_fit(wildcards).kernel_set
        names = self.plan.kernel_sets[wildcards.dataset, name]["pairwise"] if name else []
        return [ancient(self.path(f"cache/pairwise/{wildcards.dataset}/{name}.npz")) for name in names]

    def fit_code(self, wildcards: Wildcards) -> str:
        return self.code("fit", self.fit_spec(wildcards))

    def fit_spec(self, wildcards: Wildcards) -> dict[str, Any]:
        spec: dict[str, Any] = self.planned_fit(wildcards).spec.as_dict()
        return spec

    # --- tables and report

    def scores_spec(self) -> dict[str, Any]:
        return {"study": self.plan.study.study}

    def summary_spec(self) -> dict[str, Any]:
        return tables.summary_spec(self.plan)

    def run_spec(self) -> dict[str, Any]:
        study = self.plan.study
        return {
            "study": study.study,
            "seed": study.seed,
            "source": self.source,
            "config": study.model_dump(mode="json"),
        }

    def report_spec(self) -> dict[str, Any]:
        return tables.report_spec(self.plan)


def parts(n: int) -> list[str]:
    """Names of the parts of a job that is split: ``1of3``; none where it is not."""
    return [f"{number}of{n}" for number in range(1, n + 1)] if n > 1 else []


@functools.cache  # thousands of jobs have few lists of code
def _fingerprint(files: tuple[str, ...]) -> str:
    return code_fingerprint(files)
