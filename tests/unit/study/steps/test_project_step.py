"""The step of projections: each split of the pairs that are tested, and the one that chooses parameters."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mklearn.atomic import write_npz, write_parquet
from mklearn.base.pairs import principal_projection
from mklearn.contract.specs import ProjectSpec
from mklearn.study.data.pairs import PairLists, Pairs, load_projections
from mklearn.study.steps.project import project

N = 24
TABLE = np.random.default_rng(0).normal(size=(N, 5)) ** 2


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    ids = np.array([f"s{number:02}" for number in range(N)])
    y = np.arange(N) // 2
    write_parquet(tmp_path / "labels.parquet", pd.DataFrame({"id": ids, "y": y, "label": y.astype(str)}))
    write_npz(tmp_path / "features.npz", features=TABLE)
    tested = Pairs(np.arange(0, 18, 2), np.arange(1, 18, 2), np.ones(9, bool), np.arange(9) // 3, N)
    choosing = Pairs(np.arange(8, 24, 2), np.arange(9, 24, 2), np.ones(8, bool), np.arange(8) // 5, N)
    PairLists(tested, choosing).save(tmp_path / "splits.parquet", ids)
    names = {"features": "features.npz", "labels": "labels.parquet", "splits": "splits.parquet", "projections": "p.npz"}
    return {name: tmp_path / file for name, file in names.items()}


def test_splits_and_the_parts_that_choose(files: dict[str, Path]) -> None:
    project(**files, spec=ProjectSpec(components=3, square_root=True))
    every = np.arange(18)
    learned = [*(np.flatnonzero(every // 6 != fold) for fold in range(3)), np.arange(8, 18)]
    found = load_projections(files["projections"])
    for projection, samples, known in zip(found, [every, every, every, np.arange(8, 24)], learned, strict=True):
        expected = principal_projection(TABLE, samples, known, components=3, square_root=True)
        for name in ("samples", "learned", "values", "variances"):
            np.testing.assert_array_equal(getattr(projection, name), getattr(expected, name), strict=True)
