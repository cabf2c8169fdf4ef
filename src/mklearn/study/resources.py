"""Memory and run time that each job requests from a cluster, by problem size.

There are two formulas of memory with measured constants, for matrices among samples and for features; the time is one
constant. A job that runs out of memory or time is retried with twice as much. Jobs share the cores and, except
distances between point sets, have one thread: the last bits of a sum depend on the number of threads, and results must
not. Memory is in MB (2^20 bytes), time in minutes.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mklearn.study.jobs import Jobs
from mklearn.study.plan.datasets import PlannedDataset
from mklearn.study.plan.fits import PlannedFit
from mklearn.study.specs.data_specs import FOLDER_KEY, SplitSpec
from mklearn.study.specs.fit_spec import NULL_SAMPLES, SAMPLE, VIEW_SAMPLES, FitSpec

AROUND_MB = 650
"""Memory of a step without data, its libraries, and two processes of the SLURM executor, in MB (measured: 545)."""
HEADROOM = 1.25
MINUTES = 240
"""Run time of a first attempt in minutes."""
UNKNOWN_SAMPLES = 2000
"""Number of samples assumed until a user's own data are read, before other jobs are submitted."""
COMPOSED_SAMPLES = 6000
"""Number of samples assumed for a protocol that combines samples: the pairs of LFW's View 2."""
UNKNOWN_SPLITS = 20
"""Number of splits assumed if the user gives a file of splits."""
THREADS = 8
"""Number of threads of a job that computes distances between point sets."""


class Requests:
    """Requested resources of the jobs of each rule, as functions of wildcards."""

    def __init__(self, jobs: Jobs) -> None:
        self.jobs, self.plan = jobs, jobs.plan

    def of(self, rule: str) -> dict[str, Any]:
        """Return the memory and run time that the jobs of a rule request."""

        def mem_mb(wildcards: Any, input: Any, attempt: int) -> int:
            return attempt * 100 * math.ceil(HEADROOM * (AROUND_MB + self._data_mb(rule, wildcards, input)) / 100)

        def runtime(wildcards: Any, input: Any, attempt: int) -> int:
            minutes = MINUTES
            if rule in ("fit", "view_contributions"):
                spec = self.jobs.job(rule, wildcards).spec
                n_limited = len(spec.settings) if rule == "fit" else 1 + 2 * len(spec.views)
                if spec.evaluation.time_limit:  # longer than the study's limit, which ends the fit with a row
                    minutes = 10 * math.ceil((20 + spec.evaluation.time_limit * n_limited) / 10)
            return attempt * minutes

        return {"mem_mb": mem_mb, "runtime": runtime}

    def distance_threads(self, wildcards: Any) -> int:
        """Return the number of threads of a distance job: several for point sets, else one."""
        return 1 if self.jobs.specification("distances", wildcards).get("implementation") is None else THREADS

    def _data_mb(self, rule: str, wildcards: Any, files: Any) -> float:
        """Compute the peak memory of a job's arrays; the size of its files is read only if it matters."""
        if fits := self._fits(rule, wildcards):
            inputs = self.jobs.job(rule, wildcards).inputs
            n_blocks = len(inputs.get("moments", ())) or 1  # blocks are read one at a time
            reads_features = any(inputs.get(name) for name in ("samples", "sources"))
            features = features_mb(files.size_mb / n_blocks) if reads_features else 0.0
            return max(fit_mb(*fit) for fit in fits) + features
        dataset = self.plan.datasets[wildcards["dataset"]]
        n = self._n_samples(dataset)
        if rule == "moments":  # triangles of moments per split and fold, candidates for landmarks, one block
            moments = self.jobs.job(rule, wildcards).spec
            n_splits = number_of_splits(self.plan.protocols[wildcards["protocol"]])
            size = landmark_features(moments.kernels, [moments.landmarks])
            n_blocks = dataset.n_blocks if wildcards["part"].startswith("1of") else 1
            drawn = 2 * files.size_mb * min(1.0, SAMPLE * n_splits / n) if n_blocks > 1 else 0.0
            triangles = kernels_mb(size, 0, n_splits * (moments.inner_folds + 4) / 2)
            return triangles + drawn + features_mb(files.size_mb / n_blocks)
        images = dataset.read.get("paths", {}).get(FOLDER_KEY) if rule == "read" else None  # not an input file
        n_bytes = sum(path.stat().st_size for path in Path(images).rglob("*")) if images else 0
        among = kernels_mb(n, 0, 4) if rule == "distances" else 0.0
        return features_mb(files.size_mb + n_bytes / 2**20) + among

    def _fits(self, rule: str, wildcards: Any) -> list[tuple[FitSpec, int, int]]:
        """Return the fits of a job: specification, number of samples, and of training samples of a split."""
        if rule not in ("fit", "null_control", "view_contributions", "model"):
            return []
        spec, final = self.jobs.job(rule, wildcards).spec, self.plan.final
        if rule == "model" and final is not None:
            n = self._n_samples(final.dataset)
            return [(candidate, n, n) for candidate in spec.candidates]
        if rule == "fit":
            fit = self.plan.fits[wildcards["dataset"], wildcards["protocol"], wildcards["method"]]
            return [(spec, *self._training_size(fit))]
        tested, most = (spec.fit, NULL_SAMPLES) if rule == "null_control" else (spec, VIEW_SAMPLES)
        n = min(self._n_samples(self.plan.datasets[wildcards["dataset"]]), most)
        return [(tested, n, n)]

    def _n_samples(self, dataset: PlannedDataset) -> int:
        counted = counted_samples(Path(self.jobs.path("read", dataset=dataset.key)))
        return dataset.n_samples or counted or UNKNOWN_SAMPLES

    def _training_size(self, fit: PlannedFit) -> tuple[int, int]:
        """Return the number of samples, and of training samples of a split at the largest training size, at most."""
        protocol = fit.protocol.spec
        if fit.protocol.entry.row.composes:
            return COMPOSED_SAMPLES, COMPOSED_SAMPLES
        n, n_classes = self._n_samples(fit.dataset), fit.dataset.read.get("expected", {}).get("n_classes")
        if isinstance(folds := protocol.parameters.get("folds"), int):
            return n, math.ceil(n * (folds - 1) / folds)
        unit = n_classes if protocol.kind == "random_per_class" else 1
        return n, max(min(n, each.train_size * unit) if each.train_size and unit else n for each in fit.spec.settings)


