"""Tables of F-SVM's joint problem, and the distance of an alternation from the optimum."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_wine
from tests.unit.study.report.conftest import report_spec

from mklearn.classifiers import FSVC
from mklearn.papers.fsvm.joint_problem import (
    alternation_table,
    joint_problem,
    joint_problem_table,
    joint_problems,
    threshold_table,
)
from mklearn.study.evaluation.predictions import Predictions
from mklearn.study.evaluation.summary import summarise
from mklearn.study.report.figures_of_fits import LEAST_DISTANCE, objective, objective_section
from mklearn.study.report.parts import StudyResults
from mklearn.study.report.records import FitRecord
from mklearn.study.report.results import results_of

pytestmark = pytest.mark.full

TITLES = {"svm": "SVM", "exact": "F-SVM", "path": "F-SVM alternating"}
MODELS = {"svm": FSVC(2.0, power=0.0), "exact": FSVC(2.0), "path": FSVC(2.0, solver="alternating", n_iter=3)}
CLASSES = {"two": (0, 1), "three": (0, 1, 2)}
PLACES = {"two": "Two wines", "three": "Three wines"}
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
    """Arguments of ``build_report``."""
    rows, fits = [], []
    for (dataset, method), models in fitted.items():
        diagnostics, history = [], []
        for (repeat, fold), model in zip(SPLITS, models, strict=True):
            place = {"repeat": repeat, "fold": fold}
            rows.append(place | {
                "study": "demo", "dataset": dataset, "protocol": "folds", "train_size": None, "method": method,
                "kernel_set": "features", "neighbour": "", "metric": "accuracy", "selection": "inner_cv",
                "dimension": None, "value": 0.9 + 0.01 * fold, "status": model.status_, "message": "", "seed": 0,
                "n_train": 60, "n_test": 30, "parameters": "{}", "gap": model.certificate_["gap"], "fit_seconds": 0.1,
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
    titles = {"methods": TITLES, "datasets": PLACES}
    summary = summarise(scores, reference="svm", titles=titles)
    return {"scores": scores, "summary": summary, "fits": fits, "study": report_spec("demo", reference="svm")}


def tables(study: dict[str, Any], **changed: Any) -> Any:
    known = study | changed
    return results_of(known["scores"], known["summary"], known["fits"], "svm")


def of_parts(study: dict[str, Any], fits: Any = None) -> StudyResults:
    return StudyResults(study["scores"], Predictions(pd.DataFrame()), {}, study["fits"] if fits is None else fits)


def lower_median(values):
    return np.quantile(np.concatenate(values), 0.5, method="lower")


def test_joint_problem_in_numbers(study, fitted):
    joint, thresholds, alternation = joint_problem(of_parts(study)).tables
    assert [row[0].text for row in joint.rows] == ["F-SVM", "F-SVM alternating"]
    of_exact = {name: fitted[name, "exact"] for name in CLASSES}
    ratios = {name: [model.equivalent_C_ / model.C0_ for model in models] for name, models in of_exact.items()}
    least = min(ratios, key=lambda name: np.concatenate(ratios[name]).min())
    for row in joint.rows:
        assert float(row[1].sort) == pytest.approx(lower_median([*ratios["two"], *ratios["three"]]), rel=2e-4)
        assert float(row[2].sort) == pytest.approx(np.concatenate(ratios[least]).min(), rel=2e-4)
        assert row[2].below == least
        assert [cell.text for cell in row[3:]] == ["0.0", "0.0", "24"]
    assert [row[0].text for row in thresholds.rows] == list(CLASSES)
    assert joint_problem(of_parts(study, [])).tables == ()
    for row, (name, models) in zip(thresholds.rows, of_exact.items(), strict=True):
        found = [float(cell.sort) for cell in row[1:]]
        medians = [lower_median([getattr(model, value) for model in models]) for value in ("equivalent_C_", "C0_")]
        assert found == pytest.approx([2.0, *medians, 0, 0, 18 if name == "three" else 6])
    (row,) = alternation.rows
    paths = [model for name in CLASSES for model in fitted[name, "path"]]
    starts, ends = ([[each[at] for each in model.diagnostics_] for model in paths] for at in ("start", "end"))
    expected = lower_median(starts), lower_median(ends), np.concatenate(ends).max()
    assert [float(cell.sort) for cell in row[1:4]] == pytest.approx(expected)
    rises = [each["rises"] for model in paths for each in model.diagnostics_]
    assert row[4].text == f"{np.median(rises):g} | {max(rises)}"
    assert alternation_table(joint_problems(of_parts(study)).query("label == 'F-SVM'")) is None


def test_fits_with_the_constant_classifier_count_as_zero(study):
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = FSVC().fit(np.concatenate([X, X]), np.repeat([0, 1], 30))
    record = study["fits"][1]
    as_kept = pd.DataFrame(model.diagnostics_).replace([np.inf, -np.inf], None).assign(repeat=0, fold=0)
    both = pd.concat([record.diagnostics, as_kept], ignore_index=True)
    fits = joint_problems(of_parts(study, [replace(record, diagnostics=both)]))
    (row,) = joint_problem_table(fits).rows
    assert (row[3].text, row[3].kind, row[5].text) == ("14.3", "number warn", "7")
    alone = joint_problems(of_parts(study, [replace(record, diagnostics=as_kept)]))
    (row,) = joint_problem_table(alone).rows
    assert [cell.text for cell in row[1:]] == ["–", "–", "100.0", "0.0", "1"]
    assert threshold_table(alone).rows[0][2].text == "–"


def test_the_alternation_is_drawn_as_its_distance_from_the_optimum(study, fitted):
    record = next(fit for fit in study["fits"] if (fit.dataset, fit.method) == ("two", "path"))
    history, labels = record.history.assign(label="F-SVM alternating"), list(TITLES.values())
    chart = objective(history, labels, title="x")
    rows = chart["data"]["values"]
    models = fitted["two", "path"]
    expected = np.concatenate([model.objective_history_[0] / model.optimum_[0] - 1 for model in models])
    np.testing.assert_allclose([row["y"] for row in rows], expected, rtol=1e-5)
    assert [row["r"] for row in rows[::4]] == [f"{repeat}, fold {fold}" for repeat, fold in SPLITS]
    assert {row["s"] for row in rows} == {"F-SVM alternating"}
    assert chart["encoding"]["x"]["title"] == "step"
    assert "(F − F*) / F*" in chart["title"]["subtitle"]
    at_optimum = objective(history.assign(value=history["optimum"]), labels, title="")
    assert {row["y"] for row in at_optimum["data"]["values"]} == {LEAST_DISTANCE}
    unknown = objective(history.assign(optimum=np.nan), labels, title="")
    np.testing.assert_allclose([row["y"] for row in unknown["data"]["values"]], history["value"], rtol=1e-5)
    assert unknown["title"]["subtitle"] == "objective"


def test_alternations_whose_optimum_is_known_share_a_figure(study):
    path = next(fit for fit in study["fits"] if (fit.dataset, fit.method) == ("two", "path"))
    other = replace(path, method="exact", method_title="F-SVM")
    unknown = replace(path, method="svm", method_title="SVM", history=path.history.assign(optimum=np.nan))
    for fits, expected in (
        ([path], {"F-SVM alternating"}),
        ([other, unknown, path], {"distance from the optimum", "SVM"}),
    ):
        (part,) = objective_section(tables(study, fits=fits)).parts
        drawn = {figure.caption: figure.draw() for figure in part.figures}
        assert set(drawn) == expected
    shared = drawn["distance from the optimum"]
    assert {row["s"] for row in shared["data"]["values"]} == {"F-SVM", "F-SVM alternating"}
