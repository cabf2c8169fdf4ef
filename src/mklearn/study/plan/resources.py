"""Memory, run time and licences that each job asks a cluster for, from the size of its problem.

Upper bounds, from formulas with measured constants: a job that asks for too little is killed, a job that asks for too
much waits longer. Every job has one thread, whatever its size: jobs share the cores, and the last bits of a sum depend
on the number of threads, which results must not. A second attempt asks for twice as much of everything.

Memory is in MB (2^20 bytes, as Snakemake and SLURM count), time in minutes.
"""

from __future__ import annotations

import functools
import math
import zipfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from mklearn.cards import MethodCard, own_entries
from mklearn.errors import UserError

if TYPE_CHECKING:  # jobs import this module with the records of stages
    from mklearn.contract.fit_spec import FitSpec, MethodSpec, Setting
    from mklearn.contract.specs import ReadSpec, SplitSpec
    from mklearn.study.specs.landmark_specs import LandmarkSetSpec

AROUND_MB = 400
"""Two Snakemake processes that the SLURM executor starts around a job (measured: 170 MB each)."""
STEP_MB = 250
"""A step and its libraries, without data (measured: 205 MB)."""
HEADROOM = 1.25
BATCH = 256
"""Images in a batch of :mod:`mklearn.study.steps.describe`."""
LONGEST_MINUTES = 24 * 60
"""Longest run time of a first attempt: few clusters take longer jobs."""
ENUMERATED_KERNELS = 14
"""Largest number of kernels for which exact kernel weights need no convex solver."""
UNKNOWN_SAMPLES = 2000
"""Assumed until a user's own data are read; jobs are submitted after that."""
UNKNOWN_CLASSES = 100
"""Likewise."""
UNKNOWN_SPLITS = 20
"""Assumed if the user gives the splits in a file."""
_METHODS = {entry["implementation"]: entry for entry in own_entries("methods").values()}
_UNKNOWN_METHOD = {"fits_each_kernel": MethodCard.fits_each_kernel, "fit_seconds": MethodCard.fit_seconds}
"""Assumed of methods of other packages."""


def asked_mb(data_mb: float) -> int:
    """Compute the memory to ask for, for a job whose arrays take `data_mb` at their peak."""
    return 100 * math.ceil(HEADROOM * (AROUND_MB + STEP_MB + data_mb) / 100)


def asked_minutes(seconds: float) -> int:
    """Compute the run time to ask for, for a job of about that many seconds: cores and disks differ by factors."""
    return min(LONGEST_MINUTES, 10 * math.ceil((20 + 4 * seconds / 60) / 10))


def matrix_mb(rows: int, columns: int | None = None) -> float:
    """Compute the size of a matrix in double precision; square by default."""
    return 8 * rows * (rows if columns is None else columns) / 2**20


def counted_samples(sample_set: Path) -> int | None:
    """Count the samples in the file of a :class:`mklearn.study.data.samples.SampleSet`; None without a file."""
    try:
        with zipfile.ZipFile(sample_set) as archive:
            return (archive.getinfo("y.npy").file_size - 128) // 8  # a header of 128 bytes, then int64
    except (OSError, KeyError, zipfile.BadZipFile):
        return None


@functools.cache  # asked for by every fit on it, for memory, run time and priority
def counted_pairs(path: str) -> int | None:
    """Count the pairs in a user's list: lines below the first, or rows of a Parquet table; None if it can't be read."""
    try:
        if path.endswith(".parquet"):
            import pyarrow.parquet as pq  # here: few studies have such a list

            return int(pq.read_metadata(path).num_rows)
        with open(path, "rb") as stream:
            return max(1, sum(1 for line in stream if line.strip()) - 1)
    except (OSError, ValueError):  # also pyarrow's errors of a file that is not Parquet
        return None


# --- images and matrices among them


def folder_mb(read: ReadSpec) -> float:
    """Compute the size of a user's folder of images, which is no input of a rule; 0 for other data sets."""
    root = (read.paths or {}).get("root") if read.reader == "image_folder" else None
    return _bytes_below(root) / 2**20 if root else 0.0


@functools.cache  # memory and run time of the same job are asked for one after the other
def _bytes_below(root: str) -> int:
    return sum(path.stat().st_size for path in Path(root).rglob("*") if path.is_file())


def text_mb(read: ReadSpec) -> float:
    """Estimate what the user's compressed tables take in memory beside their size on the disk; 0 for other data."""
    return sum(map(_bytes_beside, (read.paths or {}).values())) / 2**20


@functools.cache  # memory and run time of the same job are asked for one after the other
def _bytes_beside(path: str) -> float:
    from mklearn.study.data.readers.text_tables import TEXT_TABLES, sampled_text  # here: it loads NumPy

    try:
        if path.endswith(TEXT_TABLES):
            return max(0.0, sampled_text(Path(path))[1] - Path(path).stat().st_size)
    except (OSError, UserError):  # the reader says what is wrong with the file
        pass
    return 0.0


