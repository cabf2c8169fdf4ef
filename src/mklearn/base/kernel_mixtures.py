"""Mixtures of kernels with equal and with learned weights, and the ridge regressions on them: functions of arrays."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from mklearn.base.kernel_source import KernelSource
from mklearn.base.ridge_problem import RidgeProblem
from mklearn.base.view_completion import ViewCompletion, add_kernel
from mklearn.errors import NotApplicable
from mklearn.kernels.transform import KernelPasses
from mklearn.optimize.kernel_lasso import KernelLasso, kernel_factor
from mklearn.optimize.leave_one_out_ridge import LeaveOneOutRidge, kernel_traces, leave_one_out_weights
from mklearn.optimize.left_out import smaller_error
from mklearn.optimize.target_agreement import target_agreement

Array = NDArray[np.floating[Any]]
# Smallest ridge of the regression that the weights are learned with.
_LEAST_RIDGE = 1.0
# Largest rank of a kernel while few of many are chosen; all that follows takes the kernels themselves.
_RANK_OF_CHOICE = 50


@dataclass(eq=False)
class Mixture:
    """Combination of kernels that some regressions use."""

    shares: Array  # (n_kernels,), weights of the kernels at unit centred trace
    users: NDArray[np.bool_]  # (2, c), whether the equal and the learned half use it, for each target
    weights: Array = field(init=False)  # (n_kernels,), of the kernels as they are
    donor_rows: Array = field(init=False)  # (n_views, n_donors, n), its kernels by view

    @property
    def columns(self) -> NDArray[np.intp]:
        """Targets that it is used for."""
        return np.flatnonzero(self.users.any(axis=0))


def distinct_mixtures(
    shares: Array, sets: Sequence[NDArray[np.intp]], halves: Sequence[int], first: Array | None
) -> list[Mixture]:
    """Return the mixtures that differ, for shares (n_sets, 2, n_kernels), targets of sets and halves in use.

    The first mixture has the shares ``first``, unless None, even if no regression uses it.
    """
    n_targets = sum(map(len, sets))
    mixtures = [] if first is None else [Mixture(first, np.zeros((2, n_targets), dtype=bool))]
    for half in halves:
        for own, columns in zip(shares[:, half], sets, strict=True):
            like = (each for each in mixtures if np.allclose(each.shares, own, rtol=1e-12, atol=0))
            if (mixture := next(like, None)) is None:
                mixture = Mixture(own, np.zeros((2, n_targets), dtype=bool))
                mixtures.append(mixture)
            mixture.users[half, columns] = True
    return mixtures


class KernelMixer:
    """Kernels among the samples of a problem at unit centred trace: their sum, parts for learning weights, mixtures.

    The trace is over the samples that have the kernel's view.

    Attributes
    ----------
    chosen : (n_chosen,) int array
        Samples that weights are learned from, and that complete the views of others.
    scales : (n_kernels,) array
        One over the trace; 0 for kernels that are constant over the samples.
    parts : list of (n_chosen, n_chosen) arrays
        Kernels among the chosen samples, not scaled.
    completion : ViewCompletion or None
    base_shares : (n_kernels,) array or None
        Shares of the kernels in the sum that completes views.
    landmarks : int array or None
        Positions of the samples among all samples of positive weight, if they are landmarks.
    """

    completion: ViewCompletion | None = None
    base_shares: Array | None = None
    landmarks: NDArray[np.intp] | None = None

    def __init__(
        self, passes: KernelPasses, source: KernelSource, problem: RidgeProblem, chosen: NDArray[np.intp]
    ) -> None:
        """Read all kernels once.

        Raises
        ------
        NotApplicable
            All kernels are constant over the samples.
        """
        self.chosen, self._passes, self.problem = chosen, passes, problem
        n, present = len(problem.rows), problem.present
        self._total, self.parts, scales = np.zeros((n, n)), list[NDArray[Any]](), []
        # rows of the chosen samples in each view's sum; empty if views are not completed
        self._rows = np.zeros((0 if present is None else present.shape[1], len(chosen), n))
        views = itertools.repeat(None) if present is None else source.view_numbers
        for view, K in zip(views, passes.every(), strict=False):
            kernel = problem.part(K)
            (trace,) = kernel_traces([kernel], problem.weights)
            if present is not None:
                trace /= max(np.average(present[:, view], weights=problem.weights), 1e-9)
            scales.append(1.0 / trace if trace > 0 else 0.0)
            rows = kernel[chosen]
            if len(chosen) < n:
                among = rows.take(chosen, axis=1)
                if not source.is_centred:  # what centring leaves may be small beside the values
                    among -= among.mean(axis=0)
                    among -= among.mean(axis=1)[:, None]
                self.parts.append(among.astype(np.float32))
            else:  # completed in place
                self.parts.append(kernel if present is None or present[:, view].all() else kernel.copy())
            if scales[-1]:
                add_kernel(self._total, scales[-1], kernel)
                if present is not None:
                    add_kernel(self._rows[view], scales[-1], rows)
        self.scales, self.view_numbers = np.array(scales), source.view_numbers
        if not self.scales.any():
            raise NotApplicable("all kernels are constant over the samples")

    def complete(self, used: NDArray[np.bool_]) -> None:
        """Complete the parts of samples that lack views, by the sum of the kernels that are used at equal shares."""
        if self.problem.present is None:
            return
        self.base_shares = base = used / used.sum()
        of_views = np.bincount(self.view_numbers, base).astype(np.float64)
        factors = np.where(of_views > 0, base.max(), 0.0)
        self.completion = ViewCompletion(self._rows, factors, self.chosen, of_views, self.problem.present)
        for view, part in zip(self.view_numbers, self.parts, strict=True):
            self.completion.complete(view, part, of_donors=True)

    def mix(self, mixtures: Sequence[Mixture]) -> Iterator[tuple[Mixture, Array]]:
        """Yield the mixtures that are used with their kernels, (n, n); set the weights and donor rows of all."""
        self.parts = []
        for mixture in mixtures:
            own, mixture.weights = mixture.shares, mixture.shares * self.scales
            if not mixture.users.any():  # it only completes views
                assert self.completion is not None
                mixture.donor_rows = self._rows * self.completion.factors[:, None, None]
                continue
            complete = self.completion is None or not self.completion.incomplete
            # Where most kernels have one share the others are taken away from the sum of all.
            base = own.max() if complete and np.ptp(own[own > 0]) == 0 else 0.0
            K, mixture.donor_rows = self._total * base, self._rows * base
            self._add_kernels(K, mixture.donor_rows, (own - base) * self.scales)
            yield mixture, K

    def _add_kernels(self, total: Array, rows: Array, weights: Array) -> None:
        """Add weighted kernels to a sum, completed view by view, and to the donors' rows, in place."""
        incomplete = [] if self.completion is None else self.completion.incomplete
        for view, group in itertools.groupby(np.flatnonzero(weights), self.view_numbers.__getitem__):
            own, numbers = np.zeros_like(total) if view in incomplete else total, [int(each) for each in group]
            for number, K in zip(numbers, self._passes.some(numbers), strict=True):
                kernel = self.problem.part(K)
                add_kernel(own, weights[number], kernel)
                if self.completion is not None:
                    add_kernel(rows[view], weights[number], kernel[self.chosen])
            if self.completion is not None and view in incomplete:
                self.completion.complete(view, own)
                total += own


