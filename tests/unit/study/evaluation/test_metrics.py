"""Metrics, their values for single samples (mean, jackknife variance), what they need, and which can choose."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import pearsonr, spearmanr
from sklearn.metrics import mean_absolute_error, r2_score, root_mean_squared_error
from tests.unit.study.evaluation.test_summary import row

from mklearn.base.statistics import paired_sample_difference, sample_interval
from mklearn.errors import NotApplicable, SolverFailed
from mklearn.study.evaluation.fitted import lookup_of
from mklearn.study.evaluation.metrics.functions import minority_recall
from mklearn.study.evaluation.metrics.metric import METRICS, metric_mistakes, metric_named
from mklearn.study.evaluation.outputs import MethodOutput, RulePredictions, SplitRecord
from mklearn.study.evaluation.predictions import Predictions, prediction_table
from mklearn.study.evaluation.summary import summarise
from mklearn.study.reading import check_study, target_mistakes

Y = np.array([0, 0, 0, 1, 1, 2])
LABELS = np.array([0, 0, 1, 1, 2, 2])


class Scorer:
    def __init__(self, classes: Any, decision: Any = None, probabilities: Any = None) -> None:
        self.classes_ = np.asarray(classes)
        if decision is not None:
            self.decision_function = lambda X: np.asarray(decision)
        if probabilities is not None:
            self.predict_proba = lambda X: np.asarray(probabilities)


def output(estimator: Any = None, y: NDArray[Any] = Y, labels: NDArray[Any] = LABELS) -> MethodOutput:
    return MethodOutput(np.arange(8) % 3, y, labels, lookup_of(estimator, np.zeros(8), np.zeros((len(y), 1))))


JOINT = np.array([[2, 1, 0], [0, 1, 1], [0, 0, 1]]) / 6
"""Shares of samples by class and prediction; then entropies, negated, of both and of each."""
JOINT_ENTROPY, *ENTROPIES = ((p * np.log(p)).sum() for p in (JOINT[JOINT > 0], JOINT.sum(axis=1), JOINT.sum(axis=0)))


@pytest.mark.parametrize(
    ("name", "labels", "expected"),
    [
        ("accuracy", LABELS, 4 / 6),
        ("balanced_accuracy", LABELS, np.mean([2 / 3, 1 / 2, 1])),
        # 2 right / (samples + predictions) of each class; 3 is predicted once and never right
        ("macro_f1", np.array([0, 0, 1, 1, 3, 2]), np.mean([2 * 2 / (3 + 2), 2 * 1 / (2 + 2), 1, 0])),
        *(
            ("nmi", each, (JOINT_ENTROPY - sum(ENTROPIES)) / np.sqrt(np.prod(ENTROPIES)))
            for each in (LABELS, 3 - LABELS)
        ),
    ],
)
def test_metrics_of_labels(name: str, labels: NDArray[Any], expected: float) -> None:
    assert metric_named(name).score(output(labels=labels)) == pytest.approx(expected)


@pytest.mark.parametrize("order", [[0, 1, 2], [2, 0, 1]])
def test_log_loss_is_the_mean_surprise(order: list[int]) -> None:
    probabilities = np.random.default_rng(0).dirichlet(np.ones(3), size=6)
    scorer = Scorer(order, decision=np.zeros((6, 3)), probabilities=probabilities[:, order])
    expected = -np.mean(np.log(probabilities[np.arange(6), Y]))
    assert metric_named("log_loss").score(output(scorer)) == pytest.approx(expected)
    y = np.array([0, 1, 1])
    two = Scorer([0, 1], probabilities=[[0.5, 0.5], [0.9, 0.1], [0.2, 0.8]])
    assert metric_named("log_loss").score(output(two, y)) == pytest.approx(-np.log([0.5, 0.1, 0.8]).mean())


@pytest.mark.parametrize(
    ("metric", "estimator", "reason"),
    [
        ("log_loss", Scorer([0, 1, 2], decision=np.zeros((6, 3))), "no predict_proba"),
        ("log_loss", Scorer([0, 1], probabilities=np.full((6, 2), 0.5)), "class; 2 has no training sample"),
        ("log_loss", Scorer([0, 1, 2], probabilities=np.full((6, 2), 0.5)), r"shape \(6, 2\); expected .* \(6, 3\)"),
        ("log_loss", Scorer([0, 1, 2], probabilities=np.full((6, 3), np.nan)), "predict_proba is not finite"),
        ("auc", Scorer([0, 1, 2]), "no decision_function or predict_proba"),
        ("auc", Scorer([0, 1, 2], np.zeros((6, 2))), "decision_function or predict_proba has shape"),
        ("auc", Scorer([0, 1, 2, 3], np.zeros((6, 4))), "test samples of every class; 3 has none"),
        ("auc", Scorer([0, 1], np.zeros(6)), "2 has no training sample"),
        ("equal_error_rate", Scorer([0, 1, 2], np.zeros((6, 3))), "there are 3"),
        ("equal_error_rate", Scorer([0, 1], np.zeros(6)), "2 has no training sample"),
        ("support_vector_share", Scorer([0, 1]), "no n_support_vectors"),
    ],
)
def test_what_metrics_can_not_be_computed_from(metric: str, estimator: Any, reason: str) -> None:
    with pytest.raises((NotApplicable, SolverFailed), match=reason):
        metric_named(metric).score(output(estimator))


@pytest.mark.parametrize("kind", ["decision", "probabilities"])
def test_area_under_the_curve_is_the_share_of_pairs_in_the_right_order(kind: str) -> None:
    auc = metric_named("auc")
    y, values = np.array([0, 1, 0, 1, 1]), np.array([0.1, 0.7, 0.4, 0.3, 0.9])
    positive, negative = values[y == 1], values[y == 0]
    expected = np.mean(positive[:, None] > negative)
    assert 0 < expected < 1
    both = np.stack([1 - values, values], axis=1)
    assert auc.score(output(Scorer([0, 1], **{kind: both}), y)) == pytest.approx(expected)
    if kind == "decision":
        assert auc.score(output(Scorer([0, 1], values), y)) == pytest.approx(expected)
    scores = np.random.default_rng(0).normal(size=(6, 3))
    one_against_rest = [np.mean(scores[code == Y, code][:, None] > scores[code != Y, code][None]) for code in range(3)]
    assert auc.score(output(Scorer([0, 1, 2], **{kind: scores}))) == pytest.approx(np.mean(one_against_rest))


@pytest.mark.parametrize(
    ("metric", "fitted", "share"),
    [
        ("support_vector_share", {"support_": np.array([1, 3])}, 2 / 8),
        ("support_vector_share", {"n_support_": np.array([1, 3])}, 4 / 8),
        ("support_vector_share", {"dual_coef_": np.array([[0, 1, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 2, 0, 0, 0]])}, 2 / 8),
        ("support_vector_share", {"dual_coef_": np.array([0, 0, 0, 0.5, 0, 0, 0, 0])}, 1 / 8),
        ("kernel_share", {"kernel_weights_": np.array([0.6, 0.4, 1e-4, 0])}, 2 / 4),
        ("kernel_share", {"localized_weights": lambda X: np.array([[9, 1e-4], [1e-3, 1e-3]])}, 3 / 4),  # by sample
    ],
)
def test_shares_of_support_vectors_and_kernels(metric: str, fitted: dict[str, Any], share: float) -> None:
    assert metric_named(metric).score(output(SimpleNamespace(**fitted))) == share


def test_a_metric_of_another_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "outside_metrics.py").write_text(
        "from mklearn.study.evaluation.metrics.metric import Metric\n"
        "def worst_class(y, labels):\n"
        "    return min((labels[y == c] == c).mean() for c in set(y))\n"
        "def error(y, labels):\n"
        "    return 0.0\n"
        "error.study_row = Metric(title='Error', targets=('numbers',))\n"
        "wrong = 3\n"
    )
    monkeypatch.syspath_prepend(tmp_path)
    worst, error = "outside_metrics:worst_class", "outside_metrics:error"
    assert metric_named(worst).score(output()) == 0.5
    assert (metric_named(worst).title, metric_named(error).title) == ("worst_class", "Error")
    assert not metric_mistakes(["accuracy", worst], worst, 3)
    study = check_study({"study": "s", "datasets": {"digits": {}}})
    evaluation = study.evaluation.model_copy(update={"metrics": ["accuracy", error]})
    (mistake,) = target_mistakes(study.model_copy(update={"evaluation": evaluation}))
    assert str(mistake) == f"evaluation.metrics: metric {error!r} takes numbers, and the target is classes."
    for missing in ("outside_metrics:wrong", "outside_metrics:none", "no_module:x"):
        assert metric_mistakes(["accuracy", missing], "accuracy", 3)


def test_recall_of_the_smallest_training_class() -> None:
    y_train, y = np.array([0, 0, 0, 1, 1, 2, 2, 2]), np.array([0, 1, 1, 1, 2])
    labels = np.array([0, 1, 0, 1, 1])
    assert minority_recall(y_train, y, labels) == pytest.approx(2 / 3)
    assert minority_recall(y_train[:5], y, labels) == pytest.approx(2 / 3)
    both = np.array([0, 0, 0, 1, 1, 2, 2])  # classes 1 and 2 are the smallest
    assert minority_recall(both, y, labels) == pytest.approx(np.mean([2 / 3, 0]))
    with pytest.raises(NotApplicable, match="class 1 has none"):
        minority_recall(y_train, y[y != 1], labels[y != 1])


@pytest.mark.parametrize(
    ("scores", "rate"),
    [
        ([1, 2, 3, 4], 0.0),
        ([4, 3, 2, 1], 1.0),
        ([1, 3, 2, 4], 0.5),
        ([0, 0, 0, 0], 0.5),  # a line joins (0, 0) and (1, 1)
        ([1, 2, 3, 4, 0.5, 5, 1.5, 3.5], None),
    ],
)
def test_equal_error_rate(scores: list[float], rate: float | None) -> None:
    """Both errors are equal there, by an independent reading of the curve; the scale of the scores does not matter."""
    y = np.array([0, 0, 1, 1, 0, 1, 1, 0][: len(scores)])
    values, classes = np.asarray(scores, dtype=float), np.array([0, 1])
    metric = metric_named("equal_error_rate")
    outputs = SimpleNamespace(y=y, class_scores=values, classes=classes)
    if rate is None:
        thresholds = np.r_[np.inf, np.sort(np.unique(values))[::-1]]
        accepted = np.array([np.mean(values[y == 0] >= t) for t in thresholds])
        rejected = np.array([np.mean(values[y == 1] < t) for t in thresholds])
        fine = np.linspace(0, 1, 100_001)
        along = np.arange(len(thresholds)) / (len(thresholds) - 1)
        a, r = np.interp(fine, along, accepted), np.interp(fine, along, rejected)
        rate = float(a[np.argmin(np.abs(a - r))])
    assert metric.score(outputs) == pytest.approx(rate, abs=1e-4)
    two_columns = SimpleNamespace(y=y, class_scores=np.c_[-values, np.exp(values)], classes=classes)
    assert metric.score(two_columns) == pytest.approx(rate, abs=1e-4)


# --- values of samples

OF_CLASSES = [name for name, metric in METRICS.items() if metric.by_sample and "classes" in metric.targets]
OF_NUMBERS = [name for name, metric in METRICS.items() if metric.targets == ("numbers",)]
Labels = NDArray[np.int64]


def output_of(y: Labels, probabilities: NDArray[np.float64]) -> MethodOutput:
    classes = np.array([5, 3, 8, 1])[: probabilities.shape[1]]
    y_train = np.repeat(classes, [4, 2, 6, 2][: len(classes)])
    lookup = lookup_of(Scorer(classes, probabilities=probabilities), y_train, y[:, None])
    return MethodOutput(y_train, classes[y], classes[probabilities.argmax(axis=1)], lookup)


def samples(n: int, shares: list[float], seed: int = 0) -> tuple[Labels, NDArray[np.float64]]:
    generator = np.random.default_rng(seed)
    y = generator.choice(len(shares), n, p=shares).astype(np.int64)
    scores = np.exp(1.5 * generator.normal(size=(n, len(shares))) + 2 * (y[:, None] == np.arange(len(shares))))
    return y, scores / scores.sum(axis=1, keepdims=True)


@pytest.mark.parametrize("name", [*OF_CLASSES, *OF_NUMBERS])
def test_they_have_the_metric_as_mean_and_its_variance(name: str) -> None:
    metric, of_numbers = metric_named(name), name in OF_NUMBERS
    y, predicted = numbers(300, 1) if of_numbers else samples(120, [0.5, 0.3, 0.2])
    made: Any = number_output if of_numbers else output_of
    values = metric.sample_values(made(y, predicted))
    assert values.mean() == pytest.approx(metric.score(made(y, predicted)), abs=1e-12)
    parts = [np.delete(np.arange(len(y)), i) for i in range(len(y))]
    without = np.array([metric.score(made(y[kept], predicted[kept])) for kept in parts])
    jackknife = (len(y) - 1) / len(y) * ((without - without.mean()) ** 2).sum()
    variance = values.var(ddof=1) / len(y)
    if name in ("macro_f1", "auc"):  # it changes the classes' numbers
        assert 0.7 * jackknife < variance < jackknife
    else:
        assert variance == pytest.approx(jackknife, rel=0.15 if of_numbers else 0.06)


def test_ties_and_single_samples() -> None:
    y, probabilities = samples(40, [0.5, 0.5])
    tied = np.round(probabilities, 1)
    auc = metric_named("auc")
    assert auc.sample_values(output_of(y, tied)).mean() == pytest.approx(auc.score(output_of(y, tied)), abs=1e-12)
    y = np.array([0, 0, 0, 1, 2])
    shares = np.eye(3)[[0, 1, 0, 1, 0]]
    for name in ("balanced_accuracy", "macro_f1"):
        metric = metric_named(name)
        values = metric.sample_values(output_of(y, shares))
        assert values.mean() == pytest.approx(metric.score(output_of(y, shares)))
        assert values[3] > values[4], "classes of one sample: right and wrong"
    alone = metric_named("balanced_accuracy").sample_values(output_of(y[:4], shares[:4, :2]))
    assert alone.mean() == pytest.approx(5 / 6)


def _predictions(wrong_share: float = 0.35, noise: float = 0.1) -> tuple[Predictions, pd.DataFrame, list[NDArray[Any]]]:
    """Predictions and scores of two classifiers on half of 60 balanced samples, and right or wrong of both."""
    generator, metric, n_splits = np.random.default_rng(1), metric_named("balanced_accuracy"), 10
    y, ids = np.repeat(np.arange(3), 20), np.arange(60).astype(str)
    tables, rows, right = [], [], []
    for name, share in (("average", 0.3), ("other", wrong_share)):
        splits, correct = [], np.full((n_splits, 60), np.nan)
        wrong = generator.random(60) < share
        for repeat in range(n_splits):
            order = np.random.default_rng(repeat).permutation(20)
            test = np.sort(np.concatenate([order[:10] + 20 * code for code in range(3)]))
            labels = np.where(wrong ^ (generator.random(60) < noise), (y + 1) % 3, y)[test]
            made = MethodOutput(y, y[test], labels, {}.get)
            rule = RulePredictions(y, y[test], labels[None], [], 0)
            splits.append(
                SplitRecord({"repeat": repeat, "fold": 0}, np.setdiff1d(np.arange(60), test), test, {"": rule})
            )
            correct[repeat, test] = labels == y[test]
            for kind, value in (("accuracy", np.mean(labels == y[test])), (metric.kind, metric.score(made))):
                place = {"metric": kind, "selection": "inner_cv", "protocol": "p", "train_size": 10, "kernel_set": ""}
                rows.append(row(name, repeat, value, **place, neighbour="", n_train=30, n_test=30))
        fit = {"dataset": "d", "protocol": "p", "train_size": 10, "method": name}
        tables.append(prediction_table(splits, fit, y, ids, [metric.kind]))
        right.append(correct)
    return Predictions(pd.concat(tables, ignore_index=True)), pd.DataFrame(rows), right


def test_on_a_balanced_set_balanced_accuracy_has_the_interval_of_the_accuracy() -> None:
    predictions, scores, right = _predictions()
    summary = summarise(scores, predictions).set_index(["method", "metric"])
    one, other = summary.loc[("other", "accuracy")], summary.loc[("other", "balanced_accuracy")]
    expected = paired_sample_difference(right[1], right[0], 30)
    assert one["difference_high"] == pytest.approx(expected.high)
    assert other["difference"] == pytest.approx(one["difference"], abs=1e-7)
    widths = [
        each[f"{column}_high"] - each[f"{column}_low"] for each in (one, other) for column in ("difference", "ci")
    ]
    assert widths[2] == pytest.approx(widths[0], rel=0.05)
    assert widths[3] == pytest.approx(widths[1], rel=0.05)
    alone = summarise(scores).set_index(["method", "metric"]).loc[("other", "balanced_accuracy")]
    assert alone["difference_high"] - alone["difference_low"] != pytest.approx(widths[2], rel=0.05)
    assert np.isnan(other["disagreement"])


def test_where_all_are_right_the_classes_count(monkeypatch: pytest.MonkeyPatch) -> None:
    predictions, scores, right = _predictions(wrong_share=0.0, noise=0.0)
    monkeypatch.setattr(predictions, "class_sizes", lambda keys: {"balanced_accuracy": [2, 2]}.get(keys["metric"]))
    for groups in (None, np.arange(60) // 2):
        monkeypatch.setattr(predictions, "held_out_groups", lambda keys, outcomes, groups=groups: groups)
        found = summarise(scores, predictions).set_index(["method", "metric"]).loc["other", "ci_low"]
        for metric, sizes in (("accuracy", None), ("balanced_accuracy", [2, 2])):
            assert found[metric] == pytest.approx(sample_interval(right[1], 30, groups=groups, class_sizes=sizes).low)


def test_the_majority_class_has_a_value_of_metrics_of_labels() -> None:
    predictions, scores, _ = _predictions()
    assert summarise(scores, predictions)["majority"].tolist() == pytest.approx([1 / 3] * 4)
    assert summarise(scores)["majority"].isna().all()


# --- numbers


def number_output(y: NDArray[Any], predicted: NDArray[Any]) -> SimpleNamespace:
    return SimpleNamespace(y_train=np.array([0.0, 1.0, 4.0, 9.0]), y=y, labels=predicted)


def numbers(m: int, seed: int, noise: float = 0.7) -> tuple[NDArray[Any], NDArray[Any]]:
    generator = np.random.default_rng(seed)
    y = generator.gamma(3.0, size=m)
    return y, 0.8 * y + 0.5 + noise * (0.5 + 0.2 * y) * generator.normal(size=m)


def test_metrics_of_numbers_are_those_of_other_packages() -> None:
    y, predicted = numbers(60, 0)
    found = {name: metric_named(name).score(number_output(y, predicted)) for name in OF_NUMBERS}
    assert found["rmse"] == pytest.approx(root_mean_squared_error(y, predicted), rel=1e-12)
    assert found["mae"] == pytest.approx(mean_absolute_error(y, predicted), rel=1e-12)
    assert found["pearson"] == pytest.approx(pearsonr(y, predicted).statistic, rel=1e-12)
    assert found["spearman"] == pytest.approx(spearmanr(y, predicted).statistic, rel=1e-12)
    same = SimpleNamespace(y_train=y, y=y, labels=predicted)  # the variance of the test samples is that of training
    assert metric_named("r2").score(same) == pytest.approx(r2_score(y, predicted), rel=1e-12)
    assert set(found) == {"r2", "rmse", "mae", "pearson", "spearman"}


def test_the_explained_share_is_known_of_a_single_sample() -> None:
    """Var(0, 1, 4, 9) = 12.25: an error of 3.5 explains nothing, of 7 less than nothing."""
    r2 = metric_named("r2")
    for error, share in ((0.0, 1.0), (3.5, 0.0), (7.0, -3.0)):
        assert r2.score(number_output(np.array([2.0]), np.array([2.0 + error]))) == pytest.approx(share)


@pytest.mark.parametrize("name", ["pearson", "spearman"])
def test_correlations_of_equal_numbers_do_not_apply(name: str) -> None:
    y = np.arange(5.0)
    for predicted in (np.full(5, 2.0), np.full(5, 1e12)):
        with pytest.raises(NotApplicable, match="numbers that differ"):
            metric_named(name).score(number_output(y, predicted))
    with pytest.raises(NotApplicable, match="three test samples"):
        metric_named(name).score(number_output(y[:2], y[:2]))
