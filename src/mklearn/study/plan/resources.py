"""Memory, run time and licences that each job asks a cluster for, from the size of its problem.

Two formulas with measured constants, for matrices among samples and for features. A job that lacks memory or time is
tried again with twice as much. Every job has one thread, whatever its size: jobs share the cores, and the last bits of
a sum depend on the number of threads, which results must not.

Memory is in MB (2^20 bytes, as Snakemake and SLURM count), time in minutes.
"""

from __future__ import annotations

import math
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mklearn.cards import MethodCard, own_entries

if TYPE_CHECKING:  # jobs import this module with the records of stages
    from mklearn.contract.fit_spec import FitSpec, MethodSpec, Setting
    from mklearn.contract.specs import SplitSpec

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
_METHODS = {entry["implementation"]: entry for entry in own_entries("methods").values()}
_UNKNOWN_METHOD = {"fits_each_kernel": MethodCard.fits_each_kernel, "fit_seconds": MethodCard.fit_seconds}
"""Assumed of methods of other packages."""


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

    With validation parts, each candidate is fitted once on each split. An eigenproblem takes 3 ns n_train^3, sums over
    kernels 30 ns n_train^2 each (measured on one core), and a fit at least 0.2 s, or what its card says. With landmarks
    the eigenproblem is of their features, and a pass over the samples takes 0.1 ns for a product of two features.
    """
    method, n_kernels, inner = spec.method, spec.n_kernels, spec.evaluation.inner_folds
    folds = n_train if inner == "leave_one_out" else inner
    candidates = number_of_candidates(method, n_kernels)
    if candidates == 1 and spec.evaluation.components == "all":  # nothing to choose
        folds = 0
    elif spec.evaluation.choice == "test_set":
        folds = 1
    fits = candidates if protocol.kind == "validation_folds" else 1 + candidates * folds
    size, n_passed = n_train, 0.0
    if spec.landmarks is not None:
        size = spec.landmarks.most * len(spec.kernels)
        n_passed = 1e-10 * n_samples * size * (size + 2000)
    # at most 20 alternations: methods with hundreds of iterations have cheap ones
    longest = max(map(int, method.grid.get("max_iter") or [method.parameters.get("max_iter") or 1]))
    each = _cost(method)["fit_seconds"] + max(1, min(20, longest)) * (3e-9 * size**3 + 3e-8 * n_kernels * size**2)
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
    if _cost(method)["fits_each_kernel"]:
        count *= max(1, n_kernels)
    return count * max(1, len(method.sweep.parameters.get("sizes") or ()))


def _cost(method: MethodSpec) -> Mapping[str, Any]:
    return _METHODS.get(method.implementation, _UNKNOWN_METHOD)


def licences(method: MethodSpec, n_kernels: int) -> int:
    """Return the number of MOSEK licences: 1 if the method may call a convex solver and names no other, else 0."""
    parameters = method.parameters
    if parameters.get("solver") not in ("auto", "MOSEK"):
        return 0
    step = parameters.get("beta_step")
    return int(step in ("sdp", "dnn") or (step == "exact" and n_kernels > ENUMERATED_KERNELS))
