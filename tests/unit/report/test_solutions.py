"""Tables of solutions and training times, and the distance of an alternation from the optimum."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from tests.unit.report.conftest import report_spec

from mklearn.classifiers import FSVC
from mklearn.evaluation.summary import summarise
from mklearn.report.build import build_report
from mklearn.report.figures_of_fits import LEAST_DISTANCE, objective
from mklearn.report.frames import results_of
from mklearn.report.records import FitRecord, RunRecord
from mklearn.report.series import series_of
from mklearn.report.solutions import gap_table, joint_problem_table, solution_tables
from mklearn.report.times import time_ratio_table

TITLES = {"svm": "SVM", "exact": "F-SVM", "path": "F-SVM alternating"}
MODELS = {"svm": FSVC(2.0, power=0.0), "exact": FSVC(2.0), "path": FSVC(2.0, solver="alternating", n_iter=3, rho=4.0)}
SECONDS = {"svm": 0.01, "exact": 0.02, "path": 0.5}
CLASSES = {"two": (0, 1), "three": (0, 1, 2)}
SPLITS = [(repeat, fold) for repeat in range(2) for fold in range(3)]


@pytest.fixture(scope="module")
def fitted() -> dict[tuple[str, str], list[FSVC]]:
    """F-SVM on wine, of two classes and of three: data set and method."""
    from sklearn.base import clone

    X, y = load_wine(return_X_y=True)
    found: dict[tuple[str, str], list[FSVC]] = {}
    for dataset, classes in CLASSES.items():
        kept = np.isin(y, classes)
        for method, model in MODELS.items():
            models = []
            for repeat, fold in SPLITS:
                parts = np.random.default_rng(repeat).permutation(kept.sum()) % 3
                train = np.flatnonzero(kept)[parts != fold]
                models.append(clone(model).fit(X[train], y[train]))
            found[dataset, method] = models
    return found


@pytest.fixture(scope="module")
def study(fitted: dict[tuple[str, str], list[FSVC]]) -> dict[str, Any]:
    """Arguments of ``build_report``; the times are made up."""
    rows, fits = [], []
    for (dataset, method), models in fitted.items():
        diagnostics, history = [], []
        for (repeat, fold), model in zip(SPLITS, models, strict=True):
            place = {"repeat": repeat, "fold": fold}
            rows.append(place | {
                "study": "demo", "dataset": dataset, "protocol": "folds", "train_size": None, "method": method,
                "kernel_set": "features", "neighbour": "", "metric": "accuracy", "selection": "inner_cv",
                "dimension": None, "value": 0.9 + 0.01 * fold, "status": model.status_, "message": "", "seed": 0,
                "n_train": 60, "n_test": 30, "parameters": "{}", "gap": model.certificate_["gap"],
                "fit_seconds": SECONDS[method] * (1 + repeat + fold) * (1 + ((dataset, method) == ("three", "path"))),
            })  # fmt: skip
            diagnostics += [place | entry for entry in model.diagnostics_]
            history += [
                place | {"half_step": number, "step": entry["step"], "value": entry["objective"], "bound": None,
                         "optimum": entry["optimum"]}
                for number, entry in enumerate(model.history_)
            ]  # fmt: skip
        frames = [pd.DataFrame(entries) if entries else None for entries in (diagnostics, history)]
        fits.append(FitRecord(dataset, "folds", None, method, TITLES[method], diagnostics=frames[0], history=frames[1]))
    scores = pd.DataFrame(rows).astype({"train_size": "Int64", "dimension": "Int64"})
    titles = {"methods": TITLES, "datasets": {"two": "Two wines", "three": "Three wines"}}
    summary = summarise(scores, reference="svm", titles=titles)
    return {"scores": scores, "summary": summary, "fits": fits, "study": report_spec("demo", reference="svm")}


def tables(study: dict[str, Any], **changed: Any) -> Any:
    known = study | changed
    return results_of(known["scores"], known["summary"], known["fits"], "svm")


def test_joint_problem_in_numbers(study, fitted):
    table = joint_problem_table(tables(study))
    heads = [column.title for column in table.columns]
    rows = {(row[0].text, row[1].text): dict(zip(heads, row, strict=True)) for row in table.rows}
    assert set(rows) == {
        (place, name) for place in ("Two wines", "Three wines") for name in ("F-SVM", "F-SVM alternating")
    }
    for dataset, place, n_pairs in (("two", "Two wines", 1), ("three", "Three wines", 3)):
        exact, path = (rows[place, name] for name in ("F-SVM", "F-SVM alternating"))
        equivalent = np.concatenate([model.equivalent_C_ for model in fitted[dataset, "exact"]])
        thresholds = np.concatenate([model.C0_ for model in fitted[dataset, "exact"]])
        expected = {
            "C": 2.0, "C′": np.median(equivalent), "C0": np.median(thresholds),
            "Least C′/C0": (equivalent / thresholds).min(), "w = 0, %": 0.0, "Regular simplex, %": 0.0,
            "Fits": 6 * n_pairs,
        }  # fmt: skip
        for row in (exact, path):  # the alternation has another rho, and the same C/sqrt(rho)
            for name, value in expected.items():
                assert float(row[name].sort) == pytest.approx(value, rel=2e-4), name
        assert exact["after"].text == exact["Rises"].text == "–"
        paths = [distance for model in fitted[dataset, "path"] for distance in model.distance_from_optimum_]
        for name, position in (("Distance before", 0), ("after", -1)):
            assert float(path[name].sort) == pytest.approx(np.median([distance[position] for distance in paths]))
        rises = np.concatenate([model.n_rises_ for model in fitted[dataset, "path"]])
        assert path["Rises"].text == f"{np.median(rises):g} | {rises.max()}"


def test_gaps_over_all_settings(study, fitted):
    table = gap_table(tables(study))
    assert [row[0].text for row in table.rows] == list(TITLES.values())
    for method, row in zip(TITLES, table.rows, strict=True):
        gaps = {
            title: [model.gap_.max() for model in fitted[dataset, method]]
            for dataset, title in (("two", "Two wines"), ("three", "Three wines"))
        }
        worst = max(gaps, key=lambda title: max(gaps[title]))
        assert float(row[2].sort) == max(gaps[worst])
        assert row[2].below == worst
        assert float(row[1].sort) == pytest.approx(np.median([*gaps["Two wines"], *gaps["Three wines"]]))
        assert (row[3].text, row[4].text) == ("0", "12")
    worse = study["scores"].assign(status=np.where(study["scores"]["method"].eq("path"), "inaccurate", "ok"))
    assert [row[3].text for row in gap_table(tables(study, scores=worse)).rows] == ["0", "0", "12"]


def test_times_are_ratios_to_the_reference_on_the_same_split(study):
    table = time_ratio_table(tables(study))
    assert table.caption == "Training time in units of SVM"
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["SVM", "1 ×", "", "", "12"],
        ["F-SVM", "2 ×", "2 ×", "2 ×", "12"],
        ["F-SVM alternating", "75 ×", "50 ×", "100 ×", "12"],
    ]
    assert [cell.below for cell in table.rows[2]] == ["", "", "Two wines", "Three wines", ""]
    assert table.marked == [True, False, False]
    scores = study["scores"]
    part = scores[~(scores["method"].eq("svm") & (scores["repeat"].eq(1) | scores["dataset"].eq("three")))]
    table = time_ratio_table(tables(study, scores=part, summary=study["summary"].query("dataset == 'two'")))
    assert [[cell.text for cell in row] for row in table.rows] == [
        ["SVM", "1 ×", "3"], ["F-SVM", "2 ×", "3"], ["F-SVM alternating", "50 ×", "3"],
    ]  # fmt: skip


def test_studies_with_nothing_to_show_have_no_tables(study):
    scores = study["scores"]
    bare = tables(study, scores=scores.drop(columns="gap"), fits=[])
    assert solution_tables(bare) == []
    assert solution_tables(tables(study, scores=scores.assign(gap=np.nan), fits=[])) == []
    assert time_ratio_table(tables(study, scores=scores.query("method == 'svm'"))) is None
    assert time_ratio_table(tables(study, scores=scores.query("method != 'svm'"))) is None
    assert time_ratio_table(tables(study, scores=scores.assign(neighbour="cosine"))) is None
    assert time_ratio_table(tables(study, scores=scores.iloc[:0], summary=study["summary"].iloc[:0], fits=[])) is None


def test_the_alternation_is_drawn_as_its_distance_from_the_optimum(study, fitted):
    record = next(fit for fit in study["fits"] if (fit.dataset, fit.method) == ("two", "path"))
    chart = objective(record.history, series_of(study["summary"], "svm"), label="F-SVM alternating")
    rows = chart["data"]["values"]
    expected = np.concatenate([model.distance_from_optimum_[0] for model in fitted["two", "path"]])
    np.testing.assert_allclose([row["y"] for row in rows], expected, rtol=1e-5)
    assert [row["r"] for row in rows[::4]] == [f"{repeat}, fold {fold}" for repeat, fold in SPLITS]
    assert chart["encoding"]["x"]["title"] == "step"
    assert "(F − F*) / F*" in chart["title"]["subtitle"]
    at_optimum = objective(
        record.history.assign(value=record.history["optimum"]), series_of(study["summary"], "svm"), label=""
    )
    assert {row["y"] for row in at_optimum["data"]["values"]} == {LEAST_DISTANCE}
    unknown = objective(record.history.assign(optimum=np.nan), series_of(study["summary"], "svm"), label="")
    np.testing.assert_allclose([row["y"] for row in unknown["data"]["values"]], record.history["value"], rtol=1e-5)
    assert unknown["title"]["subtitle"] == "objective"


def test_page_and_markdown_have_the_tables(study, tmp_path):
    build_report(tmp_path, **study, run=RunRecord(), data=[], figure_files=False)
    html, text = ((tmp_path / name).read_text(encoding="utf-8") for name in ("index.html", "summary.md"))
    assert '<section id="solutions">' in html
    for shown in ("Duality gaps", "F-SVM: the joint problem", "Training time in units of SVM"):
        assert f"<h3>{shown}</h3>" in html
        assert f"## {shown}" in text
    assert "Only C/√ρ matters" in html.replace("only", "Only")
    specs = json.loads(html.split('id="figures-data">')[1].split("</script>")[0])["specs"]
    assert sum(slug.startswith("objective") for slug in specs) == 2
