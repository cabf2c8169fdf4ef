"""Memory, run time and licences that each job asks a cluster for, from the size of its problem.

Two formulas with measured constants, for matrices among samples and for features. A job that lacks memory or time is
tried again with twice as much. Every job has one thread, whatever its size: jobs share the cores, and the last bits of
a sum depend on the number of threads, which results must not.

Memory is in MB (2^20 bytes, as Snakemake and SLURM count), time in minutes.
"""

from __future__ import annotations

import functools
import math
import os
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mklearn.methods import METHODS, MethodRow
from mklearn.study.data.text_tables import unpacked_bytes
from mklearn.study.jobs import Jobs
from mklearn.study.plan.datasets import PlannedDataset
from mklearn.study.specs.data_specs import SplitSpec
from mklearn.study.specs.fit_spec import SAMPLE, FitSpec, MethodSpec, Setting

AROUND_MB = 650
"""A step and its libraries without data, and two processes that the SLURM executor starts around it (measured: 545)."""
HEADROOM = 1.25
LONGEST_MINUTES = 24 * 60
"""Longest run time of a first attempt: few clusters take longer jobs."""
ENUMERATED_KERNELS = 14
"""Largest number of kernels for which exact kernel weights need no convex solver."""
UNKNOWN_SAMPLES = 2000
"""Assumed until a user's own data are read; jobs are submitted after that."""
UNKNOWN_SPLITS = 20
"""Assumed if the user gives the splits in a file."""
THREADS = 8
"""Of distances between point sets."""
IMAGE_BATCH = 256
"""Images that are resized or described at once."""
_METHODS = {row.implementation: row for row in METHODS.values()}


