"""Mixtures of kernels, and ridge regressions on these mixtures whose weighted mean is a prediction."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from mklearn.base.kernel_source import KernelPasses, KernelSource
from mklearn.base.ridge_problem import RidgeProblem
from mklearn.base.view_completion import ViewCompletion, add_kernel
from mklearn.errors import NotApplicable
from mklearn.optimize.kernel_lasso import KernelLasso, kernel_factor
from mklearn.optimize.leave_one_out_ridge import LeaveOneOutRidge, kernel_traces, leave_one_out_weights
from mklearn.optimize.left_out import smaller_error
from mklearn.optimize.stacking import stacking_weights
from mklearn.optimize.targets import target_agreement

Array = NDArray[np.floating[Any]]
Mask = NDArray[np.bool_]
# Smallest ridge of the regression that learns the kernel weights.
_LEAST_RIDGE = 1.0
# Largest rank of the approximate kernels from which a few are chosen; later steps use the exact kernels.
_RANK_OF_CHOICE = 50
# Largest number of views with families of kernels of their own.
_MOST_VIEWS = 10
# Weight below which a part is left out.
_NO_WEIGHT = 0.01


@dataclass(eq=False)
class Mixture:
    """Weighted sum of kernels that one or more regressions use."""

    shares: Array  # (n_kernels,), weights of the kernels at unit centred trace
    users: list[int]  # parts that use it
    weights: Array = field(init=False)  # (n_kernels,), weights of the unscaled kernels
    donor_rows: Array = field(init=False)  # (n_views, n_donors, n), donors' rows of the sum of each view's kernels
    of_variance: Array = field(init=False)  # (n, 1), coefficients for the variance


def distinct_mixtures(weights: Array, shares: Array, first: Array | None) -> list[Mixture]:
    """Return the distinct mixtures of the parts of positive weight, given weights (n_parts,) and kernel shares.

    If ``first`` is given, the first mixture has these shares, even if no part uses it.
    """
    mixtures = [] if first is None else [Mixture(first, [])]
    for part in np.flatnonzero(weights):
        like = (each for each in mixtures if np.allclose(each.shares, shares[part], rtol=1e-12, atol=0))
        if (mixture := next(like, None)) is None:
            mixture = Mixture(shares[part], [])
            mixtures.append(mixture)
        mixture.users.append(int(part))
    return mixtures


class KernelMixer:
    """Mixer of the kernels among the samples of a problem, scaled to unit centred trace.

    The trace is computed over the samples that have the kernel's view.
    """

    chosen: NDArray[np.intp]  # (n_chosen,), positions of the samples from which weights are learned and views completed
    scales: Array  # (n_kernels,), inverse traces; 0 for kernels that are constant over the samples
    parts: list[NDArray[Any]]  # unscaled kernels among the chosen samples, (n_chosen, n_chosen) each
    completion: ViewCompletion | None = None
    base_shares: Array | None = None  # (n_kernels,), shares of the kernels in the sum that completes views
    # Positions of the landmarks among all samples of positive weight; None if the samples are not landmarks.
    landmarks: NDArray[np.intp] | None = None

    def __init__(
        self, passes: KernelPasses, source: KernelSource, problem: RidgeProblem, chosen: NDArray[np.intp],
        dtype: type = np.float32,
    ) -> None:  # fmt: skip
        """Read all kernels once; store parts as ``dtype`` if fewer samples than the problem has are chosen.

        Raises `NotApplicable` if all kernels are constant over the samples.
        """
        self.chosen, self._passes, self.problem = chosen, passes, problem
        n, present = len(problem.rows), problem.present
        self._total, self.parts, scales = np.zeros((n, n)), list[NDArray[Any]](), list[float]()
        # rows of the chosen samples in the sum of each view's kernels; empty if views are not completed
        self._rows = np.zeros((0 if present is None else present.shape[1], len(chosen), n))
        views = itertools.repeat(None) if present is None else source.view_numbers
        for view, K in zip(views, passes.every(), strict=False):
            kernel = problem.part(K)
            (trace,) = kernel_traces([kernel], problem.weights, len(scales))
            if present is not None:
                trace /= max(np.average(present[:, view], weights=problem.weights), 1e-9)
            scales.append(1.0 / trace if trace > 0 else 0.0)
            rows = kernel[chosen]
            if len(chosen) < n:
                among = rows.take(chosen, axis=1)
                if not source.is_centred:  # the centred values may be much smaller than the values
                    among -= among.mean(axis=0)
                    among -= among.mean(axis=1)[:, None]
                self.parts.append(among.astype(dtype))
            else:  # copied if it is completed in place later
                self.parts.append(kernel if present is None or present[:, view].all() else kernel.copy())
            if scales[-1]:
                add_kernel(self._total, scales[-1], kernel)
                if present is not None:
                    add_kernel(self._rows[view], scales[-1], rows)
        self.scales, self.view_numbers = np.array(scales), source.view_numbers
        if not self.scales.any():
            raise NotApplicable("all kernels are constant over the samples")

    def complete(self, used: Mask) -> None:
        """Complete the parts for samples that lack views, from the sum of the used kernels with equal shares."""
        if self.problem.present is None:
            return
        self.base_shares = base = used / used.sum()
        of_views = np.bincount(self.view_numbers, base).astype(np.float64)
        factors = np.where(of_views > 0, base.max(), 0.0)
        self.completion = ViewCompletion(self._rows, factors, self.chosen, of_views, self.problem.present)
        for view, part in zip(self.view_numbers, self.parts, strict=True):
            self.completion.complete(view, part, of_donors=True)

    def mix(self, mixtures: Sequence[Mixture]) -> Iterator[tuple[Mixture, Array]]:
        """Yield each mixture in use with its kernel, (n, n); set the weights and donor rows of all mixtures."""
        self.parts = []
        for mixture in mixtures:
            own, mixture.weights = mixture.shares, mixture.shares * self.scales
            if not mixture.users:  # the mixture only completes views
                assert self.completion is not None
                mixture.donor_rows = self._rows * self.completion.factors[:, None, None]
                continue
            complete = self.completion is None or not self.completion.incomplete
            # If most kernels share one weight and the others have none, subtract the others from the sum of all.
            base = own.max() if complete and np.ptp(own[own > 0]) == 0 and 2 * np.count_nonzero(own) > len(own) else 0.0
            K, mixture.donor_rows = self._total * base, self._rows * base
            self._add_kernels(K, mixture.donor_rows, (own - base) * self.scales)
            yield mixture, K

    def _add_kernels(self, total: Array, rows: Array, weights: Array) -> None:
        """Add weighted kernels, completed view by view, to `total`, and to the donors' `rows`, in place."""
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
    """Choose at most `most` kernels by the group lasso with targets (n_used, c); return their positions."""
    factors = [kernel_factor(problem.part(K), _RANK_OF_CHOICE, sample_weight=problem.weights) for K in passes.every()]
    weights = np.ones(len(problem.rows)) if problem.weights is None else problem.weights
    centred = np.sqrt(weights)[:, None] * (targets - weights @ targets / weights.sum())
    return KernelLasso(factors, centred).largest_choice(most).chosen


