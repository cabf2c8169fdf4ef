"""Explicit features of several kernels from landmarks, fitted on training features and applied to new ones."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Literal, Self

import numpy as np
from numpy.typing import NDArray

from mklearn.checks import Array
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.kernels.base import Kernel
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.features import in_form_of
from mklearn.kernels.kernel_entry import error_prefix
from mklearn.kernels.landmark_map import LandmarkMap, LandmarkMeasure, landmark_map, row_blocks
from mklearn.kernels.source import Source
from mklearn.kernels.transform import KernelsOfSpecs
from mklearn.kernels.views import Pairwise

LandmarkRule = Literal["random_per_class", "kmeans"]
PARAMETER_SAMPLES = 2_000
"""Largest number of training samples, drawn uniformly, that kernel parameters such as bandwidths are fitted to."""


class LandmarkTransform(KernelsOfSpecs):
    """Explicit features of kernels, ``Phi_m(x) = k_m(x, Z) U_m W_m^(-1/2)``, with landmarks Z.

    U_m and W_m are the eigenvectors and eigenvalues of K_m(Z, Z). The transform keeps the landmarks and the fitted
    parameters, but no other training samples.

    Parameters
    ----------
    kernels : sequence of specs, mapping of names to specs, or one spec
        See `mklearn.kernels.transform.StackTransform`, also for the errors.

    Attributes
    ----------
    maps_ : tuple of LandmarkMap
        Feature map of each kernel.
    landmark_indices_ : array of shape (l,) or None
        Positions of the landmarks among the training samples; None if they are k-means centres or there are none.
    """

    def fit(
        self, X: Any, labels: NDArray[Any] | None, *, rule: LandmarkRule, n_landmarks: int, rank_tolerance: float,
        dtype: str, seed: int,
    ) -> Self:  # fmt: skip
        """Fit the kernels' parameters and choose landmarks.

        Parameters and errors are as for `mklearn.base.landmark_features.LandmarkFeatures`; their validity is not
        checked again. `labels`, (n,), are used by "random_per_class"; None puts all samples into one class.
        """
        self._fit_sources(X)
        self._readers = self._kernels_by_source()
        n, n_kernels = len(self._entries[0].sources[0].observed_), len(self._entries)
        for_sample, for_landmarks, for_centres = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(3))
        rows = None
        if n > PARAMETER_SAMPLES:
            rows = np.sort(for_sample.choice(n, PARAMETER_SAMPLES, replace=False))
        for source, numbers in self._readers:
            self._fit_parameters(source, numbers, rows)

        self.landmark_indices_: NDArray[np.intp] | None = None
        if not all(entry.kernel.of_features for entry in self._entries):
            _check_number(n_landmarks, n)
            if rule == "random_per_class":
                classes = np.zeros(n) if labels is None else labels
                self.landmark_indices_ = random_per_class(classes, n_landmarks, for_landmarks)
        seed = int(for_centres.integers(2**31))
        maps: dict[int, LandmarkMap] = {}
        for source, numbers in self._readers:
            maps |= self._maps_of(source, numbers, n_landmarks, rank_tolerance, dtype, seed)
        self.maps_ = tuple(maps[number] for number in range(n_kernels))
        self.observed_shares = np.array([np.mean(entry.sources[0].observed_) for entry in self._entries])
        self._means: list[Array | None] = [None] * n_kernels
        for source, numbers in self._readers:
            if source.completes:
                self._fit_means(source, numbers)
            source.drop_training_values()
        return self

    def times(self, coefficients: Array) -> Self:
        """Return the transform to each kernel's features times its rows of `coefficients`, (sum of ranks, p)."""
        parts = [coefficients[block] for block in self.blocks]
        made = copy.copy(self)
        made.maps_ = tuple(each.times(part) for each, part in zip(self.maps_, parts, strict=True))
        made._means = [mean if mean is None else mean @ part for mean, part in zip(self._means, parts, strict=True)]
        return made

    @property
    def kernels(self) -> list[Kernel]:
        """Fitted kernels."""
        return [entry.kernel for entry in self._entries]

    @property
    def blocks(self) -> list[slice]:
        """Column slices of each kernel's features."""
        ends = np.cumsum([0, *(each.rank for each in self.maps_)]).tolist()
        return [slice(start, stop) for start, stop in pairwise(ends)]

    def transform(self, X: Any, out: Array) -> None:
        """Compute the features of samples, given as in `fit`, into `out`, shape (m, sum of ranks).

        Temporary arrays have the size of X and of the kernels between X and the landmarks: pass one block of
        `mklearn.kernels.landmark_map.row_blocks` at a time. Raises `DataError` if values are not finite, or if views,
        features or columns differ from the training samples.
        """
        table = self._as_read(X, new=True)
        blocks = self.blocks
        for source, numbers in self._readers:
            with error_prefix(self._entries[numbers[0]].id):
                rows, present = source.transform(table)
            if present.all():
                self._compute(numbers, rows, [out[:, blocks[number]] for number in numbers])
                continue
            for number, features in zip(numbers, self._computed(numbers, rows), strict=True):
                out[present, blocks[number]] = features
                mean = self._means[number]
                out[~present, blocks[number]] = features[:0] if mean is None else mean

    def _kernels_by_source(self) -> list[tuple[Source, list[int]]]:
        """Return each source with the positions of its kernels, in the order of first use."""
        readers: dict[Any, tuple[Source, list[int]]] = {}
        for number, entry in enumerate(self._entries):
            first = entry.sources[0]
            if isinstance(first.train_, Pairwise) or any(source.key != first.key for source in entry.sources):
                raise ConfigError(
                    f"kernel {entry.id!r}: landmarks need the features of one view for each kernel, which can be "
                    "computed between any samples"
                )
            readers.setdefault(first.key, (first, []))[1].append(number)
        return list(readers.values())

    def _fit_parameters(self, source: Source, numbers: Sequence[int], rows: NDArray[np.intp] | None) -> None:
        """Fit the parameters of kernels to all training samples, or to those at `rows`."""
        features: Any = None
        measured: dict[str, Array] = {}
        for entry in (self._entries[number] for number in numbers):
            if entry.kernel.of_features:
                continue
            with error_prefix(entry.id):
                if features is None:
                    features = source.training_values(None if rows is None else source.observed_rows(rows))
                for _, measure in entry.kernel.inputs:
                    if measure not in measured:
                        measured[measure] = MEASURES[measure](features)
                entry.kernel.fit_parameters([measured[measure] for _, measure in entry.kernel.inputs])

    def _maps_of(
        self, source: Source, numbers: Sequence[int], n_landmarks: int, rank_tolerance: float, dtype: str, seed: int
    ) -> dict[int, LandmarkMap]:
        """Return the maps of the kernels of one source; `seed` is for the k-means centres."""
        landmarks: Any = None
        measures: dict[str, LandmarkMeasure] = {}
        maps = {}
        for number in numbers:
            entry = self._entries[number]
            if entry.kernel.of_features:
                maps[number] = LandmarkMap(entry.kernel, (), None, source.train_.shape[1], np.dtype(dtype))
                continue
            with error_prefix(entry.id):
                if landmarks is None:
                    landmarks = self._landmarks(source, n_landmarks, seed)
                for _, measure in entry.kernel.inputs:
                    if measure not in measures:
                        measures[measure] = LandmarkMeasure(measure, landmarks, dtype)
                chosen = tuple(measures[measure] for _, measure in entry.kernel.inputs)
                maps[number] = landmark_map(entry.kernel, chosen, rank_tolerance, dtype)
        return maps

    def _fit_means(self, source: Source, numbers: Sequence[int]) -> None:
        """Compute the mean features of the observed training samples, for samples that lack the view."""
        sums = [np.zeros(self.maps_[number].rank) for number in numbers]
        n_observed = int(source.observed_.sum())
        for rows in row_blocks(n_observed, max(self.maps_[number].width for number in numbers)):
            for total, features in zip(sums, self._computed(numbers, source.training_values(rows)), strict=True):
                total += features.sum(axis=0, dtype=np.float64)
        for number, total in zip(numbers, sums, strict=True):
            self._means[number] = (total / n_observed).astype(self.maps_[number].dtype)

    def _landmarks(self, source: Source, n_landmarks: int, seed: int) -> Any:
        if self.landmark_indices_ is None:
            return kmeans_centres(source.training_values(), n_landmarks, seed)
        rows = source.observed_rows(self.landmark_indices_)
        if not len(rows):
            raise DataError(
                f"its view is missing for all {n_landmarks} landmarks: choose more landmarks, or other ones by "
                "another random_state"
            )
        return source.training_values(rows)

    def _compute(self, numbers: Sequence[int], rows: Any, out: Sequence[Array]) -> None:
        """Compute features for the kernels of one source, each shared measure once, into `out`."""
        measured: dict[int, Array] = {}
        for number, features in zip(numbers, out, strict=True):
            each = self.maps_[number]
            with error_prefix(self._entries[number].id):
                for measure in each.measures:
                    if id(measure) not in measured:
                        measured[id(measure)] = measure(rows)
                each.transform(rows, [measured[id(measure)] for measure in each.measures], features)

    def _computed(self, numbers: Sequence[int], rows: Any) -> list[Array]:
        """Return the features of samples for each of the given kernels of one source."""
        features = [np.empty((rows.shape[0], self.maps_[n].rank), dtype=self.maps_[n].dtype) for n in numbers]
        if rows.shape[0]:
            self._compute(numbers, rows, features)
        return features


