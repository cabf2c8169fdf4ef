"""Linear support vector machine, a baseline on features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted

from mklearn.base.parameters import POSITIVE, constrained


@constrained(C=[POSITIVE])
def linear_svc(C: float = 10.0) -> Pipeline:
    """Build a one-vs-rest linear SVM on features of unit spread.

    Parameters
    ----------
    C : float
        As in :class:`sklearn.svm.LinearSVC` (squared hinge loss), for a root mean squared distance between two training
        samples of 1: the same C is then valid for pixels of 0..255 and of 0..1.
    """
    return make_pipeline(UnitSpread(), LinearSVC(C=C, random_state=0, max_iter=10_000))


class UnitSpread(TransformerMixin, BaseEstimator):
    """Centring, rotation into the span of the training samples, and one scale for all features.

    The rotation does not change a linear classifier with a quadratic penalty, and leaves it n instead of d features.
    The scale makes the mean squared distance between two training samples 1; with raw pixels (0..255) the solver of a
    linear SVM stops before convergence.
    """

    def fit(self, X: ArrayLike, y: Any = None) -> UnitSpread:
        """Learn the centre, rotation and scale from X of shape (n, d)."""
        self.span_ = PCA(svd_solver="full").fit(X)
        spread = np.sqrt(2.0 * self.span_.explained_variance_.sum())  # E|x - x'|^2 = 2 tr(covariance)
        self.scale_ = float(spread) if spread > 0 else 1.0
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.floating[Any]]:
        """Transform X to these coordinates, shape (m, min(n, d))."""
        check_is_fitted(self)
        return np.asarray(self.span_.transform(X) / self.scale_)