def decoded_mb(read: ReadSpec, n_samples: int) -> float:
    """Compute the size of the images of a registered data set, a byte per pixel; 0 where their shape is unknown.

    It counts where many images are made from few, or come in a small file (measured: 1.6 GB for 784 MB of images).
    """
    shape = read.expected.get("image_shape")
    return n_samples * math.prod(shape) / 2**20 if shape else 0.0


def images_mb(samples_mb: float, n_samples: int) -> float:
    """Compute the memory for describing or resizing images: all as read, and a batch of them in double precision.

    A pixel of a batch takes 8 bytes in place of one, and half as much again for what is computed from it. (Measured on
    seven descriptors of 3060 images of 60,000 pixels: 300 to 540 MB with the libraries.)
    """
    return 2 * samples_mb + 12 * samples_mb * min(1.0, BATCH / n_samples)


def pairwise_mb(n_samples: int, source_mb: float) -> float:
    """Compute the memory for a matrix with temporaries, and the centred features."""
    return 3 * source_mb + 4 * matrix_mb(n_samples)


def pairwise_seconds(n_samples: int, source_mb: float) -> float:
    """Estimate distances between vectors: 0.5 ns for a feature of a pair (chi-squared; the others are faster)."""
    features = source_mb * 2**20 / 8 / n_samples
    return n_samples**2 / 2 * 0.5e-9 * features


# --- landmarks


def moments_mb(n_features: int, n_folds: int, n_splits: int) -> float:
    """Compute the memory of moments, their sums and differences: triangles of one split's folds at a time."""
    return n_splits * (n_folds + 4) * matrix_mb(n_features) / 2 + 6 * matrix_mb(n_features)


def pass_seconds(n_samples: int, n_features: int, n_splits: int) -> float:
    """Estimate a pass: one product of a sample's features with each other (measured: 0.05 ns for a pair)."""
    return n_splits * n_samples * n_features * (n_features + 2000) * 1e-10


def landmark_fit_mb(
    spec: LandmarkSetSpec, protocol: SplitSpec, features_mb: float, n_samples: int, width: int
) -> float:  # fmt: skip
    """Compute the memory of a fit on landmarks, of one split at a time.

    ``features_mb`` are those of one block; ``width`` is the number of outputs of each sample, which are kept four
    times: embeddings in single and double precision, and what neighbours are searched in.
    """
    n_features, n_folds, _ = landmark_sizes(spec, protocol)
    return 500 + 2 * moments_mb(n_features, n_folds, 1) + 2 * features_mb + 4 * matrix_mb(n_samples, width)


def landmark_fit_seconds(spec: LandmarkSetSpec, protocol: SplitSpec, n_samples: int) -> float:
    """Estimate the fits on landmarks of one training size: eigenproblems of the features, and one pass."""
    n_features, n_folds, n_splits = landmark_sizes(spec, protocol)
    return n_splits * n_folds * 20 * n_features**3 * 1e-10 + pass_seconds(n_samples, n_features, n_splits)


def landmark_sizes(spec: LandmarkSetSpec, protocol: SplitSpec) -> tuple[int, int, int]:
    """Return the number of landmark features, inner folds, and splits at each training size."""
    return spec.landmarks.most * len(spec.kernels), spec.inner_folds, number_of_splits(protocol)


# --- fits


def kernel_fit_mb(n_samples: int, n_train: int, n_matrices: int, n_kernels: int) -> float:
    """Compute the memory of a fit on kernels.

    The cached matrices; three copies of each kernel among training samples and against the others; dense work on one
    kernel. Measured with 3060 samples, 1530 of them for training: 630 MB for one kernel, 1400 for seven.
    """
    cached = n_matrices * matrix_mb(n_samples)
    stacks = 3 * n_kernels * matrix_mb(n_samples, n_train)
    return cached + stacks + 14 * matrix_mb(n_train)


def dictionary_fit_mb(n_samples: int, n_train: int, n_kernels: int) -> float:
    """Compute the memory of a fit with a dictionary of kernels, besides features.

    Training kernels up to a GiB, and the parts of kernels that weights are learned from; dense work on few kernels, and
    new samples in blocks. Measured with 96 kernels of 2,000 samples: 640 MB with the libraries and 20 MB of features.
    """
    kept = min(1024.0, n_kernels * matrix_mb(n_train)) + n_kernels * matrix_mb(500)
    return kept + 10 * matrix_mb(n_train) + 5 * matrix_mb(min(n_samples, 4096), n_train)


def sample_fit_mb(source_mb: float) -> float:
    """Compute the memory of a fit on features or images, with scikit-learn (measured: 430 MB for 3 to 15 MB)."""
    return 250 + 8 * source_mb


def fit_minutes(spec: FitSpec, seconds: Sequence[float]) -> int:
    """Compute the run time to ask for, given an estimate of each training size.

    With a time limit of the study, which holds for each size, the run time is longer, so that the limit comes first and
    leaves a row.
    """
    limit = spec.evaluation.time_limit
    if limit is not None:
        return 10 * math.ceil((20 + limit * len(seconds)) / 10)
    return asked_minutes(sum(seconds))


