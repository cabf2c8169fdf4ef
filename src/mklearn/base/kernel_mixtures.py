"""Combinations of kernels with equal and with learned weights, and the regressions that use them."""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator

from mklearn.base.kernels_mixin import KernelsMixin
from mklearn.base.ridge_problem import RidgeProblem
from mklearn.base.view_completion import ViewCompletion
from mklearn.checks import cached_rows
from mklearn.errors import NotApplicable
from mklearn.kernels.dictionary import views_of_kernels
from mklearn.kernels.stack import KernelStack
from mklearn.kernels.transform import KernelPasses
from mklearn.kernels.views import Views
from mklearn.optimize.leave_one_out_ridge import LeaveOneOutRidge, kernel_traces, leave_one_out_weights
from mklearn.optimize.left_out import smaller_error
from mklearn.optimize.ridge_path import RidgePath, ridge_path
from mklearn.optimize.target_agreement import target_agreement

Array = NDArray[np.floating[Any]]
# Smallest ridge of the regression that the weights are learned with.
_LEAST_RIDGE = 1.0


class KernelMixtures(KernelsMixin, BaseEstimator):
    """The part of `mklearn.base.multi_view_ridge.MultiViewRidge` that chooses kernel weights and mixes the kernels."""

    learned: Any
    shrinkage: float
    least_agreement: float
    alphas: Any
    weight_samples: int
    n_kernels: int | None
    memory: float
    random_state: int
    view_agreements_: dict[str, Any]
    _combined: list[Mixture]
    _completes: bool
    _ridge_of_each_target = False

    @property
    def _is_dictionary(self) -> bool:
        return isinstance(self.kernels, str) and self.kernels == "dictionary"

    @property
    def _has_many(self) -> bool:
        return self._is_dictionary or self.n_kernels is not None

    @property
    def _has_specs(self) -> bool:
        return super()._has_specs and not self._is_dictionary

    @property
    def _view_numbers(self) -> NDArray[np.intp]:
        """Positions of the kernels' views; all 0 where kernels are not completed by other views."""
        if not self._completes:
            return np.zeros(len(self._views_of_kernels), dtype=np.intp)
        return numbers_of(views_of_kernels(self._transform_.specs))

    def _passes(self, samples: Any) -> KernelPasses:
        """Return the kernels among samples."""
        if isinstance(samples, KernelStack):
            return KernelPasses(samples)
        n_kernels = len(self._transform_.specs)
        if isinstance(samples, Views) and self._transform_.for_each_view:
            n_kernels *= len(samples.names)
        keep = n_kernels * int(samples.shape[0]) ** 2 * 8 <= self.memory * 2**30
        return KernelPasses(transform=self._transform_, samples=samples, keep=keep)

    def _weighing_targets(self, problem: RidgeProblem) -> Array:
        """Return the targets of samples that weights are learned with, (n_used, c): the scale of each column counts."""
        raise NotImplementedError

    def _mixtures(
        self, passes: KernelPasses, problem: RidgeProblem
    ) -> tuple[ViewCompletion | None, Iterator[tuple[Mixture, Array]]]:
        """Set all weights; return the combinations of kernels that differ, each as a kernel (n_used, n_used).

        Also return what completes them, if they are kernels of views that samples may lack. The first combination is
        then the one that views are completed by.
        """
        chosen = problem.drawn(self.weight_samples, self.random_state)
        own, sets = problem.of_rows(chosen), self._sets(problem.targets.shape[1])
        total, scales, parts, rows = self._survey(passes, problem, chosen)
        self._name_kernels()
        if not scales.any():
            raise NotApplicable("all kernels are constant over the samples")
        equal = self._equal_shares(parts, scales, own, sets)
        completion, base = None, None
        if problem.present is not None:
            used = equal.any(axis=0)
            base = used / used.sum()
            of_views = np.bincount(self._view_numbers, base).astype(np.float64)
            factors = np.where(of_views > 0, base.max(), 0.0)
            completion = ViewCompletion(rows, factors, chosen, of_views, problem.present)
            for view, part in zip(self._view_numbers, parts, strict=True):
                completion.complete(view, part, of_donors=True)
        learned = [
            self._learned_shares(*self._of_targets(parts, own, columns), shares)
            for columns, shares in zip(sets, equal, strict=True)
        ]
        del parts
        self._shares_of_halves, self._scales = np.stack([equal, learned], axis=1), scales
        halves = [half for half, only in enumerate((1.0, 0.0)) if self.learned != only]
        self._combined = _distinct(self._shares_of_halves, sets, halves, base)
        return completion, self._combinations(passes, problem, total, rows, scales, completion)

    def _survey(
        self, passes: KernelPasses, problem: RidgeProblem, chosen: NDArray[np.intp]
    ) -> tuple[Array, Array, list[NDArray[Any]], Array]:
        """Return the sum of the kernels at unit trace, their scales, their parts, and rows of the sums of views.

        The trace is that of the samples that have the view. Parts are among the chosen samples; their rows, of shape
        (n_views, n_chosen, n), are empty if views are not completed.
        """
        n, present = len(problem.rows), problem.present
        total, scales, parts = np.zeros((n, n)), [], []
        rows = np.zeros((0 if present is None else present.shape[1], len(chosen), n))
        views = itertools.repeat(None) if present is None else self._view_numbers
        for view, K in zip(views, passes.every(), strict=False):
            kernel = problem.part(K)
            (trace,) = kernel_traces([kernel], problem.weights)
            if present is not None:
                trace /= max(np.average(present[:, view], weights=problem.weights), 1e-9)
            scales.append(1.0 / trace if trace > 0 else 0.0)
            of_chosen = kernel[chosen]
            if len(chosen) < n:
                among = of_chosen.take(chosen, axis=1)
                if self._is_precomputed:  # others are centred; what centring leaves may be small beside the values
                    among -= among.mean(axis=0)
                    among -= among.mean(axis=1)[:, None]
                parts.append(among.astype(np.float32))
            else:  # completed in place
                parts.append(kernel if present is None or present[:, view].all() else kernel.copy())
            if scales[-1]:
                _add(total, scales[-1], kernel)
                if present is not None:
                    _add(rows[view], scales[-1], of_chosen)
        return total, np.array(scales), parts, rows

    def _combinations(
        self,
        passes: KernelPasses,
        problem: RidgeProblem,
        total: Array,
        rows: Array,
        scales: Array,
        completion: ViewCompletion | None,
    ) -> Iterator[tuple[Mixture, Array]]:
        """Yield combinations that are used, with their kernels, given the sum of all at unit trace and its rows."""
        complete = completion is None or not completion.incomplete
        self._rows_of_donors: list[Array] = []
        for mixture in self._combined:
            own, mixture.weights = mixture.weights, mixture.weights * scales
            if not mixture.users.any():  # what views are completed by
                assert completion is not None
                self._rows_of_donors.append(rows * completion.factors[:, None, None])
                continue
            if complete:
                # Where most kernels have one share the others are taken away from the sum of all.
                base = own.max() if np.ptp(own[own > 0]) == 0 else 0.0
                K, of_donors = total * base, rows * base
                self._add_kernels(K, of_donors, passes, (own - base) * scales, problem, completion)
            else:
                K, of_donors = np.zeros_like(total), np.zeros_like(rows)
                self._add_kernels(K, of_donors, passes, mixture.weights, problem, completion)
            self._rows_of_donors.append(of_donors)
            yield mixture, K

    def _add_kernels(
        self,
        total: Array,
        rows: Array,
        passes: KernelPasses,
        weights: Array,
        problem: RidgeProblem,
        completion: ViewCompletion | None,
    ) -> None:
        """Add the kernels with some weights to a sum, completed view by view, and to the donors' rows, in place."""
        incomplete = [] if completion is None else completion.incomplete
        for view, group in itertools.groupby(np.flatnonzero(weights), self._view_numbers.__getitem__):
            own = np.zeros_like(total) if view in incomplete else total
            for number, kernel in _numbered(passes, [int(number) for number in group], problem):
                _add(own, weights[number], kernel)
                if completion is not None:
                    _add(rows[view], weights[number], kernel[completion.donors])
            if completion is not None and view in incomplete:
                completion.complete(view, own)
                total += own

    def _sets(self, n_targets: int) -> list[NDArray[np.intp]]:
        """Return the targets that share kernel weights, as columns."""
        return [np.arange(n_targets)]

    def _of_targets(
        self, kernels: list[NDArray[Any]], problem: RidgeProblem, columns: NDArray[np.intp]
    ) -> tuple[list[NDArray[Any]], Array, RidgeProblem]:
        """Return kernels among the samples that have one of some targets, these targets, and their problem."""
        own = problem.of_targets(columns)
        if len(own.rows) < len(problem.rows):
            kept = np.searchsorted(problem.rows, own.rows)
            kernels = [kernel[np.ix_(kept, kept)] for kernel in kernels]
        return kernels, self._weighing_targets(own), own

    def _equal_shares(
        self, kernels: list[NDArray[Any]], scales: Array, problem: RidgeProblem, sets: Sequence[NDArray[np.intp]]
    ) -> Array:
        """Return equal shares of the kernels of views that agree with each set of targets, (n_sets, n_kernels)."""
        found, agreements = [], []
        for columns in sets:
            parts, targets, own = self._of_targets(kernels, problem, columns)
            agrees, agreement = self._agreeing(parts, targets, scales, own)
            found.append(agrees / agrees.sum())
            agreements.append(agreement)
        self.view_agreements_ = {view: of_sets([each[view] for each in agreements]) for view in agreements[0]}
        return np.array(found)

    def _agreeing(
        self, kernels: list[NDArray[Any]], targets: Array, scales: Array, problem: RidgeProblem
    ) -> tuple[NDArray[np.bool_], dict[str, float]]:
        """Return which kernels are used, of views that agree with the targets or all that vary, and how far they agree.

        Those that do not agree are left out if the error without them is smaller.
        """
        views, varies = np.array(self._views_of_kernels), scales > 0
        if self.n_kernels is not None:
            return varies, {}
        if problem.leaves_nothing:
            return varies, dict.fromkeys(self._views_of_kernels, 0.0)
        n, found = len(targets), dict[str, float]()
        sums = np.zeros((2, n, n))  # of views that do not agree, and of those that do
        for view in dict.fromkeys(self._views_of_kernels):
            total = np.zeros((n, n))
            for number in np.flatnonzero((views == view) & varies):
                _add(total, scales[number], kernels[number])
            found[view] = target_agreement(total, targets, sample_weight=problem.weights, groups=problem.groups)
            sums[int(found[view] >= self.least_agreement)] += total
        agrees = varies & [found[view] >= self.least_agreement for view in self._views_of_kernels]
        if self.least_agreement == 0 or not agrees.any() or (agrees == varies).all():
            return varies, found
        own, columns = replace(problem, targets=targets), np.arange(targets.shape[1])
        without, errors = (
            self._path(ridge_path, K / np.count_nonzero(used), own, columns).left_out - targets
            for K, used in ((sums[1], agrees), (sums.sum(axis=0), varies))
        )
        return (agrees if smaller_error(without, errors, problem.weights, problem.groups) else varies), found

    def _name_kernels(self) -> None:
        if self._is_precomputed:
            return
        if self.n_kernels is None:
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
        if self.learned == 0 or np.count_nonzero(equal) == 1 or problem.leaves_nothing:
            return equal
        if not np.ptp(targets, axis=0).any():
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


