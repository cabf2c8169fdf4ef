"""Metrics: their values, what they need, and which can choose."""

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from mklearn.errors import NotApplicable
from mklearn.study.evaluation.fitted import lookup_of
from mklearn.study.evaluation.metrics.functions import minority_recall
from mklearn.study.evaluation.metrics.metric import metric_mistakes, metric_named
from mklearn.study.evaluation.outputs import MethodOutput
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
    return MethodOutput(np.arange(8) % 3, y, labels, lookup_of(estimator, 8, np.zeros((len(y), 1))))


def test_accuracy_and_balanced_accuracy() -> None:
    assert metric_named("accuracy").score(output()) == 4 / 6
    assert metric_named("balanced_accuracy").score(output()) == pytest.approx((2 / 3 + 1 / 2 + 1) / 3)


def test_macro_f1_is_the_mean_over_classes_of_the_harmonic_mean_of_precision_and_recall() -> None:
    """Class 3 is predicted once and never right: it counts as 0. Class 4 is neither there nor predicted."""
    y, labels = np.array([0, 0, 0, 1, 1, 2]), np.array([0, 0, 1, 1, 3, 2])
    f1 = [2 * 2 / (3 + 2), 2 * 1 / (2 + 2), 1, 0]  # 2 right / (samples + predictions)
    assert metric_named("macro_f1").score(output(y=y, labels=labels)) == pytest.approx(np.mean(f1))


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
        ("log_loss", Scorer([0, 1, 2], probabilities=np.full((6, 2), 0.5)), "one column for each class"),
        ("auc", Scorer([0, 1, 2]), "no decision_function or predict_proba"),
        ("auc", Scorer([0, 1, 2], np.zeros((6, 2))), "one column for each class"),
        ("auc", Scorer([0, 1, 2, 3], np.zeros((6, 4))), "test samples of every class; 3 has none"),
        ("auc", Scorer([0, 1], np.zeros(6)), "2 has no training sample"),
        ("equal_error_rate", Scorer([0, 1, 2], np.zeros((6, 3))), "there are 3"),
        ("equal_error_rate", Scorer([0, 1], np.zeros(6)), "2 has no training sample"),
        ("support_vector_share", Scorer([0, 1]), "no n_support_vectors"),
    ],
)
def test_what_metrics_can_not_be_computed_from(metric: str, estimator: Any, reason: str) -> None:
    with pytest.raises(NotApplicable, match=reason):
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
    ("fitted", "share"),
    [
        ({"support_": np.array([1, 3])}, 2 / 8),
        ({"n_support_": np.array([1, 3])}, 4 / 8),
        ({"dual_coef_": np.array([[0, 1, 0, 0, 0, 0, 0, 0], [0, 1, 0, 0, 2, 0, 0, 0]])}, 2 / 8),
        ({"dual_coef_": np.array([0, 0, 0, 0.5, 0, 0, 0, 0])}, 1 / 8),
    ],
)
def test_share_of_support_vectors(fitted: dict[str, Any], share: float) -> None:
    assert metric_named("support_vector_share").score(output(SimpleNamespace(**fitted))) == share


@pytest.mark.parametrize(
    ("arguments", "field", "sentence"),
    [
        ((["accuracy", "acc"], "accuracy", 3), "metrics", "no metric 'acc'. Did you mean 'auc'? Valid: accuracy, bal"),
        ((["accuracy", "accuracy"], "accuracy", 3), "metrics", "named twice"),
        ((["accuracy"], "auc", 3), "choose_by", "not among metrics"),
        ((["accuracy", "log_loss"], "log_loss", 3), "choose_by", "can't choose"),
        ((["accuracy", "auc"], "auc", "leave_one_out"), "choose_by", "no value for a single sample"),
    ],
)
def test_choices_of_metrics_that_are_invalid(arguments: Any, field: str, sentence: str) -> None:
    ((where, printed),) = metric_mistakes(*arguments)
    assert where == field
    assert sentence in printed


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
    given = SimpleNamespace(y=y, class_scores=values, classes=classes)
    if rate is None:
        thresholds = np.r_[np.inf, np.sort(np.unique(values))[::-1]]
        accepted = np.array([np.mean(values[y == 0] >= t) for t in thresholds])
        rejected = np.array([np.mean(values[y == 1] < t) for t in thresholds])
        fine = np.linspace(0, 1, 100_001)
        along = np.arange(len(thresholds)) / (len(thresholds) - 1)
        a, r = np.interp(fine, along, accepted), np.interp(fine, along, rejected)
        rate = float(a[np.argmin(np.abs(a - r))])
    assert metric.score(given) == pytest.approx(rate, abs=1e-4)
    two_columns = SimpleNamespace(y=y, class_scores=np.c_[-values, np.exp(values)], classes=classes)
    assert metric.score(two_columns) == pytest.approx(rate, abs=1e-4)
