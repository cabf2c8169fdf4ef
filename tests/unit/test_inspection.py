"""What each view contributes, by permutation and by leaving it out; kernel weights over splits."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_diabetes, load_digits
from sklearn.metrics import r2_score
from sklearn.model_selection import KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer

from mklearn import KernelRidge, MultiViewClassifier, MultiViewRegressor
from mklearn.classifiers import MKLSVC, KernelSVC
from mklearn.errors import ConfigError, DataError
from mklearn.inspection import kernel_weights_over_splits, r2_shares, view_contributions, weight_stability
from mklearn.kernels import Views
from mklearn.subspace import KernelFDA, LeaveOneOutMKL


def digits(n: int = 150) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """Return the upper and lower half of digits, the upper one again, noise, and a view that is always the same."""
    X, y = load_digits(return_X_y=True)
    rng = np.random.default_rng(0)
    upper, lower = X[:n, :32], X[:n, 32:]
    views = {
        "upper": upper,
        "lower": lower,
        "again": upper + 0.1 * rng.normal(size=upper.shape),
        "noise": rng.normal(size=(n, 3)),
    }
    return views, y[:n]


@pytest.mark.full
def test_contributions_of_views_that_tell_something_the_same_or_nothing() -> None:
    views, y = digits()
    found = {each.view: each for each in view_contributions(KernelSVC(kernels="gaussian"), views, y)}
    assert list(found) == list(views)
    assert found["lower"].permuted.low > 0.1
    assert found["upper"].permuted.low > 0
    assert found["lower"].left_out.low > 0
    assert found["upper"].left_out.low < 0  # "again" replaces it
    for difference in (found["noise"].permuted, found["noise"].left_out):
        assert difference.low < 0 < difference.high
    assert found["noise"].changed.mean() < found["upper"].changed.mean() < found["lower"].changed.mean()
    assert all(((each.changed >= 0) & (each.changed <= 1)).all() for each in found.values())


def test_left_out_is_the_difference_of_two_cross_validations() -> None:
    views, y = digits(100)
    cv = KFold(4, shuffle=True, random_state=3)
    estimator = KernelFDA(kernels="gaussian", ridge=1e-2)
    found = view_contributions(estimator, views, y, cv=cv)
    full = cross_val_score(estimator, Views(views), y, cv=cv).mean()
    for each in found:
        others = Views({name: table for name, table in views.items() if name != each.view})
        assert each.left_out.mean == pytest.approx(full - cross_val_score(estimator, others, y, cv=cv).mean())
        assert np.isnan(each.left_out.low)  # four splits have no interval


def test_a_view_that_is_the_same_for_all_test_samples_relies_on_nothing() -> None:
    views, y = digits(60)
    train, test = np.arange(40), np.arange(40, 60)
    views["noise"][test] = 1.0
    found = {
        each.view: each for each in view_contributions(KernelSVC(kernels="gaussian"), views, y, cv=[(train, test)])
    }
    assert found["noise"].permuted.mean == 0
    assert (found["noise"].changed[test] == 0).all()
    assert np.isnan(found["noise"].changed[train]).all()


@pytest.mark.full
def test_named_kernels_leave_with_their_view_also_in_a_pipeline() -> None:
    views, y = digits(60)
    frames = {name: pd.DataFrame(table, index=[f"s{i}" for i in range(60)]) for name, table in views.items()}
    kernels = {
        "upper": "gaussian",
        "wide": {"view": "lower", "bandwidth": 2.0},
        "narrow": {"view": "lower", "bandwidth": 0.5},
        "noise": {"view": "noise"},
    }
    plain = view_contributions(KernelSVC(kernels=kernels), frames, y, cv=3)
    piped = view_contributions(make_pipeline(FunctionTransformer(), KernelSVC(kernels=kernels)), frames, y, cv=3)
    assert [each.left_out.mean for each in piped] == [each.left_out.mean for each in plain]
    assert {each.view: each for each in plain}["again"].permuted.mean == 0  # no kernel reads it
    alone = KernelSVC(kernels={"upper": "gaussian", "noise": {"view": "noise"}})
    reduced = cross_val_score(alone, Views(frames), y, cv=3).mean()
    full = cross_val_score(KernelSVC(kernels=kernels), Views(frames), y, cv=3).mean()
    assert {each.view: each for each in plain}["lower"].left_out.mean == pytest.approx(full - reduced)


@pytest.mark.full
def test_listed_kernels_and_products_leave_with_every_view_they_read() -> None:
    views, y = digits(60)
    kernels = [
        {"id": "up", "view": "upper"},
        {"id": "lower", "bandwidth": 0.5},
        {"id": "both", "kind": "product", "factors": [{"view": "upper"}, {"view": "noise"}]},
    ]
    found = {each.view: each for each in view_contributions(KernelSVC(kernels=kernels), views, y, cv=3)}
    full = cross_val_score(KernelSVC(kernels=kernels), Views(views), y, cv=3).mean()
    for view, kept in (("upper", kernels[1:2]), ("lower", kernels[::2]), ("noise", kernels[:2]), ("again", kernels)):
        reduced = cross_val_score(KernelSVC(kernels=kept), Views(views), y, cv=3).mean()
        assert found[view].left_out.mean == pytest.approx(full - reduced), view


def test_kernels_without_names_keep_their_views_when_others_leave() -> None:
    views, y = digits(60)
    named = {name: views[name] for name in ("upper", "lower", "noise")}
    specs = [{"bandwidth": 0.5}, "linear", {"bandwidth": 2.0}]
    listed = view_contributions(KernelSVC(kernels=specs), list(named.values()), y, cv=3)
    by_name = view_contributions(KernelSVC(kernels=dict(zip(named, specs, strict=True))), named, y, cv=3)
    assert [each.left_out.mean for each in listed] == [each.left_out.mean for each in by_name]


def test_mistakes_have_sentences() -> None:
    views, y = digits(40)
    with pytest.raises(DataError, match="X is not several views"):
        view_contributions(KernelSVC(kernels="gaussian"), views["upper"], y)
    with pytest.raises(DataError, match=r"y has shape \(39,\) for 40 samples"):
        view_contributions(KernelSVC(kernels="gaussian"), views, y[1:])
    with pytest.raises(ConfigError, match="n_permutations"):
        view_contributions(KernelSVC(kernels="gaussian"), views, y, n_permutations=0)
    with pytest.raises(ConfigError, match="without view 'upper' no kernel is left in `kernels`"):
        view_contributions(KernelSVC(kernels={"upper": "gaussian"}), views, y)
    product = {"kind": "product", "factors": [{"view": "lower"}, {"view": "noise"}]}
    with pytest.raises(ConfigError, match="without view 'lower' no kernel is left in `kernels`: expected one that"):
        view_contributions(KernelSVC(kernels=product), views, y)


def test_weights_over_splits_are_those_of_the_fits() -> None:
    views, y = digits(100)
    cv = KFold(4, shuffle=True, random_state=3)
    method = LeaveOneOutMKL(kernels="gaussian")
    found = kernel_weights_over_splits(method, views, y, cv=cv)
    assert found.kernels == tuple(views)
    rows = Views(views)
    by_hand = [method.fit(rows[train], y[train]).kernel_weights_ for train, _ in cv.split(y)]
    np.testing.assert_allclose(found.weights, by_hand)
    assert found.between_splits == weight_stability(by_hand).between_splits > 0
    pipeline = make_pipeline(method, KNeighborsClassifier(1))
    assert kernel_weights_over_splits(pipeline, views, y, cv=cv).between_splits == found.between_splits
    assert kernel_weights_over_splits(KernelFDA(kernels="gaussian"), views, y).between_splits == 0
    with pytest.raises(ConfigError, match="KNeighborsClassifier has no kernel weights"):
        kernel_weights_over_splits(KNeighborsClassifier(), views["upper"], y)


@pytest.mark.full
def test_weights_over_splits_of_a_regressor() -> None:
    views, y = diabetes()
    targets = np.column_stack([y, y**2])[:100]
    found = kernel_weights_over_splits(MultiViewRegressor(), views[:100], targets)
    assert found.weights.shape == (10, len(found.kernels))


def test_weights_over_splits_of_precomputed_kernels() -> None:
    views, y = digits(100)
    stack = np.stack([views["upper"] @ views["upper"].T, views["lower"] @ views["lower"].T], axis=-1)
    found = kernel_weights_over_splits(MKLSVC(C=1e-4), stack, y, cv=3)
    assert found.weights.shape == (3, 2)
    assert 0 < found.between_splits < 1


def diabetes() -> tuple[Views, np.ndarray]:
    X, y = load_diabetes(return_X_y=True)
    return Views({"body": X[:, :4], "blood": X[:, 4:], "noise": np.random.default_rng(0).normal(size=(442, 3))}), y


def test_shares_of_r2_are_those_of_the_views_and_sum_to_the_whole() -> None:
    views, y = diabetes()
    model = MultiViewRegressor(least_agreement=0).fit(views[:300], y[:300])
    new, tested = views[300:], y[300:]
    found = r2_shares(model, new, tested)
    assert found.r2 == pytest.approx(r2_score(tested, model.predict(new)))
    assert sum(found.views.values()) + found.offset == pytest.approx(found.r2)
    assert found.offset < 0
    assert min(found.views["blood"], found.views["body"]) > 0.15 > 3 * abs(found.views["noise"])
    several = MultiViewRegressor().fit(views[:300], np.column_stack([y, -y, np.arange(442)])[:300])
    shares = r2_shares(several, new, np.column_stack([tested, -tested, np.ones(142)]))
    np.testing.assert_allclose(shares.views["blood"][0], shares.views["blood"][1], atol=1e-9)
    assert np.isnan(shares.r2[2])


def test_shares_of_r2_of_class_indicators() -> None:
    views, y = digits(300)
    model = MultiViewClassifier(decision="ridge").fit(Views(views)[:200], y[:200])
    new = Views(views)[200:]
    found = r2_shares(model, new, y[200:])
    outputs = model.class_scores(new)
    np.testing.assert_allclose(found.r2, r2_score(np.eye(10)[y[200:]], outputs, multioutput="raw_values"), atol=1e-9)
    with pytest.raises(ConfigError, match="no `contributions`"):
        r2_shares(KernelSVC(kernels="gaussian").fit(views, y), views, y)


@pytest.mark.full
def test_contributions_of_views_to_numbers() -> None:
    views, y = diabetes()
    model = KernelRidge(kernels={"body": "gaussian", "blood": "gaussian", "noise": "gaussian"})
    found = {each.view: each for each in view_contributions(model, views, y)}
    assert found["blood"].permuted.low > 0.2
    assert found["blood"].left_out.low > 0.05
    assert abs(found["noise"].permuted.mean) < 0.03
    assert found["blood"].changed.mean() > 3 * found["noise"].changed.mean()
    with pytest.raises(DataError, match="constant"):
        view_contributions(model, views, np.ones(442))


def test_a_target_that_is_constant_but_for_rounding() -> None:
    """The mean of 7 times 0.1 is not 0.1."""
    rng = np.random.default_rng(0)
    views = {"a": rng.normal(size=(40, 2)), "b": rng.normal(size=(40, 2))}
    fitted = MultiViewRegressor().fit(views, rng.normal(size=40))
    assert np.isnan(r2_shares(fitted, {name: view[:7] for name, view in views.items()}, np.full(7, 0.1)).r2).all()
    with pytest.raises(DataError, match="the target is constant"):
        view_contributions(fitted, views, np.full(40, 0.1))


@pytest.mark.full
def test_weights_of_several_targets_are_compared_one_by_one() -> None:
    rng = np.random.default_rng(0)
    views = {"a": rng.normal(size=(40, 2)), "b": rng.normal(size=(40, 2))}
    targets = np.column_stack([views["a"][:, 0], views["b"][:, 0]])
    with pytest.raises(ConfigError, match="each target has kernel weights of its own: pass one target at a time"):
        kernel_weights_over_splits(MultiViewRegressor(weights="per_target"), views, targets)
    assert len(kernel_weights_over_splits(MultiViewRegressor(), views, targets).weights) == 10


@pytest.mark.full
def test_shares_of_r2_leave_out_samples_without_a_value() -> None:
    views, y = diabetes()
    targets = np.column_stack([y, y])
    targets[::7, 1] = np.nan
    model = MultiViewRegressor().fit(views, targets)
    known = np.flatnonzero(~np.isnan(targets[:, 1]))
    both, of_known = r2_shares(model, views, targets), r2_shares(model, views[known], targets[known])
    assert both.r2[1] == pytest.approx(of_known.r2[1], rel=1e-9)
    for name, share in both.views.items():
        assert share[1] == pytest.approx(of_known.views[name][1], rel=1e-9)
