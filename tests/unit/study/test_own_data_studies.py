"""Studies on own data as people have it, from the files to the page: gaps, groups, a test set of their own."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.stats import binomtest
from sklearn.datasets import load_digits
from tests.unit.study.small_study import SmallStudy, run_study, write_tables

from mklearn.classifiers import KernelSVC
from mklearn.kernels import Views
from mklearn.saved_models import load_model

pytestmark = pytest.mark.usefixtures("plain_figures")

PIXELS, TARGET = (array[:90] for array in load_digits(n_class=3, return_X_y=True))
HALVES = {"upper": PIXELS[:, :32], "lower": PIXELS[:, 32:]}
IDS = np.array([f"d{number}" for number in range(90)])
LABELS = np.array(["zero", "one", "two"])[TARGET]
LACK = {"upper": np.array([4, 17]), "lower": np.array([17 + 13, 60, 61])}
"""Positions of samples that lack a view."""
METHODS: dict[str, Any] = {
    "kfd": {"kind": "kernel_fda"},
    "svc": {"kind": "kernel_svc"},
    "pca": {"kind": "pca", "descriptor": "lower"},
}
FOLDS: dict[str, Any] = {"folds": {"kind": "k_fold", "folds": 3}}
KERNELS = {"g": {"kind": "gaussian"}}


def run(folder: Path, entry: dict[str, Any], **sections: Any) -> SmallStudy:
    study = {"study": "own", "datasets": {"own": entry}, "methods": METHODS, "protocols": FOLDS} | sections
    return run_study(folder, study)


def test_samples_that_lack_a_view_score_as_in_the_library(tmp_path: Path) -> None:
    tables = write_tables(tmp_path, HALVES, IDS, without=LACK, label=LABELS)
    entry = {"kind": "feature_tables", "tables": tables, "missing_views": "mean"}
    methods = METHODS | {"product": {"kind": "kernel_fda", "kernels": ["p"]}}
    study = run(tmp_path, entry, kernels=KERNELS | {"p": {"kind": "product", "of": "all"}}, methods=methods)
    frame = pd.read_parquet(tmp_path / "results" / "own" / "scores.parquet").query("selection != 'oracle'")
    assert (frame["status"] == "ok").all(), frame["message"].tolist()
    assert (frame.groupby("method")["value"].mean() > 0.8).all()
    page = (tmp_path / "results" / "own" / "report" / "index.html").read_text(encoding="utf-8")
    assert "5 of 90 samples lack a table and are filled in" in page
    views: dict[str, Any] = {}
    order = [*np.setdiff1d(np.arange(90), LACK["upper"]), *LACK["upper"]]  # the first table's, then the others
    for name, values in HALVES.items():
        views[name] = values[order].copy()
        views[name][np.isin(order, LACK[name])] = np.nan
    X, y = Views(views), LABELS[order]
    predicted = pd.read_parquet(tmp_path / "results" / "own" / "predictions.parquet").query("method == 'svc'")
    assert sorted(predicted["sample"]) == sorted(IDS)
    kernels = {name: {"missing_views": "mean"} for name in HALVES}
    for _, part in predicted.groupby("fold"):
        test = np.flatnonzero(np.isin(IDS[order], part["sample"].to_numpy(dtype=str)))
        train = np.setdiff1d(np.arange(90), test)
        own = KernelSVC(kernels=kernels).fit(X[train], y[train])
        labels = dict(zip(IDS[order][test], own.predict(X[test]), strict=True))
        assert labels == dict(zip(part["sample"], np.unique(LABELS)[part["predicted"]], strict=True))
    [fit] = [job for job in study.of("fit") if job.spec["method"]["id"] == "svc"]
    assert [kernel["missing_views"] for kernel in fit.spec["kernels"]] == ["mean", "mean"]


@pytest.mark.parametrize("n_classes", [2, 3])
def test_headline_is_by_one_rule(tmp_path: Path, n_classes: int) -> None:
    kept = np.argsort(TARGET, kind="stable")
    kept = kept[TARGET[kept] < n_classes]
    noisy = PIXELS[kept] + np.random.default_rng(0).normal(scale=14, size=(len(kept), 64))
    entry = {"kind": "feature_tables", "tables": write_tables(tmp_path, {"x": noisy}, IDS[kept], label=LABELS[kept])}
    for final in ({}, {"final": {}}):
        run(tmp_path, entry, kernels=KERNELS, methods={"kfd": METHODS["kfd"]}, **final)
        rows = pd.read_parquet(tmp_path / "results" / "own" / "predictions.parquet").query("neighbour == 'euclidean'")
        by_fold = (rows["predicted"] == rows["true"]).groupby(rows["fold"]).mean().mean()
        answer = (tmp_path / "results" / "own" / "report" / "answer.txt").read_text(encoding="utf-8")
        assert f"  {100 * by_fold:.1f} ±" in answer
    others = pd.read_parquet(tmp_path / "results" / "own" / "predictions.parquet").query("neighbour == 'cosine'")
    assert (others["predicted"].to_numpy() == rows["predicted"].to_numpy()).all() == (n_classes == 2)


@pytest.mark.parametrize("include_test", [False, True])
def test_a_single_given_test_set_chooses_nothing(tmp_path: Path, include_test: bool) -> None:
    cohort = np.arange(60, 90)
    labels = np.where(np.arange(90) >= 60, "zero", LABELS)
    labels[np.flatnonzero(labels[:60] == "one")[:5]] = "zero"
    roles = np.where(np.isin(np.arange(90), cohort), "test", "train")
    pd.DataFrame({"id": IDS, "role": roles}).to_csv(tmp_path / "splits.csv", index=False)
    entry = {"kind": "feature_tables", "tables": write_tables(tmp_path, HALVES, IDS, label=labels)}
    methods = {"svc": METHODS["svc"], "majority": {"kind": "majority", "descriptors": "all"}}
    protocols = {"cohort": {"kind": "given", "path": "splits.csv"}}
    final = {"method": "svc", "include_test": include_test}
    run(tmp_path, entry, kernels=KERNELS, methods=methods, protocols=protocols, final=final)
    results = tmp_path / "results" / "own"
    rows = pd.read_csv(results / "report" / "summary.csv").query("selection == 'inner_cv'").set_index("method")
    assert rows.loc["majority", "mean"] == 1.0
    n_right = round(30 * rows.loc["svc", "mean"])
    exact = binomtest(n_right, 30).proportion_ci(method="exact")
    assert rows.loc["svc", ["ci_low", "ci_high"]].tolist() == pytest.approx([exact.low, exact.high])
    tested = rows.loc[rows["difference"] != 0, "p_value"]
    assert tested.tolist() == pytest.approx([binomtest(0, 30 - n_right).pvalue])
    saved = load_model(results / "model.mklearn")
    assert saved.card["method"]["name"] == "svc"
    assert (saved.card["data"]["n_samples"], saved.card["expected"]["apart"]) == (
        (90, False) if include_test else (60, True)
    )
    assert set(saved.arrays["ids"]) == set(IDS if include_test else IDS[:60])
