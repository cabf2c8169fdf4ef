"""Centring, scaling and repair of kernel matrices, and the detection of kernels that are close to the identity.

Kernels of non-Euclidean distances (point sets, or a user's own matrix) may have negative eigenvalues. A kernel close to
``a I + b 11'`` separates all training samples from each other but carries no information on new samples. Criteria for
kernel weights reward it nonetheless, so it takes weight from informative kernels.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
import scipy.linalg
from numpy.typing import ArrayLike, NDArray

from mklearn.checks import (
    Array,
    as_float_array,
    as_float_matrix,
    as_square_matrix,
    as_square_symmetric,
    cached_rows,
    check_square,
    symmetrized,
)
from mklearn.errors import ConstantKernel, DataError
from mklearn.estimator_input import nonnegative_weights


class KernelCentring:
    """Centring in feature space about the mean of the training samples.

    The centred kernel is ``k(x, y) - mean_j k(x, x_j) - mean_i k(x_i, y) + mean_ij k(x_i, x_j)``, with all means over
    the training samples.

    Attributes
    ----------
    column_means_, mean_ : ndarray, shape (n,), and float
        Column means and overall mean of the training kernel.
    """

    def fit_transform(self, kernel: Array, *, out: Array | None = None) -> Array:
        """Fit to a valid training kernel, which is not checked, and return the centred kernel, exactly symmetric.

        The result is written to `out`, which may be `kernel` itself, or to a new array by default.
        """
        self.column_means_: Array = kernel.mean(axis=1, dtype=np.float64)  # row means: contiguous
        self.mean_ = float(self.column_means_.mean())
        # half of the overall mean is added to the rows and half to the columns, so that the result is symmetric
        shares = np.asarray((self.column_means_ - self.mean_ / 2).astype(kernel.dtype))
        centred = np.empty_like(kernel) if out is None else out
        for part in cached_rows(kernel):
            np.subtract(kernel[part], shares[part, None] + shares, out=centred[part])
        return centred

    def transform(self, kernel: Array) -> Array:
        """Centre valid rows between any samples and the training samples, shape (m, n); return a new array."""
        row_means = kernel.mean(axis=1, dtype=np.float64)
        centred = kernel - row_means[:, None].astype(kernel.dtype)
        centred -= (self.column_means_ - self.mean_).astype(kernel.dtype)
        return centred


def centre_kernel(K: ArrayLike) -> Array:
    """Compute the doubly centred kernel ``H K H``, ``H = I - 11'/n``, shape (n, n), exactly symmetric."""
    return KernelCentring().fit_transform(as_square_symmetric(K, "the training kernel"))


def unit_diagonal(
    K: ArrayLike, row_diagonal: ArrayLike | None = None, column_diagonal: ArrayLike | None = None
) -> Array:
    """Scale a kernel to unit diagonal (cosine normalisation), ``k(x, y) / sqrt(k(x, x) k(y, y))``.

    Parameters
    ----------
    K : array_like, shape (n, m)
        Kernel between n samples and m training samples.
    row_diagonal, column_diagonal : array_like, shape (n,) and (m,), optional
        k(x, x) of the samples in rows and columns. Default of both: the diagonal of a square `K`; the diagonal of the
        result is then exactly one.

    Raises
    ------
    DataError
        A self-similarity is not positive, shapes do not match, or a diagonal of a non-square kernel is missing.
    """
    kernel = as_float_matrix(K, "the kernel")
    if (row_diagonal is None) != (column_diagonal is None):
        raise DataError("unit_diagonal needs the self-similarities of both the rows and the columns, or neither")
    if row_diagonal is None or column_diagonal is None:
        check_square(kernel, "the kernel")
        rows = columns = _lengths(np.diagonal(kernel), "training sample")
    else:
        rows = _lengths(row_diagonal, "sample of the rows")
        columns = _lengths(column_diagonal, "training sample")
    if (rows.size, columns.size) != kernel.shape:
        raise DataError(
            f"{rows.size} row and {columns.size} column self-similarities do not fit a kernel of shape {kernel.shape}"
        )
    # multiply the lengths first: the result is then as symmetric as the kernel
    scaled: Array = kernel / (rows[:, None].astype(kernel.dtype) * columns.astype(kernel.dtype))
    if row_diagonal is None:
        np.fill_diagonal(scaled, 1)
    return scaled


