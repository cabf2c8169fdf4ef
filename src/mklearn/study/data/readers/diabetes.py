"""The disease progression of diabetes patients that comes with scikit-learn: what was measured of body and blood."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mklearn.study.data.samples import SampleSet

BODY = 4
"""Columns age, sex, body mass index and blood pressure; the others are measurements of blood serum."""


def read(paths: Mapping[str, Path] | None = None, *, target: str = "progression") -> SampleSet:
    """Read all 442 patients, in their own units; `paths` and `target` are ignored: there is one, and no file."""
    from sklearn.datasets import load_diabetes

    data, progression = load_diabetes(return_X_y=True, scaled=False)
    ids = [f"patient-{row:03d}" for row in range(len(data))]
    tables = {"body": np.asarray(data[:, :BODY]), "serum": np.asarray(data[:, BODY:])}
    return SampleSet.from_numbers(ids, progression, tables=tables)
