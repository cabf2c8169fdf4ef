"""Regression of a view on the others: its weights against ridge regression of features, its ridge against refits."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from mklearn.optimize import view_regression as module
from mklearn.optimize.view_regression import view_regression

N, LACKING = 30, np.array([3, 8, 20])


def problem(noise: float = 0.5) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Features of two views with common factors, centred; linear kernels, and which samples have which views."""
    rng = np.random.default_rng(0)
    factors = rng.normal(size=(N, 3))
    one, two = (factors @ rng.normal(size=(3, 4)) + noise * rng.normal(size=(N, 4)) for _ in range(2))
    present = np.ones((N, 2), dtype=bool)
    present[LACKING, 1] = False
    one -= one.mean(axis=0)
    two -= two[present[:, 1]].mean(axis=0)
    two[LACKING] = 0.0
    return one, two, np.stack([one @ one.T, two @ two.T]) / 2, present


def test_weights_predict_what_ridge_regression_of_features_does(monkeypatch: pytest.MonkeyPatch) -> None:
    one, two, kernels, present = problem()
    monkeypatch.setattr(module, "_RIDGES", np.array([0.7]))
    found = view_regression(1, kernels, np.array([0.5, 0.5]), present)
    new = np.random.default_rng(1).normal(size=(6, 4))
    lacks = np.array([[True, False]] * 6)
    b = found(new @ one.T / 2, lacks)
    known = present[:, 1]
    plain = Ridge(alpha=0.7).fit(one[known], two[known])
    np.testing.assert_allclose(b @ two, plain.predict(new), atol=1e-10)
    np.testing.assert_allclose(b.sum(axis=1), 1)
    assert not b[:, LACKING].any()
    np.testing.assert_allclose(found.of(two)(new @ one.T / 2, lacks), plain.predict(new), atol=1e-10)


@pytest.mark.parametrize("noise", [0.1, 1.0, 30.0])
def test_the_ridge_has_the_smallest_left_out_error(monkeypatch: pytest.MonkeyPatch, noise: float) -> None:
    one, two, kernels, present = problem(noise)
    monkeypatch.setattr(module, "_RIDGES", 10.0 ** np.arange(-2, 2, 0.05))
    known = np.flatnonzero(present[:, 1])
    n_ridges, n_targets = len(module._RIDGES), two.shape[1]
    every = Ridge(alpha=np.repeat(module._RIDGES, n_targets))  # one fit for all ridges: each has targets of its own
    left = [every.fit(one[rest], np.tile(two[rest], n_ridges)).predict(one[[i]])[0]
            for i in known for rest in [known[known != i]]]  # fmt: skip
    errors = ((np.tile(two[known], n_ridges) - left) ** 2).sum(axis=0).reshape(n_ridges, n_targets).sum(axis=1)
    assert view_regression(1, kernels, np.array([0.5, 0.5]), present).ridge == module._RIDGES[np.argmin(errors)]


def test_views_that_lack_too_do_not_count_as_the_mean() -> None:
    """One of two equal views is missing: the scaled sum equals the sum of the other one alone."""
    _, _, kernels, present = problem()
    every = np.stack([kernels[0], kernels[0], kernels[1]]) * 2 / 3
    has = np.column_stack([np.ones(N, dtype=bool), present[:, 0], present[:, 1]])
    found = view_regression(2, every, np.full(3, 1 / 3), has)
    rows = every[0][:4] + every[1][:4]
    whole = found(rows, np.array([[True, True, False]] * 4))
    half = found(rows * np.sqrt(2) / 2, np.array([[True, False, False]] * 4))
    np.testing.assert_allclose(half, whole)


def test_without_another_view_it_is_the_mean() -> None:
    _, _, kernels, present = problem()
    alone = view_regression(0, kernels[1:], np.ones(1), present[:, 1:])
    known = present[:, 1]
    expected = np.where(known, 1 / known.sum(), 0)[None]
    np.testing.assert_allclose(alone(np.zeros((1, N)), np.array([[False]])), expected)
    none = view_regression(1, kernels, np.array([0.5, 0.5]), present)
    np.testing.assert_allclose(none(np.zeros((1, N)), np.zeros((1, 2), dtype=bool)).sum(), 1)