def features_mb(source_mb: float) -> float:
    """Compute the memory in MB of a job that reads features or images (measured: 430 MB for 3 to 15 MB)."""
    return 250 + 8 * source_mb


def kernels_mb(n_samples: int, n_train: int, n_kernels: float) -> float:
    """Compute the memory of kernels in MB: each matrix, three copies of its training columns, dense work on one kernel.

    Measured with 3060 samples, 1530 of them for training: 630 MB for one kernel, 1400 MB for seven.
    """
    return 8 / 2**20 * (n_kernels * n_samples * (n_samples + 3 * n_train) + 14 * n_train**2)


def landmark_features(kernels: Sequence[Any], landmarks: Sequence[Mapping[str, Any]]) -> int:
    """Return the maximum number of landmark features of all kernels."""
    return len(kernels) * max(int(each["n"]) for each in landmarks)


def fit_mb(spec: FitSpec, n_samples: int, n_train: int) -> float:
    """Compute the memory of a fit in MB without its features: landmarks, kernels, or a dictionary of at most 1 GiB."""
    if spec.method.landmarks:  # moments, and embeddings in at most 100 components
        return kernels_mb(0, landmark_features(spec.kernels, spec.method.landmarks), 0) * 2 + 8e-4 * n_samples
    if spec.kernels:
        return kernels_mb(n_samples, n_train, len(spec.kernels))
    if not spec.n_kernels:
        return 0.0
    landmarks = spec.method.grid.get("landmarks", [spec.method.parameters.get("landmarks")])
    n_columns = min(n_train, max(number or n_train for number in landmarks))  # of the kernels of a dictionary
    among = min(1024.0, kernels_mb(n_columns, 0, spec.n_kernels)) + kernels_mb(0, n_columns, 0)
    return among + (0.0 if n_columns == n_train else 8 / 2**20 * 4 * n_samples * n_columns)


def counted_samples(sample_set: Path) -> int | None:
    """Return the number of samples in a file of :class:`mklearn.study.data.samples.SampleSet`; None without a file."""
    try:
        with zipfile.ZipFile(sample_set) as archive:
            return (archive.getinfo("y.npy").file_size - 128) // 8  # a header of 128 bytes, then int64
    except (OSError, KeyError, zipfile.BadZipFile):
        return None


def number_of_splits(protocol: SplitSpec) -> int:
    """Return the number of splits at each training size: repeats times folds."""
    repeats, folds = (protocol.parameters.get(name) for name in ("repeats", "folds"))
    if not isinstance(repeats, int):
        return UNKNOWN_SPLITS
    return repeats * (folds if isinstance(folds, int) else 1) * int(protocol.parameters.get("deals", 1))
