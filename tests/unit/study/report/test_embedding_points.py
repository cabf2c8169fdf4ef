"""Which embeddings a page shows, and how many points of each."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from mklearn.study.report import frames
from mklearn.study.report.figures_of_fits import embedding


@pytest.mark.parametrize(("n", "shown"), [(90, 90), (1200, 1200), (3060, 1200)])
def test_a_large_embedding_is_thinned_evenly(n: int, shown: int) -> None:
    thinned = frames.thinned(pd.DataFrame({"x": np.arange(n, dtype=float)}))["x"]
    assert len(thinned) == shown
    assert thinned.iloc[[0, -1]].tolist() == [0.0, n - 1]
    assert thinned.is_unique


def test_an_embedding_in_one_dimension_has_a_row_for_each_class() -> None:
    """Kills two classes on one line, with their names on top of each other."""
    points = pd.DataFrame({"x": [0.1, 0.2, 0.3], "y": 0.0, "label": ["a", "b", "b"], "role": ["train", "test", "test"]})
    flat = embedding(points, label="KFD")
    assert flat["encoding"]["y"]["field"] == "c"
    assert len(flat["layer"]) == 1
    plane = embedding(points.assign(y=points["x"]), label="KFD")
    assert plane["encoding"]["y"]["field"] == "y"
