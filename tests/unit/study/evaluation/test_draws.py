"""The choice that inner folds lead to; models of a draw: parameters chosen together, failures, statistics."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from sklearn.base import BaseEstimator
from tests.scores import chosen_score, evaluate_draw

from mklearn.base.statistics import corrected_resampled_interval, paired_sample_difference, sample_interval
from mklearn.errors import SolverFailed
from mklearn.kernels import Views
from mklearn.study.data.draw_splits import validation_folds
from mklearn.study.data.splits import Split
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.fit_records import SPLIT, FitAtSize
from mklearn.study.evaluation.outputs import SplitRecord
from mklearn.study.evaluation.predictions import prediction_table
from mklearn.study.evaluation.score_table import BLANK, COLUMNS, score_rows
from mklearn.study.evaluation.selection import choose, mean_curves, select
from mklearn.study.evaluation.split import evaluate_split
from mklearn.study.evaluation.summary import summarise
from mklearn.study.specs.fit_spec import EvaluationSpec, FitSpec, InputSpec, MethodSpec, Setting

N = 36
Y = np.repeat([0, 1], N // 2)
X = np.random.default_rng(3).normal(size=(N, 2)) + 1.2 * Y[:, None]


class Threshold(BaseEstimator):
    """Predict class 1 above a threshold; counts its fits, and what it was fitted on."""

    fits: ClassVar[list[tuple[float, bytes]]] = []

    def __init__(self, threshold: float = 0.5, fails_on: int = -1, shift: float = 0.0) -> None:
        self.threshold, self.fails_on, self.shift = threshold, fails_on, shift

    def fit(self, X: Any, y: Any) -> Threshold:
        self.fits.append((self.threshold, X.tobytes()))
        if self.threshold == self.fails_on and (X[:, 0] == X_FAIL).any():
            raise SolverFailed("no threshold")
        self.classes_ = np.unique(y)
        return self

    def predict(self, X: Any) -> Any:
        return (X[:, 0] > self.threshold + self.shift).astype(int)


X_FAIL = X[0, 0]


@pytest.fixture(autouse=True)
def _count() -> None:
    Threshold.fits.clear()


def method(implementation: str = f"{__name__}:Threshold", **fields: Any) -> MethodSpec:
    inputs = fields.pop("inputs", {"features": InputSpec(kind="features", descriptors=["x"])})
    return MethodSpec(id="m", implementation=implementation, inputs=inputs, **fields)


EVALUATION = EvaluationSpec(neighbours=["euclidean"], inner_folds=3)
FEATURES = Views({"x": X})
THRESHOLDS = [-9.0, 0.3, 0.9, 9.0]


def on_features(spec: MethodSpec) -> MethodOnViews:
    return MethodOnViews(FEATURES, Y, spec)


def splits(repeats: int = 1, folds: int = 3) -> list[Split]:
    return list(validation_folds(Y, folds, repeats, 5, test_size=6))


def by_hand(models: list[Split], role: str) -> np.ndarray:
    parts = [getattr(split, role) for split in models]
    return np.array([[np.mean((X[part, 0] > t) == Y[part]) for part in parts] for t in THRESHOLDS])


def test_models_of_a_draw_share_the_threshold_of_the_best_mean() -> None:
    models = splits()
    results = evaluate_draw(on_features(method(grid={"threshold": THRESHOLDS})), models, evaluation=EVALUATION)
    best = int(by_hand(models, "validation").mean(axis=1).argmax())
    values = by_hand(models, "test")[best]
    assert 0 < best < 3
    for result, value in zip(results, values, strict=True):
        rule = result.rules[""]
        assert rule.candidate.parameters == {"threshold": THRESHOLDS[best]}
        assert chosen_score(rule) == pytest.approx(value)
        np.testing.assert_array_equal(rule.predictions.labels[0], X[models[0].test, 0] > THRESHOLDS[best])


def test_a_candidate_that_fails_on_one_model_is_out() -> None:
    models = splits()
    assert 0 < sum(0 in split.train for split in models) < 3
    free = evaluate_draw(on_features(method(grid={"threshold": THRESHOLDS})), models, evaluation=EVALUATION)
    best = free[0].rules[""].candidate.parameters["threshold"]
    failing = method(grid={"threshold": THRESHOLDS}, parameters={"fails_on": best})
    results = evaluate_draw(on_features(failing), models, evaluation=EVALUATION)
    (other,) = {result.rules[""].candidate.parameters["threshold"] for result in results}
    assert other != best
    rest = [t for t in THRESHOLDS if t != best]
    means = by_hand(models, "validation").mean(axis=1)
    assert means[THRESHOLDS.index(other)] == max(means[THRESHOLDS.index(t)] for t in rest)


def test_parts_of_nested_folds_are_no_models_of_one_draw() -> None:
    """The test samples of a fold are validation samples of another: a common choice would see their labels."""
    folds = np.array_split(np.random.default_rng(1).permutation(N), 5)
    nested = [
        Split(repeat=0, fold=k, test=np.sort(folds[k]), validation=np.sort(folds[(k + 1) % 5]),
              train=np.sort(np.concatenate([folds[(k + j) % 5] for j in (2, 3, 4)])))
        for k in range(5)
    ]  # fmt: skip
    spec = method(grid={"threshold": [-9.0, 0.1, 0.2, 0.3, 0.5, 0.9, 9.0]})
    records = list(at_size(spec, nested).records())
    assert len(records) == 5
    for split, record in zip(nested, records, strict=True):
        (alone,) = evaluate_draw(on_features(spec), [split], evaluation=EVALUATION)
        rows = rows_of([record])
        value = rows[rows["selection"].eq("inner_cv") & rows["metric"].eq("accuracy")]["value"]
        assert value.tolist() == [pytest.approx(chosen_score(alone.rules[""]))]


# --- records of a fit


def at_size(spec: MethodSpec, drawn: list[Split]) -> FitAtSize:
    setting = Setting(protocol="p", train_size=None)
    fit = FitSpec(dataset="d", settings=[setting], method=spec, evaluation=EVALUATION, seed=0)
    return FitAtSize(on_features(spec), fit, setting, drawn)


FIT = {"dataset": "d", "protocol": "p", "train_size": None, "method": "m", "seed": 0, "kernel_set": "k", "metric": ""}


def rows_of(records: list[SplitRecord]) -> pd.DataFrame:
    rows = [row for record in records for row in score_rows(FIT, record, ["accuracy", "balanced_accuracy"])]
    return pd.DataFrame(rows, columns=list(COLUMNS))


def test_records_are_in_the_order_of_the_splits() -> None:
    drawn = splits(repeats=2)
    records = list(at_size(method(grid={"threshold": THRESHOLDS}), drawn).records())
    rows = rows_of(records)
    assert len(records) == 6
    assert [(record.facts["repeat"], record.facts["fold"]) for record in records] == [
        (repeat, fold) for repeat in range(2) for fold in range(3)
    ]
    chosen = rows[rows["selection"].eq("inner_cv")]
    assert chosen.groupby("repeat")["parameters"].nunique().eq(1).all()
    assert chosen["test_part"].eq(0).all()
    assert chosen["n_validation"].eq(8).all()
    table = prediction_table(records, FIT, Y, np.arange(N).astype(str))
    shares = (table["predicted"] == table["true"]).groupby([table["repeat"], table["fold"]]).mean()
    accuracy = chosen[chosen["metric"].eq("accuracy")].set_index(["repeat", "fold"])["value"]
    np.testing.assert_allclose(shares, accuracy)


def test_replaced_labels_are_fitted_and_true_ones_are_scored() -> None:
    train, test = np.arange(24), np.arange(24, N)  # most of the training samples are of class 0, all others of class 1
    majority = method("mklearn.classifiers.baselines:majority")
    for labels, accuracy in ((None, 0.0), (1 - Y[train], 1.0)):
        (record,) = at_size(majority, [Split(0, 0, train, test, train_labels=labels)]).records()
        assert rows_of([record])["value"].unique().tolist() == [accuracy]
        assert prediction_table([record], FIT, Y, np.arange(N).astype(str))["true"].eq(1).all()


def test_a_fit_gets_the_unlabelled_samples_of_its_split(monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[Any] = []
    monkeypatch.setattr(MethodOnViews, "takes_unlabelled", property(lambda self: seen.append(self.unlabelled)))
    list(at_size(method(), [replace(splits()[0], validation=None, unlabelled=np.array([8, 9]))]).records())
    assert seen[0].tolist() == [8, 9]


def test_a_draw_that_fails_has_a_row_for_each_model() -> None:
    drawn = splits(repeats=2)
    failing = method(grid={"threshold": [9.0], "shift": [0.0, 1.0]}, parameters={"fails_on": 9.0})
    sometimes = [repeat for repeat in range(2) if any(0 in s.train for s in drawn if s.repeat == repeat)]
    records = list(at_size(failing, drawn).records())
    failed = [record.facts["repeat"] for record in records if record.shown is None]
    assert failed == [repeat for repeat in sometimes for _ in range(3)]
    assert sometimes


def test_inner_folds_hold_out_whole_groups_if_the_test_part_does() -> None:
    groups = np.array([f"g{i // 3}" for i in range(N)])
    spec = method(grid={"threshold": THRESHOLDS})
    held = np.isin(groups, ["g0", "g1", "g6", "g7"])
    shared = np.arange(N) % 3 == 0
    for test, whole in ((held, True), (shared, False)):
        Threshold.fits.clear()
        train, rows = np.flatnonzero(~test), np.flatnonzero(test)
        evaluate_split(replace(on_features(spec), groups=groups), train, rows, evaluation=EVALUATION, seed=0)
        fitted = [np.frombuffer(data).reshape(-1, 2)[:, 0] for _, data in Threshold.fits]
        inner = [np.isin(X[train, 0], known) for known in fitted if len(known) < len(train)]
        assert inner
        split_groups = [set(groups[train][part]) & set(groups[train][~part]) for part in inner]
        assert all(not both for both in split_groups) == whole


class LeavesOut(Threshold):
    groups: ClassVar[list[Any]] = []

    def __init__(self, kernels: Any = None, threshold: float = 0.5) -> None:
        super().__init__(threshold)
        self.kernels = kernels

    def fit(self, views: Views, y: Any, groups: Any = None) -> LeavesOut:
        self.groups.append(None if groups is None else groups.tolist())
        self.classes_ = np.unique(y)
        return self

    def predict(self, views: Views) -> Any:
        return np.full(len(views), self.threshold > 0, dtype=int)


@pytest.mark.parametrize("grid", [[9.0, -9.0], [9.0]])
def test_methods_leave_out_whole_groups_if_the_other_parts_do(grid: list[float]) -> None:
    spec = method(f"{__name__}:LeavesOut", inputs={"kernels": InputSpec(kind="kernels")}, grid={"threshold": grid})
    problem = MethodOnViews(FEATURES, Y, spec, [{"id": "k", "view": "x", "kind": "gaussian"}])
    for groups, whole in ((np.array([f"g{i}" for i in range(N)]), True), (np.repeat("g", N), False)):
        LeavesOut.groups.clear()
        models = splits()
        evaluate_draw(replace(problem, groups=groups), models, evaluation=EVALUATION)
        of_models = [groups[split.train].tolist() if whole else None for split in models]
        expected = [each for each in of_models for _ in grid] * (len(grid) > 1) + of_models
        assert LeavesOut.groups == expected


# --- statistics


def scored(values: np.ndarray, parts: np.ndarray, name: str) -> list[dict[str, Any]]:
    fit = {"dataset": "d", "protocol": "p", "train_size": None, "method": name, "seed": 0, "kernel_set": "k"}
    return [
        BLANK | fit | dict(zip(SPLIT, (repeat, fold, 20, 8, 5, int(parts[fold])), strict=True))
        | {"value": value, "selection": "inner_cv", "metric": "balanced_accuracy", "study": "s"}
        for repeat, row in enumerate(values) for fold, value in enumerate(row)
    ]  # fmt: skip


def test_the_summary_takes_the_mean_over_models() -> None:
    rng = np.random.default_rng(1)
    ours, reference = rng.random((6, 4)), rng.random((6, 4))
    rows = scored(ours, np.zeros(4), "ours") + scored(reference, np.zeros(4), "average")
    table = summarise(pd.DataFrame(rows), reference="average").set_index("method")
    interval = corrected_resampled_interval(ours.mean(axis=1), 25, 8)
    row = table.loc["ours"]
    assert row["n_repeats"] == 6
    assert row["std"] == pytest.approx(ours.mean(axis=1).std(ddof=1))
    np.testing.assert_allclose(row[["mean", "ci_low", "ci_high"]].astype(float), interval)
    difference = corrected_resampled_interval((ours - reference).mean(axis=1), 25, 8)
    found = row[["difference", "difference_low", "difference_high"]].astype(float)
    np.testing.assert_allclose(found, difference)
    folds = scored(ours, np.arange(4), "ours") + scored(reference, np.arange(4), "average")
    assert summarise(pd.DataFrame(folds), reference="average").set_index("method").loc["ours", "n_repeats"] == 24


def test_a_draw_without_one_of_its_models_failed() -> None:
    values = np.random.default_rng(1).random((6, 4))
    values[2, 1] = np.nan
    rows = scored(values, np.zeros(4), "ours")
    rows[9] |= {"status": "failed", "message": "no solution"}
    row = summarise(pd.DataFrame(rows)).iloc[0]
    assert (row["n_repeats"], row["n_failed"]) == (5, 1)
    assert row["mean"] == pytest.approx(np.delete(values, 2, axis=0).mean())


def test_models_of_a_draw_count_as_one_split() -> None:
    rng = np.random.default_rng(0)
    one = np.full((5, 40), np.nan)
    for row in one:
        row[rng.permutation(40)[:15]] = rng.random(15) < 0.8
    repeated, draws = np.repeat(one, 12, axis=0), np.repeat(np.arange(5), 12)
    assert sample_interval(repeated, 25, draws=draws) == sample_interval(one, 25)
    assert sample_interval(repeated, 25).high != sample_interval(one, 25).high
    other = np.where(np.isnan(one), np.nan, 1.0)
    pair = paired_sample_difference(one, other, 25)
    found = paired_sample_difference(repeated, np.repeat(other, 12, axis=0), 25, draws=draws)
    np.testing.assert_allclose(found, pair, rtol=1e-12)
    few = paired_sample_difference(repeated[:48], np.repeat(other, 12, axis=0)[:48], 25, draws=draws[:48])
    assert np.isnan(few.low)
    assert few.mean == pytest.approx(np.nanmean(one[:4] - other[:4]))


# --- choice


def test_choose_takes_the_best_then_the_fewest_dimensions_then_the_first():
    assert choose([[0.1, 0.2, 0.9], [0.3, 0.9, 0.1]]) == (1, 2)
    assert choose([[0.1, 0.9, 0.9], [0.1, 0.9, 0.9]]) == (0, 2)
    assert choose([[np.nan, np.nan], [0.1, np.nan]]) == (1, 1)
    exact, rounded = (0.1 + 0.2) / 3, 0.3 / 3  # equal fractions that differ in the last bit
    assert exact != rounded
    assert choose([[rounded, exact]]) == choose([[exact, rounded]]) == (0, 1)
    assert choose([[-3e-12], [-2e-12], [-2e-12]]) == choose([[-3e-12], [-2e-12]], "all") == (1, 1)  # errors in any unit
    assert choose([[-0.3], [-0.1 - 0.1 - 0.1]]) == (0, 1)


def test_choose_takes_the_most_dimensions_within_one_standard_error():
    curve = [0.5, 0.9, 0.8, 0.88, 0.86, np.nan]
    error = np.sqrt(0.9 * 0.1 / 100)
    assert error == pytest.approx(0.03)
    assert choose([curve], "one_standard_error", 100) == (0, 4)
    assert choose([curve], "one_standard_error", 50) == (0, 5)
    assert choose([curve], "one_standard_error", 10**6) == (0, 2)
    several = [[0.2, 0.3, 0.9], [0.5, 0.9, 0.8], [0.9, 0.9, 0.2]]
    assert choose(several, "one_standard_error", 100) == (2, 2)  # candidate first
    assert choose([[0.5, 1.0, 0.99]], "one_standard_error", 10) == (0, 2)  # no error at all: nothing is as good
    assert choose([[-0.9, -0.8], [-0.5, -0.6]], "one_standard_error", 10) == (1, 1)  # R^2 may be negative


def test_choose_compares_candidates_at_all_their_dimensions():
    assert choose([[0.9, 0.5, np.nan], [0.1, 0.6, 0.7], [0.1, 0.9, 0.7]], "all") == (1, 3)
    assert choose([[0.9, 0.8, np.nan], [0.1, 0.6, 0.7]], "all") == (0, 2)
    assert choose([[np.nan, np.nan], [0.1, np.nan]], "all") == (1, 1)
    with pytest.raises(SolverFailed, match="no score"):
        choose([[np.nan, -np.inf]])


def test_the_mean_is_of_the_dimensions_that_every_fold_has():
    long = [np.linspace(0.1, 0.4, length) for length in (4, 3, 3)]
    curves = mean_curves([[], long, [np.array([0.2, 0.3, 0.2]), np.array([0.2, 0.4, 0.2])]], {0: "too few samples"})
    np.testing.assert_allclose(curves[1:], [[0.1, (0.2 + 0.25 * 2) / 3, (0.3 + 0.4 * 2) / 3], [0.2, 0.35, 0.2]])
    assert np.isnan(curves[0]).all()
    assert select(curves, "best", 6) == (1, -1)  # all that it has: of another fit, the last
    assert select(curves[[0, 2]], "best", 6) == (1, 1)
    with pytest.raises(SolverFailed, match="first because: too few samples"):
        mean_curves([[], long], {1: "rank", 0: "too few samples"})
