"""Bases of the linear projections of features: z = V'(x - mean), in the precision of the input."""

from __future__ import annotations

from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mklearn.base.fit_context import fit_context
from mklearn.base.nearest_neighbour_prediction import NearestNeighbourPrediction
from mklearn.base.parameters import N_COMPONENTS
from mklearn.checks import checked_array, checked_labels

Array = NDArray[np.floating[Any]]


class LinearEmbedding(NearestNeighbourPrediction, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of linear embeddings.

    ``predict`` gives the label of the nearest training sample, see `NearestNeighbourPrediction`.

    A subclass implements `_fit_features`, which sets ``mean_``, ``components_`` and its own attributes, and has at
    least the parameter ``n_components``.

    Attributes
    ----------
    components_ : array of shape (n_components, d)
        V'.
    mean_ : array of shape (d,)
    classes_ : array of shape (n_classes,)
        Not of unsupervised methods.
    embedding_ : array of shape (n, n_components)
        The embedded training samples.
    n_features_in_ : int

    Raises
    ------
    DataError
        X not finite, y malformed.
    NotApplicable
        One class only, more components than the method has, or constant features.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {"n_components": N_COMPONENTS}
    _needs_labels: ClassVar[bool] = True

    n_components: int | None
    mean_: Array
    components_: Array

    @fit_context
    def fit(self, X: ArrayLike, y: ArrayLike | None = None) -> Self:
        """Find the projection.

        Parameters
        ----------
        X : array of shape (n, d)
        y : array of shape (n,)
            Class labels; ignored by unsupervised methods.
        """
        return self._fit(X, y)

    def _fit(self, X: ArrayLike, y: ArrayLike | None, **others: Any) -> Self:
        """Fit; ``others`` are passed to `_fit_features`."""
        array = checked_array(self, X, reset=True)
        labels = None
        if self._needs_labels:
            labels = checked_labels(self, y, len(array))
            self.classes_ = np.unique(labels)
        self._keep_labels(y if labels is None else labels)
        self._fit_features(array.astype(np.float64), labels, **others)
        self.embedding_ = self._embed(array)
        return self

    def transform(self, X: ArrayLike) -> Array:
        """Embed samples: (X - mean) V.

        Parameters
        ----------
        X : array of shape (m, d)

        Returns
        -------
        array of shape (m, n_components)
            In the dtype of X (float32 or float64).
        """
        return self._project(X)

    def _project(self, X: ArrayLike) -> Array:
        check_is_fitted(self)
        return self._embed(checked_array(self, X, reset=False))

    def _fit_features(self, features: Array, labels: Any) -> None:
        """Find the projection of checked float64 features; labels are an array, or None for unsupervised methods."""
        raise NotImplementedError

    def _embed(self, array: Array) -> Array:
        return np.asarray((array - self.mean_) @ self.components_.T, dtype=array.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]
