"""Face verification, scaled down to some persons and the user's own list: from the mirror to curves."""

from __future__ import annotations

import zipfile
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np
import pandas as pd
import pytest
import yaml
from tests.workflow.conftest import Checkout

from mklearn.study.data.samples import encode_labels, natural_key
from mklearn.study.engine.workflow_files import study_file

pytestmark = pytest.mark.full

METHODS = ("svm-pixels", "svm", "rbf")
PERSONS = 300


def written_pairs(mirror: Path, path: Path) -> pd.DataFrame:
    """Write 300 pairs of the first persons, in five folds, and return them."""
    with zipfile.ZipFile(mirror / "lfw" / "lfw_pairs_grey_150x130.zip") as archive:
        files = [PurePosixPath(name) for name in archive.namelist() if name.endswith(".jpg")]
    files = sorted(files, key=lambda file: [natural_key(part) for part in file.parts])
    y, _ = encode_labels([file.parent.name for file in files])
    ids = np.array([f"{file.parent.name}/{file.name}" for file in files])[y < PERSONS]
    frame = random_pairs(y[y < PERSONS], ids, folds=5, per_fold=60)
    frame.to_csv(path, index=False)
    return frame


def random_pairs(y: np.ndarray, ids: np.ndarray, *, folds: int, per_fold: int) -> pd.DataFrame:
    """Draw pairs of images, half of them of the same person, in folds that share no person."""
    rng = np.random.default_rng([0, folds])
    persons = rng.permutation(np.unique(y))
    frames = []
    for fold in range(folds):
        members = np.flatnonzero(np.isin(y, persons[fold::folds]))
        first, second = (members[side] for side in np.triu_indices(len(members), k=1))
        for alike in (y[first] == y[second], y[first] != y[second]):
            chosen = np.sort(rng.choice(np.flatnonzero(alike), per_fold // 2, replace=False))
            frames.append(pd.DataFrame({"fold": fold, "first": ids[first[chosen]], "second": ids[second[chosen]]}))
    return pd.concat(frames, ignore_index=True)


def test_from_the_mirror_to_the_page(tmp_path: Path, repository: Path, mirror: Path) -> None:
    study: dict[str, Any] = yaml.safe_load(study_file("lfw").read_text(encoding="utf-8"))
    study["methods"] = {name: study["methods"][name] for name in METHODS}
    study["descriptors"] = {name: study["descriptors"][name] for name in ("pixels", "sift")}
    for name in METHODS:
        study["methods"][name]["C"] = [0.2, 1]
    study["methods"]["svm"]["descriptor"] = ["pixels", "sift"]
    own = study["protocols"]["view-2"] | {"path": "pairs.csv"}
    study["protocols"] = {"own": own | {"components": 40}, "own-20": own | {"components": 20}}
    study["methods"]["rbf"]["protocols"] = ["own"]
    study["comparisons"] = [{"title": "All against pixels", "pairs": [["svm", "svm-pixels"]]}]
    study |= {"remarks": [], "mirror": str(mirror), "datasets": {"lfw": {"first_classes": PERSONS}}}
    ran = Checkout(tmp_path / "checkout", repository)
    ran.write(study)
    pairs = written_pairs(mirror, ran.folder / "pairs.csv")
    ran.said("snakemake", "--cores", "2")

    folder = ran.folder / "results" / "lfw"
    summary = pd.read_parquet(folder / "summary.parquet")
    summary = summary[summary["selection"].eq("inner_cv") & summary["protocol"].eq("own")]
    mean = summary.pivot_table(index="method", columns="metric", values="mean")
    assert set(mean.index) == set(METHODS)
    assert mean.notna().all(axis=None)
    # 0.5 is chance, its standard error 0.029.
    assert mean.loc["svm", "accuracy"] > 0.57
    assert (mean["auc"] - (1 - mean["equal_error_rate"])).abs().max() < 0.15
    predictions = pd.read_parquet(folder / "predictions.parquet")
    for _, rows in predictions.groupby(["protocol", "method"], observed=True):
        expected = {f"{first} | {second}" for first, second in zip(pairs["first"], pairs["second"], strict=True)}
        assert set(rows["sample"]) == expected
        assert rows["true"].mean() == 0.5
    assert list((folder / "report" / "figures").glob("own-roc-curves-*.svg"))
    text = (folder / "report" / "summary.md").read_text(encoding="utf-8")
    rows = text[text.index("### All against pixels") :].split("\n## ")[0]
    assert [row.count(", own") for row in rows.splitlines() if ", own" in row] == [1, 1]
    assert ran.planned() == {}
    before = ran.edit("src/mklearn/classifiers/fsvc.py")
    planned = ran.planned()
    assert planned["fit"] == 4
    assert "project" not in planned
    (ran.folder / "src" / "mklearn" / "classifiers" / "fsvc.py").write_text(before, encoding="utf-8")

    pairs.loc[7, "second"] = "Nobody/Nobody_0001.jpg"
    pairs.to_csv(ran.folder / "pairs.csv", index=False)
    said = ran.said("snakemake", "--cores", "1", code=1)
    assert "pairs.csv: ids that the data set does not have: 'Nobody/Nobody_0001.jpg'" in said
