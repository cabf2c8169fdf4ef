"""Centring in feature space, with the mean of the training samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from mklearn.errors import DataError
from mklearn.kernels.checks import Array, as_float_matrix, as_square_symmetric


class KernelCentring:
    """Kernel of the samples minus the mean of the training samples in feature space.

    ``k(x, y) - mean_j k(x, x_j) - mean_i k(x_i, y) + mean_ij k(x_i, x_j)``, all means over training samples.

    Attributes
    ----------
    column_means_ : ndarray, shape (n,)
        Mean of each training column over the training rows.
    mean_ : float
        Mean of the training kernel.
    """

    column_means_: Array
    mean_: float

    def fit(self, K_train: ArrayLike) -> KernelCentring:
        """Take the means from the training kernel, shape (n, n).

        Raises
        ------
        DataError
            Not a finite symmetric matrix.
        """
        kernel = as_square_symmetric(K_train, "the training kernel")
        self.column_means_ = kernel.mean(axis=0, dtype=np.float64)
        self.mean_ = float(self.column_means_.mean())
        return self

    def transform(self, K_rows: ArrayLike) -> Array:
        """Centre rows between any samples and the training samples, shape (m, n); returns a new array.

        Raises
        ------
        DataError
            Not finite, or a number of columns that differs from the number of training samples.
        """
        kernel = as_float_matrix(K_rows, "the kernel rows")
        n = self.column_means_.size
        if kernel.shape[1] != n:
            raise DataError(f"the kernel rows have {kernel.shape[1]} columns, but there were {n} training samples")
        row_means = kernel.mean(axis=1, dtype=np.float64)
        centred = kernel - row_means[:, None].astype(kernel.dtype)
        centred -= (self.column_means_ - self.mean_).astype(kernel.dtype)
        return centred


def centre_kernel(K: ArrayLike) -> Array:
    """Doubly centred kernel ``H K H``, ``H = I - 11'/n``, shape (n, n), exactly symmetric."""
    kernel = as_square_symmetric(K, "the kernel")
    centred = KernelCentring().fit(kernel).transform(kernel)
    symmetric: Array = (centred + centred.T) / 2
    return symmetric
