"""Local discriminant embedding, the linear method on features."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import svd
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from mklearn.errors import NotApplicable
from mklearn.graphs import Counting, lde_graph
from mklearn.optimize.eigen import fix_signs
from mklearn.optimize.graph_embedding import Scaling, rescale_columns, scatter_matrices, smallest_of_pencil
from mklearn.subspace.inputs import checked_array, checked_labels
from mklearn.subspace.linear_embedding import SupervisedLinearEmbedding


class LDE(SupervisedLinearEmbedding):
    """Local discriminant embedding.

    Minimises tr((V'S'V)^-1 V'SV) with S = 2 X'LX + rho I and S' = 2 X'L'X + rho I: L joins near samples of one class,
    L' near samples of different classes, rho = ridge * (mean diagonal entry of 2 X'L'X).

    Parameters
    ----------
    n_components : int, optional
        At most the rank of the centred features; by default the number of classes less one (or that rank, if less).
    k, k_prime : int
        Neighbours of the same class, and of other classes.
    counting : {"class", "global"}
        Whom neighbours are counted among: see `mklearn.graphs.lde_graph`.
    ridge : float
        Relative; stands on both matrices.
    scaling : {"total", "within", "unit", "orthonormal"}
        Scale of V's columns: V'S'V = I, V'SV = I, unit length, or orthonormal.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        V', rows in order of discriminative power.
    mean_ : array of shape (d,)
    eigenvalues_ : array of shape (n_components,)
        Ascending, ridge included.
    classes_ : array of shape (n_classes,)
    graph_ : GraphPair
    ridge_amount_ : float
        rho.
    embedding_ : array of shape (n, n_components)
    n_features_in_ : int

    Raises
    ------
    DataError
        X not finite, y malformed.
    NotApplicable
        One class only, more components than there are, constant features, no edge inside a class.

    References
    ----------
    Chen, Chang, Liu, "Local discriminant embedding and its variants", CVPR 2005.

    Notes
    -----
    The paper maximises the inverse ratio, which has the same solution. Deviations: affinities 0/1 (it offers a heat
    kernel too) divided by their mean degree; a ridge in place of its preceding PCA; features are centred, which changes
    the embedding by a shift only. Directions outside the span of the centred samples are left out.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "k": [Interval(Integral, 1, None, closed="left")],
        "k_prime": [Interval(Integral, 1, None, closed="left")],
        "counting": [StrOptions({"class", "global"})],
        "ridge": [Interval(Real, 0, None, closed="left")],
        "scaling": [StrOptions(set(get_args(Scaling)))],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        k: int = 5,
        k_prime: int = 20,
        counting: Counting = "class",
        ridge: float = 1e-3,
        scaling: Scaling = "total",
    ) -> None:
        self.n_components = n_components
        self.k = k
        self.k_prime = k_prime
        self.counting = counting
        self.ridge = ridge
        self.scaling = scaling

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> LDE:
        """Find the discriminating directions.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,)
            Class labels.
        """
        array = checked_array(self, X, reset=True)
        labels = checked_labels(self, y, len(array))
        features = array.astype(np.float64)
        self.graph_ = lde_graph(features, labels, self.k, self.k_prime, self.counting)
        mean = features.mean(axis=0)

        # In the coordinates of the samples' own span: (r, r) problems with r < n however many features there are. The
        # basis is orthonormal, so the ridge and the unit and orthonormal scales mean the same as in feature space.
        _, singular, span = svd(features - mean, full_matrices=False)
        span = span[singular > max(features.shape) * np.finfo(np.float64).eps * singular[0]]
        most = len(span)
        if self.n_components is not None and self.n_components > most:
            raise NotApplicable(
                f"n_components={self.n_components}: the centred features have rank {most}, ask for at most that"
            )
        classes = np.unique(labels)
        p = min(most, len(classes) - 1) if self.n_components is None else self.n_components
        if p == 0:
            raise NotApplicable("the features are constant over the samples: nothing can be told apart")
        coordinates = (features - mean) @ span.T
        S, S_prime, rho = scatter_matrices(coordinates.T, self.graph_, self.ridge, dimension=features.shape[1])
        values, vectors = smallest_of_pencil(S, S_prime, p, rho)
        if vectors.shape[1] < p:
            raise NotApplicable(
                f"the graphs give {vectors.shape[1]} discriminating directions, fewer than {p}: "
                "raise the ridge or k_prime"
            )
        V = fix_signs(span.T @ rescale_columns(vectors, values, self.scaling))
        self.classes_ = classes
        self.mean_ = mean
        self.components_ = V.T
        self.eigenvalues_ = values
        self.ridge_amount_ = rho
        self.embedding_ = self._embedded(array)
        return self
