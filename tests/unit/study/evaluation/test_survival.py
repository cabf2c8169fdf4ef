"""Survival estimators in a study: risks, survival functions and their metrics on a split, in pipelines too."""

import numpy as np
import pytest

from mklearn.kernels import Views
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.outputs import SplitRecord
from mklearn.study.evaluation.predictions import prediction_table
from mklearn.study.evaluation.split import evaluate_split
from mklearn.study.specs.fit_spec import EvaluationSpec, InputSpec, MethodSpec
from mklearn.survival import harrell_c, integrated_brier, signed_times, uno_c

RNG = np.random.default_rng(0)
X = RNG.normal(size=(90, 4))
Y = signed_times(np.ceil(3 * RNG.exponential(np.exp(-X[:, 0]))), RNG.random(90) < 0.7)  # with ties
TRAIN, TEST = np.arange(60), np.arange(60, 90)
METRICS = ("harrell_c", "uno_c", "integrated_brier")
METHODS = {
    "multi_view_survival": ("mklearn.survival.multi_view:MultiViewSurvival", "kernels"),
    "cox_ridge": ("mklearn.survival.baselines:cox_ridge", "features"),
    "kaplan_meier": ("mklearn.survival.baselines:KaplanMeierSurvival", "features"),
}


@pytest.mark.parametrize("kind", METHODS)
def test_metrics_and_predictions_of_a_split(kind: str) -> None:
    implementation, takes = METHODS[kind]
    entry = InputSpec(kind=takes, descriptors=["X"] if takes == "features" else [], feature_scaling="none")
    kernels = [{"id": "linear", "kind": "linear", "view": "X"}] if takes == "kernels" else []
    spec = MethodSpec(id=kind, implementation=implementation, inputs={"X": entry})
    evaluation = EvaluationSpec(neighbours=["euclidean"], inner_folds=3, choose_by="harrell_c")
    problem = MethodOnViews(Views({"X": X}), Y, spec, kernels)
    predictions = evaluate_split(problem, TRAIN, TEST, evaluation=evaluation, seed=0).rules[""].predictions
    risk, lookup = predictions.labels[0], predictions.lookups[0]
    times, survival = lookup("times"), lookup("survival")
    np.testing.assert_allclose(times, np.quantile(Y[TRAIN][Y[TRAIN] > 0], np.linspace(0.1, 0.9, 17)))
    assert survival.shape == (30, 17)
    error = integrated_brier(Y[TRAIN], Y[TEST], survival, times)
    expected = harrell_c(Y[TEST], risk), uno_c(Y[TRAIN], Y[TEST], risk), error
    assert [predictions.scores(metric_named(name))[0] for name in METRICS] == pytest.approx(expected)
    assert expected[0] == pytest.approx(0.5) if kind == "kaplan_meier" else expected[0] > 0.6

    plain = predictions.without_estimators({})
    record = SplitRecord({"repeat": 0, "fold": 0}, TRAIN, TEST, {"": plain})
    fit = {"dataset": "d", "protocol": "p", "train_size": None, "method": kind}
    table = prediction_table([record], fit, Y, np.arange(90).astype(str), METRICS)
    np.testing.assert_array_equal(table["true"], Y[TEST])
    np.testing.assert_array_equal(table["predicted"], risk)
    np.testing.assert_allclose(
        table["decision_value"], survival[:, times == np.median(Y[TRAIN][Y[TRAIN] > 0])][:, 0], rtol=1e-6
    )
    means = [table[f"value_{name}"].mean() for name in METRICS]
    assert means == pytest.approx(expected, rel=1e-5)
