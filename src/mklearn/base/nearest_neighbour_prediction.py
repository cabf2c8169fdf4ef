"""Labels of the nearest training samples, as predictions of estimators that embed samples."""

from __future__ import annotations

import copy
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import ClassifierTags
from sklearn.utils.validation import check_is_fitted

from mklearn.base.fit_context import aligned
from mklearn.checks import checked_labels
from mklearn.errors import NotApplicable
from mklearn.nearest_neighbour import nearest_neighbour_predictions


class NearestNeighbourPrediction:
    """Mixin of embeddings: a sample has the label of the nearest training sample in the embedding.

    All components count, and nearest is by Euclidean distance, as in the papers' experiments and as with
    ``KNeighborsClassifier(1)`` behind the embedding in a `Pipeline`. The cosine about the mean, a study's other rule,
    is about as good with many components; with one it is a sign, and is replaced by this rule.

    A subclass implements `_project`, sets ``embedding_``, and calls `_keep_labels` in ``fit``. Place the mixin before
    scikit-learn's classes in the list of bases.
    """

    embedding_: NDArray[np.floating]
    _needs_labels: ClassVar[Any]

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict the label of the nearest training sample in the embedding, shape (m,).

        Raises
        ------
        NotApplicable
            An unsupervised method that was fitted without labels.
        DataError
            As for ``transform``; labels of an unsupervised method, which ``fit`` ignores, that are malformed.
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
        """Compute the accuracy of `predict`; labels of shape (m,)."""
        from sklearn.metrics import accuracy_score  # here: it imports a hundred modules that no fit needs

        return float(accuracy_score(y, self.predict(X), sample_weight=sample_weight))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        tags.target_tags.required = self._needs_labels
        if self._needs_labels:
            tags.estimator_type = "classifier"
            tags.classifier_tags = ClassifierTags()
        return tags

    def _project(self, X: Any) -> NDArray[np.floating]:
        """Embed samples, as an array whatever output is asked for."""
        raise NotImplementedError

    def _labelled(self, labels: NDArray[Any]) -> NDArray[np.bool_]:
        """Mark the training samples that have a label: all, but of a semi-supervised method."""
        return np.ones(len(labels), dtype=bool)

    def _keep_labels(self, y: ArrayLike | None) -> None:
        """Keep a copy of the training samples' labels for `predict`; those that ``fit`` ignores are checked there."""
        column: Any = y
        self._training_labels = copy.copy(column.to_numpy() if hasattr(column, "to_numpy") else y)
