"""Features that predictions rest on, measured by permutation."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone, is_regressor
from sklearn.model_selection import check_cv

from mklearn.base.folds import default_splitter
from mklearn.base.statistics import Difference, paired_sample_difference
from mklearn.base.validation import aligned
from mklearn.checks import check_integer
from mklearn.errors import ConfigError, DataError
from mklearn.kernels.column_groups import Groups, group_kernels
from mklearn.kernels.completion import lacking
from mklearn.kernels.views import SampleView, Views, as_views


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


@aligned
def feature_importances(
    estimator: Any,
    X: Any,
    y: ArrayLike,
    *,
    feature_groups: Groups | Mapping[str, Groups] | str | PathLike[str] | None = None,
    cv: Any = None,
    groups: ArrayLike | None = None,
    n_permutations: int = 5,
    random_state: int = 0,
    fit_parameters: Mapping[str, ArrayLike] | None = None,
) -> tuple[FeatureImportance, ...]:
    """Measure which features, or groups of features, the predictions of a method rest on, by cross-validation.

    Parameters
    ----------
    estimator : estimator
        With ``predict``. It is cloned, not fitted itself.
    X : table of shape (n, p), or several views, see `mklearn.kernels.Views`
        Views without features, such as `mklearn.kernels.Pairwise` or texts, are not measured.
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
    fit_parameters : mapping of str to array of shape (n,), optional
        What ``fit`` takes of each sample beside X and y, such as ``groups``.

    Returns
    -------
    tuple of FeatureImportance
        The most important first. Differences are shares (0.01 is one point); their 95 % intervals are those of
        `mklearn.base.statistics`, NaN with two to four splits.

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
    splits, deviation = permutation_splits(estimator, len(tables), labels, cv, groups, random_state)
    found = list(_feature_sets(tables, feature_groups, single=views is None))
    beside = {name: np.asarray(values) for name, values in (fit_parameters or {}).items()}
    correct = np.full((len(splits), len(labels)), np.nan)
    permuted = [correct.copy() for _ in found]
    for row, (train, test) in enumerate(splits):
        known = tables[train]
        given = {name: values[train] for name, values in beside.items()}
        fitted = clone(estimator).fit(known if views is not None else known[""], labels[train], **given)
        seen = tables[test]
        correct[row, test] = success(fitted.predict(seen if views is not None else seen[""]), labels[test], deviation)
        for (view, _, columns), values in zip(found, permuted, strict=True):
            drawn = (permute_view(seen, view, rng, columns) for _ in range(n_permutations))
            again = (fitted.predict(each if views is not None else each[""]) for each in drawn)
            values[row, test] = np.mean([success(each, labels[test], deviation) for each in again], axis=0)
    n_train = float(np.mean([len(train) for train, _ in splits]))
    importances = (
        FeatureImportance(view, name, loss(correct, values, n_train, deviation))
        for (view, name, _), values in zip(found, permuted, strict=True)
    )
    return tuple(sorted(importances, key=lambda each: -each.permuted.mean))


def permutation_splits(
    estimator: Any, n: int, labels: NDArray[Any], cv: Any, groups: ArrayLike | None, random_state: int
) -> tuple[list[tuple[NDArray[np.intp], NDArray[np.intp]]], float]:
    """Return the splits, by default five folds, twice; and the standard deviation of numbers, 0 of class labels."""
    if labels.shape != (n,):
        raise DataError(f"y has shape {labels.shape} for {n} samples; expected one label for each")
    numbers = is_regressor(estimator)
    if cv is None:
        cv = default_splitter(estimator, random_state)
    if numbers and np.isnan(labels).any():
        raise DataError("y has missing values: leave these samples out")
    deviation = float(np.std(labels)) if numbers else 0.0
    if numbers and not np.ptp(labels) > 0:
        raise DataError("the target is constant: there is nothing that views could contribute")
    return list(check_cv(cv, labels, classifier=not numbers).split(np.zeros(n), labels, groups)), deviation


def loss(first: NDArray[Any], second: NDArray[Any], n_train: float, deviation: float) -> Difference:
    """Return the mean difference of values of `success` with its interval: R^2 has none of the accuracy's bounds."""
    bounds = (-math.inf, 1.0) if deviation else (0.0, 1.0)
    return paired_sample_difference(first, second, n_train, bounds=bounds)


def success(predicted: NDArray[Any], y: NDArray[Any], deviation: float) -> NDArray[np.float64]:
    """Return values whose mean is the accuracy, or R^2 where the target has a standard deviation."""
    if not deviation:
        return np.asarray(predicted == y, dtype=np.float64)
    return np.asarray(1.0 - ((predicted - y) / deviation) ** 2)


def permute_view(views: Views, name: str, rng: np.random.Generator, columns: NDArray[np.intp] | None = None) -> Views:
    """Give samples a view, or some columns of it, of other samples; those that lack the view keep no column of it."""
    order = np.arange(len(views))
    having = order if columns is None else np.flatnonzero(~lacking(views[name]))
    order[having] = rng.permutation(having)
    shuffled = views[order][name]
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
            raise DataError(f"feature_groups names view {view!r}, which has no features; expected a view with columns")
        if not isinstance(given, Mapping | str | PathLike):
            raise ConfigError(
                f"feature_groups of view {view!r}: expected columns by the name of their group, or a path"
            )
        named = views[view] if hasattr(views[view], "iloc") else len(positions)
        for spec in group_kernels(given, named):
            chosen = [positions.get(column, column) for column in spec["columns"]]  # positions stand for themselves
            yield view, spec["id"], np.array(chosen)


def _column_names(table: Any) -> list[Any]:
    """Return names or positions of the features of a view; none of pairs of samples, or of one value for each."""
    if isinstance(table, SampleView) or len(table.shape) < 2:
        return []
    return list(table.columns) if hasattr(table, "iloc") else list(range(table.shape[1]))