def agreeing_kernels(
    kernels: list[NDArray[Any]], scales: Array, views: Sequence[str], problem: RidgeProblem, least: float,
    ridges: Any,
) -> tuple[Mask, dict[str, float]]:  # fmt: skip
    """Return a mask of the kernels of views that agree with the targets, and the agreement of each view.

    Views with an agreement below ``least`` are weak and left out if this reduces the left-out error. The 1, 2, 4, ...
    most agreeing weak ones are kept where the error is smaller with them. Otherwise all kernels that vary are used.
    ``scales``, (n_kernels,), scale the kernels to unit trace and are 0 for constant kernels.
    """
    varies, names = scales > 0, np.array(views)
    if problem.leaves_nothing:
        return varies, dict.fromkeys(views, 0.0)

    def add(total: Array, view: str) -> Array:
        for number in np.flatnonzero((names == view) & varies):
            add_kernel(total, scales[number], kernels[number])
        return total

    shape, weights, groups = kernels[0].shape, problem.weights, problem.groups
    agreements = {
        view: target_agreement(add(np.zeros(shape), view), problem.targets, sample_weight=weights, groups=groups)
        for view in dict.fromkeys(views)
    }
    ranked = sorted(agreements, key=lambda view: -agreements[view])
    n_strong = sum(agreements[view] >= least for view in ranked)
    if least == 0 or n_strong in (0, len(ranked)):
        return varies, agreements
    doubled = [n_strong + 2**power for power in range(len(ranked)) if n_strong + 2**power < len(ranked)]
    total, used, errors = np.zeros(shape), list[Mask](), list[Array]()
    for first, last in itertools.pairwise([0, n_strong, *doubled, len(ranked)]):
        for view in ranked[first:last]:
            add(total, view)
        used.append(varies & np.isin(names, ranked[:last]))
        path = problem.path(total / int(used[-1].sum()), ridges)
        errors.append(path.left_out - problem.targets)
    best = 0
    for candidate in range(1, len(errors) - 1):
        if smaller_error(errors[candidate], errors[best], weights, groups):
            best = candidate
    return (used[best] if smaller_error(errors[best], errors[-1], weights, groups) else varies), agreements


