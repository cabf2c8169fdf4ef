"""Ridge regression on a dictionary of kernels of several views, half of it with learned kernel weights."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mklearn.base.kernel_passes import KernelPasses
from mklearn.base.kernels_mixin import KernelsMixin
from mklearn.base.parameters import POSITIVE, Interval, at_least, one_of
from mklearn.checks import cached_rows, check_positive, invalid
from mklearn.errors import ConfigError, NotApplicable
from mklearn.kernels.completion import MissingViews
from mklearn.kernels.dictionary import kernel_dictionary, views_of_kernels
from mklearn.kernels.identity_like import IdentityLikeKernelWarning
from mklearn.kernels.imputation import Impute
from mklearn.kernels.specs import StackTransform, is_one_spec
from mklearn.kernels.stack import KernelStack
from mklearn.kernels.views import Views, select_rows
from mklearn.optimize.class_agreement import class_agreement
from mklearn.optimize.leave_one_out_ridge import LeaveOneOutRidge, kernel_traces, leave_one_out_weights
from mklearn.optimize.left_out import LeftOut
from mklearn.optimize.ridge_path import RidgePath, feature_ridge_path, ridge_path

Array = NDArray[np.floating[Any]]
ALPHAS = (1e-3, 10**-2.5, 1e-2, 10**-1.5, 1e-1, 10**-0.5, 1.0)
# Smallest ridge of the regression that the weights are learned with.
_LEAST_RIDGE = 1.0
# New samples are predicted in blocks of so many.
_BLOCK = 4096


class MultiViewRidge(KernelsMixin, BaseEstimator):
    """Base of estimators whose outputs are the mean of two ridge regressions, of equal and of learned kernel weights.

    A subclass checks its targets, begins ``fit`` with `_samples`, and calls `_fit_problem` with the targets as numbers;
    its predictions are made of `_outputs_of`. It defines `_weighing_targets`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelsMixin._parameter_constraints,
        "learned": [Interval(Real, 0, 1, closed="both")],
        "shrinkage": [Interval(Real, 0, 1, closed="both")],
        "least_agreement": [Interval(Real, 0, None, closed="left")],
        "alphas": ["array-like"],
        "weight_samples": [at_least(2)],
        "missing_views": [one_of(MissingViews)],
        "impute": [one_of(Impute)],
        "memory": [POSITIVE],
        "random_state": [at_least(0)],
        "landmarks": [None, at_least(2)],
    }

    learned: float
    shrinkage: float
    least_agreement: float
    alphas: Any
    weight_samples: int
    missing_views: MissingViews
    impute: Impute
    memory: float
    random_state: int
    landmarks: int | None
    intercept_: Array

    # --- input

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = self._is_dictionary
        return tags

    def _check_alphas(self) -> None:
        values = np.asarray(self.alphas)
        if values.ndim != 1 or not len(values) or values.dtype.kind not in "fiu":
            raise invalid(self.alphas, "alphas", "one or more positive numbers")
        for value in values:
            check_positive(float(value), "alphas")

    @property
    def _is_dictionary(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == "dictionary"

    @property
    def _has_specs(self) -> bool:
        return super()._has_specs and not self._is_dictionary

    def _samples(self, X: Any) -> tuple[Any, int]:
        """Return training kernels that are given, or checked samples, and the number of samples."""
        if self._is_precomputed:
            if self.landmarks is not None:
                raise ConfigError("landmarks choose among samples, and kernels='precomputed' are matrices: set None")
            stack = self._training_stack(X)
            self._views_of_kernels = list(stack.ids)
            return stack, stack.n_columns
        specs: Any = self.kernels
        if self._is_dictionary:
            specs = kernel_dictionary(X, missing_views=self.missing_views, impute=self.impute)
        self._transform_ = StackTransform(specs, drop_constant=self._is_dictionary)
        table = self._checked_features(X, self._transform_, reset=True)
        return table, int(table.shape[0])

    def _passes(self, samples: Any) -> KernelPasses:
        """Return the kernels among samples."""
        if isinstance(samples, KernelStack):
            return KernelPasses(samples)
        n_kernels = len(self._transform_.specs)
        if isinstance(samples, Views) and is_one_spec(self.kernels) and not self._is_dictionary:
            n_kernels *= len(samples.names)
        keep = n_kernels * int(samples.shape[0]) ** 2 * 8 <= self.memory * 2**30
        return KernelPasses(transform=self._transform_, samples=samples, keep=keep)

    # --- fit

    def _weighing_targets(self, problem: RidgeProblem) -> Array:
        """Return the targets of samples that weights are learned with, (n_used, c): the scale of each column counts."""
        raise NotImplementedError

    def _fit_problem(self, samples: Any, problem: RidgeProblem) -> None:
        """Fit to all samples, or to landmarks among them; ``_left_out`` are the left-out outputs, (n_used, c)."""
        with warnings.catch_warnings():
            if self._is_dictionary:  # of many kernels some say little; they are given no share for it
                warnings.simplefilter("ignore", IdentityLikeKernelWarning)
            if self.landmarks is None or self.landmarks >= len(problem.rows):
                self._fit_combinations(self._passes(samples), problem)
            else:
                self._fit_landmarks(samples, problem, problem.drawn(self.landmarks, self.random_state))

    def _fit_combinations(self, passes: KernelPasses, problem: RidgeProblem) -> None:
        """Fit the regressions with equal and with learned weights."""
        fits = [self._path(K, problem) for K in self._mixtures(passes, problem)]
        coefficients = np.zeros((2, problem.n, problem.targets.shape[1]))
        coefficients[:, problem.rows] = [fit.coefficients for fit in (fits[0], fits[-1])]
        self._set_fits(coefficients, fits)

    def _fit_landmarks(self, samples: Any, problem: RidgeProblem, chosen: NDArray[np.intp]) -> None:
        """Fit the regressions to the features that landmarks give: those of the kernels' Nystroem approximation."""
        rows = problem.rows[chosen]
        own = problem.of_rows(chosen)
        own = replace(own, n=len(rows), rows=np.arange(len(rows)))
        known = _rows_of(samples, rows)
        maps = [_whitening(K) for K in self._mixtures(self._passes(known), own)]
        features = [np.empty((len(problem.rows), each.shape[1])) for each in maps]
        for start in range(0, len(problem.rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            mixed = self._mixed(self._transform_.new_kernels(_rows_of(samples, problem.rows[block])), len(maps))
            for F, products, each in zip(features, mixed, maps, strict=True):
                F[block] = products @ each
        fits = [self._path(F, problem, of_features=True) for F in features]
        coefficients = [each @ fit.coefficients for each, fit in zip(maps, fits, strict=True)]
        self._set_fits(np.array([coefficients[0], coefficients[-1]]), fits)

    def _mixtures(self, passes: KernelPasses, problem: RidgeProblem) -> list[Array]:
        """Return the kernels with equal and with learned weights, once if these are the same; set all weights."""
        chosen = problem.drawn(self.weight_samples, self.random_state)
        total = np.zeros((len(problem.rows), len(problem.rows)))
        traces, parts = [], []
        for K in passes.every():
            kernel = problem.part(K)
            (trace,) = kernel_traces([kernel], problem.weights)
            traces.append(trace)
            parts.append(kernel if len(chosen) == len(kernel) else kernel[np.ix_(chosen, chosen)].astype(np.float32))
            if trace > 0:
                _add(total, 1.0 / trace, kernel)
        self._name_kernels(passes)
        scales = np.divide(1.0, traces, out=np.zeros(len(traces)), where=np.array(traces) > 0)
        if not scales.any():
            raise NotApplicable("all kernels are constant over the samples")
        kept = self._agreeing(parts, scales, problem.of_rows(chosen))
        equal = kept / kept.sum()
        learned = self._learned_shares(parts, problem.of_rows(chosen), equal)
        del parts
        self._set_weights(equal, learned, scales)
        for number, kernel in _numbered(passes, np.flatnonzero((scales > 0) & ~kept), problem):
            _add(total, -scales[number], kernel)
        total *= equal.max()
        if np.allclose(learned, equal, rtol=1e-12, atol=0):
            return [total]
        mixed = np.zeros_like(total)
        for number, kernel in _numbered(passes, np.flatnonzero(learned), problem):
            _add(mixed, (learned * scales)[number], kernel)
        return [total, mixed]

    def _agreeing(self, kernels: list[NDArray[Any]], scales: Array, problem: RidgeProblem) -> NDArray[np.bool_]:
        """Return which kernels are of views that agree with the targets; all that vary if no view does."""
        targets = self._weighing_targets(problem)
        views, varies = np.array(self._views_of_kernels), scales > 0
        self.view_agreements_: dict[str, float] = {}
        for view in dict.fromkeys(self._views_of_kernels):
            total = np.zeros((len(targets), len(targets)))
            for number in np.flatnonzero((views == view) & varies):
                _add(total, scales[number], kernels[number])
            agreement = class_agreement(total, targets, sample_weight=problem.weights, groups=problem.groups)
            self.view_agreements_[view] = agreement
        agrees = np.array([self.view_agreements_[view] >= self.least_agreement for view in self._views_of_kernels])
        return agrees & varies if (agrees & varies).any() and self.least_agreement > 0 else varies

    def _name_kernels(self, passes: KernelPasses) -> None:
        if self._is_precomputed:
            return
        self.kernel_ids_ = self._transform_.ids
        self._views_of_kernels = views_of_kernels(self._transform_.fitted_specs)
        self._dtype_ = np.dtype(np.float64)

    def _path(self, values: Array, problem: RidgeProblem, *, of_features: bool = False) -> RidgePath:
        """Fit a regression of the targets to a kernel of unit centred trace, or to features like that."""
        path = feature_ridge_path if of_features else ridge_path
        return path(values, problem.targets, self.alphas, sample_weight=problem.weights, groups=problem.groups)

    def _learned_shares(self, kernels: list[NDArray[Any]], problem: RidgeProblem, equal: Array) -> Array:
        """Return the learned shares of the kernels; equal ones if none are to be learned."""
        if self.learned == 0 or np.count_nonzero(equal) == 1:
            return equal
        targets = self._weighing_targets(problem)
        kept = np.flatnonzero(equal)
        objective = LeaveOneOutRidge(
            [kernels[number] for number in kept], targets, _LEAST_RIDGE, problem.weights, problem.groups
        )
        found = leave_one_out_weights(objective, shrinkage=self.shrinkage)
        if found.status == "uniform":
            return equal
        shares = np.zeros(len(equal))
        shares[kept] = found.shares
        return shares

    def _set_weights(self, equal: Array, learned: Array, scales: Array) -> None:
        parts, both = self._parts, np.array([equal, learned])
        self._weights_of_kernels = both * scales
        self.learned_shares_ = learned
        self.shares_ = parts @ both
        weights = self._weights_of_kernels / self._weights_of_kernels.sum(axis=1, keepdims=True)
        self.kernel_weights_ = parts @ weights
        self.view_shares_: dict[str, float] = dict.fromkeys(self._views_of_kernels, 0.0)
        for view, share in zip(self._views_of_kernels, self.shares_, strict=True):
            self.view_shares_[view] += float(share)

    @property
    def _parts(self) -> Array:
        """Parts of the outputs with equal and with learned weights."""
        return np.array([1.0 - self.learned, self.learned])

    def _set_fits(self, coefficients: Array, fits: Sequence[RidgePath]) -> None:
        """Set the mean of two regressions, of equal and of learned weights; of a single one if these are the same."""
        both = (fits[0], fits[-1])
        self.coefficients_ = self._parts[:, None, None] * coefficients
        self.alphas_ = np.array([fit.ridge for fit in both])
        self.intercept_ = self._parts @ [fit.intercept for fit in both]
        self._left_out: Array = np.tensordot(self._parts, [fit.left_out for fit in both], axes=1)

    # --- predictions

    def _outputs_of(self, X: Any) -> Array:
        """Compute the outputs of new samples, (m, c)."""
        check_is_fitted(self)
        if self._is_precomputed:
            return self._outputs(iter(self._new_stack(X)[0]))
        table = self._checked_features(X, self._transform_, reset=False)
        blocks = [self._outputs(self._transform_.new_kernels(block)) for block in _row_blocks(table)]
        return np.concatenate(blocks)

    def _outputs(self, kernels: Iterable[NDArray[Any]]) -> Array:
        products = (mixed @ A for mixed, A in zip(self._mixed(kernels, 2), self.coefficients_, strict=True))
        return np.asarray(sum(products, start=self.intercept_))

    def _mixed(self, kernels: Iterable[NDArray[Any]], count: int) -> list[Any]:
        """Return the kernels of samples with equal weights, and for two with learned weights too."""
        mixtures: list[Any] = [0.0] * count
        for weights, kernel in zip(self._weights_of_kernels.T, kernels, strict=True):
            for number, weight in enumerate(weights[:count]):
                if np.isscalar(mixtures[number]):
                    mixtures[number] = np.zeros(kernel.shape)
                if weight:
                    _add(mixtures[number], weight, kernel)
        return mixtures


@dataclass(frozen=True, eq=False)
class RidgeProblem:
    """Training samples of positive weight.

    Attributes
    ----------
    n : int
        Number of all training samples.
    rows : array of shape (n_used,)
        Positions of those of positive weight.
    targets : array of shape (n_used, c)
    weights : array of shape (n_used,), or None
    groups : array of shape (n_used,), or None
    codes : array of shape (n_used,), or None
        Classes, of each of which samples are drawn in proportion.
    """

    n: int
    rows: NDArray[np.intp]
    targets: Array
    weights: Array | None
    groups: NDArray[Any] | None
    codes: NDArray[np.intp] | None = None

    @classmethod
    def of(
        cls,
        targets: Array,
        weights: Array | None,
        groups: ArrayLike | None,
        codes: NDArray[np.intp] | None = None,
    ) -> RidgeProblem:
        n = len(targets)
        LeftOut(n, groups)  # refuses groups that do not fit
        names = None if groups is None else np.asarray(groups)
        every = cls(n, np.arange(n), targets, weights, names, codes)
        return every if weights is None or weights.all() else every.of_rows(np.flatnonzero(weights))

    def of_rows(self, rows: NDArray[np.intp]) -> RidgeProblem:
        weights = None if self.weights is None else self.weights[rows]
        groups = None if self.groups is None else self.groups[rows]
        codes = None if self.codes is None else self.codes[rows]
        return RidgeProblem(self.n, self.rows[rows], self.targets[rows], weights, groups, codes)

    def part(self, K: NDArray[Any]) -> NDArray[Any]:
        return K if len(self.rows) == self.n else K[np.ix_(self.rows, self.rows)]

    def drawn(self, most: int, seed: int) -> NDArray[np.intp]:
        """Draw positions among the rows, ascending: of each class in proportion, two or more if it has them."""
        n = len(self.rows)
        if n <= most:
            return np.arange(n)
        codes = np.zeros(n, dtype=np.intp) if self.codes is None else self.codes
        rng, found = np.random.default_rng(seed), []
        for code, count in enumerate(np.bincount(codes)):
            members = np.flatnonzero(codes == code)
            found.append(rng.permutation(members)[: min(count, max(2, round(count * most / n)))])
        return np.sort(np.concatenate(found))


def _add(total: Array, factor: float, kernel: NDArray[Any]) -> None:
    """Add a multiple of a kernel to a sum in double precision, in place."""
    for part in cached_rows(kernel):
        total[part] += factor * kernel[part].astype(np.float64, copy=False)


def _numbered(
    passes: KernelPasses, numbers: NDArray[np.intp], problem: RidgeProblem
) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the kernels at some positions with these, among the samples of a problem."""
    if len(numbers):
        for number, K in zip(numbers, passes.some(numbers), strict=True):
            yield int(number), problem.part(K)


def _whitening(K: Array) -> Array:
    """Return W, (n, q), with ``K W W' K = K``: products of k(x) and W are features of x."""
    values, vectors = eigh(K, check_finite=False)
    kept = values > len(K) * np.finfo(np.float64).eps * values[-1] * 100
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def _rows_of(table: Any, rows: Any) -> Any:
    return table[rows] if isinstance(table, Views) else select_rows(table, rows)


def _row_blocks(table: Any) -> Iterator[Any]:
    n = int(table.shape[0])
    if n <= _BLOCK:
        yield table
        return
    for start in range(0, n, _BLOCK):
        yield _rows_of(table, slice(start, start + _BLOCK))
