"""Repair of kernels that are not positive semidefinite, consistent between training rows and rows of new samples.

Kernels of distances that are not Euclidean (point sets, or a user's own matrix) may have negative eigenvalues.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Literal, get_args

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray

from mklearn.checks import Array, as_float_matrix, as_square_symmetric, check_choice
from mklearn.errors import DataError

PSDPolicy = Literal["clip", "shift", "flip", "none"]

SPECTRUM_POINTS = 48
"""Largest number of ranks that `spectrum_curve` keeps."""


@dataclass(frozen=True)
class PSDRepair:
    """A repaired training kernel, and the same repair of rows of new samples.

    Attributes
    ----------
    kernel : ndarray, shape (n, n)
        The training kernel after repair.
    min_eigenvalue, relative_min_eigenvalue : float or None
        Smallest eigenvalue before repair; the same divided by the largest absolute eigenvalue. None, as the next two,
        if eigenvalues were not computed.
    n_negative, negative_mass : int or None, float or None
        Number of eigenvalues below ``-tolerance`` times the largest absolute one, and the sum of their absolute values
        divided by that of all.
    eigenvalues : ndarray, shape (n,), or (0,) if they were not computed
        All of them before repair, largest first.
    shift : float
        Amount that policy "shift" added to the diagonal; 0 otherwise.
    vectors, multipliers : ndarray, shapes (n, r) and (r,), or None
        Kept eigenvectors Q and the multipliers f(lambda)/lambda; None if rows are not changed.
    """

    kernel: Array
    min_eigenvalue: float | None = None
    relative_min_eigenvalue: float | None = None
    n_negative: int | None = None
    negative_mass: float | None = None
    eigenvalues: NDArray[np.float64] = field(default_factory=lambda: np.empty(0))
    shift: float = 0.0
    vectors: NDArray[np.float64] | None = None
    multipliers: NDArray[np.float64] | None = None

    def transform(self, K_rows: ArrayLike) -> Array:
        """Apply the repair to rows of new samples against the training samples, shape (m, n); return a new array.

        For "clip" and "flip" the training rows before repair give the rows of `kernel`. "shift" and "none" do not
        change the rows: a shift is added between a training sample and itself only. Rows that are not finite, or of
        another number of training samples, raise `DataError`.
        """
        rows = as_float_matrix(K_rows, "the kernel rows", self.kernel.shape[1])
        if self.vectors is None or self.multipliers is None:
            return rows.copy()
        repaired = ((rows.astype(np.float64, copy=False) @ self.vectors) * self.multipliers) @ self.vectors.T
        return repaired.astype(rows.dtype, copy=False)


def psd_repair(K: ArrayLike, policy: PSDPolicy = "clip", *, spectrum: bool = True) -> PSDRepair:
    """Make a symmetric training kernel positive semidefinite.

    ``K = Q diag(lambda) Q'`` becomes ``Q diag(f(lambda)) Q'``, with ``f = max(lambda, 0)`` for "clip", ``|lambda|`` for
    "flip", ``lambda + |lambda_min|`` for "shift". A kernel without eigenvalues below ``-tolerance * max|lambda|`` is
    not changed; the tolerance is 1e-10, or n times the precision of the dtype if larger.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel among the training samples, of any kind: a user's "squared Euclidean" matrix need not be one.
    policy : {"clip", "shift", "flip", "none"}
        "none" only computes the eigenvalues. "shift" is the repair of Zhang et al., to whom MKL-DR (section 3.1)
        refers; it may make a kernel identity-like (see `mklearn.kernels.identity_like`), and `mklearn.kernels.Kernel`
        warns then.
    spectrum : bool
        Whether eigenvalues are computed where they are not needed: of a kernel that has a Cholesky factor, and with
        policy "none".

    Raises
    ------
    ConfigError
        Unknown policy.
    DataError
        Not a finite symmetric matrix, or no positive eigenvalue at all.

    Notes
    -----
    The repair of rows of new samples keeps eigenvectors with eigenvalues beyond the tolerance only: f(lambda)/lambda
    is undefined for the others, and rows of a positive semidefinite extension have no component along them.
    """
    check_choice(policy, "psd", get_args(PSDPolicy))
    symmetric = as_square_symmetric(K, "the kernel")
    repair = repair_of(symmetric, policy, spectrum=spectrum)
    return replace(repair, kernel=symmetric.copy()) if repair.kernel is symmetric else repair


def repair_of(symmetric: Array, policy: PSDPolicy, *, spectrum: bool) -> PSDRepair:
    """Compute `psd_repair` of a valid policy and kernel, which are not checked; without a repair it is not copied."""
    if policy == "none" and not spectrum:
        return PSDRepair(symmetric)
    dtype = symmetric.dtype
    kernel = symmetric.astype(np.float64, copy=False)
    n = kernel.shape[0]
    tolerance = max(1e-10, n * float(np.finfo(dtype).eps))

    if not spectrum and _has_cholesky_factor(kernel, tolerance):
        return PSDRepair(symmetric)

    values = scipy.linalg.eigvalsh(kernel)
    size = float(np.abs(values).max())
    smallest = float(values[0])
    negative = values < -tolerance * size
    mass = float(np.abs(values[negative]).sum() / np.abs(values).sum()) if size else 0.0
    measured = (smallest, smallest / size if size else 0.0, int(negative.sum()), mass, values[::-1])
    if not negative.any() or policy == "none":
        return PSDRepair(symmetric, *measured)
    if policy == "shift":
        shifted = kernel.copy()
        shifted[np.diag_indices(n)] -= smallest
        return PSDRepair(shifted.astype(dtype, copy=False), *measured, shift=-smallest)

    values, vectors = scipy.linalg.eigh(kernel)
    kept = values > tolerance * size if policy == "clip" else np.abs(values) > tolerance * size
    if not kept.any():
        raise DataError(
            "the kernel has no positive eigenvalue, so clipping leaves nothing; is it a distance matrix? "
            "Use kind 'gaussian' for distances"
        )
    values, vectors = values[kept], np.ascontiguousarray(vectors[:, kept])
    multipliers = np.sign(values)
    repaired = (vectors * np.abs(values)) @ vectors.T
    repaired = ((repaired + repaired.T) / 2).astype(dtype, copy=False)
    return PSDRepair(repaired, *measured, vectors=vectors, multipliers=multipliers)


def _has_cholesky_factor(kernel: NDArray[np.float64], tolerance: float) -> bool:
    """Return True only if no eigenvalue is below ``-tolerance`` times the largest one.

    The diagonal is raised by ``tolerance`` times the largest diagonal entry or the mean row sum, which are lower bounds
    of the largest eigenvalue, so that singular kernels have a factor, too.
    """
    bound = max(float(kernel.diagonal().max()), float(kernel.sum()) / len(kernel))
    raised = kernel.copy()
    raised[np.diag_indices_from(raised)] += tolerance * bound
    try:
        scipy.linalg.cholesky(raised, lower=True, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return False
    return True


def spectrum_curve(eigenvalues: ArrayLike) -> list[tuple[int, float]]:
    """Select points (rank, share) of a spectrum, largest eigenvalue first, for a log-log plot.

    Ranks run from 1 to n, about evenly spaced on a logarithmic scale, all of them if n is at most `SPECTRUM_POINTS`.
    Shares are signed, of the sum of the absolute eigenvalues. A kernel that is zero has no points.
    """
    values = np.asarray(eigenvalues, dtype=np.float64)
    total = float(np.abs(values).sum())
    if not total > 0:
        return []
    spaced = np.geomspace(1, values.size, SPECTRUM_POINTS).round().astype(int)
    ranks = np.arange(1, values.size + 1) if values.size <= SPECTRUM_POINTS else np.unique(spaced)
    return [(int(rank), float(values[rank - 1] / total)) for rank in ranks]
