"""Base class of embeddings that predict the label of the nearest training sample."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from mklearn.base.fit_context import aligned
from mklearn.errors import NotApplicable
from mklearn.estimator_input import checked_labels
from mklearn.nearest_neighbour import nearest_neighbour_predictions


class Embedding(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base class of embeddings that predict by the nearest training sample in the embedding.

    All components are used, with the Euclidean distance, as in the papers' experiments and as with
    ``KNeighborsClassifier(1)`` after the embedding in a `Pipeline`. The alternative in studies, the cosine about the
    mean, is about as accurate with many components. With one component it is only a sign, and this rule replaces it.

    A subclass implements `_project`, and ``fit``, which calls `_checked_labels` and sets ``embedding_``.
    """

    n_components: Any
    embedding_: NDArray[np.floating]
    classes_: NDArray[Any]
    _needs_labels: Any = True

    def transform(self, X: Any) -> NDArray[np.floating]:
        """Embed samples.

        Parameters
        ----------
        X : array of shape (m, ...), as in ``fit``
            Precomputed kernels, (m, n_train, n_kernels), have new samples as rows, training samples as columns.

        Returns
        -------
        array of shape (m, n_components)
            In the dtype of X (float32 or float64) or, with landmarks, of the landmark features.

        Raises
        ------
        DataError
            X is not finite, or its number of features, training samples or kernels differs from ``fit``.
        """
        return self._with_row_labels(self._project(X), X)

    def fit_transform(self, X: Any, y: ArrayLike | None = None, **fit_params: Any) -> NDArray[np.floating]:
        """Fit the embedding and return the embedded training samples, `embedding_`."""
        return self._with_row_labels(self.fit(X, y, **fit_params).embedding_, X)

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of the nearest training sample in the embedding, shape (m,).

        Raises `NotApplicable` if an unsupervised method was fitted without labels, and `DataError` as for ``transform``
        or for malformed labels of an unsupervised method, which ``fit`` does not check.
        """
        check_is_fitted(self)
        if self._training_labels is None:
            raise NotApplicable(
                f"{type(self).__name__} was fitted without labels: give y to `fit`, which keeps it for `predict`"
            )
        labels = checked_labels(self, self._training_labels, len(self.embedding_))
        Z, labelled = self._project(X), self._labelled(labels)
        return nearest_neighbour_predictions(self.embedding_[labelled], labels[labelled], Z, "euclidean")

    @aligned
    def score(self, X: Any, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
        """Compute the accuracy of `predict` for labels `y` of shape (m,)."""
        from sklearn.metrics import accuracy_score  # imported here: it imports a hundred modules that no fit needs

        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        tags.target_tags.required = self._needs_labels
        if self._needs_labels:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags()
        return tags

    def _project(self, X: Any) -> NDArray[np.floating]:
        """Embed samples, as an array regardless of the configured output type."""
        raise NotImplementedError

    def _with_row_labels(self, values: NDArray[np.floating], X: Any) -> Any:
        """Return embedded samples; a subclass may add row labels that scikit-learn does not keep."""
        return values

    def _labelled(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        """Return a mask of the training samples with a label: all, unless the method is semi-supervised."""
        return np.ones(len(labels), dtype=bool)

    def _checked_labels(self, y: ArrayLike | None, n: int) -> NDArray[Any] | None:
        """Check and keep the labels of n samples, and set ``classes_``; return None if the method ignores labels."""
        if not self._needs_labels:
            self._keep_labels(y)
            return None
        labels = checked_labels(self, y, n)
        self._keep_labels(labels)
        self.classes_ = np.unique(labels)
        return labels

    def _keep_labels(self, y: ArrayLike | None) -> None:
        """Keep a copy of the training labels for `predict`, which checks them if ``fit`` ignores labels."""
        column: Any = y
        self._training_labels = copy.copy(column.to_numpy() if hasattr(column, "to_numpy") else y)
