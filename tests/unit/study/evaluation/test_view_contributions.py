"""What each view adds and does alone: the numbers of the study's own fits, and sentences no stronger than intervals."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.unit.planned_jobs import planned_jobs
from tests.unit.study.report.test_findings import AVERAGE, made_of
from tests.unit.study.small_study import run_study, write_tables

from mklearn.study.data.splits import Split
from mklearn.study.evaluation.view_contributions import first_splits
from mklearn.study.report.views import views_sentence
from mklearn.study.specs.fit_spec import VIEW_SAMPLES


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
