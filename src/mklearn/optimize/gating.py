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

Array = NDArray[np.floating[Any]]
Gate = Literal["softmax", "sigmoid"]
GateScale = Literal["published", "average"]


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
    from mklearn.optimize.gated_kernel_loops import products

    weighted = eta[support] * dual[support, None]
    R = np.empty_like(weighted)
    products(kernels, support, weighted, R)
    shares = eta[support] / factor
    by_activation = R - shares * R.sum(axis=1, keepdims=True) if gate == "softmax" else R * (1.0 - shares)
    return np.asarray(-by_activation.T @ features[support])
