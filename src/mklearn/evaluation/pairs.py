"""Features of pairs of samples, for methods that say whether both samples have the same class.

The features of each descriptor are projected on the principal components of the samples in the training pairs. With the
projections a and b of both samples, a pair has |a - b| and a * b, feature by feature, or one of them: exchanging the
samples changes nothing. Several descriptors are projected each by itself and put side by side.
"""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from mklearn.contract.fit_spec import FeatureScaling, PairFeatures
from mklearn.errors import DataError
from mklearn.evaluation.inputs import Indices, KernelInput, PreparedKernels, SampleInput

POWER_ITERATIONS = 2
"""Of the randomised decomposition. More take longer than most methods, and components that differ more then change no
accuracy."""
Floats = NDArray[np.floating]


@dataclass(frozen=True, eq=False)
class PairedSamples:
    """The pairs, as positions of their samples, and what they are compared by.

    Parameters
    ----------
    first, second : (m,) int arrays
        Positions of the samples of each pair.
    features : PairFeatures
    """

    first: Indices
    second: Indices
    features: PairFeatures

    def of(self, tables: Sequence[Floats], train: Indices, test: Indices) -> tuple[Floats, Floats]:
        """Compute the features of training pairs, fitted on their samples alone, and of test pairs.

        Parameters
        ----------
        tables : sequence of (n, d) arrays
            Features of all samples by each descriptor.
        train, test : positions of pairs

        Returns
        -------
        known, asked : arrays of shape (n_train, p) and (n_test, p)

        Raises
        ------
        DataError
            Negative features, of which a square root is to be taken.
        """
        parts = [self._of_table(table, train, test) for table in tables]
        known, asked = zip(*parts, strict=True)
        return np.hstack(known), np.hstack(asked)

    def _of_table(self, table: Floats, train: Indices, test: Indices) -> tuple[Floats, Floats]:
        learned = np.unique([self.first[train], self.second[train]])
        used = np.unique([np.r_[self.first[train], self.first[test]], np.r_[self.second[train], self.second[test]]])
        projected = projection(table[used], np.searchsorted(used, learned), self.features)
        places = np.full(len(table), -1)
        places[used] = np.arange(len(used))
        known, asked = (
            pair_terms(projected[places[self.first[pairs]]], projected[places[self.second[pairs]]], self.features)
            for pairs in (train, test)
        )
        return known, asked


def projection(table: Floats, learned: Indices, features: PairFeatures) -> Floats:
    """Project features on the principal components of some samples.

    Parameters
    ----------
    table : (n, d) array
    learned : positions of the samples whose mean and components they are
    features : PairFeatures
        Fewer components than it names are taken if there are not so many.

    Returns
    -------
    projected : (n, q) array, double precision

    Notes
    -----
    The components are those of a randomised singular value decomposition with a fixed seed, in single precision.
    """
    values = np.asarray(table, dtype=np.float32)
    if features.square_root:
        if values.min() < 0:
            raise DataError("square_root: a descriptor has negative features; set square_root: false")
        values = np.sqrt(values)
    projected = values.astype(np.float64) if features.components is None else _components(values, learned, features)
    if features.unit_length:
        lengths = np.linalg.norm(projected, axis=1, keepdims=True)
        projected = projected / np.where(lengths > 0, lengths, 1.0)
    return projected


def _components(values: NDArray[np.float32], learned: Indices, features: PairFeatures) -> Floats:
    from sklearn.decomposition import PCA

    most = min(features.components or 0, len(learned) - 1, values.shape[1])
    fitted = PCA(most, svd_solver="randomized", iterated_power=POWER_ITERATIONS, random_state=0).fit(values[learned])
    projected: Floats = fitted.transform(values).astype(np.float64)
    if not features.whiten:
        return projected
    deviations = np.sqrt(fitted.explained_variance_.astype(np.float64))
    kept = deviations > 1e-6 * deviations.max(initial=0.0)  # the others are rounding errors
    whitened: Floats = projected[:, kept] / deviations[kept]
    return whitened


def pair_terms(a: Floats, b: Floats, features: PairFeatures) -> Floats:
    """Compute the features of pairs from those of their samples, (m, q) each: (m, q) for each term, side by side."""
    terms = {"absolute_difference": lambda: np.abs(a - b), "product": lambda: a * b}
    return np.hstack([terms[name]() for name in features.terms])


@dataclass(frozen=True)
class PairInput(SampleInput):
    """Features of pairs: ``samples`` are those of the first descriptor, ``others`` those of further ones."""

    others: Sequence[Floats] = ()
    pairs: PairedSamples = field(kw_only=True)

    def prepare(
        self, train: Indices, test: Indices, scaling: FeatureScaling | None = None
    ) -> tuple[Floats, Floats | None]:
        """Return the features of the training pairs and of the test pairs; ``scaling`` as for samples."""
        known, asked = self.pairs.of([self.samples, *self.others], train, test)
        every = SampleInput(np.concatenate([known, asked]), self.training_only, self.feature_scaling)
        return every.prepare(np.arange(len(known)), len(known) + np.arange(len(asked)), scaling)


@dataclass(frozen=True)
class PairKernelInput(KernelInput):
    """Kernels on the features of pairs; ``features`` are those of single samples."""

    pairs: PairedSamples = field(kw_only=True)

    def prepare(self, train: Indices, test: Indices, scaling: FeatureScaling | None = None) -> PreparedKernels:
        """Fit the kernels on the training pairs and apply them to both."""
        started = time.perf_counter()
        parts = {name: self.pairs.of([table], train, test) for name, table in self.features.items()}
        features = {name: np.concatenate(part) for name, part in parts.items()}
        kernels = KernelInput({}, self.kernels, features)
        found = kernels.prepare(np.arange(len(train)), len(train) + np.arange(len(test)), scaling)
        return PreparedKernels(found.train, found.test, found.info, time.perf_counter() - started)
