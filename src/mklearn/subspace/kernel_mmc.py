"""The maximum margin criterion in the feature space of one kernel or a fixed combination of kernels."""

from __future__ import annotations

from numbers import Real
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from mklearn.errors import NotApplicable
from mklearn.graphs import LaplacianOperator, between_laplacian, mmc_graph, total_laplacian, within_laplacian
from mklearn.optimize.eigen import fix_signs, generalized_eigh
from mklearn.subspace.inputs import checked_labels
from mklearn.subspace.kernel_embedding import KernelEmbedding, fixed_weights

Array = NDArray[np.floating[Any]]
Constraint = Literal["rkhs", "coef", "sample"]

# Eigenvalues of a kernel below this, relative to the largest, count as 0 and their directions are not used. Single
# precision leaves noise above it: see `negligible`.
_NEGLIGIBLE = 1e-10
# Eigenvalues of the criterion this close, relative to the largest, are one eigenspace.
_TIED = 1e-8


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


def negligible(dtype: np.dtype[Any]) -> float:
    """Which eigenvalues of a kernel in this precision count as 0, relative to the largest."""
    return max(_NEGLIGIBLE, 10 * float(np.finfo(dtype).eps))


def margin_step(
    kernel: Array, operator: LaplacianOperator, n_components: int, constraint: Constraint, cutoff: float = _NEGLIGIBLE
) -> tuple[Array, Array]:
    """Maximise tr(A'K L K A) under a constraint on A.

    Parameters
    ----------
    kernel : array of shape (n, n)
        Symmetric K, float64.
    operator : LaplacianOperator
        L.
    n_components : int
        p, at most; fewer columns where K has a smaller rank.
    constraint : {"rkhs", "coef", "sample"}
        A'KA = I, A'A = I or A'K^2A = I.
    cutoff : float
        "rkhs" and "sample" leave out eigenvalues of K that are not above this part of the largest.

    Returns
    -------
    eigenvalues : array of shape (p,), falling
    coefficients : array of shape (n, p)
        In each column the entry of largest absolute value is positive.
    """
    if constraint == "coef":
        return generalized_eigh(kernel @ operator.apply(kernel), None, min(n_components, len(kernel)), "largest")
    spectrum, basis = eigh(kernel, check_finite=False)
    kept = spectrum > cutoff * spectrum[-1]
    spectrum, basis = spectrum[kept], basis[:, kept]
    roots = np.sqrt(spectrum)
    if constraint == "rkhs":
        factor = basis * roots
        values, inner = generalized_eigh(
            factor.T @ operator.apply(factor), None, min(n_components, len(roots)), "largest"
        )
        return values, fix_signs((basis / roots) @ inner)
    values, inner = generalized_eigh(basis.T @ operator.apply(basis), which="largest")
    inner = _smooth_first(values, inner, 1.0 / spectrum)[:, :n_components]
    return values[:n_components], fix_signs((basis / spectrum) @ inner)


def _smooth_first(values: Array, vectors: Array, norms: Array) -> Array:
    """A basis of each eigenspace in which the form diag(norms) is diagonal and rises."""
    gaps = np.diff(values) < -_TIED * np.abs(values).max()
    for group in np.split(np.arange(len(values)), np.flatnonzero(gaps) + 1):
        if len(group) > 1:
            space = vectors[:, group]
            vectors[:, group] = space @ generalized_eigh(space.T @ (norms[:, None] * space))[1]
    return vectors


def kernel_trace_ratio(kernel: Array, y: ArrayLike) -> float:
    """tr(K L_b) / tr(K L_w), the ratio of the scatters' traces in the feature space.

    Raises
    ------
    NotApplicable
        There is no within-class scatter.
    """
    between, within = (float(np.trace(operator(y).apply(kernel))) for operator in (between_laplacian, within_laplacian))
    if not within > 1e-14 * abs(between):
        raise NotApplicable(
            "lam='trace_ratio' divides by the within-class scatter, and there is none: give lam as a number"
        )
    return between / within


def check_not_constant(kernel: Array) -> None:
    """Refuse a kernel that tells no two samples apart.

    Raises
    ------
    NotApplicable
    """
    centred = total_laplacian(len(kernel)).apply(kernel)
    if not np.abs(centred).max() > 10 * len(kernel) * np.finfo(np.float64).eps * np.abs(kernel).max():
        raise NotApplicable(
            "the combined kernel is constant over the samples, so nothing can be told apart; check the bandwidth and "
            "the weights"
        )


def check_columns(coefficients: Array, n_components: int | None) -> None:
    """Refuse fewer columns than were asked for by number; with None, what there is will do.

    Raises
    ------
    NotApplicable
    """
    found = coefficients.shape[1]
    if found == 0 or (n_components is not None and found < n_components):
        raise NotApplicable(
            f"the combined kernel has rank {found}, fewer than n_components={n_components}: ask for fewer, or use "
            "richer kernels"
        )
