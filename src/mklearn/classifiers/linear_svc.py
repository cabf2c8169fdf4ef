"""The linear support vector machine that other methods are compared with."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.decomposition import PCA
from sklearn.pipeline import Pipeline, make_pipeline
from sklearn.svm import LinearSVC
from sklearn.utils.validation import check_is_fitted


def linear_svc(C: float = 10.0) -> Pipeline:
    """One-vs-rest linear SVM on features at unit spread.

    Parameters
    ----------
    C : float
        As in :class:`sklearn.svm.LinearSVC` (squared hinge loss), for features whose root mean squared distance
        between two training samples is 1: the same C means the same for pixels of 0..255 and of 0..1.
    """
    return make_pipeline(UnitSpread(), LinearSVC(C=C, random_state=0, max_iter=10_000))


class UnitSpread(TransformerMixin, BaseEstimator):
    """Centre, rotate into the span of the training samples, and scale all features by one number.

    The rotation changes no linear machine with a quadratic penalty, and leaves it n instead of d features; the scale
    makes the mean squared distance between two training samples 1. Raw pixels (0..255) make the solver of a linear SVM
    stop long before it has converged.
    """

    def fit(self, X: ArrayLike, y: Any = None) -> UnitSpread:
        """Learn centre, rotation and scale from X of shape (n, d)."""
        self.span_ = PCA(svd_solver="full").fit(X)
        spread = np.sqrt(2.0 * self.span_.explained_variance_.sum())  # E|x - x'|^2 = 2 tr(covariance)
        self.scale_ = float(spread) if spread > 0 else 1.0
        return self

    def transform(self, X: ArrayLike) -> NDArray[np.floating[Any]]:
        """X in these coordinates, (m, min(n, d))."""
        check_is_fitted(self)
        return np.asarray(self.span_.transform(X) / self.scale_)
