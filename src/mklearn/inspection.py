"""Contributions of views to predictions, stability of kernel weights, and selection frequencies of kernels.

Kernel weights are not contributions: redundant views can share a weight in any proportion, and a kernel of small scale
needs a large weight.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist
from sklearn.base import clone, is_regressor
from sklearn.model_selection import check_cv, cross_validate
from sklearn.utils.validation import has_fit_parameter

from mklearn.base.fit_context import aligned
from mklearn.base.folds import default_splitter, held_out
from mklearn.base.pipelines import predicts_survival
from mklearn.base.statistics import Difference, paired_sample_difference, success_values
from mklearn.checks import check_integer, invalid
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.estimator_input import checked_labels
from mklearn.graphs import class_structure
from mklearn.kernels.completion import lacking
from mklearn.kernels.transform import StackTransform
from mklearn.kernels.views import Views, as_views
from mklearn.optimize.kernel_lasso import KernelLasso, kernel_factor
from mklearn.optimize.leave_one_out_ridge import class_targets
from mklearn.optimize.left_out import group_codes
from mklearn.survival.metrics import harrell_c_values
from mklearn.survival.times import signed_times, times_and_events

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
    """Contribution of one view, measured on test samples."""

    view: str
    permuted: Difference
    """Loss of accuracy (R^2 for a regressor, Harrell's C for survival times) when this view is permuted among the test
    samples. It measures how much the fitted method uses the view."""
    left_out: Difference
    """Loss when the method is fitted without this view. It measures the information that the other views can't
    replace: about 0 for each of two redundant views, even if the fitted method uses both."""


@aligned
def view_contributions(
    estimator: Any, X: Any, y: ArrayLike, *, cv: Any = None, groups: ArrayLike | None = None,
    n_permutations: int = 5, random_state: int = 0,
) -> tuple[ViewContribution, ...]:  # fmt: skip
    """Measure the contribution of each view to a method.

    For each split, the method is fitted once with all views and once without each view. Raises `DataError`,
    `NotApplicable` or `ConfigError` if X is not several views, a sample has one view or none, y does not match, all
    samples are in one group, kernel specs are invalid, or all kernels read the same view.

    Parameters
    ----------
    estimator : estimator
        Estimator of several views with ``predict``. It is cloned, not modified. Without a view, its parameter
        ``kernels`` (also in a step of a `Pipeline`) loses the kernels that read the view, and products with a factor
        that reads it.
    X : several views, see `mklearn.kernels.Views`
    y : array of shape (n,)
        Class labels, numbers for a regressor, or survival times in any form of `mklearn.MultiViewSurvival`.
    cv : int, splitter or iterable of (train, test), optional
        By default five folds, repeated twice; with ``groups`` at most five folds of whole groups.
    groups : array of shape (n,), optional
        Groups, passed to ``cv``, and to ``fit`` if it takes ``groups``.
    n_permutations : int
        Number of permutations of each view in each split.
    random_state : int
        Seed of the default splits and of the permutations.

    Returns
    -------
    tuple of ViewContribution
        Contributions in the order of the views, as shares (0.01 is one percentage point). Their 95 % intervals are for
        new groups if all splits hold out whole ones (`mklearn.base.statistics`); NaN for two to four splits or groups.

    References
    ----------
    Breiman, "Random forests", Machine Learning 45, 2001, section 10, for the permutation.
    """
    views, labels = _several_views(estimator, X, y)
    n_permutations = check_integer(n_permutations, "n_permutations")
    splitter = default_splitter(estimator, random_state, groups) if cv is None else cv
    splitter = check_cv(splitter, labels, classifier=not (is_regressor(estimator) or predicts_survival(estimator)))
    splits = list(splitter.split(np.zeros(len(views)), labels, groups))
    n_train = float(np.mean([len(train) for train, _ in splits]))
    _, values, bounds = measure_of_predictions(estimator, labels)
    whole = held_out(groups, splits, len(views))
    complete, *others = _successes(estimator, values, views, labels, groups, splits, n_permutations, random_state)
    measured = partial(paired_sample_difference, n_train=n_train, bounds=bounds, groups=whole)
    losses = [[measured(complete, each) for each in other] for other in others]
    return tuple(map(ViewContribution, views.names, *losses))


def _several_views(estimator: Any, X: Any, y: ArrayLike) -> tuple[Views, NDArray[Any]]:
    """Check samples and targets for `view_contributions`; return the views, and labels, numbers or signed times."""
    views, labels = as_views(X), np.asarray(y)
    if predicts_survival(estimator) and labels.dtype.fields is None:
        labels = signed_times(*times_and_events(y))
    if views is None or len(views.names) < 2:
        raise DataError("X is not several views: expected two or more tables, see mklearn.kernels.Views")
    if (single := np.sum([~lacking(views[name]) for name in views.names], axis=0) < 2).any():
        raise DataError(
            f"{single.sum()} of {len(views)} samples have at most one view, and every view is left out in turn"
        )
    if labels.shape != (len(views),):
        raise DataError(f"y has shape {labels.shape} for {len(views)} samples; expected one label for each")
    if is_regressor(estimator) and not (np.isfinite(labels).all() and np.ptp(labels) > 0):
        raise DataError("the target is constant or has missing values: there is nothing that views could contribute")
    return views, labels


def measure_of_predictions(
    estimator: Any, y: NDArray[Any]
) -> tuple[str, Callable[[Any, Any], Array], tuple[float, float]]:
    """Return the measure of an estimator: name, function of predictions and targets, (n,), with it as mean, bounds."""
    if predicts_survival(estimator):
        return "harrell_c", lambda predicted, truth: harrell_c_values(truth, predicted), (0.0, 1.0)
    deviation = float(np.std(y)) if is_regressor(estimator) else 0.0
    measure, least = ("r2", -math.inf) if deviation else ("accuracy", 0.0)
    return measure, partial(success_values, deviation=deviation), (least, 1.0)


def _successes(
    estimator: Any, values: Callable[[Any, Any], Array], views: Views, labels: NDArray[Any], groups: ArrayLike | None,
    splits: Sequence[Any], n_permutations: int, seed: int,
) -> tuple[Array, Array, Array]:  # fmt: skip
    """Return values of samples, (n_splits, n): with all views, with each view permuted, and without each view."""
    rng, without = np.random.default_rng(seed), [_without(estimator, name) for name in views.names]
    beside = {} if groups is None or not has_fit_parameter(estimator, "groups") else {"groups": np.asarray(groups)}
    complete = np.full((len(splits), len(labels)), np.nan)
    permuted, left_out = np.full((2, len(views.names), *complete.shape), np.nan)
    for row, (train, test) in enumerate(splits):
        known = {name: each[train] for name, each in beside.items()}
        fitted, rest, truth = clone(estimator).fit(views[train], labels[train], **known), views[test], labels[test]
        complete[row, test] = values(fitted.predict(rest), truth)
        for number, name in enumerate(views.names):
            again = [fitted.predict(_permuted(rest, name, rng)) for _ in range(n_permutations)]
            permuted[number, row, test] = np.mean([values(each, truth) for each in again], axis=0)
            reduced = clone(without[number]).fit(_others(views[train], name), labels[train], **known)
            left_out[number, row, test] = values(reduced.predict(_others(rest, name)), truth)
    return complete, permuted, left_out


def _permuted(views: Views, name: str, rng: np.random.Generator) -> Views:
    """Return views in which one view is permuted among the samples."""
    shuffled = views[rng.permutation(np.arange(len(views)))][name]
    if hasattr(shuffled, "iloc"):
        shuffled = shuffled.set_axis(views.index)
    return Views({each: shuffled if each == name else views[each] for each in views.names})


def _others(views: Views, name: str) -> Views:
    return Views({each: views[each] for each in views.names if each != name})


def _without(estimator: Any, view: str) -> Any:
    """Return a clone of an estimator without the kernels that read the given view."""
    changes = {}
    for parameter, kernels in estimator.get_params(deep=True).items():
        if parameter.split("__")[-1] != "kernels" or not isinstance(kernels, Mapping | list | tuple):
            continue
        specs = StackTransform(kernels)
        if not specs.for_each_view:
            changes[parameter] = specs.without_view(view)
        if changes.get(parameter) in ({}, []):
            raise ConfigError(
                f"without view {view!r} no kernel is left in `{parameter}`: expected one that reads only other views"
            )
    return clone(estimator).set_params(**changes)


@dataclass(frozen=True, eq=False)
class WeightStability:
    """Variation of kernel weights over splits."""

    kernels: tuple[str, ...]
    weights: Array
    """Weights, (n_splits, n_kernels), each row divided by the sum of its absolute values; splits without weights are
    omitted."""
    mean: Array
    std: Array
    """Standard deviation over the splits, (n_kernels,); NaN for one split."""
    between_splits: float
    """Mean total variation distance (half the sum of absolute differences) between the weights of two splits: 0 for
    equal weights in all splits, 1 if no two splits weight the same kernel. NaN for one split."""
    from_equal: float
    """Mean total variation distance from equal weights, between 0 and 1 - 1/n_kernels for nonnegative weights. If it is
    small, weights are stable merely because little is learned."""


@aligned
def kernel_weights_over_splits(
    estimator: Any, X: Any, y: ArrayLike, *, cv: Any = None, groups: ArrayLike | None = None, random_state: int = 0
) -> WeightStability:
    """Fit a method on the training part of each split, and measure how much its kernel weights vary.

    Weights that vary between splits of the same samples are not a property of the data. Stable weights say little about
    the value of a view either: see `view_contributions`, which has the same parameters. Raises `ConfigError` if the
    fitted estimator (or every step of a fitted `Pipeline`) has no ``kernel_weights_``.
    """
    views = as_views(X)
    fits = cross_validate(
        estimator, X if views is None else views, y, groups=groups, scoring=lambda *_: 0.0, return_estimator=True,
        params={"groups": groups} if groups is not None and has_fit_parameter(estimator, "groups") else {},
        cv=default_splitter(estimator, random_state, groups) if cv is None else cv, error_score="raise",
    )["estimator"]  # fmt: skip
    fitted = []
    for fit in fits:
        steps = [step for _, step in getattr(fit, "steps", [("", fit)]) if hasattr(step, "kernel_weights_")]
        if not steps:
            raise ConfigError(
                f"{type(fit).__name__} has no kernel weights: expected an estimator with `kernel_weights_`"
            )
        fitted.append(steps[-1])
    return weight_stability([each.kernel_weights_ for each in fitted], fitted[0].kernel_ids_)


def weight_stability(weights: ArrayLike, kernels: Sequence[str] | None = None) -> WeightStability:
    """Measure how much kernel weights, (n_splits, n_kernels), vary between splits.

    Rows with NaN, or with zeros only, are left out. Kernels without names are named by position. Raises `DataError` for
    another shape, another number of names, or if no row is left.
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
    """Frequencies with which kernels are chosen on random halves of the samples."""

    kernels: tuple[str, ...]
    frequencies: Array
    """Share of the halves on which each kernel is chosen, (n_kernels,)."""
    mean_chosen: float
    """Mean number q of kernels that are chosen on a half."""
    n_halves: int

    def ranked(self) -> list[tuple[str, float]]:
        """Return the kernels with their frequencies, most frequent first; ties keep the given order."""
        order = np.argsort(-self.frequencies, kind="stable")
        return [(self.kernels[number], float(self.frequencies[number])) for number in order]

    def stable(self, threshold: float = 0.75) -> tuple[str, ...]:
        """Return the kernels with a frequency of at least `threshold`, most frequent first."""
        return tuple(name for name, frequency in self.ranked() if frequency >= threshold)

    def false_selections(self, threshold: float = 0.75) -> float:
        """Compute a bound on the expected number of false kernels in `stable`: q^2 / ((2 threshold - 1) n_kernels).

        A kernel is false if it is chosen on a half with probability below q / n_kernels, as in a random draw. The bound
        makes no assumption on the kernels or the data. Raises `ConfigError` unless 0.5 < threshold <= 1.

        References
        ----------
        Shah, Samworth, "Variable selection with error control: another look at stability selection", JRSS B 75, 2013,
        theorem 1 with theta = q/p. The bound of Meinshausen, Buehlmann, JRSS B 72, 2010, theorem 1, needs assumptions.
        """
        if not 0.5 < threshold <= 1:
            raise invalid(threshold, "threshold", "a number above 0.5 and up to 1")
        return self.mean_chosen**2 / ((2 * threshold - 1) * len(self.kernels))


@aligned
def stability_selection(
    kernels: Any, X: Any, y: ArrayLike, *, n_kernels: int, n_pairs: int = 50, groups: ArrayLike | None = None,
    max_rank: int = 50, random_state: int = 0,
) -> SelectionFrequencies:  # fmt: skip
    """Compute how often each kernel is chosen on random halves of the samples.

    The samples are split into two halves ``n_pairs`` times, with equal class frequencies. On each half, the group lasso
    of `mklearn.optimize.kernel_lasso` chooses kernels, as in `mklearn.MultiViewClassifier` with ``n_kernels``. Kernels,
    including feature scaling and bandwidth, are computed once from all samples, without labels. Raises `DataError`,
    `ConfigError` or `NotApplicable` if labels or groups do not match, numbers are not positive integers, or there is a
    single class or group.

    Parameters
    ----------
    kernels : specs
        Specs as for `mklearn.kernels.StackTransform`; one with ``columns`` is a kernel of a group of columns.
    X : table or views
    y : array of shape (n,)
        Class labels.
    n_kernels : int
        Largest number of kernels that are chosen on a half. Smaller numbers give smaller bounds.
    n_pairs : int
        Number of pairs of halves.
    groups : array of shape (n,), optional
        Groups, such as patients, whose samples stay in the same half.
    max_rank : int
        Largest rank of a kernel for the choice; kernels of a larger rank are approximated. Each kernel takes n x rank
        numbers in memory.
    random_state : int
        Seed of the halves.

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
    """Return features centred and scaled to unit total variance, or no features if they are constant."""
    centred = F - F.mean(axis=0)
    variance = float(np.vdot(centred, centred)) / len(F)
    if not variance > 1e-12 * float(np.vdot(F, F)) / len(F):
        return F[:, :0]
    return np.asarray(centred / np.sqrt(variance))


def _complementary_halves(
    codes: NDArray[np.intp], groups: ArrayLike | None, n_pairs: int, seed: int
) -> list[NDArray[np.intp]]:
    """Return pairs of halves without a common sample or group, with the classes spread evenly."""
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
