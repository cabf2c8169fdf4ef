"""Ridge regression at several ridges: left-out outputs against refits, the choice, weights, indefinite kernels."""

import numpy as np
import pandas as pd
import pytest
from tests.ridge_refits import left_out_outputs
from tests.unit.optimize.test_leave_one_out_ridge import GROUPS, WEIGHTS, N, kernels, targets

from mklearn.errors import DataError, NotApplicable
from mklearn.optimize.left_out import LeftOut
from mklearn.optimize.ridge_path import RidgePath, _smallest, feature_ridge_path, ridge_path

RIDGES = np.array([1e-3, 0.1, 1.0, 30.0, 1e5])


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["samples", "groups"])
@pytest.mark.parametrize("ridge", RIDGES)
def test_left_out_outputs_equal_refits(weights: np.ndarray | None, groups: np.ndarray | None, ridge: float) -> None:
    K, Y = kernels(0)[2], targets()
    sample_weight = np.ones(N) if weights is None else weights
    expected = left_out_outputs(K, Y, ridge, weights, groups)
    found = ridge_path(K, Y, [ridge], sample_weight=weights, groups=groups)
    np.testing.assert_allclose(found.left_out, expected, rtol=0, atol=1e-9 * np.abs(expected).max())
    error = sample_weight @ (Y - expected) ** 2 / sample_weight.sum()
    np.testing.assert_allclose(found.errors, [error], rtol=1e-9)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
def test_fit_solves_the_least_squares_problem(weights: np.ndarray | None) -> None:
    K, Y = kernels(1)[1], targets()
    w = np.ones(N) if weights is None else weights
    found = ridge_path(K, Y, [0.3], sample_weight=weights)
    residuals = Y - K @ found.coefficients - found.intercept
    np.testing.assert_allclose(w[:, None] * residuals, 0.3 * found.coefficients, atol=1e-10)  # stationary in A
    np.testing.assert_allclose(w @ residuals, 0, atol=1e-10)  # and in b


@pytest.mark.parametrize("groups", [None, GROUPS], ids=["samples", "groups"])
def test_the_ridge_of_the_smallest_error_is_chosen(groups: np.ndarray | None) -> None:
    K, Y = kernels(1)[1], targets()
    path = ridge_path(K, Y, RIDGES[::-1], groups=groups)
    alone = [ridge_path(K, Y, [ridge], groups=groups) for ridge in RIDGES]
    np.testing.assert_allclose(path.errors, [each.errors[0] for each in alone])
    best = int(np.argmin(path.errors.sum(axis=1)))
    assert 0 < best < len(RIDGES) - 1
    assert (path.ridge == RIDGES[best]).all()
    np.testing.assert_allclose(path.coefficients, alone[best].coefficients)
    np.testing.assert_allclose(path.left_out, alone[best].left_out)


@pytest.mark.parametrize("seed", range(12))
def test_ridges_are_compared_with_their_factors_within_the_optimism(seed: int) -> None:
    """As all factors decide, though few are computed; equal errors of a set count once."""
    rng, n, each_target = np.random.default_rng(seed), 6, bool(seed % 3)
    errors, weights = rng.uniform(0.5, 1.5, size=(n, 4, 2)), rng.uniform(0.5, 2, 4)
    factors, ridges = np.where(rng.random(n) < 0.5, 1.0, rng.uniform(1, 3, n)), np.arange(1.0, n + 1)
    left_out = LeftOut(4, [0, 0, 1, 2] if seed % 2 else None)
    found = _smallest(ridges, [*errors], weights, left_out, each_target, 0.5, lambda r: factors[int(r) - 1])
    squares = (errors**2).sum(axis=1) / weights.sum()
    np.testing.assert_allclose(found[0], squares)
    for columns in ([0], [1]) if each_target else ([0, 1],):
        compared = squares[:, columns].sum(axis=1)
        best = errors[compared.argmin()][:, columns] * np.sqrt(weights)[:, None]
        sums = np.vstack([best[:2].sum(axis=0), best[2:]]) if seed % 2 else best
        size = np.maximum((sums**2).sum(axis=0), (best**2).sum(axis=0)).sum()
        share = 0.5 * size / (weights.sum() ** 2 * compared.min())
        within = np.flatnonzero(compared * factors <= (compared * factors).min() * (1 + share))
        assert (found[1][columns] == ridges[within[-1]]).all()
        np.testing.assert_array_equal(found[2][:, columns], errors[within[-1]][:, columns])


def test_each_target_has_the_ridge_of_its_own_smallest_error() -> None:
    K, smooth = kernels(1)[1], np.random.default_rng(0).normal(size=(N, 1))
    Y = np.hstack([K @ smooth, smooth])  # one that the kernel tells, one that it does not
    path = ridge_path(K, Y, RIDGES, each_target=True)
    alone = [ridge_path(K, column[:, None], RIDGES) for column in Y.T]
    assert path.ridge[0] < path.ridge[1]
    for column, each in enumerate(alone):
        assert path.ridge[column] == each.ridge[0]
        np.testing.assert_allclose(path.left_out[:, [column]], each.left_out)
        np.testing.assert_allclose(path.coefficients[:, [column]], each.coefficients)


