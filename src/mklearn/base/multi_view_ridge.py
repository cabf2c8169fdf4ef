"""Ridge regression on a dictionary of kernels of several views, half of it with learned kernel weights."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mklearn.base.kernel_passes import KernelPasses
from mklearn.base.kernels_mixin import KernelsMixin
from mklearn.base.parameters import POSITIVE, Interval, at_least, one_of
from mklearn.base.ridge_problem import RidgeProblem
from mklearn.checks import cached_rows, check_positive, invalid
from mklearn.errors import ConfigError, NotApplicable
from mklearn.kernels.completion import MissingViews
from mklearn.kernels.dictionary import kernel_dictionary, views_of_kernels
from mklearn.kernels.identity_like import IdentityLikeKernelWarning
from mklearn.kernels.imputation import Impute
from mklearn.kernels.specs import StackTransform, is_one_spec
from mklearn.kernels.stack import KernelStack
from mklearn.kernels.views import Views, select_rows
from mklearn.optimize.leave_one_out_ridge import LeaveOneOutRidge, kernel_traces, leave_one_out_weights
from mklearn.optimize.ridge_path import RidgePath, feature_ridge_path, ridge_path
from mklearn.optimize.target_agreement import target_agreement

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
    coefficients_: Array
    intercept_: Array
    view_agreements_: dict[str, Any]
    view_shares_: dict[str, Any]
    _combined: list[Mixture]
    _ridge_of_each_target = False

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
                self._fit_nystroem(samples, problem, problem.drawn(self.landmarks, self.random_state))

    def _fit_combinations(self, passes: KernelPasses, problem: RidgeProblem) -> None:
        """Fit the regressions with equal and with learned weights."""
        fits = RidgeFits(problem, problem.n, self._parts)
        for mixture, K in self._mixtures(passes, problem):
            for columns, known in problem.patterns(mixture.columns):
                own = problem if len(known) == len(problem.rows) else problem.of_rows(known)
                values = K if own is problem else K[np.ix_(known, known)]
                path = self._path(ridge_path, values, own, columns)
                fits.add(mixture, columns, known, path, problem.rows[known], path.coefficients)
        self._set_fits(fits)

    def _fit_nystroem(self, samples: Any, problem: RidgeProblem, chosen: NDArray[np.intp]) -> None:
        """Fit the regressions to the features that landmarks give: those of the kernels' Nystroem approximation."""
        rows = problem.rows[chosen]
        own = problem.of_rows(chosen)
        own = replace(own, n=len(rows), rows=np.arange(len(rows)))
        known = _rows_of(samples, rows)
        maps = [(mixture, _whitening(K)) for mixture, K in self._mixtures(self._passes(known), own)]
        fits = RidgeFits(problem, len(rows), self._parts)
        for first in range(0, len(maps), 2):  # features of all samples: of two mixtures at a time
            some = maps[first : first + 2]
            for (mixture, each), F in zip(some, self._features(samples, problem, some), strict=True):
                for columns, present in problem.patterns(mixture.columns):
                    part = problem if len(present) == len(F) else problem.of_rows(present)
                    path = self._path(feature_ridge_path, F if part is problem else F[present], part, columns)
                    fits.add(mixture, columns, present, path, np.arange(len(rows)), each @ path.coefficients)
        self._set_fits(fits)

    def _features(self, samples: Any, problem: RidgeProblem, maps: Sequence[tuple[Mixture, Array]]) -> list[Array]:
        """Return the products of mixed kernels of all samples and maps."""
        features: list[Array] = [np.empty((len(problem.rows), each.shape[1])) for _, each in maps]
        weights = [mixture.weights for mixture, _ in maps]
        for start in range(0, len(problem.rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            mixed = _mixed(self._transform_.new_kernels(_rows_of(samples, problem.rows[block])), weights)
            for F, products, (_, each) in zip(features, mixed, maps, strict=True):
                F[block] = products @ each
        return features

    def _mixtures(self, passes: KernelPasses, problem: RidgeProblem) -> Iterator[tuple[Mixture, Array]]:
        """Set all weights; yield the combinations of kernels that differ, each as a kernel (n_used, n_used)."""
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
        shares = self._shares(parts, scales, problem.of_rows(chosen))
        del parts
        self._set_weights(shares, scales)
        self._combined = _distinct(shares, self._sets(problem.targets.shape[1]), self._parts)
        for mixture in self._combined:
            own = mixture.weights
            # Where most kernels have one share the others are taken away from the sum of all.
            base = own.max() if np.ptp(own[own > 0]) == 0 else 0.0
            K = total * base
            for number, kernel in _numbered(passes, np.flatnonzero((own != base) & (scales > 0)), problem):
                _add(K, (own[number] - base) * scales[number], kernel)
            mixture.weights = own * scales
            yield mixture, K

    def _sets(self, n_targets: int) -> list[NDArray[np.intp]]:
        """Return the targets that share kernel weights, as columns."""
        return [np.arange(n_targets)]

    def _shares(self, kernels: list[NDArray[Any]], scales: Array, problem: RidgeProblem) -> Array:
        """Return equal and learned shares of the kernels for each set of targets, (n_sets, 2, n_kernels)."""
        found, agreements = [], []
        for columns in self._sets(problem.targets.shape[1]):
            own = problem.of_targets(columns)
            parts = kernels
            if len(own.rows) < len(problem.rows):
                kept = np.searchsorted(problem.rows, own.rows)
                parts = [kernel[np.ix_(kept, kept)] for kernel in kernels]
            targets = self._weighing_targets(own)
            agrees, agreement = self._agreeing(parts, targets, scales, own)
            equal = agrees / agrees.sum()
            found.append([equal, self._learned_shares(parts, targets, own, equal)])
            agreements.append(agreement)
        views = dict.fromkeys(self._views_of_kernels)
        self.view_agreements_ = {view: _of_sets([each[view] for each in agreements]) for view in views}
        return np.array(found)

    def _agreeing(
        self, kernels: list[NDArray[Any]], targets: Array, scales: Array, problem: RidgeProblem
    ) -> tuple[NDArray[np.bool_], dict[str, float]]:
        """Return which kernels are of views that agree with the targets, all that vary if none is, and how far."""
        views, varies = np.array(self._views_of_kernels), scales > 0
        found: dict[str, float] = {}
        for view in dict.fromkeys(self._views_of_kernels):
            total = np.zeros((len(targets), len(targets)))
            for number in np.flatnonzero((views == view) & varies):
                _add(total, scales[number], kernels[number])
            found[view] = target_agreement(total, targets, sample_weight=problem.weights, groups=problem.groups)
        agrees = np.array([found[view] >= self.least_agreement for view in self._views_of_kernels]) & varies
        return (agrees if agrees.any() and self.least_agreement > 0 else varies), found

    def _name_kernels(self, passes: KernelPasses) -> None:
        if self._is_precomputed:
            return
        self.kernel_ids_ = self._transform_.ids
        self._views_of_kernels = views_of_kernels(self._transform_.fitted_specs)
        self._dtype_ = np.dtype(np.float64)

    def _path(
        self, path: Callable[..., RidgePath], values: Array, problem: RidgeProblem, columns: NDArray[np.intp]
    ) -> RidgePath:
        """Fit a regression of some targets to a kernel of unit centred trace, or to features like that."""
        return path(
            values,
            problem.targets[:, columns],
            self.alphas,
            sample_weight=problem.weights,
            groups=problem.groups,
            each_target=self._ridge_of_each_target,
        )

    def _learned_shares(
        self, kernels: list[NDArray[Any]], targets: Array, problem: RidgeProblem, equal: Array
    ) -> Array:
        """Return the learned shares of the kernels; equal ones if none are to be learned."""
        if self.learned == 0 or np.count_nonzero(equal) == 1 or not np.ptp(targets, axis=0).any():
            return equal
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

    def _set_weights(self, shares: Array, scales: Array) -> None:
        """Set what is told of the weights, given the shares of all sets of targets, (n_sets, 2, n_kernels)."""
        weights = shares * scales
        weights /= weights.sum(axis=2, keepdims=True)
        self.learned_shares_ = _of_sets(shares[:, 1])
        self.shares_ = _of_sets(np.tensordot(shares, self._parts, axes=(1, 0)))
        self.kernel_weights_ = _of_sets(np.tensordot(weights, self._parts, axes=(1, 0)))
        self.view_shares_ = dict.fromkeys(self._views_of_kernels, 0.0)
        for view, share in zip(self._views_of_kernels, self.shares_.T, strict=True):
            self.view_shares_[view] = self.view_shares_[view] + share

    @property
    def _parts(self) -> Array:
        """Parts of the outputs with equal and with learned weights."""
        return np.array([1.0 - self.learned, self.learned])

    def _set_fits(self, fits: RidgeFits) -> None:
        self.coefficients_, self.alphas_, self.intercept_ = fits.coefficients, fits.ridges, fits.intercept
        self._left_out: Array = fits.left_out

    # --- predictions

    def _outputs_of(self, X: Any) -> Array:
        """Compute the outputs of new samples, (m, c)."""
        return np.concatenate([self._outputs_of_kernels(kernels) for kernels in self._blocks_of_kernels(X)])

    def _blocks_of_kernels(self, X: Any) -> Iterator[Iterable[NDArray[Any]]]:
        """Yield the kernels of blocks of new samples, in order."""
        check_is_fitted(self)
        if self._is_precomputed:
            yield iter(self._new_stack(X)[0])
            return
        table = self._checked_features(X, self._transform_, reset=False)
        for block in _row_blocks(table):
            yield self._transform_.new_kernels(block)

    def contributions(self, X: Any) -> dict[str, Array]:
        """Compute what each view adds to the outputs: their sum over views and ``intercept_`` are the outputs.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        dict of str to array of shape (m, c)
            By view, in units of the targets, of classes in those of class indicators. The mean over the training
            samples is 0 for kernels that are centred, as those of the dictionary are. A kernel that is given, or a
            product of kernels, is a view of its own.
        """
        parts = [self._contributions(kernels) for kernels in self._blocks_of_kernels(X)]
        return {view: np.concatenate([part[view] for part in parts]) for view in parts[0]}

    def _contributions(self, kernels: Iterable[NDArray[Any]]) -> dict[str, Array]:
        coefficients = [mixture.of_users(self.coefficients_) for mixture in self._combined]
        found: dict[str, Any] = dict.fromkeys(self._views_of_kernels, 0.0)
        for number, (view, kernel) in enumerate(zip(self._views_of_kernels, kernels, strict=True)):
            own = sum(each.weights[number] * A for each, A in zip(self._combined, coefficients, strict=True))
            found[view] = found[view] + kernel @ own
        return found

    def _outputs_of_kernels(self, kernels: Iterable[NDArray[Any]]) -> Array:
        mixed = _mixed(kernels, [mixture.weights for mixture in self._combined])
        outputs = np.tile(self.intercept_, (len(mixed[0]), 1))
        for K, mixture in zip(mixed, self._combined, strict=True):
            outputs[:, mixture.columns] += K @ mixture.of_users(self.coefficients_)[:, mixture.columns]
        return outputs


@dataclass(eq=False)
class Mixture:
    """A combination of kernels that some regressions use.

    Attributes
    ----------
    weights : array of shape (n_kernels,)
        Of the kernels as given; while they are mixed, of kernels at unit centred trace.
    users : bool array of shape (2, c)
        Whether it is that of the equal and that of the learned half, for each target.
    """

    weights: Array
    users: NDArray[np.bool_]

    @property
    def columns(self) -> NDArray[np.intp]:
        """The targets that it is used for."""
        return np.flatnonzero(self.users.any(axis=0))

    def of_users(self, coefficients: Array) -> Array:
        """Sum coefficients (2, n, c) over the halves that use it, (n, c)."""
        return np.asarray((coefficients * self.users[:, None]).sum(axis=0))


class RidgeFits:
    """Both halves of all outputs, gathered regression by regression, with coefficients in the parts of the halves."""

    def __init__(self, problem: RidgeProblem, n: int, parts: Array) -> None:
        c = problem.targets.shape[1]
        self.coefficients, self.ridges = np.zeros((2, n, c)), np.full((2, c), np.nan)
        self.intercept, self._parts = np.zeros(c), parts
        self.left_out = np.where(np.isnan(problem.targets), np.nan, 0.0)

    def add(
        self,
        mixture: Mixture,
        columns: NDArray[np.intp],
        known: NDArray[np.intp],
        path: RidgePath,
        rows: NDArray[np.intp],
        coefficients: Array,
    ) -> None:
        """Add a regression: of some targets, on the samples ``known``, with coefficients of ``rows``."""
        for half, part in enumerate(self._parts):
            own = mixture.users[half, columns]
            used = columns[own]
            self.coefficients[half][np.ix_(rows, used)] = part * coefficients[:, own]
            self.ridges[half, used] = path.ridge[own]
            self.intercept[used] += part * path.intercept[own]
            self.left_out[np.ix_(known, used)] += part * path.left_out[:, own]


def _distinct(shares: Array, sets: Sequence[NDArray[np.intp]], parts: Array) -> list[Mixture]:
    """Return the combinations that differ, given shares (n_sets, 2, n_kernels), targets of sets and parts of halves."""
    found: list[Mixture] = []
    n_targets = sum(map(len, sets))
    for half in np.flatnonzero(parts):
        for own, columns in zip(shares[:, half], sets, strict=True):
            like = (each for each in found if np.allclose(each.weights, own, rtol=1e-12, atol=0))
            mixture = next(like, None)
            if mixture is None:
                mixture = Mixture(own, np.zeros((2, n_targets), dtype=bool))
                found.append(mixture)
            mixture.users[half, columns] = True
    return found


def _of_sets(values: Any) -> Any:
    """Return values of each set of targets as an array; those of a single set by themselves."""
    return np.asarray(values) if len(values) > 1 else values[0]


def _mixed(kernels: Iterable[NDArray[Any]], weights: Sequence[Array]) -> list[Array]:
    """Return several combinations of kernels, of which one is in memory at a time."""
    mixtures: list[Array] = []
    for number, kernel in enumerate(kernels):
        mixtures = mixtures or [np.zeros(kernel.shape) for _ in weights]
        for mixture, own in zip(mixtures, weights, strict=True):
            if own[number]:
                _add(mixture, own[number], kernel)
    return mixtures


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