class Requests:
    """What the jobs of each rule ask Snakemake and a cluster for, as functions of wildcards."""

    def __init__(self, jobs: Jobs) -> None:
        self.jobs = jobs

    def of(self, rule: str) -> dict[str, Any]:
        """Return the resources of a rule: memory, run time and, of fits, licences."""

        def mem_mb(wildcards: Any, input: Any, attempt: int) -> int:
            return attempt * asked_mb(self._memory(rule, wildcards, input))

        def runtime(wildcards: Any, input: Any, attempt: int) -> int:
            return attempt * self._minutes(rule, wildcards, input)

        return {"mem_mb": mem_mb, "runtime": runtime} | ({"mosek": self._licences} if rule == "fit" else {})

    def fit_priority(self, wildcards: Any) -> float:
        """Return a priority below 1, which is that of the jobs that fits wait for: the longest fit first."""
        return 1.0 - 1.0 / (1.0 + sum(self._fit_seconds(wildcards)))

    def distance_threads(self, wildcards: Any) -> int:
        """Return the threads of a job of distances: several between point sets."""
        spec = self.jobs.plan.pairwise[wildcards.dataset, wildcards.descriptor, wildcards.measure].spec
        return 1 if spec.implementation is None else THREADS

    def _n_samples(self, dataset: PlannedDataset) -> int:
        counted = counted_samples(Path(self.jobs.path("read", dataset=dataset.original)))
        return dataset.n_samples or counted or UNKNOWN_SAMPLES

    def _memory(self, rule: str, wildcards: Any, files: Any) -> float:
        w = wildcards
        if rule == "fit":  # of fits on kernels before any of their files exists
            n, n_train = self._samples(w)
            return fit_mb(self.jobs.fit(w).spec, n, max(n_train), files, self.jobs.dataset(w).n_blocks)
        size_mb = float(files.size_mb)
        match rule:
            case "read":
                dataset = self.jobs.dataset(w)  # many images may come from few files
                pixels = (dataset.n_samples or 0) * math.prod(dataset.read.expected.get("image_shape") or (0,))
                return features_mb(_read_mb(dataset.read.paths or {}, size_mb)) + 2 * pixels / 2**20
            case "resize" | "learn" | "describe" | "describe_part":
                # All images as read; in a batch a pixel takes 8 bytes, and half as much again for what is computed.
                # (Measured on seven descriptors of 3060 images of 60,000 pixels: 300 to 540 MB with the libraries.)
                return size_mb * (2 + 12 * min(1.0, IMAGE_BATCH / self._n_samples(self.jobs.dataset(w))))
            case "distances":  # the matrix with temporaries, and the centred features
                return kernels_mb(self._n_samples(self.jobs.dataset(w)), 0, 4, 0) + features_mb(size_mb)
            case "landmarks":
                return features_mb(min(size_mb, 1000)) + 2 * self._drawn_mb(w, size_mb)
            case "moments":  # one block of features, and triangles of moments of each split and fold
                spec = self.jobs.landmark_set(w)
                n_features = spec.landmarks.most * len(spec.kernels)
                n_triangles = number_of_splits(self.jobs.plan.protocols[w.protocol]) * (spec.inner_folds + 4)
                return kernels_mb(n_features, n_features, n_triangles / 2, 0) + features_mb(size_mb)
            case "model":
                final = self.jobs.final
                n = self._n_samples(final.dataset)
                return max(fit_mb(each.fit, n, n, files) for each in final.spec.candidates) + features_mb(size_mb)
        return features_mb(size_mb)

    def _minutes(self, rule: str, wildcards: Any, files: Any) -> int:
        if rule == "fit":
            return fit_minutes(self.jobs.fit(wildcards).spec, self._fit_seconds(wildcards))
        return asked_minutes(self._seconds(rule, wildcards, files))

    def _seconds(self, rule: str, wildcards: Any, files: Any) -> float:
        """Estimate the run time of a job: by default two seconds for each MB of its input files."""
        w, size_mb = wildcards, float(files.size_mb)
        match rule:
            case "read":
                return 2 * _read_mb(self.jobs.dataset(w).read.paths or {}, size_mb)
            case "distances":  # all pairs: 0.5 ns for a feature of a pair (chi-squared; the others are faster)
                n = self._n_samples(self.jobs.dataset(w))
                each = 0.5e-9 * size_mb * 2**20 / 8 / n
                if self.jobs.plan.pairwise[w.dataset, w.descriptor, w.measure].spec.implementation is not None:
                    each = self.jobs.plan.descriptors[w.dataset, w.descriptor].config.seconds_per_pair() / THREADS
                return float(n**2 / 2 * each)
            case "model":  # the longest candidate on one split of all samples, and again to predict for importances
                final = self.jobs.final
                n = self._n_samples(final.dataset)
                protocol = self.jobs.plan.protocols[final.protocol].model_copy(update={"parameters": {"repeats": 1}})
                seconds = max(fit_seconds(each.fit, protocol, n, n) for each in final.spec.candidates)
                n_features, permutations = size_mb * 2**17 / n, final.spec.permutations
                prediction = 0.005 + 2e-10 * n**2 * (n_features + 20)
                return 2 * seconds + 5 * permutations * n_features * prediction if permutations else seconds
        return 2 * size_mb

    def _fit_seconds(self, wildcards: Any) -> list[float]:
        fit, protocol = self.jobs.fit(wildcards), self.jobs.plan.protocols[wildcards.protocol]
        n, n_train = self._samples(wildcards)
        return [fit_seconds(fit.spec, protocol, n, size) for size in n_train]

    def _licences(self, wildcards: Any) -> int:
        """Return the number of MOSEK licences of a fit: 1 if it may call a convex solver and names no other, else 0."""
        spec = self.jobs.fit(wildcards).spec
        parameters = spec.method.parameters
        if not _row(spec.method).convex_solver or parameters.get("solver", "auto") not in ("auto", "MOSEK"):
            return 0
        step = parameters.get("beta_step", "exact")
        return int(step in ("sdp", "dnn") or (step == "exact" and len(spec.kernels) > ENUMERATED_KERNELS))

    def _samples(self, wildcards: Any) -> tuple[int, list[int]]:
        """Return the number of samples, and of training samples of a split at each training size."""
        fit, dataset = self.jobs.fit(wildcards), self.jobs.dataset(wildcards)
        n = self._n_samples(dataset)
        protocol, n_classes = self.jobs.plan.protocols[wildcards.protocol], dataset.read.expected.get("n_classes")
        return n, training_samples(protocol, fit.settings, n, n_classes)

    def _drawn_mb(self, wildcards: Any, size_mb: float) -> float:
        n, protocol = self.jobs.dataset(wildcards).n_samples, self.jobs.plan.protocols[wildcards.protocol]
        drawn = max(SAMPLE, self.jobs.landmark_set(wildcards).landmarks.most) * number_of_splits(protocol)
        return size_mb * min(1.0, drawn / n) if n else size_mb


