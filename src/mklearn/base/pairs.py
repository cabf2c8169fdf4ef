"""Pairs of samples, as a view: features that say whether two samples have the same class.

The features of a descriptor are projected on the principal components of the samples in the training pairs. With the
projections a and b of both samples, a pair has |a - b| and a * b, feature by feature, or one of them: exchanging the
samples changes nothing. Several descriptors are a view each.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError
from mklearn.kernels.views import LearnedView

PairTerm = Literal["absolute_difference", "product"]
"""What is computed from the features a and b of two samples: |a - b|, or a b, feature by feature."""
TERMS: tuple[PairTerm, ...] = ("absolute_difference", "product")
POWER_ITERATIONS = 2
"""Of the randomised decomposition. More take longer than most methods, and components that differ more then change no
accuracy."""
KEPT = 8
"""Projections of a descriptor that a fit keeps: all candidates of a grid ask for those of the same training pairs."""
Floats = NDArray[np.floating]


class PairView(LearnedView):
    """Pairs of samples whose features are learned from the training pairs.

    Parameters
    ----------
    first, second : (m,) int arrays
        Positions of the samples of each pair.
    samples : ComparedSamples
        All samples.
    """

    def __init__(self, first: ArrayLike, second: ArrayLike, samples: ComparedSamples) -> None:
        self.first, self.second = np.asarray(first, dtype=np.intp), np.asarray(second, dtype=np.intp)
        self.samples = samples
        self.shape = (len(self.first),)

    def __getitem__(self, rows: Any) -> Self:
        return type(self)(self.first[rows], self.second[rows], self.samples)

    def transformer(self) -> PairFeatures:
        """Return what learns the components of the training pairs' samples."""
        return PairFeatures()


class PairFeatures:
    """The features of pairs: terms of the projections of their samples."""

    def fit(self, pairs: PairView) -> Self:
        """Learn from the samples of the training pairs, each of which counts once."""
        self._learned = np.unique([pairs.first, pairs.second]).tobytes()
        return self

    def transform(self, pairs: PairView) -> Floats:
        """Compute the features of pairs: (m, q) for each term, side by side."""
        values = pairs.samples.projected(self._learned)
        a, b = values[pairs.first], values[pairs.second]
        terms = {"absolute_difference": lambda: np.abs(a - b), "product": lambda: a * b}
        return np.hstack([terms[name]() for name in pairs.samples.terms])


class ComparedSamples:
    """The samples of one descriptor, and how two of them are compared.

    Parameters are those of :func:`mklearn.study.data.pairs.verification`. The components are those of a randomised
    singular value decomposition with a fixed seed, in single precision; fewer are taken if there are not so many.

    Raises
    ------
    DataError
        Negative features, of which a square root is to be taken.
    """

    def __init__(
        self, table: ArrayLike, *, components: int | None = 200, square_root: bool = False, whiten: bool = True,
        unit_length: bool = True, terms: Sequence[PairTerm] = TERMS,
    ) -> None:  # fmt: skip
        self._table = np.asarray(table, dtype=np.float32)
        if square_root and self._table.min() < 0:
            raise DataError("square_root: a descriptor has negative features; set square_root: false")
        if square_root:
            self._table = np.sqrt(self._table)
        self._components, self._whiten, self._unit_length = components, whiten, unit_length
        self.terms = terms
        self.projected = lru_cache(1 if components is None else KEPT)(self._projected)

    def _projected(self, learned: bytes) -> Floats:
        """Return all samples on the components of those at the positions ``learned``, (n, q), in double precision."""
        from sklearn.decomposition import PCA

        projected: Floats = self._table
        if self._components is not None:
            table = self._table[np.frombuffer(learned, dtype=np.intp)]
            most = min(self._components, table.shape[0] - 1, table.shape[1])
            pca = PCA(most, svd_solver="randomized", iterated_power=POWER_ITERATIONS, random_state=0).fit(table)
            projected = pca.transform(projected)
        projected = projected.astype(np.float64)
        if self._components is not None and self._whiten:
            deviations = np.sqrt(pca.explained_variance_.astype(np.float64))
            kept = deviations > 1e-6 * deviations.max(initial=0.0)  # the others are rounding errors
            projected = projected[:, kept] / deviations[kept]
        if self._unit_length:
            lengths = np.linalg.norm(projected, axis=1, keepdims=True)
            projected = projected / np.where(lengths > 0, lengths, 1.0)
        return projected
