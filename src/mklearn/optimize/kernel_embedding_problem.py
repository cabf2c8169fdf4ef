"""Graph embedding for variable kernel weights: the problem that MKL-DR alternates on, on kernel matrices."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from mklearn.graphs import GraphPair
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.graph_embedding import (
    Projection,
    embedded_scatters,
    initial_weight_matrices,
    kernel_projections,
    ratio_trace_step,
    ridge_traces,
    trace_ratio_step,
    weight_matrices_of,
)

Array = NDArray[np.floating[Any]]


class EmbeddingProblem(Protocol):
    """The steps of MKL-DR and the matrices between them, see `graph_embedding`; of kernels or of landmark features."""

    @property
    def n_kernels(self) -> int:
        """M."""

    def ridge_amount(self, weights: Array, ridge: float) -> float:
        """Compute rho for kernel weights."""

    def ratio_trace_step(self, weights: Array, n_components: int, *, ridge: float) -> Projection:
        """Minimise tr((A'S'A)^-1 A'SA) for kernel weights."""

    def trace_ratio_step(self, weights: Array, n_components: int, *, ridge: float) -> Projection:
        """Minimise tr(A'SA) / tr(A'S'A) with A'A = I for kernel weights."""

    def projected_scatters(self, weights: Array, coefficients: Array, rho: float) -> tuple[Array, Array]:
        """Compute A'SA and A'S'A."""

    def weight_matrices(self, coefficients: Array, ridge: float) -> tuple[Array, Array]:
        """Compute the matrices of the beta-step, ridge included."""

    def initial_weight_matrices(self, ridge: float) -> tuple[Array, Array]:
        """Compute them for AA' = I."""


class KernelProblem:
    """The problem of M training kernels and a pair of graphs over the same n samples."""

    def __init__(self, stack: KernelStack, graph: GraphPair) -> None:
        self._stack = stack
        self._kernels = list(stack)
        self._graph = graph
        self._traces = ridge_traces(self._kernels, graph)
        self._weights: Array | None = None
        self._coefficients: Array | None = None

    @property
    def n_kernels(self) -> int:
        """M."""
        return len(self._kernels)

    def combined(self, weights: Array) -> Array:
        """Return the kernel of these weights; that of the last ones is kept."""
        if self._weights is None or not np.array_equal(self._weights, weights):
            self._kernel = self._stack.combine(weights)
            self._weights = weights.copy()
        return self._kernel

    def ridge_amount(self, weights: Array, ridge: float) -> float:
        """Compute rho from the traces."""
        return 2.0 * ridge / self._graph.n * self._trace(weights)

    def ratio_trace_step(self, weights: Array, n_components: int, *, ridge: float) -> Projection:
        """See `graph_embedding.ratio_trace_step`."""
        kernel, trace = self.combined(weights), self._trace(weights)
        return ratio_trace_step(kernel, self._graph, n_components, ridge=ridge, trace=trace)

    def trace_ratio_step(self, weights: Array, n_components: int, *, ridge: float) -> Projection:
        """See `graph_embedding.trace_ratio_step`."""
        kernel, trace = self.combined(weights), self._trace(weights)
        return trace_ratio_step(kernel, self._graph, n_components, ridge=ridge, trace=trace)

    def projected_scatters(self, weights: Array, coefficients: Array, rho: float) -> tuple[Array, Array]:
        """See `graph_embedding.projected_scatters`."""
        embedded = np.tensordot(weights, self._projections(coefficients), 1)
        return embedded_scatters(embedded, coefficients, self._graph, rho)

    def weight_matrices(self, coefficients: Array, ridge: float) -> tuple[Array, Array]:
        """See `graph_embedding.weight_matrices`."""
        return weight_matrices_of(self._projections(coefficients), coefficients, self._graph, ridge, self._traces)

    def initial_weight_matrices(self, ridge: float) -> tuple[Array, Array]:
        """See `graph_embedding.initial_weight_matrices`."""
        return initial_weight_matrices(self._kernels, self._graph, ridge, self._traces)

    def _trace(self, weights: Array) -> float:
        """Compute tr(K L' K)."""
        return float(weights @ self._traces @ weights)

    def _projections(self, coefficients: Array) -> Array:
        """Return K_m A for each kernel, (M, n, p); those of the last coefficients are kept."""
        if self._coefficients is not coefficients:
            self._projected = kernel_projections(self._kernels, coefficients)
            self._coefficients = coefficients
        return self._projected
