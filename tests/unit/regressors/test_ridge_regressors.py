"""Ridge regressors: closed forms against refits, targets of any form, weights, groups, views, landmarks, intervals."""

import itertools
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sp
from sklearn.datasets import load_diabetes
from sklearn.linear_model import RidgeCV
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from tests.ridge_refits import left_out_outputs, ridge_outputs

from mklearn import KernelRidge, MultiViewRegressor, Views
from mklearn.base.ridge_problem import RidgeProblem
from mklearn.classifiers import KernelRidgeClassifier
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.kernels import StackTransform
from mklearn.kernels.dictionary import kernel_dictionary
from mklearn.kernels.matrices import centred_trace
from mklearn.optimize.calibration import jackknife_radius
from mklearn.optimize.left_out import smaller_error
from mklearn.regressors.ridge_regressor import SamplesWithoutTargetWarning, standardised
from mklearn.subspace import MKLDR

N = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 6))
NEW = RNG.normal(size=(9, 6))
VIEWS, NEW_VIEWS = Views({"a": X[:, :3], "b": X[:, 3:]}), Views({"a": NEW[:, :3], "b": NEW[:, 3:]})
Y = np.column_stack([X[:, 0] + 0.3 * RNG.normal(size=N), X[:, 1] * X[:, 2], RNG.normal(size=N)])
GROUPS = np.arange(N) // 3
SPECS = {"a": {"kind": "gaussian", "columns": [0, 1, 2]}, "b": {"kind": "linear", "columns": [3, 4, 5]}}


