"""Base class of the kernels: all steps after the kernel function, fitted on the training samples only."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike

from mklearn.checks import (
    Array,
    as_distances,
    as_float_array,
    as_float_matrix,
    as_nonnegative,
    as_square_symmetric,
    check_choice,
    invalid,
    refuse_distances,
)
from mklearn.errors import ConfigError, DataError, warn
from mklearn.kernels.matrices import (
    IDENTITY_LIKE_BELOW,
    IdentityLikeKernelWarning,
    KernelCentring,
    PSDPolicy,
    PSDRepair,
    centred_off_diagonal_mass,
    checked_trace,
    has_cholesky_factor,
    kernel_size,
    off_diagonal_mass,
    psd_repair,
    scale_to_centred_trace,
    unit_diagonal,
)

Normalise = Literal["none", "unit_diagonal", "centred_trace"]

DISTANCE_MEASURES = frozenset({"squared_euclidean", "chi2", "manhattan", "point_set", "tanimoto", "distance"})
"""Measures that are distances: non-negative, and zero between a sample and itself."""

# Number of rows of a training kernel that are computed at once.
_ROWS = 64


@dataclass(kw_only=True, eq=False)
class Kernel(ABC):
    """A kernel as a function of pairwise matrices, fitted on the training samples.

    Order of operations: kernel function, unit diagonal (if chosen), centring (if chosen), repair of negative
    eigenvalues, scaling to unit centred trace (if chosen). Bandwidth, means, eigenvectors and the trace come from the
    training samples alone; rows of new samples go through the same fitted maps.

    Parameters
    ----------
    measure : str, optional
        Content of the pairwise matrix, one of `measures`. Default: the first one.
    centre : bool
        Centre in feature space at the mean of the training samples.
    normalise : {"none", "unit_diagonal", "centred_trace"}
        See `mklearn.kernels.unit_diagonal` and `mklearn.kernels.scale_to_centred_trace`.
    psd : {"clip", "none"}
        Repair of negative eigenvalues, see `mklearn.kernels.psd_repair`.
    name : str
        Name of the kernel in warnings.

    Attributes
    ----------
    kernel_train_ : ndarray, shape (n, n)
    n_train_ : int
    divisor_ : float
        Centred trace that the kernel was divided by; 1 unless ``normalise="centred_trace"``.
    off_diagonal_mass_ : float
        See `mklearn.kernels.off_diagonal_mass`.
    identity_like_ : bool
        Off-diagonal mass below a tenth.
    repair_ : PSDRepair
        Its ``kernel`` is `kernel_train_`.
    info_ : dict
        "min_eigenvalue" (None unless the kernel needed a repair), "off_diagonal_mass", "identity_like", and "bandwidth"
        if it has one.

    Notes
    -----
    ``transform`` of the training rows gives `kernel_train_`.

    A subclass declares `kind`, `measures` and `psd_measures` (if it has any, and again if it overrides the kernel
    function), adds its parameters as fields of a ``dataclass(kw_only=True, eq=False)``, validates them in
    ``__post_init__``, and defines `kernel_function`; `fit_parameters` if it has data-dependent parameters; `inputs` if
    it is computed from several pairwise matrices.
    """

    kind: ClassVar[str]
    measures: ClassVar[tuple[str, ...]]
    psd_measures: ClassVar[frozenset[str]] = frozenset()
    """Measures that give a positive semidefinite kernel for any features."""
    of_features: ClassVar[bool] = False
    """Whether the kernel is the inner product of the features themselves, so that no landmarks are needed."""

    measure: str | None = None
    centre: bool = True
    normalise: Normalise = "centred_trace"
    psd: PSDPolicy = "clip"
    name: str = ""

    def __post_init__(self) -> None:
        if self.measure is None:
            self.measure = self.measures[0]
        if self.measure not in self.measures:
            raise ConfigError(
                f"a {self.kind} kernel can't be computed from measure {self.measure!r}; "
                f"valid measures: {', '.join(self.measures)}"
            )
        check_choice(self.normalise, "normalise", get_args(Normalise))
        check_choice(self.psd, "psd", get_args(PSDPolicy))
        if not isinstance(self.centre, bool | np.bool_):
            raise invalid(self.centre, "centre", "true or false")
        self.centre = bool(self.centre)

    @property
    def inputs(self) -> list[tuple[str, str]]:
        """Return the name (for messages) and measure of each pairwise matrix, in the order of `fit`'s arguments."""
        assert self.measure is not None
        return [(f"the pairwise matrix ({self.measure})", self.measure)]

    def fit_parameters(self, blocks: Sequence[Array]) -> None:
        """Fit the parameters of the kernel function to validated training blocks, each (n, n)."""
        return

    @abstractmethod
    def kernel_function(self, blocks: Sequence[Array]) -> Array:
        """Compute the kernel elementwise from validated blocks, each (m, n); return a block or a new matrix."""

    def fit(self, *blocks: ArrayLike, measured: bool = False, overwrite: bool = False) -> Self:
        """Fit on the pairwise matrices among the training samples.

        Parameters
        ----------
        *blocks : array_like, shape (n, n)
            Distances, inner products or kernel values, one matrix for each of `inputs`. Modified only with `overwrite`.
        measured : bool
            Whether `mklearn.kernels.distances.MEASURES` computed the matrices from features. If so, they are not
            checked again, and a kernel of `psd_measures` is not tested for negative eigenvalues.
        overwrite : bool
            Whether the kernel may overwrite the matrices. This saves the memory of one matrix, unless the kernel is
            tested for negative eigenvalues.

        Raises
        ------
        DataError
            A matrix is not finite, not symmetric or not of distances, the number of matrices is wrong, or all samples
            are equal.
        """
        training = [np.asarray(block) for block in blocks] if measured else self._checked(blocks, training=True)
        self.n_train_ = len(training[0])
        self.fit_parameters(training)
        is_psd = measured and self.psd_measures.issuperset(measure for _, measure in self.inputs)
        if is_psd:
            kernel = self._training_kernel(training, training[0] if overwrite else None)
        else:  # the kernel function may come from another package
            kernel = as_square_symmetric(self.kernel_function(training), "the kernel")
        self._diagonal = np.diagonal(kernel).copy()
        if self.normalise == "unit_diagonal":
            kernel = unit_diagonal(kernel)
        if not overwrite and any(np.may_share_memory(kernel, block) for block in training):
            kernel = kernel.copy()  # from here on it is changed in place
        kernel, repair = self._centred_and_scaled(kernel, is_psd=is_psd)
        self.kernel_train_: Array = kernel
        self.repair_ = replace(repair, kernel=kernel)
        self.off_diagonal_mass_ = centred_off_diagonal_mass(kernel) if self.centre else off_diagonal_mass(kernel)
        self.identity_like_ = self.n_train_ > 2 and self.off_diagonal_mass_ < IDENTITY_LIKE_BELOW
        if self.identity_like_:
            warn(
                f"kernel {self.name!r} is close to the identity: only {self.off_diagonal_mass_:.2%} of its centred "
                "squared norm lies off the diagonal. It says little about which samples are alike, and weight learning "
                "may prefer it for that; consider a wider bandwidth or leave it out",
                IdentityLikeKernelWarning,
            )
        self.info_ = {
            "min_eigenvalue": repair.min_eigenvalue,
            "off_diagonal_mass": self.off_diagonal_mass_,
            "identity_like": self.identity_like_,
        }
        if hasattr(self, "bandwidth_"):
            self.info_["bandwidth"] = self.bandwidth_
        return self

    def _training_kernel(self, blocks: Sequence[Array], out: Array | None) -> Array:
        """Return the block if it is the kernel; else compute the upper triangle and write both triangles to `out`."""
        n = len(blocks[0])
        for start in range(0, n, _ROWS):
            rows = slice(start, start + _ROWS)
            values = self.kernel_function([block[rows, start:] for block in blocks])
            for block in blocks:
                if np.may_share_memory(values, block):
                    return block
            if out is None:
                out = np.empty((n, n), dtype=values.dtype)
            out[rows, start:] = values
            out[start:, rows] = values.T
        assert out is not None
        return out

    def _centred_and_scaled(self, kernel: Array, *, is_psd: bool) -> tuple[Array, PSDRepair]:
        """Centre, repair and scale in place; also return the repair."""
        size = kernel_size(kernel)
        self._centring = KernelCentring() if self.centre else None
        if self._centring is not None:
            kernel = self._centring.fit_transform(kernel, out=kernel)
        needs_none = is_psd or self.psd == "none" or has_cholesky_factor(kernel)
        repair = PSDRepair(kernel) if needs_none else psd_repair(kernel)
        kernel = repair.kernel
        self.divisor_ = 1.0
        if self.normalise == "centred_trace" and self.centre and repair.vectors is None:
            mean_diagonal = float(np.trace(kernel, dtype=np.float64)) / self.n_train_
            self.divisor_ = checked_trace(mean_diagonal, size, kernel.dtype)  # the mean is 0
            kernel /= kernel.dtype.type(self.divisor_)
        elif self.normalise == "centred_trace":
            kernel, self.divisor_ = scale_to_centred_trace(kernel, out=kernel)
        return kernel, repair

    def transform(self, *blocks: ArrayLike, own: Sequence[ArrayLike | None] | None = None) -> Array:
        """Compute the kernel between new samples and the training samples, shape (m, n).

        Parameters
        ----------
        *blocks : array_like, shape (m, n)
            The pairwise matrices with new samples in the rows and the training samples in the columns.
        own : sequence of array_like, shape (m,), optional
            For each pairwise matrix, its value between each new sample and itself. Needed with
            ``normalise="unit_diagonal"``, except for distances, where it is zero; otherwise ignored.

        Raises
        ------
        DataError
            Not fitted, wrong shape or number of matrices, not finite, negative distances, or `own` missing.
        """
        if not hasattr(self, "info_"):
            raise DataError(f"this {type(self).__name__} is not fitted; call fit with the training samples first")
        kernel = self.kernel_function(self._checked(blocks, training=False))
        if self.normalise == "unit_diagonal":
            kernel = unit_diagonal(kernel, self.self_similarity(own, len(kernel)), self._diagonal)
        if self._centring is not None:
            kernel = self._centring.transform(kernel)
        kernel = self.repair_.transform(kernel)
        if self.normalise == "centred_trace":
            kernel /= kernel.dtype.type(self.divisor_)
        return kernel

    def _checked(self, blocks: Sequence[ArrayLike], *, training: bool) -> list[Array]:
        """Return checked pairwise matrices: among the training samples, or between new and training samples."""
        if len(blocks) != len(self.inputs):
            raise DataError(
                f"this {self.kind} kernel is computed from {len(self.inputs)} pairwise matrices; got {len(blocks)}"
            )
        if len({np.shape(block) for block in blocks}) > 1:
            raise DataError(f"the pairwise matrices have different shapes: {[np.shape(block) for block in blocks]}")
        checked: list[Array] = []
        for block, (label, measure) in zip(blocks, self.inputs, strict=True):
            are_distances = measure in DISTANCE_MEASURES
            if training:
                matrix = as_distances(block, label) if are_distances else as_square_symmetric(block, label)
                if measure == "kernel":
                    refuse_distances(matrix, label)
            else:
                matrix = as_float_matrix(block, f"the rows of {label}", self.n_train_)
                matrix = as_nonnegative(matrix, f"the rows of {label}") if are_distances else matrix
            checked.append(matrix)
        return checked

    def self_similarity(self, own: Sequence[ArrayLike | None] | None, n_rows: int) -> Array:
        """Compute k(x, x) of m samples before any normalisation, shape (m,); `own` is as for `transform`."""
        columns: list[Array] = []
        for number, (label, measure) in enumerate(self.inputs):
            values: Array = np.zeros(n_rows)
            if measure not in DISTANCE_MEASURES:
                if own is None or (of_rows := own[number]) is None:
                    raise DataError(
                        "unit-diagonal normalisation of new samples needs their similarity to themselves: pass `own`, "
                        "for each pairwise matrix one value per row; in a view, Pairwise(values, positions)"
                    )
                values = as_float_array(of_rows, f"`own` for {label}", ndim=1)
                if values.size != n_rows:
                    raise DataError(f"`own` for {label} has {values.size} entries for {n_rows} rows")
            columns.append(values[:, None])
        return self.kernel_function(columns)[:, 0]
