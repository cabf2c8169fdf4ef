"""Values of single samples: their mean is the metric, and their variance that of the jackknife."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from mklearn.base.statistics import paired_sample_difference
from mklearn.study.evaluation.fitted import lookup_of
from mklearn.study.evaluation.metrics.metric import METRICS, Metric, metric_named
from mklearn.study.evaluation.outputs import MethodOutput, RulePredictions, SplitPredictions
from mklearn.study.evaluation.predictions import Predictions, prediction_table
from mklearn.study.evaluation.summary import summarise

OF_CLASSES = [name for name, metric in METRICS.items() if metric.by_sample and "classes" in metric.targets]
Labels = NDArray[np.int64]


class Scorer:
    """A fitted classifier that knows what it answers for each sample."""

    def __init__(self, classes: Labels, probabilities: NDArray[np.float64]) -> None:
        self.classes_, self.probabilities = classes, probabilities

    def predict_proba(self, X: NDArray[Any]) -> NDArray[np.float64]:
        return self.probabilities[X[:, 0].astype(int)]


def output(y: Labels, probabilities: NDArray[np.float64], kept: NDArray[Any] | None = None) -> MethodOutput:
    """Return the output for samples whose classes are 5, 3, 8 and 1 in the order of the columns."""
    classes = np.array([5, 3, 8, 1])[: probabilities.shape[1]]
    kept = np.arange(len(y)) if kept is None else kept
    labels = classes[probabilities.argmax(axis=1)]
    y_train = np.repeat(classes, [4, 2, 6, 2][: len(classes)])
    given = lookup_of(Scorer(classes, probabilities), len(y_train), kept[:, None])
    return MethodOutput(y_train, classes[y][kept], labels[kept], given)


def samples(n: int, shares: list[float], seed: int = 0) -> tuple[Labels, NDArray[np.float64]]:
    generator = np.random.default_rng(seed)
    y = generator.choice(len(shares), n, p=shares).astype(np.int64)
    scores = np.exp(1.5 * generator.normal(size=(n, len(shares))) + 2 * (y[:, None] == np.arange(len(shares))))
    return y, scores / scores.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", OF_CLASSES)
@pytest.mark.parametrize("shares", [[0.5, 0.3, 0.2]])
def test_they_have_the_metric_as_mean_and_its_variance(name: str, shares: list[float]) -> None:
    metric, (y, probabilities) = metric_named(name), samples(120, shares)
    values = metric.sample_values(output(y, probabilities))
    assert values.mean() == pytest.approx(metric.score(output(y, probabilities)), abs=1e-12)
    every = np.arange(len(y))
    without = np.array([metric.score(output(y, probabilities, np.delete(every, i))) for i in every])
    jackknife = (len(y) - 1) / len(y) * ((without - without.mean()) ** 2).sum()
    variance = values.var(ddof=1) / len(y)
    if name == "macro_f1" or (name == "auc" and len(shares) > 2):  # it changes the classes' numbers
        assert 0.7 * jackknife < variance < jackknife
    else:
        assert variance == pytest.approx(jackknife, rel=0.06)


@pytest.mark.full
@pytest.mark.parametrize("name", OF_CLASSES)
def test_their_variance_is_that_of_new_samples(name: str) -> None:
    """Of classes whose numbers are fixed, where the metric is of recalls or ranks: as splits have them."""
    metric, found, estimated = metric_named(name), [], []
    shares = [0.25, 0.25, 0.5]
    for seed in range(200):
        y, probabilities = samples(400, shares, seed)
        kept = np.concatenate([np.flatnonzero(y == code)[:count] for code, count in enumerate((20, 40, 60))])
        made = output(y, probabilities, kept)
        found.append(metric.score(made))
        estimated.append(metric.sample_values(made).var(ddof=1) / len(kept))
    assert np.mean(estimated) == pytest.approx(np.var(found, ddof=1), rel=0.3)


def test_ties_and_single_samples() -> None:
    """Equal scores count half in the area, and a class with one test sample has a spread all the same."""
    y, probabilities = samples(40, [0.5, 0.5])
    tied = np.round(probabilities, 1)
    auc = metric_named("auc")
    assert auc.sample_values(output(y, tied)).mean() == pytest.approx(auc.score(output(y, tied)), abs=1e-12)
    y = np.array([0, 0, 0, 1, 2])
    shares = np.eye(3)[[0, 1, 0, 1, 0]]
    for name in ("balanced_accuracy", "macro_f1"):
        metric = metric_named(name)
        values = metric.sample_values(output(y, shares))
        assert values.mean() == pytest.approx(metric.score(output(y, shares)))
        assert values[3] > values[4], "classes of one sample: right and wrong"
    alone = metric_named("balanced_accuracy").sample_values(output(y[:4], shares[:4, :2]))
    assert alone.mean() == pytest.approx(5 / 6)


def _predictions(metric: Metric, n_splits: int = 10) -> tuple[Predictions, pd.DataFrame, list[NDArray[Any]]]:
    """Predictions and scores of two classifiers on half of 60 balanced samples, and right or wrong of both."""
    generator = np.random.default_rng(1)
    y, ids = np.repeat(np.arange(3), 20), np.arange(60).astype(str)
    tables, rows, right = [], [], []
    for name, share in (("average", 0.3), ("other", 0.35)):
        splits, correct = [], np.full((n_splits, 60), np.nan)
        wrong = generator.random(60) < share
        for repeat in range(n_splits):
            order = np.random.default_rng(repeat).permutation(20)
            test = np.sort(np.concatenate([order[:10] + 20 * code for code in range(3)]))
            labels = np.where(wrong ^ (generator.random(60) < 0.1), (y + 1) % 3, y)[test]
            made = MethodOutput(y, y[test], labels, {}.get)
            rule = RulePredictions(y, y[test], labels[None], [], 0, np.full(30, -1), np.full(30, np.nan))
            splits.append(SplitPredictions(repeat, 0, np.setdiff1d(np.arange(60), test), test, {"": rule}))
            correct[repeat, test] = labels == y[test]
            for kind, value in (("accuracy", np.mean(labels == y[test])), (metric.kind, metric.score(made))):
                rows.append({
                    "study": "s", "dataset": "d", "protocol": "p", "train_size": 10, "repeat": repeat, "fold": 0,
                    "method": name, "kernel_set": "", "neighbour": "", "selection": "inner_cv", "dimension": None,
                    "metric": kind, "value": value, "status": "ok", "message": "", "n_train": 30, "n_test": 30,
                    "fit_seconds": 1.0,
                })  # fmt: skip
        fit = {"dataset": "d", "protocol": "p", "train_size": 10, "method": name}
        tables.append(prediction_table(splits, fit, y, ids, [metric.kind]))
        right.append(correct)
    return Predictions(pd.concat(tables, ignore_index=True)), pd.DataFrame(rows), right


def test_on_a_balanced_set_balanced_accuracy_has_the_interval_of_the_accuracy() -> None:
    """Nearly: classes of fixed size have a little less spread."""
    predictions, scores, right = _predictions(metric_named("balanced_accuracy"))
    summary = summarise(scores, predictions).set_index(["method", "metric"])
    one, other = summary.loc[("other", "accuracy")], summary.loc[("other", "balanced_accuracy")]
    expected = paired_sample_difference(right[1], right[0], 30)
    assert one["difference_high"] == pytest.approx(expected.high)
    assert other["difference"] == pytest.approx(one["difference"], abs=1e-7)
    widths = [row[f"{column}_high"] - row[f"{column}_low"] for row in (one, other) for column in ("difference", "ci")]
    assert widths[2] == pytest.approx(widths[0], rel=0.05)
    assert widths[3] == pytest.approx(widths[1], rel=0.05)
    alone = summarise(scores).set_index(["method", "metric"]).loc[("other", "balanced_accuracy")]
    assert alone["difference_high"] - alone["difference_low"] != pytest.approx(widths[2], rel=0.05)
    assert np.isnan(other["disagreement"])


def test_the_majority_class_has_a_value_of_metrics_of_labels() -> None:
    predictions, scores, _ = _predictions(metric_named("balanced_accuracy"))
    assert summarise(scores, predictions)["majority"].tolist() == pytest.approx([1 / 3] * 4)
    assert summarise(scores)["majority"].isna().all()
