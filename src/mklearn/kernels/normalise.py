"""Centring about the mean of the training samples, and two scalings: unit diagonal and unit centred trace."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, DTypeLike

from mklearn.checks import (
    Array,
    as_float_array,
    as_float_matrix,
    as_square_symmetric,
    cached_rows,
    check_columns,
    check_square,
    nonnegative_weights,
)
from mklearn.errors import ConstantKernel, DataError


class KernelCentring:
    """Centring in feature space about the mean of the training samples.

    ``k(x, y) - mean_j k(x, x_j) - mean_i k(x_i, y) + mean_ij k(x_i, x_j)``, all means over training samples.

    Attributes
    ----------
    column_means_ : ndarray, shape (n,)
        Mean of each training column over the training rows.
    mean_ : float
        Mean of the training kernel.
    """

    def fit(self, K_train: ArrayLike) -> KernelCentring:
        """Compute the means of the training kernel, shape (n, n); raise `DataError` unless finite and symmetric."""
        self._fit(as_square_symmetric(K_train, "the training kernel"))
        return self

    def fit_transform(self, kernel: Array, *, out: Array | None = None) -> Array:
        """Fit to a valid training kernel, which is not checked again; return it centred, a symmetric array.

        It is written to `out`, which may be `kernel` itself; without it, to a new array.
        """
        self._fit(kernel)
        return self._centred(kernel, out)

    def fit_scaled(self, kernel: Array, *, out: Array | None = None) -> tuple[Array, float]:
        """Fit to a valid training kernel; return it centred and divided by its centred trace, and the trace.

        It is `fit_transform` followed by `divided_by_trace`, in one pass. Errors are those of the latter.
        """
        self._fit(kernel)
        shares = self._shares(kernel)
        diagonal = np.diagonal(kernel) - (shares + shares)
        divisor = checked_trace(
            float(diagonal.sum(dtype=np.float64)) / len(kernel), largest_diagonal(kernel), kernel.dtype
        )
        return self._centred(kernel, out, divisor), divisor

    def _centred(self, kernel: Array, out: Array | None, divisor: float = 1.0) -> Array:
        centred = np.empty_like(kernel) if out is None else out
        shares = self._shares(kernel)
        for part in cached_rows(kernel):
            np.subtract(kernel[part], shares[part, None] + shares, out=centred[part])
            if divisor != 1:
                centred[part] /= kernel.dtype.type(divisor)
        return centred

    def _shares(self, kernel: Array) -> Array:
        # half of the total mean belongs to the row and half to the column, so that the sum of both is symmetric
        return np.asarray((self.column_means_ - self.mean_ / 2).astype(kernel.dtype))

    def _fit(self, kernel: Array) -> None:
        self.column_means_: Array = kernel.mean(axis=1, dtype=np.float64)  # those of rows, which lie in memory
        self.mean_ = float(self.column_means_.mean())

    def transform(self, K_rows: ArrayLike) -> Array:
        """Centre rows between any samples and the training samples, shape (m, n); return a new array.

        Rows that are not finite, or of another number of training samples, raise `DataError`.
        """
        kernel = as_float_matrix(K_rows, "the kernel rows")
        check_columns(kernel, self.column_means_.size, "the kernel rows")
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
        k(x, x) of the samples of the rows and columns. Default of both: the diagonal of a square `K`.

    Returns
    -------
    ndarray, shape (n, m)
        The diagonal of the training kernel is exactly one.

    Raises
    ------
    DataError
        A self-similarity that is not positive, shapes that do not fit, or a missing diagonal.

    References
    ----------
    The code of LMKL's authors (Gonen and Alpaydin) scales its kernels so.
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

    Rows of new samples are divided by the same number.

    Parameters
    ----------
    K : array_like, shape (n, n)
    out : ndarray, shape (n, n), optional
        Where the result is written to; may be `K`. Default: a new array.

    Returns
    -------
    kernel : ndarray, shape (n, n)
        With centred trace one.
    divisor : float

    Raises
    ------
    DataError
        All samples coincide in feature space (centred trace zero), or `K` is far from positive semidefinite.
    """
    kernel = as_float_matrix(K, "the kernel")
    check_square(kernel, "the kernel")
    return divided_by_trace(kernel, centred_trace_of(kernel), largest_diagonal(kernel), out)


def divided_by_trace(kernel: Array, divisor: float, size: float, out: Array | None) -> tuple[Array, float]:
    """Return `scale_to_centred_trace` of a valid kernel whose centred trace, and size before centring, are known."""
    return np.divide(kernel, kernel.dtype.type(checked_trace(divisor, size, kernel.dtype)), out=out), divisor


def largest_diagonal(kernel: Array) -> float:
    """Return the largest absolute entry of the diagonal."""
    return float(np.abs(np.diagonal(kernel)).max())


def checked_trace(divisor: float, size: float, dtype: DTypeLike = np.float64) -> float:
    """Return the centred trace of a kernel of this size, its largest entry before it was centred, and of this type.

    If it is not positive, or no larger than rounding errors of kernel values are, raise `ConstantKernel`.
    """
    # below this the difference of the two means is rounding error
    if divisor <= max(1e-12, 4 * float(np.finfo(dtype).eps)) * size or size == 0:
        raise ConstantKernel(
            f"the kernel has centred trace {divisor:.3g}: in its feature space all training samples coincide (or the "
            "kernel is not positive semidefinite), so it can't be scaled to unit variance; leave it out, choose "
            "another bandwidth, or scale features that lie far from zero (`feature_scaling`)"
        )
    return divisor


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
