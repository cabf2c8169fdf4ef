"""Principal components, with the rank and signs of the other estimators here."""

from __future__ import annotations

from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import svd
from sklearn.base import _fit_context
from sklearn.utils._param_validation import Interval

from mklearn.errors import NotApplicable
from mklearn.optimize.eigen import fix_signs
from mklearn.subspace.inputs import checked_array
from mklearn.subspace.linear_embedding import LinearEmbedding


class PCA(LinearEmbedding):
    """Principal component analysis by a full singular value decomposition, without chance.

    Parameters
    ----------
    n_components : int, optional
        At most, and by default, the rank of the centred features (n - 1 where there are more features than samples;
        then no distance among training samples changes).

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        Orthonormal rows by falling variance; in each the entry of largest absolute value is positive.
    mean_ : array of shape (d,)
    explained_variance_ : array of shape (n_components,)
        With divisor n - 1.
    embedding_ : array of shape (n, n_components)
    n_features_in_ : int

    Raises
    ------
    DataError
        X is not finite.
    NotApplicable
        More components than the rank, or constant features.

    References
    ----------
    The baseline PCA of Gu, Zhou, "Multiple kernel maximum margin criterion".

    Notes
    -----
    Equal to `sklearn.decomposition.PCA(svd_solver="full")` but for the signs, and for leaving out components without
    variance. Labels are accepted and not looked at.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> PCA(2).fit_transform(load_iris().data).shape
    (150, 2)
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "n_components": [None, Interval(Integral, 1, None, closed="left")],
    }

    def __init__(self, n_components: int | None = None) -> None:
        self.n_components = n_components

    @_fit_context(prefer_skip_nested_validation=True)
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> PCA:
        """Find the directions of largest variance.

        Parameters
        ----------
        X : array of shape (n, d)
        y : ignored
        """
        array = checked_array(self, X, reset=True)
        features = array.astype(np.float64)
        mean = features.mean(axis=0)
        _, singular, axes = svd(features - mean, full_matrices=False)
        rank = int((singular > max(array.shape) * np.finfo(np.float64).eps * singular[0]).sum())
        if rank == 0 or not singular[0] > 0:
            raise NotApplicable("the features are constant over the samples: there is no variance")
        if self.n_components is not None and self.n_components > rank:
            raise NotApplicable(
                f"n_components={self.n_components}: the centred features have rank {rank}, ask for at most that"
            )
        p = rank if self.n_components is None else self.n_components
        self.mean_ = mean
        self.components_ = fix_signs(axes[:p].T).T
        self.explained_variance_ = singular[:p] ** 2 / (len(array) - 1)
        self.embedding_ = self._embedded(array)
        return self
