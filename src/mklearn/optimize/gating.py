"""Gates of localized kernel combinations: their values, the gated kernel, and the gradient of the SVM through them.

With gating features g_i (the first is 1) and a matrix V, kernel m weighs in sample i

    softmax:  eta_im = s exp(v_m'g_i) / sum_h exp(v_h'g_i),        sigmoid:  eta_im = s / (1 + exp(-v_m'g_i)),

and the gated kernel is k(x_i, x_j) = sum_m eta_im k_m(x_i, x_j) eta_jm. At V = 0 it is the uniform average times
s^2 / P (softmax) or s^2 P / 4 (sigmoid).
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit, softmax

Array = NDArray[np.floating[Any]]
Gate = Literal["softmax", "sigmoid"]
GateScale = Literal["published", "average"]


def gate_factor(gate: Gate, scale: GateScale, n_kernels: int) -> float:
    """Return s: 1 as published, or what makes the gated kernel at V = 0 the uniform average."""
    if scale == "published":
        return 1.0
    return float(np.sqrt(n_kernels)) if gate == "softmax" else 2.0 / float(np.sqrt(n_kernels))


def gates(features: Array, V: Array, gate: Gate, factor: float = 1.0) -> Array:
    """Compute eta, (n, P), of gating features (n, d), with the constant 1 among them, and V (P, d).

    ``factor`` is s, see `gate_factor`.
    """
    activations = features @ V.T
    shares = softmax(activations, axis=1) if gate == "softmax" else expit(activations)
    return np.ascontiguousarray(factor * shares, dtype=np.float64)


def gated_kernel(kernels: NDArray[Any], eta: Array) -> NDArray[np.float64]:
    """Compute the gated kernel among training samples, (n, n), exactly symmetric, for C-contiguous kernels (P, n, n).

    These are symmetric: only the lower triangles are read. float32 is summed in double precision.
    """
    from mklearn.optimize.gated_kernel_loops import symmetric

    out = np.empty(kernels.shape[1:])
    symmetric(kernels, eta, np.ascontiguousarray(eta.T), out)
    return out


def gated_cross_kernel(kernels: NDArray[Any], eta_rows: Array, eta_columns: Array) -> NDArray[np.float64]:
    """Compute the gated kernel between other and training samples, (m, n), for C-contiguous kernels (P, m, n)."""
    from mklearn.optimize.gated_kernel_loops import rectangular

    out = np.empty(kernels.shape[1:])
    rectangular(kernels, eta_rows, np.ascontiguousarray(eta_columns.T), out)
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
    """Compute dJ/dV of the SVM's objective J on the gated kernel, shape (P, d), on the support rows only.

    With c = alpha y, the ``dual`` of the SVM, and R_im = eta_im c_i sum_j k_m(x_i, x_j) eta_jm c_j, the derivative by
    the activation v_m'g_i is -(R_im - eta_im/s sum_h R_ih) for softmax and -R_im (1 - eta_im/s) for sigmoid. The alpha
    do not move to first order (Danskin). ``kernels`` (P, n, n) are C-contiguous; ``support`` is where c is not 0.

    References
    ----------
    Gonen, Alpaydin, "Localized Multiple Kernel Machines for Image Recognition", gradients of (3). In the printed
    gradient of v_m the first bracket has delta_m^k; it is delta_m^h, as in the gradient of v_m0: without it the
    gradient is wrong by 70 % and more.
    """
    from mklearn.optimize.gated_kernel_loops import products

    weighted = eta[support] * dual[support, None]
    R = np.empty_like(weighted)
    products(kernels, support, weighted, R)
    shares = eta[support] / factor
    by_activation = R - shares * R.sum(axis=1, keepdims=True) if gate == "softmax" else R * (1.0 - shares)
    return np.asarray(-by_activation.T @ features[support])
