"""Contributions of views to predictions, stability of kernel weights, and selection frequencies of kernels.

Kernel weights are not contributions: redundant views share a weight in any proportion, and a kernel of small scale
needs a large one.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist
from sklearn.base import clone, is_regressor
from sklearn.model_selection import check_cv, cross_validate

from mklearn.base.fit_context import aligned
from mklearn.base.folds import default_splitter
from mklearn.base.statistics import Difference, paired_sample_difference, success_values
from mklearn.checks import check_integer, checked_labels, invalid
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.graphs import class_structure
from mklearn.kernels.transform import KernelsOfSpecs, StackTransform
from mklearn.kernels.views import Views, as_views
from mklearn.optimize.kernel_lasso import KernelLasso, kernel_factor
from mklearn.optimize.leave_one_out_ridge import class_targets
from mklearn.optimize.left_out import group_codes

__all__ = [
    "SelectionFrequencies",
    "ViewContribution",
    "WeightStability",
    "kernel_weights_over_splits",
    "stability_selection",
    "view_contributions",
    "weight_stability",
]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class ViewContribution:
    """Contribution of one view, measured on samples that the method was not fitted to."""

    view: str
    permuted: Difference
    """Loss of accuracy (R^2 of a regressor) when test samples get this view from other test samples: how much the
    fitted method uses the view."""
    left_out: Difference
    """Loss when the method is fitted without this view: how much the other views can't replace it. Two redundant views
    have about 0 here, and a fitted method may use both."""


@aligned
def view_contributions(
    estimator: Any, X: Any, y: ArrayLike, *, cv: Any = None, groups: ArrayLike | None = None,
    n_permutations: int = 5, random_state: int = 0,
) -> tuple[ViewContribution, ...]:  # fmt: skip
    """Measure what each view contributes to a method, fitted once for each split, and once more for each and view.

    Parameters
    ----------
    estimator : estimator
        Takes several views and has ``predict``. Kernels in the parameter ``kernels``, also of a step of a `Pipeline`,
        are left out with the view that they read, products with the view of any factor. It is cloned, not fitted
        itself.
    X : several views, see `mklearn.kernels.Views`
    y : array of shape (n,)
        Class labels; of a regressor numbers.
    cv : int, splitter or iterable of (train, test), optional
        By default five folds, twice.
    groups : array of shape (n,), optional
        Passed to ``cv``.
    n_permutations : int
        Permutations of each view in each split.
    random_state : int
        Of the default splits and of the permutations.

    Returns
    -------
    tuple of ViewContribution
        One for each view, in their order. Differences are shares (0.01 is one point); their 95 % intervals follow
        `mklearn.base.statistics`, NaN with two to four splits.

    Raises
    ------
    DataError, ConfigError
        X is not several views, or y does not fit. Kernel specs are not valid, or all kernels read one of the views.

    References
    ----------
    Breiman, "Random forests", Machine Learning 45, 2001, section 10, for the permutation.
    """
    views, labels = as_views(X), np.asarray(y)
    if views is None or len(views.names) < 2:
        raise DataError("X is not several views: expected two or more tables, see mklearn.kernels.Views")
    if labels.shape != (len(views),):
        raise DataError(f"y has shape {labels.shape} for {len(views)} samples; expected one label for each")
    numbers = is_regressor(estimator)
    if numbers and not (np.isfinite(labels).all() and np.ptp(labels) > 0):
        raise DataError("the target is constant or has missing values: there is nothing that views could contribute")
    n_permutations = check_integer(n_permutations, "n_permutations", 1)
    splitter = check_cv(default_splitter(estimator, random_state) if cv is None else cv, labels, classifier=not numbers)
    splits = list(splitter.split(np.zeros(len(views)), labels, groups))
    n_train = float(np.mean([len(train) for train, _ in splits]))
    bounds = (-math.inf, 1.0) if numbers else (0.0, 1.0)  # R^2 has no lower one
    complete, *others = _successes(estimator, views, labels, splits, n_permutations, random_state)
    losses = [[paired_sample_difference(complete, each, n_train, bounds=bounds) for each in other] for other in others]
    return tuple(map(ViewContribution, views.names, *losses))


def _successes(
    estimator: Any, views: Views, labels: NDArray[Any], splits: Sequence[Any], n_permutations: int, seed: int
) -> tuple[Array, Array, Array]:
    """Return `success_values`, (n_splits, n): complete; and for each view with it permuted, and without it."""
    deviation, rng = float(np.std(labels)) if is_regressor(estimator) else 0.0, np.random.default_rng(seed)
    without = [_without(estimator, name) for name in views.names]
    complete = np.full((len(splits), len(labels)), np.nan)
    permuted, left_out = np.full((2, len(views.names), *complete.shape), np.nan)
    for row, (train, test) in enumerate(splits):
        fitted, rest, truth = clone(estimator).fit(views[train], labels[train]), views[test], labels[test]
        complete[row, test] = success_values(fitted.predict(rest), truth, deviation)
        for number, name in enumerate(views.names):
            again = [fitted.predict(_permuted(rest, name, rng)) for _ in range(n_permutations)]
            permuted[number, row, test] = np.mean([success_values(each, truth, deviation) for each in again], axis=0)
            reduced = clone(without[number]).fit(_others(views[train], name), labels[train])
            left_out[number, row, test] = success_values(reduced.predict(_others(rest, name)), truth, deviation)
    return complete, permuted, left_out


def _permuted(views: Views, name: str, rng: np.random.Generator) -> Views:
    """Give samples a view of other samples."""
    shuffled = views[rng.permutation(np.arange(len(views)))][name]
    if hasattr(shuffled, "iloc"):
        shuffled = shuffled.set_axis(views.index)
    return Views({each: shuffled if each == name else views[each] for each in views.names})


def _others(views: Views, name: str) -> Views:
    return Views({each: views[each] for each in views.names if each != name})


def _without(estimator: Any, view: str) -> Any:
    """Return a clone of an estimator without the kernels that read a view."""
    changes = {}
    for parameter, kernels in estimator.get_params(deep=True).items():
        if parameter.split("__")[-1] != "kernels" or not isinstance(kernels, Mapping | list | tuple):
            continue
        specs = KernelsOfSpecs(kernels)
        if not specs.for_each_view:
            changes[parameter] = specs.without_view(view)
        if changes.get(parameter) in ({}, []):
            raise ConfigError(
                f"without view {view!r} no kernel is left in `{parameter}`: expected one that reads other views alone"
            )
    return clone(estimator).set_params(**changes)


@dataclass(frozen=True, eq=False)
class WeightStability:
    """Kernel weights over splits."""

    kernels: tuple[str, ...]
    weights: Array
    """(n_splits, n_kernels), each row divided by the sum of its absolute values; of the splits that have weights."""
    mean: Array
    std: Array
    """Over the splits, (n_kernels,); NaN for one split."""
    between_splits: float
    """Mean total variation distance between the weights of two splits, half the sum of absolute differences: 0 for the
    same weights in every split, 1 for weights on different kernels in each. NaN for one split."""
    from_equal: float
    """Mean total variation distance from equal weights: between 0 and 1 - 1/n_kernels for nonnegative weights. Weights
    that are hardly learned are stable."""


@aligned
def kernel_weights_over_splits(
    estimator: Any, X: Any, y: ArrayLike, *, cv: Any = None, groups: ArrayLike | None = None, random_state: int = 0
) -> WeightStability:
    """Fit a method on the training part of each split, and compute how much its kernel weights differ.

    Weights that differ between splits of the same samples are no property of the data. Stable ones say little about
    what a view is worth either; see `view_contributions`, whose parameters these are. `ConfigError` if the fitted
    estimator, or each step of a fitted `Pipeline`, has no ``kernel_weights_``, or has weights of several targets.
    """
    views = as_views(X)
    fits = cross_validate(
        estimator, X if views is None else views, y, groups=groups, scoring=lambda *_: 0.0, return_estimator=True,
        cv=default_splitter(estimator, random_state) if cv is None else cv, error_score="raise",
    )["estimator"]  # fmt: skip
    fitted = []
    for fit in fits:
        steps = [step for _, step in getattr(fit, "steps", [("", fit)]) if hasattr(step, "kernel_weights_")]
        if not steps:
            raise ConfigError(
                f"{type(fit).__name__} has no kernel weights: expected an estimator with `kernel_weights_`"
            )
        fitted.append(steps[-1])
    if np.ndim(fitted[0].kernel_weights_) > 1:
        raise ConfigError("each target has kernel weights of its own: pass one target at a time")
    return weight_stability([each.kernel_weights_ for each in fitted], fitted[0].kernel_ids_)


def weight_stability(weights: ArrayLike, kernels: Sequence[str] | None = None) -> WeightStability:
    """Compute how much kernel weights (n_splits, n_kernels) differ between splits.

    Rows with NaN, or of zeros, are left out. Kernels are named by their positions if no names are given. `DataError`
    for another shape, another number of names, or no row left.
    """
    array = np.asarray(weights, dtype=np.float64)
    if array.ndim != 2:
        raise DataError(f"weights have shape {array.shape}: expected (n_splits, n_kernels)")
    names = tuple(map(str, range(array.shape[1]) if kernels is None else kernels))
    if len(names) != array.shape[1]:
        raise DataError(f"there are {len(names)} names for {array.shape[1]} kernels")
    sums = np.abs(array).sum(axis=1)
    kept = np.isfinite(sums) & (sums > 0)
    if not kept.any():
        raise DataError("no split has kernel weights")
    shares = array[kept] / sums[kept, None]
    several = len(shares) > 1
    return WeightStability(
        names, shares, shares.mean(axis=0),
        shares.std(axis=0, ddof=1) if several else np.full(len(names), np.nan),
        float(pdist(shares, "cityblock").mean() / 2) if several else float("nan"),
        float(np.abs(shares - 1 / len(names)).sum(axis=1).mean() / 2),
    )  # fmt: skip


@dataclass(frozen=True, eq=False)
class SelectionFrequencies:
    """Frequencies at which kernels are chosen from halves of the samples."""

    kernels: tuple[str, ...]
    frequencies: Array
    """Share of the halves in which each kernel is chosen, (n_kernels,)."""
    mean_chosen: float
    """Mean number of kernels that are chosen from a half: q."""
    n_halves: int

    def ranked(self) -> list[tuple[str, float]]:
        """Return the kernels and their frequencies, the most frequent first; of equal ones in the given order."""
        order = np.argsort(-self.frequencies, kind="stable")
        return [(self.kernels[number], float(self.frequencies[number])) for number in order]

    def stable(self, threshold: float = 0.75) -> tuple[str, ...]:
        """Return the kernels that are chosen from this share of the halves or more, the most frequent first."""
        return tuple(name for name, frequency in self.ranked() if frequency >= threshold)

    def false_selections(self, threshold: float = 0.75) -> float:
        """Return a bound on the expected number of false ones among `stable`: q^2 / ((2 threshold - 1) n_kernels).

        A kernel is false if its probability to be chosen from a half is below q / n_kernels, as for a random draw.
        Nothing is assumed of the kernels or of the data. `ConfigError` unless 0.5 < threshold <= 1.

        References
        ----------
        Shah, Samworth, "Variable selection with error control: another look at stability selection", JRSS B 75, 2013,
        theorem 1 with theta = q/p; the bound of Meinshausen, Buehlmann, JRSS B 72, 2010, theorem 1, needs more.
        """
        if not 0.5 < threshold <= 1:
            raise invalid(threshold, "threshold", "a number above 0.5 and up to 1")
        return self.mean_chosen**2 / ((2 * threshold - 1) * len(self.kernels))


@aligned
def stability_selection(
    kernels: Any, X: Any, y: ArrayLike, *, n_kernels: int, n_pairs: int = 50, groups: ArrayLike | None = None,
    max_rank: int = 50, random_state: int = 0,
) -> SelectionFrequencies:  # fmt: skip
    """Count how often each kernel is among the few that are chosen from half of the samples.

    The samples are cut into two halves ``n_pairs`` times, with equal class frequencies, and from each half the group
    lasso of `mklearn.optimize.kernel_lasso` chooses kernels, as `mklearn.MultiViewClassifier` with ``n_kernels`` does.
    Kernels, with their scaling of features and bandwidth, are computed from all samples once, without labels.

    Parameters
    ----------
    kernels : specs
        As for `mklearn.kernels.StackTransform`; see `mklearn.kernels.group_kernels` for groups of columns.
    X : table or views
    y : array of shape (n,)
        Class labels.
    n_kernels : int
        Largest number of kernels that are chosen from a half. Smaller numbers give smaller bounds.
    n_pairs : int
        Pairs of halves.
    groups : array of shape (n,), optional
        Samples of a group (a patient) are in the same half.
    max_rank : int
        Kernels of a larger rank are approximated, as long as they are chosen among. Memory holds n x rank numbers
        for each kernel.
    random_state : int
        Of the halves.

    Raises
    ------
    DataError, ConfigError, NotApplicable
        Labels or groups that do not fit. Numbers that are not positive integers. A single class or group.

    References
    ----------
    Meinshausen, Buehlmann, "Stability selection", JRSS B 72, 2010. Complementary pairs: Shah, Samworth, JRSS B 75,
    2013.
    """
    for value, name in ((n_kernels, "n_kernels"), (n_pairs, "n_pairs"), (max_rank, "max_rank")):
        check_integer(value, name, 1)
    transform, views = StackTransform(kernels, drop_constant=True), as_views(X)
    factors = [kernel_factor(K, max_rank) for K in transform.training_kernels(X if views is None else views)]
    n = len(factors[0])
    codes = class_structure(checked_labels(transform, y, n)).codes
    counts, halves = np.zeros(len(factors)), _complementary_halves(codes, groups, n_pairs, random_state)
    for half in halves:
        targets = class_targets(class_structure(codes[half]))
        lasso = KernelLasso((_at_unit_trace(F[half]) for F in factors), targets - targets.mean(axis=0))
        counts[lasso.largest_choice(n_kernels).chosen] += 1
    frequencies = counts / len(halves)
    return SelectionFrequencies(transform.ids, frequencies, float(frequencies.sum()), len(halves))


def _at_unit_trace(F: NDArray[Any]) -> NDArray[Any]:
    """Return the features of some of the samples, centred and of unit variance; none if they are constant."""
    centred = F - F.mean(axis=0)
    variance = float(np.vdot(centred, centred)) / len(F)
    if not variance > 1e-12 * float(np.vdot(F, F)) / len(F):
        return F[:, :0]
    return np.asarray(centred / np.sqrt(variance))


def _complementary_halves(
    codes: NDArray[np.intp], groups: ArrayLike | None, n_pairs: int, seed: int
) -> list[NDArray[np.intp]]:
    """Return pairs of halves without a common sample, or group; classes are dealt out in turn."""
    names = np.arange(len(codes)) if groups is None else group_codes(groups, len(codes))
    _, first, unit = np.unique(names, return_index=True, return_inverse=True)
    if len(first) < 2:
        raise NotApplicable("all samples are in one group: there are no two halves without a common group")
    rng, halves = np.random.default_rng(seed), []
    for _ in range(n_pairs):
        order = rng.permutation(len(first))
        order = order[np.argsort(codes[first[order]], kind="stable")]
        side = np.zeros(len(first), dtype=bool)
        side[order[::2]] = True
        halves += [np.flatnonzero(side[unit]), np.flatnonzero(~side[unit])]
    return halves
