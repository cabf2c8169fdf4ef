"""What each job asks a cluster for - memory, run time, licences - from the size of its problem.

Upper bounds, from formulas with measured constants: a job that asks for too little is killed, one that asks for too
much waits longer. Every job has one thread, whatever its size: jobs share the cores between them, and the last bits of
a sum depend on the number of threads, which results must not. A second attempt asks for twice as much of everything.

Memory is in MB (2^20 bytes, as Snakemake and SLURM count), time in minutes.
"""

from __future__ import annotations

import functools
import math
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from mklearn.contract.fit_spec import MethodSpec

Spec = Mapping[str, Any]

AROUND_MB = 400
"""The two Snakemake processes that the SLURM executor starts around a job: 170 MB each, measured."""
STEP_MB = 250
"""A step and its libraries, without data: 205 MB, measured."""
HEADROOM = 1.25
BATCH = 256
"""Images that are described at a time: see :mod:`mklearn.steps.describe`."""
LONGEST_MINUTES = 24 * 60
"""Of a first attempt: few clusters take longer jobs everywhere."""
ENUMERATED_KERNELS = 14
"""More kernels than this, and exact kernel weights get their certificate from a convex solver."""
UNKNOWN_SAMPLES = 2000
"""Taken until a user's own data are read; jobs are submitted after that."""
UNKNOWN_SPLITS = 20
"""Taken where the user gives the splits in a file."""
FIT_SECONDS = {"mklearn.classifiers.shrinkage_lda:ShrinkageLDA": 1.2}
"""Of a small fit, where it is far above 0.2: a covariance of all features for each class (measured: 40 of 1024)."""


def asked_mb(data_mb: float, attempt: int = 1) -> int:
    """Memory to ask for, of a job whose arrays take `data_mb` at their peak."""
    return attempt * 100 * math.ceil(HEADROOM * (AROUND_MB + STEP_MB + data_mb) / 100)


def asked_minutes(seconds: float, attempt: int = 1) -> int:
    """Run time to ask for, of a job that should take about so many seconds: cores and disks differ by factors."""
    return attempt * min(LONGEST_MINUTES, 10 * math.ceil((20 + 4 * seconds / 60) / 10))


def matrix_mb(rows: int, columns: int | None = None) -> float:
    """A matrix in double precision; square if `columns` is left out."""
    return 8 * rows * (rows if columns is None else columns) / 2**20


def counted_samples(sample_set: Path) -> int | None:
    """How many samples the file of a :class:`mklearn.datasets.samples.SampleSet` holds; None where there is no file."""
    try:
        with zipfile.ZipFile(sample_set) as archive:
            return (archive.getinfo("y.npy").file_size - 128) // 8  # a header of 128 bytes, then int64
    except (OSError, KeyError, zipfile.BadZipFile):
        return None


# --- images and matrices among them


def folder_mb(read: Spec) -> float:
    """Size of a user's folder of images, which is no input of a rule; 0 of a data set that is read from files."""
    root = read.get("paths", {}).get("root")
    return _bytes_below(str(root)) / 2**20 if root else 0.0


@functools.cache  # memory and run time of the same job are asked for one after the other
def _bytes_below(root: str) -> int:
    return sum(path.stat().st_size for path in Path(root).rglob("*") if path.is_file())


def reading_mb(files_mb: float) -> float:
    """Files that are read, unpacked and put into one array; packed ones grow (archives of images: twice or thrice)."""
    return 8 * files_mb


def images_mb(samples_mb: float, n_samples: int) -> float:
    """Images that are described or resized: all as they were read, and a batch of them in double precision.

    A pixel of a batch takes 8 bytes in place of one, and half as much again for what is computed from it. (Measured on
    seven descriptors of 3060 images of 60,000 pixels: 300 to 540 MB with the libraries.)
    """
    return 2 * samples_mb + 12 * samples_mb * min(1.0, BATCH / n_samples)


def images_seconds(samples_mb: float) -> float:
    """Two seconds for a million pixels (measured: 0.3 to 1 s, by the descriptor)."""
    return 2 * samples_mb


def pairwise_mb(n_samples: int, source_mb: float) -> float:
    """A matrix with the temporaries of its computation, and the features, moved by their mean."""
    return 3 * source_mb + 4 * matrix_mb(n_samples)


def pairwise_seconds(n_samples: int, source_mb: float) -> float:
    """Distances between vectors: 0.5 ns for a feature of a pair (chi-squared; the others are faster)."""
    features = source_mb * 2**20 / 8 / n_samples
    return n_samples**2 / 2 * 0.5e-9 * features


# --- fits


