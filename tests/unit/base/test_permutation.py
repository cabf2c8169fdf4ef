"""Permutation tests: p-values are uniform if targets do not depend on features, also if samples are in groups."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.stats import kstest

from mklearn.base.permutation import PermutationTest, association, shuffled_rows

Y = np.array([3, 3, 5, 5, 5, 3, 7])
OF_ONE_TARGET = np.array(list("aabbbcd"))
OF_SEVERAL = np.array(list("aabbccd"))


def test_the_smallest_p_value_is_not_zero_and_ties_count() -> None:
    shuffled = np.array([0.5, 0.2, 0.9])
    assert [PermutationTest(score, shuffled).p_value for score in (1.0, 0.5)] == [0.25, 0.75]


def test_groups_exchange_their_targets() -> None:
    rng = np.random.default_rng(0)
    draws = [Y[shuffled_rows(Y, OF_ONE_TARGET, rng)] for _ in range(200)]
    assert {tuple(draw[[0, 2, 5, 6]]) for draw in draws} == {
        (3, 5, 3, 7), (3, 5, 7, 3), (3, 3, 5, 7), (3, 3, 7, 5), (3, 7, 3, 5), (3, 7, 5, 3),
        (5, 3, 3, 7), (5, 3, 7, 3), (5, 7, 3, 3), (7, 3, 3, 5), (7, 3, 5, 3), (7, 5, 3, 3),
    }  # fmt: skip
    assert all((draw[:2] == draw[0]).all() and (draw[2:5] == draw[2]).all() for draw in draws)
    for _ in range(50):
        rows = shuffled_rows(Y, OF_SEVERAL, rng)
        assert rows[6] == 6  # the only group of its size
        assert {frozenset(rows[[k, k + 1]].tolist()) for k in (0, 2, 4)} == {
            frozenset(each) for each in ((0, 1), (2, 3), (4, 5))
        }


def noise(groups: str, rng: np.random.Generator) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any] | None]:
    of = np.repeat(np.arange(15), 3)
    shared = np.zeros((15, 3)) if groups == "none" else rng.normal(size=(15, 3))
    features = shared[of] + 0.3 * rng.normal(size=(45, 3))
    if groups == "several targets":
        return features, (3 * rng.normal(size=15)[of] + rng.normal(size=45) > 0).astype(int), of
    if groups == "one target":
        return features, rng.permutation(np.arange(15) % 3)[of], of
    return features, rng.normal(size=45), None


@pytest.mark.parametrize("groups", ["none", "one target", "several targets"])
def test_p_is_uniform_for_independent_targets(groups: str) -> None:
    rng = np.random.default_rng(5)
    draws = [noise(groups, rng) for _ in range(100)]
    steps = rng.uniform(size=100) / 20  # p-values of 19 shuffles are multiples of 1/20

    def uniformity(*, with_groups: bool) -> float:
        p_values = [association(X, y, of if with_groups else None, n_shuffles=19).p_value for X, y, of in draws]
        return float(kstest(np.array(p_values) - steps, "uniform").pvalue)

    assert uniformity(with_groups=True) > 0.01
    if groups != "none":
        assert uniformity(with_groups=False) < 1e-4


@pytest.mark.parametrize("n_features", [2, 80])
def test_a_dependence_has_the_smallest_p_value_and_its_r2(n_features: int) -> None:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, n_features)) * np.array([10] + [0.1] * (n_features - 1))
    y = X[:, 0] / 10 + 0.5 * rng.normal(size=60)
    test = association(X, y, n_shuffles=9)
    assert test.p_value == 0.1
    assert test.score == pytest.approx(0.8, abs=0.1)
