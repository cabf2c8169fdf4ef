"""What views and features contribute to predictions, how stable kernel weights are, how often kernels are chosen.

Kernel weights say little about it: views that tell the same share a weight in any proportion, and a kernel of small
scale needs a large one.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone

from mklearn.base.statistics import Difference
from mklearn.base.validation import aligned
from mklearn.checks import check_integer
from mklearn.errors import ConfigError, DataError
from mklearn.feature_importances import (
    FeatureImportance,
    feature_importances,
    linear_weights,
    loss,
    permutation_splits,
    permute_view,
    success,
)
from mklearn.kernels.specs import KernelsOfSpecs
from mklearn.kernels.views import Views, as_views
from mklearn.stability_selection import SelectionFrequencies, stability_selection
from mklearn.weight_stability import WeightStability, kernel_weights_over_splits, weight_stability

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


@aligned
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
        `Pipeline`, are left out with a view that they read, products with the view of any factor. It is cloned, not
        fitted itself.
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
        `mklearn.base.statistics`, NaN with two to four splits.

    Raises
    ------
    DataError
        X is not several views, or y has another number of labels.
    ConfigError
        ``n_permutations`` is no integer >= 1, kernel specs are not valid, or all kernels read one of the views.

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
            loss(correct, permuted[name], n_train, deviation),
            loss(correct, left_out[name], n_train, deviation),
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


@aligned
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
        NaN for a target, or a class, that is constant over the samples. Samples without a value of a target (NaN) are
        left out of its shares.

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
    known = ~np.isnan(values)
    counts = np.maximum(known.sum(axis=0), 1)

    def mean(numbers: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.asarray(np.where(known, numbers, 0.0).sum(axis=0) / counts)

    deviations = np.where(known, values - mean(values), 0.0)
    total = (deviations**2).sum(axis=0)
    total[~(np.fmax.reduce(values) > np.fmin.reduce(values))] = np.nan
    other = np.where(known, 2 * deviations - (outputs - mean(outputs)), 0.0)
    views = {name: ((part - mean(part)) * other).sum(axis=0) / total for name, part in parts.items()}
    offset = -counts * (mean(outputs) - mean(values)) ** 2 / total
    return R2Shares(views, offset, offset + sum(views.values()))


def _others(views: Views, name: str) -> Views:
    return Views({each: views[each] for each in views.names if each != name})


def _without(estimator: Any, view: str) -> Any:
    """Return a clone of an estimator without the kernels that read a view."""
    changes = {}
    for parameter, kernels in estimator.get_params(deep=True).items():
        if parameter.split("__")[-1] != "kernels" or not isinstance(kernels, Mapping | list | tuple):
            continue
        specs = KernelsOfSpecs(kernels)
        if specs.for_each_view:
            continue
        changes[parameter] = specs.without_view(view)
        if not changes[parameter]:
            raise ConfigError(
                f"without view {view!r} no kernel is left in `{parameter}`: expected one that reads other views alone"
            )
    return clone(estimator).set_params(**changes)
