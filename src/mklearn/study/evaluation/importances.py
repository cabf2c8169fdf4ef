"""Permutation importance of views and features, measured on test samples."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.utils.validation import has_fit_parameter

from mklearn.base.folds import held_out
from mklearn.base.statistics import paired_sample_difference
from mklearn.descriptors.table import TABLE
from mklearn.errors import NotApplicable, SolverFailed
from mklearn.inspection import measure_of_predictions
from mklearn.kernels.completion import lacking
from mklearn.kernels.views import Views
from mklearn.study.data.splits import Split
from mklearn.study.specs.final_spec import ModelView

MEASURED = 5
"""Maximum number of splits: the fewest that give an interval."""
COLUMNS = ("view", "feature", "measure", "loss", "low", "high", "splits", "permutations", "message")
"""Columns of the table. ``feature`` is empty if all features of a view are shuffled together. If nothing could be
measured, the table has a single row with the ``message`` and neither view nor feature."""


def importances(
    estimator: Any, X: Views, inputs: Sequence[ModelView], y: NDArray[Any], splits: Sequence[Split], *,
    permutations: int, seed: int, groups: NDArray[np.str_] | None = None,
) -> pd.DataFrame:  # fmt: skip
    """Compute the permutation importance of each view, and of each feature of a table.

    A clone of the estimator is fitted on the training samples of each of the first splits. The loss is the accuracy (R²
    for a regressor, Harrell's C for survival times) on the test samples, minus the value after shuffling a view or
    feature among them. The result has the columns `COLUMNS` and a row for each view and feature, the most important
    first, with 95 % intervals, for new groups if the splits hold out several whole ones. If the estimator can't be
    fitted, or no measure computed, the only row has the reason.

    Notes
    -----
    Redundant features replace each other: each has an importance of about 0, but their view has a larger one. The
    intervals are not corrected for multiple comparisons: with many features, some exclude 0 by chance.

    References
    ----------
    Breiman, "Random forests", Machine Learning 45, 2001, section 10.
    """
    splits = splits[:MEASURED]
    measure, value, bounds = measure_of_predictions(estimator, y)
    rng, shuffled = np.random.default_rng(seed), list[tuple[str, str, list[int]]]()
    for view in inputs:
        width = X[view.name].shape[1]
        names = (view.columns or map(str, range(width))) if view.kind == TABLE else ()
        shuffled.append((view.name, "", list(range(width))))
        shuffled += [(view.name, name, [column]) for column, name in enumerate(names)]
    right = np.full((len(splits), len(y)), np.nan)
    permuted = [right.copy() for _ in shuffled]
    for row, split in enumerate(splits):
        train, test = split.train, split.test
        beside = {"groups": groups[train]} if groups is not None and has_fit_parameter(estimator, "groups") else {}
        try:
            fitted, tested = clone(estimator).fit(X[train], y[train], **beside), X[test]
            right[row, test] = value(fitted.predict(tested), y[test])
        except (NotApplicable, SolverFailed, np.linalg.LinAlgError) as reason:
            return pd.DataFrame([{"view": "", "feature": "", "message": str(reason)}], columns=COLUMNS)
        for (name, _, columns), values in zip(shuffled, permuted, strict=True):
            again = [fitted.predict(_permuted(tested, name, columns, rng)) for _ in range(permutations)]
            values[row, test] = np.mean([value(each, y[test]) for each in again], axis=0)
    n_train = float(np.mean([len(split.train) for split in splits]))
    whole = held_out(groups, [(split.train, split.test) for split in splits], len(y))
    losses = [paired_sample_difference(right, values, n_train, bounds=bounds, groups=whole) for values in permuted]
    rows = [
        (view, name, measure, loss.mean, loss.low, loss.high, len(splits), permutations, "")
        for (view, name, _), loss in sorted(zip(shuffled, losses, strict=True), key=lambda pair: -pair[1].mean)
    ]
    return pd.DataFrame(rows, columns=COLUMNS)


def _permuted(views: Views, name: str, columns: list[int], rng: np.random.Generator) -> Views:
    """Permute some columns of a view among the samples that have the view."""
    table, having = views[name], np.flatnonzero(~lacking(views[name]))
    changed = table.copy()
    changed[having[:, None], columns] = table[rng.permutation(having)[:, None], columns]
    return Views({each: changed if each == name else views[each] for each in views.names})
