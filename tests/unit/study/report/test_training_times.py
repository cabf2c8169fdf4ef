"""Training times, and their ratios to those of the reference."""

from __future__ import annotations

import math
from typing import Any

import pandas as pd
import pytest

from mklearn.study.report.frames import Results, results_of, training_times
from mklearn.study.report.tables import result_table

pytestmark = pytest.mark.full

NAN = math.nan
SPLITS = 6


def made_of(*rows: tuple[Any, ...], **more: Any) -> Results:
    """Results of rows (method, neighbour, mean, difference, low, high, seconds), the same seconds in each split."""
    names = ["method", "neighbour", "mean", "difference", "difference_low", "difference_high", "fit_seconds"]
    frame = pd.DataFrame(rows, columns=names).assign(
        dataset="d", dataset_title="Data", protocol="p", train_size=5, kernel_set="k", selection="inner_cv", std=0.01,
        metric="accuracy", message="", status="ok", n_repeats=SPLITS, n_failed=0, p_holm=NAN, dimension=None,
        published=NAN,
    )  # fmt: skip
    frame = frame.assign(ci_low=frame["mean"] - 0.01, ci_high=frame["mean"] + 0.01, **more)
    frame["method_title"] = frame["method"].replace("average", "the average")
    splits = frame.merge(pd.DataFrame({"repeat": range(SPLITS), "fold": 0}), how="cross").assign(value=frame["mean"][0])
    splits.loc[splits["mean"].isna(), "value"] = NAN
    return results_of(splits, frame.drop(columns="fit_seconds"), [])


AVERAGE = ("average", "cosine", 0.7, 0.0, 0.0, 0.0, 2.0)
RIDGE = ("ridge", "", 0.699, -0.001, -0.004, 0.002, 0.08)
WINNER = ("mkl", "cosine", 0.75, 0.05, 0.02, 0.08, 40.0)
TIE = ("mkl", "cosine", 0.703, 0.003, -0.005, 0.011, 24.0)


def score(method: str, repeat: int, seconds: float, neighbour: str = "cosine", **more: Any) -> dict[str, Any]:
    return {
        "dataset": "d", "protocol": "p", "train_size": None, "repeat": repeat, "fold": 0, "method": method,
        "label": method, "kernel_set": "k", "neighbour": neighbour, "selection": "inner_cv", "dimension": 1,
        "value": 0.5, "status": "ok", "fit_seconds": seconds,
    } | more  # fmt: skip


def test_times_are_divided_by_the_reference_s_on_the_same_split_under_the_same_rule() -> None:
    euclidean = [score("average", 0, 5.0, "euclidean"), score("mkl", 0, 30.0, "euclidean")]
    scores = pd.DataFrame([
        *euclidean, score("average", 0, 2.0), score("average", 1, 4.0), score("mkl", 0, 20.0), score("mkl", 1, 20.0),
        score("mkl", 2, 20.0), score("mkl", 1, 99.0, selection="iteration"), score("ridge", 0, 1.0, ""),
        score("ridge", 1, 0.0, ""), score("mkl", 1, 77.0, status="failed", value=None),
        score("oracle", 1, 8.0, selection="dimension"), score("oracle", 1, 8.0, selection="dimension", dimension=2),
    ]).astype({"train_size": "Int64"})  # fmt: skip
    times = training_times(scores, "average").set_index(["method", "neighbour", "repeat"])
    assert len(times) == 10, "one row for each fit and rule"
    for place, (seconds, ratio) in {
        ("mkl", "cosine", 0): (20.0, 10.0), ("mkl", "cosine", 1): (20.0, 5.0), ("mkl", "cosine", 2): (20.0, NAN),
        ("mkl", "euclidean", 0): (30.0, 6.0), ("ridge", "", 0): (1.0, 0.5), ("ridge", "", 1): (1e-4, 2.5e-5),
        ("oracle", "cosine", 1): (8.0, 2.0), ("average", "euclidean", 0): (5.0, 1.0),
    }.items():  # fmt: skip
        assert times.loc[place, ["seconds", "ratio"]].tolist() == pytest.approx([seconds, ratio], nan_ok=True), place


def test_the_result_table_shows_the_ratio_beside_the_difference() -> None:
    results = made_of(AVERAGE, RIDGE, TIE, (*WINNER[:2], NAN, NAN, NAN, NAN, NAN))
    table = result_table(results, results.settings[0])
    heads = [column.title for column in table.columns]
    place = heads.index("Time, × reference")
    assert heads[place - 1].startswith("Difference")
    assert {row[0].text: (row[place].text, row[heads.index("Fit, s")].text) for row in table.rows} == {
        "mkl": ("12 ×", "24"), "the average": ("1 ×", "2.0"), "ridge": ("0.04 ×", "0.08"),
    }  # fmt: skip