def test_of_equal_errors_the_larger_ridge() -> None:
    Y = targets()
    assert (ridge_path(np.eye(N), Y, RIDGES).ridge == RIDGES[-1]).all()  # left-out samples are like no other: any ridge


@pytest.mark.parametrize("features", [False, True])
def test_errors_that_are_small_by_chance_choose_no_ridge(features: bool) -> None:
    """With as many features as samples, all left-out errors at a tiny ridge are multiples of one number."""
    rng = np.random.default_rng(1)
    F = rng.normal(size=(340, 40)) / 40**0.5
    y = F[:, :3] @ np.full(3, 40**0.5) + 0.5 * rng.normal(size=340)
    train, new, ridges = F[:40], F[40:], np.logspace(-6, 0, 7)

    def fit(ridges: np.ndarray) -> tuple[RidgePath, float]:
        if features:
            path = feature_ridge_path(train, y[:40, None], ridges)
            slopes = path.coefficients
        else:
            path = ridge_path(train @ train.T, y[:40, None], ridges)
            slopes = train.T @ path.coefficients
        return path, float(np.mean((new @ slopes[:, 0] + path.intercept - y[40:]) ** 2))

    path, error = fit(ridges)
    smallest = ridges[[int(path.errors.argmin())]]
    assert smallest < path.ridge
    assert error < fit(smallest)[1] / 4


def test_constants_in_the_kernel_change_nothing() -> None:
    K, Y = kernels(0)[1], targets()
    one, two = ridge_path(K, Y, RIDGES), ridge_path(K + 1e6, Y, RIDGES)
    np.testing.assert_allclose(two.left_out, one.left_out, atol=1e-6)
    np.testing.assert_allclose(
        (K + 1e6) @ two.coefficients + two.intercept, K @ one.coefficients + one.intercept, atol=1e-5
    )


def test_indefinite_kernels_leave_out_small_ridges() -> None:
    values, vectors = np.linalg.eigh(kernels(0)[1])
    values[0] = -0.2
    K, Y = (vectors * values) @ vectors.T, targets()
    np.testing.assert_array_equal(ridge_path(K, Y, RIDGES).ridges, RIDGES[2:])
    with pytest.raises(DataError, match=r"too negative for the largest ridge 0\.1"):
        ridge_path(K, Y, RIDGES[:2])


@pytest.mark.parametrize(
    ("groups", "error", "message"),
    [
        (["a", "b"], DataError, "one group for each sample"),
        (["a"] * 3, NotApplicable, "one group"),
        ([1.0, np.nan, 2.0], DataError, "missing"),
        (np.array(["a", None, "b"], dtype=object), DataError, "missing"),
        (pd.Series(["a", None, "b"], dtype="string"), DataError, "missing"),
        (np.array(["a", 1, "b"], dtype=object), DataError, "no common order"),
    ],
)
def test_groups_that_do_not_fit(groups: list, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        LeftOut(3, groups)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["samples", "groups"])
def test_features_give_what_their_kernel_gives(weights: np.ndarray | None, groups: np.ndarray | None) -> None:
    F, Y = np.random.default_rng(0).normal(size=(N, 5)) + 3.0, targets()
    one = ridge_path(F @ F.T, Y, RIDGES, sample_weight=weights, groups=groups, variance=True)
    two = feature_ridge_path(F, Y, RIDGES, sample_weight=weights, groups=groups, variance=True)
    np.testing.assert_array_equal(one.ridge, two.ridge)
    np.testing.assert_allclose(two.errors, one.errors, rtol=1e-7)
    np.testing.assert_allclose(two.left_out, one.left_out, atol=1e-7)
    np.testing.assert_allclose(F @ two.coefficients, F @ F.T @ one.coefficients, atol=1e-7)
    np.testing.assert_allclose(two.intercept, one.intercept, atol=1e-7)
    np.testing.assert_allclose(two.variance.left_out, one.variance.left_out, rtol=1e-6)
    np.testing.assert_allclose(two.variance.coefficients, F.T @ one.variance.coefficients, atol=1e-7)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["equal", "weighted"])
@pytest.mark.parametrize("groups", [None, GROUPS], ids=["samples", "groups"])
def test_variances_are_those_of_refits(weights: np.ndarray | None, groups: np.ndarray | None) -> None:
    K, names, variances = kernels(0)[2], np.arange(N) if groups is None else groups, np.empty((N, 1))
    options = {"sample_weight": weights, "groups": groups, "each_target": True}
    path = ridge_path(K, targets(), RIDGES, **options, variance=True)
    ridge, wide = np.exp(np.log(path.ridge).mean()), K + 1e6  # a wide prior of the intercept
    noisy = wide + np.diag(np.full(N, ridge) if weights is None else ridge / weights)
    for name in np.unique(names):
        rest, out = names != name, names == name
        explained = wide[out][:, rest] @ np.linalg.solve(noisy[rest][:, rest], wide[rest][:, out])
        variances[out, 0] = np.diagonal(wide[out][:, out] - explained)
    expected = ridge_path(K, variances, [ridge], **options)
    np.testing.assert_allclose(path.variance.left_out, expected.left_out, rtol=1e-4)
    np.testing.assert_allclose(path.variance.coefficients, expected.coefficients, atol=1e-4)
