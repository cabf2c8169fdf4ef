"""What predictions of a final model's method rest on: as the library measures it, in a file and on the page."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from tests.unit.study.steps.test_own_data_studies import page, run

from mklearn.errors import DataError
from mklearn.feature_importances import feature_importances
from mklearn.kernels import Views
from mklearn.saved_models import load_model
from mklearn.study.config.reading import check_study
from mklearn.study.data.splits import Splits
from mklearn.study.engine.data_check import check_data
from mklearn.study.engine.session import begin
from mklearn.study.plan.plan import plan_study
from mklearn.study.report.importances import importances_part, read_importances
from mklearn.study.specs.model_card import CardView
from mklearn.study.steps.importances import _named_sets, columns_of_groups

pytestmark = pytest.mark.full

VIEWS = {"acids": slice(0, 5), "phenols": slice(5, 8)}


@pytest.fixture
def folder(tmp_path: Path, plain_figures: None) -> Path:
    return tmp_path


def write_wine(folder: Path) -> pd.DataFrame:
    """Write two views of Wine; class and number are those of its flavanoids alone."""
    wine = load_wine(as_frame=True).data.iloc[::2].reset_index(drop=True)
    flavanoids = wine["flavanoids"]
    about = pd.DataFrame({"id": [f"w{k}" for k in range(len(wine))]})
    about["label"] = np.where(flavanoids > flavanoids.median(), "rich", "poor")
    about["twice"] = 2 * flavanoids
    about["cellar"] = np.arange(len(wine)) % 12
    for name, columns in VIEWS.items():
        about.join(wine.iloc[:, columns]).to_csv(folder / f"{name}.csv", index=False)
    return wine


def study(kind: str, **entry: Any) -> dict[str, Any]:
    """Return the sections of a study of the views."""
    return {
        "entry": {"kind": "feature_tables", "tables": {name: f"{name}.csv" for name in VIEWS}, **entry},
        "kernels": {"gauss": {"kind": "gaussian", "feature_scaling": "standard"}},
        "methods": {"one": {"kind": kind}},
        "protocols": {"folds": {"kind": "group_k_fold" if "group_column" in entry else "k_fold", "folds": 5}},
    }


def test_importances_of_classes_are_the_librarys(folder: Path) -> None:
    wine = write_wine(folder)
    made = run(
        folder,
        final={"importances": 2},
        seed=3,
        **study("multi_view", leave_out=["twice"], group_column="cellar"),
    )
    found = read_importances(folder / "results/own/importances.csv")
    assert found["measure"].eq("accuracy").all()
    assert found.loc[found["feature"].ne(""), "feature"].iloc[0] == "flavanoids"
    assert sorted(found["feature"]) == ["", "", *sorted(wine.columns[:8])]
    (job,) = [job for job in made.jobs if job["step"] == "importances"]
    table = pd.read_csv(folder / "phenols.csv")
    splits = Splits.load(folder / job["inputs"]["splits"], table["id"].to_numpy(dtype=str))
    views = Views({name: wine.iloc[:, columns].to_numpy() for name, columns in VIEWS.items()})
    sets = {name: {"all": range(views[name].shape[1])} for name in VIEWS}
    sets = {name: sets[name] | {str(k): [k] for k in range(views[name].shape[1])} for name in VIEWS}
    expected = feature_importances(
        load_model(folder / "results/own/model.mklearn").estimator, views, table["label"].to_numpy(dtype=str),
        feature_groups=sets, cv=[(split.train, split.test) for split in splits], n_permutations=2, random_state=3,
        fit_parameters={"groups": table["cellar"].to_numpy(dtype=str)},
    )  # fmt: skip
    np.testing.assert_allclose(found["loss"], [each.permuted.mean for each in expected], atol=1e-12)
    np.testing.assert_allclose(found["low"], [each.permuted.low for each in expected], atol=1e-12)
    text = page(folder)
    assert "Importance of features: phenols" in text
    assert text.index(">flavanoids<") < text.index(">total_phenols<")
    assert "lose, in points of accuracy" in text


def test_groups_of_features_of_numbers_without_intervals(folder: Path) -> None:
    """A column that no table has is not missed; a group may be in one view only."""
    write_wine(folder)
    (folder / "groups.gmt").write_text("rich\t\tflavanoids\tash\tunknown\nacid\t\tmalic_acid\tash\n", encoding="utf-8")
    sections = study("kernel_ridge_regressor", target="twice", leave_out=["label", "cellar"])
    sections["protocols"] = {"folds": {"kind": "k_fold", "folds": 2}}
    final = {"importances": 1, "metric": "r2", "feature_groups": "groups.gmt"}
    run(folder, final=final, evaluation={"metrics": ["r2"]}, **sections)
    found = read_importances(folder / "results/own/importances.csv")
    assert found["measure"].eq("r2").all()
    assert found["low"].isna().all()
    found = found.set_index(["view", "feature"])
    sizes = {("acids", ""): 5, ("acids", "acid"): 2, ("acids", "rich"): 1, ("phenols", ""): 3, ("phenols", "rich"): 1}
    assert found["n_features"].to_dict() == sizes
    best = found["loss"]
    assert best.idxmax() in (("phenols", ""), ("phenols", "rich"))
    assert best["phenols", "rich"] > 0.3 > best["acids", ""]
    text = page(folder)
    assert "Importance of groups of features: phenols" in text
    assert "lose, in R²" in text
    assert "Two to four splits have no interval" in text


def test_a_table_that_is_none_and_one_without_rows(tmp_path: Path) -> None:
    path = tmp_path / "importances.csv"
    path.write_text("view,feature\na,b\n", encoding="utf-8")
    with pytest.raises(DataError, match=r"importances\.csv: not a table of importances"):
        read_importances(path)
    path.write_text("view,feature,n_features,measure,loss,low,high,splits,permutations\n", encoding="utf-8")
    (table,) = importances_part(read_importances(path)).tables
    assert "takes whole images" in table.note


def test_groups_that_no_table_has_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "groups.gmt"
    path.write_text("one\t\tunknown\n", encoding="utf-8")
    view = CardView(name="genes", kind="table", columns=["a", "b"], n_features=2, parameters={}, dtype="float64")
    with pytest.raises(DataError, match=r"groups\.gmt: its groups name no column of 'genes'"):
        _named_sets([view], path)


@pytest.mark.parametrize(
    ("columns", "genes"),
    [
        (["ENSG01", "ENSG02"], ["ENSG02.12", "TP53"]),
        (["ENSMUSG01.3", "ENSMUSG02.14"], ["ENSMUSG02", "x.14"]),
        (["ENSG01.1", "ENSG02.1"], ["ENSG02.7", "ENSG02"]),
    ],
)
def test_ensembl_ids_have_versions_in_one_place_or_the_other(columns: list[str], genes: list[str]) -> None:
    assert columns_of_groups({"set": genes}, columns) == [("set", [1])]
    named = [*columns, "a.1", "a"]
    assert columns_of_groups({"exact": [named[0], "a.1"], "none": ["a.2"]}, named) == [("exact", [0, 2]), ("none", [])]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("no tabs\n", "groups.gmt, line 1: expected a name, a description and one gene"),
        ("one\t\tTP53\tMYC\n", "groups.gmt: none of its names, 'TP53', 'MYC', is a column of the tables, which have"),
    ],
)
def test_a_file_that_has_no_groups_is_found_before_the_run(
    folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], text: str, said: str
) -> None:
    monkeypatch.chdir(folder)
    write_wine(folder)
    (folder / "groups.gmt").write_text(text, encoding="utf-8")
    sections = study("multi_view", leave_out=["twice", "cellar"])
    entry, final = sections.pop("entry"), {"importances": 1, "feature_groups": "groups.gmt"}
    found = check_study({"study": "own", "datasets": {"own": entry}, "final": final, **sections})
    plan = plan_study(found)
    (mistake,) = check_data(plan).mistakes
    assert mistake.startswith(f"final.feature_groups: {said}")
    with pytest.raises(SystemExit):
        begin(SimpleNamespace(dag=SimpleNamespace(needrun_jobs=list)), None, plan)
    assert f"{mistake}\nNothing was run." in capsys.readouterr().err


def test_the_most_important_features_of_a_wide_view_are_shown() -> None:
    names = ["", *(f"gene-{k}" for k in range(25))]
    columns = {"view": "genes", "feature": names, "n_features": 1, "measure": "r2", "splits": 5, "permutations": 2}
    frame = pd.DataFrame(columns | {"loss": np.linspace(0.9, 0.1, 26), "low": 0.0, "high": 1.0})
    part = importances_part(frame)
    whole, features = part.tables
    assert [row[0].text for row in whole.rows] == ["genes"]
    assert [row[0].text for row in features.rows] == names[1:6]
    assert features.note.startswith("The 5 of 25 features that matter most.")
    assert importances_part(frame[:6]).tables[1].note == "All are in importances.csv, beside the model."
    (figure,) = part.figures
    drawn = figure.draw()
    assert [row["f"] for row in drawn["data"]["values"]] == [str(k) for k in range(20)]
    assert drawn["title"]["subtitle"] == ["the 20 of 25 that matter most", "names begin with gene-"]
    assert [layer["mark"]["type"] for layer in drawn["layer"]] == ["bar", "rule"]
    plain = importances_part(frame.assign(low=np.nan, high=np.nan)).figures[0].draw()
    assert [layer["mark"]["type"] for layer in plain["layer"]] == ["bar"]
