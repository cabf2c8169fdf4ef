"""The maximum margin criterion, the linear method on features."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import get_lapack_funcs, svd
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from mklearn.errors import NotApplicable
from mklearn.graphs import between_laplacian, class_structure, mmc_graph, within_laplacian
from mklearn.optimize.eigen import fix_signs, generalized_eigh
from mklearn.subspace.inputs import checked_array, checked_labels
from mklearn.subspace.linear_embedding import SupervisedLinearEmbedding

Array = NDArray[np.floating[Any]]
Weight = float | Literal["trace_ratio"]


class MMC(SupervisedLinearEmbedding):
    """Maximum margin criterion.

    Maximises tr(A'(S_b - lambda S_w)A) under A'A = I, with the scatters S_b = X'(P - J)X and S_w = X'(I - P)X (sums,
    not means; P the projector onto class means, J = 11'/n): A holds the leading eigenvectors of S_b - lambda S_w.

    Parameters
    ----------
    n_components : int, optional
        At most the number of features; by default the number of classes less one (or the number of features, if less),
        which is also the most directions that have a positive eigenvalue.
    lam : float or "trace_ratio"
        lambda. 1 in MKMMC's paper, "trace_ratio" (tr S_b / tr S_w) in 2DMMC's. Larger values favour directions of small
        within-class scatter: on faces 10 times the trace ratio does better by 2 to 9 points.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        A', orthonormal rows, by falling eigenvalue.
    mean_ : array of shape (d,)
    eigenvalues_ : array of shape (n_components,)
    lambda_ : float
    classes_ : array of shape (n_classes,)
    embedding_ : array of shape (n, n_components)
    n_features_in_ : int

    Raises
    ------
    DataError
        X not finite, y malformed.
    NotApplicable
        One class only, more components than features, constant features, or "trace_ratio" without any within-class
        scatter.

    References
    ----------
    Li, Jiang, Zhang, "Efficient and robust feature extraction by maximum margin criterion", NIPS 2003. Gu, Zhou,
    "Multiple kernel maximum margin criterion", equations (1)-(8); "Two dimensional maximum margin criterion" for
    "trace_ratio".

    Notes
    -----
    Computed in the span of the centred samples, yet ordered as in the whole feature space: directions that no training
    sample extends in (eigenvalue 0) come after those of positive and before those of negative eigenvalue. They change
    no nearest neighbour. An implementation that stops at the span gives negative directions in their place.

    The paper's (6) omits a factor 2, sum_ij W_ij (x_i - x_j)(x_i - x_j)' = 2 (S_b - S_w), and calls S_i a covariance
    where its (4) needs the scatter.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> MMC().fit(X, y).transform(X).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "lam": [Interval(Real, 0, None, closed="left"), StrOptions({"trace_ratio"})],
    }

    def __init__(self, n_components: int | None = None, *, lam: Weight = 1.0) -> None:
        self.n_components = n_components
        self.lam = lam

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> MMC:
        """Find the directions of largest margin.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,)
            Class labels.
        """
        array = checked_array(self, X, reset=True)
        labels = checked_labels(self, y, len(array))
        features = array.astype(np.float64)
        d = features.shape[1]
        classes = class_structure(labels)
        if self.n_components is not None and self.n_components > d:
            raise NotApplicable(f"n_components={self.n_components}: there are {d} features, ask for at most that many")
        p = min(classes.n_classes - 1, d) if self.n_components is None else self.n_components

        self.mean_ = features.mean(axis=0)
        left, singular, span = svd(features - self.mean_, full_matrices=False)
        rank = int((singular > max(features.shape) * np.finfo(np.float64).eps * singular[0]).sum())
        if rank == 0 or not singular[0] > 0:
            raise NotApplicable("the features are constant over the samples: nothing can be told apart")
        coordinates, span = left[:, :rank] * singular[:rank], span[:rank]
        self.lambda_ = trace_ratio(coordinates, labels) if isinstance(self.lam, str) else float(self.lam)
        values, vectors = generalized_eigh(
            coordinates.T @ mmc_graph(labels, self.lambda_).L.apply(coordinates), which="largest"
        )
        # In the whole space: the eigenvalues 0 of the span's complement take their place among those of the span.
        above = int((values > 0).sum())
        missing = min(max(p - above, 0), d - rank)
        inside = min(p - missing, rank)
        directions = span.T @ vectors[:, :inside]
        if missing:
            directions = np.insert(directions, [above] * missing, orthogonal_complement(span.T, missing), axis=1)
            values = np.insert(values, [above] * missing, 0.0)
        self.classes_ = classes.labels
        self.components_ = fix_signs(directions).T
        self.eigenvalues_ = values[:p]
        self.embedding_ = self._embedded(array)
        return self


def trace_ratio(coordinates: Array, y: ArrayLike) -> float:
    """tr S_b / tr S_w of samples in rows: (n, r) -> a number.

    Raises
    ------
    NotApplicable
        tr S_w = 0: all samples of a class coincide, or there is one per class.
    """
    between, within = (
        float(np.vdot(coordinates, operator(y).apply(coordinates)))
        for operator in (between_laplacian, within_laplacian)
    )
    if not within > 1e-14 * between:
        raise NotApplicable(
            "lam='trace_ratio' divides by the within-class scatter, and there is none: give lam as a number"
        )
    return between / within


def orthogonal_complement(basis: Array, count: int) -> Array:
    """``count`` orthonormal vectors orthogonal to the independent columns of basis (d, r); shape (d, count).

    Householder's reflections applied to unit vectors: no (d, d) matrix is formed.
    """
    d, r = basis.shape
    geqrf, ormqr = get_lapack_funcs(("geqrf", "ormqr"), (basis,))
    reflectors, factors, _, _ = geqrf(basis)
    units = np.zeros((d, count), order="F")
    units[np.arange(r, r + count), np.arange(count)] = 1.0
    complement, _, info = ormqr("L", "N", reflectors, factors, units, lwork=max(1, 64 * count))
    if info != 0:  # pragma: no cover - illegal arguments only
        raise RuntimeError(f"LAPACK's ormqr returned {info}")
    return np.asarray(complement)
