"""Compiled loop of the point-set distance: both minima of a tile in one vectorised pass.

This module imports numba, so its only caller imports it inside a function.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir  # type: ignore[import-untyped, unused-ignore]
from numba.extending import intrinsic
from numpy.typing import NDArray

from mklearn.extras import REORDERED, compile_loop

Matrix = NDArray[np.float32]
Vector = NDArray[np.float32]

_LARGEST: Any = np.float32(np.finfo(np.float32).max)
_ZERO: Any = np.float32(0)


def _minnum(typing_context: Any, a: Any, b: Any) -> Any:
    """Compute the smaller of two finite floats.

    In a loop that tracks a minimum, ``min`` and comparisons are not vectorised, but LLVM's ``minnum`` becomes a SIMD
    instruction.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = arguments[0].type
        operation = builder.module.declare_intrinsic("llvm.minnum", [kind], ir.FunctionType(kind, [kind, kind]))
        return builder.call(operation, arguments, fastmath=("nnan", "nsz"))

    return a(a, a), code


_smaller: Any = intrinsic(_minnum)


def _mean_minima(
    products: Matrix, norms: Vector, y: Vector, x: Vector, column_norms: Vector, column_y: Vector, column_x: Vector,
    offsets: NDArray[np.intp], first: int, out: Vector,
) -> None:  # fmt: skip
    """Compute the mean row and column minima of the point distances for each set.

    The distance is ``norms[i] + column_norms[c] + products[i, c]`` plus the distance between the positions (y, x) and
    (column_y, column_x). ``products``, shape (p, columns), are -2 times the inner products. ``offsets``, (sets + 1,),
    are the first column of each set, plus ``first``; sets without columns are skipped.
    """
    p = norms.shape[0]
    for s in range(offsets.shape[0] - 1):
        left, right = offsets[s] - first, offsets[s + 1] - first
        width = right - left
        if width == 0:
            continue
        bs, column_minima = column_norms[left:right], np.full(width, _LARGEST)
        ys, xs = column_y[left:right], column_x[left:right]
        total = 0.0
        for i in range(p):
            row, a, yi, xi, least = products[i, left:right], norms[i], y[i], x[i], _LARGEST
            for c in range(width):
                v = row[c] + bs[c] + a + np.sqrt((ys[c] - yi) * (ys[c] - yi) + (xs[c] - xi) * (xs[c] - xi))
                least = _smaller(least, v)
                column_minima[c] = _smaller(column_minima[c], v)
            total += max(least, _ZERO)
        other = 0.0
        for c in range(width):
            other += max(column_minima[c], _ZERO)
        out[s] = 0.5 * (total / p + other / width)


mean_minima = compile_loop(_mean_minima, fastmath=REORDERED | {"nnan", "ninf"})