def fit_seconds(spec: FitSpec, protocol: SplitSpec, n_train: int) -> float:
    """Estimate one fit for each split, and one for each candidate and fold of the inner cross-validation.

    With validation parts, each candidate is fitted once on each split.

    An eigenproblem takes 3 ns n_train^3, sums over kernels 30 ns n_train^2 each (measured on one core), and a fit at
    least 0.2 s, or what its card says.
    """
    method, n_kernels = spec.method, spec.n_kernels
    inner = spec.evaluation.inner_folds
    folds = n_train if inner == "leave_one_out" else inner
    if spec.evaluation.choice == "test_set":
        folds = 1
    candidates = number_of_candidates(method, n_kernels)
    if candidates == 1 and spec.evaluation.components == "all":  # nothing to choose
        folds = 0
    each = candidates if protocol.kind == "validation_folds" else 1 + candidates * folds
    fits = number_of_splits(protocol) * each
    iteration = 3e-9 * n_train**3 + 3e-8 * n_kernels * n_train**2
    return fits * (_cost(method)["fit_seconds"] + number_of_iterations(method) * iteration)


def final_fit_mb(spec: FitSpec, n_samples: int) -> float:
    """Compute the memory of a final model's fit on all samples, besides their features."""
    if spec.landmarks is not None:
        assert isinstance(spec.evaluation.inner_folds, int)
        n_features = spec.landmarks.most * len(spec.kernels)
        block_in_work = 200
        return block_in_work + moments_mb(n_features, spec.evaluation.inner_folds, 1)
    n_kernels = len(spec.kernels)
    if not n_kernels and spec.n_kernels:
        return dictionary_fit_mb(n_samples, n_samples, spec.n_kernels)
    return kernel_fit_mb(n_samples, n_samples, n_kernels, n_kernels) if n_kernels else 0.0


def final_fit_seconds(spec: FitSpec, protocol: SplitSpec, n_samples: int) -> float:
    """Estimate a final model's fit; with landmarks two passes over all samples, and eigenproblems of the features."""
    if spec.landmarks is None:
        return fit_seconds(spec, protocol, n_samples)
    n_features = spec.landmarks.most * len(spec.kernels)
    return 2 * pass_seconds(n_samples, n_features, 1) + fit_seconds(spec, protocol, n_features)


def importances_seconds(n_samples: int, features_mb: float, permutations: int) -> float:
    """Estimate the predictions of a fifth of the samples by the others, for each feature and permutation."""
    n_features = features_mb * 2**20 / (8 * n_samples)
    one = 0.005 + 1e-9 * n_samples**2 / 5 * (n_features + 20)
    return permutations * n_features * one


def fit_priority(spec: FitSpec, protocol: SplitSpec, n_train: Sequence[int]) -> float:
    """Compute a priority between 0 and 1: the longest fit first, so that no core waits for a long fit at the end."""
    return 1.0 - 1.0 / (1.0 + sum(fit_seconds(spec, protocol, n) for n in n_train))


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


def number_of_classes(read: ReadSpec) -> int | None:
    """Return the number of classes of a registered data set; None for a user's own before it is read."""
    total = read.expected.get("n_classes")
    if total is None:
        return None
    chosen = len(read.classes or ()) or total - len(read.exclude_classes or ())
    return int(min(chosen, read.first_classes or chosen))


def number_of_matrices(kernels: Sequence[Mapping[str, Any]]) -> int:
    """Count the matrices that kernels are made from: cached ones, and those of scaled features in the fit."""
    named = ("view", "feature_scaling", "impute", "measure")
    parts = (part for kernel in kernels for part in kernel.get("factors", [kernel]))
    return len({tuple(part.get(field) for field in named) for part in parts})


def number_of_outputs(method: MethodSpec, n_classes: int | None) -> int:
    """Return the columns of an embedding, or of class scores: as the method says, else at most one for each class."""
    named = [*method.grid.get("n_components", ()), method.parameters.get("n_components")]
    return max((number for number in named if isinstance(number, int)), default=n_classes or UNKNOWN_CLASSES)


def number_of_candidates(method: MethodSpec, n_kernels: int) -> int:
    """Return the number of fits on each fold: combinations of the grid, times sizes, times kernels tried alone."""
    count = method.n_candidates(n_kernels)
    if _cost(method)["fits_each_kernel"]:
        count *= max(1, n_kernels)
    return count * max(1, len(method.sweep.parameters.get("sizes") or ()))


def _cost(method: MethodSpec) -> Mapping[str, Any]:
    return _METHODS.get(method.implementation, _UNKNOWN_METHOD)


def number_of_iterations(method: MethodSpec) -> int:
    """Return the number of alternations, at most 20: methods with hundreds of iterations have cheap ones."""
    candidates = method.grid.get("max_iter") or [method.parameters.get("max_iter") or 1]
    return min(20, max(1, *map(int, candidates)))


def licences(method: MethodSpec, n_kernels: int) -> int:
    """Return the number of MOSEK licences: 1 if the method may call a convex solver and names no other, else 0."""
    parameters = method.parameters
    if parameters.get("solver") not in ("auto", "MOSEK"):
        return 0
    step = parameters.get("beta_step")
    return int(step in ("sdp", "dnn") or (step == "exact" and n_kernels > ENUMERATED_KERNELS))
