"""Local discriminant embedding on features."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import NONNEGATIVE, at_least, one_of
from mklearn.base.span import centred_span
from mklearn.base.validation import checked_components
from mklearn.errors import NotApplicable
from mklearn.graphs import lde_graph
from mklearn.optimize.eigen import fix_signs
from mklearn.optimize.graph_embedding import Scaling, rescale_columns, scatter_matrices, smallest_of_pencil
from mklearn.subspace.linear_embedding import Array, LinearEmbedding


class LDE(LinearEmbedding):
    """Local discriminant embedding.

    Minimises tr((V'S'V)^-1 V'SV) with S = 2 X'LX + rho I and S' = 2 X'L'X + rho I. L joins near samples of one class,
    L' near samples of different classes; rho = ridge * (mean diagonal entry of 2 X'L'X).

    Parameters
    ----------
    n_components : int, optional
        At most the rank of the centred features; by default the number of classes less one (or that rank, if less).
    k, k_prime : int
        Number of neighbours of the same class, and of other classes.
    ridge : float
        Relative; added to both matrices.
    scaling : {"total", "within", "unit", "orthonormal"}
        Scale of V's columns: V'S'V = I, V'SV = I, unit length, or orthonormal.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        V', rows in order of discriminative power.
    eigenvalues_ : array of shape (n_components,)
        Ascending, ridge included.
    graph_ : GraphPair
    ridge_amount_ : float
        rho.
    mean_, classes_, embedding_, n_features_in_
        As for `mklearn.subspace.linear_embedding.LinearEmbedding`.

    Raises
    ------
    DataError, NotApplicable
        As for `mklearn.subspace.linear_embedding.LinearEmbedding`; `NotApplicable` also for no edge inside a class.

    References
    ----------
    Chen, Chang, Liu, "Local discriminant embedding and its variants", CVPR 2005.

    Notes
    -----
    The paper maximises the inverse ratio, which has the same solution. Deviations: affinities are 0/1 (the paper also
    offers a heat kernel) divided by their mean degree; a ridge replaces the preceding PCA; features are centred, which
    only shifts the embedding. Directions outside the span of the centred samples are left out.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **LinearEmbedding._parameter_constraints,
        "k": [at_least(1)],
        "k_prime": [at_least(1)],
        "ridge": [NONNEGATIVE],
        "scaling": [one_of(Scaling)],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        k: int = 5,
        k_prime: int = 20,
        ridge: float = 1e-3,
        scaling: Scaling = "total",
    ) -> None:
        self.n_components = n_components
        self.k = k
        self.k_prime = k_prime
        self.ridge = ridge
        self.scaling = scaling

    def _fit_features(self, features: Array, labels: NDArray[Any]) -> None:
        self.graph_ = lde_graph(features, labels, self.k, self.k_prime)
        # (r, r) problems in the span of the samples, with r < n for any number of features. The basis is orthonormal,
        # so the ridge and the unit and orthonormal scales mean the same as in feature space.
        span = centred_span(features)
        p = checked_components(
            self.n_components,
            span.rank,
            f"the centred features have rank {span.rank}",
            default=min(span.rank, len(self.classes_) - 1),
        )
        span.require_variance()
        axes = np.ascontiguousarray(span.axes)  # the products below run over its rows
        coordinates = (features - span.mean) @ axes.T
        S, S_prime, rho = scatter_matrices(coordinates.T, self.graph_, self.ridge, dimension=features.shape[1])
        values, vectors = smallest_of_pencil(S, S_prime, p, rho)
        if vectors.shape[1] < p:
            raise NotApplicable(
                f"the graphs give {vectors.shape[1]} discriminating directions, fewer than {p}: "
                "raise the ridge or k_prime"
            )
        self.mean_ = span.mean
        self.components_ = fix_signs(axes.T @ rescale_columns(vectors, values, self.scaling)).T
        self.eigenvalues_ = values
        self.ridge_amount_ = rho
