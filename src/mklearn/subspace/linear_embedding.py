"""Base of the linear projections of features z = V'(x - mean), in the precision of the input."""

from __future__ import annotations

from dataclasses import field
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from mklearn.base.embedding import Embedding
from mklearn.base.fit_context import fit_context
from mklearn.base.parameters import PositiveInt, parameters
from mklearn.estimator_input import checked_array

Array = NDArray[np.floating[Any]]


@parameters
class LinearEmbedding(Embedding):
    """Base of linear embeddings.

    ``predict`` returns the label of the nearest training sample, see `mklearn.base.embedding.Embedding`.

    A subclass implements `_fit_features`, which sets ``mean_``, ``components_`` and its own attributes.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        Projection V'.
    mean_ : array of shape (d,)
    classes_ : array of shape (n_classes,)
        Class labels (supervised methods only).
    embedding_ : array of shape (n, n_components)
        The embedded training samples.
    n_features_in_ : int

    Raises
    ------
    DataError
        X is not finite, or y is invalid.
    NotApplicable
        There is only one class, ``n_components`` is too large, or all features are constant.
    """

    n_components: PositiveInt | None = field(default=None, kw_only=False)
    mean_: Array = field(init=False)
    components_: Array = field(init=False)

    @fit_context
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Compute the projection.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,)
            Class labels; ignored by unsupervised methods.
        """
        array = checked_array(self, X, reset=True)
        self._fit_features(array.astype(np.float64), self._checked_labels(y, len(array)))
        self.embedding_ = self._embed(array)
        return self

    def _project(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        return self._embed(checked_array(self, X, reset=False))

    def _fit_features(self, features: Array, labels: Any) -> None:
        """Compute the projection from checked float64 features; labels are an array, or None if unsupervised."""
        raise NotImplementedError

    def _embed(self, array: Array) -> Array:
        return np.asarray((array - self.mean_) @ self.components_.T, dtype=array.dtype)

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]
