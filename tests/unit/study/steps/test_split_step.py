"""The step of splits: what is wrong with a protocol for these labels is one sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mklearn.atomic import write_parquet
from mklearn.contract.specs import SplitSpec
from mklearn.errors import ConfigError
from mklearn.study.steps.split import split


@pytest.mark.parametrize("excluded", [["a", "b", "c"], ["a", "c"]])
@pytest.mark.parametrize("kind", ["k_fold", "given"])
def test_protocols_that_leave_out_all_classes(tmp_path: Path, kind: str, excluded: list[str]) -> None:
    y = np.arange(9) % 3
    ids = [f"s{k}" for k in range(9)]
    write_parquet(tmp_path / "labels.parquet", pd.DataFrame({"id": ids, "y": y, "label": np.array(list("abc"))[y]}))
    parameters: dict[str, Any] = {"exclude_classes": excluded} | (
        {"folds": 3, "repeats": 1} if kind == "k_fold" else {}
    )
    spec = SplitSpec(
        kind=kind, implementation=f"mklearn.study.data.splits:{kind}", parameters=parameters, seed=0, dataset="letters"
    )
    left = 3 - len(excluded)
    with pytest.raises(
        ConfigError, match=f"leave {left} of the 3 classes of data set 'letters'; expected at least two"
    ):
        split(tmp_path / "labels.parquet", tmp_path / "splits.parquet", spec=spec)
