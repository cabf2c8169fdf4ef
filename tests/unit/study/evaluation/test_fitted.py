"""Fits of a method and their predictions: numbers of components, sizes, clusters, times, and survival times."""

from __future__ import annotations

import itertools
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, clone
from sklearn.cluster import KMeans
from sklearn.datasets import load_digits
from sklearn.neighbors import NearestCentroid
from sklearn.pipeline import make_pipeline
from tests.scores import chosen_score, component

import mklearn.study.evaluation.fitted as module
from mklearn.base.folds import inner_folds
from mklearn.base.side_by_side import SideBySide
from mklearn.errors import NotApplicable, SolverFailed
from mklearn.kernels import Views
from mklearn.nearest_neighbour import nearest_neighbour_predictions, nearest_neighbour_predictions_by_dimension
from mklearn.papers.two_d_mmc.two_d_lda import TwoDLDA
from mklearn.papers.two_d_mmc.two_d_mmc import TwoDMMC
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.fitted import Fitted, fit_method, predict_in_embedding
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.outputs import SplitRecord
from mklearn.study.evaluation.predictions import prediction_table
from mklearn.study.evaluation.split import evaluate_split
from mklearn.study.specs.fit_spec import EvaluationSpec, InputSpec, MethodSpec, RefitSpec
from mklearn.subspace.mmc import MMC
from mklearn.subspace.pca import PCA
from mklearn.survival import harrell_c, integrated_brier, signed_times, uno_c

SIZES = [2, 4, 6]
RULES = ("euclidean", "cosine")
ACCURACY = metric_named("accuracy")


BUNCH = load_digits()
CHOSEN = np.concatenate([np.flatnonzero(BUNCH.target == code)[:20] for code in (1, 3, 5, 8, 9)])
IMAGES = BUNCH.images[CHOSEN] + np.random.default_rng(0).normal(scale=4, size=(100, 8, 8))
"""Digits of five classes, few and noisy enough that methods err; then their classes, training and test samples."""
PARTS = np.repeat(np.arange(5), 20), *(np.flatnonzero((np.arange(100) % 20 < 8) == first) for first in (True, False))


def accuracy(model: Any, rule: str, inside: NDArray[Any], outside: NDArray[Any]) -> float:
    """Fit to images, and classify others by their nearest neighbours in the embedding."""
    y = PARTS[0]
    Z = model.fit(IMAGES[inside], y[inside]).transform(IMAGES[inside])
    predicted = nearest_neighbour_predictions(Z, y[inside], model.transform(IMAGES[outside]), rule)  # type: ignore[arg-type]
    return float(np.mean(predicted == y[outside]))


def run(
    estimator: Any, X: NDArray[Any], X_test: NDArray[Any], y: NDArray[Any], embeds: bool = True,
    refit: RefitSpec | None = None,
) -> Fitted:  # fmt: skip
    inputs = {"X": {"kind": "features", "descriptors": ["X"]}}
    method = MethodSpec(id="m", implementation="x:x", embeds=embeds, refit=refit, inputs=inputs)

    def unfitted(**parameters: Any) -> Any:
        own = clone(estimator).set_params(**parameters)
        return own if X.ndim == 3 else make_pipeline(SideBySide(), own)

    return fit_method(method, unfitted, Views({"X": X}), y, Views({"X": X_test}))


def test_predicted_numbers_are_finite() -> None:
    with pytest.raises(SolverFailed, match="a prediction is nan; expected finite numbers"):
        Fitted(np.ones(2), [], [], [], 0.0, labels=[np.array([1.0, np.nan])]).predictions("", np.ones(2))


# --- leading dimensions