def kernel_fit_mb(n_samples: int, n_train: int, n_matrices: int, n_kernels: int) -> float:
    """The cached matrices; each kernel among training samples and against the others, thrice; dense work on one kernel.

    Measured with 3060 samples, 1530 of them for training: 630 MB for one kernel, 1400 for seven.
    """
    cached = n_matrices * matrix_mb(n_samples)
    stacks = 3 * n_kernels * matrix_mb(n_samples, n_train)
    return cached + stacks + 14 * matrix_mb(n_train)


def sample_fit_mb(source_mb: float) -> float:
    """Features or images: copies, and what scikit-learn brings (measured: 430 MB for 3 to 15 MB of images)."""
    return 250 + 8 * source_mb


def fit_minutes(spec: Spec, protocol: Spec, n_train: Sequence[int], attempt: int = 1) -> int:
    """Run time to ask for, with so many samples in training, size by size of the protocol.

    Where a study has a time limit, which is one of each size, more than that, so that it comes first and leaves a row.
    """
    limit = spec["evaluation"].get("time_limit")
    if limit is not None:
        return attempt * 10 * math.ceil((20 + limit * len(n_train)) / 10)
    return asked_minutes(sum(fit_seconds(spec, protocol, n) for n in n_train), attempt)


def fit_seconds(spec: Spec, protocol: Spec, n_train: int) -> float:
    """One fit for each split, and one for each candidate and fold of the inner cross-validation.

    An eigenproblem takes 3 ns n_train^3, sums over kernels 30 ns n_train^2 each (measured on one core), and a fit 0.2 s
    however small it is, or what stands in `FIT_SECONDS`.
    """
    method, n_kernels = spec["method"], len(spec.get("kernels", ()))
    inner = spec["evaluation"]["inner_folds"]
    folds = n_train if inner == "leave_one_out" else int(inner)
    fits = number_of_splits(protocol) * (1 + number_of_candidates(method, n_kernels) * folds)
    iteration = 3e-9 * n_train**3 + 3e-8 * n_kernels * n_train**2
    return fits * (FIT_SECONDS.get(method["implementation"], 0.2) + number_of_iterations(method) * iteration)


def fit_priority(spec: Spec, protocol: Spec, n_train: Sequence[int]) -> float:
    """Between 0 and 1, the longest fit first: the one that starts last is the one that others' cores wait for."""
    return 1.0 - 1.0 / (1.0 + sum(fit_seconds(spec, protocol, n) for n in n_train))


def training_samples(protocol: Spec, n_samples: int, n_classes: int | None) -> list[int]:
    """Samples that are trained on in each split, at each training size; all of them where the plan can't know."""
    parameters = protocol["parameters"]
    if "folds" in parameters:
        return [math.ceil(n_samples * (parameters["folds"] - 1) / parameters["folds"])]
    sizes = parameters.get("train_size", [n_samples])
    return [min(n_samples, size * n_classes) if n_classes else n_samples for size in sizes]


def number_of_splits(protocol: Spec) -> int:
    """Splits of a protocol at each training size, folds counted."""
    parameters = protocol["parameters"]
    if "repeats" not in parameters:
        return UNKNOWN_SPLITS
    return int(parameters["repeats"]) * int(parameters.get("folds", 1))


def number_of_classes(read: Spec) -> int | None:
    """Classes of a registered data set, from its reading specification; unknown of a user's own before it is read."""
    total = read.get("expected", {}).get("n_classes")
    if total is None:
        return None
    chosen = len(read.get("classes") or ()) or total - len(read.get("exclude_classes") or ())
    return int(min(chosen, read.get("first_classes") or chosen))


def number_of_candidates(method: Spec, n_kernels: int) -> int:
    """What is fitted on each fold: every combination of the grids, every size, every kernel that is tried alone."""
    spec = MethodSpec.model_validate(method)
    count = spec.n_candidates(n_kernels)
    if spec.implementation.startswith("mklearn.classifiers.ensembles:"):
        count *= max(1, n_kernels)
    return count * max(1, len(spec.sweep.parameters.get("sizes") or ()))


def number_of_iterations(method: Spec) -> int:
    """Of an alternation; methods that take hundreds of steps take cheap ones, which count as few dear ones."""
    given = method.get("grid", {}).get("max_iter") or method.get("parameters", {}).get("max_iter") or 1
    return min(20, max(1, max(given) if isinstance(given, list) else int(given)))


def licences(method: Spec, n_kernels: int) -> int:
    """Licences of MOSEK: 1 where the method may call a convex solver and does not ask for another one, else 0."""
    parameters = method.get("parameters", {})
    if parameters.get("solver") not in ("auto", "MOSEK"):
        return 0
    step = parameters.get("beta_step")
    return int(step in ("sdp", "dnn") or (step == "exact" and n_kernels > ENUMERATED_KERNELS))
