"""Gates of localized kernel combinations: values, gated kernel, and gradient of the SVM objective.

With gating features g_i (the first is 1) and a matrix V, the weight of kernel m at sample i is

    softmax:  eta_im = s exp(v_m'g_i) / sum_h exp(v_h'g_i),        sigmoid:  eta_im = s / (1 + exp(-v_m'g_i)),

and the gated kernel is k(x_i, x_j) = sum_m eta_im k_m(x_i, x_j) eta_jm. At V = 0 it is the uniform average times
s^2 / P (softmax) or s^2 P / 4 (sigmoid).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

from mklearn.extras import compile_loop

Array = NDArray[np.floating[Any]]
Gate = Literal["softmax", "sigmoid"]
GateScale = Literal["published", "average"]
_TILE = 32


def gate_factor(gate: Gate, scale: GateScale, n_kernels: int) -> float:
    """Return the factor s: 1 as published, or the value for which the gated kernel at V = 0 is the uniform average."""
    if scale == "published":
        return 1.0
    return float(np.sqrt(n_kernels)) if gate == "softmax" else 2.0 / float(np.sqrt(n_kernels))


def gates(features: Array, V: Array, gate: Gate, factor: float = 1.0) -> Array:
    """Compute the gates eta (n, P) from gating features (n, d), which include the constant 1, and V (P, d).

    ``factor`` is s, see `gate_factor`.
    """
    activations = features @ V.T
    shares = softmax(activations, axis=1) if gate == "softmax" else expit(activations)
    return np.ascontiguousarray(factor * shares, dtype=np.float64)


def gated_kernel(kernels: NDArray[Any], eta: Array) -> NDArray[np.float64]:
    """Compute the gated kernel between training samples (n, n), exactly symmetric, from C-contiguous kernels (P, n, n).

    The kernels are symmetric: only their lower triangles are read. float32 is summed in double precision.
    """
    out = np.empty(kernels.shape[1:])
    _symmetric(kernels, eta, np.ascontiguousarray(eta.T), out)
    return out


def gated_cross_kernel(kernels: NDArray[Any], eta_rows: Array, eta_columns: Array) -> NDArray[np.float64]:
    """Compute the gated kernel between other and training samples, (m, n), for C-contiguous kernels (P, m, n)."""
    out = np.empty(kernels.shape[1:])
    _rectangular(kernels, eta_rows, np.ascontiguousarray(eta_columns.T), out)
    return out


def gate_gradient(
    kernels: NDArray[Any],
    eta: Array,
    dual: Array,
    support: NDArray[np.intp],
    features: Array,
    gate: Gate,
    factor: float = 1.0,
) -> Array:
    """Compute the gradient dJ/dV (P, d) of the SVM objective J on the gated kernel, from the support vectors only.

    Let c = alpha y be the ``dual`` of the SVM and R_im = eta_im c_i sum_j k_m(x_i, x_j) eta_jm c_j. The derivative with
    respect to the activation v_m'g_i is -(R_im - eta_im/s sum_h R_ih) for softmax and -R_im (1 - eta_im/s) for sigmoid.
    alpha can be held fixed (Danskin). ``kernels`` (P, n, n) are C-contiguous; ``support`` lists where c is not 0.

    References
    ----------
    Gonen, Alpaydin, "Localized Multiple Kernel Machines for Image Recognition", gradients of (3). Deviation: the first
    bracket of the printed gradient of v_m has delta_m^k. It must be delta_m^h, as in the gradient of v_m0; the printed
    gradient is wrong by 70 % and more.
    """
    weighted = eta[support] * dual[support, None]
    R = np.empty_like(weighted)
    _products(kernels, support, weighted, R)
    shares = eta[support] / factor
    by_activation = R - shares * R.sum(axis=1, keepdims=True) if gate == "softmax" else R * (1.0 - shares)
    return np.asarray(-by_activation.T @ features[support])


# --- compiled loops: one pass over all kernels, without large temporary arrays


@compile_loop
def _symmetric(kernels: NDArray[Any], gates: Array, by_kernel: Array, out: Array) -> None:
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
    for top in range(0, n, _TILE):
        for left in range(top, n, _TILE):
            for i in range(top, min(top + _TILE, n)):
                for j in range(max(left, i + 1), min(left + _TILE, n)):
                    out[i, j] = out[j, i]


@compile_loop
def _rectangular(kernels: NDArray[Any], row_gates: Array, by_kernel: Array, out: Array) -> None:
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


@compile_loop
def _products(kernels: NDArray[Any], support: NDArray[np.intp], weighted: Array, out: Array) -> None:
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