# --- kernel weights


def few_kernels(passes: KernelPasses, problem: RidgeProblem, targets: Array, most: int) -> NDArray[np.intp]:
    """Choose at most so many kernels by the group lasso of targets (n_used, c); return their positions."""
    factors = [kernel_factor(problem.part(K), _RANK_OF_CHOICE, sample_weight=problem.weights) for K in passes.every()]
    weights = np.ones(len(problem.rows)) if problem.weights is None else problem.weights
    centred = np.sqrt(weights)[:, None] * (targets - weights @ targets / weights.sum())
    return KernelLasso(factors, centred).largest_choice(most).chosen


def agreeing_kernels(
    kernels: list[NDArray[Any]], scales: Array, views: Sequence[str], problem: RidgeProblem, least: float,
    ridges: Any, each_target: bool,
) -> tuple[NDArray[np.bool_], dict[str, float]]:  # fmt: skip
    """Find kernels of views that agree with the problem's targets, and how far each view agrees.

    Views that agree less than ``least`` are left out if the left-out error is smaller without them; otherwise all
    kernels that vary are used. ``scales``, (n_kernels,), bring the kernels to unit trace, 0 for constant ones.
    """
    varies, names = scales > 0, np.array(views)
    if problem.leaves_nothing:
        return varies, dict.fromkeys(views, 0.0)
    n, targets, agreements = len(problem.targets), problem.targets, dict[str, float]()
    sums = np.zeros((2, n, n))  # kernels of views that do not agree, and that do
    for view in dict.fromkeys(views):
        total = np.zeros((n, n))
        for number in np.flatnonzero((names == view) & varies):
            add_kernel(total, scales[number], kernels[number])
        agreements[view] = target_agreement(total, targets, sample_weight=problem.weights, groups=problem.groups)
        sums[int(agreements[view] >= least)] += total
    agrees = varies & [agreements[view] >= least for view in views]
    if least == 0 or not agrees.any() or (agrees == varies).all():
        return varies, agreements
    without, errors = (
        problem.path(K / np.count_nonzero(used), ridges, each_target).left_out - targets
        for K, used in ((sums[1], agrees), (sums.sum(axis=0), varies))
    )
    return (agrees if smaller_error(without, errors, problem.weights, problem.groups) else varies), agreements


