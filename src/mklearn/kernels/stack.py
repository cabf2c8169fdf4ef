"""Stack of M kernels on the same samples, stored as contiguous matrices."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from mklearn.checks import Array, as_float_array, check_symmetric, refuse_distances
from mklearn.errors import DataError, UserError


class KernelStack:
    """Stack of M kernels between the same n_rows samples and the same n_columns training samples.

    Parameters
    ----------
    matrices : array_like, shape (M, n_rows, n_columns), or a sequence of M matrices
        Matrices along the first axis. A C-contiguous array is not copied; do not change it afterwards.
    ids : sequence of str, optional
        Name of each kernel. Default: ``"0"``, ``"1"``, ...

    Attributes
    ----------
    matrices : ndarray, shape (M, n_rows, n_columns)
        C-contiguous, read-only view; float32 or float64.
    ids : tuple of str
    shape, n_rows, n_columns, dtype
        Shape and dtype of `matrices`.

    Raises
    ------
    DataError
        Kernels differ in shape or are not finite, there is no kernel, or ids are not unique or of the wrong number.

    Notes
    -----
    Users pass ``(n_samples, n_train, M)`` arrays, samples first, because scikit-learn's cross-validation slices the
    first axes. `from_last_axis` and `as_last_axis` convert between the two forms without a copy.
    """

    def __init__(self, matrices: ArrayLike, ids: Sequence[str] | None = None) -> None:
        array = as_float_array(matrices, "the kernel stack", ndim=3, may_be_empty=True)
        # a stack without rows is valid: a split without test samples
        if array.shape[0] == 0 or array.shape[2] == 0:
            raise DataError(f"the kernel stack has shape {array.shape}; at least one kernel and one column are needed")
        ids = tuple(map(str, range(len(array)) if ids is None else ids))
        if len(ids) != len(array):
            raise DataError(f"{len(ids)} ids were given for {len(array)} kernels")
        check_unique_ids(ids, DataError)
        self._set(np.ascontiguousarray(array), ids)

    def _set(self, matrices: Array, ids: Sequence[str]) -> Self:
        self.matrices: Array = matrices.view()  # so that the caller's array stays writeable
        self.matrices.flags.writeable = False
        self.ids = tuple(ids)
        self.shape: tuple[int, int, int] = matrices.shape
        _, self.n_rows, self.n_columns = self.shape
        self.dtype = matrices.dtype
        return self

    @classmethod
    def from_last_axis(cls, X: ArrayLike) -> KernelStack:
        """Make a stack from samples-first kernels, shape (n_rows, n_columns, M), or (n_rows, n_columns) for one kernel.

        Raises `DataError` for another number of axes or an invalid stack.
        """
        array = np.asarray(X)
        if array.ndim not in (2, 3):
            raise DataError(
                f"precomputed kernels have shape {array.shape}; expected (n_samples, n_train, n_kernels), "
                "or (n_samples, n_train) for a single kernel"
            )
        return cls(array[None] if array.ndim == 2 else np.moveaxis(array, -1, 0))

    def as_last_axis(self) -> Array:
        """Return a view of the kernels with samples first, shape (n_rows, n_columns, M)."""
        return np.moveaxis(self.matrices, 0, -1)

    def select(self, kernels: Sequence[int]) -> KernelStack:
        """Return the kernels at the given positions, without a copy if they are consecutive."""
        first, n = kernels[0], len(kernels)
        consecutive = list(kernels) == list(range(first, first + n))
        matrices = self.matrices[first : first + n] if consecutive else self.matrices[list(kernels)]
        return object.__new__(KernelStack)._set(matrices, [self.ids[kernel] for kernel in kernels])

    def rows(self, rows: Any) -> KernelStack:
        """Return rows of all kernels, chosen by position, slice or boolean mask."""
        return object.__new__(KernelStack)._set(np.ascontiguousarray(self.matrices[:, rows]), self.ids)

    def __len__(self) -> int:
        return len(self.matrices)

    def __iter__(self) -> Iterator[Array]:
        return iter(self.matrices)

    def __getitem__(self, kernel: int | str) -> Array:
        """Return one matrix, by position or by id."""
        if isinstance(kernel, str):
            if kernel not in self.ids:
                raise DataError(f"there is no kernel {kernel!r} in the stack; available: {', '.join(self.ids)}")
            kernel = self.ids.index(kernel)
        matrix: Array = self.matrices[kernel]  # raises IndexError like any sequence: iteration relies on it
        return matrix

    def __repr__(self) -> str:
        return f"KernelStack({len(self)} kernels, {self.n_rows} x {self.n_columns}, {self.dtype})"

    def require_training(self) -> KernelStack:
        """Return the stack itself; raise `DataError` for a kernel that is not symmetric, or has distances."""
        for name, matrix in zip(self.ids, self.matrices, strict=True):
            check_symmetric(matrix, f"kernel {name!r}")
            refuse_distances(matrix, f"kernel {name!r}")
        return self

    def combine(self, weights: ArrayLike) -> Array:
        """Compute the weighted sum ``sum_m weights_m K_m``, shape (n_rows, n_columns), as a new array.

        Raises `DataError` if the number of weights is wrong or a weight is not finite.
        """
        vector = as_float_array(weights, "the kernel weights", ndim=1)
        if vector.size != len(self):
            raise DataError(f"{vector.size} kernel weights were given for {len(self)} kernels")
        flat = self.matrices.reshape(len(self), -1)
        combined: Array = (vector.astype(self.dtype, copy=False) @ flat).reshape(self.n_rows, self.n_columns)
        return combined


def check_unique_ids(ids: Sequence[str], error: type[UserError]) -> None:
    """Raise `error` if two kernels have the same id."""
    twice = sorted({name for name in ids if ids.count(name) > 1})
    if twice:
        raise error(f"kernel ids must be unique; given twice: {', '.join(map(repr, twice))}")
