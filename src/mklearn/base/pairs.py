"""Pairs of samples, as a view: features that say whether two samples have the same class.

The features of a descriptor are projected on the principal components of the samples in the training pairs. With the
projections a and b of both samples, a pair has |a - b| and a * b, feature by feature, or one of them: exchanging the
samples changes nothing. Several descriptors are a view each.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.contract.fit_spec import PairFeatures
from mklearn.errors import DataError
from mklearn.kernels.views import LearnedView

POWER_ITERATIONS = 2
"""Of the randomised decomposition. More take longer than most methods, and components that differ more then change no
accuracy."""
Floats = NDArray[np.floating]
Indices = NDArray[np.intp]


class PairView(LearnedView):
    """Pairs of samples whose features are learned from the training pairs.

    Parameters
    ----------
    first, second : (m,) int arrays
        Positions of the samples of each pair.
    samples : PairedSamples
        Features of all samples.
    comparison : PairFeatures
        How two samples become the features of their pair.
    """

    def __init__(self, first: ArrayLike, second: ArrayLike, samples: PairedSamples, comparison: PairFeatures) -> None:
        self.first, self.second = np.asarray(first), np.asarray(second)
        self.samples, self.comparison = samples, comparison
        self.shape = (len(self.first),)

    def __getitem__(self, rows: Any) -> Self:
        return type(self)(self.first[rows], self.second[rows], self.samples, self.comparison)

    @property
    def used(self) -> Indices:
        """The samples of these pairs, ascending."""
        return np.unique([self.first, self.second])

    def transformer(self) -> PairTerms:
        """Return what learns the components of the training pairs' samples."""
        return PairTerms(self.comparison)


class PairTerms:
    """The features of pairs: terms of the projections of their samples.

    Parameters
    ----------
    comparison : PairFeatures
    """

    def __init__(self, comparison: PairFeatures) -> None:
        self.comparison = comparison

    def fit(self, pairs: PairView) -> Self:
        """Learn from the samples of the training pairs."""
        self._learned = pairs.used
        return self

    def transform(self, pairs: PairView) -> Floats:
        """Compute the features of pairs, (m, p).

        Raises
        ------
        DataError
            Negative features, of which a square root is to be taken.
        """
        used = pairs.used
        values = pairs.samples.projected(used, self._learned, self.comparison)
        first, second = np.searchsorted(used, pairs.first), np.searchsorted(used, pairs.second)
        return pair_terms(values[first], values[second], self.comparison)


def pair_terms(a: Floats, b: Floats, comparison: PairFeatures) -> Floats:
    """Compute the features of pairs from those of their samples, (m, q) each: (m, q) for each term, side by side."""
    terms = {"absolute_difference": lambda: np.abs(a - b), "product": lambda: a * b}
    return np.hstack([terms[name]() for name in comparison.terms])


@dataclass(frozen=True, eq=False)
class Projection:
    """Samples of one split on the principal components of some of them.

    Parameters
    ----------
    samples : (n,) int array
        Positions of the samples, ascending.
    learned : (k,) int array
        Positions of the samples whose mean and components they are, ascending.
    values : (n, q) float32 array
        Projected samples.
    variances : (q,) float array
        Variance of the learned samples along each component.
    """

    samples: Indices
    learned: Indices
    values: NDArray[np.float32]
    variances: Floats

    def scaled(self, whiten: bool) -> Floats:
        """Return the projected samples in double precision, with whitening of unit variance: (n, at most q)."""
        projected = self.values.astype(np.float64)
        if not whiten:
            return projected
        deviations = np.sqrt(self.variances.astype(np.float64))
        kept = deviations > 1e-6 * deviations.max(initial=0.0)  # the others are rounding errors
        whitened: Floats = projected[:, kept] / deviations[kept]
        return whitened

    def of(self, samples: Indices) -> Projection | None:
        """Return the projection of some of the samples; None if it does not have them all."""
        rows = np.minimum(np.searchsorted(self.samples, samples), len(self.samples) - 1)
        if not np.array_equal(self.samples[rows], samples):
            return None
        return Projection(samples, self.learned, self.values[rows], self.variances)


