"""Features of pairs of samples, for methods that say whether both samples have the same class.

The features of each descriptor are projected on the principal components of the samples in the training pairs
(:mod:`mklearn.evaluation.projections`). With the projections a and b of both samples, a pair has |a - b| and a * b,
feature by feature, or one of them: exchanging the samples changes nothing. Several descriptors are projected each by
itself and put side by side.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from mklearn.contract.fit_spec import FeatureScaling, PairFeatures
from mklearn.evaluation.inputs import Indices, KernelInput, PreparedKernels, SampleInput
from mklearn.evaluation.projections import Floats, PairedPositions, ProjectedSamples


@dataclass(frozen=True, eq=False)
class PairedSamples(PairedPositions):
    """The pairs, as positions of their samples, and what they are compared by.

    Parameters
    ----------
    first, second : (m,) int arrays
        Positions of the samples of each pair.
    features : PairFeatures
    """

    features: PairFeatures

    def of(self, descriptors: Sequence[ProjectedSamples], train: Indices, test: Indices) -> tuple[Floats, Floats]:
        """Compute the features of training pairs, fitted on their samples alone, and of test pairs.

        Parameters
        ----------
        descriptors : sequence of ProjectedSamples
        train, test : positions of pairs

        Returns
        -------
        known, asked : arrays of shape (n_train, p) and (n_test, p)

        Raises
        ------
        DataError
            Negative features, of which a square root is to be taken; or projections of other splits.
        """
        samples, learned = self.used(train, test), self.learned(train)
        projected = [descriptor.of(samples, learned, self.features) for descriptor in descriptors]
        return self._terms(projected, samples, train), self._terms(projected, samples, test)

    def _terms(self, projected: Sequence[Floats], samples: Indices, pairs: Indices) -> Floats:
        """Return the terms of pairs, the descriptors side by side."""
        first, second = np.searchsorted(samples, self.first[pairs]), np.searchsorted(samples, self.second[pairs])
        return np.hstack([pair_terms(values[first], values[second], self.features) for values in projected])


def pair_terms(a: Floats, b: Floats, features: PairFeatures) -> Floats:
    """Compute the features of pairs from those of their samples, (m, q) each: (m, q) for each term, side by side."""
    terms = {"absolute_difference": lambda: np.abs(a - b), "product": lambda: a * b}
    return np.hstack([terms[name]() for name in features.terms])


@dataclass(frozen=True)
class PairInput:
    """Features of pairs by one or several descriptors."""

    descriptors: Sequence[ProjectedSamples]
    pairs: PairedSamples
    training_only: bool = False
    feature_scaling: FeatureScaling | Literal["auto"] = "none"

    def prepare(
        self, train: Indices, test: Indices, scaling: FeatureScaling | None = None
    ) -> tuple[Floats, Floats | None]:
        """Return the features of the training pairs and of the test pairs; ``scaling`` as for samples."""
        known, asked = self.pairs.of(self.descriptors, train, test)
        every = SampleInput(np.concatenate([known, asked]), self.training_only, self.feature_scaling)
        return every.prepare(np.arange(len(known)), len(known) + np.arange(len(asked)), scaling)


@dataclass(frozen=True)
class PairKernelInput(KernelInput):
    """Kernels on the features of pairs."""

    descriptors: Mapping[str, ProjectedSamples] = field(kw_only=True)
    pairs: PairedSamples = field(kw_only=True)

    def prepare(self, train: Indices, test: Indices, scaling: FeatureScaling | None = None) -> PreparedKernels:
        """Fit the kernels on the training pairs and apply them to both."""
        started = time.process_time()
        parts = {name: self.pairs.of([samples], train, test) for name, samples in self.descriptors.items()}
        features = {name: np.concatenate(part) for name, part in parts.items()}
        kernels = KernelInput({}, self.kernels, features, self.spectra)
        found = kernels.prepare(np.arange(len(train)), len(train) + np.arange(len(test)), scaling)
        return PreparedKernels(found.train, found.test, found.info, time.process_time() - started)
