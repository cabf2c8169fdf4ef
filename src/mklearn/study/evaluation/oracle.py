"""Choice of a kernel by the test samples themselves: an upper bound that no user can reach."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from mklearn.errors import NotApplicable
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.selection import UPPER_BOUND
from mklearn.study.evaluation.split import SplitResult

WHY = f"the kernel is chosen {UPPER_BOUND}"


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
    try:
        curves = [result.rules[rule].predictions.scores(metric_named(metric)) for result in results]
    except NotApplicable:
        return -np.inf
    width = min(curve.size for curve in curves)
    return float(np.mean([curve[:width] for curve in curves], axis=0).max())
