"""Which embeddings a page shows, and how many points of each."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mklearn.study.report import frames
from mklearn.study.report.figures_of_fits import embedding
from mklearn.study.report.records import FitRecord

RECORD = FitRecord("data", "halves", None, "kfd", "KFD")


@pytest.mark.parametrize(("n", "shown"), [(90, 90), (1200, 1200), (3060, 1200)])
def test_a_large_embedding_is_thinned_evenly(n: int, shown: int) -> None:
    points = pd.DataFrame({"x": np.arange(n, dtype=float), "y": 0.0, "label": "a", "role": "train"})
    thinned = frames.embedding(replace(RECORD, embedding=points))
    assert len(thinned) == shown
    assert thinned["x"].iloc[[0, -1]].tolist() == [0.0, n - 1]
    assert thinned["x"].is_unique


def test_an_embedding_in_one_dimension_has_a_row_for_each_class() -> None:
    """Kills two classes on one line, with their names on top of each other."""
    points = pd.DataFrame({"x": [0.1, 0.2, 0.3], "y": 0.0, "label": ["a", "b", "b"], "role": ["train", "test", "test"]})
    flat = embedding(points, label="KFD")
    assert flat["encoding"]["y"]["field"] == "c"
    assert len(flat["layer"]) == 1
    plane = embedding(points.assign(y=points["x"]), label="KFD")
    assert plane["encoding"]["y"]["field"] == "y"


@pytest.mark.parametrize(
    ("methods", "expected"),
    [
        (("kfd", "average", "mkldr"), ["mkldr", "average"]),
        (("kfd", "mkldr"), ["mkldr", "kfd"]),
        (("average", "kfd"), ["average", "kfd"]),
        (("kfd",), ["kfd"]),
        ((), []),
    ],
)
def test_the_best_and_the_reference_are_shown(study: dict[str, Any], methods: tuple[str, ...], expected: list[str]):
    points = next(record.embedding for record in study["fits"] if record.embedding is not None)
    largest = max(record.train_size for record in study["fits"])
    fits = [replace(record, embedding=points if record.method in methods else None) for record in study["fits"]]
    means = study["summary"]["method"].map({"mkldr": 0.9, "average": 0.8, "kfd": 0.7})
    results = frames.results_of(study["scores"], study["summary"].assign(mean=means), fits)
    shown = frames.shown_embeddings(results)
    assert [record.method for _, record in shown] == expected
    assert {record.train_size for _, record in shown} <= {largest}
