"""Kernel local discriminant embedding with one kernel or a fixed combination of kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.base.kernels_mixin import fixed_weights
from mklearn.base.parameters import PositiveInt, parameters
from mklearn.graphs import kernel_squared_distances, lde_graph
from mklearn.kernels.stack import KernelStack
from mklearn.subspace.kernel_embedding import RatioTraceEmbedding


@parameters
class KernelLDE(RatioTraceEmbedding):
    """Kernel local discriminant embedding.

    Minimises tr((A'S'A)^-1 A'SA) with S = 2 K L K + rho I and S' = 2 K L' K + rho I, K = sum_m beta_m K_m with fixed
    weights. L joins neighbours of the same class, L' neighbours of different classes, and
    rho = ridge * tr(2 K L' K) / n.

    Parameters
    ----------
    n_components : int, optional
        At most the number of samples; by default the number of classes less one.
    kernels, kernel_weights, ridge, scaling
        As for `mklearn.subspace.kfd.KernelFDA`, with S' in place of the total scatter.
    k : int
        Number of neighbours of the same class.
    k_prime : int
        Number of neighbours of other classes.

    Attributes
    ----------
    kernel_weights_, kernel_ids_, classes_, coefficients_, eigenvalues_, ridge_amount_, embedding_
        As for `mklearn.subspace.kfd.KernelFDA`, as are the errors, and `NotApplicable` also if the class graph has no
        edges (every class has one sample).
    graph_ : GraphPair

    References
    ----------
    Chen, Chang, Liu, "Local discriminant embedding and its variants", CVPR 2005. Lin, Liu, Fuh, NIPS 2008, (31)-(32).

    Notes
    -----
    Neighbours are found with the squared distances K_ii + K_jj - 2 K_ij of each kernel. Deviations: affinities are 0/1
    (the paper also offers a heat kernel), averaged over the kernels with a nonzero weight (each kernel has its own
    neighbours, as in MKL-LDE), and divided by their mean degree. Both matrices have a ridge.
    """

    kernel_weights: Any = None
    k: PositiveInt = 5
    k_prime: PositiveInt = 20

    def _fit_kernels(self, stack: KernelStack, labels: NDArray[Any]) -> None:
        weights = fixed_weights(self.kernel_weights, len(stack))
        distances = [kernel_squared_distances(stack[int(m)].astype(np.float64)) for m in np.flatnonzero(weights)]
        self.graph_ = lde_graph(distances, labels, self.k, self.k_prime)
        self._fit_ratio_trace(stack, weights, self.graph_, labels)
