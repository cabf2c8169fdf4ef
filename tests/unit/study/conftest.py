"""Data sets of a user."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest


@pytest.fixture
def matrices(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """A data set of two matrices, in the present folder."""
    monkeypatch.chdir(tmp_path)
    for name in "ab":
        np.savez(f"{name}.npz", matrix=np.ones((4, 4)) - np.eye(4), ids=np.array(list("wxyz")))
    pd.DataFrame({"id": list("wxyz"), "label": list("0011")}).to_csv("labels.csv", index=False)
    return {"kind": "precomputed", "matrices": {"a": "a.npz", "b": "b.npz"}, "labels": "labels.csv"}
