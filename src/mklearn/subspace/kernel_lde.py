"""Kernel local discriminant embedding, on one kernel or a fixed combination of kernels."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

from numpy.typing import ArrayLike

from mklearn.base.kernel_input import fixed_weights
from mklearn.base.parameters import at_least, fit_context, one_of
from mklearn.graphs import Counting, lde_graph
from mklearn.optimize.graph_embedding import Scaling, ratio_trace_step
from mklearn.subspace.kernel_embedding import RatioTraceEmbedding, neighbour_distances


class KernelLDE(RatioTraceEmbedding):
    """Kernel local discriminant embedding.

    Minimises tr((A'S'A)^-1 A'SA) with S = 2 K L K + rho I and S' = 2 K L' K + rho I, K = sum_m beta_m K_m with given
    weights. L joins near samples of one class, L' near samples of different classes, and
    rho = ridge * tr(2 K L' K) / n.

    Parameters
    ----------
    n_components : int, optional
        At most the number of samples; by default the number of classes less one, as for KernelFDA.
    kernels, kernel_weights, ridge, scaling
        As for `mklearn.subspace.kfd.KernelFDA`; "total" here refers to S', "within" to S.
    k, k_prime : int
        Number of neighbours of the same class, and of other classes.
    counting : {"class", "global"}
        Among which samples neighbours are counted: see `mklearn.graphs.lde_graph`.

    Attributes
    ----------
    kernel_weights_, kernel_ids_, classes_, coefficients_, eigenvalues_, ridge_amount_, embedding_
        As for `mklearn.subspace.kfd.KernelFDA`.
    graph_ : GraphPair

    Raises
    ------
    DataError, NotApplicable, ConfigError
        As for `mklearn.subspace.kfd.KernelFDA`; also a class graph without edges (every class has one sample).

    References
    ----------
    Chen, Chang, Liu, "Local discriminant embedding and its variants", CVPR 2005. Lin, Liu, Fuh, NIPS 2008, (31)-(32).

    Notes
    -----
    Deviations: affinities are 0/1 (the paper also offers a heat kernel), averaged over the kernels with a nonzero
    weight (each kernel has its own neighbours, as in MKL-LDE), and divided by their mean degree. Both matrices have a
    ridge.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> KernelLDE(kernels=["gaussian"]).fit(X, y).transform(X).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **RatioTraceEmbedding._parameter_constraints,
        "kernel_weights": "no_validation",
        "k": [at_least(1)],
        "k_prime": [at_least(1)],
        "counting": [one_of(Counting)],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernels: Any = "precomputed",
        kernel_weights: Any = None,
        k: int = 5,
        k_prime: int = 20,
        counting: Counting = "class",
        ridge: float = 1e-3,
        scaling: Scaling = "total",
    ) -> None:
        self.n_components = n_components
        self.kernels = kernels
        self.kernel_weights = kernel_weights
        self.k = k
        self.k_prime = k_prime
        self.counting = counting
        self.ridge = ridge
        self.scaling = scaling

    @fit_context
    def fit(
        self,
        X: ArrayLike,
        y: ArrayLike | None = None,
        *,
        graph_distances: ArrayLike | Sequence[ArrayLike] | None = None,
    ) -> KernelLDE:
        """Find the discriminating directions.

        Parameters
        ----------
        X : array of shape (n, d), or (n, n, n_kernels) with ``kernels="precomputed"``
        y : array of shape (n,)
            Class labels.
        graph_distances : array of shape (n, n), or list of such arrays, optional
            Distances among the training samples, squared or not, that define the neighbours; their graphs are averaged.
            By default K_ii + K_jj - 2 K_ij of every kernel with a nonzero weight.
        """
        stack, labels = self._training_data(X, y)
        assert labels is not None
        weights = fixed_weights(self.kernel_weights, len(stack))
        distances = neighbour_distances(stack, graph_distances, used=weights > 0)
        self.graph_ = lde_graph(distances, labels, self.k, self.k_prime, self.counting)
        p = self._wanted_components(self.graph_, labels)
        kernel = stack.combine(weights)
        projection = ratio_trace_step(kernel, self.graph_, p, ridge=self.ridge)
        self._check_projection(projection)
        self._set_projection(kernel, weights, projection)
        return self
