"""Survival from views: the regression that it is, forms of times, survival functions; baselines; what is refused."""

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sksurv.linear_model import CoxPHSurvivalAnalysis

from mklearn import MultiViewRegressor, MultiViewSurvival, Views
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.kernels.feature_scaling import StandardScaler
from mklearn.survival import (
    KaplanMeier,
    KaplanMeierSurvival,
    cox_elastic_net,
    cox_ridge,
    harrell_c,
    pseudo_survival,
    signed_times,
    times_and_events,
)

N = 150
RNG = np.random.default_rng(0)
VIEWS = Views({"clinical": RNG.normal(size=(N, 3)), "gene": RNG.normal(size=(N, 20))})
DEATH = RNG.exponential(100 * np.exp(-VIEWS["clinical"][:, 0]))
LIMIT = RNG.exponential(200, size=N)
TIME, EVENT = np.minimum(DEATH, LIMIT), DEATH <= LIMIT
Y = signed_times(TIME, EVENT)
NEW = Views({"clinical": RNG.normal(size=(9, 3)), "gene": RNG.normal(size=(9, 20))})


def test_without_censoring_it_is_the_regression_of_times_up_to_the_horizon() -> None:
    model = MultiViewSurvival(horizon=150).fit(VIEWS, DEATH)
    regression = MultiViewRegressor().fit(VIEWS, np.minimum(DEATH, 150))
    np.testing.assert_allclose(model.predict(NEW), -regression.predict(NEW), rtol=1e-9)
    assert MultiViewSurvival().fit(VIEWS, Y).horizon_ == np.quantile(TIME[EVENT], 0.9)


FORMS: dict[str, Any] = {
    "scikit-survival": np.array(list(zip(EVENT, TIME, strict=True)), dtype=[("status", "?"), ("days", "<f8")]),
    "frame": pd.DataFrame({"time": TIME, "event": EVENT.astype(int)}),
    "columns": np.column_stack([TIME, EVENT]),
    "series": pd.Series(Y),
    "series by name": {"time": pd.Series(TIME), "event": pd.Series(EVENT)[::-1]},
}


@pytest.mark.parametrize("form", FORMS)
def test_forms_of_times(form: str) -> None:
    for found, expected in zip(times_and_events(FORMS[form]), (TIME, EVENT), strict=True):
        np.testing.assert_array_equal(found, expected)
    model = MultiViewSurvival().fit(VIEWS, FORMS[form])
    np.testing.assert_array_equal(model.predict(NEW), MultiViewSurvival().fit(VIEWS, Y).predict(NEW))
    assert model.score(VIEWS, FORMS[form]) == harrell_c(Y, model.predict(VIEWS)) > 0.7


