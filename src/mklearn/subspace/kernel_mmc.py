"""Maximum margin criterion in the feature space of one kernel or a fixed combination of kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.kernels_mixin import fixed_weights
from mklearn.base.parameters import NONNEGATIVE, StrOptions, one_of
from mklearn.graphs import margin_laplacian
from mklearn.kernels.stack import KernelStack
from mklearn.optimize.leave_one_out import WithoutOne, margins_without_each
from mklearn.optimize.margin import (
    Constraint,
    check_columns,
    check_not_constant,
    kernel_trace_ratio,
    margin_step,
    negligible,
)
from mklearn.subspace.kernel_embedding import KernelEmbedding


class KernelMMC(KernelEmbedding):
    """Kernel maximum margin criterion.

    Maximises tr(A'K (L_b - lambda L_w) K A) with K = sum_m theta_m K_m for fixed kernel weights theta, L_b = P - J and
    L_w = I - P (P the projector onto class means, J = 11'/n), over the coefficients A of the training samples.

    Parameters
    ----------
    n_components : int, optional
        By default the number of classes less one (fewer if the kernel has a smaller rank), the number of positive
        eigenvalues. At most the number of samples.
    constraint : {"rkhs", "coef", "sample"}
        "rkhs": A'KA = I, directions orthonormal in the feature space; this is the maximum margin criterion there, and
        with a linear kernel `mklearn.subspace.mmc.MMC`. "coef": A'A = I, as printed in MKMMC's (13); it squares the
        spectrum of K. "sample": A'K^2A = I, features orthonormal over the training samples; with a kernel of full rank
        each class becomes one point, and the objective is the number of classes less one for every kernel.
    trade_off : float or "trace_ratio"
        lambda, the weight of the within-class scatter; "trace_ratio" is tr(K L_b) / tr(K L_w).
    kernels, kernel_weights
        As for `mklearn.subspace.kfd.KernelFDA`.

    Attributes
    ----------
    coefficients_ : array of shape (n_train, n_components)
        A.
    eigenvalues_ : array of shape (n_components,)
        Descending.
    objective_ : float
        Sum of the eigenvalues.
    trade_off_ : float
        lambda as a number.
    kernel_weights_, kernel_ids_, classes_, embedding_, n_features_in_
        As for `mklearn.subspace.kfd.KernelFDA`.

    Raises
    ------
    DataError, NotApplicable, ConfigError
        As for `mklearn.subspace.kfd.KernelFDA`; `NotApplicable` also for "trace_ratio" without within-class scatter.

    References
    ----------
    Gu, Zhou, "Multiple kernel maximum margin criterion", section 2.2; Li, Jiang, Zhang 2003.

    Notes
    -----
    The paper calls its (13), with A'A = I, equivalent to the criterion (1) in the feature space; that needs A'KA = I,
    hence the default. The factor 2 between its pair sums and the scatters is left out.

    "rkhs" and "sample" leave out directions of K whose eigenvalue is negative or below 1e-10 (in single precision 1e-6)
    of the largest. Columns beyond those of positive eigenvalue are ordered within the span of the training samples:
    null directions of the feature space outside it cannot be written with kernel rows.

    With "sample", directions of equal eigenvalue are ordered by their norm in the feature space, smallest first.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelEmbedding._parameter_constraints,
        "kernel_weights": "no_validation",
        "constraint": [one_of(Constraint)],
        "trade_off": [NONNEGATIVE, StrOptions({"trace_ratio"})],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        constraint: Constraint = "rkhs",
        trade_off: float | Literal["trace_ratio"] = 1.0,
        kernels: Any = "precomputed",
        kernel_weights: Any = None,
    ) -> None:
        self.n_components = n_components
        self.constraint = constraint
        self.trade_off = trade_off
        self.kernels = kernels
        self.kernel_weights = kernel_weights

    def _fit_kernels(self, stack: KernelStack, labels: NDArray[Any]) -> None:
        weights = fixed_weights(self.kernel_weights, len(stack))
        kernel = np.asarray(stack.combine(weights), dtype=np.float64)
        by_ratio = isinstance(self.trade_off, str)
        self.trade_off_ = kernel_trace_ratio(kernel, labels) if by_ratio else float(self.trade_off)
        p = self._wanted_components(stack.n_columns, labels)
        check_not_constant(kernel)
        values, coefficients = margin_step(
            kernel, margin_laplacian(labels, self.trade_off_), p, self.constraint, negligible(stack.dtype)
        )
        check_columns(coefficients, self.n_components)
        self.kernel_weights_ = weights
        self.eigenvalues_ = values
        self.objective_ = float(values.sum())
        self.coefficients_ = coefficients
        self.embedding_ = self._embed_training(kernel)

    def leave_one_out(self, X: ArrayLike, y: ArrayLike, order: Iterable[int] | None = None) -> Iterator[WithoutOne]:
        """Yield embeddings refitted without each sample in turn, at the cost of one eigenproblem each.

        Parameters
        ----------
        X, y
            As for `fit`. The kernels (bandwidth, centring, normalisation: no labels) are fitted once, on all samples.
        order : iterable of int, optional
            The samples to leave out, in order; by default all, from the first.

        Yields
        ------
        i : int
            The sample left out.
        others : array of shape (n - 1, p)
        left_out : array of shape (1, p)
            Embeddings of both after `fit` on the others, up to signs.
        """
        stack, labels = self._training_data(X, y)
        assert labels is not None
        kernel = np.asarray(stack.combine(fixed_weights(self.kernel_weights, len(stack))), dtype=np.float64)
        yield from margins_without_each(
            kernel,
            labels,
            trade_off=self.trade_off,
            constraint=self.constraint,
            n_components=self.n_components,
            cutoff=negligible(stack.dtype),
            order=order,
        )
