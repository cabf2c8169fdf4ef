"""The multi-view classifier: against a plain computation, its decision, probabilities, weights, groups and views."""

import math
import warnings
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from scipy.special import softmax
from sklearn.base import clone
from sklearn.datasets import load_digits, load_wine
from sklearn.metrics import log_loss
from tests.ridge_refits import left_out_outputs, ridge_outputs
from tests.unit.classifiers.test_sample_weight import KERNELS

from mklearn.base.multi_view_ridge import RepeatedSamplesWarning, SamplesWithoutViewsWarning
from mklearn.base.ridge_problem import RidgeProblem
from mklearn.classifiers import MultiViewClassifier
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.kernels import StackTransform, Views
from mklearn.kernels.dictionary import kernel_dictionary
from mklearn.optimize.calibration import set_thresholds
from mklearn.optimize.kernel_lasso import KernelLasso
from mklearn.optimize.leave_one_out_ridge import LeaveOneOutRidge, leave_one_out_weights
from mklearn.optimize.view_regression import view_regression
from mklearn.regressors import MultiViewRegressor

ALPHAS = 10 ** np.linspace(-3, 0, 7)


@pytest.fixture(scope="module")
def digits() -> tuple[Views, np.ndarray]:
    """Halves of digits, two noise views, shuffled."""
    X, y = load_digits(return_X_y=True)
    rows, noise = np.random.default_rng(0).permutation(len(y)), np.random.default_rng(1).normal(size=(len(y), 20))
    views = Views({"upper": X[rows, :32], "lower": X[rows, 32:], "noise": noise})
    return views, y[rows]


# --- the recipe, computed plainly: completed kernels, and each left-out output by a refit


