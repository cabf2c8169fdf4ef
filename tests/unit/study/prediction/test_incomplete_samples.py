"""A study whose samples lack views, values and labels ends with a model; what lacks a label is predicted."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.unit.study.prediction.conftest import digits, make

from mklearn.__main__ import main
from mklearn.classifiers import KernelSVC
from mklearn.saved_models import load_model

METHODS: dict[str, Any] = {
    "svc": {"kind": "kernel_svc"},
    "linear": {"kind": "linear_svc", "descriptor": ["upper", "lower"], "feature_scaling": "standard"},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("incomplete")
    images, y, held = digits()
    X = images.reshape(len(images), -1) / 16.0
    for name, columns in {"upper": slice(0, 32), "lower": slice(32, 64)}.items():
        frame = pd.DataFrame(X[:, columns], columns=[f"{name}{k}" for k in range(32)])
        frame.insert(0, "id", [f"s{k}" for k in range(len(y))])
        if name == "upper":
            frame["label"] = np.where(held, None, np.array([f"digit {label}" for label in y], dtype=object))
            frame.loc[3, "upper5"] = np.nan
        else:
            frame = frame.drop(index=[1, 5, 30])  # 5 and 30 have no label either
        frame.to_csv(folder / f"{name}.csv", index=False)
    for method in METHODS:
        study = {
            "study": method,
            "datasets": {
                "own": {
                    "kind": "feature_tables", "tables": {n: f"{n}.csv" for n in ("upper", "lower")},
                    "missing_views": "mean", "impute": "median",
                }
            },
            "kernels": {"gauss": {"kind": "gaussian", "feature_scaling": "standard"}},
            "methods": {method: METHODS[method]},
            "protocols": {"folds": {"kind": "k_fold", "folds": 2}},
            "final": {},
        }  # fmt: skip
        make(study, folder)
    return folder


@pytest.mark.full
@pytest.mark.parametrize("method", METHODS)
def test_rows_without_a_label_are_predicted(folder: Path, tmp_path: Path, method: str) -> None:
    _, y, _ = digits()
    # The method on features side by side needs every view.
    table = pd.read_csv(folder / "upper.csv")
    table = table[table["label"].isna() & ((method == "svc") | ~table["id"].isin(["s5", "s30"]))]
    (tmp_path / "new").mkdir()
    table.to_csv(tmp_path / "new" / "upper.csv", index=False)
    lower = pd.read_csv(folder / "lower.csv")
    lower[lower["id"].isin(table["id"])].to_csv(tmp_path / "new" / "lower.csv", index=False)
    model = folder / "results" / method / "model.mklearn"
    assert main(["predict", str(model), str(tmp_path / "new"), "--output", str(tmp_path / "out.csv")]) == 0
    frame = pd.read_csv(tmp_path / "out.csv")
    assert set(frame["id"]) == set(table["id"])
    truth = dict(zip([f"s{k}" for k in range(len(y))], [f"digit {label}" for label in y], strict=True))
    assert (frame["label"] == frame["id"].map(truth)).mean() >= 0.85


@pytest.mark.full
def test_a_missing_view_gives_the_labels_of_the_library(folder: Path, tmp_path: Path) -> None:
    model = load_model(folder / "results/svc/model.mklearn")
    output = tmp_path / "out.csv"
    upper = pd.read_csv(folder / "upper.csv")
    words = ["predict", str(folder / "results/svc/model.mklearn"), f"upper={folder / 'upper.csv'}"]
    assert main([*words, "--output", str(output)]) == 0
    found = pd.read_csv(output)
    assert found["id"].tolist() == upper["id"].tolist()
    kernels = model.card["method"]["kernels"]
    assert {spec["impute"] for spec in kernels.values()} == {"median"}
    lower = pd.read_csv(folder / "lower.csv").set_index("id").reindex(upper["id"])
    values = {"upper": upper.filter(like="upper").to_numpy(), "lower": lower.to_numpy()}
    assert np.isnan(values["lower"]).all(axis=1).sum() == 3
    rows = upper["label"].notna().to_numpy()
    library = KernelSVC(kernels=kernels, **model.card["method"]["parameters"])
    library.fit({name: table[rows] for name, table in values.items()}, upper["label"][rows])
    without = values | {"lower": np.full_like(values["lower"], np.nan)}
    assert found["label"].tolist() == library.predict(without).tolist()
