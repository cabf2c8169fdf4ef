"""Majority vote of nearest-neighbour classifiers, one per kernel."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.spatial.distance import cdist
from sklearn.preprocessing import normalize

from mklearn.kernels.stack import KernelStack
from mklearn.nearest_neighbour import Rule
from mklearn.papers.mkl_dr.kernel_ensemble import Array, Codes, KernelEnsemble

_BLOCK_ENTRIES = 1 << 20  # distances that are ranked at a time


class KernelVoting(KernelEnsemble):
    """Majority vote of the first-nearest-neighbour classifiers in the embeddings of M kernels.

    While classes tie, the second nearest neighbour in every embedding votes too, then the third, and so on (r M votes
    after r neighbours), until one class leads alone.

    Parameters
    ----------
    estimator : {"fisher", "local"} or estimator with fit and transform
        Fitted to each (n, n) kernel: `mklearn.subspace.KernelFDA`, `mklearn.subspace.KernelLDE`, or a clone of the one
        given.
    kernels
        As for `mklearn.subspace.KernelFDA`.
    ridge : float
        Of "fisher" and "local"; an estimator that is given has its own.
    neighbour : {"cosine", "euclidean"}
        The nearest-neighbour rule; "cosine" is about the mean of the training embedding.

    Attributes
    ----------
    estimators_ : list of M fitted estimators
    embeddings_ : list of M arrays of shape (n_train, n_components)
    kernel_weights_ : array of shape (n_kernels,)
        1/M each.
    kernel_ids_, classes_, n_features_in_
        As for `mklearn.subspace.KernelFDA`.

    Raises
    ------
    DataError, NotApplicable, ConfigError
        As `mklearn.subspace.KernelFDA`; the message names the kernel.

    References
    ----------
    Lin, Liu, Fuh, NIPS 2008, section 4.4 ("KFD-Voting", "KLDE-Voting").

    Notes
    -----
    If classes still tie when all training samples have voted, the first in ``classes_`` of those that led after one
    neighbour wins; the paper does not treat this case.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True)
    >>> model = KernelVoting(kernels=["gaussian", {"kind": "gaussian", "bandwidth": 4.0}]).fit(X, y)
    >>> model.score(X, y)
    1.0
    """

    def __init__(
        self,
        estimator: Any = "fisher",
        *,
        kernels: Any = "precomputed",
        ridge: float = 1e-3,
        neighbour: Rule = "cosine",
    ) -> None:
        self.estimator = estimator
        self.kernels = kernels
        self.ridge = ridge
        self.neighbour = neighbour

    def _fit_kernels(self, stack: KernelStack, codes: Codes) -> None:
        self._codes = codes
        self.estimators_, self.embeddings_ = self._fit_embeddings(stack, range(len(stack)), codes)
        self.kernel_weights_ = np.full(len(stack), 1.0 / len(stack))

    def predict(self, X: Any) -> NDArray[Any]:
        """Predict class labels, shape (m,).

        Parameters
        ----------
        X : array of shape (m, d), views, or array of shape (m, n_train, n_kernels) with ``kernels="precomputed"``
        """
        stack, _ = self._new_stack(X)
        found = [
            self._embed_and_match(embedding, self._codes, model, rows)
            for embedding, model, rows in zip(self.embeddings_, self.estimators_, stack, strict=True)
        ]
        nearest = np.stack([indices for _, indices in found], axis=1)
        winners, depth = resolve_votes(self._codes[nearest][:, None, :], len(self.classes_))
        # Only tied samples need more than the nearest neighbour.
        for rows in self._row_blocks(np.flatnonzero(depth == 0)):
            orders = [
                neighbour_order(embedding, Z[rows], self.neighbour, first=indices[rows])
                for embedding, (Z, indices) in zip(self.embeddings_, found, strict=True)
            ]
            winners[rows], depth[rows] = resolve_votes(self._codes[np.stack(orders, axis=-1)], len(self.classes_))
        return self.classes_[winners]

    def _row_blocks(self, rows: Codes) -> Iterator[Codes]:
        size = max(1, _BLOCK_ENTRIES // len(self._codes))
        for start in range(0, len(rows), size):
            yield rows[start : start + size]


def neighbour_order(Z_train: Array, Z_test: Array, rule: Rule, first: Codes | None = None) -> Codes:
    """Rank the training samples from the nearest to the farthest of each test sample; ties by position.

    Parameters
    ----------
    Z_train : array of shape (n, p)
    Z_test : array of shape (m, p)
    rule : {"euclidean", "cosine"}
        As in `mklearn.nearest_neighbour`.
    first : int array of shape (m,), optional
        Known nearest neighbours: they come first.

    Returns
    -------
    int array of shape (m, n)
    """
    train, test = np.asarray(Z_train, dtype=np.float64), np.asarray(Z_test, dtype=np.float64)
    if rule == "euclidean" or train.shape[1] == 1:
        distances = cdist(test, train, "sqeuclidean")
    else:
        centre = train.mean(axis=0)
        # The length of a test sample scales its whole row: it does not change the order.
        distances = -((test - centre) @ normalize(train - centre).T)
    if first is not None:
        distances[np.arange(len(test)), first] = -np.inf
    order: Codes = np.argsort(distances, axis=1, kind="stable")
    return order


def resolve_votes(votes: NDArray[np.integer], n_classes: int) -> tuple[Codes, NDArray[np.integer]]:
    """Count votes of further and further neighbours until one class leads alone.

    Parameters
    ----------
    votes : int array of shape (m, r, M)
        Class of the first, second, ..., r-th nearest neighbour in each of M embeddings.
    n_classes : int

    Returns
    -------
    winners : int array of shape (m,)
        After q neighbours there are q M votes; the first q with a single leader decides. If none does, the leader of
        smallest index after one neighbour.
    depth : int array of shape (m,)
        q, or 0 if no depth decides.
    """
    m, deepest, _ = votes.shape
    counts = np.zeros((m, n_classes), dtype=np.intp)
    winners = np.zeros(m, dtype=np.intp)
    depth = np.zeros(m, dtype=np.intp)
    open_rows = np.arange(m)
    for q in range(deepest):
        np.add.at(counts, (open_rows[:, None], votes[open_rows, q]), 1)
        leading = counts[open_rows]
        best = leading.argmax(axis=1)
        if q == 0:
            winners[:] = best
        single = (leading == leading.max(axis=1, keepdims=True)).sum(axis=1) == 1
        decided = open_rows[single]
        winners[decided], depth[decided] = best[single], q + 1
        open_rows = open_rows[~single]
        if not len(open_rows):
            break
    return winners, depth
