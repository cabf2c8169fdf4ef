"""What views and features contribute to predictions, how stable kernel weights are, how often kernels are chosen.

Kernel weights say little about it: views that tell the same share a weight in any proportion, and a kernel of small
scale needs a large one.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist
from sklearn.base import clone
from sklearn.model_selection import RepeatedStratifiedKFold, cross_validate

from mklearn.base.statistics import Difference, paired_sample_difference
from mklearn.checks import check_integer, invalid
from mklearn.errors import ConfigError, DataError
from mklearn.feature_importances import (
    FeatureImportance,
    feature_importances,
    linear_weights,
    permutation_splits,
    permute_view,
    success,
)
from mklearn.graphs import class_structure
from mklearn.kernels.specs import StackTransform
from mklearn.kernels.views import Views, as_views
from mklearn.optimize.kernel_lasso import KernelLasso, kernel_factor
from mklearn.optimize.leave_one_out_ridge import class_targets

__all__ = [
    "FeatureImportance",
    "R2Shares",
    "SelectionFrequencies",
    "ViewContribution",
    "WeightStability",
    "feature_importances",
    "kernel_weights_over_splits",
    "linear_weights",
    "r2_shares",
    "stability_selection",
    "view_contributions",
    "weight_stability",
]


@dataclass(frozen=True, eq=False)
class ViewContribution:
    """What one view contributes, measured on samples that the method was not fitted to.

    Attributes
    ----------
    view : str
    permuted : Difference
        Accuracy, of a regressor R^2, minus that where test samples have this view of other test samples: what the
        fitted method uses.
    left_out : Difference
        The same minus that of the method fitted without this view: what the other views don't replace. Two views
        that tell the same have about 0 here, and may both matter to a fitted method.
    changed : array of shape (n,)
        Share of the permutations that change the predicted label of each sample; of a regressor by how much they change
        its prediction on average, in standard deviations of the target. NaN for samples that were not tested.
    """

    view: str
    permuted: Difference
    left_out: Difference
    changed: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class WeightStability:
    """Kernel weights over splits.

    Attributes
    ----------
    kernels : tuple of str
    weights : array of shape (n_splits, n_kernels)
        Each row divided by the sum of its absolute values; without splits that have no weights.
    mean, std : arrays of shape (n_kernels,)
        Over the splits; the standard deviation has n_splits - 1 in its denominator, and is NaN for one split.
    between_splits : float
        Mean total variation distance between the weights of two splits, half the sum of absolute differences: 0 for the
        same weights in every split, 1 for weights on different kernels in each. NaN for one split.
    from_equal : float
        Mean total variation distance from equal weights: between 0 and 1 - 1/n_kernels for nonnegative weights. Weights
        that are hardly learned are stable.
    """

    kernels: tuple[str, ...]
    weights: NDArray[np.float64]
    mean: NDArray[np.float64]
    std: NDArray[np.float64]
    between_splits: float
    from_equal: float


def view_contributions(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = None,
    groups: ArrayLike | None = None,
    n_permutations: int = 5,
    random_state: int = 0,
) -> tuple[ViewContribution, ...]:
    """Measure what each view contributes to a method, by cross-validation.

    Parameters
    ----------
    estimator : estimator
        With ``predict``; it takes several views. Kernels in its parameter ``kernels``, or in that of a step of a
        `Pipeline`, are left out with their view. It is cloned, not fitted itself.
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
        One for each view, in their order. Differences are shares (0.01 is one point); their 95 % intervals are those of
        `mklearn.base.statistics`, NaN with fewer than five splits.

    Raises
    ------
    DataError
        X is not several views, or y has another number of labels.
    ConfigError
        ``n_permutations`` is no integer >= 1, or no kernel is left without one of the views.

    Notes
    -----
    The method is fitted once for each split, and once more for each split and view.

    References
    ----------
    Breiman, "Random forests", Machine Learning 45, 2001, section 10, for the permutation.
    """
    views = as_views(X)
    if views is None or len(views.names) < 2:
        raise DataError("X is not several views: expected two or more tables, see mklearn.kernels.Views")
    labels = np.asarray(y)
    n_permutations = check_integer(n_permutations, "n_permutations", 1)
    rng = np.random.default_rng(random_state)
    splits, deviation = permutation_splits(estimator, len(views), labels, cv, groups, random_state)
    without = {name: _without(estimator, name) for name in views.names}
    correct = np.full((len(splits), len(labels)), np.nan)
    permuted, left_out, changed = ({name: correct.copy() for name in views.names} for _ in range(3))
    for row, (train, test) in enumerate(splits):
        fitted = clone(estimator).fit(views[train], labels[train])
        seen = views[test]
        predicted = fitted.predict(seen)
        correct[row, test] = success(predicted, labels[test], deviation)
        for name in views.names:
            again = [fitted.predict(permute_view(seen, name, rng)) for _ in range(n_permutations)]
            permuted[name][row, test] = np.mean([success(each, labels[test], deviation) for each in again], axis=0)
            changed[name][row, test] = np.mean([_change(each, predicted, deviation) for each in again], axis=0)
            reduced = clone(without[name]).fit(_others(views[train], name), labels[train])
            left_out[name][row, test] = success(reduced.predict(_others(seen, name)), labels[test], deviation)
    n_train = float(np.mean([len(train) for train, _ in splits]))
    tested = (~np.isnan(correct)).sum(axis=0)
    return tuple(
        ViewContribution(
            name,
            paired_sample_difference(correct, permuted[name], n_train),
            paired_sample_difference(correct, left_out[name], n_train),
            np.where(tested > 0, np.nansum(changed[name], axis=0) / np.maximum(tested, 1), np.nan),
        )
        for name in views.names
    )


def _change(one: NDArray[Any], other: NDArray[Any], deviation: float) -> NDArray[np.float64]:
    if not deviation:
        return np.asarray(one != other, dtype=np.float64)
    return np.asarray(np.abs(one - other) / deviation)


@dataclass(frozen=True, eq=False)
class R2Shares:
    """R^2 of predictions as a sum of shares of the views.

    Attributes
    ----------
    views : dict of str to array of shape (c,)
        Share of each view, for each target or class. Negative for a view that makes predictions worse.
    offset : array of shape (c,)
        What is lost since the mean prediction is not the mean of the targets, <= 0.
    r2 : array of shape (c,)
        The sum of all of these, R^2.
    """

    views: dict[str, NDArray[np.float64]]
    offset: NDArray[np.float64]
    r2: NDArray[np.float64]


def r2_shares(fitted: Any, X: Any, y: ArrayLike) -> R2Shares:
    """Split R^2 of predictions into the shares of the views, by the product measure.

    With the part f_v of view v in the outputs f (``contributions``), and bars for deviations from means over the
    samples, the share of v is ``sum_i f_v (2 y - f) / sum_i y^2``, of deviations.

    Parameters
    ----------
    fitted : fitted estimator
        With ``contributions``: `mklearn.regressors.MultiViewRegressor`, `mklearn.classifiers.MultiViewClassifier`.
    X : samples, as for its ``predict``
        Others than the training samples, where shares of predictions of new samples are wanted.
    y : array of shape (n,) or (n, c)
        Numbers, or class labels: the outputs of classifiers are compared with class indicators.

    Returns
    -------
    R2Shares
        NaN for a target, or a class, that is constant over the samples.

    Raises
    ------
    ConfigError
        The estimator has no ``contributions``.

    References
    ----------
    Pratt, "Dividing the indivisible: using simple symmetry to partition variance explained", 1987. Dupre la Tour,
    Eickenberg, Nunez-Elizalde, Gallant, "Feature-space selection with banded ridge regression", NeuroImage 264, 2022,
    section 2.5.3.
    """
    if not hasattr(fitted, "contributions"):
        raise ConfigError(f"{type(fitted).__name__} has no `contributions` of views: fit a multi-view estimator")
    parts = fitted.contributions(X)
    values = np.asarray(y)
    if hasattr(fitted, "classes_"):
        values = values[:, None] == fitted.classes_
    values = values.reshape(len(values), -1).astype(np.float64)
    outputs = fitted.intercept_ + sum(parts.values())
    if values.shape != outputs.shape:
        raise DataError(f"y has shape {np.shape(y)} for outputs of shape {outputs.shape}")
    deviations = values - values.mean(axis=0)
    total = (deviations**2).sum(axis=0)
    total[total == 0] = np.nan
    other = 2 * deviations - (outputs - outputs.mean(axis=0))
    views = {name: ((part - part.mean(axis=0)) * other).sum(axis=0) / total for name, part in parts.items()}
    offset = -len(values) * (outputs.mean(axis=0) - values.mean(axis=0)) ** 2 / total
    return R2Shares(views, offset, offset + sum(views.values()))


def kernel_weights_over_splits(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    cv: Any = None,
    groups: ArrayLike | None = None,
    random_state: int = 0,
) -> WeightStability:
    """Fit a method on the training part of each split, and compute how much its kernel weights differ.

    Weights that differ between splits of the same samples are no property of the data. Stable ones say little about
    what a view is worth either; see `view_contributions`.

    Parameters
    ----------
    estimator : estimator
        With ``kernel_weights_`` once fitted, or a `Pipeline` with such a step. It is cloned, not fitted itself.
    X : as for its ``fit``; several views as `mklearn.kernels.Views`, dict or list
    y : array of shape (n,)
        Class labels.
    cv : int, splitter or iterable of (train, test), optional
        By default five folds, twice.
    groups : array of shape (n,), optional
        Passed to ``cv``.
    random_state : int
        Of the default splits.

    Returns
    -------
    WeightStability
        Weights of each split, mean and standard deviation of each kernel's, and ``between_splits``: 0 for the same
        weights in every split, 1 for nothing in common.

    Raises
    ------
    ConfigError
        The fitted estimator has no kernel weights.
    """
    views = as_views(X)
    if cv is None:
        cv = RepeatedStratifiedKFold(n_splits=5, n_repeats=2, random_state=random_state)
    fits = cross_validate(
        estimator,
        X if views is None else views,
        y,
        cv=cv,
        groups=groups,
        scoring=lambda *_: 0.0,
        return_estimator=True,
        error_score="raise",
    )["estimator"]
    fitted = [_with_weights(fit) for fit in fits]
    return weight_stability([each.kernel_weights_ for each in fitted], fitted[0].kernel_ids_)


def weight_stability(weights: ArrayLike, kernels: Sequence[str] | None = None) -> WeightStability:
    """Compute how much kernel weights differ between splits.

    Parameters
    ----------
    weights : array of shape (n_splits, n_kernels)
        Rows with NaN, or of zeros, are left out.
    kernels : sequence of str, optional
        Names; by default the positions.

    Raises
    ------
    DataError
        Another shape, another number of names, or no row left.
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
        names,
        shares,
        shares.mean(axis=0),
        shares.std(axis=0, ddof=1) if several else np.full(len(names), np.nan),
        float(pdist(shares, "cityblock").mean() / 2) if several else float("nan"),
        float(np.abs(shares - 1 / len(names)).sum(axis=1).mean() / 2),
    )


