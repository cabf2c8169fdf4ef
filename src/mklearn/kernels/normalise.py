"""Two scalings of a kernel: unit diagonal (every sample has length one), unit centred trace (unit total variance)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mklearn.errors import DataError
from mklearn.kernels.checks import Array, as_float_array, as_float_matrix, check_square


def unit_diagonal(
    K: ArrayLike, row_diagonal: ArrayLike | None = None, column_diagonal: ArrayLike | None = None
) -> Array:
    """Cosine normalisation ``k(x, y) / sqrt(k(x, x) k(y, y))``.

    Parameters
    ----------
    K : array_like, shape (n, m)
        Kernel between n samples and m training samples.
    row_diagonal, column_diagonal : array_like, shape (n,) and (m,), optional
        k(x, x) of the samples of the rows and columns; both default to the diagonal of a square `K`. The entries of
        new samples need the new samples' own self-similarity.

    Returns
    -------
    ndarray, shape (n, m)
        For the training kernel the diagonal is exactly one.

    Raises
    ------
    DataError
        A self-similarity that is not positive, shapes that do not fit, or a missing diagonal.

    References
    ----------
    LMKL (Gonen and Alpaydin, ICML 2008) scales its kernels so.
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
    scaled = kernel / rows[:, None].astype(kernel.dtype)
    scaled /= columns[None, :].astype(kernel.dtype)
    if row_diagonal is None:
        np.fill_diagonal(scaled, 1)
    return scaled


def centred_trace(K: ArrayLike) -> float:
    """Total variance in feature space, ``tr(K)/n - 1'K1/n^2``.

    It is the mean squared distance of the samples from their mean, whether or not `K` is centred.

    Parameters
    ----------
    K : array_like, shape (n, n)

    Returns
    -------
    float

    Raises
    ------
    DataError
        Not a finite square matrix.
    """
    kernel = as_float_matrix(K, "the kernel")
    check_square(kernel, "the kernel")
    return float(np.trace(kernel, dtype=np.float64) / kernel.shape[0] - kernel.mean(dtype=np.float64))


def scale_to_centred_trace(K: ArrayLike) -> tuple[Array, float]:
    """Divide a training kernel by its centred trace; return the kernel and the number it was divided by.

    Rows of new samples are divided by the same number. Without it a sum of kernels is dominated by the narrow ones.

    Parameters
    ----------
    K : array_like, shape (n, n)

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
    divisor = centred_trace(kernel)
    size = float(np.abs(np.diagonal(kernel)).max())
    # 1e-12: below this the difference of the two means is rounding error
    if divisor <= 1e-12 * size or size == 0:
        raise DataError(
            f"the kernel has centred trace {divisor:.3g}: in its feature space all training samples coincide (or the "
            "kernel is not positive semidefinite), so it can't be scaled to unit variance; leave it out or choose "
            "another bandwidth"
        )
    scaled: Array = kernel / kernel.dtype.type(divisor)
    return scaled, divisor


def _lengths(diagonal: ArrayLike, what: str) -> Array:
    values = as_float_array(diagonal, f"the self-similarity of each {what}", ndim=1).astype(np.float64)
    if values.min() <= 0:
        sample = int(values.argmin())
        raise DataError(
            f"{what} {sample} has self-similarity {values[sample]:.6g}; unit-diagonal normalisation needs positive "
            "ones (a sample whose features are all zero has none)"
        )
    lengths: Array = np.sqrt(values)
    return lengths
