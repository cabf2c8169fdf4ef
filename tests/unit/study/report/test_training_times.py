"""Training times, and their ratios to those of the reference."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from mklearn.study.report.frames import typical_times


def score(method: str, repeat: int, seconds: float, neighbour: str = "cosine", **more: Any) -> dict[str, Any]:
    return {
        "dataset": "d", "protocol": "p", "train_size": None, "repeat": repeat, "fold": 0, "method": method,
        "label": method, "kernel_set": "k", "neighbour": neighbour, "selection": "inner_cv", "dimension": 1,
        "value": 0.5, "status": "ok", "fit_seconds": seconds,
    } | more  # fmt: skip


def test_times_are_divided_by_the_reference_s_on_the_same_split_under_the_same_rule() -> None:
    scores = pd.DataFrame([
        score("average", 0, 5.0, "euclidean"), score("mkl", 0, 30.0, "euclidean"),
        score("average", 0, 2.0), score("average", 1, 4.0), score("mkl", 0, 20.0), score("mkl", 1, 21.0),
        score("mkl", 2, 22.0), score("mkl", 1, 99.0, selection="iteration"), score("mkl", 1, 77.0, value=None),
        score("ridge", 0, 1.0, ""), score("ridge", 1, 0.0, ""), score("late", 2, 1.0),
        score("oracle", 1, 8.0, selection="dimension"), score("oracle", 1, 8.0, selection="dimension", dimension=2),
    ]).astype({"train_size": "Int64"})  # fmt: skip
    times = typical_times(scores, "average").set_index(["label", "neighbour"])[["seconds", "ratio"]]
    assert times.T.to_dict("list") == {
        ("mkl", "cosine"): [21.0, pytest.approx((20 / 2 + 21 / 4) / 2)],
        ("mkl", "euclidean"): [30.0, 6.0],
        ("ridge", ""): [pytest.approx((1 + 1e-4) / 2), pytest.approx((1 / 2 + 1e-4 / 4) / 2)],
        ("oracle", "cosine"): [8.0, 2.0],
        ("average", "cosine"): [3.0, 1.0],
        ("average", "euclidean"): [5.0, 1.0],
        ("late", "cosine"): [1.0, pytest.approx(math.nan, nan_ok=True)],
    }
