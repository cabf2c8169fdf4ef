"""The study of F-SVM, scaled down to two data sets and a few methods: from the mirror to the optimistic tables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest
import yaml
from tests.workflow.conftest import Checkout

from mklearn.study.engine.workflow_files import study_file

pytestmark = pytest.mark.full

METHODS = ("majority", "svm", "fsvm", "lda", "alternating", "rbf-fsvm", "svm-33")


@pytest.fixture
def study(repository: Path, mirror: Path) -> dict[str, Any]:
    """Heart, with the authors' splits, and for the machines iris, which has three classes; short grids."""
    found = yaml.safe_load(study_file("fsvm").read_text(encoding="utf-8"))
    found["methods"] = {name: found["methods"][name] for name in METHODS}
    found["methods"]["rbf-fsvm"] |= {"n_components": [5, 20], "machine": {"kind": "fsvc", "C": [1, 16]}}
    found["methods"]["svm"] |= {"C": [0.5, 8]}
    found["methods"]["fsvm"] |= {"C": [0.5, 8]}
    found["methods"]["alternating"] |= {"C": 8}
    found["methods"]["svm-33"]["C"] = found["methods"]["svm-33"]["C"][::4]
    found["comparisons"] = [
        entry | {"pairs": [["fsvm", "svm"], ["fsvm", "alternating"]], "published": [9, 9]}
        for entry in found["comparisons"][:1]
    ]
    found["protocols"]["folds"] |= {"folds": 3, "repeats": 2}
    found["protocols"]["once"] |= {"folds": 3}
    for section in ("methods", "protocols"):
        for entry in found[section].values():
            if "datasets" in entry:
                entry["datasets"] = [name for name in ("heart", "iris") if name in entry["datasets"]]
    found["protocols"]["once"]["datasets"] = ["heart"]
    for name in ("majority", "lda"):
        found["methods"][name]["datasets"] = ["heart"]
    return found | {"mirror": str(mirror), "datasets": {"heart": {}, "iris": {}}}


def test_from_the_mirror_to_the_optimistic_tables(tmp_path: Path, repository: Path, study: dict[str, Any]) -> None:
    ran = Checkout(tmp_path / "checkout", repository)
    ran.write(study)
    ran.said("snakemake", "--cores", "2")
    folder = ran.folder / "results" / "fsvm"
    summary = pd.read_parquet(folder / "summary.parquet")
    optimistic = summary["protocol"].eq("released-test-optimistic")
    chosen = summary[summary["selection"].eq("inner_cv").ne(optimistic) & summary["metric"].eq("accuracy")]
    mean = chosen.pivot_table(index=["dataset", "protocol"], columns="method", values="mean")
    assert summary.loc[optimistic & summary["selection"].eq("inner_cv"), "mean"].isna().all()
    everywhere = {("heart", name) for name in ("folds", "once", "released", "released-test-optimistic")}
    assert set(mean.index) == everywhere | {("iris", "folds")}
    for protocol, methods in {
        "folds": {"majority", "svm", "fsvm", "lda"},
        "once": set(METHODS) - {"svm-33"},
        "released": {"svm", "fsvm", "lda", "svm-33"},
        "released-test-optimistic": {"svm", "fsvm", "svm-33"},
    }.items():
        assert set(mean.loc["heart", protocol].dropna().index) == methods, protocol
    optimistic, honest = (mean.loc["heart", name] for name in ("released-test-optimistic", "released"))
    for method in ("svm", "fsvm", "svm-33"):
        assert optimistic[method] >= honest[method]
    assert optimistic["svm-33"] > honest["svm-33"]
    assert mean.loc["heart", "folds"]["svm"] == pytest.approx(0.84, abs=0.03)
    assert mean.loc["heart", "folds"]["majority"] == pytest.approx(164 / 303, abs=0.001)
    assert mean.loc["iris", "folds"]["fsvm"] == pytest.approx(0.97, abs=0.03)
    text = (folder / "report" / "summary.md").read_text(encoding="utf-8")
    assert "released-test-optimistic" in text
    (counted,) = [row for row in text.splitlines() if "Above, level, below" in row]
    fsvm, other = (sum(map(int, cell.split(","))) for cell in counted.split("|")[2:4])
    assert (fsvm, other) == (2, 1), "of both data sets by `folds`, and of heart by `once`"
    assert ran.planned() == {}