@pytest.mark.parametrize("estimator", [PCA(n_components=7), MMC()])
@pytest.mark.parametrize("rule", RULES)
def test_leading_dimensions_are_one_fit(estimator: Any, rule: str) -> None:
    X, (y, train, test) = IMAGES.reshape(100, -1), PARTS
    outcome = run(estimator, X[train], X[test], y[train])
    model = type(estimator)(**estimator.get_params()).fit(X[train], y[train])
    Z, Z_test = model.transform(X[train]), model.transform(X[test])
    assert len(outcome.estimators) == 1
    assert outcome.components == list(range(1, Z.shape[1] + 1))
    found = outcome.predictions(rule, y[test])
    predicted = nearest_neighbour_predictions_by_dimension(Z, y[train], Z_test, rule)  # type: ignore[arg-type]
    np.testing.assert_array_equal(found.labels, predicted)
    np.testing.assert_array_equal(found.scores(ACCURACY), (predicted == y[test]).mean(axis=1))
    assert np.unique(found.scores(ACCURACY)).size > 1


# --- a fit for each size


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("estimator", [TwoDLDA(max_iter=3), TwoDMMC(trade_off=0.5)])
def test_refit_is_a_fit_by_hand_at_each_size(estimator: Any, rule: str) -> None:
    X, (y, train, test) = IMAGES, PARTS
    sizes = [4, 2, 6]  # in the order given
    outcome = run(estimator, X[train], X[test], y[train], refit=RefitSpec(sizes=sizes))
    assert outcome.components == sizes
    assert estimator.n_components is None  # the one given is left as it is
    labels = outcome.predictions(rule, y[test]).labels
    for size, (embedded, applied), predicted in zip(sizes, outcome.embeddings, labels, strict=True):
        model = type(estimator)(**estimator.get_params() | {"n_components": size}).fit(X[train], y[train])
        Z, Z_test = model.transform(X[train]), model.transform(X[test])
        assert Z.shape[1] == size * size
        np.testing.assert_allclose(embedded, Z, rtol=0, atol=1e-7 * np.abs(Z).max())
        np.testing.assert_allclose(applied, Z_test, rtol=0, atol=1e-7 * np.abs(Z).max())
        expected = nearest_neighbour_predictions(Z, y[train], Z_test, rule)  # type: ignore[arg-type]
        np.testing.assert_array_equal(predicted, expected)


def test_sizes_larger_than_the_images_are_left_out() -> None:
    train, test, y = *(IMAGES[rows] for rows in PARTS[1:]), PARTS[0][PARTS[1]]
    asked = run(TwoDMMC(), train, test, y, refit=RefitSpec(sizes=[7, 8, 9, 20], at_most="image_side"))
    assert asked.components == [7, 8]
    assert len(asked.embeddings) == 2
    with pytest.raises(NotApplicable):  # none is small enough: said, not hidden
        run(TwoDMMC(), train, test, y, refit=RefitSpec(sizes=[9, 20], at_most="image_side"))


def test_inner_cross_validation_chooses_among_sizes_and_candidates() -> None:
    X, (y, train, test) = IMAGES, PARTS
    grid = [1e-2, 10.0]
    fixed: dict[str, Any] = {"max_iter": 3, "scaling": "orthonormal"}
    method = MethodSpec(
        id="m", implementation="mklearn.papers.two_d_mmc.two_d_lda:TwoDLDA", inputs={"X": {"kind": "images"}},
        parameters=fixed, grid={"ridge": grid}, embeds=True, refit=RefitSpec(sizes=SIZES),
    )  # fmt: skip
    evaluation = EvaluationSpec(neighbours=list(RULES), inner_folds=3)
    problem = MethodOnViews(Views({"X": X}), y, method)
    result = evaluate_split(problem, train, test, evaluation=evaluation, seed=0)
    for rule in RULES:
        means = np.zeros((len(grid), len(SIZES)))
        for (row, ridge), (column, size) in itertools.product(enumerate(grid), enumerate(SIZES)):
            model = TwoDLDA(size, ridge=ridge, **fixed)
            folds = inner_folds(y[train], 3, 0)
            means[row, column] = np.mean([accuracy(model, rule, train[a], train[b]) for a, b in folds])
        column = int((means >= means.max() - 1e-9).any(axis=0).argmax())
        row = int((means[:, column] >= means.max() - 1e-9).argmax())
        found = result.rules[rule]
        assert found.candidate.parameters["ridge"] == grid[row]
        assert component(found) == SIZES[column]
        assert found.predictions.components == SIZES
        model = TwoDLDA(SIZES[column], ridge=grid[row], **fixed)
        assert chosen_score(found) == pytest.approx(accuracy(model, rule, train, test))