@dataclass(frozen=True, eq=False)
class SelectionFrequencies:
    """How often each of many kernels is chosen from halves of the samples.

    Attributes
    ----------
    kernels : tuple of str
    frequencies : array of shape (n_kernels,)
        Share of the halves in which the kernel is chosen.
    mean_chosen : float
        Mean number of kernels that are chosen from a half: q.
    n_halves : int
    """

    kernels: tuple[str, ...]
    frequencies: NDArray[np.float64]
    mean_chosen: float
    n_halves: int

    def stable(self, threshold: float = 0.75) -> tuple[str, ...]:
        """Return the kernels that are chosen from this share of the halves or more, the most frequent first."""
        return tuple(name for name, frequency in self.ranked() if frequency >= threshold)

    def false_selections(self, threshold: float = 0.75) -> float:
        """Return a bound on the expected number of false ones among `stable`: q^2 / ((2 threshold - 1) n_kernels).

        False are kernels that are chosen from a half with a probability below q / n_kernels, that of a kernel drawn at
        random. Nothing is assumed of the kernels or of the data. `ConfigError` unless 0.5 < threshold <= 1.

        References
        ----------
        Shah, Samworth, "Variable selection with error control: another look at stability selection", JRSS B 75, 2013,
        theorem 1 with theta = q/p; the bound of Meinshausen, Buehlmann, JRSS B 72, 2010, theorem 1, needs more.
        """
        if not 0.5 < threshold <= 1:
            raise invalid(threshold, "threshold", "a number above 0.5 and up to 1")
        return self.mean_chosen**2 / ((2 * threshold - 1) * len(self.kernels))

    def ranked(self) -> list[tuple[str, float]]:
        """Return the kernels and their frequencies, the most frequent first; of equal ones in the given order."""
        order = np.argsort(-self.frequencies, kind="stable")
        return [(self.kernels[number], float(self.frequencies[number])) for number in order]


