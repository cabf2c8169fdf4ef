"""Importances of views and features by permutation, and contributions of views by fits without them."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from tests.unit.planned_jobs import planned_jobs
from tests.unit.study.report.test_findings import AVERAGE, made_of
from tests.unit.study.small_study import run_study, write_tables
from tests.unit.study.test_own_data_studies import run

from mklearn.atomic import read_parquet
from mklearn.classifiers import KernelSVC
from mklearn.errors import NotApplicable
from mklearn.inspection import view_contributions
from mklearn.kernels import Views
from mklearn.regressors import KernelRidge
from mklearn.saved_models import load_model
from mklearn.study.data.splits import Split, Splits
from mklearn.study.evaluation.importances import importances
from mklearn.study.evaluation.view_contributions import first_splits
from mklearn.study.report.views import importances_part, views_sentence
from mklearn.study.specs.final_spec import ModelView
from mklearn.study.specs.fit_spec import VIEW_SAMPLES
from mklearn.survival import MultiViewSurvival

pytestmark = pytest.mark.full

VIEWS = {"acids": slice(0, 5), "phenols": slice(5, 8)}


def view_of(name: str, columns: list[str]) -> ModelView:
    return ModelView(name=name, kind="table" if columns else "hog", columns=columns or None)


def measured(estimator: Any, features: dict[str, np.ndarray], y: np.ndarray, **named: list[str]) -> pd.Series:
    fold = np.arange(len(y)) % 5
    splits = [Split(0, k, np.flatnonzero(fold != k), np.flatnonzero(fold == k)) for k in range(5)]
    inputs = [view_of(view, named.get(view, [])) for view in features]
    found = importances(estimator, Views(features), inputs, y, splits, permutations=5, seed=0)
    return found.set_index(["view", "feature"])["loss"]


def test_intervals_are_for_new_groups() -> None:
    X, rows = np.random.default_rng(0).normal(size=(30, 2)), np.repeat(np.arange(30), 4)
    splits, y = [Split(0, 0, np.arange(60), np.arange(60, 120))], (X[:, 0] > 0)[rows] * 1
    given = KernelSVC(kernels="gaussian"), Views({"x": X[rows]}), [view_of("x", [])], y, splits
    one, four = (importances(*given, permutations=5, seed=0, groups=groups) for groups in (rows, None))
    assert one["loss"].tolist() == four["loss"].tolist()
    assert (one["high"] - one["low"])[0] > 1.3 * (four["high"] - four["low"])[0]


def test_losses_of_survival_are_in_concordance() -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 2))
    y = np.exp(-X[:, 0] + 0.1 * rng.normal(size=120)) * np.where(rng.random(120) < 0.3, -1.0, 1.0)
    model = MultiViewSurvival(kernels={"x": {"kind": "linear"}})
    found = measured(model, {"x": X}, y, x=["risk", "noise"])
    assert 0.3 < found["x", "risk"] < 0.55  # from a C near 1 to one near 1/2
    assert abs(found["x", "noise"]) < 0.02
    contributions = view_contributions(model.set_params(kernels="dictionary"), {"x": X[:, :1], "z": X[:, 1:]}, y)
    assert contributions[0].left_out.mean > 0.3 > 0.05 > abs(contributions[1].left_out.mean)
    structured = np.array([(each > 0, abs(each)) for each in y], dtype=[("event", "?"), ("time", "<f8")])
    forms = (y, structured, pd.DataFrame({"time": abs(y), "event": y > 0}))
    first, *others = (view_contributions(model, {"x": X[:, :1], "z": X[:, 1:]}, form, cv=3) for form in forms)
    assert [[each.permuted.mean for each in other] for other in others] == [[each.permuted.mean for each in first]] * 2


def test_losses_of_a_regression_are_twice_the_parts_of_the_variance() -> None:
    X = np.random.default_rng(0).normal(size=(400, 3))
    model = KernelRidge(kernels={"x": {"kind": "linear", "centre": False}}, alpha=1e-8)
    found = measured(model, {"x": X}, 3 * X[:, 0] + 4 * X[:, 1], x=["a", "b", "c"])
    assert list(found.index) == [("x", ""), ("x", "b"), ("x", "a"), ("x", "c")]
    assert found.to_numpy() == pytest.approx([2, 2 * 16 / 25, 2 * 9 / 25, 0], abs=0.15)


@pytest.mark.parametrize("gaps", [False, True])
def test_features_matter_that_tell_the_class_together(gaps: bool) -> None:
    values = np.random.default_rng(1).normal(size=(200, 5))
    y = np.where(values[:, 0] * values[:, 1] > 0, "same", "other")
    features = {"genes": values[:, :3].copy(), "noise": values[:, 3:]}
    if gaps:
        features["genes"][::8] = np.nan
    kernels = {name: {"kind": "gaussian", "missing_views": "mean"} for name in features}
    found = measured(KernelSVC(kernels=kernels), features, y, genes=["a", "b", "c"])
    assert set(found.index[:3]) == {("genes", ""), ("genes", "a"), ("genes", "b")}
    assert (found.iloc[3:].abs() < 0.1).all()


@pytest.mark.usefixtures("plain_figures")
def test_importances_of_a_study_are_those_of_its_model_s_method(tmp_path: Path) -> None:
    """On two views of Wine; the class is that of its flavanoids alone."""
    wine = load_wine(as_frame=True).data.iloc[::2].reset_index(drop=True)
    flavanoids = wine["flavanoids"]
    about = pd.DataFrame({"id": [f"w{k}" for k in range(len(wine))], "cellar": np.arange(len(wine)) % 12})
    about["label"] = np.where(flavanoids > flavanoids.median(), "rich", "poor")
    for name, columns in VIEWS.items():
        about.join(wine.iloc[:, columns]).to_csv(tmp_path / f"{name}.csv", index=False)
    tables = {name: f"{name}.csv" for name in VIEWS}
    made = run(
        tmp_path, {"kind": "feature_tables", "tables": tables, "group_column": "cellar"},
        methods={"one": {"kind": "multi_view"}}, protocols={"folds": {"kind": "group_k_fold", "folds": 5}},
        final={"importances": 2}, seed=3,
    )  # fmt: skip
    found = read_parquet(tmp_path / "results/own/importances.parquet")[0]
    assert found["measure"].eq("accuracy").all()
    assert found.loc[found["feature"].ne(""), "feature"].iloc[0] == "flavanoids"
    assert sorted(found["feature"]) == ["", "", *sorted(wine.columns[:8])]
    (job,) = made.of("model")
    expected = importances(
        load_model(tmp_path / "results/own/model.mklearn").estimator,
        Views({name: wine.iloc[:, columns].to_numpy() for name, columns in VIEWS.items()}),
        [view_of(name, list(wine.columns[columns])) for name, columns in VIEWS.items()],
        about["label"].to_numpy(dtype=str), list(Splits.load(tmp_path / job.inputs["splits"], about["id"]).splits),
        permutations=2, seed=3, groups=about["cellar"].to_numpy(dtype=str),
    )  # fmt: skip
    pd.testing.assert_frame_equal(
        found[["view", "feature", "loss", "low", "high"]], expected[["view", "feature", "loss", "low", "high"]]
    )
    text = (tmp_path / "results/own/report/index.html").read_text(encoding="utf-8")
    assert "Importance of features: phenols" in text
    assert text.index(">phenols<") < text.index(">acids<")
    assert "lose, in points of accuracy" in text


def test_what_can_not_be_measured_is_said_and_two_splits_have_no_interval(monkeypatch: pytest.MonkeyPatch) -> None:
    X, y = np.random.default_rng(0).normal(size=(30, 2)), np.arange(30.0)
    splits = [Split(0, k, np.flatnonzero(np.arange(30) % 2 != k), np.arange(k, 30, 2)) for k in range(2)]
    model, inputs = KernelRidge(kernels={"x": "linear"}), [view_of("x", [])]
    found = importances(model, Views({"x": X}), inputs, y, splits, permutations=1, seed=0)
    assert (found["measure"].tolist(), found["low"].isna().all()) == (["r2"], True)
    assert "Two to four splits have no interval" in importances_part(found).tables[0].note

    def fail(_: Any) -> Any:
        raise NotApplicable("too few samples")

    monkeypatch.setattr("mklearn.study.evaluation.importances.clone", fail)
    failed = importances(model, Views({"x": X}), inputs, y, splits, permutations=1, seed=0)
    assert importances_part(failed).tables[0].note == "too few samples"
    assert failed["feature"].tolist() == [""]
    assert "takes whole images" in importances_part(failed[:0]).tables[0].note


def test_the_most_important_features_of_a_wide_view_are_shown() -> None:
    names = ["", *(f"gene-{k}" for k in range(25))]
    columns = {"view": "genes", "feature": names, "measure": "r2", "splits": 5, "permutations": 2, "message": ""}
    frame = pd.DataFrame(columns | {"loss": np.linspace(0.9, 0.1, 26), "low": 0.0, "high": 1.0})
    part = importances_part(frame)
    (whole,) = part.tables
    assert [row[0].text for row in whole.rows] == ["genes"]
    (figure,) = part.figures
    drawn = figure.draw()
    assert [row["f"] for row in drawn["data"]["values"]] == names[1:21]
    assert drawn["title"]["subtitle"] == ["the 20 of 25 that matter most"]
    assert [layer["mark"]["type"] for layer in drawn["layer"]] == ["bar", "rule"]
    plain = importances_part(frame.assign(low=np.nan, high=np.nan)).figures[0].draw()
    assert [layer["mark"]["type"] for layer in plain["layer"]] == ["bar"]


# --- contributions of views


def test_all_views_have_the_numbers_of_the_study(tmp_path: Path) -> None:
    """One view tells the class, one is noise and lacks six samples, and one is constant; samples are in groups."""
    rng, y = np.random.default_rng(0), np.arange(60) % 2
    views = {
        "told": rng.normal(size=(60, 3)) + 3 * y[:, None],
        "noise": rng.normal(size=(60, 3)),
        "flat": np.ones((60, 2)),
    }
    columns, without = {"label": y, "group": np.arange(60) // 4}, {"noise": range(6)}
    tables = write_tables(tmp_path, views, [f"s{k}" for k in range(60)], without=without, **columns)
    data = {"kind": "feature_tables", "tables": tables, "group_column": "group", "missing_views": "mean"}
    study: dict[str, Any] = {"study": "s", "datasets": {"d": data}}
    study["protocols"] = {"women": {"kind": "group_k_fold", "folds": 5}}
    run_study(tmp_path, study | {"methods": {"m": {"kind": "multi_view"}, "majority": {"kind": "majority"}}})
    folder = tmp_path / "results" / "s"
    summary = pd.read_parquet(folder / "summary.parquet").set_index("method").loc["m"]
    views, same = pd.read_csv(folder / "report" / "views.csv").set_index("view"), ["mean", "ci_low", "ci_high"]
    assert set(views.index) == {"all views", "flat", "told", "noise"}
    assert views.loc["all views", same].tolist() == summary[same].tolist()
    assert views.loc["told", "mean"] > 0.9 > 0.7 > views.loc["noise", "mean"]
    assert views.loc["told", "difference_low"] > 0 > views.loc["noise", "difference_low"]
    assert views.loc["flat", "difference"] == 0
    assert "constant" in views.loc["flat", "message"]
    answer, page = ((folder / "report" / name).read_text("utf-8") for name in ("answer.txt", "index.html"))
    assert "Views that add to the others, in points of accuracy: told +" in answer
    assert "No other view is\nshown to add." in answer
    assert "accuracy in % by 5-fold cross-validation of whole groups, 2 methods:" in answer
    assert page.index('id="views"') < page.index("Adds to the others") < page.index('id="weights"')


ONE_VIEW = {"descriptors": {"hog": {"kind": "hog"}}}


@pytest.mark.parametrize("change", [ONE_VIEW, {"report": {"views": False}}, {"methods": {"m": {"kind": "pca"}}}])
def test_studies_without_contributions(change: dict[str, Any]) -> None:
    study = {"study": "s", "datasets": ["digits"], "methods": {"m": {"kind": "multi_view"}}}
    counts = [[job.rule for job in planned_jobs(each)].count("view_contributions") for each in (study, study | change)]
    assert counts == [1, 0]


@pytest.mark.parametrize(("final", "measured"), [({}, "m"), ({"final": {"method": "own"}}, "own")])
def test_views_are_measured_with_the_final_model(final: dict[str, Any], measured: str) -> None:
    methods = {"m": {"kind": "multi_view"}, "own": {"kind": "multi_view", "learned": 0}}
    jobs = planned_jobs({"study": "s", "datasets": ["digits"], "methods": methods} | final)
    assert [job.spec["method"]["id"] for job in jobs if job.rule == "view_contributions"] == [measured]


def test_few_splits_of_few_samples() -> None:
    every = np.arange(3000)
    folds = [Split(r, f, every[every % 5 != f], every[every % 5 == f]) for r in range(4) for f in range(5)]
    kept = first_splits(folds, 0)
    assert [(split.repeat, split.fold) for split in kept] == [(r, f) for r in range(2) for f in range(5)]
    assert {(len(split.train), len(split.test)) for split in kept} == {(VIEW_SAMPLES, 600)}
    assert all(np.isin(split.train, whole.train).all() for split, whole in zip(kept, folds, strict=False))
    assert len(first_splits([Split(0, f, every, every) for f in range(17)], 0)) == 17


@pytest.mark.parametrize(
    ("metric", "views", "sentence"),
    [
        ("accuracy", {"c": (0.01, 0.01, 0.02, 0.01), "a": (0.06, 0.02, 0.1, 0.01), "b": (0.0, -0.02, 0.02, 1)},
         "Views that add to the others, in points of accuracy: a +6.0 [+2.0, +10.0] and c +1.0 [+1.0, +2.0]. No "
         "other view is shown to add."),
        ("accuracy", {"a": (0.06, 0.02, 0.1, 0.06)}, "No view is shown to add to the others."),
        ("accuracy", {"a": (0.0, -0.01, 0.005, 1), "b": (-0.03, -0.05, -0.01, 0.01)},
         "No view adds 1 point of accuracy to the others. Better left out: b −3.0 [−5.0, −1.0]."),
        ("rmse", {"a": (-0.1, -0.2, -0.04, 0.01)}, "Views that add to the others, in RMSE: a −0.100 [−0.200, −0.040]."),
        ("accuracy", {"a": (0.06, np.nan, np.nan, np.nan)}, ""),
    ],
)  # fmt: skip
def test_the_sentence_says_what_the_intervals_show(metric: str, views: dict[str, Any], sentence: str) -> None:
    names = ["difference", "difference_low", "difference_high", "p_holm"]
    rows = pd.DataFrame.from_dict(views, "index", columns=names).rename_axis("view").reset_index()
    rows = rows.assign(dataset="d", protocol="p", train_size=5, method="own")
    assert views_sentence(made_of(AVERAGE, metric=metric), rows) == sentence
    named = f"own: {sentence}" if sentence else ""
    assert views_sentence(made_of(AVERAGE, metric=metric), rows, names_method=True) == named
    many = pd.concat([rows.assign(train_size=size) for size in range(4)])
    if sentence.startswith("Views"):
        counted = views_sentence(made_of(AVERAGE, sizes=range(4), metric=metric), many)
        assert counted == "Views are shown to add to the others on 4 of 4 data sets: see Which view matters?"