# --- times


Clock = SimpleNamespace(now=0.0, process_time=lambda: Clock.now)


class Slow(BaseEstimator):
    """Fits in 2 s, and embeds in 30."""

    def __init__(self, n_components: int = 1) -> None:
        self.n_components = n_components

    def fit(self, X: NDArray[Any], y: NDArray[Any]) -> Slow:
        Clock.now += 2
        self.n_train_ = len(X)
        return self

    def transform(self, X: NDArray[Any]) -> NDArray[Any]:
        Clock.now += 30
        return np.asarray(X[:, : self.n_components])

    def predict(self, X: NDArray[Any]) -> NDArray[Any]:
        Clock.now += 7
        return np.zeros(len(X))


@pytest.mark.parametrize(
    ("embeds", "sizes", "expected"),
    [(True, [], 2), (True, [1, 2, 3], 6), (False, [], 2), (False, [1, 2, 3], 6)],
)
def test_times_are_of_fitting_and_add_up_over_sizes(
    embeds: bool, sizes: list[int], expected: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "time", Clock)
    X, X_test, y = np.ones((8, 3)), np.ones((5, 3)), np.arange(8) % 2
    outcome = run(Slow(), X, X_test, y, embeds, RefitSpec(sizes=sizes) if sizes else None)
    assert outcome.fit_seconds == expected
    assert [model[-1].n_components for model in outcome.estimators] == (sizes or [1])


# --- rules that classify in an embedding

DIGITS, TARGET = BUNCH.data[:700], BUNCH.target[:700]
NAMES = np.array(["zero", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"])[TARGET]
OLD, NEW = slice(0, 400), slice(400, None)


@pytest.mark.parametrize("y", [TARGET, NAMES])
def test_class_means_are_those_of_scikit_learn_at_every_dimension(y: NDArray[Any]) -> None:
    model = PCA(n_components=6).fit(DIGITS[OLD])
    train, test = model.transform(DIGITS[OLD]), model.transform(DIGITS[NEW])
    expected = [NearestCentroid().fit(train[:, :q], y[OLD]).predict(test[:, :q]) for q in range(1, 7)]
    found = predict_in_embedding(train, y[OLD], test, "class_mean", by_dimension=True)
    np.testing.assert_array_equal(found, expected)
    np.testing.assert_array_equal(predict_in_embedding(train, y[OLD], test, "class_mean"), expected[-1])
    assert (found != predict_in_embedding(train, y[OLD], test, "euclidean", by_dimension=True)).any(axis=1).all()


def test_clusters_are_those_of_scikit_learn_with_the_best_names() -> None:
    few = np.flatnonzero(TARGET < 4)
    old, new, names = few[:150], few[150:], NAMES[few[:150]]
    model = PCA(n_components=3).fit(DIGITS[old])
    train, test = model.transform(DIGITS[old]), model.transform(DIGITS[new])
    orders, found = list(map(np.array, itertools.permutations(np.unique(names)))), []
    for q in (1, 2, 3):
        clusters = KMeans(4, n_init=10, random_state=0).fit(train[:, :q])
        best = np.argmax([(order[clusters.labels_] == names).sum() for order in orders])
        found.append(orders[best][clusters.predict(test[:, :q])])
    np.testing.assert_array_equal(predict_in_embedding(train, names, test, "clusters", by_dimension=True), found)
    np.testing.assert_array_equal(predict_in_embedding(train, names, test, "clusters"), found[-1])


def test_ties_take_the_first_class() -> None:
    Z, y = np.array([[3.0], [1.0], [-1.0], [-3.0]]), np.array(["b", "b", "a", "a"])
    assert predict_in_embedding(Z, y, [[0.0], [0.1]], "class_mean").tolist() == ["a", "b"]


# --- survival times


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
