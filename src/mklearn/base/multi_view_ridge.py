"""Ridge regression on a dictionary of kernels of several views, part of it with learned kernel weights."""

from __future__ import annotations

import itertools
import operator
import warnings
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from numbers import Real
from typing import Any, ClassVar, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.linalg import eigh
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from mklearn.base.kernel_passes import KernelPasses
from mklearn.base.kernels_mixin import KernelsMixin
from mklearn.base.parameters import POSITIVE, Interval, StrOptions, at_least, one_of
from mklearn.base.ridge_problem import RidgeProblem
from mklearn.base.view_completion import CompletedProducts, ViewCompletion, present_views
from mklearn.checks import cached_rows, check_positive, invalid, nonnegative_weights
from mklearn.errors import ConfigError, NotApplicable
from mklearn.kernels.dictionary import kernel_dictionary, views_of_kernels
from mklearn.kernels.identity_like import IdentityLikeKernelWarning
from mklearn.kernels.imputation import Impute
from mklearn.kernels.specs import StackTransform
from mklearn.kernels.stack import KernelStack
from mklearn.kernels.views import Views, repeated_rows, select_rows
from mklearn.optimize.kernel_lasso import KernelLasso, kernel_factor
from mklearn.optimize.leave_one_out_ridge import LeaveOneOutRidge, kernel_traces, leave_one_out_weights
from mklearn.optimize.left_out import smaller_error
from mklearn.optimize.ridge_path import RidgePath, feature_ridge_path, ridge_path
from mklearn.optimize.target_agreement import target_agreement

Array = NDArray[np.floating[Any]]
ALPHAS = (1e-3, 10**-2.5, 1e-2, 10**-1.5, 1e-1, 10**-0.5, 1.0)
# Smallest ridge of the regression that the weights are learned with.
_LEAST_RIDGE = 1.0
# Largest rank of a kernel while few of many are chosen; all that follows takes the kernels themselves.
_RANK_OF_CHOICE = 50
# New samples are predicted in blocks of so many.
_BLOCK = 4096
MissingViews = Literal["regression", "error"]


class SamplesWithoutViewsWarning(UserWarning):
    """Training samples lack every view."""


class RepeatedSamplesWarning(UserWarning):
    """Training samples have the same values as others in every view: errors of left-out samples are too small."""