def stability_selection(
    kernels: Any,
    X: Any,
    y: ArrayLike,
    *,
    n_kernels: int,
    n_pairs: int = 50,
    groups: ArrayLike | None = None,
    max_rank: int = 50,
    random_state: int = 0,
) -> SelectionFrequencies:
    """Count how often each kernel is among the few that are chosen from half of the samples.

    The samples are cut into two halves ``n_pairs`` times, with equal class frequencies, and from each half the group
    lasso of `mklearn.optimize.kernel_lasso` chooses kernels, as `mklearn.MultiViewClassifier` with ``n_kernels`` does.

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
        Kernels of a larger rank are approximated, as long as they are chosen among.
    random_state : int
        Of the halves.

    Returns
    -------
    SelectionFrequencies

    Raises
    ------
    DataError
        Labels or groups that do not fit.
    ConfigError
        Numbers that are not positive integers.
    NotApplicable
        A single class, or a class that all of a half lacks for.

    Notes
    -----
    Kernels, with their scaling of features and bandwidth, are computed from all samples once, without labels. Memory is
    that of n x rank numbers for each kernel.

    References
    ----------
    Meinshausen, Buehlmann, "Stability selection", JRSS B 72, 2010. Complementary pairs: Shah, Samworth, JRSS B 75,
    2013.
    """
    check_integer(n_kernels, "n_kernels", 1)
    check_integer(n_pairs, "n_pairs", 1)
    check_integer(max_rank, "max_rank", 1)
    transform = StackTransform(kernels, drop_constant=True)
    views = as_views(X)
    factors = [kernel_factor(K, max_rank) for K in transform.training_kernels(X if views is None else views)]
    n = len(factors[0])
    codes = class_structure(y, n).codes
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
    names = np.arange(len(codes)) if groups is None else np.asarray(groups)
    if names.shape != codes.shape:
        raise DataError(f"groups have shape {names.shape} for {len(codes)} samples; expected one for each")
    _, first, unit = np.unique(names, return_index=True, return_inverse=True)
    rng, halves = np.random.default_rng(seed), []
    for _ in range(n_pairs):
        order = rng.permutation(len(first))
        order = order[np.argsort(codes[first[order]], kind="stable")]
        side = np.zeros(len(first), dtype=bool)
        side[order[::2]] = True
        halves += [np.flatnonzero(side[unit]), np.flatnonzero(~side[unit])]
    return halves


def _with_weights(fitted: Any) -> Any:
    """Return the estimator or the last step of a pipeline that has kernel weights."""
    steps = [step for _, step in fitted.steps] if hasattr(fitted, "steps") else [fitted]
    for step in reversed(steps):
        if hasattr(step, "kernel_weights_"):
            return step
    raise ConfigError(f"{type(fitted).__name__} has no kernel weights: expected an estimator with `kernel_weights_`")


def _others(views: Views, name: str) -> Views:
    return Views({each: views[each] for each in views.names if each != name})


def _without(estimator: Any, view: str) -> Any:
    """Return a clone of an estimator without the kernels of a view."""
    changes = {}
    for parameter, kernels in estimator.get_params(deep=True).items():
        if parameter.split("__")[-1] != "kernels" or not isinstance(kernels, Mapping) or "kind" in kernels:
            continue
        kept = {name: spec for name, spec in kernels.items() if _view_of(name, spec) != view}
        if not kept:
            raise ConfigError(f"without view {view!r} no kernel is left in `{parameter}`")
        changes[parameter] = kept
    return clone(estimator).set_params(**changes)


def _view_of(name: str, spec: Any) -> str:
    return str(spec.get("view", name)) if isinstance(spec, Mapping) else name
