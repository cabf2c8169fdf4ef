"""Survival: Kaplan-Meier estimates, pseudo-observations and metrics against scikit-survival; the multi-view method."""

import sys
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.stats import norm
from sksurv.linear_model import CoxPHSurvivalAnalysis
from sksurv.metrics import brier_score, concordance_index_censored, concordance_index_ipcw, integrated_brier_score
from sksurv.nonparametric import kaplan_meier_estimator

from mklearn import MultiViewRegressor, MultiViewSurvival, Views
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.kernels.feature_scaling import StandardScaler
from mklearn.survival import (
    KaplanMeier,
    KaplanMeierSurvival,
    brier_scores,
    cox_elastic_net,
    cox_ridge,
    harrell_c,
    integrated_brier,
    pseudo_restricted_means,
    pseudo_survival,
    signed_times,
    times_and_events,
    uno_c,
)
from mklearn.survival.metrics import harrell_c_values, integrated_brier_values, uno_c_values


def draws(seed: int) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """Few samples with many ties, or without ties; an event at least."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(2, 14))
    time = rng.integers(1, 9, n).astype(float) if seed % 2 else rng.exponential(size=n)
    event = rng.random(n) < rng.choice([0.3, 0.7, 1.0])
    event[rng.integers(n)] = True
    return time, event


@pytest.mark.parametrize("seed", range(60))
def test_equals_scikit_survival_and_its_area_is_the_restricted_mean(seed: int) -> None:
    time, event = draws(seed)
    curve = KaplanMeier.of(time, event)
    times, survival = kaplan_meier_estimator(event, time)
    np.testing.assert_allclose(curve.at(times), survival, atol=1e-12)
    places = np.linspace(0.0, 3.0, 3001)
    assert curve.restricted_mean(3.0) == pytest.approx(np.mean(curve.at(places)) * 3.0, abs=0.01)


@pytest.mark.parametrize("seed", range(60))
def test_pseudo_observations_are_the_differences_without_each_sample(seed: int) -> None:
    time, event = draws(seed)
    n, horizon = len(time), (float(time[0]), float(np.median(time)) * 1.1)[seed % 3 > 0]
    at = np.array([0.0, horizon, time.max()])
    whole = KaplanMeier.of(time, event)
    others = [KaplanMeier.of(np.delete(time, i), np.delete(event, i)) for i in range(n)]
    means = [n * whole.restricted_mean(horizon) - (n - 1) * other.restricted_mean(horizon) for other in others]
    np.testing.assert_allclose(pseudo_restricted_means(time, event, horizon), means, atol=1e-10)
    values = [n * whole.at(at) - (n - 1) * other.at(at) for other in others]
    np.testing.assert_allclose(pseudo_survival(time, event, at), values, atol=1e-10)


def test_without_censoring_pseudo_observations_are_the_times() -> None:
    time, event = np.random.default_rng(0).exponential(size=100_000), np.ones(100_000, dtype=bool)
    np.testing.assert_allclose(pseudo_restricted_means(time, event, 1.5), np.minimum(time, 1.5), atol=1e-6)
    np.testing.assert_allclose(pseudo_survival(time, event, 1.5)[:, 0], time > 1.5, atol=1e-6)


# --- metrics

Array = NDArray[np.float64]


def draw(rng: np.random.Generator, n: int, censored: float = 0.4, decimals: int = 6) -> tuple[Array, Array]:
    """Times of exponential hazards and their risks, with a proportion of about `censored` random censoring."""
    risk = np.round(rng.normal(size=n), decimals)
    death = rng.exponential(np.exp(-risk))
    limit = rng.exponential(np.exp(-risk.mean()) * (1 - censored) / censored, n) if censored else np.full(n, np.inf)
    time = np.round(np.minimum(death, limit), decimals) + 10.0**-decimals
    return signed_times(time, death <= limit), risk


def structured(y: Array) -> NDArray[np.void]:
    return np.array(list(zip(y > 0, abs(y), strict=True)), dtype=[("event", bool), ("time", float)])


@pytest.mark.parametrize(("n", "decimals"), [(30, 6), (30, 1), (300, 6), (300, 1)])  # one decimal: ties everywhere
def test_equal_scikit_survival(n: int, decimals: int) -> None:
    rng = np.random.default_rng(n + decimals)
    (y_train, _), (y, risk) = (draw(rng, n, decimals=decimals) for _ in range(2))
    y = np.sign(y) * np.minimum(abs(y), 0.9 * abs(y_train[y_train < 0]).max())  # scikit-survival extrapolates nothing
    expected = concordance_index_censored(y > 0, abs(y), risk)[0]
    assert harrell_c(y, risk) == pytest.approx(expected, abs=1e-12)
    expected = concordance_index_ipcw(structured(y_train), structured(y), risk)[0]
    assert uno_c(y_train, y, risk) == pytest.approx(expected, abs=1e-12)
    times = np.unique(np.quantile(abs(y), np.linspace(0.1, 0.8, 9)))
    survival = np.exp(-np.exp(0.5 * risk)[:, None] * times)
    scores = brier_score(structured(y_train), structured(y), survival, times)[1]
    np.testing.assert_allclose(brier_scores(y_train, y, survival, times), scores, atol=1e-12)
    expected = integrated_brier_score(structured(y_train), structured(y), survival, times)
    assert integrated_brier(y_train, y, survival, times) == pytest.approx(expected, abs=1e-12)


@pytest.mark.parametrize("censored", [0.0, 0.3, 0.6])
def test_values_of_samples_have_the_metric_as_mean_and_its_variance(censored: float) -> None:
    """Intervals of 95 % cover the value of many samples in 92.9 to 94.7 % of 1,500 draws. Those of a study's five folds
    cover 96 to 99 %: they allow for training samples that overlap.

    The concordance of Harrell's C is that of the pairs that this censoring leaves comparable.
    """
    rng = np.random.default_rng(1)
    times = np.array([0.1, 0.3, 0.6])
    y_train, _ = draw(rng, 2000, censored)
    many, risks = draw(rng, 8000, censored)

    def survival(risk: Array) -> Array:
        return np.exp(-np.exp(0.7 * risk)[:, None] * times)

    truths = (
        harrell_c(many, risks),
        uno_c(y_train, many, risks),
        integrated_brier(y_train, many, survival(risks), times),
    )
    covered, n_draws = np.zeros(3), 600
    for _ in range(n_draws):
        y, risk = draw(rng, 150, censored)
        values = (
            harrell_c_values(y, risk), uno_c_values(y_train, y, risk),
            integrated_brier_values(y_train, y, survival(risk), times),
        )  # fmt: skip
        means, errors = np.mean(values, axis=1), np.std(values, axis=1, ddof=1) / np.sqrt(len(y))
        covered += abs(means - truths) <= norm.ppf(0.975) * errors
    assert means == pytest.approx([harrell_c(y, risk), uno_c(y_train, y, risk),
                                   integrated_brier(y_train, y, survival(risk), times)])  # fmt: skip
    assert (abs(covered / n_draws - 0.95) < 0.025).all(), covered / n_draws


def test_what_has_no_value() -> None:
    censored = np.array([-1.0, -2.0, -3.0])
    for metric in (harrell_c, lambda y, risk: uno_c([1.0, -2.0], y, risk)):
        with pytest.raises(NotApplicable, match="two samples of which the earlier time has an event"):
            metric(censored, np.zeros(3))
    with pytest.raises(NotApplicable, match="all training samples are censored before 2: take earlier times"):
        brier_scores([1.0, -1.5], censored, np.zeros((3, 1)), [2.0])
    with pytest.raises(NotApplicable, match="survival functions are not finite"):
        brier_scores([1.0, -3.5], censored, np.full((3, 1), np.nan), [2.0])
    with pytest.raises(NotApplicable, match="integrated over two or more times, and all are 2"):
        integrated_brier([1.0, -3.5], censored, np.ones((3, 2)), [2.0, 2.0])


# --- the multi-view method

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


def test_samples_without_any_view_have_no_score() -> None:
    model = MultiViewSurvival().fit(VIEWS, Y)
    views = {name: VIEWS[name].copy() for name in VIEWS.names}
    for table in views.values():
        table[:2] = np.nan
    with pytest.raises(DataError, match="2 samples lack every view, and have no risk"):
        model.score(views, Y)


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