class MultiViewRidge(KernelsMixin, BaseEstimator):
    """Base of estimators whose outputs are a mean of two ridge regressions, of equal and of learned kernel weights.

    A subclass checks its targets, begins ``fit`` with `_samples`, and calls `_fit_problem` with the targets as numbers;
    its predictions are made of `_outputs_of`. It defines `_weighing_targets` and `_chosen_part`.
    """

    _parameter_constraints: ClassVar[dict[str, Any]] = {
        **KernelsMixin._parameter_constraints,
        "learned": [StrOptions({"auto"}), Interval(Real, 0, 1, closed="both")],
        "shrinkage": [Interval(Real, 0, 1, closed="both")],
        "least_agreement": [Interval(Real, 0, None, closed="left")],
        "alphas": ["array-like"],
        "weight_samples": [at_least(2)],
        "missing_views": [one_of(MissingViews)],
        "impute": [one_of(Impute)],
        "n_kernels": [None, at_least(1)],
        "memory": [POSITIVE],
        "random_state": [at_least(0)],
        "landmarks": [None, at_least(2)],
    }

    learned: Any
    shrinkage: float
    least_agreement: float
    alphas: Any
    weight_samples: int
    missing_views: MissingViews
    impute: Impute
    n_kernels: int | None
    memory: float
    random_state: int
    landmarks: int | None
    coefficients_: Array
    intercept_: Array
    view_agreements_: dict[str, Any]
    view_shares_: dict[str, Any]
    _combined: list[Mixture]
    _products: CompletedProducts
    _completes: bool
    _few: NDArray[np.intp]
    _parts: Array  # (n_sets, 2), parts of the outputs with equal and with learned weights
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
    def _has_many(self) -> bool:
        return self._is_dictionary or self.n_kernels is not None

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
            at_mean = self.missing_views == "regression"
            specs = kernel_dictionary(X, missing_views="mean" if at_mean else "error", impute=self.impute)
        self._transform_ = StackTransform(specs, drop_constant=self._has_many)
        table = self._checked_features(X, self._transform_, reset=True)
        return table, int(table.shape[0])

    def _present(self, samples: Any) -> NDArray[np.bool_] | None:
        """Return which views samples have, (n, n_views); None where kernels are not completed by other views."""
        if not self._is_dictionary or self.missing_views == "error" or not isinstance(samples, Views):
            return None
        return present_views(samples, list(dict.fromkeys(views_of_kernels(self._transform_.specs))))

    def _unknown(self, samples: Any) -> NDArray[np.bool_]:
        """Return which samples lack every view, of those that are not used too."""
        if self._present(samples) is None:
            return np.zeros(_length(samples), dtype=bool)
        return np.asarray(~present_views(samples, samples.names).any(axis=1))

    def _known_weights(self, samples: Any, n: int, sample_weight: ArrayLike | None, groups: ArrayLike | None) -> Any:
        """Return the sample weights, with zeros for samples that lack every view: nothing is learned from them.

        Of the others, warn of those that are there twice, unless they are in one group.
        """
        unknown = self._unknown(samples)
        self._warn_of_repeats(samples, unknown, groups)
        if not unknown.any():
            return sample_weight
        warnings.warn(
            f"{np.count_nonzero(unknown)} of {n} samples lack every view: nothing is learned from them",
            SamplesWithoutViewsWarning,
            stacklevel=6,
        )
        weights = nonnegative_weights(sample_weight, n)
        return np.where(unknown, 0.0, 1.0 if weights is None else weights)

    def _warn_of_repeats(self, samples: Any, unknown: NDArray[np.bool_], groups: ArrayLike | None) -> None:
        if isinstance(samples, KernelStack):
            return
        found = {row: first for row, first in repeated_rows(samples).items() if not unknown[row]}
        if groups is not None and len(codes := np.asarray(groups)) == len(unknown):
            found = {row: first for row, first in found.items() if codes[row] != codes[first]}
        if found:
            row, first = next(iter(found.items()))
            warnings.warn(
                f"{len(found)} of {len(unknown)} samples have the values of another one in every view (the first: "
                f"positions {first} and {row}). Are they the same sample? Errors of left-out samples and "
                "cross-validation are then too small: leave them out, or give both the same group in `groups`",
                RepeatedSamplesWarning,
                stacklevel=7,
            )

    @property
    def _view_numbers(self) -> NDArray[np.intp]:
        """Positions of the kernels' views; all 0 where kernels are not completed by other views."""
        if not self._completes:
            return np.zeros(len(self._views_of_kernels), dtype=np.intp)
        return _numbers_of(views_of_kernels(self._transform_.specs))

    def _passes(self, samples: Any) -> KernelPasses:
        """Return the kernels among samples."""
        if isinstance(samples, KernelStack):
            return KernelPasses(samples)
        n_kernels = len(self._transform_.specs)
        if isinstance(samples, Views) and self._transform_.for_each_view:
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
            if self._has_many:  # of many kernels some say little; they are given no share for it
                warnings.simplefilter("ignore", IdentityLikeKernelWarning)
            n = len(problem.rows)
            chosen = problem.drawn(self.landmarks or n, self.random_state)
            if self.n_kernels is not None:
                samples = self._with_few_kernels(samples, problem, chosen)
            present = self._present(samples)
            self._completes = present is not None
            problem = replace(problem, present=None if present is None else present[problem.rows])
            if len(chosen) == n:
                self._fit_combinations(samples, problem)
            else:
                self._fit_nystroem(samples, problem, chosen)

    def _with_few_kernels(self, samples: Any, problem: RidgeProblem, chosen: NDArray[np.intp]) -> Any:
        """Choose few kernels by some of the samples; return the samples, or the chosen of kernels that are given."""
        if isinstance(samples, KernelStack):
            self._few = self._few_kernels(KernelPasses(samples), problem)
            self._every_view = self._views_of_kernels
            stack = samples.select(self._few.tolist())
            self._views_of_kernels = list(stack.ids)
            return stack
        every, known, own = self._transform_, samples, problem
        if len(chosen) < len(problem.rows):  # landmarks
            known, own = _rows_of(samples, problem.rows[chosen]), problem.alone(chosen)
        self._few = self._few_kernels(KernelPasses(transform=every, samples=known, keep=False), own)
        self.kernel_ids_, self._every_view = every.ids, views_of_kernels(every.fitted_specs)
        self._transform_ = every.of_kernels(self._few)
        return samples

    def _few_kernels(self, passes: KernelPasses, problem: RidgeProblem) -> NDArray[np.intp]:
        """Choose at most `n_kernels` kernels by the group lasso, and return their positions."""
        assert self.n_kernels is not None
        factors = [
            kernel_factor(problem.part(K), _RANK_OF_CHOICE, sample_weight=problem.weights) for K in passes.every()
        ]
        weights = np.ones(len(problem.rows)) if problem.weights is None else problem.weights
        targets = self._weighing_targets(problem)
        centred = np.sqrt(weights)[:, None] * (targets - weights @ targets / weights.sum())
        return KernelLasso(factors, centred).largest_choice(self.n_kernels).chosen

    def _fit_combinations(self, samples: Any, problem: RidgeProblem) -> None:
        """Fit the regressions with equal and with learned weights."""
        fits = RidgeFits(problem, problem.n)
        completion, mixtures = self._mixtures(self._passes(samples), problem)
        for mixture, K in mixtures:
            for columns, known in problem.patterns(mixture.columns):
                own = problem if len(known) == len(problem.rows) else problem.of_rows(known)
                values = K if own is problem else K[np.ix_(known, known)]
                path = self._path(ridge_path, values, own, columns)
                fits.add(mixture, columns, known, path, problem.rows[known], path.coefficients)
        self._set_fits(fits, problem, completion, np.arange(len(problem.rows)))

    def _fit_nystroem(self, samples: Any, problem: RidgeProblem, chosen: NDArray[np.intp]) -> None:
        """Fit the regressions to the features that landmarks give: those of the kernels' Nystroem approximation."""
        own, known = problem.alone(chosen), _rows_of(samples, problem.rows[chosen])
        completion, mixtures = self._mixtures(self._passes(known), own)
        maps = [(mixture, _whitening(K)) for mixture, K in mixtures]
        fits = RidgeFits(problem, own.n)
        for first in range(0, len(maps), 2):  # features of all samples: of two mixtures at a time
            some = maps[first : first + 2]
            features = self._features(samples, problem, some, own, completion)
            for (mixture, each), F in zip(some, features, strict=True):
                for columns, present in problem.patterns(mixture.columns):
                    part = problem if len(present) == len(F) else problem.of_rows(present)
                    path = self._path(feature_ridge_path, F if part is problem else F[present], part, columns)
                    fits.add(mixture, columns, present, path, own.rows, each @ path.coefficients)
        self._set_fits(fits, own, completion, chosen)

    def _features(
        self,
        samples: Any,
        problem: RidgeProblem,
        maps: Sequence[tuple[Mixture, Array]],
        own: RidgeProblem,
        completion: ViewCompletion | None,
    ) -> list[Array]:
        """Return the products of mixed kernels of all samples and maps, given the problem of landmarks."""
        if completion is not None and maps[0][0] is not self._combined[0]:  # what views are completed by goes first
            first = (self._combined[0], np.zeros((len(own.rows), 0)))
            return self._features(samples, problem, [first, *maps], own, completion)[1:]
        products = self._products_of(maps, own, completion)
        features: list[Array] = [np.empty((len(problem.rows), each.shape[1])) for _, each in maps]
        weights = [mixture.weights for mixture, _ in maps]
        for start in range(0, len(problem.rows), _BLOCK):
            block = slice(start, start + _BLOCK)
            of_block = self._applied(products, weights, _rows_of(samples, problem.rows[block]))
            for F, values in zip(features, of_block, strict=True):
                F[block] = values
        return features

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

    def _chosen_part(self, fits: RidgeFits, columns: NDArray[np.intp], shares: Array) -> float:
        """Return the part of the outputs that ``learned="auto"`` means, given a set of targets and shares of halves."""
        raise NotImplementedError

    @property
    def learned_(self) -> Any:
        """The part of the outputs that learned weights have."""
        return of_sets(self._parts[:, 1])

    def _set_parts(self, fits: RidgeFits) -> None:
        """Choose the parts of both halves, and set what is told of the weights."""
        shares, sets = self._shares_of_halves, self._sets(fits.problem.targets.shape[1])
        learned = [
            self._chosen_part(fits, columns, own) if self.learned == "auto" else float(self.learned)
            for columns, own in zip(sets, shares, strict=True)
        ]
        self._parts = np.array([[1.0 - part, part] for part in learned])
        fits.weigh(self._parts, sets)
        self._set_weights(shares, self._scales)
        del self._shares_of_halves, self._scales

    def _set_weights(self, shares: Array, scales: Array) -> None:
        """Set what is told of the weights, given the shares of all sets of targets, (n_sets, 2, n_kernels)."""
        weights = shares * scales
        weights /= weights.sum(axis=2, keepdims=True)
        every = self._of_every_kernel
        self.learned_shares_ = of_sets(every(shares[:, 1]))
        self.shares_ = of_sets(every(np.einsum("sh,shk->sk", self._parts, shares)))
        self.kernel_weights_ = of_sets(every(np.einsum("sh,shk->sk", self._parts, weights)))
        self.view_shares_ = dict.fromkeys(self._named_views, 0.0)
        parts = list(self.shares_.T) if len(shares) > 1 else self.shares_.tolist()
        for view, share in zip(self._named_views, parts, strict=True):
            self.view_shares_[view] = self.view_shares_[view] + share

    @property
    def _named_views(self) -> Sequence[str]:
        """The views of all kernels, chosen or not."""
        return self._views_of_kernels if self.n_kernels is None else self._every_view

    def _of_every_kernel(self, values: Array) -> Array:
        """Return values of the chosen kernels, (n_sets, n_chosen), with zeros for the others."""
        if self.n_kernels is None:
            return values
        every = np.zeros((len(values), len(self._every_view)))
        every[:, self._few] = values
        return every

    def _set_fits(
        self, fits: RidgeFits, problem: RidgeProblem, completion: ViewCompletion | None, chosen: NDArray[np.intp]
    ) -> None:
        self._set_parts(fits)
        self.coefficients_ = fits.coefficients if problem.units is None else fits.coefficients * problem.units
        self.alphas_, self.intercept_ = fits.ridges, fits.intercept.sum(axis=0)
        self._left_out: Array = fits.left_out.sum(axis=0)
        Z = [mixture.of_users(self.coefficients_)[problem.rows][:, mixture.columns] for mixture in self._combined]
        self._products = self._products_of(list(zip(self._combined, Z, strict=True)), problem, completion)
        if completion is not None:
            self._keep_donors(completion, Z, chosen[completion.donors])
        del self._rows_of_donors

    def _keep_donors(self, completion: ViewCompletion, Z: list[Array], donors: NDArray[np.intp]) -> None:
        """Keep what is needed of the donors, at these positions among the samples of positive weight."""

    def _products_of(
        self, maps: Sequence[tuple[Mixture, Array]], problem: RidgeProblem, completion: ViewCompletion | None
    ) -> CompletedProducts:
        """Return what computes products of the mixed kernels of new samples and maps."""
        products = CompletedProducts([each for _, each in maps], problem.rows, problem.n, completion)
        if completion is not None:
            products.fit(
                zip(*(self._rows_of_donors[self._combined.index(mixture)] for mixture, _ in maps), strict=True)
            )
        return products

    def _applied(self, products: CompletedProducts, weights: Sequence[Array], samples: Any) -> list[Array]:
        mixed = _mixed(self._kernels_of(samples), weights, self._view_numbers)
        return products(mixed, self._present(samples))

    def _kernels_of(self, samples: Any) -> Iterable[NDArray[Any]]:
        return samples if isinstance(samples, KernelStack) else self._transform_.new_kernels(samples)

    # --- predictions

    def _outputs_of(self, X: Any) -> Array:
        """Compute the outputs of new samples, (m, c); NaN for those that lack every view."""
        check_is_fitted(self)
        weights = [mixture.weights for mixture in self._combined]
        found = []
        for block in self._blocks(X):
            outputs = np.tile(self.intercept_, (_length(block), 1))
            for mixture, values in zip(self._combined, self._applied(self._products, weights, block), strict=True):
                outputs[:, mixture.columns] += values
            outputs[self._unknown(block)] = np.nan
            found.append(outputs)
        return np.concatenate(found)

    def _blocks(self, X: Any) -> Iterator[Any]:
        """Yield blocks of new samples in order; kernels that are given are one block."""
        check_is_fitted(self)
        if self._is_precomputed:
            stack = self._new_stack(X)[0]
            yield stack if self.n_kernels is None else stack.select(self._few.tolist())
        else:
            yield from _row_blocks(self._checked_features(X, self._transform_, reset=False))

    def clipped_values(self, X: Any) -> dict[str, tuple[int, int]]:
        """Count the values of new samples that are clipped: they lie far outside the range of the training samples.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        dict of str to (int, int)
            By view, "X" if there is one table: the number of values that are clipped, and of all values. Empty for
            kernels other than the dictionary.
        """
        if self._is_precomputed:
            return {}
        found: dict[str, tuple[int, int]] = {}
        for block in self._blocks(X):
            for view, (clipped, values) in self._transform_.n_clipped(block).items():
                name = "X" if view is None else view
                more, of = found.get(name, (0, 0))
                found[name] = more + clipped, of + values
        return found

    def contributions(self, X: Any) -> dict[str, Array]:
        """Compute what each view adds to the outputs: their sum over views and ``intercept_`` are the outputs.

        Parameters
        ----------
        X : as for ``predict``

        Returns
        -------
        dict of str to array of shape (m, c)
            By view, in units of the targets, of classes in those of class indicators. Without
            landmarks, and if no sample lacks a view, the mean over the training samples is 0 for kernels that are
            centred, as those of the dictionary are. A kernel that is given, or a product of kernels, is a view of its
            own. NaN for samples that lack every view.
        """
        parts = [self._contributions(block) for block in self._blocks(X)]
        return {view: np.concatenate([part[view] for part in parts]) for view in parts[0]}

    def _contributions(self, block: Any) -> dict[str, Array]:
        shape = _length(block), len(self.intercept_)
        found: dict[str, Array] = {view: np.zeros(shape) for view in dict.fromkeys(self._named_views)}
        views = [view for view, _ in itertools.groupby(self._views_of_kernels)]  # kernels of a view may stand apart
        numbers, weights = _numbers_of(self._views_of_kernels), [mixture.weights for mixture in self._combined]
        mixed = _mixed(self._kernels_of(block), weights, numbers)
        for number, products in self._products.by_view(mixed, self._present(block)):
            for mixture, values in zip(self._combined, products, strict=True):
                found[views[number]][:, mixture.columns] += values
        for values in found.values():
            values[self._unknown(block)] = np.nan
        return found


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


def _mixed(kernels: Iterable[NDArray[Any]], weights: Sequence[Array], views: NDArray[np.intp]) -> Iterator[list[Array]]:
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


def _numbers_of(views: Sequence[str]) -> NDArray[np.intp]:
    """Return the positions of views among those that differ."""
    numbers = {name: number for number, name in enumerate(dict.fromkeys(views))}
    return np.array([numbers[name] for name in views])


def _length(block: Any) -> int:
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
