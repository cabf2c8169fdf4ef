"""Fisherfaces: linear discriminant analysis on principal components, with the column scale as a parameter."""

from __future__ import annotations

from numbers import Integral
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mklearn.base.parameters import Nonnegative, PositiveInt, parameters
from mklearn.checks import checked_components
from mklearn.errors import NotApplicable
from mklearn.graphs import class_structure, within_laplacian
from mklearn.optimize.eigen import fix_signs
from mklearn.optimize.graph_embedding import Scaling, rescale_columns, smallest_of_pencil
from mklearn.optimize.whitening import centred_span
from mklearn.subspace.linear_embedding import Array, LinearEmbedding


@parameters
class Fisherface(LinearEmbedding):
    """Linear discriminant analysis in the leading principal components ("Fisherfaces").

    Minimises tr((V'S_tV)^-1 V'S_wV), the within-class against the total scatter, in the span of the first principal
    components. A ridge adds rho I to both scatters.

    Parameters
    ----------
    n_components : int, optional
        At most, and by default, the number of classes less one (or the number of principal components, if less).
    n_pca : "n-c", "all" or int
        Number of principal components, at most the rank of the centred features. "n-c": samples less classes, the
        largest number for which S_w is regular (Belhumeur et al.).
    scaling : {"total", "within", "unit", "orthonormal"}
        Scale of V's columns: V'S_tV = I, V'S_wV = I (as in scikit-learn), unit length, or orthonormal (QR). It affects
        the nearest neighbours. "total" reproduces the column "LDA" of the 2DMMC paper.
    ridge : float
        rho = ridge * tr(S_w) / n_pca. ``ridge=1, n_pca="all", scaling="within"`` is a strong baseline.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        V', rows in order of discriminative power.
    eigenvalues_ : array of shape (n_components,)
        Within- over total scatter, ascending, ridge included.
    n_pca_ : int
        Number of principal components used.
    ridge_amount_ : float
        rho.
    mean_, classes_, embedding_, n_features_in_
        As for `mklearn.subspace.linear_embedding.LinearEmbedding`, as are the errors, and `NotApplicable` also for
        "n-c" with one sample per class, and for "within" if the within-class scatter is zero.

    References
    ----------
    Belhumeur, Hespanha, Kriegman, "Eigenfaces vs. Fisherfaces", PAMI 1997; the baseline LDA of Gu, Zhou, "Two
    dimensional maximum margin criterion".

    Notes
    -----
    With n - c principal components S_w is barely regular, and its smallest eigenvalues, which "within" uses as scales,
    are noise. The papers do not state their scale; "total" agrees with all cells of their tables.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> Fisherface().fit(X, y).transform(X).shape
    (150, 2)
    """

    n_pca: Literal["n-c", "all"] | PositiveInt = "n-c"
    scaling: Scaling = "total"
    ridge: Nonnegative = 0.0

    def _fit_features(self, features: Array, labels: NDArray[Any]) -> None:
        classes = class_structure(labels)
        span = centred_span(features).require_variance()
        kept = min(span.rank, self._pca_dimensions(classes.n, classes.n_classes, span.rank))
        coordinates = span.coordinates(kept)
        most = min(classes.n_classes - 1, kept)
        p = checked_components(
            self.n_components, most, f"there are {classes.n_classes} classes and {kept} principal components"
        )
        within = within_laplacian(classes).apply(coordinates)
        S_w = within.T @ within  # I - P is idempotent
        rho = self.ridge * float(np.trace(S_w)) / kept
        S_t = np.diag(span.singular[:kept] ** 2)
        diagonal = np.diag_indices(kept)
        S_w[diagonal] += rho
        S_t[diagonal] += rho
        values, vectors = smallest_of_pencil(S_w, S_t, p, rho)
        self.mean_ = span.mean
        # Principal axes are orthonormal, so unit and orthonormal columns stay so in feature space.
        self.components_ = fix_signs(span.axes[:kept].T @ rescale_columns(vectors, values, self.scaling)).T
        self.eigenvalues_ = values
        self.n_pca_ = kept
        self.ridge_amount_ = rho

    def _pca_dimensions(self, n: int, n_classes: int, rank: int) -> int:
        if self.n_pca == "all":
            return rank
        if self.n_pca == "n-c":
            if n == n_classes:
                raise NotApplicable(
                    "n_pca='n-c': with one sample per class there is no within-class scatter and no component remains"
                )
            return n - n_classes
        assert isinstance(self.n_pca, Integral)
        return int(self.n_pca)
