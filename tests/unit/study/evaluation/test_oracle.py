"""The choice by the test samples: of whole methods on all splits, and said to be what it is."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from mklearn.errors import NotApplicable
from mklearn.study.evaluation.oracle import WHY, best_on_test
from mklearn.study.evaluation.outputs import RulePredictions
from mklearn.study.evaluation.split import SplitResult


def result(**curves: list[float]) -> Any:
    """Curves of accuracies of ten samples."""
    y, rules = np.arange(10), {}
    for rule, curve in curves.items():
        labels = np.array([np.where(y < round(10 * share), y, -1) for share in curve])
        predictions = RulePredictions(y, y, labels, range(1, len(curve) + 1), None, y, y)
        rules[rule] = SimpleNamespace(predictions=predictions)
    return SplitResult(rules)  # type: ignore[arg-type]


def test_takes_the_best_mean_curve_of_each_rule() -> None:
    first = [result(euclidean=[0.9, 0.1], cosine=[0.2, 0.2]), result(euclidean=[0.1, 0.3], cosine=[0.2, 0.2])]
    second = [result(euclidean=[0.4, 0.6], cosine=[0.1, 0.1]), result(euclidean=[0.4, 0.5], cosine=[0.1, 0.1])]
    chosen = best_on_test([first, second])
    assert [entry.rules["euclidean"] for entry in chosen] == [entry.rules["euclidean"] for entry in second]  # type: ignore[union-attr]
    assert [entry.rules["cosine"] for entry in chosen] == [entry.rules["cosine"] for entry in first]  # type: ignore[union-attr]
    assert all(entry.selection_message == WHY for entry in chosen)  # type: ignore[union-attr]


def test_a_candidate_that_failed_takes_no_part() -> None:
    good, failed = [result(euclidean=[0.1]), result(euclidean=[0.1])], [result(euclidean=[0.9]), NotApplicable("rank")]
    assert best_on_test([failed, good])[0].rules == good[0].rules  # type: ignore[union-attr]
    only = best_on_test([failed])
    assert isinstance(only[1], NotApplicable)