def principal_projection(
    table: Floats, samples: Indices, learned: Indices, *, components: int, square_root: bool
) -> Projection:
    """Project samples on the principal components of some samples.

    Parameters
    ----------
    table : (n, d) array
        Features of all samples.
    samples, learned : int arrays
        Positions of the samples to project, and of those whose mean and components they are; both ascend.
    components : int
        Fewer are taken if there are not so many.
    square_root : bool
        Whether features are replaced by their square roots.

    Raises
    ------
    DataError
        Negative features, of which a square root is to be taken.

    Notes
    -----
    The components are those of a randomised singular value decomposition with a fixed seed, in single precision.
    """
    fitted = _principal_components(table, learned, components, square_root)
    return Projection(
        samples, learned, fitted.transform(_single_precision(table[samples], square_root)), fitted.explained_variance_
    )


def _principal_components(table: Floats, learned: Indices, components: int, square_root: bool) -> Any:
    from sklearn.decomposition import PCA

    values = _single_precision(table[learned], square_root)
    most = min(components, len(learned) - 1, values.shape[1])
    return PCA(most, svd_solver="randomized", iterated_power=POWER_ITERATIONS, random_state=0).fit(values)


def _single_precision(table: Floats, square_root: bool) -> NDArray[np.float32]:
    """Return features, or their square roots, in single precision.

    Raises
    ------
    DataError
        Negative features, of which a square root is to be taken.
    """
    values = np.asarray(table, dtype=np.float32)
    if not square_root:
        return values
    if values.min() < 0:
        raise DataError("square_root: a descriptor has negative features; set square_root: false")
    rooted: NDArray[np.float32] = np.sqrt(values)
    return rooted


class PairedSamples:
    """One descriptor's samples as pairs compare them; projections that are stored are not computed again.

    Parameters
    ----------
    read_features : callable, optional
        Returns the features of all samples, (n, d); called once, when a projection is not stored or no components are
        asked for.
    stored : sequence of Projection
        Of the splits of a protocol.
    """

    def __init__(
        self, read_features: Callable[[], NDArray[Any]] | None = None, stored: Sequence[Projection] = ()
    ) -> None:
        self._stored = {projection.learned.tobytes(): projection for projection in stored}
        self._read_features = read_features
        self._components: dict[bytes, Any] = {}

    @cached_property
    def _table(self) -> NDArray[np.float32]:
        if self._read_features is None:
            raise DataError("the projections are of other splits than the fit's; delete their file and run again.")
        return np.asarray(self._read_features(), dtype=np.float32)

    def projected(self, samples: Indices, learned: Indices, comparison: PairFeatures) -> Floats:
        """Return the projection of samples on the components of the learned ones, (n, q), in double precision.

        Raises
        ------
        DataError
            Negative features, of which a square root is to be taken; or a split that is not stored, without features.
        """
        if comparison.components is None:
            projected: Floats = _single_precision(self._table[samples], comparison.square_root).astype(np.float64)
        else:
            projected = self._projection(samples, learned, comparison).scaled(comparison.whiten)
        if comparison.unit_length:
            lengths = np.linalg.norm(projected, axis=1, keepdims=True)
            projected = projected / np.where(lengths > 0, lengths, 1.0)
        return projected

    def _projection(self, samples: Indices, learned: Indices, comparison: PairFeatures) -> Projection:
        key, root = learned.tobytes(), comparison.square_root
        found = self._stored[key].of(samples) if key in self._stored else None
        if found is not None:
            return found
        if key not in self._components:
            assert comparison.components is not None
            self._components[key] = _principal_components(self._table, learned, comparison.components, root)
        fitted = self._components[key]
        values = fitted.transform(_single_precision(self._table[samples], root))
        return Projection(samples, learned, values, fitted.explained_variance_)