@dataclass(eq=False)
class Mixture:
    """A combination of kernels that some regressions use."""

    weights: Array  # (n_kernels,), of the kernels as given; while they are mixed, of kernels at unit centred trace
    users: NDArray[np.bool_]  # (2, c), whether the equal and the learned half use it, for each target

    @property
    def columns(self) -> NDArray[np.intp]:
        """The targets that it is used for."""
        return np.flatnonzero(self.users.any(axis=0))

    def of_users(self, coefficients: Array) -> Array:
        """Sum coefficients (2, n, c) over the halves that use it, (n, c)."""
        return np.asarray((coefficients * self.users[:, None]).sum(axis=0))


class RidgeFits:
    """Both halves of all outputs, gathered regression by regression; their sums are the outputs once they are weighed.

    ``problem`` is that of all samples, not of landmarks alone. Coefficients are (2, n, c), ridges and intercepts (2,
    c), left-out outputs (2, n_used, c), NaN where a target is missing.
    """

    def __init__(self, problem: RidgeProblem, n: int) -> None:
        self.problem, c = problem, problem.targets.shape[1]
        self.coefficients, self.ridges = np.zeros((2, n, c)), np.full((2, c), np.nan)
        self.intercept, self.left_out = np.zeros((2, c)), np.zeros((2, *problem.targets.shape))
        self.left_out[:, np.isnan(problem.targets)] = np.nan

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
        for half in range(2):
            own = mixture.users[half, columns]
            used = columns[own]
            self.coefficients[half][np.ix_(rows, used)] = coefficients[:, own]
            self.ridges[half, used] = path.ridge[own]
            self.intercept[half, used] = path.intercept[own]
            self.left_out[half][np.ix_(known, used)] = path.left_out[:, own]

    def weigh(self, parts: Array, sets: Sequence[NDArray[np.intp]]) -> None:
        """Multiply the halves by their parts, (n_sets, 2), in place."""
        for own, columns in zip(parts, sets, strict=True):
            self.coefficients[:, :, columns] *= own[:, None, None]
            self.intercept[:, columns] *= own[:, None]
            self.left_out[:, :, columns] *= own[:, None, None]


