"""Probabilities of left-out scores, and the choice between output and cosine."""

import numpy as np
import pytest

from mklearn.optimize.calibration import fit_inverse_temperature, score_range, softmax, variance_factor
from mklearn.optimize.left_out import LeftOut
from mklearn.optimize.target_cosine import gain_in_standard_errors, target_cosines


def drawn(beta: float, n: int = 4000) -> tuple[np.ndarray, np.ndarray]:
    """Scores, and labels drawn with the probabilities that beta gives."""
    rng = np.random.default_rng(0)
    scores = rng.normal(size=(n, 4))
    P = softmax(scores, beta, np.inf)
    return scores, (rng.random(n)[:, None] > P.cumsum(axis=1)).sum(axis=1)


@pytest.mark.parametrize("beta", [0.3, 2.0, 8.0])
def test_the_temperature_of_drawn_labels_is_found(beta: float) -> None:
    assert fit_inverse_temperature(*drawn(beta)) == pytest.approx(beta, rel=0.08)


def test_weights_are_repeated_samples() -> None:
    scores, codes = drawn(2.0, 300)
    weights = np.arange(300) % 3
    repeated = np.repeat(np.arange(300), weights)
    one = fit_inverse_temperature(scores, codes, weights.astype(float))
    assert one == pytest.approx(fit_inverse_temperature(scores[repeated], codes[repeated]), rel=0.02)


def test_sets_that_are_left_out_together_count_once() -> None:
    scores, codes = drawn(2.0, 12)
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
