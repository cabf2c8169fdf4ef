"""Explicit features of several kernels from landmarks, for linear methods on many samples."""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any, ClassVar, Literal, Self, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from mklearn.base.fit_context import fit_context
from mklearn.base.kernels_mixin import Kernels, KernelsMixin
from mklearn.base.parameters import valid_values
from mklearn.checks import check_choice, check_integer, check_nonnegative, invalid, regular_array
from mklearn.errors import ConfigError, DataError
from mklearn.estimator_input import checked_labels
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.kernel_entry import error_prefix
from mklearn.kernels.landmark_map import LandmarkMap, LandmarkMeasure, landmark_map, random_per_class, row_blocks
from mklearn.kernels.source import Source
from mklearn.kernels.transform import StackTransform
from mklearn.kernels.views import Pairwise, as_views, select_rows

Precision = Literal["float64", "float32"]

RANK_TOLERANCE = {"float64": 1e-12, "float32": 1e-6}
"""Default of ``rank_tolerance`` for each dtype."""
PARAMETER_SAMPLES = 2_000
"""Largest number of training samples, drawn uniformly, that kernel parameters such as bandwidths are fitted to."""
_BLOCK_BYTES = 2**25
"""Size of a block of features in bytes. Blocks are large, since statistics such as moments cost D^2 for each block."""


