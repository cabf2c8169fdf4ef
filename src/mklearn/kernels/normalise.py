"""Centring about the mean of the training samples, and two scalings: unit diagonal and unit centred trace."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mklearn.checks import (
    Array,
    as_float_array,
    as_float_matrix,
    as_square_symmetric,
    cached_rows,
    check_square,
    nonnegative_weights,
)
from mklearn.errors import ConstantKernel, DataError


class KernelCentring:
    """Centring in feature space about the mean of the training samples.

    ``k(x, y) - mean_j k(x, x_j) - mean_i k(x_i, y) + mean_ij k(x_i, x_j)``, all means over training samples.

    Attributes
    ----------
    column_means_, mean_ : ndarray, shape (n,), and float
        Means of the training kernel's columns, and of all of it.
    divisor_ : float
        Centred trace that the training kernel was divided by; 1 unless it was.
    """

    def fit(self, K_train: ArrayLike) -> KernelCentring:
        """Compute the means of the training kernel, shape (n, n); raise `DataError` unless finite and symmetric."""
        self.fit_transform(as_square_symmetric(K_train, "the training kernel"))
        return self

    def fit_transform(self, kernel: Array, *, out: Array | None = None, to_unit_trace: bool = False) -> Array:
        """Fit to a valid training kernel, which is not checked again, and return it centred, exactly symmetric.

        It is written to `out`, which may be `kernel` itself; without it, to a new array. With `to_unit_trace` it is
        also divided by its centred trace, `divisor_`; errors are then those of `scale_to_centred_trace`.
        """
        self.column_means_: Array = kernel.mean(axis=1, dtype=np.float64)  # those of rows, which lie in memory
        self.mean_ = float(self.column_means_.mean())
        # half of the total mean belongs to the row and half to the column, so that the sum of both is symmetric
        shares = np.asarray((self.column_means_ - self.mean_ / 2).astype(kernel.dtype))
        self.divisor_ = 1.0
        if to_unit_trace:
            diagonal = np.diagonal(kernel)
            trace = float((diagonal - (shares + shares)).sum(dtype=np.float64)) / len(kernel)
            self.divisor_ = checked_trace(trace, diagonal)
        centred = np.empty_like(kernel) if out is None else out
        for part in cached_rows(kernel):
            np.subtract(kernel[part], shares[part, None] + shares, out=centred[part])
            if self.divisor_ != 1:
                centred[part] /= kernel.dtype.type(self.divisor_)
        return centred

    def transform(self, K_rows: ArrayLike) -> Array:
        """Centre rows between any samples and the training samples, shape (m, n); return a new array.

        Rows that are not finite, or of another number of training samples, raise `DataError`.
        """
        kernel = as_float_matrix(K_rows, "the kernel rows", self.column_means_.size)
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
        k(x, x) of the samples of the rows and columns. Default of both: the diagonal of a square `K`; that of the
        result is then exactly one.

    Raises
    ------
    DataError
        A self-similarity that is not positive, shapes that do not fit, or a missing diagonal.
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
    # lengths are multiplied first, so that the result is as symmetric as the kernel
    scaled: Array = kernel / (rows[:, None].astype(kernel.dtype) * columns.astype(kernel.dtype))
    if row_diagonal is None:
        np.fill_diagonal(scaled, 1)
    return scaled


def centred_trace(K: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Compute the total variance in feature space, ``tr(K)/n - 1'K1/n^2``, of a kernel of shape (n, n).

    It is the mean squared distance of the samples from their mean, whether or not `K` is centred; with sample weights
    w of shape (n,), nonnegative and not all zero, both means are weighted by them. A matrix that is not finite and
    square raises `DataError`.
    """
    kernel = as_float_matrix(K, "the kernel")
    check_square(kernel, "the kernel")
    return centred_trace_of(kernel, nonnegative_weights(sample_weight, len(kernel)))


def centred_trace_of(kernel: Array, sample_weight: ArrayLike | None = None) -> float:
    """Compute `centred_trace` of a valid kernel, which is not checked again."""
    if sample_weight is not None:
        shares = np.asarray(sample_weight, dtype=np.float64)
        shares = shares / shares.sum()
        return float(shares @ np.diagonal(kernel) - shares @ kernel @ shares)
    return float(np.trace(kernel, dtype=np.float64) / kernel.shape[0] - kernel.mean(dtype=np.float64))


def scale_to_centred_trace(K: ArrayLike, *, out: Array | None = None) -> tuple[Array, float]:
    """Divide a training kernel by its centred trace, so that wide and narrow kernels contribute alike to a sum.

    It is written to `out`, which may be `K`; by default to a new array. The divisor, which is returned too, is that of
    rows of new samples.

    Raises
    ------
    DataError
        All samples coincide in feature space (centred trace zero), or `K` is far from positive semidefinite.
    """
    kernel = as_float_matrix(K, "the kernel")
    check_square(kernel, "the kernel")
    divisor = checked_trace(centred_trace_of(kernel), np.diagonal(kernel))
    return np.divide(kernel, kernel.dtype.type(divisor), out=out), divisor


def checked_trace(trace: float, diagonal: Array) -> float:
    """Return the centred trace of a kernel, given its diagonal before it was centred.

    If it is not positive, or no larger than rounding errors of kernel values are, raise `ConstantKernel`.
    """
    size = float(np.abs(diagonal).max())
    # below this the difference of the two means is rounding error
    if trace <= max(1e-12, 4 * float(np.finfo(diagonal.dtype).eps)) * size or size == 0:
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