def centred_trace(K: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Compute the total variance in feature space, ``tr(K)/n - 1'K1/n^2``, of a kernel of shape (n, n).

    It is the mean squared distance of the samples from their mean, whether or not `K` is centred. Sample weights, (n,),
    nonnegative and not all zero, weight both means. Raises `DataError` unless `K` is finite and square.
    """
    kernel = as_square_matrix(K, "the kernel", dtype=None)
    weights = nonnegative_weights(sample_weight, len(kernel))
    if weights is not None:
        shares = weights / weights.sum()
        return float(shares @ np.diagonal(kernel) - shares @ kernel @ shares)
    return float(np.trace(kernel, dtype=np.float64) / len(kernel) - kernel.mean(dtype=np.float64))


def scale_to_centred_trace(K: ArrayLike, *, out: Array | None = None) -> tuple[Array, float]:
    """Divide a training kernel by its centred trace, so that kernels of different spread contribute alike to a sum.

    The result is written to `out`, which may be `K`, or to a new array by default. The divisor is returned too; use it
    to scale rows of new samples.

    Raises
    ------
    DataError
        All samples coincide in feature space (centred trace zero), or `K` is far from positive semidefinite.
    """
    kernel = as_square_matrix(K, "the kernel", dtype=None)
    divisor = checked_trace(centred_trace(kernel), kernel_size(kernel), kernel.dtype)
    return np.divide(kernel, kernel.dtype.type(divisor), out=out), divisor


def kernel_size(kernel: Array) -> float:
    """Return the largest absolute value on the diagonal of a kernel or, if that is 0 (as of -d), of all values."""
    return float(np.abs(np.diagonal(kernel)).max()) or float(np.abs(kernel).max())


def checked_trace(trace: float, size: float, dtype: np.dtype) -> float:
    """Return the centred trace of a kernel if it is valid; `size` is the `kernel_size` before centring.

    Raises `ConstantKernel` if the trace is not larger than the rounding errors of kernel values.
    """
    # below this limit the difference of the two means is rounding error
    if trace <= max(1e-12, 4 * float(np.finfo(dtype).eps)) * size or size == 0:
        raise ConstantKernel(
            f"the kernel has centred trace {trace:.3g}: in its feature space all training samples coincide (or the "
            "kernel is not positive semidefinite), so it can't be scaled to unit variance; leave it out, choose "
            "another bandwidth, or scale features that lie far from zero (`feature_scaling`)"
        )
    return trace


def _lengths(diagonal: ArrayLike, what: str) -> Array:
    """Return the lengths of samples in feature space, the square roots of their self-similarities."""
    values = as_float_array(diagonal, f"the self-similarity of each {what}", ndim=1).astype(np.float64)
    if values.min() <= 0:
        sample = int(values.argmin())
        raise DataError(
            f"{what} {sample} has self-similarity {values[sample]:.6g}; unit-diagonal normalisation needs positive "
            "values (a sample whose features are all zero has none)"
        )
    return np.sqrt(values)


IDENTITY_LIKE_BELOW = 0.1
"""Off-diagonal mass below which a kernel counts as identity-like."""


class IdentityLikeKernelWarning(UserWarning):
    """Warning that a kernel is close to the identity: weight learning may prefer it without reason."""


def off_diagonal_mass(K: ArrayLike) -> float:
    """Compute the share of the centred kernel, (n, n), that no diagonal kernel explains.

    The share is ``min_D ||HKH - HDH||_F^2 / ||HKH||_F^2`` over diagonal matrices D, with ``H = I - 11'/n``: the
    relative squared Frobenius norm of the residual of a least-squares fit. It is 0 for a diagonal matrix plus any
    ``u 1' + 1 u'`` (hence for ``a I + b 11'``), invariant to scaling and centring, and close to 1 if similarities
    between different samples dominate the kernel.

    Returns
    -------
    float
        In [0, 1]; 0 for a constant kernel and for n <= 2, where every centred kernel is a multiple of ``H``.

    Raises
    ------
    DataError
        Not a finite symmetric matrix.
    """
    kernel = as_square_symmetric(K, "the training kernel").astype(np.float64, copy=False)
    centred = centre_kernel(kernel)
    # squared relative size of the rounding errors that centring a constant kernel leaves
    if float(np.vdot(centred, centred)) <= 1e-24 * float(np.vdot(kernel, kernel)):
        return 0.0
    return centred_off_diagonal_mass(centred)


def centred_off_diagonal_mass(kernel: Array) -> float:
    """Compute the off-diagonal mass of a valid centred kernel, which is not checked."""
    parts = cached_rows(kernel) if kernel.dtype != np.float64 else [slice(None)]
    rows = (kernel[part].astype(np.float64, copy=False) for part in parts)
    total = sum(float(np.vdot(block, block)) for block in rows)
    n = len(kernel)
    if n <= 2 or total == 0:
        return 0.0
    diagonal = np.diagonal(kernel).astype(np.float64)
    a, c = 1 - 2 / n, 1 / n**2  # the normal equations have the matrix H o H = a I + c 11'
    fitted = diagonal / a - c * diagonal.sum() / (a * (a + c * n))
    explained = float(fitted @ diagonal)
    return float(min(1.0, max(0.0, 1 - explained / total)))


PSDPolicy = Literal["clip", "none"]


@dataclass(frozen=True)
class PSDRepair:
    """A repaired training kernel and its repair for rows of new samples.

    Attributes
    ----------
    kernel : ndarray, shape (n, n)
        The training kernel after repair.
    min_eigenvalue : float or None
        Smallest eigenvalue before repair; None if the kernel needs none and its eigenvalues were not computed.
    vectors : ndarray, shape (n, r), or None
        Eigenvectors Q of the positive eigenvalues; None if rows are not changed.
    """

    kernel: Array
    min_eigenvalue: float | None = None
    vectors: NDArray[np.float64] | None = None

    def transform(self, K_rows: ArrayLike) -> Array:
        """Apply the repair to rows of new samples against the training samples, shape (m, n); return a new array.

        Training rows before repair become the rows of `kernel`. Raises `DataError` for rows that are not finite or have
        another number of training samples.
        """
        rows = as_float_matrix(K_rows, "the kernel rows", self.kernel.shape[1])
        if self.vectors is None:
            return rows.copy()
        repaired = (rows.astype(np.float64, copy=False) @ self.vectors) @ self.vectors.T
        return repaired.astype(rows.dtype, copy=False)


def psd_repair(K: ArrayLike) -> PSDRepair:
    """Make a symmetric training kernel positive semidefinite: clip its negative eigenvalues at 0.

    A kernel without eigenvalues below ``-tolerance * max|lambda|`` is not changed; the tolerance is 1e-10, or n times
    the precision of the dtype if larger.

    Parameters
    ----------
    K : array_like, shape (n, n)
        Kernel among the training samples.

    Raises
    ------
    DataError
        Not a finite symmetric matrix, or no positive eigenvalue at all.

    Notes
    -----
    The repair of new rows keeps only eigenvectors whose eigenvalues exceed the tolerance: rows of a positive
    semidefinite extension have no component along the others. Deviation: MKL-DR (section 3.1) cites Zhang et al., who
    shift all eigenvalues by the smallest, which makes kernels identity-like (see `off_diagonal_mass`).
    """
    symmetric = as_square_symmetric(K, "the kernel")
    kernel = symmetric.astype(np.float64, copy=False)
    tolerance = psd_tolerance(symmetric)
    values = scipy.linalg.eigvalsh(kernel)
    size = float(np.abs(values).max())
    smallest = float(values[0])
    if smallest >= -tolerance * size:
        return PSDRepair(symmetric.copy(), smallest)
    values, vectors = scipy.linalg.eigh(kernel)
    kept = values > tolerance * size
    if not kept.any():
        raise DataError(
            "the kernel has no positive eigenvalue, so clipping leaves nothing; is it a distance matrix? "
            "Use kind 'gaussian' for distances"
        )
    values, vectors = values[kept], np.ascontiguousarray(vectors[:, kept])
    repaired = symmetrized((vectors * values) @ vectors.T).astype(symmetric.dtype, copy=False)
    return PSDRepair(repaired, smallest, vectors)


def psd_tolerance(kernel: Array) -> float:
    """Return the share of the largest eigenvalue below which a negative eigenvalue is a rounding error."""
    return max(1e-10, len(kernel) * float(np.finfo(kernel.dtype).eps))


def has_cholesky_factor(kernel: Array) -> bool:
    """Return True only if a valid kernel has no eigenvalue that `psd_repair` counts as negative.

    So that singular kernels have a factor too, the diagonal is raised by the tolerance times a lower bound of the
    largest eigenvalue: the largest diagonal entry or the mean row sum.
    """
    bound = max(float(kernel.diagonal().max()), float(kernel.sum(dtype=np.float64)) / len(kernel))
    raised = kernel.astype(np.float64)
    raised[np.diag_indices_from(raised)] += psd_tolerance(kernel) * bound
    try:
        scipy.linalg.cholesky(raised, lower=True, overwrite_a=True, check_finite=False)
    except scipy.linalg.LinAlgError:
        return False
    return True