@pytest.mark.parametrize("times", [None, [20, 60, 150]])
def test_survival_functions_fall_and_are_on_average_the_kaplan_meier_estimate(times: Any) -> None:
    model = MultiViewSurvival(times=times).fit(VIEWS, Y)
    survival, risk = model.predict_survival_function(VIEWS), model.predict(VIEWS)
    assert (np.diff(survival, axis=1) <= 0).all()
    assert (np.corrcoef(-risk, survival[:, len(model.times_) // 2])[0, 1]) > 0.95
    np.testing.assert_allclose(survival.mean(axis=0), KaplanMeier.of(TIME, EVENT).at(model.times_), atol=0.06)
    steps = model.predict_survival_function(NEW, [0.0, model.times_[0], model.times_[0] * 1.0001])
    np.testing.assert_array_equal(steps[:, 0], 1.0)
    np.testing.assert_array_equal(steps[:, 1], steps[:, 2])
    assert not hasattr(model, "predict_interval")


def test_a_function_that_rises_is_replaced_by_the_mean_of_its_bounds() -> None:
    """The largest falling function below it, and the smallest above it."""
    model = MultiViewSurvival(times=[20, 40, 80, 160]).fit(VIEWS, Y)
    model.intercept_ = model.intercept_[[1, 0, 3, 2]]
    raw = np.clip(MultiViewRegressor.predict(model, VIEWS), 0.0, 1.0)
    assert (np.diff(raw, axis=1) > 0).any()
    expected = [[(min(row[: k + 1]) + max(row[k:])) / 2 for k in range(4)] for row in raw.tolist()]
    np.testing.assert_allclose(model.predict_survival_function(VIEWS), expected)


def test_noise_has_the_kaplan_meier_estimate() -> None:
    noise = {"noise": np.random.default_rng(2).normal(size=(N, 5))}
    survival = MultiViewSurvival().fit(noise, Y).predict_survival_function(noise)
    np.testing.assert_allclose(survival, np.tile(survival.mean(axis=0), (N, 1)), atol=0.1)


def test_targets_are_of_the_training_samples_with_weight() -> None:
    weights = np.where(np.arange(N) < 100, 1.0, 0.0)
    model = MultiViewSurvival(times=[50, 100]).fit(VIEWS, Y, sample_weight=weights, groups=np.arange(N) // 2)
    expected = pseudo_survival(TIME[:100], EVENT[:100], [50, 100])
    np.testing.assert_array_equal(model.pseudo_observations_[:100], expected)
    assert np.isnan(model.pseudo_observations_[100:]).all()


def changed(values: np.ndarray, place: int, value: float) -> np.ndarray:
    return np.concatenate([values[:place], [value], values[place + 1 :]])


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (changed(Y, 3, 0.0), r"times that are not above 0 .* in 1 sample\(s\): 3"),
        (changed(Y, 5, np.nan), r"times that are not above 0 .* in 1 sample\(s\): 5"),
        (np.column_stack([TIME, changed(EVENT, 2, 2.0)]), r"neither 0 nor 1 in 1 sample\(s\): 2"),
        (-TIME, r"0 event\(s\) for 150 sample\(s\), and all other times are censored: expected 2 or more"),
        (changed(-TIME, 0, 1.0), r"1 event\(s\) for 150 sample\(s\)"),
        ({"time": TIME}, "no column 'event': expected an array with a boolean"),
        (np.zeros(N, dtype=[("a", "f8"), ("b", "f8")]), "has the fields a, b: expected"),
        (["long"] * N, "are no numbers: expected"),
        (TIME + 1j, "Complex data not supported"),
        ({"time": TIME.astype("m8[D]"), "event": EVENT}, "dates or durations: expected times as numbers"),
        (None, "requires y to be passed"),
        (TIME[None], "times of shape"),
    ],
)
def test_times_that_are_refused(y: Any, message: str) -> None:
    with pytest.raises(DataError, match=message):
        MultiViewSurvival().fit(VIEWS, y)


@pytest.mark.parametrize("parameters", [{"times": [2, 1]}, {"times": [1, 2], "horizon": 3}, {"times": [[1]]}])
def test_parameters_that_are_refused(parameters: dict[str, Any]) -> None:
    with pytest.raises(ConfigError, match="positive numbers in ascending order, without a horizon"):
        MultiViewSurvival(**parameters).fit(VIEWS, Y)


@pytest.mark.parametrize(
    "parameters", [{"horizon": 1e4}, {"horizon": TIME[EVENT].min()}, {"times": [50, 1e4]}, {"times": [1e-6]}]
)
def test_nothing_is_extrapolated(parameters: dict[str, Any]) -> None:
    with pytest.raises(NotApplicable, match=r"the first event, .*, and up to the largest time of the training samples"):
        MultiViewSurvival(**parameters).fit(VIEWS, Y)


def test_a_horizon_at_the_first_event_would_be_the_same_for_all() -> None:
    model = MultiViewSurvival().fit(VIEWS, {"time": np.where(EVENT, 1.0, TIME + 1), "event": EVENT})
    assert (model.horizon_, model.times_) == (TIME[~EVENT].max() + 1, [1.0])
    for each in (model, KaplanMeierSurvival().fit(VIEWS["gene"], Y)):
        with pytest.raises(DataError, match="times has NaN"):
            each.predict_survival_function(VIEWS["gene"] if each is not model else VIEWS, [np.nan])


def test_a_cox_model_with_a_ridge_is_that_of_scikit_survival() -> None:
    X = StandardScaler().fit_transform(VIEWS["gene"])
    expected = CoxPHSurvivalAnalysis(alpha=20).fit(X, FORMS["scikit-survival"])
    model = cox_ridge(alpha=20).fit(VIEWS["gene"], Y)
    np.testing.assert_allclose(model.predict(VIEWS["gene"]), expected.predict(X), atol=1e-6)
    survival = np.stack([function([10, 50]) for function in expected.predict_survival_function(X)])
    found = model[-1].predict_survival_function(model[:-1].transform(VIEWS["gene"]), [10, 50])
    np.testing.assert_allclose(found, survival, atol=1e-6)


def test_a_small_penalty_of_the_elastic_net_reaches_a_solution() -> None:
    """Its subgradient is 0: coordinate descent from zero ends far from it."""
    rng = np.random.default_rng(0)
    X, alpha = rng.normal(size=(60, 300)), 0.02
    y = signed_times(rng.exponential(np.exp(-X[:, 0])), rng.random(60) < 0.9)
    model = cox_elastic_net(alpha=alpha, l1_ratio=0.5).fit(X, y)
    Z, weights = model[0].transform(X), model[-1].model_.coef_[:, -1]
    at_risk = abs(y) >= abs(y)[:, None]
    shares = at_risk * np.exp(Z @ weights)
    residuals = (Z - shares @ Z / shares.sum(axis=1, keepdims=True))[y > 0]
    gradient = residuals.sum(axis=0) / len(y) - alpha * 0.5 * weights
    assert 10 < np.count_nonzero(weights) < 200
    np.testing.assert_allclose(gradient[weights != 0], alpha * 0.5 * np.sign(weights[weights != 0]), atol=2e-3)
    assert abs(gradient).max() < alpha * 0.5 + 2e-3


def test_a_study_goes_on_without_scikit_survival(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sksurv", None)
    with pytest.raises(NotApplicable, match=r'pip install "mklearn\[survival\]"'):
        cox_ridge()
