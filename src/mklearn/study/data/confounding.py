"""Notes on batches, groups and missing tables that predict the target, so that methods may learn them instead."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.base.folds import groups_of_classes
from mklearn.base.permutation import association, indicators, left_out_outputs
from mklearn.base.side_by_side import SideBySide
from mklearn.kernels.views import Views
from mklearn.study.data.samples import SampleSet, some
from mklearn.survival.kaplan_meier import pseudo_restricted_means
from mklearn.survival.times import times_and_events

MOST_SAMPLES, MOST_BATCHES, SHUFFLES = 1000, 50, 199
"""Maximum number of samples in a test, maximum number of values of a batch column, and number of shuffles."""
LEAST_R2, LARGEST_P = 0.02, 0.01
"""Smallest left-out R^2 and largest p-value with which features are said to predict the target."""
FEWEST_BATCHES = 5
"""Smallest number of values per class with which a column whose values have one class each is not reported, because the
values are units, such as patients. For numeric targets, twice as many values are needed in all."""


def confounding_notes(samples: SampleSet, group_column: str | None = None) -> Iterator[str]:
    """Yield a sentence on missing tables, and one on each batch column, if they predict the target of left-out samples.

    A batch column is reported only if the views predict it too. A column whose values have one class each lists units,
    such as patients, and is not reported unless a class has fewer than `FEWEST_BATCHES` values.
    """
    if samples.survival:  # pseudo-observations stand for times that are censored
        time, event = times_and_events(samples.y)
        means = pseudo_restricted_means(time, event, float(time[event].max()))
        samples = replace(samples, labels=means, survival=False)
    rows = np.sort(np.random.default_rng(0).permutation(len(samples))[:MOST_SAMPLES])
    if len(np.unique(samples.y[rows])) < 2:
        return
    samples = samples.subset(rows)
    groups = samples.groups if samples.groups is not None and len(np.unique(samples.groups)) > 1 else None
    yield from _gap_notes(samples, groups)
    for name, values in samples.batches.items():
        levels, codes = np.unique(values, return_inverse=True)
        units, batch = None if name == group_column else groups, indicators(codes)
        statement = _dependence(samples, name, batch, units) if 2 <= len(levels) <= MOST_BATCHES else ""
        if not statement:
            continue
        views = Views({**samples.tables, **samples.matrices})
        features = SideBySide(feature_scaling="standard", impute="mean").fit_transform(views)
        correct = (left_out_outputs(features, batch, units).argmax(axis=1) == codes).mean()
        base = float(batch.mean(axis=0).max())
        if correct > base + 3 * np.sqrt(base * (1 - base) / len(codes)):
            advice = f"Splits that hold out whole values exclude this (group_column: {name}, protocol group_k_fold)"
            if samples.target == "classes" and min(groups_of_classes(samples.y, codes)) < 2:
                mixed = levels[(batch.T @ indicators(samples.y) > 0).sum(axis=1) > 1]
                told = f": compare the classes within {name!r} {some(mixed)}"
                told = told if len(mixed) else ", so these data can't tell the two apart"
                advice = f"All samples of a class have one value{told}"
            yield (
                f"{statement}, and the views predict {name!r} ({correct:.0%} of the left-out samples; most frequent "
                f"value: {base:.0%}): a method may recognise {name!r} instead of the target. {advice}"
            )


def _gap_notes(samples: SampleSet, groups: NDArray[np.str_] | None) -> Iterator[str]:
    absent = np.array([np.isnan(table).all(axis=1) for table in samples.tables.values()]).T
    if not absent.any():
        return
    if numbers := _prediction(absent.astype(np.float64), samples.y, groups):
        yield (
            f"the tables that a sample lacks predict its target ({numbers}): a method may learn the gaps "
            "instead of the values. Compare scores on the samples that have all tables (missing_views: drop)"
        )


def _dependence(samples: SampleSet, name: str, batch: NDArray[Any], units: NDArray[np.str_] | None) -> str:
    """Return the start of a sentence if the target depends on a column with indicators `batch`, else ""."""
    y, codes = samples.y, batch.argmax(axis=1)
    firsts = np.unique(codes, return_index=True)[1]
    if not (y == y[firsts][codes]).all():
        numbers = _prediction(batch, y, units)
        return f"{name!r} predicts the target ({numbers})" if numbers else ""
    if samples.target == "numbers":
        return f"each of {len(firsts)} values of {name!r} has one target" if len(firsts) < 2 * FEWEST_BATCHES else ""
    few = samples.classes[np.bincount(y[firsts], minlength=len(samples.classes)) < FEWEST_BATCHES]
    counted = f"fewer than {FEWEST_BATCHES} values have class {some(few)}"
    return f"each value of {name!r} has one class only ({counted})" if len(few) else ""


def _prediction(features: NDArray[Any], y: NDArray[Any], groups: NDArray[np.str_] | None) -> str:
    """Return R^2 and p-value as text if features predict the target of left-out samples, else ""."""
    test = association(features, y, groups, n_shuffles=SHUFFLES)
    predicts = test.score >= LEAST_R2 and test.p_value <= LARGEST_P
    return f"left-out R² {test.score:.2f}, p = {test.p_value:.3f} in {SHUFFLES} shuffles" if predicts else ""