def gram_stack(rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Kernels that are fitted to nothing, so that refits without a sample have the same ones; none is centred."""
    gaussian = np.exp(-((rows[:, None] - columns) ** 2).sum(axis=2) / 8)
    return np.stack([gaussian, rows @ columns.T + 2.0], axis=-1)


STACK, NEW_STACK = gram_stack(X, X), gram_stack(NEW, X)


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["samples", "groups"])
def test_left_out_predictions_and_ridges_are_those_of_refits(weighted: bool, groups: np.ndarray | None) -> None:
    weights = np.random.default_rng(1).uniform(0.5, 2.0, N) if weighted else np.ones(N)
    alphas = [0.01, 0.1, 1.0, 10.0]
    model = KernelRidge(alpha=alphas, kernel_weights=[1.0, 3.0])
    model.fit(STACK, Y, weights if weighted else None, groups)
    K, rows = STACK @ [0.25, 0.75], NEW_STACK @ [0.25, 0.75]
    shares = weights / weights.sum()
    variance = shares @ np.diagonal(K) - shares @ K @ shares
    for column, y in enumerate(Y.T):
        left = {alpha: left_out_outputs(K, y, alpha * variance, weights, groups) for alpha in alphas}
        errors = {alpha: weights @ (y - left[alpha]) ** 2 for alpha in alphas}
        best = min(alphas, key=lambda alpha: errors[alpha])
        assert model.alpha_[column] == pytest.approx(best)
        np.testing.assert_allclose(model.left_out_predictions_[:, column], left[best], atol=1e-9)
        expected = ridge_outputs(K, rows, y, best * variance, weights)
        np.testing.assert_allclose(model.predict(NEW_STACK)[:, column], expected, atol=1e-9)
        assert model.left_out_r2_[column] == pytest.approx(r2_score(y, left[best], sample_weight=weights))


def test_predictions_are_the_weighted_mean_of_ridge_regressions_on_families_of_kernels() -> None:
    model = MultiViewRegressor(least_agreement=0).fit(VIEWS, Y, groups=GROUPS)
    assert sum(model.part_weights_.values()) == pytest.approx(1)
    assert sum(weight > 0 for name, weight in model.part_weights_.items() if name not in ("equal", "learned")) >= 1
    transform = StackTransform(kernel_dictionary(VIEWS)).fit(VIEWS)
    specs = transform.specs
    kernels = np.stack(list(transform.training_kernels(VIEWS)), axis=-1)
    new_kernels = np.stack(list(transform.new_kernels(NEW_VIEWS)), axis=-1)
    equal = np.ones(len(specs))
    members = {
        "equal": equal,
        "learned": model.learned_shares_,
        **{kind: equal * [each["kind"] == kind for each in specs] for kind in ("linear", "gaussian")},
        **{
            f"{kind}, {scaling}": equal * [(each["kind"], each["feature_scaling"]) == (kind, scaling) for each in specs]
            for kind in ("linear", "gaussian")
            for scaling in ("none", "standard", "unit", "rank")
        },
        **{
            f"{kind} of {view}": equal * [(each["kind"], each["view"]) == (kind, view) for each in specs]
            for kind in ("linear", "gaussian")
            for view in ("a", "b")
        },
    }
    traces = np.array([centred_trace(K) for K in np.moveaxis(kernels, -1, 0)])
    predicted, left_out = np.zeros((len(NEW), 3)), np.zeros(Y.shape)
    for part, (name, weight) in enumerate(model.part_weights_.items()):
        weights = members[name] / traces
        for column in range(3) if weight else ():
            ridge = KernelRidge(kernel_weights=weights / weights.sum(), alpha=model.alphas_[part, column])
            ridge.fit(kernels, Y[:, column], groups=GROUPS)
            predicted[:, column] += weight * ridge.predict(new_kernels)
            left_out[:, column] += weight * ridge.left_out_predictions_
    np.testing.assert_allclose(model.predict(NEW_VIEWS), predicted, atol=1e-7)
    np.testing.assert_allclose(model.left_out_predictions_, left_out, atol=1e-7)
    equal, half, learned = (MultiViewRegressor(learned=w).fit(VIEWS, Y)._variances_ for w in (0, 0.5, 1))
    np.testing.assert_allclose(half, (equal + learned) / 2, atol=1e-9)


def test_overlapping_spectra_need_linear_kernels_with_a_tiny_ridge() -> None:
    """The target has one of six overlapping peaks, behind a baseline and scatter that hide it from other kernels."""
    rng, wave = np.random.default_rng(1), np.linspace(0, 1, 300)
    peaks = np.exp(-0.5 * ((wave - rng.uniform(0, 1, 6)[:, None]) / 0.15) ** 2)
    amounts = rng.gamma(4, 1, size=(160, 6))
    amounts[:, 0] = 2 + 0.2 * rng.normal(size=160)
    first, second = (
        0.1 * (amounts @ peaks) * rng.normal(1, 0.05, (160, 1)) + rng.normal(0, 0.3, (160, 1)) * [np.ones(300), wave][k]
        + 3e-4 * rng.normal(size=(160, 300))
        for k in (0, 1)
    )  # fmt: skip
    views, train, test = Views({"first": first, "second": second}), slice(0, 60), slice(60, None)
    model = MultiViewRegressor().fit(views[train], amounts[train, 0])
    linear = sum(weight for name, weight in model.part_weights_.items() if name.startswith("linear"))
    plain = make_pipeline(StandardScaler(), RidgeCV(10.0 ** np.arange(-6, 4)))
    plain.fit(np.hstack([first, second])[train], amounts[train, 0])
    assert linear > 0.8
    score = r2_score(amounts[test, 0], model.predict(views[test]))
    assert score > 0.8
    assert score > r2_score(amounts[test, 0], plain.predict(np.hstack([first, second])[test])) - 0.01
    far = Views({"first": 1.9 * first[test], "second": 1.9 * second[test]})  # beyond the training range
    joined = np.hstack([1.9 * first, 1.9 * second])[test]
    assert r2_score(plain.predict(joined), model.predict(far)) > 0.9
    half = MultiViewRegressor(learned=0.5).fit(views[train], amounts[train, 0])
    assert score > half.score(views[test], amounts[test, 0]) + 0.1


@pytest.mark.parametrize("n_groups", [3, 5, 20])
def test_groups_without_information_change_little(n_groups: int) -> None:
    """Few groups are no reason for a large ridge: its error was tied with all within two over the number of groups."""
    D, y = load_diabetes(return_X_y=True)
    train, test = slice(0, 200), slice(200, None)
    plain, grouped = (
        MultiViewRegressor().fit(D[train], y[train], groups=groups) for groups in (None, np.arange(200) % n_groups)
    )
    assert grouped.score(D[test], y[test]) > plain.score(D[test], y[test]) - 0.02


@pytest.mark.parametrize("groups", [None, np.repeat(np.arange(10), 10)], ids=["samples", "groups"])
def test_an_error_is_smaller_if_the_gain_exceeds_a_standard_error(groups: np.ndarray | None) -> None:
    others = np.ones((100, 1))
    assert smaller_error(0.99 * others, others, None, groups)
    some = others.copy()
    some[60:] = 1.21
    some[:60] = 0.8  # 21.6 gained, 18.6 lost
    assert not smaller_error(some, others, None, groups)
    assert smaller_error(some, others, np.repeat([1.0, 0.1], [60, 40]), groups)


def test_noise_views_do_not_make_a_weak_view_vanish() -> None:
    """One of 60 features of a view decides half of the target: the view agrees weakly, as noise views do."""
    rng, n = np.random.default_rng(5), 80
    views = {"rna": rng.normal(size=(280, 60)), "protein": rng.normal(size=(280, 20))}
    views |= {f"noise {number}": rng.normal(size=(280, 40)) for number in range(3)}
    y = views["rna"][:, 3] + views["protein"][:, 2] + 0.3 * rng.normal(size=280)
    model = MultiViewRegressor().fit(Views(views)[:n], y[:n])
    assert model.view_agreements_["rna"] < 3 < model.view_agreements_["protein"]
    assert model.view_shares_["rna"] > 0.3
    assert model.score(Views(views)[n:], y[n:]) > 0.6


def test_what_counts_as_a_constant_target() -> None:
    X = np.random.default_rng(0).normal(size=(40, 3))
    for value in (0.1, 2.0, 3.3):
        assert np.isnan(MultiViewRegressor().fit(X, np.full(40, value)).left_out_r2_)
    y, weights = X[:, 0].copy(), np.ones(40)
    y[0], weights[0] = 9.96921e36, 0
    assert MultiViewRegressor().fit(X, y, weights).left_out_r2_ > 0.9


def test_missing_values_are_samples_that_are_not_there() -> None:
    y = Y[:, 0].copy()
    y[5:12] = np.nan
    known, both = ~np.isnan(y), np.column_stack([y, Y[:, 1]])
    with pytest.warns(SamplesWithoutTargetWarning, match=f"7 of {N} samples") as caught:
        one = KernelRidge().fit(STACK, both)
    assert len(caught) == 1
    two = KernelRidge().fit(STACK[np.ix_(known, known)], both[known])
    np.testing.assert_allclose(one.predict(NEW_STACK), two.predict(NEW_STACK[:, known]), atol=1e-9)
    assert np.isnan(one.left_out_predictions_).all(axis=1).tolist() == (~known).tolist()


def test_weights_are_repetitions_and_zeros_absence() -> None:
    counts = np.random.default_rng(2).integers(0, 3, N).astype(float)
    rows = np.repeat(np.arange(N), counts.astype(int))
    one = MultiViewRegressor(kernels="precomputed").fit(STACK, Y, counts)
    two = MultiViewRegressor(kernels="precomputed").fit(STACK[np.ix_(rows, rows)], Y[rows], groups=rows)
    np.testing.assert_allclose(one.predict(NEW_STACK), two.predict(NEW_STACK[:, rows]), atol=1e-6)
    assert np.isnan(one.left_out_predictions_[counts == 0]).all()


@pytest.mark.parametrize("scale", [1e-12, 1e12])
@pytest.mark.parametrize("model", [MultiViewRegressor(), KernelRidge(kernels=["gaussian"])], ids=str)
def test_units_and_origin_of_targets_do_not_matter(model: Any, scale: float) -> None:
    one = model.fit(X, Y).predict(NEW)
    two = model.fit(X, scale * (Y + 7.0)).predict(NEW)
    np.testing.assert_allclose(two / scale - 7.0, one, atol=1e-8)


def test_a_constant_target_is_predicted_and_disturbs_no_other() -> None:
    values = np.column_stack([Y[:, 0], np.full(N, 1e9 / 3)])
    model = MultiViewRegressor().fit(X, values)
    np.testing.assert_allclose(model.predict(NEW)[:, 1], 1e9 / 3, rtol=1e-15)
    np.testing.assert_allclose(model.predict(NEW)[:, 0], MultiViewRegressor().fit(X, Y[:, 0]).predict(NEW), atol=1e-9)
    assert np.isnan(model.left_out_r2_[1])
    lower, upper = model.predict_interval(NEW)
    np.testing.assert_allclose(upper[:, 1] - lower[:, 1], 0, atol=1e-6)


@pytest.mark.parametrize(
    ("y", "error", "sentence"),
    [
        (np.array(["a", "b"] * 20), DataError, "y must hold numbers: .*use a classifier"),
        (np.array([1, "b"] * 20, dtype=object), DataError, "y must hold numbers"),
        (np.where(np.arange(N) == 3, np.inf, 1.0), DataError, "infinity or a value too large"),
        (np.where(np.arange(N) == 3, 1.0, np.nan), DataError, r"target of y has 1 value\(s\) that are not NaN"),
        (np.column_stack([Y[:, 0], np.full(N, np.nan)]), DataError, r"target 1 of y has 0 value\(s\)"),
        (np.where([[k < 20, k > 20] for k in range(N)], np.nan, 1.0), DataError, "fewer than two samples"),
        (np.ma.masked_less(Y[:, 0], 0), DataError, "masked"),
    ],
)
def test_targets_that_are_no_numbers_are_refused(y: Any, error: type[Exception], sentence: str) -> None:
    for model in (MultiViewRegressor(), KernelRidge(kernels=["gaussian"])):
        with pytest.raises(error, match=sentence):
            model.fit(X, y)


def test_one_group_is_refused() -> None:
    with pytest.raises(NotApplicable, match="all samples are in one group"):
        MultiViewRegressor().fit(X, Y[:, 0], groups=["g"] * N)


def test_features_of_all_samples_as_landmarks_are_the_dense_regressions() -> None:
    targets, mean, scale = standardised(Y, None)
    problem = replace(RidgeProblem.of(targets, None, None), units=scale, each_target=True, tied_parameters=2)
    dense = MultiViewRegressor(least_agreement=0).fit(VIEWS, Y)
    made = MultiViewRegressor(least_agreement=0)
    fits = made._fit_chosen(made._checked_samples(VIEWS), problem, np.arange(N))
    np.testing.assert_array_equal(made.alphas_, dense.alphas_)
    np.testing.assert_allclose(fits.left_out.sum(axis=0) * scale + mean, dense.left_out_predictions_, atol=1e-7)
    np.testing.assert_allclose(made._outputs_of(NEW_VIEWS) + mean, dense.predict(NEW_VIEWS), atol=1e-7)
    np.testing.assert_allclose(fits.variance, dense._variances_, atol=1e-7)
    made._variance_intercept_ = fits.variance_intercept
    made._variance_products = made._products_of([(each, each.of_variance) for each in fits.mixtures], fits.mixer)
    np.testing.assert_allclose(made._variances_of(NEW_VIEWS), dense._variances_of(NEW_VIEWS), atol=1e-7)


@pytest.mark.parametrize(("coverage", "size"), [(0.5, 1), (0.9, 1), (0.5, 3), (0.9, 3)])
def test_intervals_hold_the_share_that_they_promise_near_and_far_from_others(coverage: float, size: int) -> None:
    rng, held, names = np.random.default_rng(0), [], np.repeat(np.arange(60), size)
    for _ in range(30):
        Z = rng.normal(size=(260, 3)) * rng.gamma(2, 0.5, size=(260, 1))
        y = np.sin(1.5 * Z[:, 0]) + Z[:, 1] * np.abs(Z[:, 2]) / 2 + 0.2 * rng.standard_t(4, size=260)
        model = KernelRidge(kernels=["gaussian"], alpha=[0.001, 0.01, 0.1, 1.0])
        model.fit(Z[names] + 0.01 * rng.normal(size=(len(names), 3)), y[names], groups=names if size > 1 else None)
        lower, upper = model.predict_interval(Z[60:], coverage)
        distances = np.linalg.norm(Z[60:, None] - Z[:60], axis=2).min(axis=1)
        held.append(((lower <= y[60:]) & (y[60:] <= upper))[np.argsort(distances)])
    near, far = np.mean(held, axis=0).reshape(2, 100).mean(axis=1)
    assert (near + far) / 2 == pytest.approx(coverage, abs=0.04)
    assert near == pytest.approx(far, abs=0.05)


def share_held(model: MultiViewRegressor, new: Views, y: np.ndarray) -> dict[tuple[bool, ...], float]:
    """Return the share of values that 90 % intervals hold, by which views the samples have."""
    held = {}
    for pattern in itertools.product([False, True], repeat=len(new.names)):
        some = {name: np.where(has, new[name], np.nan) for name, has in zip(new.names, pattern, strict=True)}
        lower, upper = model.predict_interval(Views(some), 0.9)
        held[pattern] = float(np.mean((lower <= y) & (y <= upper)))
    assert held.pop((False,) * len(new.names)) == 0.0  # NaN
    return held


@pytest.mark.parametrize("gaps", [0.0, 0.2])
@pytest.mark.parametrize("parameters", [{}, {"landmarks": 60}, {"weight_samples": 60}], ids=str)
def test_intervals_are_wider_for_samples_that_lack_views(gaps: float, parameters: dict[str, Any]) -> None:
    rng, held = np.random.default_rng(0), []
    for _ in range(4):
        Z = rng.normal(size=(400, 3))
        noise = rng.normal(size=(3, 400, 4))
        parts = Z[:, [0]], Z[:, [0]] + Z[:, [1]], Z[:, [2]]
        views = {name: part + each / 2 for name, part, each in zip("abc", parts, noise, strict=True)}
        y, lacks = Z.sum(axis=1) + 0.3 * rng.normal(size=400), rng.random((100, 3)) < gaps
        of_views = zip("abc", lacks.T, strict=True)
        train = Views({name: np.where(own[:, None], np.nan, views[name][:100]) for name, own in of_views})
        model = MultiViewRegressor(**parameters).fit(train[~lacks.all(axis=1)], y[:100][~lacks.all(axis=1)])
        held.append(share_held(model, Views(views)[100:], y[100:]))
    shares = np.mean([list(each.values()) for each in held], axis=0)
    assert shares.min() >= 0.85
    assert gaps or "landmarks" in parameters or shares.max() <= 0.95


def test_samples_of_weight_0_move_no_interval_of_samples_that_lack_views() -> None:
    rng = np.random.default_rng(0)
    Z, weights = rng.normal(size=(100, 2)), np.repeat([0.0, 1.0], [40, 60])
    y = Z.sum(axis=1)
    y[:40] *= 100
    tables = {"a": Z[:, :1] + 0.1 * rng.normal(size=(100, 4)), "b": Z[:, 1:] + 0.1 * rng.normal(size=(100, 4))}
    tables["a"][40:50] = np.nan
    every = MultiViewRegressor().fit(tables, y, sample_weight=weights)
    some = MultiViewRegressor().fit({name: table[40:] for name, table in tables.items()}, y[40:])
    new = {"a": np.full((5, 4), np.nan), "b": tables["b"][90:95]}
    (low, high), (lower, upper) = (model.predict_interval(new) for model in (every, some))
    np.testing.assert_allclose(high - low, upper - lower, rtol=0.1)


def test_left_out_outputs_with_all_views_are_those_of_the_fit() -> None:
    table = X[:, :3] + 0.5 * np.random.default_rng(0).normal(size=(N, 3))
    table[:3] = np.nan
    model = MultiViewRegressor(least_agreement=0).fit({"a": X, "b": table}, Y, groups=GROUPS)
    outputs, rows = model._left_out_views_.with_views(np.array([True, True]))
    np.testing.assert_array_equal(rows, np.arange(3, N))
    np.testing.assert_allclose(outputs[:, :-1] + model.intercept_, model.left_out_predictions_[rows], atol=1e-10)
    np.testing.assert_allclose(outputs[:, -1:] + model._variance_intercept_, model._variances_[rows], atol=1e-10)
    of_one = model._left_out_views_.with_views(np.array([False, True]))[0][-N + 3 :, -1]
    in_sample = model._variances_of({"a": np.full((N - 3, 6), np.nan), "b": table[3:]})[:, 0]
    assert np.corrcoef(of_one, in_sample)[0, 1] > 0.5


def test_intervals_are_infinite_where_few_training_samples_have_the_views() -> None:
    b = Y[:, :1] + np.zeros((N, 2))
    b[8:] = np.nan
    model = MultiViewRegressor(least_agreement=0).fit({"a": X, "b": b}, Y[:, 0])
    assert np.isinf(model.predict_interval({"a": np.full((2, 6), np.nan), "b": b[:2]})).all()
    assert np.isfinite(model.predict_interval({"a": X[:2], "b": b[-2:]})).all()


@pytest.mark.parametrize("estimator", [KernelRidge, MultiViewRegressor])
def test_intervals_of_kernels_at_the_mean_follow_from_training_samples_that_lack_the_same(estimator: type) -> None:
    Z = np.random.default_rng(0).normal(size=(400, 3))
    b = np.where(np.arange(400)[:, None] % 3 == 0, np.nan, Z[:, 1:])
    views = Views({"a": Z[:, :1], "b": b})
    kernels = [{"kind": "gaussian", "view": view, "missing_views": "mean"} for view in views.names]
    y = Z.sum(axis=1)
    model = estimator(kernels=kernels).fit(views[:200], y[:200])
    lower, upper = model.predict_interval(views[200:])
    lacks = np.isnan(b[200:, 0])
    held = (lower <= y[200:]) & (y[200:] <= upper)
    assert min(held[lacks].mean(), held[~lacks].mean()) >= 0.85
    assert np.median((upper - lower)[lacks]) > np.median((upper - lower)[~lacks])
    assert np.isinf(model.predict_interval({"a": np.full((1, 1), np.nan), "b": Z[:1, 1:]})).all()


def test_intervals_of_few_samples_are_infinite_and_coverage_is_a_share() -> None:
    model = KernelRidge(kernels=["gaussian"]).fit(X[:8], Y[:8, 0])
    assert np.isinf(model.predict_interval(NEW, 0.9)[1]).all()
    lower, upper = model.predict_interval(NEW, 0.88)  # 8 of 9
    errors = np.abs(Y[:8] - model.left_out_predictions_[:, None])[:, :1] / model._scales(model._variances_)
    np.testing.assert_allclose((upper - lower) / 2, errors.max() * model._scales(model._variances_of(NEW))[:, 0])
    for wrong in (0, 1, 90, True, "0.9"):
        with pytest.raises(ConfigError, match="coverage"):
            model.predict_interval(NEW, wrong)


def test_intervals_do_not_depend_on_the_scale_of_weights() -> None:
    """A sample of weight 2 is two that are left out together: one of the sets that an interval needs enough of."""
    errors = np.random.default_rng(0).normal(size=40)
    expected = jackknife_radius(errors, 0.9)
    for weight in (1 / 40, 0.5, 7.0):
        assert jackknife_radius(errors, 0.9, np.full(40, weight)) == expected
    assert np.isinf(jackknife_radius(errors[:6], 0.9, np.full(6, 100.0)))
    twice = jackknife_radius(np.repeat(errors, 2), 0.9, None, np.repeat(np.arange(40), 2))
    assert jackknife_radius(errors, 0.9, np.full(40, 2.0)) == twice


def test_intervals_of_groups_count_groups() -> None:
    rng, held, groups = np.random.default_rng(0), [], np.repeat(np.arange(10), [1, 1, 1, 1, 1, 1, 1, 3, 6, 12])
    for _ in range(150):
        K = np.ones((len(groups), len(groups), 1)) + np.eye(len(groups))[..., None]
        y = rng.normal(size=10)[groups] + 0.1 * rng.normal(size=len(groups))
        model = KernelRidge(alpha=1e3).fit(K, y, groups=groups)
        lower, upper = model.predict_interval(np.ones((1, len(groups), 1)), 0.8)
        new = rng.normal(size=400) + 0.1 * rng.normal(size=400)
        held.append(np.mean((lower <= new) & (new <= upper)))
    assert np.mean(held) == pytest.approx(0.8, abs=0.03)
    assert np.isinf(model.predict_interval(np.ones((1, len(groups), 1)), 0.95)[1]).all()  # 19 groups or more
    assert jackknife_radius(np.array([1.0, 2.0, 3.0, 9.0]), 0.5, None, np.array([0, 1, 1, 1])) == 3.0
    weights = np.array([1.0, 2.0, 0.0, 0.0])
    assert jackknife_radius(np.array([1.0, 2.0, 3.0, 9.0]), 0.5, weights, np.array([0, 1, 1, 1])) == 2


def test_learned_weights_are_of_the_columns_that_the_target_is_made_of() -> None:
    learned = KernelRidge(kernels=SPECS, kernel_weights="learned").fit(X, Y[:, 0])
    assert learned.kernel_weights_[0] > 0.8


@pytest.mark.parametrize("kind", [KernelRidgeClassifier, MKLDR])
@pytest.mark.parametrize("landmarks", [(None, 20), (20, None)])
def test_nothing_is_left_of_an_earlier_fit(kind: type, landmarks: tuple[int | None, int | None]) -> None:
    X, y = np.random.default_rng(0).normal(size=(60, 2)), np.arange(60) % 3
    first, then = (kind(kernels=["gaussian"], landmarks=number) for number in landmarks)
    again = first.fit(X, y).set_params(landmarks=landmarks[1]).fit(X, y)
    left, fresh = ({name for name in vars(each) if name.endswith("_")} for each in (again, then.fit(X, y)))
    assert left == fresh


@pytest.mark.parametrize("form", [np.asarray, sp.csr_array], ids=["dense", "sparse"])
def test_a_rare_feature_does_not_make_predictions_explode(form: Any) -> None:
    table, y = load_diabetes(return_X_y=True)
    rng = np.random.default_rng(0)
    rare = np.zeros(len(y))
    rare[[3, 70, 100]], rare[300:340] = 1.0, rng.uniform(1, 100, 40)
    wide = np.column_stack([table, rare])
    model = MultiViewRegressor().fit({"a": form(wide[:200])}, y[:200])
    assert model.score({"a": form(wide[200:])}, y[200:]) > 0.25


def test_the_last_bit_of_a_target_does_not_decide_the_weights() -> None:
    rng = np.random.default_rng(0)
    views = Views({"a": rng.normal(size=(60, 4)), "b": rng.normal(size=(60, 3))})
    y = views["b"][:40, 0] ** 2  # nearly unrelated to both views, so that the weights are hardly determined
    close = y * (1.0 + 1e-15 * np.random.default_rng(1).normal(size=40))
    first, other = (MultiViewRegressor().fit(views[:40], values).predict(views[40:]) for values in (y, close))
    np.testing.assert_allclose(first, other, atol=1e-6)