def _read_mb(paths: Mapping[str, str], size_mb: float) -> float:
    grown = sum(unpacked_bytes(Path(path)) - os.path.getsize(path) for path in paths.values() if os.path.isfile(path))
    return size_mb + (grown + _bytes_below(paths.get("root", ""))) / 2**20


@functools.cache  # memory and run time of the same job are asked for one after the other
def _bytes_below(root: str) -> int:
    return sum(path.stat().st_size for path in Path(root).rglob("*") if path.is_file()) if root else 0


# --- formulas


def asked_mb(data_mb: float) -> int:
    """Compute the memory to ask for, for a job whose arrays take `data_mb` at their peak."""
    return 100 * math.ceil(HEADROOM * (AROUND_MB + data_mb) / 100)


def asked_minutes(seconds: float) -> int:
    """Compute the run time to ask for, for a job of about that many seconds: cores and disks differ by factors."""
    return min(LONGEST_MINUTES, 10 * math.ceil((30 + 4 * seconds / 60) / 10))


def kernels_mb(n_samples: int, n_train: int, n_matrices: float, n_kernels: int) -> float:
    """Compute the memory of a fit on kernels.

    The matrices among all samples; three copies of each kernel among training samples and against the others; dense
    work on one kernel. Measured with 3060 samples, 1530 of them for training: 630 MB for one kernel, 1400 for seven.
    """
    return 8 / 2**20 * (n_matrices * n_samples**2 + 3 * n_kernels * n_samples * n_train + 14 * n_train**2)


def features_mb(source_mb: float) -> float:
    """Compute the memory of a job on files, features or images of a size (measured: 430 MB for 3 to 15 MB)."""
    return 250 + 8 * source_mb


def fit_mb(spec: FitSpec, n_samples: int, n_train: int, files: Any, n_blocks: int = 1) -> float:
    """Compute the memory of a fit; the size of its files is asked for only where their features count.

    With landmarks: moments of each fold, one block of features, and embeddings in at most 100 components. With a
    dictionary of kernels: training kernels up to a GiB, and new samples in blocks.
    """
    n_kernels = len(spec.kernels)
    if spec.landmarks is not None:
        n_features = spec.landmarks.most * n_kernels
        embedded = kernels_mb(n_features, n_features, 16, 0) + 4 * 8 * 100 * n_samples / 2**20
        return embedded + features_mb(files.size_mb / n_blocks)
    if n_kernels:
        kernels = kernels_mb(n_samples, n_train, number_of_matrices(spec.kernels), n_kernels)
        return kernels + (features_mb(files.size_mb) if spec.kernel_features else 0.0)
    dictionary = 0.0
    if spec.n_kernels:
        kept = min(1024.0, kernels_mb(n_train, 0, spec.n_kernels, 0)) + kernels_mb(500, 0, spec.n_kernels, 0)
        dictionary = kept + kernels_mb(min(n_samples, 4096), n_train, 0, 2)
    return dictionary + features_mb(files.size_mb)


