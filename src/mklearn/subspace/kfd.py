"""Multi-class kernel Fisher discriminant analysis with one kernel or a fixed combination of kernels."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

from mklearn.base.kernels_mixin import fixed_weights
from mklearn.base.landmark_input import LandmarkEmbedding, LandmarkMoments
from mklearn.base.parameters import parameters
from mklearn.graphs import lda_graph
from mklearn.kernels.stack import KernelStack
from mklearn.subspace.kernel_embedding import RatioTraceEmbedding


@parameters
class KernelFDA(LandmarkEmbedding, RatioTraceEmbedding):
    """Multi-class kernel Fisher discriminant analysis.

    Minimises the ratio trace of the within-class to the total scatter in the feature space of K = sum_m beta_m K_m,
    with fixed kernel weights beta:

        tr((A'S'A)^-1 A'SA),   S = 2 K (I - P) K + rho I,   S' = 2 K (I - J) K + rho I,

    where P is the projector onto class means, J = 11'/n, and rho = ridge * tr(2 K (I - J) K) / n. The solution takes
    one Cholesky factorisation and an eigenproblem of size (c, c) for c classes.

    Parameters
    ----------
    n_components : int, optional
        At most, and by default, the number of classes less one (fewer by default if the kernel has a smaller rank).
    kernels : "precomputed", list of kernel specs, or mapping of names to specs
        "precomputed": X is (n_samples, n_train, n_kernels), or (n_samples, n_train) for one kernel. With specs, X is
        (n_samples, n_features) or several views; see `mklearn.kernels.transform.StackTransform`.
    kernel_weights : None, "uniform", int or array of shape (n_kernels,)
        None or "uniform": the average. int: one kernel by its position. Array: weights, scaled to sum 1.
    ridge : float
        Ridge relative to the mean diagonal entry of the total scatter, added to both matrices. With 0, a nonsingular
        kernel maps every class to one point.
    scaling : {"total", "within", "unit", "orthonormal"}
        Scale of A's columns: A'S'A = I, A'SA = I, unit length, or orthonormal. Nearest-neighbour accuracy depends on
        it: report it.
    landmarks : int or mapping, optional
        Number of landmarks. The method then learns from explicit landmark features, for training sets whose kernels do
        not fit into memory; the kernels must be computed from features. A mapping has "n", and optionally
        "dtype", "rank_tolerance" and "random_state" of `mklearn.base.landmark_features.LandmarkFeatures`. See
        `mklearn.base.landmark_input.LandmarkInput` for the attributes and for `fit_moments`.

    Attributes
    ----------
    kernel_weights_ : array of shape (n_kernels,), sum 1
    kernel_ids_ : tuple of str
    classes_ : array of shape (n_classes,)
    coefficients_ : array of shape (n_train, n_components)
    eigenvalues_ : array of shape (n_components,)
        Within- over total scatter of each column, ascending, ridge included.
    ridge_amount_ : float
        The ridge rho.
    embedding_ : array of shape (n_train, n_components)
        The embedded training samples.
    n_features_in_ : int

    Raises
    ------
    DataError
        X is not finite, not square or not symmetric, y is not class labels, or their lengths differ.
    NotApplicable
        There is only one class, ``n_components`` is too large, or the kernel is constant.
    ConfigError
        Invalid kernel weights or specs.

    References
    ----------
    Mika, Raetsch, Weston, Schoelkopf, Mueller, "Fisher discriminant analysis with kernels", 1999. Lin, Liu, Fuh,
    "Dimensionality reduction for data in multiple feature representations", NIPS 2008: MKL-LDA with one kernel.

    Notes
    -----
    Deviation from Mika et al.: they add a ridge to the within-class scatter only. Here both scatters have a ridge, as
    MKL-DR needs. The subspace is the same; the eigenvalues and the "total" scale differ.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelFDA(kernels=["gaussian"]).fit(X, y).transform(X).shape
    (150, 2)
    """

    kernel_weights: Any = None

    def _fit_kernels(self, stack: KernelStack, labels: NDArray[Any]) -> None:
        weights = fixed_weights(self.kernel_weights, len(stack))
        self._fit_ratio_trace(stack, weights, lda_graph(labels), labels)

    def _fit_moments(self, data: LandmarkMoments) -> None:
        weights = fixed_weights(self.kernel_weights, data.n_kernels)
        problem = data.problem()
        projection = problem.ratio_trace_step(weights, self._wanted_of_classes(data), ridge=self.ridge)
        coefficients = self._rescaled(weights, projection)
        self._set_coefficients(data, problem.feature_coefficients(weights, coefficients))