def _distinct(
    shares: Array, sets: Sequence[NDArray[np.intp]], halves: Sequence[int], first: Array | None = None
) -> list[Mixture]:
    """Return the combinations that differ, given shares (n_sets, 2, n_kernels), targets of sets and halves in use.

    The first one has the shares ``first``, if they are given, whether or not it is used.
    """
    n_targets = sum(map(len, sets))
    found = [] if first is None else [Mixture(first, np.zeros((2, n_targets), dtype=bool))]
    for half in halves:
        for own, columns in zip(shares[:, half], sets, strict=True):
            like = (each for each in found if np.allclose(each.weights, own, rtol=1e-12, atol=0))
            mixture = next(like, None)
            if mixture is None:
                mixture = Mixture(own, np.zeros((2, n_targets), dtype=bool))
                found.append(mixture)
            mixture.users[half, columns] = True
    return found


def of_sets(values: Any) -> Any:
    """Return values of each set of targets as an array; those of a single set by themselves."""
    return np.asarray(values) if len(values) > 1 else values[0]


def mixed_kernels(
    kernels: Iterable[NDArray[Any]], weights: Sequence[Array], views: NDArray[np.intp]
) -> Iterator[list[Array]]:
    """Yield several combinations of the kernels of each view, one kernel in memory at a time."""
    numbered = zip(views, itertools.count(), kernels)
    for _, group in itertools.groupby(numbered, operator.itemgetter(0)):
        mixtures: list[Array] = []
        for _, number, kernel in group:
            mixtures = mixtures or [np.zeros(kernel.shape) for _ in weights]
            for mixture, own in zip(mixtures, weights, strict=True):
                if own[number]:
                    _add(mixture, own[number], kernel)
        yield mixtures


def numbers_of(views: Sequence[str]) -> NDArray[np.intp]:
    """Return the positions of views among those that differ."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(views))}
    return np.array([numbers[name] for name in views])


def length(block: Any) -> int:
    return len(block[0]) if isinstance(block, KernelStack) else int(block.shape[0])


def _add(total: Array, factor: float, kernel: NDArray[Any]) -> None:
    """Add a multiple of a kernel to a sum in double precision, in place."""
    for part in cached_rows(kernel):
        total[part] += factor * kernel[part].astype(np.float64, copy=False)


def _numbered(
    passes: KernelPasses, numbers: Sequence[int], problem: RidgeProblem
) -> Iterator[tuple[int, NDArray[Any]]]:
    """Yield the kernels at some positions with these, among the samples of a problem."""
    for number, K in zip(numbers, passes.some(numbers), strict=True):
        yield number, problem.part(K)