def _check_number(n_landmarks: int, n: int) -> None:
    if n_landmarks > n:
        raise NotApplicable(f"n_landmarks={n_landmarks}, but there are {n} training samples: give at most {n}")


def random_per_class(labels: NDArray[Any], n_landmarks: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw landmarks at random and return their positions; classes have equal numbers as far as their sizes allow.

    Raises `NotApplicable` for fewer landmarks than classes.
    """
    classes, codes = np.unique(labels, return_inverse=True)
    if n_landmarks < len(classes):
        raise NotApplicable(
            f"n_landmarks={n_landmarks}, but y has {len(classes)} classes, and 'random_per_class' needs a landmark of "
            f"each: give at least {len(classes)}, or choose the landmarks by 'kmeans'"
        )
    shuffled = rng.permutation(len(codes))
    order = shuffled[np.argsort(codes[shuffled], kind="stable")]  # by class, in random order within a class
    sizes = np.bincount(codes)
    turns = np.arange(len(codes)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    return order[np.argsort(turns, kind="stable")][:n_landmarks]


def kmeans_centres(features: Any, n_landmarks: int, seed: int) -> Any:
    """Compute the centres of scikit-learn's ``MiniBatchKMeans`` with one k-means++ initialisation.

    `features`, (n, p), and the centres, (n_landmarks, p), are an array or a CSR array. Centres repeat if there are
    fewer distinct samples than landmarks.
    """
    _check_number(n_landmarks, features.shape[0])
    from sklearn.cluster import MiniBatchKMeans

    fitted = MiniBatchKMeans(n_landmarks, random_state=seed, n_init=1, compute_labels=False).fit(features)
    return in_form_of(fitted.cluster_centers_, features)
