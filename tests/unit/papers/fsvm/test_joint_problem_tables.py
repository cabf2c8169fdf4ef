"""ROC curves and tables of the joint problem in F-SVM's report, and the distance of an alternation from its optimum."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from sklearn.base import clone
from sklearn.datasets import load_wine

from mklearn.classifiers import FSVC
from mklearn.papers.fsvm.joint_problem import joint_problem
from mklearn.papers.fsvm.roc_curves import GRID, mean_roc
from mklearn.study.evaluation.predictions import Predictions
from mklearn.study.report.figures_of_fits import LEAST_DISTANCE, objective
from mklearn.study.report.parts import StudyResults
from mklearn.study.report.records import FitRecord

TITLES = {"svm": "SVM", "exact": "F-SVM", "path": "F-SVM alternating"}
MODELS = {"svm": FSVC(2.0, power=0.0), "exact": FSVC(2.0), "path": FSVC(2.0, solver="alternating", n_iter=3)}
CLASSES = {"two": (0, 1), "three": (0, 1, 2)}
SPLITS = [(repeat, fold) for repeat in range(2) for fold in range(3)]


@pytest.fixture(scope="module")
def fitted() -> dict[tuple[str, str], list[FSVC]]:
    """F-SVM on wine, of two classes and of three: data set and method."""
    X, y = load_wine(return_X_y=True)
    found: dict[tuple[str, str], list[FSVC]] = {}
    for dataset, classes in CLASSES.items():
        kept = np.isin(y, classes)
        for method, model in MODELS.items():
            parts = [np.random.default_rng(repeat).permutation(kept.sum()) % 3 != fold for repeat, fold in SPLITS]
            trained = [np.flatnonzero(kept)[part] for part in parts]
            found[dataset, method] = [clone(model).fit(X[train], y[train]) for train in trained]
    return found


def record_of(dataset: str, method: str, models: list[FSVC]) -> FitRecord:
    entries = [entry for model in models for entry in model.diagnostics_]
    diagnostics = pd.DataFrame(entries) if entries else None
    return FitRecord(dataset, "folds", None, method, TITLES[method], diagnostics=diagnostics)


def tables(records: list[FitRecord]):
    return joint_problem(StudyResults(pd.DataFrame(), Predictions(pd.DataFrame()), {}, records)).tables


def lower_median(values):
    return np.quantile(np.concatenate(values), 0.5, method="lower")


@pytest.mark.full
def test_joint_problem_in_numbers(fitted):
    joint, alternation = tables([record_of(*key, models) for key, models in fitted.items()])
    assert [row[0].text for row in joint.rows] == ["F-SVM", "F-SVM alternating"]
    ratios = {name: [model.equivalent_C_ / model.C0_ for model in fitted[name, "exact"]] for name in CLASSES}
    least = min(ratios, key=lambda name: np.concatenate(ratios[name]).min())
    for row in joint.rows:
        assert float(row[1].sort) == pytest.approx(lower_median([*ratios["two"], *ratios["three"]]), rel=2e-4)
        assert float(row[2].sort) == pytest.approx(np.concatenate(ratios[least]).min(), rel=2e-4)
        assert row[2].below == least
        assert [cell.text for cell in row[3:]] == ["0.0", "0.0", "24"]
    (row,) = alternation.rows
    entries = [entry for name in CLASSES for model in fitted[name, "path"] for entry in model.diagnostics_]
    starts, ends, rises = ([entry[name] for entry in entries] for name in ("start", "end", "rises"))
    expected = [lower_median([starts]), lower_median([ends]), max(ends)]
    assert [float(cell.sort) for cell in row[1:4]] == pytest.approx(expected)
    assert row[4].text == f"{np.median(rises):g} | {max(rises)}"
    assert len(tables([record_of("two", "exact", fitted["two", "exact"])])) == 1
    assert tables([]) == ()


@pytest.mark.full
def test_fits_with_the_constant_classifier_count_as_zero(fitted):
    X = np.random.default_rng(0).normal(size=(30, 3))
    model = FSVC().fit(np.concatenate([X, X]), np.repeat([0, 1], 30))
    record = record_of("two", "exact", fitted["two", "exact"])
    as_kept = pd.DataFrame(model.diagnostics_).replace([np.inf, -np.inf], None)
    (row,) = tables([replace(record, diagnostics=pd.concat([record.diagnostics, as_kept], ignore_index=True))])[0].rows
    assert (row[3].text, row[3].kind, row[5].text) == ("14.3", "number warn", "7")
    (row,) = tables([replace(record, diagnostics=as_kept)])[0].rows
    assert [cell.text for cell in row[1:]] == ["–", "–", "100.0", "0.0", "1"]


@pytest.mark.full
def test_the_alternation_is_drawn_as_its_distance_from_the_optimum(fitted):
    models, labels = fitted["two", "path"], list(TITLES.values())
    history = pd.DataFrame([
        {"repeat": repeat, "fold": fold, "half_step": number, "step": entry["step"], "value": entry["objective"],
         "bound": None, "optimum": entry["optimum"], "label": "F-SVM alternating"}
        for (repeat, fold), model in zip(SPLITS, models, strict=True)
        for number, entry in enumerate(model.history_)
    ])  # fmt: skip
    chart = objective(history, labels, title="x")
    expected = np.concatenate([model.objective_history_[0] / model.optimum_[0] - 1 for model in models])
    np.testing.assert_allclose([row["y"] for row in chart["data"]["values"]], expected, rtol=1e-5)
    assert chart["encoding"]["x"]["title"] == "step"
    assert "(F − F*) / F*" in chart["title"]["subtitle"]
    at_optimum = objective(history.assign(value=history["optimum"]), labels, title="")
    assert {row["y"] for row in at_optimum["data"]["values"]} == {LEAST_DISTANCE}


# --- ROC curves


def predictions(values: list[float], true: list[int], folds: int = 1) -> pd.DataFrame:
    n = len(values)
    return pd.DataFrame({
        "repeat": 0, "fold": np.arange(n) * folds // n, "true": true, "decision_value": values,
        "predicted": (np.array(values) > 0).astype(int), "sample": [f"{2 * i} | {2 * i + 1}" for i in range(n)],
    })  # fmt: skip


def test_the_mean_of_the_curves_of_all_folds() -> None:
    perfect, reversed_ = [-2.0, -1.0, 1.0, 2.0], [2.0, 1.0, -1.0, -2.0]
    true = [0, 0, 1, 1]
    np.testing.assert_array_equal(mean_roc(predictions(perfect, true))["mean"], 1.0)
    curve = mean_roc(predictions(reversed_, true))
    assert (curve["mean"][GRID < 1] == 0).all()
    both = mean_roc(predictions(perfect + reversed_, true * 2, folds=2))
    assert (both["mean"][GRID < 1] == 0.5).all()


def test_the_area_is_the_metric() -> None:
    from sklearn.metrics import roc_auc_score

    rng = np.random.default_rng(0)
    true = np.arange(4000) % 2
    values = true + rng.normal(size=4000)
    curve = mean_roc(predictions(values.tolist(), true.tolist()))
    assert np.trapezoid(curve["mean"], curve["accepted"]) == pytest.approx(roc_auc_score(true, values), abs=2e-3)


def test_no_curve_without_values_or_a_class() -> None:
    assert mean_roc(None) is None
    assert mean_roc(predictions([np.nan, 1.0], [0, 1])) is None
    assert mean_roc(predictions([1.0, 2.0], [1, 1])) is None
