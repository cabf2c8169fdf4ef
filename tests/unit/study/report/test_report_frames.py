"""Small frames and tables of a report: weights, training times, kernels, embeddings."""

from __future__ import annotations

import json
import math
import re
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.unit.study.report.conftest import read

from mklearn.inspection import weight_stability
from mklearn.study.report.figures_of_fits import embedding
from mklearn.study.report.frames import chosen_scalings, results_of, thinned, typical_times
from mklearn.study.report.tables import kernel_table
from mklearn.study.report.weights import weights_frame, weights_tables


def test_weights_over_splits_are_tabulated(study, report):
    """Learned weights and picks have a row, the uniform average none; the CSV has every kernel's numbers."""
    html, text = read(report)
    saved = pd.read_csv(report / "weights.csv")
    learned = {record.method: record for record in study["fits"] if record.method in ("mkldr", "random", "kfd")}
    assert set(saved["method"]) == set(learned)
    for method, record in learned.items():
        own = saved[saved["method"] == method]
        found = weight_stability(record.weights)
        assert list(own["kernel"]) == list(record.kernel_ids)
        np.testing.assert_allclose(own["mean"], record.weights.mean(axis=0))
        np.testing.assert_allclose(own["std"], record.weights.std(axis=0, ddof=1), atol=1e-12)
        assert own["between_splits"].unique() == pytest.approx(found.between_splits)
        first = record.kernel_ids[int(found.mean.argmax())]
        row = f"| {record.method_title} | {found.between_splits:.2f} | {found.from_equal:.2f} | 5 | {first}"
        assert row in text
    assert "Between splits: total variation distance" in html
    assert re.search(r"leave a view\s+out \(kernels: all_but_each\)", html)


def test_a_study_without_learned_weights_has_no_such_table(study, report_of_numbers):
    fits = [record for record in study["fits"] if record.method == "average"]
    results = results_of(study["scores"], study["summary"], fits)
    assert weights_tables(results) == []
    assert weights_frame(results).empty
    assert not (report_of_numbers / "weights.csv").exists()
    assert "Between splits" not in read(report_of_numbers)[0]


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


@pytest.mark.parametrize("automatic", [True, False])
def test_the_scalings_of_a_kernel_are_counted_by_split(automatic: bool) -> None:
    """And not over methods or metrics; without automatic scalings there is no column."""
    info = pd.DataFrame({"kernel": ["rna", "protein"], "bandwidth": [2.0, 3.0]})
    rows = [(0, {"feature_scaling": "minmax"})]  # a parameter of the method's own
    for fold, ridge in [(fold, ridge) for fold in range(5) for ridge in (0.1, 0.1, 1.0)]:
        scaling = {"feature_scaling": {"rna": "unit" if fold == 4 else "rank"}} if automatic else {}
        rows.append((fold, {"ridge": ridge, **scaling}))
    scores = pd.DataFrame([{"repeat": 0, "fold": fold, "parameters": json.dumps(chosen)} for fold, chosen in rows])
    table = kernel_table(info, chosen_scalings(scores), "Kernels")
    assert [column.title for column in table.columns][:2] == ["Kernel", "Scaling" if automatic else "Bandwidth"]
    assert {len(row) for row in table.rows} == {len(table.columns)}
    if automatic:
        assert [row[1].text for row in table.rows] == ["rank (4), unit (1)", "–"]


@pytest.mark.parametrize(("n", "shown"), [(90, 90), (1200, 1200), (3060, 1200)])
def test_a_large_embedding_is_thinned_evenly(n: int, shown: int) -> None:
    kept = thinned(pd.DataFrame({"x": np.arange(n, dtype=float)}))["x"]
    assert len(kept) == shown
    assert kept.iloc[[0, -1]].tolist() == [0.0, n - 1]
    assert kept.is_unique


def test_an_embedding_in_one_dimension_has_a_row_for_each_class() -> None:
    """Kills two classes on one line, with their names on top of each other."""
    points = pd.DataFrame({"x": [0.1, 0.2, 0.3], "y": 0.0, "label": ["a", "b", "b"], "role": ["train", "test", "test"]})
    flat = embedding(points, label="KFD")
    assert flat["encoding"]["y"]["field"] == "c"
    assert len(flat["layer"]) == 1
    plane = embedding(points.assign(y=points["x"]), label="KFD")
    assert plane["encoding"]["y"]["field"] == "y"
