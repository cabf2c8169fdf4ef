"""What the estimators of linear projections share: z = (x - mean) V, in the precision of the input."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from mklearn.subspace.inputs import checked_array


class LinearEmbedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base of estimators whose ``fit`` finds ``mean_`` (d,) and ``components_`` (n_components, d)."""

    mean_: NDArray[np.floating]
    components_: NDArray[np.floating]

    def transform(self, X: ArrayLike) -> NDArray[np.floating]:
        """Embed samples: (X - mean) V.

        Parameters
        ----------
        X : array of shape (m, d)

        Returns
        -------
        array of shape (m, n_components)
            In the dtype of X (float32 or float64).
        """
        check_is_fitted(self)
        return self._embedded(checked_array(self, X, reset=False))

    def _embedded(self, array: NDArray[Any]) -> NDArray[np.floating]:
        return np.asarray((array - self.mean_) @ self.components_.T, dtype=array.dtype)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return self.components_.shape[0]


class SupervisedLinearEmbedding(LinearEmbedding):
    """A linear embedding that is fitted to class labels."""

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.required = True
        return tags
