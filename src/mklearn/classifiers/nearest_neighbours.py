"""scikit-learn's nearest neighbours, which say before the search that there are too few training samples."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.neighbors import KNeighborsClassifier

from mklearn.errors import NotApplicable


class NearestNeighbours(KNeighborsClassifier):
    """`sklearn.neighbors.KNeighborsClassifier`, with a clear error for more neighbours than training samples.

    Parameters and attributes are scikit-learn's.

    Raises
    ------
    NotApplicable
        In ``fit``: more neighbours than samples.
    """

    def fit(self, X: ArrayLike, y: ArrayLike) -> Any:
        """Fit to X of shape (n, d) and class labels y."""
        super().fit(X, y)
        n_samples = self.n_samples_fit_
        if self.n_neighbors > n_samples:
            raise NotApplicable(f"n_neighbors={self.n_neighbors}: there are too few training samples, {n_samples=}")
        return self
