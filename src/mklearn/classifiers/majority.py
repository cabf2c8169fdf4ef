"""The majority class, whatever the sample: the rate that every classifier has to beat."""

from __future__ import annotations

from typing import Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted

from mklearn.base.validation import aligned, checked_array, checked_labels
from mklearn.checks import checked_sample_weight
from mklearn.graphs import class_structure


class MajorityClassifier(ClassifierMixin, BaseEstimator):
    """Classifier that predicts the largest class of the training samples: the rate that others have to beat.

    Of several largest classes it predicts the one whose first training sample comes first.

    Attributes
    ----------
    majority_ : label
        The predicted class.
    classes_, n_features_in_
        As in scikit-learn.

    Raises
    ------
    DataError, NotApplicable
        Samples or labels that a classifier can't be fitted to; one class.

    References
    ----------
    ZeroR in Witten, Frank, Hall, "Data mining", 3rd edition, 2011, section 11.4.

    Examples
    --------
    >>> MajorityClassifier().fit([[1.0], [2.0], [3.0]], ["b", "a", "b"]).predict([[4.0]])
    array(['b'], dtype='<U1')
    """

    score = aligned(ClassifierMixin.score)

    @aligned
    def fit(self, X: ArrayLike, y: ArrayLike | None = None, sample_weight: ArrayLike | None = None) -> Self:
        """Fit the classifier.

        Parameters
        ----------
        X : array of shape (n, d)
            Checked, and not used.
        y : array of shape (n,)
            Class labels.
        sample_weight : array of shape (n,), optional
            A sample of weight 2 counts as two, a sample of weight 0 as none.
        """
        n = len(checked_array(self, X, reset=True))
        classes = class_structure(checked_labels(self, y, n))
        self.classes_ = classes.labels
        weights = checked_sample_weight(sample_weight, classes.codes, classes.labels)
        sizes = np.bincount(classes.codes, weights)
        largest = sizes[classes.codes] == sizes.max()
        if weights is not None:
            largest &= weights > 0
        self.majority_ = self.classes_[classes.codes[np.argmax(largest)]]
        return self

    def predict(self, X: ArrayLike) -> NDArray[np.generic]:
        """Return the majority class for each sample, shape (m,)."""
        check_is_fitted(self)
        return np.full(len(checked_array(self, X, reset=False)), self.majority_)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
