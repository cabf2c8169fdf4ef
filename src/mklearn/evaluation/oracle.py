"""Choices by the test samples themselves: upper bounds that no user can reach."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from mklearn.errors import NotApplicable

if TYPE_CHECKING:
    import pandas as pd

    from mklearn.evaluation.split import SplitResult

WHY = "the kernel is chosen on the test samples: an upper bound, which has no value without them"


def best_on_test(
    candidates: Sequence[Sequence[SplitResult | Exception]], metric: str = "accuracy"
) -> list[SplitResult | Exception]:
    """Return, by each nearest-neighbour rule, the results of the candidate whose mean test curve is highest.

    Parameters
    ----------
    candidates : sequence of sequence
        Results on each split, for each candidate. One that failed on a split takes no part, unless all did.
    metric : str
        Metric of the curve; larger is better.

    Returns
    -------
    results : list
        For each split, those of the chosen candidate; of several with the same value the first.
    """
    from mklearn.evaluation.split import SplitResult

    complete = [[result for result in results if isinstance(result, SplitResult)] for results in candidates]
    complete = [results for results in complete if len(results) == len(candidates[0])]
    if not complete:
        return list(candidates[0])
    chosen = {}
    for rule in complete[0][0].rules:
        peaks = [_peak(results, rule, metric) for results in complete]
        chosen[rule] = complete[int(np.argmax(peaks))]
    merged: list[SplitResult | Exception] = []
    for split in range(len(candidates[0])):
        rules = {rule: results[split].rules[rule] for rule, results in chosen.items()}
        merged.append(SplitResult(rules, selection_message=WHY) if rules else NotApplicable(WHY))
    return merged


def _peak(results: Sequence[SplitResult], rule: str, metric: str) -> float:
    """Return the best value of the mean curve, over the numbers of components that every split has."""
    curves = [result.rules[rule].scores.get(metric, np.array([-np.inf])) for result in results]
    width = min(curve.size for curve in curves)
    return float(np.mean([curve[:width] for curve in curves], axis=0).max())


def best_dimension(values: pd.DataFrame, larger_is_better: bool = True) -> int:
    """Return the dimension whose mean over the splits is best; of several the smallest.

    Only dimensions that the largest number of splits reached take part: else one lucky split could win a dimension.

    Parameters
    ----------
    values : DataFrame
        ``dimension`` and ``value``, a row for each split and dimension.
    """
    curve = values.dropna(subset=["dimension"]).groupby("dimension")["value"].agg(["mean", "count"])
    curve = curve[curve["count"] == curve["count"].max()].sort_index()
    heights = curve["mean"] if larger_is_better else -curve["mean"]
    return int(curve.index[heights >= heights.max() - 1e-12][0])
