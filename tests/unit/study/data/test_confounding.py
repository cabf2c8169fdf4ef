"""Notes on batches, groups and gaps that tell the target, and silence where they do not."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mklearn.study.data.read import read_dataset
from mklearn.study.datasets import dataset_spec

N = 120


def notes(tmp_path: Path, columns: dict[str, Any], shift: float = 2.0, gaps: Any = (), **options: Any) -> list[str]:
    """Return the notes on a data set whose features have a mean of their own for each value of the first column."""
    rng, labels = np.random.default_rng(0), pd.DataFrame(columns, index=np.arange(N).astype(str))
    codes = np.unique(labels.iloc[:, 0], return_inverse=True)[1]
    near = rng.normal(size=(N, 8)) + shift * rng.normal(size=(codes.max() + 1, 8))[codes]
    for name, table in {"near": near, "far": rng.normal(size=(N, 5))}.items():
        frame = pd.DataFrame(table, labels.index).add_prefix("x")
        frame.drop(index=frame.index[list(gaps)] if name == "far" else []).to_csv(
            tmp_path / f"{name}.csv", index_label="id"
        )
    labels.to_csv(tmp_path / "labels.csv", index_label="id")
    tables = {name: str(tmp_path / f"{name}.csv") for name in ("near", "far")}
    entry = {"kind": "feature_tables", "tables": tables, "labels": str(tmp_path / "labels.csv"), **options}
    return [note for note in read_dataset(dataset_spec(entry)).notes if "a method may" in note]


RNG = np.random.default_rng(1)
BATCH = RNG.integers(4, size=N)
UNIT = np.arange(N) // 3
"""Patients with three samples each."""
CLASS = np.where(RNG.random(N) < np.where(BATCH % 2, 0.85, 0.15), "case", "control")
RANDOM = RNG.permutation(CLASS)
OF_UNIT = np.array(["case", "control"])[UNIT % 2]
IN_BATCH = r"'{}' predicts the target \(left-out R² 0\.\d\d, p = 0\.005 in 199 shuffles\), and the views predict "


@pytest.mark.parametrize(
    ("columns", "options", "start"),
    [
        ({"Batch ID": BATCH, "label": CLASS}, {}, IN_BATCH.format("Batch ID") + r"'Batch ID' \(\d+% of"),
        ({"site": BATCH, "y": BATCH % 2 + RNG.normal(size=N) / 2}, {"target": "y"}, IN_BATCH.format("site")),
        ({"day": BATCH, "label": CLASS}, {"group_column": "day"}, IN_BATCH.format("day")),
        ({"batch": BATCH, "label": BATCH % 2}, {}, "each value of 'batch' has one class only .*class '0', '1'"),
        ({"batch": BATCH, "y": BATCH + 0.5}, {"target": "y"}, "each of 4 values of 'batch' has one target, and the"),
        ({"batch": BATCH, "label": RANDOM}, {}, ""),
        ({"batch": BATCH, "label": CLASS}, {"shift": 0.0}, ""),
        ({"other": BATCH, "label": CLASS}, {}, ""),
        ({"patient": UNIT, "label": OF_UNIT}, {"group_column": "patient"}, ""),
        ({"site": UNIT // 2, "label": OF_UNIT, "patient": UNIT}, {"group_column": "patient"}, ""),
    ],
)  # fmt: skip
def test_batches(tmp_path: Path, columns: dict[str, Any], options: dict[str, Any], start: str) -> None:
    """With a shift of 0, the views do not predict the batch."""
    found = notes(tmp_path, columns, **options)
    assert len(found) == bool(start)
    assert all(re.match(start, note) for note in found)


@pytest.mark.parametrize("patients", [False, True])
@pytest.mark.parametrize("tell", [False, True])
def test_gaps(tmp_path: Path, tell: bool, patients: bool) -> None:
    """With patients, all samples of a patient lack the table."""
    rng = np.random.default_rng(2)
    chosen = UNIT % 4 == 0 if patients else rng.random(N) < 0.25
    labels = OF_UNIT if tell or not patients else OF_UNIT[3 * rng.permutation(40)][UNIT]
    gaps = np.flatnonzero(chosen & (OF_UNIT == "case") if tell else chosen)
    options = {"group_column": "patient"} if patients else {}
    found = notes(tmp_path, {"patient": UNIT, "label": labels}, gaps=gaps, missing_views="mean", **options)
    assert [note.partition(" (")[0] for note in found] == ["the tables that a sample lacks predict its target"] * tell


def test_a_matrix_predicts_the_batch(tmp_path: Path) -> None:
    X = RNG.normal(size=(4, 3))[BATCH] + 0.3 * RNG.normal(size=(N, 3))
    ids = [f"s{k}" for k in range(N)]
    pd.DataFrame(X @ X.T, ids, ids).to_csv(tmp_path / "k.csv", index_label="id")
    pd.DataFrame({"id": ids, "label": CLASS, "batch": BATCH}).to_csv(tmp_path / "labels.csv", index=False)
    entry = {"kind": "precomputed", "matrices": {"k": str(tmp_path / "k.csv")}, "labels": str(tmp_path / "labels.csv")}
    assert "the views predict 'batch'" in read_dataset(dataset_spec(entry)).notes[0]


@pytest.mark.parametrize(
    ("name", "views", "options"),
    [
        ("pregnancy", ["ImmuneSystem", "Metabolomics", "PlasmaLuminex"], {"target": "gestational_week"}),
        ("delaney", ["descriptors", "maccs"], {"target": "log_solubility"}),
        ("bace", ["maccs"], {}),
        ("bace", ["maccs"], {"group_column": "split"}),
        ("tcga_brca_survival", ["clinical", "gene", "mirna"], {"label_column": "tissue"}),
        ("gbm", ["methylation", "mirna"], {"label_column": "event"}),
        ("breast_tcga", ["mirna", "mrna", "protein"], {"missing_views": "mean", "group_column": "split"}),
        ("nutrimouse", ["gene", "lipid"], {"label_column": "diet", "group_column": "genotype"}),
        ("nutrimouse", ["gene", "lipid"], {"label_column": "genotype", "group_column": "diet"}),
    ],
)
def test_real_data_are_not_confounded(mirror: Path, name: str, views: list[str], options: dict[str, Any]) -> None:
    tables = {view.lower(): str(mirror / "multiview" / name / f"{view}.csv.gz") for view in views}
    entry = {"kind": "feature_tables", "tables": tables, "labels": str(mirror / "multiview" / name / "samples.csv")}
    read = read_dataset(dataset_spec(entry | {"group_column": "group"} | options))
    assert not any("a method may" in note for note in read.notes)
