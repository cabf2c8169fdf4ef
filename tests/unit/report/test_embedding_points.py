"""Many embeddings: thinned so that the page bears them, and not written as files."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from mklearn.report import build, frames
from mklearn.report.records import FitRecord

RECORD = FitRecord("data", "halves", None, "kfd", "KFD")


def points(n: int) -> pd.DataFrame:
    return pd.DataFrame({"x": np.arange(n, dtype=float), "y": 0.0, "label": "a", "role": "train"})


@pytest.mark.parametrize(("count", "most"), [(1, 2500), (16, 2500), (60, 666), (1000, 300)])
def test_the_page_bears_the_points_of_all(count: int, most: int) -> None:
    fits = [replace(RECORD, embedding=points(3060))] * count + [RECORD] * 50
    assert frames.embedding_points(fits) == most
    thinned = frames.embedding(points(3060), most)
    assert len(thinned) == most
    assert thinned["x"].iloc[[0, -1]].tolist() == [0.0, 3059.0]
    assert thinned["x"].is_unique


def test_a_small_embedding_is_shown_whole() -> None:
    assert len(frames.embedding(points(90), 300)) == 90


def test_many_embeddings_are_no_files(tmp_path, study, monkeypatch) -> None:
    shown = sum(fit.embedding is not None for fit in study["fits"])
    for most, written in ((shown, shown), (shown - 1, 0)):
        monkeypatch.setattr(build, "MOST_EMBEDDING_FILES", most)
        paths = build.build_report(tmp_path / str(most), **study)
        assert sum(path.name.startswith("embedding") for path in paths) == 2 * written
        assert any(path.name.startswith("dimension") for path in paths)
