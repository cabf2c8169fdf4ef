"""A symmetric distance matrix in parts: rows of the upper triangle split into blocks, and merged again.

Row ``i`` of the upper triangle holds the pairs ``(i, i + 1), ..., (i, n - 1)``. A part of the matrix is a pair
``(rows, values)``: row numbers, and the entries of these rows one after the other in one vector. Each part can be
computed by a job of its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError


def rows_of_block(n: int, block: int, n_blocks: int) -> NDArray[np.intp]:
    """Return the rows of a block: those ``i < n`` with ``i mod n_blocks == block``.

    Row ``i`` has ``n - 1 - i`` pairs, so interleaved rows give every block nearly the same work: two blocks differ
    by fewer than ``n`` pairs.

    Parameters
    ----------
    n : int
        Number of samples.
    block : int
        0 to ``n_blocks - 1``.
    n_blocks : int

    Returns
    -------
    ndarray of int, ascending
        Empty if there are fewer samples than blocks and this block has none.

    Raises
    ------
    DataError
        No such block.
    """
    if not 0 <= block < n_blocks:
        raise DataError(f"block {block} of {n_blocks} does not exist; blocks are numbered 0 to {n_blocks - 1}")
    return np.arange(block, n, n_blocks, dtype=np.intp)


def row_starts(rows: NDArray[np.intp], n: int) -> NDArray[np.intp]:
    """Compute where the entries of each row begin in the vector of a part, shape (r + 1,), the last one its length."""
    return np.concatenate([[0], np.cumsum(n - 1 - rows)]).astype(np.intp)


def check_rows(rows: ArrayLike, n: int, name: str = "rows") -> NDArray[np.intp]:
    """Return `rows` as a vector of distinct row numbers below `n`; raise `DataError` for anything else."""
    numbers = np.asarray(rows)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu":
        raise DataError(f"{name} has shape {numbers.shape} and dtype {numbers.dtype}; expected a vector of row numbers")
    wrong = numbers[(numbers < 0) | (numbers >= n)]
    if wrong.size:
        raise DataError(f"{name} has row {wrong[0]}; there are {n} samples, so rows are 0 to {n - 1}")
    values, counts = np.unique(numbers, return_counts=True)
    if (counts > 1).any():
        raise DataError(f"{name} has row {values[counts > 1][0]} more than once")
    return numbers.astype(np.intp)


def merge_row_blocks(parts: Iterable[tuple[ArrayLike, ArrayLike]], n: int) -> NDArray[Any]:
    """Merge the parts into the whole matrix.

    Parameters
    ----------
    parts : iterable of (rows, values)
        In any order, read one at a time: row numbers, shape (r,), and the entries of these rows, shape
        (sum of ``n - 1 - rows``,), row after row.
    n : int
        Number of samples.

    Returns
    -------
    ndarray, shape (n, n)
        Symmetric bit for bit, zero on the diagonal, with the dtype of the parts.

    Raises
    ------
    DataError
        A row in no part or in two of them, a part of the wrong size, parts of different dtypes.
    """
    if n < 1:
        raise DataError(f"{n} samples: at least 1 is needed")
    owner = np.full(n, -1)
    matrix: NDArray[Any] | None = None
    for number, (given_rows, given_values) in enumerate(parts):
        name = f"block {number}"
        rows, values = check_rows(given_rows, n, name), np.asarray(given_values)
        starts = row_starts(rows, n)
        if values.shape != (starts[-1],):
            raise DataError(
                f"{name} has values of shape {values.shape}; its {len(rows)} rows of a matrix over {n} samples have "
                f"({starts[-1]},): it was computed for other samples or is damaged, so compute it again"
            )
        if matrix is None:
            matrix = np.zeros((n, n), dtype=values.dtype)
        elif values.dtype != matrix.dtype:
            raise DataError(f"{name} is {values.dtype}, the blocks before it {matrix.dtype}; compute all blocks alike")
        twice = rows[owner[rows] >= 0]
        if twice.size:
            raise DataError(f"row {twice[0]} is in block {owner[twice[0]]} and again in {name}; pass each block once")
        owner[rows] = number
        for row, start, stop in zip(rows, starts, starts[1:], strict=False):
            matrix[row, row + 1 :] = values[start:stop]
            matrix[row + 1 :, row] = values[start:stop]
    missing = np.flatnonzero(owner < 0)
    if missing.size or matrix is None:
        listed = ", ".join(map(str, missing[:10])) + (", ..." if missing.size > 10 else "")
        raise DataError(f"{missing.size} of {n} rows are in no block: {listed}; a block is missing")
    return matrix
