"""The maximum margin criterion in the feature space of one kernel or a fixed combination of kernels."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from numbers import Real
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from mklearn.graphs import mmc_graph
from mklearn.optimize.leave_one_out import WithoutOne, margins_without_each
from mklearn.optimize.margin import (
    Constraint,
    check_columns,
    check_not_constant,
    kernel_trace_ratio,
    margin_step,
    negligible,
)
from mklearn.subspace.inputs import checked_labels
from mklearn.subspace.kernel_embedding import KernelEmbedding, fixed_weights

Array = NDArray[np.floating[Any]]


class KernelMMC(KernelEmbedding):
    """Kernel maximum margin criterion.

    Maximises tr(A'K (L_b - lambda L_w) K A) with K = sum_m theta_m K_m for given kernel weights theta, L_b = P - J and
    L_w = I - P (P the projector onto class means, J = 11'/n), over the coefficients A of the training samples.

    Parameters
    ----------
    n_components : int, optional
        By default the number of classes less one (fewer where the kernel has a smaller rank): as many directions have a
        positive eigenvalue. At most the number of samples.
    constraint : {"rkhs", "coef", "sample"}
        What is held fixed. "rkhs": A'KA = I, directions orthonormal in the feature space; this is the maximum margin
        criterion there, with a linear kernel `mklearn.subspace.mmc.MMC`. "coef": A'A = I, as MKMMC's (13) is printed;
        it squares the spectrum of K, and is 10 to 20 points below the paper's own numbers on faces. "sample":
        A'K^2A = I, features orthonormal over the training samples; with a kernel of full rank each class becomes one
        point and the value is the number of classes less one whatever the kernel.
    lam : float or "trace_ratio"
        lambda; "trace_ratio" is tr(K L_b) / tr(K L_w).
    kernels, kernel_weights
        As for `mklearn.subspace.kfd.KernelFDA`.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,), sum 1
    kernel_ids_ : tuple of str
    classes_ : array of shape (n_classes,)
    coefficients_ : array of shape (n_train, n_components)
        A.
    eigenvalues_ : array of shape (n_components,)
        Falling.
    objective_ : float
        Their sum, the value reached.
    lambda_ : float
    embedding_ : array of shape (n_train, n_components)
    n_features_in_ : int

    Raises
    ------
    DataError
        X or y malformed: not finite, not square or not symmetric, of different lengths, not class labels.
    NotApplicable
        One class only, more components than there are, a constant kernel, or "trace_ratio" without any within-class
        scatter.
    ConfigError
        Kernel weights or specs that are not legal.

    References
    ----------
    Gu, Zhou, "Multiple kernel maximum margin criterion", section 2.2; Li, Jiang, Zhang 2003.

    Notes
    -----
    The paper calls its (13), with A'A = I, equivalent to the criterion (1) in the feature space; that needs A'KA = I,
    hence the default. The factor 2 between its pair sums and the scatters is left out.

    "rkhs" and "sample" leave out directions of K whose eigenvalue is below 1e-10 (in single precision 1e-6) of the
    largest, negative ones with them. Columns beyond those of positive eigenvalue are ordered within the span of the
    training samples: the feature space has no end of null directions, but no kernel row knows them.

    With "sample", directions of one eigenvalue come in the order of their norm in the feature space, smallest first.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelMMC(kernels=["gaussian"]).fit(X, y).transform(X).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": KernelEmbedding._parameter_constraints["n_components"],
        "kernels": KernelEmbedding._parameter_constraints["kernels"],
        "kernel_weights": "no_validation",
        "constraint": [StrOptions(set(get_args(Constraint)))],
        "lam": [Interval(Real, 0, None, closed="left"), StrOptions({"trace_ratio"})],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        constraint: Constraint = "rkhs",
        lam: float | Literal["trace_ratio"] = 1.0,
        kernels: Any = "precomputed",
        kernel_weights: Any = None,
    ) -> None:
        self.n_components = n_components
        self.constraint = constraint
        self.lam = lam
        self.kernels = kernels
        self.kernel_weights = kernel_weights

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> KernelMMC:
        """Find the directions of largest margin.

        Parameters
        ----------
        X : array of shape (n, d), or (n, n, n_kernels) with ``kernels="precomputed"``
        y : array of shape (n,)
            Class labels.
        """
        stack = self._training_stack(X)
        labels = checked_labels(self, y, stack.n_columns)
        weights = fixed_weights(self.kernel_weights, len(stack))
        kernel = np.asarray(stack.combine(weights), dtype=np.float64)
        self.lambda_ = kernel_trace_ratio(kernel, labels) if isinstance(self.lam, str) else float(self.lam)
        graph = mmc_graph(labels, self.lambda_)
        p = self._wanted_components(graph, labels)
        check_not_constant(kernel)
        values, coefficients = margin_step(kernel, graph.L, p, self.constraint, negligible(stack.dtype))
        check_columns(coefficients, self.n_components)
        self.classes_ = np.unique(labels)
        self.kernel_weights_ = weights
        self.eigenvalues_ = values
        self.objective_ = float(values.sum())
        self.coefficients_ = coefficients
        self.embedding_ = np.asarray(kernel @ coefficients, dtype=self._dtype_)
        return self

    def leave_one_out(self, X: ArrayLike, y: ArrayLike, order: Iterable[int] | None = None) -> Iterator[WithoutOne]:
        """Embeddings by refits without each sample in turn, at the cost of one eigenproblem each.

        Parameters
        ----------
        X, y
            As for `fit`. What is fitted of the kernels themselves (bandwidth, centring, normalisation: no labels) is
            fitted on all of them, once.
        order : iterable of int, optional
            The samples to leave out, one after the other; all of them, from the first, by default.

        Yields
        ------
        i : int
            The sample that is left out.
        others : array of shape (n - 1, p)
        left_out : array of shape (1, p)
            As `fit` on the others and `transform` of both, up to signs.
        """
        stack = self._training_stack(X)
        labels = checked_labels(self, y, stack.n_columns)
        kernel = np.asarray(stack.combine(fixed_weights(self.kernel_weights, len(stack))), dtype=np.float64)
        yield from margins_without_each(
            kernel,
            labels,
            lam=self.lam,
            constraint=self.constraint,
            n_components=self.n_components,
            cutoff=negligible(stack.dtype),
            order=order,
        )