class LandmarkFeatures(KernelsMixin, TransformerMixin, BaseEstimator):
    """Explicit features of several kernels, concatenated, whose inner products approximate the kernels.

    For kernel m with landmarks Z and K_m(Z, Z) = U W U' the features of a sample x are
    ``Phi_m(x) = k_m(x, Z) U W^(-1/2)``, so that ``Phi_m Phi_m'`` is the Nystroem approximation of K_m: exact between
    landmarks, and everywhere if all training samples are landmarks. A linear kernel needs no landmarks: its features
    are the features of its view.

    Parameters
    ----------
    kernels : sequence of specs, mapping of names to specs, or one spec, default="gaussian"
        Kernels on features or views, see `mklearn.kernels.transform.StackTransform`. Their parameters are parameters of
        this transformer, ``kernels__NAME__bandwidth``.
    n : int, default=300
        Number l of landmarks: random training samples, which all kernels share, equally many of each class as far as
        its size allows; without `y`, uniformly from all samples.
    rank_tolerance : float, optional
        Eigenvalues of K_m(Z, Z) up to this share of the largest one are dropped. Default: 1e-12, or 1e-6 with
        ``dtype="float32"``, where features of smaller eigenvalues would be rounding errors. Larger values give fewer
        features, and learning from D features costs D^3. Example: with 1,000 landmarks of USPS, 3e-4 keeps 378 to 687
        features for three Gaussian kernels; accuracy stays within 0.1 points in less than half of the time.
    dtype : {"float64", "float32"}, default="float64"
        Precision of distances, kernels, products and features. In float32 the map, U W^(-1/2), is computed in float64
        and cast once. With 300 landmarks of USPS and bandwidths from a quarter to 16 times the mean squared distance,
        features differ from those in float64 by up to 5e-5, and their inner products by 3e-6 of the largest.
    random_state : int, RandomState or None, default=0
        Seed for the choice of landmarks and of the samples to which bandwidths are fitted.

    Attributes
    ----------
    kernel_ids_ : tuple of str
        Names of the kernels.
    blocks_ : list of slice
        Columns of each kernel's features.
    ranks_ : array of shape (n_kernels,)
        r_m, the number of features of each kernel: at most l, or the width of the view of a linear kernel.
    n_landmarks_ : int
        `n`, or 0 if all kernels are linear.
    landmark_indices_ : array of shape (l,) or None
        Positions of the landmarks among the training samples; None if there are none.
    landmarks_ : dict of str to array of shape (l, p)
        Features of the landmarks as each kernel reads them; None for a linear kernel.
    observed_shares_ : array of shape (n_kernels,)
        Share of the training samples that have the view of each kernel.
    centred_, scaled_ : array of shape (n_kernels,), bool
        Whether the specs ask for centring and for scaling to unit trace. The features are neither centred nor scaled.
    n_samples_ : int
        Number of training samples.
    n_features_in_ : int
        Number of features of all views.

    Raises
    ------
    ConfigError
        Invalid parameters or specs; precomputed kernels.
    DataError
        A kernel can't be computed from the features or is zero among the landmarks, or a view of new samples has
        another width.
    NotApplicable
        There are more landmarks than samples, or fewer than classes.

    References
    ----------
    Williams and Seeger, "Using the Nystroem method to speed up kernel machines", NIPS 2000.

    Notes
    -----
    The features approximate the kernels of `mklearn.kernels.transform.StackTransform` before centring, repair of
    negative eigenvalues and scaling to unit trace: ``centre``, ``psd`` and ``normalise="centred_trace"`` of a spec have
    no effect here. Methods that use the features centre and scale them. ``normalise="unit_diagonal"`` divides the
    features of each sample by the square root of k(x, x).

    Deviation: bandwidths, and the scale of polynomial kernels, are fitted to at most 2,000 training samples, drawn
    uniformly. With fewer training samples they are the same as in the kernel estimators.

    A sample that lacks a view (``missing_views="mean"``) gets the mean features of the training samples that have it,
    as in `mklearn.kernels.completion.MeanCompletion`. Kernels of the view omit landmarks that lack it.

    ``transform`` works on blocks of rows, with temporary arrays below 64 MB unless a single row is wider than a million
    features. ``fit`` needs all its samples in memory: if they do not fit, pass a random subset. A fitted transformer
    keeps only the landmarks of the training samples.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> views = {"shape": rng.normal(size=(50, 3)), "colour": rng.normal(size=(50, 4))}
    >>> made = LandmarkFeatures({"shape": "gaussian", "colour": "linear"}, n=10).fit(views)
    >>> made.transform(views).shape, made.blocks_
    ((50, 14), [slice(0, 10, None), slice(10, 14, None)])
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        "kernels": valid_values(Kernels),
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        kernels: Any = "gaussian",
        n: int = 300,
        *,
        rank_tolerance: float | None = None,
        dtype: Precision = "float64",
        random_state: Any = 0,
    ) -> None:
        self.kernels, self.n = kernels, n
        self.rank_tolerance = rank_tolerance
        self.dtype = dtype
        self.random_state = random_state

    @fit_context
    def fit(self, X: Any, y: ArrayLike | None = None) -> Self:
        """Fit the kernels' parameters, choose landmarks and compute the map of each kernel.

        Parameters
        ----------
        X : array or DataFrame of shape (n, d), or views
            Views are a dict or list of tables, or `mklearn.kernels.Views`.
        y : array of shape (n,), optional
            Class labels.
        """
        n_landmarks = check_integer(self.n, "n")
        check_choice(self.dtype, "dtype", get_args(Precision))
        tolerance = RANK_TOLERANCE[self.dtype]
        if self.rank_tolerance is not None:
            tolerance = check_nonnegative(self.rank_tolerance, "rank_tolerance")
            if tolerance >= 1:
                raise invalid(tolerance, "rank_tolerance", "a number below 1, as 1 or more leaves no eigenvalue")
        if self._is_precomputed:
            raise ConfigError(
                "kernels='precomputed': landmarks need kernels of features, which can be computed between any samples; "
                "name them, e.g. LandmarkFeatures(kernels='gaussian')"
            )
        self._specs_ = StackTransform(self.kernels)
        table = self._checked_features(X, self._specs_, reset=True)
        labels = None if y is None else checked_labels(self, y, table.shape[0])
        self._specs_.fit_sources(table)
        self._readers_ = self._kernels_by_source()
        kernels = [entry.kernel for entry in self._specs_.entries]
        n = self.n_samples_ = table.shape[0]
        self.n_landmarks_ = 0 if all(kernel.of_features for kernel in kernels) else n_landmarks
        seed = check_random_state(self.random_state).randint(2**31)
        for_sample, for_landmarks = map(np.random.default_rng, np.random.SeedSequence(seed).spawn(2))
        rows = None
        if n > PARAMETER_SAMPLES:
            rows = np.sort(for_sample.choice(n, PARAMETER_SAMPLES, replace=False))
        self.landmark_indices_ = None
        if self.n_landmarks_:
            classes = np.zeros(n) if labels is None else labels
            self.landmark_indices_ = random_per_class(classes, n_landmarks, for_landmarks)
        maps: dict[int, LandmarkMap] = {}
        for source, numbers in self._readers_:
            maps |= self._maps_of(source, numbers, rows, tolerance)
        self._maps_ = [maps[number] for number in range(len(kernels))]
        self.kernel_ids_ = self._specs_.ids
        self.ranks_ = np.array([each.rank for each in self._maps_])
        self.blocks_ = [slice(*ends) for ends in pairwise(np.cumsum([0, *self.ranks_]).tolist())]
        self.centred_ = np.array([kernel.centre for kernel in kernels])
        self.scaled_ = np.array([kernel.normalise == "centred_trace" for kernel in kernels])
        self.observed_shares_ = np.array([np.mean(entry.sources[0].observed_) for entry in self._specs_.entries])
        self.landmarks_ = {name: each.landmarks for name, each in zip(self.kernel_ids_, self._maps_, strict=True)}
        self._means_: list[Any] = [None] * len(kernels)
        for source, numbers in self._readers_:
            if source.completes:
                self._fit_means(source, numbers)
            source.drop_training_values()
        return self

    def _kernels_by_source(self) -> list[tuple[Source, list[int]]]:
        """Return each source with the positions of its kernels, in the order of first use."""
        readers: dict[Any, tuple[Source, list[int]]] = {}
        for number, entry in enumerate(self._specs_.entries):
            first = entry.sources[0]
            if isinstance(first.train_, Pairwise) or any(source.key != first.key for source in entry.sources):
                raise ConfigError(
                    f"kernel {entry.id!r}: landmarks need the features of one view for each kernel, which can be "
                    "computed between any samples"
                )
            readers.setdefault(first.key, (first, []))[1].append(number)
        return list(readers.values())

    def _maps_of(
        self, source: Source, numbers: Sequence[int], rows: NDArray[np.intp] | None, rank_tolerance: float
    ) -> dict[int, LandmarkMap]:
        """Fit the kernels of one source to the training samples at `rows` (None: all); return their maps."""
        landmarks: Any = None
        measured: dict[str, tuple[NDArray[Any], LandmarkMeasure]] = {}
        maps = {}
        for number in numbers:
            kernel = self._specs_.entries[number].kernel
            if kernel.of_features:
                maps[number] = LandmarkMap(kernel, (), None, source.train_.shape[1], np.dtype(self.dtype))
                continue
            with error_prefix(kernel.name):
                if landmarks is None:
                    features = source.training_values(None if rows is None else source.observed_rows(rows))
                    landmarks = self._landmarks_of(source)
                for _, measure in kernel.inputs:
                    if measure not in measured:
                        among = MEASURES[measure](features)
                        measured[measure] = among, LandmarkMeasure(measure, landmarks, self.dtype)
                blocks, measures = zip(*(measured[measure] for _, measure in kernel.inputs), strict=True)
                kernel.fit_parameters(blocks)
                maps[number] = landmark_map(kernel, measures, rank_tolerance, self.dtype)
        return maps

    def _landmarks_of(self, source: Source) -> Any:
        assert self.landmark_indices_ is not None  # not all kernels are linear
        rows = source.observed_rows(self.landmark_indices_)
        if not len(rows):
            raise DataError(
                f"its view is missing for all {self.n_landmarks_} landmarks: choose more landmarks, or other ones by "
                "another random_state"
            )
        return source.training_values(rows)

    def _fit_means(self, source: Source, numbers: Sequence[int]) -> None:
        """Compute the mean features of the observed training samples, for samples that lack the view."""
        sums = [np.zeros(self._maps_[number].rank) for number in numbers]
        n_observed = int(source.observed_.sum())
        for rows in row_blocks(n_observed, max(self._maps_[number].width for number in numbers)):
            for total, features in zip(sums, self._computed(numbers, source.training_values(rows)), strict=True):
                total += features.sum(axis=0, dtype=np.float64)
        for number, total in zip(numbers, sums, strict=True):
            self._means_[number] = (total / n_observed).astype(self.dtype)

    def _computed(self, numbers: Sequence[int], samples: Any) -> list[NDArray[Any]]:
        """Return the features of samples for each of the given kernels of one source, each shared measure once."""
        measured: dict[int, NDArray[Any]] = {}
        computed = []
        for each in (self._maps_[number] for number in numbers):
            features = np.empty((samples.shape[0], each.rank), dtype=each.dtype)
            with error_prefix(each.kernel.name):
                for measure in each.measures:
                    if id(measure) not in measured:
                        measured[id(measure)] = measure(samples)
                each.transform(samples, [measured[id(measure)] for measure in each.measures], features)
            computed.append(features)
        return computed

    def transform(self, X: Any) -> NDArray[np.floating[Any]]:
        """Compute the features ``[Phi_1 ... Phi_M]``, (m, D), of samples X given as in ``fit``.

        The columns of kernel m are ``blocks_[m]``, in descending order of the eigenvalues. Raises `DataError` if
        features or views differ from ``fit``, or values are not finite.
        """
        check_is_fitted(self)
        return self._with_row_labels(self._filled(_sliceable(X)), X)

    def transform_times(self, X: Any, coefficients: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
        """Compute ``transform(X) @ coefficients``, (m, p), from kernel values, without storing the features."""
        check_is_fitted(self)
        if np.ndim(coefficients) != 2 or len(coefficients) != self.blocks_[-1].stop:
            shape = np.shape(coefficients)
            raise DataError(
                f"coefficients have shape {shape}: expected a row for each of {self.blocks_[-1].stop} features"
            )
        parts, p = [coefficients[block] for block in self.blocks_], coefficients.shape[1]
        made = copy.copy(self)
        made._maps_ = [each.times(part) for each, part in zip(self._maps_, parts, strict=True)]
        made._means_ = [None if mean is None else mean @ part for mean, part in zip(self._means_, parts, strict=True)]
        made.blocks_ = [slice(number * p, (number + 1) * p) for number in range(len(parts))]
        products = made._filled(_sliceable(X))
        return np.asarray(products.reshape(len(products), len(self.blocks_), p).sum(axis=1))

    def transform_blocks(self, X: Any) -> Iterator[tuple[slice, NDArray[np.floating[Any]]]]:
        """Yield the features of X in consecutive blocks of rows, without holding all of them in memory.

        Each block is a slice of rows and an array of shape (b, D), at most 32 MB unless it is a single row. Parameters
        and errors are as for ``transform``.
        """
        check_is_fitted(self)
        table = _sliceable(X)
        most = max(1, _BLOCK_BYTES // (np.dtype(self.dtype).itemsize * self.blocks_[-1].stop))
        blocks = (slice(start, min(start + most, _n_rows(table))) for start in range(0, max(_n_rows(table), 1), most))
        return ((block, self._filled(table, block)) for block in blocks)

    def _filled(self, table: Any, chosen: slice = slice(None)) -> NDArray[np.floating[Any]]:
        """Compute the features of the chosen rows, in parts that fit into the processor's cache."""
        n = _n_rows(table)
        start, stop, _ = chosen.indices(n)
        features = np.empty((stop - start, self.blocks_[-1].stop), dtype=self.dtype)
        width = max(self.n_features_in_, *(each.width for each in self._maps_))
        for part in row_blocks(len(features), width):
            rows = slice(start + part.start, start + part.stop)
            block = table if rows == slice(0, n) else select_rows(table, rows)
            try:
                self._fill(self._checked_features(block, self._specs_, reset=False), features[part])
            except DataError as error:
                if rows.start == 0:
                    raise
                raise DataError(f"in samples {rows.start} to {rows.stop - 1}: {error}") from error
        return features

    def _fill(self, X: Any, out: NDArray[Any]) -> None:
        """Compute the features of checked samples into `out`; temporary arrays have the size of X and its kernels."""
        table = self._specs_.read(X, new=True)
        for source, numbers in self._readers_:
            with error_prefix(self.kernel_ids_[numbers[0]]):
                rows, present = source.transform(table)
            if not present.all():
                for number in numbers:
                    out[~present, self.blocks_[number]] = self._means_[number]
            if present.any():
                for number, features in zip(numbers, self._computed(numbers, rows), strict=True):
                    out[present, self.blocks_[number]] = features

    def get_feature_names_out(self, input_features: ArrayLike | None = None) -> NDArray[np.object_]:
        """Return the names of the features: ``NAME__0``, ``NAME__1``, ... for each kernel."""
        check_is_fitted(self)
        if input_features is not None and len(np.asarray(input_features)) != self.n_features_in_:
            raise DataError(
                f"input_features should have length equal to the number of features, {self.n_features_in_}; got "
                f"{len(np.asarray(input_features))}"
            )
        names = [f"{name}__{i}" for name, r in zip(self.kernel_ids_, self.ranks_, strict=True) for i in range(r)]
        return np.array(names, dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = [self.dtype]
        return tags


def _sliceable(X: Any) -> Any:
    """Return X as views, or as a table with a shape whose rows can be selected."""
    views = as_views(X)
    if views is not None:
        return views
    if hasattr(X, "tocsr"):
        return X.tocsr()
    return X if hasattr(X, "shape") else regular_array(X, "X")


def _n_rows(table: Any) -> int:
    return table.shape[0] if table.shape else 0