def plain_fit(K: np.ndarray, rows: np.ndarray, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Outputs of new samples and of left-out ones, with the alpha of the smallest left-out error."""
    left = {alpha: left_out_outputs(K, Y, alpha) for alpha in ALPHAS}
    alpha = min(ALPHAS, key=lambda each: np.sum((Y - left[each]) ** 2))
    return ridge_outputs(K, rows, Y, alpha), left[alpha], alpha


@pytest.mark.parametrize("gaps", [{}, {"a": 0.3, "b": 0.15}], ids=["complete", "gaps"])
def test_the_recipe(gaps: dict[str, float]) -> None:
    X, y = load_wine(return_X_y=True)
    rng, tables = np.random.default_rng(0), {"a": X[:, :4].copy(), "b": X[:, 4:8].copy(), "c": X[:, 8:].copy()}
    for name, part in gaps.items():
        tables[name][rng.random(178) < part] = np.nan
    views, train, test = Views(tables), np.arange(0, 178, 3), np.arange(1, 178, 3)
    model = MultiViewClassifier(learned=0.5).fit(views[train], y[train])

    has = np.stack([~np.isnan(table[:, 0]) for table in tables.values()], axis=1)
    transform, of_view = StackTransform(kernel_dictionary(views)), np.repeat(np.arange(3), 8)
    stack = np.array(transform.fit_transform(views[train]).matrices)
    scales = has[train].mean(axis=0)[of_view] / np.trace(stack, axis1=1, axis2=2) * len(train)
    known, new = stack * scales[:, None, None], transform.transform(views[test]).matrices * scales[:, None, None]
    sums, new_sums = (np.add.reduceat(K, [0, 8, 16]) / 24 for K in (known, new))
    completed = []
    for number, view in enumerate(of_view):
        regression = view_regression(view, sums, np.full(3, 1 / 3), has[train])
        C, lacks, new_lacks = np.eye(len(train)), ~has[train, view], ~has[test, view]
        C[lacks] = regression(sums.sum(axis=0)[lacks], has[train][lacks])
        rows = new[number] @ C.T
        rows[new_lacks] = regression(new_sums.sum(axis=0)[new_lacks], has[test][new_lacks]) @ known[number] @ C.T
        completed.append((C @ known[number] @ C.T, rows))
    Y = np.eye(3)[y[train]]
    targets = Y / np.sqrt(Y.sum(axis=0))
    shares = leave_one_out_weights(LeaveOneOutRidge([K for K, _ in completed], targets), shrinkage=0.5).shares
    half = [plain_fit(*(sum(q * pair[part] for q, pair in zip(w, completed, strict=True)) for part in (0, 1)), Y)
            for w in (np.full(24, 1 / 24), shares)]  # fmt: skip
    np.testing.assert_allclose(model.learned_shares_, shares, atol=1e-6)
    np.testing.assert_allclose(model.shares_, (1 / 24 + shares) / 2, atol=1e-6)
    np.testing.assert_allclose(model.alphas_, [alpha for *_, alpha in half])
    np.testing.assert_allclose(model.class_scores(views[test]), (half[0][0] + half[1][0]) / 2, atol=1e-5)
    if gaps:
        return  # sets of samples that lack views are tested below
    left_out = (half[0][1] + half[1][1]) / 2
    assert model.decision_ == "ridge"
    assert model.left_out_accuracy_ == pytest.approx(np.mean(left_out.argmax(axis=1) == y[train]))
    errors = 1 - softmax(model.inverse_temperature_ * left_out, axis=1)[np.arange(len(train)), y[train]]
    ranks = [math.ceil(0.9 * (np.sum(y[train] == k) + 1)) for k in range(3)]
    thresholds = [np.sort(errors[y[train] == k])[rank - 1] for k, rank in enumerate(ranks)]
    sets, P = model.predict_set(views[test], coverage=0.9), model.predict_proba(views[test])
    clear = np.abs(1 - P - thresholds) > 1e-5
    np.testing.assert_array_equal(sets[clear], (thresholds >= 1 - P)[clear])
    assert clear.mean() > 0.95
    assert set(sets.sum(axis=1)) >= {0, 1}


@pytest.mark.parametrize(("n_classes", "part"), [(2, 0.375), (3, 0.5), (10, 0.675)])
def test_learned_weights_count_with_more_classes(digits: tuple[Views, np.ndarray], n_classes: int, part: float) -> None:
    views, y = digits
    some = np.flatnonzero(y < n_classes)[: 12 * n_classes]
    assert MultiViewClassifier(landmarks=10).fit(views[some], y[some]).learned_ == pytest.approx(part)
    assert MultiViewClassifier(learned=0.2).fit(views[some], y[some]).learned_ == 0.2


def test_views_that_say_nothing_of_the_classes_are_left_out(digits: tuple[Views, np.ndarray]) -> None:
    views, y = digits
    train, new = views[:150], views[150:600]
    model = MultiViewClassifier().fit(train, y[:150])
    assert model.view_shares_["noise"] == 0
    assert model.view_agreements_["noise"] < 3 < 10 < min(model.view_agreements_[name] for name in ("upper", "lower"))
    halves, new_halves = (Views({name: X[name] for name in ("upper", "lower")}) for X in (train, new))
    alone = MultiViewClassifier().fit(halves, y[:150])
    np.testing.assert_allclose(model.class_scores(new), alone.class_scores(new_halves), atol=1e-9)
    assert 0 < MultiViewClassifier(least_agreement=0).fit(train, y[:150]).view_shares_["noise"] < 0.05
    every = MultiViewClassifier(least_agreement=0, learned=0.675).fit(train, y[:150])
    assert every.view_shares_["noise"] == pytest.approx(0.325 / 3, abs=0.01)  # that of the equal part
    strict = MultiViewClassifier(least_agreement=1e6, learned=0.675).fit(train, y[:150])  # no view does
    np.testing.assert_allclose(strict.shares_, every.shares_)


# --- decision and probabilities


def test_the_cosine_decides_where_it_is_better_by_more_than_a_standard_error() -> None:
    """Six samples of one class for each of the others: outputs prefer it, unlike the cosine."""
    X, y = load_digits(return_X_y=True)

    def fitted(n_of_eight: int, decision: Any) -> MultiViewClassifier:
        train = np.concatenate([np.flatnonzero(y == k)[: n_of_eight if k == 8 else 5] for k in range(10)])
        return MultiViewClassifier(decision=decision, learned=0.5).fit(X[train], y[train])

    auto, ridge, cosine = (fitted(30, decision) for decision in ("auto", "ridge", "cosine"))
    assert cosine.left_out_accuracy_ == pytest.approx(ridge.left_out_accuracy_ + 2 / 75)
    assert auto.decision_ == "cosine"
    assert auto.left_out_accuracy_ == cosine.left_out_accuracy_
    np.testing.assert_array_equal(auto.predict(X), cosine.predict(X))
    assert cosine.score(X, y) > ridge.score(X, y) + 0.01
    auto, ridge, cosine = (fitted(20, decision) for decision in ("auto", "ridge", "cosine"))
    assert cosine.left_out_accuracy_ == pytest.approx(ridge.left_out_accuracy_ + 1 / 65)  # a standard error, no more
    assert auto.decision_ == "ridge"
    np.testing.assert_array_equal(auto.predict(X), ridge.predict(X))


@pytest.mark.full
@pytest.mark.parametrize("decision", ["ridge", "cosine"])
def test_probabilities_are_calibrated(digits: tuple[Views, np.ndarray], decision: Any) -> None:
    views, y = digits
    noisy = Views(
        {
            name: views[name] + np.random.default_rng(2).normal(scale=7, size=views[name].shape)
            for name in ("upper", "lower")
        }
    )
    train, test = slice(0, 300), slice(300, None)
    model = MultiViewClassifier(decision=decision).fit(noisy[train], y[train])
    P = model.predict_proba(noisy[test])
    np.testing.assert_allclose(P.sum(axis=1), 1)
    predicted = model.predict(noisy[test])
    np.testing.assert_array_equal(model.classes_[P.argmax(axis=1)], predicted)
    loss, accuracy = log_loss(y[test], P), np.mean(predicted == y[test])
    assert 0.6 < accuracy < 0.9
    assert P.max(axis=1).mean() == pytest.approx(accuracy, abs=0.05)
    for factor in (0.5, 2.0):
        scores = model.class_scores(noisy[test]) * model.inverse_temperature_ * factor
        other = np.exp(scores) / np.exp(scores).sum(axis=1, keepdims=True)
        assert loss < log_loss(y[test], other) - 0.02


def test_classes_of_few_samples_share_a_threshold() -> None:
    """Nine samples (or groups) are enough for 90 %: their largest error is the threshold."""
    codes = np.repeat([0, 1, 2, 3], [9, 5, 4, 19])
    errors = np.random.default_rng(0).random(37)
    first, few, last = errors[:9].max(), errors[9:18].max(), np.sort(errors[18:])[17]
    np.testing.assert_array_equal(set_thresholds(errors, codes, 4, 0.9), [first, few, few, last])
    alone = codes != 2
    every = np.sort(errors[alone])[math.ceil(0.9 * 34) - 1]  # five samples are too few
    np.testing.assert_array_equal(set_thresholds(errors[alone], codes[alone], 4, 0.9), [first, every, every, last])
    assert np.isinf(set_thresholds(errors[:8], codes[:8], 4, 0.9)).all()
    twice = np.repeat(np.arange(37), 2)
    np.testing.assert_array_equal(
        set_thresholds(errors[twice], codes[twice], 4, 0.9, groups=twice), set_thresholds(errors, codes, 4, 0.9)
    )


def test_a_model_without_its_number_of_features_predicts_the_same(digits: tuple[Views, np.ndarray]) -> None:
    """MAPIE needs that for models of views (docs/library.md)."""
    views, y = digits
    model = MultiViewClassifier().fit(views[:100], y[:100])
    expected = model.predict_proba(views[100:150])
    del model.n_features_in_
    np.testing.assert_array_equal(model.predict_proba(views[100:150]), expected)


# --- weights of samples and classes, groups


def test_weights_are_repeated_samples_that_are_left_out_together(digits: tuple[Views, np.ndarray]) -> None:
    views, y = digits
    X, y, weights = views["upper"][:80], y[:80], np.arange(80) % 3
    weights[:40] = np.maximum(weights[:40], 1)
    rows = np.repeat(np.arange(80), weights)
    one = MultiViewClassifier(kernels=KERNELS).fit(X, y, sample_weight=weights)
    two = MultiViewClassifier(kernels=KERNELS).fit(X[rows], y[rows], groups=rows)
    np.testing.assert_allclose(one.learned_shares_, two.learned_shares_, atol=1e-4)
    np.testing.assert_allclose(one.alphas_, two.alphas_)
    new = views["upper"][80:200]
    np.testing.assert_allclose(one.class_scores(new), two.class_scores(new), atol=1e-4)
    assert one.left_out_accuracy_ == pytest.approx(two.left_out_accuracy_)
    assert one.inverse_temperature_ == pytest.approx(two.inverse_temperature_, rel=1e-3)
    assert not one.coefficients_[:, weights == 0].any()


def test_probabilities_are_as_certain_with_a_few_unrelated_groups(digits: tuple[Views, np.ndarray]) -> None:
    views, y = digits
    none, three = (MultiViewClassifier().fit(views[:150], y[:150], groups=g) for g in (None, np.arange(150) % 3))
    losses = [log_loss(y[150:], model.predict_proba(views[150:])) for model in (none, three)]
    assert losses[1] == pytest.approx(losses[0], rel=0.1)


@pytest.mark.parametrize(("weights", "message"), [({0: 2.0, 77: 1.0}, "the class 77"), ({0: -1.0}, "class_weight")])
def test_class_weights_that_are_refused(weights: dict[int, float], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        MultiViewClassifier(class_weight=weights).fit(np.eye(6), np.arange(6) % 2)


def test_views_of_tiny_values_and_samples_without_any_view() -> None:
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    assert MultiViewClassifier().fit({"a": 1e-200 * X, "b": X}, y).view_shares_["b"] > 0  # squares of a underflow
    with pytest.raises(DataError, match="all samples lack every view"):
        MultiViewClassifier().fit({"a": np.nan * X}, y)


def test_class_weights_may_name_a_class_that_a_fold_lacks() -> None:
    X, y = np.random.default_rng(0).normal(size=(20, 3)), np.arange(20) % 2
    one, two = (MultiViewClassifier(class_weight=w).fit(X, y) for w in ({0: 2.0, 1: 1.0}, {0: 2.0, 1: 1.0, 77: 5.0}))
    np.testing.assert_array_equal(one.class_scores(X), two.class_scores(X))


# --- views


@pytest.mark.parametrize("gaps", [0, 40], ids=["complete", "gaps"])
def test_sets_of_samples_that_lack_views_are_larger(digits: tuple[Views, np.ndarray], gaps: int) -> None:
    views, y = digits
    tables = {name: np.array(views[name], dtype=float) for name in ("upper", "lower")}
    tables["upper"][:gaps] = np.nan
    model = MultiViewClassifier().fit(Views(tables)[:200], y[:200])
    new = Views(tables)[200:1000]
    sizes = [model.predict_set(new).sum(axis=1).mean()]
    for name in tables:
        lacking = Views({each: np.full((800, 32), np.nan) if each == name else new[each] for each in tables})
        sets = model.predict_set(lacking)
        assert 0.85 <= sets[np.arange(800), y[200:1000]].mean() <= 0.98
        sizes.append(sets.sum(axis=1).mean())
    assert sizes[0] < min(sizes[1:]) - 0.3


def test_samples_may_lack_views(digits: tuple[Views, np.ndarray]) -> None:
    views, y = digits
    tables = {name: np.array(views[name], dtype=float) for name in ("upper", "lower")}
    tables["upper"][np.random.default_rng(4).permutation(len(y))[:180]] = np.nan
    holes, lacks = Views(tables), np.flatnonzero(np.isnan(tables["upper"][300:, 0])) + 300
    by_mean = MultiViewClassifier(kernels=kernel_dictionary(holes, missing_views="mean")).fit(holes[:300], y[:300])
    model = MultiViewClassifier().fit(holes[:300], y[:300])
    assert model.score(holes[lacks], y[lacks]) > by_mean.score(holes[lacks], y[lacks]) + 0.01
    with pytest.raises(DataError, match="missing_views='mean'"):
        MultiViewClassifier(missing_views="error").fit(holes[:300], y[:300])
    tables["upper"][3] = np.where(np.arange(32) == 20, np.nan, views["upper"][3])
    with pytest.raises(DataError, match="impute"):
        MultiViewClassifier().fit(Views(tables)[:100], y[:100])
    MultiViewClassifier(impute="mean").fit(Views(tables)[:100], y[:100])


@pytest.mark.parametrize("n_have", [0, 1])
@pytest.mark.parametrize("form", [np.array, csr_array])
def test_a_view_that_fewer_than_two_training_samples_have_gets_no_share(
    digits: tuple[Views, np.ndarray], n_have: int, form: Any
) -> None:
    views, y = digits
    complete, rare = {name: np.array(views[name][:150]) for name in ("upper", "lower")}, np.array(views["noise"][:150])
    rare[n_have:100] = np.nan
    model = MultiViewClassifier().fit(Views(complete | {"rare": form(rare)})[:100], y[:100])
    expected = MultiViewClassifier().fit(Views(complete)[:100], y[:100])
    assert model.view_shares_ == expected.view_shares_ | {"rare": 0.0}
    new = Views(complete | {"rare": form(rare)})[100:]
    np.testing.assert_array_equal(model.predict_proba(new), expected.predict_proba(Views(complete)[100:]))


def test_a_view_of_one_value_has_no_share(digits: tuple[Views, np.ndarray]) -> None:
    views, y = digits
    X = Views({"upper": views["upper"][:90], "constant": np.ones((90, 2))})
    model = MultiViewClassifier().fit(X, y[:90])
    assert model.view_shares_["constant"] == 0
    alone = MultiViewClassifier().fit(Views({"upper": views["upper"][:90]}), y[:90])
    np.testing.assert_allclose(model.class_scores(X), alone.class_scores(Views({"upper": views["upper"][:90]})))
    with pytest.raises(NotApplicable, match="constant"):
        MultiViewClassifier().fit({"constant": np.ones((90, 2))}, y[:90])


@pytest.mark.parametrize("parameters", [{}, {"landmarks": 40}, {"class_weight": "balanced"}, {"n_kernels": 3}], ids=str)
def test_samples_without_views_are_left_out(digits: tuple[Views, np.ndarray], parameters: dict[str, Any]) -> None:
    views, y = digits
    tables = {name: np.array(views[name][:120], dtype=float) for name in ("upper", "lower")}
    known, lost = np.delete(np.arange(120), [3, 50, 119]), [3, 50, 119]
    for table in tables.values():
        table[lost] = np.nan
    tables["upper"][7:30] = np.nan
    X = Views(tables)
    number = (y[:120] % 2).astype(float)
    for kind, target in ((MultiViewClassifier, y[:120]), (MultiViewRegressor, number)):
        model = kind(**{name: value for name, value in parameters.items() if name in kind().get_params()})
        expected = clone(model).fit(X[known], target[known])
        with pytest.warns(SamplesWithoutViewsWarning, match="3 of 120 samples"):
            model.fit(X, target)
        found = (each.predict_proba if kind is MultiViewClassifier else each.predict for each in (model, expected))
        outputs, without = (function(X) for function in found)
        np.testing.assert_allclose(outputs[known], without[known], atol=1e-8)
        assert np.isnan(outputs[lost]).all()
        assert not np.isnan(outputs[known]).any()
        assert all(np.isnan(part[lost]).all() for part in model.contributions(X).values())
        if kind is MultiViewClassifier:
            assert model.predict_set(X)[lost].all()
            assert len(model.predict(X[known])) == 117
            with pytest.raises(DataError, match=r"3 sample.*position 3"):
                model.predict(X)


@pytest.mark.full
@pytest.mark.parametrize("missing", [False, True])
def test_kernels_one_by_one_are_those_in_memory(
    digits: tuple[Views, np.ndarray], missing: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    views, y = digits
    train = Views({name: np.array(views[name][:150], dtype=float) for name in views.names})
    if missing:
        train["upper"][:9] = np.nan
    kept = MultiViewClassifier().fit(train, y[:150])
    monkeypatch.setattr("mklearn.base.kernel_source.MEMORY", 1)
    lazy = MultiViewClassifier().fit(train, y[:150])
    np.testing.assert_allclose(lazy.shares_, kept.shares_, atol=1e-9)
    np.testing.assert_allclose(lazy.class_scores(views[150:]), kept.class_scores(views[150:]), atol=1e-9)


def test_many_new_samples_are_predicted_in_blocks(digits: tuple[Views, np.ndarray], monkeypatch: Any) -> None:
    views, y = digits
    model = MultiViewClassifier().fit(views[:100], y[:100])
    expected = model.class_scores(views)
    monkeypatch.setattr("mklearn.base.kernel_source.BLOCK", 100)
    np.testing.assert_allclose(model.class_scores(views), expected, atol=1e-12)


def test_landmarks_of_a_kernel_of_low_rank_lose_nothing(digits: tuple[Views, np.ndarray]) -> None:
    """Inner products of ten features, by 120 of 400 samples: only the unit of the ridge is that of the landmarks."""
    (views, y), rng = digits, np.random.default_rng(0)
    views = Views({name: views[name] @ rng.normal(size=(32, 10)) for name in ("upper", "lower")})
    kernels = {name: {"kind": "linear", "centre": False, "normalise": "none"} for name in ("upper", "lower")}
    dense = MultiViewClassifier(kernels=kernels, learned=0, alphas=[0.01]).fit(views[:400], y[:400])
    few = MultiViewClassifier(kernels=kernels, learned=0, alphas=[0.01], landmarks=120).fit(views[:400], y[:400])
    assert 115 <= few.coefficients_.shape[1] <= 125
    np.testing.assert_allclose(few.class_scores(views[400:]), dense.class_scores(views[400:]), atol=0.01)
    assert few.left_out_accuracy_ == pytest.approx(dense.left_out_accuracy_, abs=0.01)
    assert few.inverse_temperature_ == pytest.approx(dense.inverse_temperature_, rel=0.02)


@pytest.mark.parametrize(
    "model",
    [
        *(
            MultiViewClassifier(decision="ridge", **parameters)
            for parameters in ({}, {"n_kernels": 3}, {"landmarks": 80}, {"landmarks": 80, "learned": 0.5})
        ),
        MultiViewRegressor(least_agreement=0),
    ],
    ids=str,
)
def test_contributions_of_views_and_the_intercept_are_the_outputs(digits: tuple[Views, np.ndarray], model: Any) -> None:
    views, y = digits
    tables = {name: np.array(views[name]) for name in views.names}
    tables["upper"][::6] = np.nan
    holes, classifies = Views(tables), isinstance(model, MultiViewClassifier)
    model = clone(model).fit(holes[:200], y[:200] if classifies else np.column_stack([y, np.sin(y)])[:200])
    parts = model.contributions(holes[200:300])
    assert list(parts) == list(views.names)
    outputs = (model.decision_function if classifies else model.predict)(holes[200:300])
    np.testing.assert_allclose(sum(parts.values()) + model.intercept_, outputs, atol=1e-9)
    if model.landmarks is None:
        np.testing.assert_allclose(model.contributions(holes[:200])["lower"].mean(axis=0), 0, atol=1e-9)
    other = model.contributions(Views({**tables, "noise": 2 * tables["noise"]})[200:300])
    complete = np.arange(200, 300) % 6 != 0  # of a view that is there, whatever the others are
    np.testing.assert_allclose(other["lower"][complete], parts["lower"][complete], atol=1e-9)


def test_kernels_of_a_view_may_stand_apart_among_those_of_others() -> None:
    rng = np.random.default_rng(0)
    views, y = {"a": rng.normal(size=(40, 3)), "b": rng.normal(size=(40, 2))}, np.arange(40) % 2
    specs = {f"{view}-{width}": {"view": view, "bandwidth": width} for width in (0.5, 2.0) for view in views}
    model = MultiViewClassifier(kernels=specs).fit(views, y)
    parts = model.contributions(views)
    alone = MultiViewClassifier(kernels=dict(sorted(specs.items()))).fit(views, y).contributions(views)
    for view in views:
        np.testing.assert_allclose(parts[view], alone[view], atol=1e-9)


def test_of_kernels_that_enter_at_one_penalty_the_first_is_chosen() -> None:
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(30, 4)), np.arange(30) % 2
    twice = {name: {"kind": "linear", "columns": [0, 1]} for name in ("g1", "g2")}
    model = MultiViewClassifier(kernels=twice, n_kernels=1).fit(X, y)
    assert sorted(model.kernel_weights_) == [0, 1]
    for seed in range(12):
        rng = np.random.default_rng(seed)
        lasso = KernelLasso([rng.normal(size=(60, 2)) for _ in range(200)], rng.normal(size=(60, 1)))
        assert len(lasso.largest_choice(1).chosen) == 1


def test_given_kernels_of_samples_far_from_the_origin_keep_their_digits() -> None:
    """Above `weight_samples` they are held in single precision, after centring."""
    rng = np.random.default_rng(0)
    features, y = [rng.normal(size=(160, 3)) for _ in range(3)], np.arange(160) % 2
    features[0][:, 0] += y
    near, far = (np.stack([(F + shift) @ (F + shift).T for F in features], axis=2) for shift in (0, 1e3))
    weights = [
        MultiViewClassifier(kernels="precomputed", weight_samples=150).fit(K, y).kernel_weights_ for K in (near, far)
    ]
    np.testing.assert_allclose(*weights, rtol=1e-3)


@pytest.mark.parametrize("changes", [{"weight_samples": 20}, {"landmarks": 20}])
def test_drawn_samples_of_one_group_leave_equal_weights(changes: dict[str, Any]) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 3))
    y = X[:, 0] + 0.3 * rng.normal(size=60) > 0
    for seed in range(4):
        model = MultiViewClassifier(kernels=["linear", "gaussian"], random_state=seed, **changes)
        assert model.fit(X, y, groups=np.arange(60) < 1).score(X, y) > 0.8


def test_missing_views_are_completed_alike_in_any_order_of_samples() -> None:
    rng = np.random.default_rng(0)
    a = rng.normal(size=(160, 3))
    b = a[:, :2] + 0.5 * rng.normal(size=(160, 2))
    b[::5] = np.nan
    y = a[:, 0] + b[:, 1] * np.isfinite(b[:, 1]) > 0
    order = rng.permutation(160)
    one, other = (MultiViewClassifier().fit({"a": a[rows], "b": b[rows]}, y[rows]) for rows in (slice(None), order))
    np.testing.assert_allclose(one.class_scores({"a": a, "b": b}), other.class_scores({"a": a, "b": b}), atol=1e-9)


def test_no_more_samples_are_drawn_than_are_asked_for() -> None:
    """Of more classes than that: some. Kills: two of each of a thousand classes as 100 landmarks."""
    codes = np.repeat(np.arange(40), 5)
    problem = RidgeProblem.of(np.zeros((200, 1)), None, None, codes)
    for most, n_classes in ((20, 20), (40, 40), (60, 40), (100, 40)):
        drawn = problem.drawn(most, seed=0)
        assert len(drawn) <= most
        assert len(np.unique(codes[drawn])) == n_classes
        assert (np.diff(drawn) > 0).all()
    X = np.eye(40)[codes] + np.random.default_rng(0).normal(size=(200, 40)) / 10
    assert MultiViewClassifier(landmarks=50).fit(X, codes).score(X, codes) > 0.9


@pytest.mark.parametrize("kind", [MultiViewClassifier, MultiViewRegressor])
@pytest.mark.parametrize("form", [np.asarray, pd.DataFrame, csr_array], ids=["array", "DataFrame", "sparse"])
def test_samples_that_are_there_twice_are_counted(kind: Any, form: Any) -> None:
    rng = np.random.default_rng(0)
    a, b, y = rng.normal(size=(30, 3)), rng.integers(0, 2, size=(30, 4)).astype(float), np.arange(30) % 2
    twice = np.concatenate([np.arange(30), [4, 9]])
    X, of_once = {"a": form(a[twice]), "b": form(b[twice])}, {"a": form(a), "b": form(b)}
    with pytest.warns(RepeatedSamplesWarning, match=r"2 of 32 .*positions 4 and 30"):
        kind().fit(X, y[twice])
    with warnings.catch_warnings():
        warnings.simplefilter("error", RepeatedSamplesWarning)
        kind().fit(of_once, y)  # rows of one view alone are there twice
        kind().fit(X, y[twice], groups=twice)


# --- few of many kernels


def planted(n: int = 300, n_groups: int = 60, seed: int = 0) -> tuple[np.ndarray, np.ndarray, list]:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 5 * n_groups))
    score = X[:, :15] @ rng.choice([-1.0, 1.0], 15) + rng.standard_normal(n)
    linear = {"kind": "linear", "feature_scaling": "standard"}
    specs = [{"id": f"g{k}", "columns": list(range(5 * k, 5 * k + 5)), **linear} for k in range(n_groups)]
    return X, np.where(score > np.median(score), "high", "low"), specs


@pytest.mark.parametrize("memory", [2**30, 1000])
def test_chosen_kernels_alone_give_the_same_classifier(monkeypatch: pytest.MonkeyPatch, memory: int) -> None:
    monkeypatch.setattr("mklearn.base.kernel_source.MEMORY", memory)
    X, y, specs = planted(n=120, n_groups=20)
    specs.reverse()  # the informative kernels are the last
    few = MultiViewClassifier(kernels=specs, n_kernels=3).fit(X, y)
    chosen = np.flatnonzero(few.shares_)
    alone = MultiViewClassifier(kernels=[specs[number] for number in chosen], least_agreement=0).fit(X, y)
    np.testing.assert_allclose(few.decision_function(X[:9]), alone.decision_function(X[:9]), atol=1e-8)
    np.testing.assert_allclose(few.shares_[chosen], alone.shares_, atol=1e-8)


def test_kernels_that_are_given_are_chosen_alike() -> None:
    X, y, specs = planted(n=120, n_groups=20)
    transform = StackTransform(specs).fit(X[:100])
    precomputed = MultiViewClassifier(kernels="precomputed", n_kernels=3)
    precomputed.fit(transform.stack_train_.as_last_axis(), y[:100])
    computed = MultiViewClassifier(kernels=specs, n_kernels=3).fit(X[:100], y[:100])
    np.testing.assert_allclose(precomputed.shares_, computed.shares_, atol=1e-8)
    new = transform.transform(X[100:]).as_last_axis()
    np.testing.assert_allclose(precomputed.decision_function(new), computed.decision_function(X[100:]), atol=1e-8)


def test_few_kernels_with_landmarks_weights_of_samples_and_constant_columns() -> None:
    X, y, specs = planted(n=200, n_groups=12)
    X[:, 20:25] = 1.0  # the group g4
    weights = np.random.default_rng(0).integers(0, 3, 200)
    model = MultiViewClassifier(kernels=specs, n_kernels=3, landmarks=80)
    model.fit(X, y, sample_weight=weights)
    assert model.shares_[4] == 0
    assert len(np.flatnonzero(model.shares_)) <= 3
    assert clone(model).n_kernels == 3
    repeated = np.repeat(np.arange(200), weights)
    one = MultiViewClassifier(kernels=specs, n_kernels=3).fit(X, y, sample_weight=weights)
    two = MultiViewClassifier(kernels=specs, n_kernels=3).fit(X[repeated], y[repeated])
    np.testing.assert_array_equal(np.flatnonzero(one.shares_), np.flatnonzero(two.shares_))
