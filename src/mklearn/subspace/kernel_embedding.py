"""Base classes of the kernel embeddings: input (features or precomputed kernels), labels, scale and output."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.embedding import Embedding
from mklearn.base.fit_context import fit_context
from mklearn.base.kernels_mixin import KernelsMixin
from mklearn.base.parameters import Nonnegative, PositiveInt, parameters
from mklearn.checks import checked_components
from mklearn.errors import NotApplicable
from mklearn.graphs import GraphPair
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.graph_embedding import (
    Array,
    KernelProblem,
    Projection,
    Scaling,
    rescale_columns,
)


@parameters
class KernelEmbedding(KernelsMixin, Embedding):
    """Base of the estimators that embed samples by z = A' sum_m beta_m k_m(., x).

    ``predict`` returns the label of the nearest training sample, see `mklearn.base.embedding.Embedding`.

    A subclass implements `_fit_kernels`, which sets ``kernel_weights_``, ``coefficients_``, ``embedding_`` and its own
    attributes. Common parameters, attributes and errors are described in `mklearn.subspace.kfd.KernelFDA`.
    """

    n_components: PositiveInt | None = field(default=None, kw_only=False)
    kernel_weights_: Array = field(init=False)
    coefficients_: Array = field(init=False)

    @fit_context
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Learn the projection, and the kernel weights unless they are fixed.

        Parameters
        ----------
        X : array of shape (n, d), views, or array of shape (n, n, n_kernels) with ``kernels="precomputed"``
            Views are a dict or list of tables, or `mklearn.kernels.Views`.
        y : array of shape (n,)
            Class labels; ignored by unsupervised methods.

        Notes
        -----
        float32 halves the memory of the kernels and speeds up their computation and `transform`. Scatter matrices and
        their factorisations stay in double precision: a ridge can be 1e-5 of their largest eigenvalue, close to the
        rounding errors of single precision.
        """
        stack = self._training_stack(X)
        self._fit_kernels(stack, self._checked_labels(y, stack.n_columns))
        return self

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        if getattr(self, "landmarks", None) is not None:
            tags.transformer_tags.preserves_dtype = ["float64"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.coefficients_.shape[1]

    # ------------------------------------------------------------------------------------------------ for subclasses

    def _fit_kernels(self, stack: KernelStack, labels: Any) -> None:
        """Learn from the training kernels; labels are an array, or None for unsupervised methods."""
        raise NotImplementedError

    def _project(self, X: Any) -> NDArray[np.floating]:
        """Embed samples; always return an array, whatever output container is set."""
        stack, dtype = self._new_stack(X)
        return np.asarray(stack.combine(self.kernel_weights_) @ self.coefficients_, dtype=dtype)

    def _wanted_components(self, n: int, labels: NDArray[Any] | None, graph: GraphPair | None = None) -> int:
        """Return the checked ``n_components``, or its default: classes - 1 with labels, else 2.

        For the LDA graph, classes - 1 is also the largest valid number.
        """
        classes = None if graph is None else graph.lda_classes
        most = n if classes is None else classes.n_classes - 1
        default = min(most, 2 if labels is None else len(np.unique(labels)) - 1)
        limit = "the number of samples" if classes is None else "the number of classes less one"
        return checked_components(self.n_components, most, f"{limit} is {most}", default=default)

    def _embed_training(self, kernel: Array) -> Array:
        """Compute the embedding of the training samples from their combined kernel."""
        return np.asarray(kernel @ self.coefficients_, dtype=self._dtype_)


@parameters
class RatioTraceEmbedding(KernelEmbedding):
    """Base of the kernel embeddings that optimise a ratio trace with a ridge."""

    ridge: Nonnegative = 1e-3
    scaling: Scaling = "total"

    def _fit_ratio_trace(
        self, stack: KernelStack, weights: Array, graph: GraphPair, labels: NDArray[Any] | None
    ) -> None:
        """Solve the ratio-trace problem with ridge for the kernel combined with these weights."""
        p = self._wanted_components(graph.n, labels, graph)
        kernel = stack.combine(weights)
        projection = KernelProblem(KernelStack(kernel[None]), graph).ratio_trace_step(np.ones(1), p, ridge=self.ridge)
        self._set_projection(kernel, weights, projection)

    def _set_projection(self, kernel: Array, weights: Array, projection: Projection) -> None:
        """Set the attributes that all these estimators have."""
        self.coefficients_ = self._rescaled(weights, projection)
        self.embedding_ = self._embed_training(kernel)

    def _rescaled(self, weights: Array, projection: Projection) -> Array:
        """Set the attributes that do not depend on the form of the coefficients; return the rescaled coefficients.

        Raises `NotApplicable` if the projection has fewer columns than ``n_components``, or none.
        """
        n_columns = projection.coefficients.shape[1]
        if n_columns == 0 or (self.n_components is not None and n_columns < self.n_components):
            raise NotApplicable(
                f"the combined kernel has {n_columns} discriminating directions, fewer than "
                f"n_components={self.n_components}: lower n_components, or use kernels of higher rank"
            )
        self.kernel_weights_ = weights
        self.eigenvalues_ = projection.eigenvalues
        self.ridge_amount_ = projection.ridge_amount
        return rescale_columns(projection.coefficients, projection.eigenvalues, self.scaling)
