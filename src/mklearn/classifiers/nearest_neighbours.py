"""scikit-learn's nearest neighbours, which say before the search that there are too few training samples."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike
from sklearn.neighbors import KNeighborsClassifier

from mklearn.base.validation import aligned
from mklearn.errors import NotApplicable


class NearestNeighbours(KNeighborsClassifier):
    """Nearest neighbours in the features themselves: a baseline for every embedding.

    `sklearn.neighbors.KNeighborsClassifier`, with a clear error for more neighbours than training samples, and without
    a tree for "auto", which a model file can't hold. Other parameters and attributes are scikit-learn's.

    Parameters
    ----------
    n_neighbors : int
        Number of neighbours that vote.

    Raises
    ------
    NotApplicable
        In ``fit``: more neighbours than samples.
    """

    score = aligned(KNeighborsClassifier.score)

    @aligned
    def fit(self, X: ArrayLike, y: ArrayLike) -> Any:
        """Fit to X of shape (n, d) and class labels y."""
        super().fit(X, y)
        n_samples = self.n_samples_fit_
        if self.n_neighbors > n_samples:
            raise NotApplicable(f"n_neighbors={self.n_neighbors}: there are too few training samples, {n_samples=}")
        if self.algorithm == "auto":
            self._fit_method, self._tree = "brute", None
        return self
