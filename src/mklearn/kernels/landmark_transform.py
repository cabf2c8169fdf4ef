"""Explicit features of several kernels from landmarks, fitted on training features and applied to new ones."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from mklearn.checks import Array
from mklearn.errors import ConfigError, DataError
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.kernel_entry import error_prefix
from mklearn.kernels.landmark_blocks import row_blocks
from mklearn.kernels.landmark_leverage import mean_kernel_leverage_scores
from mklearn.kernels.landmark_map import (
    LandmarkMap,
    landmark_map,
    linear_map,
    warn_of_repeated_landmarks,
)
from mklearn.kernels.landmark_measure import LandmarkMeasure
from mklearn.kernels.landmarks import (
    LandmarkRule,
    check_number_of_landmarks,
    draw_by_scores,
    kmeans_centres,
    random_per_class,
)
from mklearn.kernels.pairwise_view import Pairwise
from mklearn.kernels.source import Source
from mklearn.kernels.specs import KernelsOfSpecs

PARAMETER_SAMPLES = 2_000
"""Parameters of kernels, such as bandwidths, are fitted to at most so many training samples, drawn uniformly."""


@dataclass(frozen=True, eq=False)
class _Group:
    """Kernels that read the same features."""

    source: Source
    kernels: tuple[int, ...]
    maps: tuple[LandmarkMap, ...] = ()
    means: tuple[Array, ...] | None = None
    """Mean features of the training samples that have the view, for samples that lack it; None if none may."""


class LandmarkTransform(KernelsOfSpecs):
    """Explicit features of kernels: ``Phi_m(x) = k_m(x, Z) U_m W_m^(-1/2)`` with landmarks Z, K_m(Z, Z) = U W U'.

    Parameters
    ----------
    kernels : sequence of specs, mapping of names to specs, or one spec
        See `mklearn.kernels.specs.StackTransform`, also for what is raised.

    Attributes
    ----------
    maps_ : tuple of LandmarkMap
        One for each kernel.
    landmark_indices_ : array of shape (l,) or None
        Positions of the landmarks among the training samples; None if they are centres, or if there are none.

    Notes
    -----
    Nothing of the training samples is kept but landmarks and what is fitted.
    """

    def fit(
        self, X: Any, labels: NDArray[Any] | None, *, rule: LandmarkRule, n_landmarks: int, rank_tolerance: float,
        dtype: str, seed: int,
    ) -> Self:  # fmt: skip
        """Fit the kernels' parameters and choose landmarks; see `mklearn.base.landmark_features.LandmarkFeatures`.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d), or views
        labels : array of shape (n,) or None
            Class labels, for "random_per_class"; None: all samples are one class.
        rule, n_landmarks, rank_tolerance, dtype
            As for `LandmarkFeatures`, valid.
        seed : int

        Raises
        ------
        ConfigError, DataError, NotApplicable
            As for `LandmarkFeatures`; of a kernel the message names it.
        """
        self._fit_sources(X)
        groups = self._grouped()
        n = len(groups[0].source.observed_)
        seeds = np.random.SeedSequence(seed).spawn(3)
        rows = None
        if n > PARAMETER_SAMPLES:
            rows = np.sort(np.random.default_rng(seeds[0]).choice(n, PARAMETER_SAMPLES, replace=False))
        for group in groups:
            self._fit_parameters(group, rows)

        rng = np.random.default_rng(seeds[1])
        self.landmark_indices_: NDArray[np.intp] | None = None
        if not all(self._is_linear(number) for number in range(len(self._entries))):
            check_number_of_landmarks(n_landmarks, n)
            if rule == "random_per_class":
                self.landmark_indices_ = random_per_class(np.zeros(n) if labels is None else labels, n_landmarks, rng)
            elif rule == "leverage":
                sample = rng.choice(n, n_landmarks, replace=False)
                scores = self._leverage_scores(groups, sample, n)
                self.landmark_indices_ = draw_by_scores(scores, n_landmarks, rng)
        centres_seed = int(np.random.default_rng(seeds[2]).integers(2**31))
        self._groups = [self._with_maps(group, n_landmarks, rank_tolerance, dtype, centres_seed) for group in groups]
        found = {n: each for group in self._groups for n, each in zip(group.kernels, group.maps, strict=True)}
        self.maps_ = tuple(found[number] for number in range(len(self._entries)))
        self.observed_shares = np.ones(len(self._entries))
        for group in groups:
            self.observed_shares[list(group.kernels)] = np.mean(group.source.observed_)
            group.source.drop_training_values()
        return self

    def leading(self, n_landmarks: int, rank_tolerance: float, dtype: str) -> tuple[Self, list[Array]]:
        """Return the transform of the first landmarks alone, and what maps features of all of them to its features.

        Parameters
        ----------
        n_landmarks : int
            At most as many as there are.
        rank_tolerance, dtype
            As in `fit`.

        Returns
        -------
        transform : LandmarkTransform
        maps : list of array of shape (r_m, s_m)
            T_m of each kernel with ``Phi_m T_m`` the features by the first landmarks, exactly where no eigenvalue was
            left out: with ``Phi_m = k(x, Z) P`` and those by the first ones, ``k(x, Z_1) P_1``, it is
            ``P' k(Z, Z_1) P_1``.
        """
        made = copy.copy(self)
        made._groups = []
        changes: dict[int, Array] = {}
        for group in self._groups:
            shorter: dict[str, LandmarkMeasure] = {}
            maps = []
            for number, each in zip(group.kernels, group.maps, strict=True):
                if each.projection is None:
                    maps.append(each)
                    changes[number] = np.eye(each.rank)
                    continue
                for measure in each.measures:
                    if measure.measure not in shorter:
                        shorter[measure.measure] = LandmarkMeasure(
                            measure.measure, measure.landmarks[:n_landmarks], dtype
                        )
                own = tuple(shorter[measure.measure] for measure in each.measures)
                first = landmark_map(each.kernel, own, rank_tolerance, dtype)
                assert first.projection is not None
                gram = each.kernel.kernel_function([measure.among_landmarks() for measure in each.measures])
                changes[number] = each.projection.T.astype(np.float64) @ gram[:, :n_landmarks] @ first.projection
                maps.append(first)
            made._groups.append(_Group(group.source, group.kernels, tuple(maps)))
        found = {n: each for group in made._groups for n, each in zip(group.kernels, group.maps, strict=True)}
        made.maps_ = tuple(found[number] for number in range(len(self._entries)))
        if made.landmark_indices_ is not None:
            made.landmark_indices_ = made.landmark_indices_[:n_landmarks]
        return made, [changes[number] for number in range(len(self._entries))]

    def times(self, coefficients: Array) -> Self:
        """Return the transform to each kernel's features times its rows of coefficients, (sum of ranks, p)."""
        parts = [coefficients[block] for block in self.blocks]
        made = copy.copy(self)
        made._groups = [
            replace(
                group,
                maps=tuple(each.times(parts[n]) for n, each in zip(group.kernels, group.maps, strict=True)),
                means=group.means
                and tuple(mean @ parts[n] for n, mean in zip(group.kernels, group.means, strict=True)),
            )
            for group in self._groups
        ]
        made.maps_ = tuple(each.times(part) for each, part in zip(self.maps_, parts, strict=True))
        return made

    @property
    def centred(self) -> NDArray[np.bool_]:
        """Whether each kernel's spec asks for centring, which the features leave out."""
        return np.array([entry.kernel.centre for entry in self._entries])

    @property
    def scaled(self) -> NDArray[np.bool_]:
        """Whether each kernel's spec asks for unit centred trace, which the features leave out."""
        return np.array([entry.kernel.normalise == "centred_trace" for entry in self._entries])

    @property
    def completes(self) -> bool:
        """Whether samples may lack a view, whose features are then the mean of those that have it."""
        return any(group.source.completes for group in self._groups)

    @property
    def blocks(self) -> list[slice]:
        """Columns of each kernel's features."""
        ends = np.cumsum([0, *(each.rank for each in self.maps_)]).tolist()
        return [slice(start, stop) for start, stop in pairwise(ends)]

    def transform(self, X: Any, out: Array) -> None:
        """Compute the features of samples, given as in `fit`, into an array of shape (m, sum of ranks).

        Temporary arrays have the size of X and of kernels between X and the landmarks, so that X should be one of
        `mklearn.kernels.landmark_blocks.row_blocks`.

        Raises
        ------
        DataError
            Views, features or columns that differ from the training samples', or that are not finite.
        """
        table = self._as_read(X, new=True)
        blocks = self.blocks
        for group in self._groups:
            with error_prefix(self._entries[group.kernels[0]].id):
                rows, present = group.source.transform(table)
            if present.all():
                self._compute(group, rows, [out[:, blocks[number]] for number in group.kernels])
                continue
            found = self._computed(group, rows)
            means = group.means or [each[:0] for each in found]
            for number, features, mean in zip(group.kernels, found, means, strict=True):
                out[present, blocks[number]] = features
                out[~present, blocks[number]] = mean

    @property
    def width(self) -> int:
        """Columns of the widest matrix that a kernel needs of samples, besides their features."""
        return max(each.width for each in self.maps_)

    # --------------------------------------------------------------------------------------------------- fit

    def _is_linear(self, number: int) -> bool:
        return self._entries[number].kernel.of_features

    def _grouped(self) -> list[_Group]:
        """Return the kernels by what they read, in the order of the first kernel of each group."""
        found: dict[Any, tuple[Source, list[int]]] = {}
        for number, entry in enumerate(self._entries):
            first = entry.sources[0]
            if isinstance(first.train_, Pairwise) or any(source.key != first.key for source in entry.sources):
                raise ConfigError(
                    f"kernel {entry.id!r}: landmarks need the features of one view for each kernel, which can be "
                    "computed between any samples"
                )
            found.setdefault(first.key, (first, []))[1].append(number)
        return [_Group(source, tuple(numbers)) for source, numbers in found.values()]

    def _fit_parameters(self, group: _Group, rows: NDArray[np.intp] | None) -> None:
        """Fit the kernels' parameters to all training samples, or to some of them."""
        numbers = [number for number in group.kernels if not self._is_linear(number)]
        if not numbers:
            return
        with error_prefix(self._entries[numbers[0]].id):
            features = group.source.training_values(None if rows is None else group.source.observed_rows(rows))
        measured: dict[str, Array] = {}
        for number in numbers:
            kernel = self._entries[number].kernel
            with error_prefix(self._entries[number].id):
                for _, measure in kernel.inputs:
                    if measure not in measured:
                        measured[measure] = MEASURES[measure](features)
                kernel.fit_parameters([measured[measure] for _, measure in kernel.inputs])

    def _with_maps(
        self, group: _Group, n_landmarks: int, rank_tolerance: float, dtype: str, centres_seed: int
    ) -> _Group:
        """Return the group with the maps of its kernels, and the means of their features where samples may lack it."""
        source = group.source
        landmarks: Any = None
        measures: dict[str, LandmarkMeasure] = {}
        maps = []
        names = [self._entries[number].id for number in group.kernels if not self._is_linear(number)]
        for number in group.kernels:
            entry = self._entries[number]
            if self._is_linear(number):
                maps.append(linear_map(entry.kernel, source.training_values(slice(0, 1)).shape[1], dtype))
                continue
            with error_prefix(entry.id):
                if landmarks is None:
                    landmarks = self._landmarks(group, n_landmarks, centres_seed)
                    warn_of_repeated_landmarks(landmarks, names)
                for _, measure in entry.kernel.inputs:
                    if measure not in measures:
                        measures[measure] = LandmarkMeasure(measure, landmarks, dtype)
                chosen = tuple(measures[measure] for _, measure in entry.kernel.inputs)
                maps.append(landmark_map(entry.kernel, chosen, rank_tolerance, dtype))
        mapped = _Group(source, group.kernels, tuple(maps))
        if not source.completes:
            return mapped
        sums = [np.zeros(each.rank) for each in maps]
        n_observed = int(source.observed_.sum())
        for rows in row_blocks(n_observed, max(each.width for each in maps)):
            for total, features in zip(sums, self._computed(mapped, source.training_values(rows)), strict=True):
                total += features.sum(axis=0, dtype=np.float64)
        means = tuple((total / n_observed).astype(dtype) for total in sums)
        return _Group(source, group.kernels, mapped.maps, means)

    def _landmarks(self, group: _Group, n_landmarks: int, centres_seed: int) -> Any:
        if self.landmark_indices_ is None:
            return kmeans_centres(group.source.training_values(), n_landmarks, centres_seed)
        rows = group.source.observed_rows(self.landmark_indices_)
        if not len(rows):
            raise DataError(
                f"its view is missing for all {n_landmarks} landmarks: choose more landmarks, or other ones by "
                "another random_state"
            )
        return group.source.training_values(rows)

    def _leverage_scores(self, groups: Sequence[_Group], sample: NDArray[np.intp], n: int) -> NDArray[np.float64]:
        for group in groups:
            if group.source.completes:
                raise ConfigError(
                    f"kernel {self._entries[group.kernels[0]].id!r}: how='leverage' needs every view of every "
                    "sample; with missing_views='mean' choose 'random_per_class' or 'kmeans'"
                )
        read = [(group.source, [self._entries[number].kernel for number in group.kernels]) for group in groups]
        return mean_kernel_leverage_scores(read, sample, n)

    def _compute(self, group: _Group, rows: Any, out: Sequence[Array]) -> None:
        """Compute the features of samples for each kernel of a group; measures that kernels share are computed once."""
        measured: dict[int, Array] = {}
        for number, each, features in zip(group.kernels, group.maps, out, strict=True):
            with error_prefix(self._entries[number].id):
                for measure in each.measures:
                    if id(measure) not in measured:
                        measured[id(measure)] = measure(rows)
                each.transform(rows, [measured[id(measure)] for measure in each.measures], features)

    def _computed(self, group: _Group, rows: Any) -> list[Array]:
        """Return the features of samples for each kernel of a group."""
        found: list[Array] = [np.empty((rows.shape[0], each.rank), dtype=each.dtype) for each in group.maps]
        if rows.shape[0]:
            self._compute(group, rows, found)
        return found
