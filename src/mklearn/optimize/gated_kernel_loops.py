"""Compiled loops over gated kernels, in one pass over all kernels and without large temporary arrays.

This module imports numba, so its only caller imports it inside functions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.extras import compile_loop

Floats = NDArray[np.float64]
Kernels = NDArray[Any]
TILE = 32


def _symmetric(kernels: Kernels, gates: Floats, by_kernel: Floats, out: Floats) -> None:
    """Compute ``sum_m gates[i, m] kernels[m, i, j] gates[j, m]`` for j <= i, and mirror it; kernels are symmetric.

    ``by_kernel`` is ``gates`` transposed, so that the inner loop reads contiguous memory. Each pass over a row adds
    four kernels, and the upper triangle is written in tiles. The loop then takes as long as reading the kernels once.
    """
    n_kernels, n = kernels.shape[0], kernels.shape[1]
    in_fours = n_kernels - n_kernels % 4
    for i in range(n):
        row = out[i, : i + 1]
        row[:] = 0.0
        for m in range(0, in_fours, 4):
            a, b, c, d = gates[i, m], gates[i, m + 1], gates[i, m + 2], gates[i, m + 3]
            A, B, C, D = kernels[m, i], kernels[m + 1, i], kernels[m + 2, i], kernels[m + 3, i]
            p, q, r, s = by_kernel[m], by_kernel[m + 1], by_kernel[m + 2], by_kernel[m + 3]
            for j in range(i + 1):
                row[j] += a * p[j] * A[j] + b * q[j] * B[j] + c * r[j] * C[j] + d * s[j] * D[j]
        for m in range(in_fours, n_kernels):
            gate, entries, others = gates[i, m], kernels[m, i], by_kernel[m]
            for j in range(i + 1):
                row[j] += gate * others[j] * entries[j]
    for top in range(0, n, TILE):
        for left in range(top, n, TILE):
            for i in range(top, min(top + TILE, n)):
                for j in range(max(left, i + 1), min(left + TILE, n)):
                    out[i, j] = out[j, i]


def _rectangular(kernels: Kernels, row_gates: Floats, by_kernel: Floats, out: Floats) -> None:
    """Compute ``sum_m row_gates[i, m] kernels[m, i, j] by_kernel[m, j]`` for all i and j."""
    n_kernels, rows, columns = kernels.shape
    for i in range(rows):
        row = out[i]
        row[:] = 0.0
        for m in range(n_kernels):
            gate = row_gates[i, m]
            entries, others = kernels[m, i], by_kernel[m]
            for j in range(columns):
                row[j] += gate * others[j] * entries[j]


def _products(kernels: Kernels, support: NDArray[np.intp], weighted: Floats, out: Floats) -> None:
    """Compute ``weighted[i, m] sum_j kernels[m, S_i, S_j] weighted[j, m]``, where S is ``support``.

    Whole rows are read, with weight 0 outside S. Gathering the columns S is faster only if S has at most a fifth of
    the samples.
    """
    n_kernels, n = kernels.shape[0], kernels.shape[2]
    column = np.zeros(n)
    for m in range(n_kernels):
        for i in range(len(support)):
            column[support[i]] = weighted[i, m]
        for i in range(len(support)):
            entries = kernels[m, support[i]]
            total = 0.0
            for j in range(n):
                total += entries[j] * column[j]
            out[i, m] = weighted[i, m] * total


symmetric = compile_loop(_symmetric)
rectangular = compile_loop(_rectangular)
products = compile_loop(_products)
