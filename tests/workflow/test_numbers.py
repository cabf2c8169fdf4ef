"""A study of numbers from CSV by ``mklearn run``: its display, page and model, and predictions of new rows."""

import re
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes
from tests.workflow.conftest import Checkout

pytestmark = pytest.mark.full

STUDY = """\
study: clinic
datasets: {all: {kind: feature_tables, target: weeks, group_column: ward, tables: {body: body.csv, serum: serum.csv}}}
kernels: {gauss: {kind: gaussian, feature_scaling: auto}, plain: {kind: gaussian, feature_scaling: standard}}
methods:
  average: {kind: kernel_ridge_regressor, kernels: [gauss-*]}
  ridge: {kind: ridge}
  mean: {kind: mean_regressor}
protocols: {wards: {kind: group_k_fold, folds: 5}}
evaluation: {reference: average}
final: {method: average}
"""


def write_tables(folder: Path, rows: slice, *, with_target: bool = True) -> pd.Series:
    """Write some patients of scikit-learn's diabetes data as two tables; every tenth has no target."""
    X, y = load_diabetes(return_X_y=True, as_frame=True, scaled=False)
    X, y = X[rows], y[rows]
    folder.mkdir(parents=True, exist_ok=True)
    ids = pd.Series([f"p{row:03d}" for row in X.index], index=X.index, name="id")
    text = y.round(1).astype(str).where(np.arange(len(y)) % 10 != 0, "NA")
    extra = {"weeks": text, "ward": [f"ward{row % 12}" for row in X.index]} if with_target else {}
    body = pd.concat([ids, X.iloc[:, :4].assign(**extra)], axis=1)
    body.to_csv(folder / "body.csv", index=False)
    pd.concat([ids, X.iloc[:, 4:]], axis=1).to_csv(folder / "serum.csv", index=False)
    return y.set_axis(ids)


def test_a_study_of_numbers_from_csv_to_predictions(tmp_path: Path, repository: Path) -> None:
    checkout = Checkout(tmp_path / "checkout", repository)
    write_tables(checkout.folder, slice(0, 300))
    truth = write_tables(tmp_path / "new", slice(300, None), with_target=False)
    checkout.write(STUDY)
    output = checkout.output("mklearn", "run", "--cores", "2", "--", "--logger", "mklearn")  # the display of a terminal
    assert "Error" not in output
    assert "R² in % by 5-fold cross-validation" in output
    assert "results/clinic/model.mklearn (mklearn predict results/clinic/model.mklearn NEW)" in output
    results = checkout.folder / "results" / "clinic"
    assert "in the study (protocol wards, splits: 5)" in (results / "model.md").read_text(encoding="utf-8")
    predictions = pd.read_parquet(results / "predictions.parquet")
    assert predictions["sample"].nunique() == 270, "30 have no target"
    wards = predictions["sample"].astype(str).str[1:].astype(int) % 12
    assert predictions.assign(ward=wards).groupby(["method", "ward"], observed=True)["fold"].nunique().eq(1).all()
    summary = pd.read_csv(results / "report" / "summary.csv").set_index(["method", "metric"])
    assert set(summary.index.get_level_values("metric")) == {"r2", "rmse", "mae", "pearson", "spearman"}
    assert summary.at[("ridge", "r2"), "mean"] > 0.3 > summary.at[("mean", "r2"), "mean"]
    assert summary.at[("ridge", "rmse"), "difference_low"] < 0 < summary.at[("mean", "rmse"), "difference_low"]
    assert "Predicted and true numbers" in (results / "report" / "index.html").read_text(encoding="utf-8")
    assert pd.read_csv(results / "report" / "groups.csv").groupby("method")["ci_low"].count().eq(12).all()
    assert not re.search("ccuracy|classes", (results / "report" / "summary.md").read_text(encoding="utf-8"))
    assert checkout.planned() == {}, "nothing is left to do"
    checkout.output("mklearn", "predict", str(results / "model.mklearn"), str(tmp_path / "new"), "--output", "new.csv")
    frame = pd.read_csv(checkout.folder / "new.csv")
    assert frame.columns.tolist()[:2] == ["id", "predicted"]
    errors = frame.set_index("id")["predicted"] - truth
    assert np.sqrt((errors**2).mean()) < 0.8 * truth.std()
    held = frame["low_90"].to_numpy() <= truth[frame["id"]].to_numpy()
    held &= truth[frame["id"]].to_numpy() <= frame["high_90"].to_numpy()
    assert held.mean() >= 0.8
    width = (frame["high_90"] - frame["low_90"]).mean()
    assert width < 6 * np.sqrt((errors**2).mean()), "3.3 for normal errors, more for 12 groups"
