"""What views and features contribute to predictions, how stable kernel weights are, how often kernels are chosen.

Kernel weights say little about it: views that tell the same share a weight in any proportion, and a kernel of small
scale needs a large one.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.spatial.distance import pdist
from sklearn.base import clone, is_regressor
from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold, check_cv, cross_validate

from mklearn.base.statistics import Difference, paired_sample_difference
from mklearn.checks import check_integer, invalid
from mklearn.errors import ConfigError, DataError
from mklearn.graphs import class_structure
from mklearn.kernels.column_groups import Groups, group_kernels
from mklearn.kernels.specs import StackTransform
from mklearn.kernels.views import SampleView, Views, as_views
from mklearn.optimize.kernel_lasso import KernelLasso, kernel_factor
from mklearn.optimize.leave_one_out_ridge import class_targets


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
    splits, deviation = _splits(estimator, len(views), labels, cv, groups, random_state)
    without = {name: _without(estimator, name) for name in views.names}
    correct = np.full((len(splits), len(labels)), np.nan)
    permuted, left_out, changed = ({name: correct.copy() for name in views.names} for _ in range(3))
    for row, (train, test) in enumerate(splits):
        fitted = clone(estimator).fit(views[train], labels[train])
        seen = views[test]
        predicted = fitted.predict(seen)
        correct[row, test] = _success(predicted, labels[test], deviation)
        for name in views.names:
            again = [fitted.predict(_permuted(seen, name, rng)) for _ in range(n_permutations)]
            permuted[name][row, test] = np.mean([_success(each, labels[test], deviation) for each in again], axis=0)
            changed[name][row, test] = np.mean([_change(each, predicted, deviation) for each in again], axis=0)
            reduced = clone(without[name]).fit(_others(views[train], name), labels[train])
            left_out[name][row, test] = _success(reduced.predict(_others(seen, name)), labels[test], deviation)
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


def _splits(
    estimator: Any, n: int, labels: NDArray[Any], cv: Any, groups: ArrayLike | None, random_state: int
) -> tuple[list[tuple[NDArray[np.intp], NDArray[np.intp]]], float]:
    """Return the splits, by default five folds, twice; and the standard deviation of numbers, 0 of class labels."""
    if labels.shape != (n,):
        raise DataError(f"y has shape {labels.shape} for {n} samples; expected one label for each")
    numbers = is_regressor(estimator)
    if cv is None:
        repeated = RepeatedKFold if numbers else RepeatedStratifiedKFold
        cv = repeated(n_splits=5, n_repeats=2, random_state=random_state)
    deviation = float(np.std(labels)) if numbers else 0.0
    if numbers and not deviation > 0:
        raise DataError("the target is constant: there is nothing that views could contribute")
    return list(check_cv(cv, labels, classifier=not numbers).split(np.zeros(n), labels, groups)), deviation


def _success(predicted: NDArray[Any], y: NDArray[Any], deviation: float) -> NDArray[np.float64]:
    """Return values whose mean is the accuracy, or R^2 where the target has a standard deviation."""
    if not deviation:
        return np.asarray(predicted == y, dtype=np.float64)
    return np.asarray(1.0 - ((predicted - y) / deviation) ** 2)


def _change(one: NDArray[Any], other: NDArray[Any], deviation: float) -> NDArray[np.float64]:
    if not deviation:
        return np.asarray(one != other, dtype=np.float64)
    return np.asarray(np.abs(one - other) / deviation)


@dataclass(frozen=True, eq=False)
class FeatureImportance:
    """How much predictions rest on a feature or a group of features, measured on samples left out of the fit.

    Attributes
    ----------
    view : str
        Empty for samples that are one table.
    feature : str or int
        Name or position of the column, or name of the group.
    permuted : Difference
        Accuracy, of a regressor R^2, minus that where test samples have these features of other test samples.
    """

    view: str
    feature: str | int
    permuted: Difference


def feature_importances(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    feature_groups: Groups | str | PathLike[str] | None = None,
    cv: Any = None,
    groups: ArrayLike | None = None,
    n_permutations: int = 5,
    random_state: int = 0,
) -> tuple[FeatureImportance, ...]:
    """Measure which features, or groups of features, the predictions of a method rest on, by cross-validation.

    Parameters
    ----------
    estimator : estimator
        With ``predict``. It is cloned, not fitted itself.
    X : table of shape (n, p), or several views, see `mklearn.kernels.Views`
        Views without features, such as `mklearn.kernels.Pairwise`, are not measured.
    y : array of shape (n,)
        Class labels; of a regressor numbers.
    feature_groups : mapping or path, optional
        Columns by the name of their group, or a GMT file, as `mklearn.kernels.group_kernels` takes them; of several
        views a mapping from views to these, and other views are not measured. By default each feature by itself. The
        features of a group are permuted together; groups may overlap.
    cv : int, splitter or iterable of (train, test), optional
        By default five folds, twice.
    groups : array of shape (n,), optional
        Groups of samples, passed to ``cv``.
    n_permutations : int
        Permutations of each feature or group in each split.
    random_state : int
        Of the default splits and of the permutations.

    Returns
    -------
    tuple of FeatureImportance
        The most important first. Differences are shares (0.01 is one point); their 95 % intervals are those of
        `mklearn.base.statistics`, NaN with fewer than five splits.

    Raises
    ------
    DataError
        y has another number of labels, a view is unknown or has no features, or the groups do not fit its columns.
    ConfigError
        ``n_permutations`` is no integer >= 1, or the groups of several views are not by view.

    Notes
    -----
    The method is fitted once for each split, and predicts the test samples once more for each feature or group and
    permutation. Features that tell the same replace each other: each has about 0, their group has not. The intervals
    are of single features: of many, some exclude 0 by chance.

    References
    ----------
    Breiman, "Random forests", Machine Learning 45, 2001, section 10.
    """
    views, labels = as_views(X), np.asarray(y)
    tables = Views({"": X}) if views is None else views
    n_permutations = check_integer(n_permutations, "n_permutations", 1)
    rng = np.random.default_rng(random_state)
    splits, deviation = _splits(estimator, len(tables), labels, cv, groups, random_state)
    found = list(_feature_sets(tables, feature_groups, single=views is None))
    correct = np.full((len(splits), len(labels)), np.nan)
    permuted = [correct.copy() for _ in found]
    for row, (train, test) in enumerate(splits):
        fitted = clone(estimator).fit(tables[train] if views is not None else tables[train][""], labels[train])
        seen = tables[test]
        correct[row, test] = _success(fitted.predict(seen if views is not None else seen[""]), labels[test], deviation)
        for (view, _, columns), values in zip(found, permuted, strict=True):
            drawn = (_permuted(seen, view, rng, columns) for _ in range(n_permutations))
            again = (fitted.predict(each if views is not None else each[""]) for each in drawn)
            values[row, test] = np.mean([_success(each, labels[test], deviation) for each in again], axis=0)
    n_train = float(np.mean([len(train) for train, _ in splits]))
    importances = (
        FeatureImportance(view, name, paired_sample_difference(correct, values, n_train))
        for (view, name, _), values in zip(found, permuted, strict=True)
    )
    return tuple(sorted(importances, key=lambda each: -each.permuted.mean))


def _feature_sets(
    views: Views, feature_groups: Any, *, single: bool
) -> Iterator[tuple[str, str | int, NDArray[np.intp]]]:
    """Yield view, name, and positions of the columns of each feature or group."""
    if feature_groups is None:
        for view in views.names:
            names = _column_names(views[view])
            yield from ((view, name, np.array([number])) for number, name in enumerate(names))
        return
    by_view = {"": feature_groups} if single else feature_groups
    if not isinstance(by_view, Mapping) or not all(isinstance(each, str) for each in by_view):
        raise ConfigError(f"feature_groups is {feature_groups!r}; expected groups by the name of their view")
    for view, given in by_view.items():
        positions = {str(name): number for number, name in enumerate(_column_names(views[view]))}
        if not positions:
            raise DataError(f"feature_groups names view {view!r}, which has no features: it holds pairs of samples")
        if not isinstance(given, Mapping | str | PathLike):
            raise ConfigError(
                f"feature_groups of view {view!r}: expected columns by the name of their group, or a path"
            )
        named = views[view] if hasattr(views[view], "iloc") else len(positions)
        for spec in group_kernels(given, named):
            yield view, spec["id"], np.array([positions[str(column)] for column in spec["columns"]])


def _column_names(table: Any) -> list[Any]:
    """Return names or positions of the features of a view; none of pairs of samples."""
    if isinstance(table, SampleView):
        return []
    return list(table.columns) if hasattr(table, "iloc") else list(range(table.shape[1]))


def linear_weights(fitted: Any, X: Any) -> dict[str, NDArray[np.float64]]:
    """Compute the weights of all features in outputs that are linear in them, as those of linear kernels are.

    Parameters
    ----------
    fitted : fitted estimator
        With ``contributions``, whose sum is taken (`mklearn.MultiViewClassifier`, `mklearn.MultiViewRegressor`), else
        with ``decision_function``, else a regressor with ``predict``.
    X : samples, as for its ``predict``, without missing values
        Their standard deviations make weights comparable, and outputs of theirs show whether these are linear.

    Returns
    -------
    dict of str to array of shape (p, c)
        By view, "" of samples that are one table: by how much each output grows with each feature, per standard
        deviation of the feature over X. Divide by the deviations for weights in units of the features.

    Raises
    ------
    ConfigError
        The outputs are not linear in the features: another kernel, or one with samples of unit length.
    DataError
        A view holds pairs of samples, or there are missing values.
    """
    views = as_views(X)
    tables = Views({"": X}) if views is None else views
    dense = {name: _numbers(tables[name], name) for name in tables.names}
    means = {name: table.mean(axis=0) for name, table in dense.items()}
    deviations = {name: table.std(axis=0) for name, table in dense.items()}

    def outputs(moved: Mapping[str, NDArray[np.float64]]) -> NDArray[np.float64]:
        """Return outputs of samples at the mean but for the given views."""
        n = max(map(len, moved.values()), default=1)
        rows = {name: moved.get(name, np.tile(mean, (n, 1))) for name, mean in means.items()}
        whole = Views({name: _like(table, tables[name]) for name, table in rows.items()})
        return _linear_outputs(fitted, whole if views is not None else whole[""])

    origin, weights = outputs({}), {}
    for name, mean in means.items():
        steps = [np.arange(start, min(start + 500, len(mean))) for start in range(0, len(mean), 500)]
        probes = ({name: mean + np.eye(len(mean))[part] * deviations[name]} for part in steps)
        weights[name] = np.concatenate([outputs(probe) - origin for probe in probes])
    scaled = (
        (table - means[name]) / np.where(deviations[name] > 0, deviations[name], 1) for name, table in dense.items()
    )
    linear = origin + sum(table @ weights[name] for name, table in zip(dense, scaled, strict=True))
    measured = outputs(dense)
    if not np.abs(measured - linear).max() <= 1e-6 * max(np.abs(measured - origin).max(), np.finfo(float).tiny):
        raise ConfigError(
            f"the outputs of {type(fitted).__name__} are not linear in the features: expected linear kernels whose "
            "samples are not scaled to unit length (`normalise`); `feature_importances` takes any method"
        )
    return weights


def _linear_outputs(fitted: Any, X: Any) -> NDArray[np.float64]:
    if hasattr(fitted, "contributions"):
        return np.asarray(sum(fitted.contributions(X).values()))
    if not hasattr(fitted, "decision_function") and not is_regressor(fitted):
        raise ConfigError(f"{type(fitted).__name__} has no outputs: expected `contributions` or `decision_function`")
    found = fitted.predict(X) if is_regressor(fitted) else fitted.decision_function(X)
    return np.asarray(found, dtype=np.float64).reshape(len(found), -1)


def _numbers(table: Any, view: str) -> NDArray[np.float64]:
    """Return a view as an array of numbers that are all known."""
    if isinstance(table, SampleView):
        raise DataError(f"view {view!r} has no features: it holds pairs of samples")
    numbers = np.asarray(table.toarray() if hasattr(table, "toarray") else table, dtype=np.float64)
    if not np.isfinite(numbers).all():
        raise DataError(f"view {view!r} has missing values: weights need samples that have all of them")
    return numbers


def _like(rows: NDArray[np.float64], table: Any) -> Any:
    """Return rows as a DataFrame where the table is one."""
    return type(table)(rows, columns=table.columns) if hasattr(table, "iloc") else rows


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


def _permuted(views: Views, name: str, rng: np.random.Generator, columns: NDArray[np.intp] | None = None) -> Views:
    """Give samples a view, or some columns of it, of other samples."""
    shuffled = views[rng.permutation(len(views))][name]
    if hasattr(shuffled, "iloc"):
        shuffled = shuffled.set_axis(views.index)
    if columns is not None:
        shuffled = _with_columns(views[name], shuffled, columns)
    return Views({each: shuffled if each == name else views[each] for each in views.names})


def _with_columns(table: Any, other: Any, columns: NDArray[np.intp]) -> Any:
    """Return a copy of a table with some columns of another one."""
    sparse = hasattr(table, "tolil")
    changed = table.tolil() if sparse else table.copy()
    if hasattr(table, "iloc"):
        for column in columns:
            changed.isetitem(column, other.iloc[:, column])
        return changed
    changed[:, columns] = other[:, columns]
    return changed.tocsr() if sparse else changed


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