def learned_shares(kernels: list[NDArray[Any]], problem: RidgeProblem, equal: Array, shrinkage: float) -> Array:
    """Learn the shares that minimise the leave-one-out error of the targets, for kernels with nonzero equal shares.

    Returns the equal shares if none can be learned.
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


def kernel_families(
    specs: Sequence[Mapping[str, Any]], views: Sequence[str], used: Mask, agreements: Mapping[str, float], least: float
) -> dict[str, Mask]:
    """Return the distinct families of kernels by name, as masks of shape (n_kernels,).

    Families are formed from the ``used`` kernels; the set of all of them is not a family. ``views`` holds the view of
    each kernel; the spec of a precomputed kernel has no kind. The ten views that agree most with the target, by
    ``agreements``, have their own families if the largest agreement is at least ``least``; without agreements, the
    first ten have.
    """
    by_agreement = sorted(dict.fromkeys(views), key=lambda view: -agreements.get(view, 0.0))
    alone = by_agreement[:_MOST_VIEWS] if not agreements or max(agreements.values()) >= least else []
    kinds = [str(spec.get("kind", "kernel")) for spec in specs]
    forms = [
        ", ".join(dict.fromkeys([kind, *(str(spec[key]) for key in ("measure", "feature_scaling") if key in spec)]))
        for kind, spec in zip(kinds, specs, strict=True)
    ]
    of_views = [f"{kind} of {view}" if view in alone else "" for kind, view in zip(kinds, views, strict=True)]
    families, distinct = dict[str, Mask](), {used.tobytes()}
    for names in (kinds, forms, of_views):
        for name in dict.fromkeys(names):
            family = used & [each == name for each in names]
            if name and family.any() and family.tobytes() not in distinct:
                distinct.add(family.tobytes())
                families[name] = family
    return families


def stacked(
    parts: dict[str, tuple[float, Array]], kernels: list[NDArray[Any]], scales: Array, problem: RidgeProblem,
    ridges: Any, precision: float,
) -> dict[str, tuple[float, Array]]:  # fmt: skip
    """Replace the prior weights of parts by stacking weights, and drop parts whose prior and new weights are both 0.

    ``kernels`` are matrices among the samples of the problem, and ``scales``, (n_kernels,), scale them to unit trace.
    """
    if problem.leaves_nothing or not np.ptp(problem.targets, axis=0).any():
        return {name: part for name, part in parts.items() if part[0]}
    left_out = []
    for _, shares in parts.values():
        total = np.zeros(kernels[0].shape)
        for number in np.flatnonzero(shares):
            add_kernel(total, shares[number] * scales[number], kernels[number])
        left_out.append(problem.path(total, ridges).left_out)
    n_learned = dict.fromkeys(parts, 0)
    if not np.array_equal(parts["equal"][1], parts["learned"][1]):
        n_learned["learned"] = int(np.count_nonzero(parts["learned"][1])) - 1
    prior = np.array([weight for weight, _ in parts.values()])
    weights = stacking_weights(
        np.array(left_out), problem.targets, prior, list(n_learned.values()),
        sample_weight=problem.weights, groups=problem.groups, precision=precision,
    )  # fmt: skip
    weights = np.where(weights < _NO_WEIGHT, 0.0, weights)
    chosen = zip(parts.items(), weights / weights.sum(), strict=True)
    return {name: (float(weight), shares) for (name, (was, shares)), weight in chosen if weight or was}


# --- regressions


class RidgeFits:
    """Ridge regressions whose weighted mean is the prediction: the parts, each with its weight and kernel shares.

    ``problem`` holds all samples; the kernels of ``mixer`` are among the same samples, or among landmarks of them.
    Coefficients and outputs are times the weights of the parts, so that their sum is the fit; coefficients are in the
    units of the targets. For numbers, ``variance``, (n_used, 1), is the mean of `RidgePath.variance` over parts and
    targets for left-out samples.
    """

    def __init__(self, problem: RidgeProblem, mixer: KernelMixer, parts: dict[str, tuple[float, Array]]) -> None:
        self.problem, self.mixer, self.names = problem, mixer, tuple(parts)
        self.weights, self.shares = map(np.array, zip(*parts.values(), strict=True))  # (n_parts,), (n_parts, n_kernels)
        self.mixtures = distinct_mixtures(self.weights, self.shares, mixer.base_shares)
        n_parts, c = len(parts), problem.targets.shape[1]
        self.coefficients, self.ridges = np.zeros((n_parts, mixer.problem.n, c)), np.full((n_parts, c), np.nan)
        self.intercept, self.left_out = np.zeros((n_parts, c)), np.zeros((n_parts, *problem.targets.shape))
        self.variance, self.variance_intercept = np.zeros((len(problem.rows), 1)), 0.0
        for mixture in self.mixtures:
            mixture.of_variance = np.zeros((mixer.problem.n, 1))

    def fit(self, mixture: Mixture, values: Array, W: Array | None, ridges: Any) -> None:
        """Fit the regressions on a mixture: on its kernel, (n, n), or with W, (n, q), on its features."""

        def of_samples(coefficients: Array) -> Array:
            return coefficients if W is None else W @ coefficients

        rows, units, weights = self.mixer.problem.rows, self.problem.units, self.weights
        path = self.problem.path(values, ridges, W is not None, self.problem.each_target)
        for part in mixture.users:
            coefficients = of_samples(path.coefficients) * weights[part]
            self.coefficients[part][rows] = coefficients * (1.0 if units is None else units)
            self.ridges[part] = path.ridge
            self.intercept[part] = path.intercept * weights[part]
            self.left_out[part] = path.left_out * weights[part]
        if (variance := path.variance) is not None:
            share = weights[mixture.users].sum()
            mixture.of_variance[rows] += share * of_samples(variance.coefficients)
            self.variance_intercept += share * float(variance.intercept[0])
            self.variance += share * variance.left_out

    def of_mixture(self, mixture: Mixture) -> Array:
        """Return the coefficients of a mixture, (n_used, c), summed over the parts."""
        return np.asarray(self.coefficients[mixture.users].sum(axis=0)[self.mixer.problem.rows])


def whitening(K: Array) -> Array:
    """Compute W, (n, q), with ``K W W' K = K``: the products k(x)'W are features of x."""
    values, vectors = eigh(K, check_finite=False)
    kept = values > len(K) * np.finfo(np.float64).eps * values[-1] * 100
    return np.asarray(vectors[:, kept] / np.sqrt(values[kept]))