def learned_shares(kernels: list[NDArray[Any]], problem: RidgeProblem, equal: Array, shrinkage: float) -> Array:
    """Learn the shares of the kernels that have equal ones, by the leave-one-out error of the problem's targets.

    Returns equal shares where none can be learned.
    """
    kept = np.flatnonzero(equal)
    if len(kept) == 1 or problem.leaves_nothing or not np.ptp(problem.targets, axis=0).any():
        return equal
    objective = LeaveOneOutRidge(
        [kernels[number] for number in kept], problem.targets, _LEAST_RIDGE, problem.weights, problem.groups
    )
    learned = leave_one_out_weights(objective, shrinkage=shrinkage)
    if learned.status == "uniform":
        return equal
    shares = np.zeros(len(equal))
    shares[kept] = learned.shares
    return shares


# --- regressions


class RidgeFits:
    """Both halves of all outputs, gathered regression by regression; their sums are the outputs once they are weighed.

    ``problem`` holds all samples; the kernels of ``mixer`` are of the same samples, or of landmarks among them.
    """

    def __init__(self, problem: RidgeProblem, mixer: KernelMixer, mixtures: list[Mixture]) -> None:
        self.problem, self.mixer, self.mixtures, c = problem, mixer, mixtures, problem.targets.shape[1]
        self.coefficients, self.ridges = np.zeros((2, mixer.problem.n, c)), np.full((2, c), np.nan)
        self.intercept, self.left_out = np.zeros((2, c)), np.zeros((2, *problem.targets.shape))
        self.left_out[:, np.isnan(problem.targets)] = np.nan  # where a target is missing

    def fit(self, mixture: Mixture, values: Array, W: Array | None, ridges: Any, each_target: bool) -> None:
        """Fit the regressions on a mixture: on its kernel, (n, n), or on features, its products with W, (n, q)."""
        base = self.mixer.problem
        for columns, known in self.problem.patterns(mixture.columns):
            own, design = self.problem, values
            if len(known) < len(own.rows):
                own, design = own.of_rows(known), values[known] if W is not None else values[np.ix_(known, known)]
            path = replace(own, targets=own.targets[:, columns]).path(design, ridges, each_target, W is not None)
            rows, coefficients = (own.rows, path.coefficients) if W is None else (base.rows, W @ path.coefficients)
            for half in range(2):
                uses = mixture.users[half, columns]
                used = columns[uses]
                self.coefficients[half][np.ix_(rows, used)] = coefficients[:, uses]
                self.ridges[half, used] = path.ridge[uses]
                self.intercept[half, used] = path.intercept[uses]
                self.left_out[half][np.ix_(known, used)] = path.left_out[:, uses]

    def weigh(self, parts: Array, sets: Sequence[NDArray[np.intp]]) -> None:
        """Multiply the halves by their parts, (n_sets, 2), in place; coefficients by the targets' units, too."""
        for own, columns in zip(parts, sets, strict=True):
            for values in (self.coefficients, self.intercept[:, None], self.left_out):
                values[:, :, columns] *= own[:, None, None]
        if self.problem.units is not None:
            self.coefficients *= self.problem.units

    def of_mixture(self, mixture: Mixture) -> Array:
        """Return the coefficients of the used samples and targets, (n_used, n_columns), summed over the halves."""
        summed = (self.coefficients * mixture.users[:, None]).sum(axis=0)
        return np.asarray(summed[self.mixer.problem.rows][:, mixture.columns])


def whitening(K: Array) -> Array:
    """Return W, (n, q), with ``K W W' K = K``: products of k(x) and W are features of x."""
    values, vectors = eigh(K, check_finite=False)
    kept = values > len(K) * np.finfo(np.float64).eps * values[-1] * 100
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))


def of_sets(values: Any) -> Any:
    """Return values of each set of targets as an array; the value of a single set by itself."""
    return np.asarray(values) if len(values) > 1 else values[0]
