"""Parts of the multi-view methods: agreement with the classes, probabilities of left-out scores, views from others."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from mklearn.optimize import view_regression as module
from mklearn.optimize.calibration import fit_inverse_temperature, score_range, softmax, variance_factor
from mklearn.optimize.left_out import LeftOut
from mklearn.optimize.targets import gain_in_standard_errors, target_agreement, target_cosines
from mklearn.optimize.view_regression import view_regression


def kernel_and_classes(seed: int, n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X @ X.T + 3, np.eye(4)[rng.integers(0, 4, size=n)]


def test_sum_over_pairs_in_units_of_random_signs() -> None:
    K, Y = kernel_and_classes(0)
    H = np.eye(40) - 1 / 40
    h = (H @ K @ H) * (H @ Y @ Y.T @ H)
    pairs = h[np.triu_indices(40, 1)]
    assert target_agreement(K, Y) == pytest.approx(pairs.sum() / np.linalg.norm(pairs))
    assert target_agreement(7 * K, Y) == pytest.approx(target_agreement(K, Y))
    assert target_agreement(np.zeros((40, 40)), Y) == 0


def test_about_standard_normal_without_dependence_and_large_with_it() -> None:
    values = np.array([target_agreement(*kernel_and_classes(seed)) for seed in range(300)])
    assert abs(values.mean()) < 0.35
    assert 0.75 < values.std() < 1.25
    assert np.mean(values > 3) < 0.04
    K, Y = kernel_and_classes(1)
    assert target_agreement(K + 5 * Y @ Y.T, Y) > 5


def test_weights_are_repeated_samples_of_one_group() -> None:
    K, Y = kernel_and_classes(2)
    weights = 1.0 + np.arange(40) % 3
    rows = np.repeat(np.arange(40), weights.astype(int))
    repeated = target_agreement(K[np.ix_(rows, rows)], Y[rows], groups=rows)
    assert target_agreement(K, Y, sample_weight=weights) == pytest.approx(repeated)
    assert target_agreement(K[np.ix_(rows, rows)], Y[rows]) > repeated + 1  # copies agree with each other


# --- probabilities


def scores_and_labels(beta: float, n: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Scores, and labels drawn with the probabilities that beta gives."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(n, 4))
    P = softmax(scores, beta, np.inf)
    return scores, (rng.random(n)[:, None] > P.cumsum(axis=1)).sum(axis=1)


@pytest.mark.parametrize("beta", [0.3, 2.0, 8.0])
def test_the_temperature_of_drawn_labels_is_found(beta: float) -> None:
    assert fit_inverse_temperature(*scores_and_labels(beta)) == pytest.approx(beta, rel=0.08)


def test_weights_are_repeated_samples() -> None:
    scores, codes = scores_and_labels(2.0, 300)
    weights = np.arange(300) % 3
    repeated = np.repeat(np.arange(300), weights)
    one = fit_inverse_temperature(scores, codes, weights.astype(float))
    assert one == pytest.approx(fit_inverse_temperature(scores[repeated], codes[repeated]), rel=0.02)


def test_sets_that_are_left_out_together_count_once() -> None:
    scores, codes = scores_and_labels(2.0, 12)
    one = fit_inverse_temperature(scores, codes, np.full(12, 2.0))
    both = fit_inverse_temperature(np.repeat(scores, 2, axis=0), np.repeat(codes, 2), None, 12)
    assert one == pytest.approx(both, rel=1e-4)
    assert one == pytest.approx(fit_inverse_temperature(scores, codes), rel=1e-4)


def test_perfect_scores_are_not_certain() -> None:
    for n in (10, 1000):
        codes = np.arange(n) % 2
        beta = fit_inverse_temperature(np.eye(2)[codes], codes)
        # one sample in n + 1, half of it wrong
        assert softmax(np.eye(2)[:1], beta, 1.0)[0, 1] == pytest.approx(0.5 / (n + 1), rel=1e-3)


def test_outliers_are_no_more_certain_than_the_left_out_samples() -> None:
    scores = np.array([[0.2, 0.9, -0.1], [90.0, -20.0, 1.0]])
    P = softmax(scores, 5.0, score_range(scores[:1]))
    np.testing.assert_allclose(P.sum(axis=1), 1)
    assert P[1].argmax() == 0
    assert P[1].max() < 1 / (1 + np.exp(-5.0))
    np.testing.assert_allclose(P[0], softmax(scores[:1], 5.0, np.inf)[0])


def test_cosines_are_those_of_the_vectors() -> None:
    rng = np.random.default_rng(1)
    outputs, p = rng.normal(size=(6, 3)), np.array([0.6, 0.3, 0.1])
    outputs[2] = p
    for row, found in zip(outputs, target_cosines(outputs, p), strict=True):
        for k, target in enumerate(np.eye(3)):
            lengths = np.linalg.norm(row - p) * np.linalg.norm(target - p)
            assert found[k] == pytest.approx((row - p) @ (target - p) / lengths if lengths else 0.0)


def test_gain_over_its_standard_error() -> None:
    one, other = np.array([1, 1, 1, 0, 1, 1], bool), np.array([1, 0, 0, 1, 1, 0], bool)
    d = one.astype(float) - other
    error = np.std(d, ddof=1) / np.sqrt(6)
    assert gain_in_standard_errors(one, other, LeftOut(6)) == pytest.approx(d.mean() / error)
    assert gain_in_standard_errors(other, one, LeftOut(6)) == pytest.approx(-d.mean() / error)
    assert gain_in_standard_errors(one, one, LeftOut(6)) == 0
    assert gain_in_standard_errors(np.eye(9, dtype=bool)[0], np.zeros(9, bool), LeftOut(9)) == pytest.approx(1)
    assert gain_in_standard_errors(np.ones(3, bool), np.zeros(3, bool), LeftOut(3)) == np.inf
    # every sample twice, in a group: the same as once
    twice = np.repeat(np.arange(6), 2)
    grouped = gain_in_standard_errors(one[twice], other[twice], LeftOut(12, twice))
    assert grouped == pytest.approx(gain_in_standard_errors(one, other, LeftOut(6)))
    weighted = gain_in_standard_errors(one, other, LeftOut(6), np.full(6, 2.0))
    assert weighted == pytest.approx(grouped)


@pytest.mark.parametrize("factor", [0.3, 3.0])
def test_the_factor_of_drawn_errors_is_estimated(factor: float) -> None:
    rng = np.random.default_rng(0)
    variance = np.append(rng.gamma(1.0, 2.0, size=4000), np.full(400, -1e3))  # count as 0
    errors = np.append(np.nan, rng.laplace(size=4399)) * np.sqrt(1 + factor * np.maximum(variance, 0))
    assert variance_factor(errors, variance) == pytest.approx(factor, rel=0.3)
    assert variance_factor(1e6 * errors, 1e-3 * variance) == pytest.approx(1e3 * variance_factor(errors, variance))
    assert variance_factor(errors, 0 * variance) == variance_factor(0 * errors, variance) == 0


# --- regression of a view on the others

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
