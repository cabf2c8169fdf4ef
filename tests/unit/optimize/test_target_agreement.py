"""Agreement of a kernel with the classes: by its definition, under independence, with weights and groups."""

import numpy as np
import pytest

from mklearn.optimize.target_agreement import target_agreement


def drawn(seed: int, n: int = 40) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6))
    return X @ X.T + 3, np.eye(4)[rng.integers(0, 4, size=n)]


def test_sum_over_pairs_in_units_of_random_signs() -> None:
    K, Y = drawn(0)
    H = np.eye(40) - 1 / 40
    h = (H @ K @ H) * (H @ Y @ Y.T @ H)
    pairs = h[np.triu_indices(40, 1)]
    assert target_agreement(K, Y) == pytest.approx(pairs.sum() / np.linalg.norm(pairs))
    assert target_agreement(7 * K, Y) == pytest.approx(target_agreement(K, Y))
    assert target_agreement(np.zeros((40, 40)), Y) == 0


def test_about_standard_normal_without_dependence_and_large_with_it() -> None:
    values = np.array([target_agreement(*drawn(seed)) for seed in range(300)])
    assert abs(values.mean()) < 0.35
    assert 0.75 < values.std() < 1.25
    assert np.mean(values > 3) < 0.04
    K, Y = drawn(1)
    assert target_agreement(K + 5 * Y @ Y.T, Y) > 5


def test_weights_are_repeated_samples_of_one_group() -> None:
    K, Y = drawn(2)
    weights = 1.0 + np.arange(40) % 3
    rows = np.repeat(np.arange(40), weights.astype(int))
    repeated = target_agreement(K[np.ix_(rows, rows)], Y[rows], groups=rows)
    assert target_agreement(K, Y, sample_weight=weights) == pytest.approx(repeated)
    assert target_agreement(K[np.ix_(rows, rows)], Y[rows]) > repeated + 1  # copies agree with each other
