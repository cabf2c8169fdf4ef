"""The compiled loops of the point-set distance: both minima of a tile in one vectorised pass.

Imports numba; the only caller imports this module inside its function.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]
from numba.extending import intrinsic
from numpy.typing import NDArray

from mklearn.kernels.compiled import REORDERED, compile_loop

Matrix = NDArray[np.float32]
Vector = NDArray[np.float32]
Offsets = NDArray[np.intp]

_LARGEST: Any = np.float32(np.finfo(np.float32).max)
_ZERO: Any = np.float32(0)


def _minnum(typing_context: Any, a: Any, b: Any) -> Any:
    """Compute the smaller of two finite floats.

    In a loop that keeps the smallest number, ``min`` and comparisons are not vectorised; LLVM's own operation
    becomes a SIMD instruction.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = arguments[0].type
        operation = builder.module.declare_intrinsic("llvm.minnum", [kind], ir.FunctionType(kind, [kind, kind]))
        return builder.call(operation, arguments, fastmath=("nnan", "nsz"))

    return a(a, a), code


_smaller: Any = intrinsic(_minnum)


def _plain(
    products: Matrix, norms: Vector, column_norms: Vector, offsets: Offsets, first: int, smallest: Vector, out: Vector
) -> None:
    """Compute the mean minima of ``norms[i] + column_norms[c] + products[i, c]`` over rows and columns of each set.

    `products`, shape (p, columns), are -2 times the inner products. `offsets`, shape (sets + 1,), are the first column
    of each set, plus `first`; sets without columns are skipped. `smallest` is a buffer for the column minima.
    """
    p = norms.shape[0]
    for s in range(offsets.shape[0] - 1):
        left, right = offsets[s] - first, offsets[s + 1] - first
        width = right - left
        if width == 0:
            continue
        column_minima, bs = smallest[:width], column_norms[left:right]
        column_minima[:] = _LARGEST
        total = 0.0
        # four rows at a time, so that norms and minima of the columns are read once for four rows
        for i in range(0, p - 3, 4):
            g0, g1 = products[i, left:right], products[i + 1, left:right]
            g2, g3 = products[i + 2, left:right], products[i + 3, left:right]
            a0, a1, a2, a3 = norms[i], norms[i + 1], norms[i + 2], norms[i + 3]
            m0, m1, m2, m3 = _LARGEST, _LARGEST, _LARGEST, _LARGEST
            for c in range(width):
                b = bs[c]
                v0, v1 = g0[c] + b + a0, g1[c] + b + a1
                v2, v3 = g2[c] + b + a2, g3[c] + b + a3
                m0, m1 = _smaller(m0, v0), _smaller(m1, v1)
                m2, m3 = _smaller(m2, v2), _smaller(m3, v3)
                column_minima[c] = _smaller(column_minima[c], _smaller(_smaller(v0, v1), _smaller(v2, v3)))
            total += max(m0, _ZERO) + max(m1, _ZERO) + max(m2, _ZERO) + max(m3, _ZERO)
        for i in range(p - p % 4, p):
            g0, a0, m0 = products[i, left:right], norms[i], _LARGEST
            for c in range(width):
                v0 = g0[c] + bs[c] + a0
                m0 = _smaller(m0, v0)
                column_minima[c] = _smaller(column_minima[c], v0)
            total += max(m0, _ZERO)
        other = 0.0
        for c in range(width):
            other += max(column_minima[c], _ZERO)
        out[s] = 0.5 * (total / p + other / width)


def _with_positions(
    products: Matrix, norms: Vector, column_norms: Vector, offsets: Offsets, first: int, smallest: Vector, out: Vector,
    y: Vector, x: Vector, column_y: Vector, column_x: Vector,
) -> None:  # fmt: skip
    """Compute `_plain` with the distances between (y, x) and (column_y, column_x) added before the minima."""
    p = norms.shape[0]
    for s in range(offsets.shape[0] - 1):
        left, right = offsets[s] - first, offsets[s + 1] - first
        width = right - left
        if width == 0:
            continue
        column_minima, bs = smallest[:width], column_norms[left:right]
        ys, xs = column_y[left:right], column_x[left:right]
        column_minima[:] = _LARGEST
        total = 0.0
        for i in range(0, p - 1, 2):
            g0, a0, y0, x0 = products[i, left:right], norms[i], y[i], x[i]
            g1, a1, y1, x1 = products[i + 1, left:right], norms[i + 1], y[i + 1], x[i + 1]
            m0 = m1 = _LARGEST
            for c in range(width):
                b, v, h = bs[c], ys[c], xs[c]
                v0 = g0[c] + b + a0 + np.sqrt((v - y0) * (v - y0) + (h - x0) * (h - x0))
                v1 = g1[c] + b + a1 + np.sqrt((v - y1) * (v - y1) + (h - x1) * (h - x1))
                m0, m1 = _smaller(m0, v0), _smaller(m1, v1)
                column_minima[c] = _smaller(column_minima[c], _smaller(v0, v1))
            total += max(m0, _ZERO) + max(m1, _ZERO)
        if p % 2:
            i = p - 1
            g0, a0, y0, x0, m0 = products[i, left:right], norms[i], y[i], x[i], _LARGEST
            for c in range(width):
                v0 = g0[c] + bs[c] + a0 + np.sqrt((ys[c] - y0) * (ys[c] - y0) + (xs[c] - x0) * (xs[c] - x0))
                m0 = _smaller(m0, v0)
                column_minima[c] = _smaller(column_minima[c], v0)
            total += max(m0, _ZERO)
        other = 0.0
        for c in range(width):
            other += max(column_minima[c], _ZERO)
        out[s] = 0.5 * (total / p + other / width)


_FINITE = REORDERED | {"nnan", "ninf"}
plain = compile_loop(_plain, fastmath=_FINITE)
with_positions = compile_loop(_with_positions, fastmath=_FINITE)
