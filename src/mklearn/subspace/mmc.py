"""Maximum margin criterion on features."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import get_lapack_funcs

from mklearn.base.parameters import Nonnegative, parameters
from mklearn.checks import checked_components
from mklearn.errors import NotApplicable
from mklearn.graphs import between_laplacian, class_structure, margin_laplacian, within_laplacian
from mklearn.optimize.eigen import fix_signs, generalized_eigh
from mklearn.optimize.whitening import centred_span
from mklearn.subspace.linear_embedding import Array, LinearEmbedding


@parameters
class MMC(LinearEmbedding):
    """Maximum margin criterion.

    Maximises tr(A'(S_b - lambda S_w)A) under A'A = I, with the scatters S_b = X'(P - J)X and S_w = X'(I - P)X (sums,
    not means; P the projector onto class means, J = 11'/n): A holds the leading eigenvectors of S_b - lambda S_w.

    Parameters
    ----------
    n_components : int, optional
        At most the number of features; by default the number of classes less one (or the number of features, if less),
        which is also the largest possible number of positive eigenvalues.
    trade_off : float or "trace_ratio"
        Weight lambda of the within-class scatter: 1 in the MKMMC paper, "trace_ratio" (tr S_b / tr S_w) in the 2DMMC
        paper. Larger values favour directions of small within-class scatter.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        Projection A' with orthonormal rows, by descending eigenvalue.
    eigenvalues_ : array of shape (n_components,)
    trade_off_ : float
        The value of lambda.
    mean_, classes_, embedding_, n_features_in_
        As for `mklearn.subspace.linear_embedding.LinearEmbedding`, as are the errors, and `NotApplicable` also for
        "trace_ratio" if the within-class scatter is zero.

    References
    ----------
    Li, Jiang, Zhang, "Efficient and robust feature extraction by maximum margin criterion", NIPS 2003. Gu, Zhou,
    "Multiple kernel maximum margin criterion", equations (1)-(8); "Two dimensional maximum margin criterion" for
    "trace_ratio".

    Notes
    -----
    The eigenvectors are computed in the span of the centred samples, but ordered as in the whole feature space:
    directions orthogonal to this span (eigenvalue 0) come between directions of positive and of negative eigenvalue.
    They do not change which training sample is nearest. An implementation restricted to the span returns directions of
    negative eigenvalue instead.

    The paper's (6) omits a factor 2, sum_ij W_ij (x_i - x_j)(x_i - x_j)' = 2 (S_b - S_w), and calls S_i a covariance
    where its (4) needs the scatter.
    """

    trade_off: Nonnegative | Literal["trace_ratio"] = 1.0

    def _fit_features(self, features: Array, labels: NDArray[Any]) -> None:
        classes = class_structure(labels)
        d = features.shape[1]
        p = checked_components(self.n_components, d, f"there are {d} features", default=min(classes.n_classes - 1, d))
        span = centred_span(features).require_variance()
        coordinates = span.coordinates()
        by_ratio = isinstance(self.trade_off, str)
        self.trade_off_ = trace_ratio(coordinates, labels) if by_ratio else float(self.trade_off)
        values, vectors = generalized_eigh(
            coordinates.T @ margin_laplacian(labels, self.trade_off_).apply(coordinates), which="largest"
        )
        # In the whole space, the zero eigenvalues of the span's complement are sorted among the span's eigenvalues.
        n_positive = int((values > 0).sum())
        n_outside = min(max(p - n_positive, 0), d - span.rank)
        n_inside = min(p - n_outside, span.rank)
        directions = span.axes.T @ vectors[:, :n_inside]
        if n_outside:
            complement = orthogonal_complement(span.axes.T, n_outside)
            directions = np.insert(directions, [n_positive] * n_outside, complement, axis=1)
            values = np.insert(values, [n_positive] * n_outside, 0.0)
        self.mean_ = span.mean
        self.components_ = fix_signs(directions).T
        self.eigenvalues_ = values[:p]


def trace_ratio(coordinates: Array, y: ArrayLike) -> float:
    """Compute tr S_b / tr S_w of samples in rows, (n, r); raise `NotApplicable` if those of each class coincide."""
    between, within = (
        float(np.vdot(coordinates, operator(y).apply(coordinates)))
        for operator in (between_laplacian, within_laplacian)
    )
    if not within > 1e-14 * abs(between):
        raise NotApplicable(
            "trade_off='trace_ratio' divides by the within-class scatter, which is zero: give trade_off as a number"
        )
    return between / within


def orthogonal_complement(basis: Array, count: int) -> Array:
    """Compute ``count`` orthonormal vectors orthogonal to the independent columns of basis (d, r); shape (d, count).

    Householder reflections are applied to unit vectors: no (d, d) matrix is formed.
    """
    d, r = basis.shape
    geqrf, ormqr = get_lapack_funcs(("geqrf", "ormqr"), (basis,))
    reflectors, factors, _, _ = geqrf(basis)
    units = np.eye(d, count, -r, order="F")
    complement, _, info = ormqr("L", "N", reflectors, factors, units, lwork=max(1, 64 * count))
    if info != 0:  # pragma: no cover - illegal arguments only
        raise RuntimeError(f"LAPACK's ormqr returned {info}")
    return np.asarray(complement)
