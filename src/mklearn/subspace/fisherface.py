"""Fisherfaces: linear discriminant analysis after principal components, its column scale a parameter."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, ClassVar, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import svd
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval, StrOptions

from mklearn.errors import NotApplicable
from mklearn.graphs import class_structure, within_laplacian
from mklearn.optimize.eigen import fix_signs
from mklearn.optimize.graph_embedding import Scaling, rescale_columns, smallest_of_pencil
from mklearn.subspace.inputs import checked_array, checked_labels
from mklearn.subspace.linear_embedding import SupervisedLinearEmbedding


class Fisherface(SupervisedLinearEmbedding):
    """Linear discriminant analysis in the leading principal components ("Fisherfaces").

    Minimises tr((V'S_tV)^-1 V'S_wV), the within-class against the total scatter, in the span of the first principal
    components; with a ridge, rho I stands on both.

    Parameters
    ----------
    n_components : int, optional
        At most, and by default, the number of classes less one (or the number of principal components, if less).
    n_pca : "n-c", "all" or int
        Principal components: samples less classes, the most for which S_w is regular (Belhumeur et al.); all there
        are; or a number. Never more than the rank of the centred features.
    scaling : {"total", "within", "unit", "orthonormal"}
        Scale of V's columns: V'S_tV = I, V'S_wV = I (scikit-learn's), unit length, or orthonormal (QR). It decides the
        nearest neighbours: on ORL with 4 training pictures a class 90, 40, 91 and 94 %. "total" gives the column "LDA"
        of the 2DMMC paper.
    ridge : float
        rho = ridge * tr(S_w) / n_pca. With ``ridge=1, n_pca="all", scaling="within"`` it is a strong baseline.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        V', rows in order of discriminative power.
    mean_ : array of shape (d,)
    eigenvalues_ : array of shape (n_components,)
        Within- over total scatter, ascending, ridge included.
    n_pca_ : int
    ridge_amount_ : float
        rho.
    classes_ : array of shape (n_classes,)
    embedding_ : array of shape (n, n_components)
    n_features_in_ : int

    Raises
    ------
    DataError
        X not finite, y malformed.
    NotApplicable
        One class only, one sample per class with "n-c", constant features, more components than there are, or
        "within" where the within-class scatter vanishes.

    References
    ----------
    Belhumeur, Hespanha, Kriegman, "Eigenfaces vs. Fisherfaces", PAMI 1997; the baseline LDA of Gu, Zhou, "Two
    dimensional maximum margin criterion".

    Notes
    -----
    At n - c components S_w is barely regular and its smallest eigenvalues are noise: "within" then scales by them (26
    to 40 % on ORL and Yale, standard deviation 8 to 17). The papers do not say how they scale; "total" agrees with all
    their cells.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> Fisherface().fit(X, y).transform(X).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
        "n_pca": [StrOptions({"n-c", "all"}), Interval(Integral, 1, None, closed="left")],
        "scaling": [StrOptions(set(get_args(Scaling)))],
        "ridge": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        n_pca: int | Literal["n-c", "all"] = "n-c",
        scaling: Scaling = "total",
        ridge: float = 0.0,
    ) -> None:
        self.n_components = n_components
        self.n_pca = n_pca
        self.scaling = scaling
        self.ridge = ridge

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Fisherface:
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
        classes = class_structure(labels)
        mean = features.mean(axis=0)
        left, singular, span = svd(features - mean, full_matrices=False)
        rank = int((singular > max(features.shape) * np.finfo(np.float64).eps * singular[0]).sum())
        if rank == 0 or not singular[0] > 0:
            raise NotApplicable("the features are constant over the samples: nothing can be told apart")
        kept = min(rank, self._pca_dimensions(classes.n, classes.n_classes, rank))
        coordinates, span = left[:, :kept] * singular[:kept], span[:kept]
        most = min(classes.n_classes - 1, kept)
        if self.n_components is not None and self.n_components > most:
            raise NotApplicable(
                f"n_components={self.n_components}: there are at most {most} dimensions here (classes - 1, or principal"
                " components)"
            )
        p = most if self.n_components is None else self.n_components

        within = within_laplacian(classes).apply(coordinates)
        S_w = within.T @ within  # I - P is idempotent
        rho = self.ridge * float(np.trace(S_w)) / kept
        S_t = np.diag(singular[:kept] ** 2)
        diagonal = np.diag_indices(kept)
        S_w[diagonal] += rho
        S_t[diagonal] += rho
        values, vectors = smallest_of_pencil(S_w, S_t, p, rho)
        self.classes_ = classes.labels
        self.mean_ = mean
        # Principal axes are orthonormal: unit and orthonormal columns mean the same as in feature space.
        self.components_ = fix_signs(span.T @ rescale_columns(vectors, values, self.scaling)).T
        self.eigenvalues_ = values
        self.n_pca_ = kept
        self.ridge_amount_ = rho
        self.embedding_ = self._embedded(array)
        return self

    def _pca_dimensions(self, n: int, n_classes: int, rank: int) -> int:
        if self.n_pca == "all":
            return rank
        if self.n_pca == "n-c":
            if n == n_classes:
                raise NotApplicable(
                    "n_pca='n-c': with one sample per class there is no within-class scatter, and no component is left"
                )
            return n - n_classes
        assert isinstance(self.n_pca, Integral)
        return int(self.n_pca)