def fit_seconds(spec: FitSpec, protocol: SplitSpec, n_samples: int, n_train: int) -> float:
    """Estimate one fit for each split, and one for each candidate and fold of the inner cross-validation.

    With validation parts, each candidate is fitted once on each split, and the chosen one again. An eigenproblem takes
    3 ns n_train^3, sums over kernels 30 ns n_train^2 each (measured on one core), and a fit at least 0.2 s, or what its
    row says. With landmarks the eigenproblem is of their features, and a pass over the samples takes 0.1 ns for a
    product of two features.
    """
    method, n_kernels, inner = spec.method, spec.n_kernels, spec.evaluation.inner_folds
    folds = n_train if inner == "leave_one_out" else inner
    candidates = number_of_candidates(method, n_kernels)
    if candidates == 1 and spec.evaluation.components == "all":  # nothing to choose
        folds = 0
    elif spec.evaluation.choice == "test_set" or protocol.kind == "validation_folds":
        folds = 1
    fits = 1 + candidates * folds
    size, n_passed = n_train, 0.0
    if spec.landmarks is not None:
        size = spec.landmarks.most * len(spec.kernels)
        n_passed = 1e-10 * n_samples * size * (size + 2000)
    # at most 20 alternations: methods with hundreds of iterations have cheap ones
    row = _row(method)
    longest = max(map(int, method.grid.get("max_iter") or [method.parameters.get("max_iter") or row.iterations]))
    each = row.fit_seconds + max(1, min(20, longest)) * (3e-9 * size**3 + 3e-8 * n_kernels * size**2)
    return number_of_splits(protocol) * (fits * float(each) + n_passed)


def fit_minutes(spec: FitSpec, seconds: Sequence[float]) -> int:
    """Compute the run time to ask for, given an estimate of each training size.

    With a time limit of the study, which holds for each size, the run time is longer, so that the limit comes first and
    leaves a row.
    """
    limit = spec.evaluation.time_limit
    return asked_minutes(sum(seconds)) if limit is None else 10 * math.ceil((20 + limit * len(seconds)) / 10)


# --- counts


def counted_samples(sample_set: Path) -> int | None:
    """Count the samples in the file of a :class:`mklearn.study.data.samples.SampleSet`; None without a file."""
    try:
        with zipfile.ZipFile(sample_set) as archive:
            return (archive.getinfo("y.npy").file_size - 128) // 8  # a header of 128 bytes, then int64
    except (OSError, KeyError, zipfile.BadZipFile):
        return None


def training_samples(
    protocol: SplitSpec, settings: Sequence[Setting], n_samples: int, n_classes: int | None
) -> list[int]:
    """Return the number of training samples of a split at each training size; all samples if it is unknown."""
    folds = protocol.parameters.get("folds")
    if isinstance(folds, int):
        return [math.ceil(n_samples * (folds - 1) / folds)]
    sizes = [setting.train_size for setting in settings]
    return [min(n_samples, size * n_classes) if size and n_classes else n_samples for size in sizes]


def number_of_splits(protocol: SplitSpec) -> int:
    """Return the number of splits at each training size, folds counted."""
    repeats, folds = (protocol.parameters.get(name) for name in ("repeats", "folds"))
    if not isinstance(repeats, int):
        return UNKNOWN_SPLITS
    return repeats * (folds if isinstance(folds, int) else 1) * protocol.parameters.get("deals", 1)


def number_of_matrices(kernels: Sequence[Mapping[str, Any]]) -> int:
    """Count the matrices that kernels are made from: cached ones, and those of scaled features in the fit."""
    named = ("view", "feature_scaling", "impute", "measure")
    parts = (part for kernel in kernels for part in kernel.get("factors", [kernel]))
    return len({tuple(part.get(field) for field in named) for part in parts})


def number_of_candidates(method: MethodSpec, n_kernels: int) -> int:
    """Return the number of fits on each fold: combinations of the grid, times sizes, times kernels tried alone."""
    count = method.n_candidates(n_kernels)
    if _row(method).fits_each_kernel:
        count *= max(1, n_kernels)
    return count * max(1, len(method.sweep.parameters.get("sizes") or ()))


def _row(method: MethodSpec) -> MethodRow:
    return _METHODS.get(method.implementation, MethodRow())
