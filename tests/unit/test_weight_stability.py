"""Stability of kernel weights over splits: by hand, its limits, and invariances."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from mklearn.errors import DataError
from mklearn.inspection import weight_stability


def test_by_hand():
    found = weight_stability([[2.0, 2.0, 0.0], [np.nan] * 3, [0.0, 0.5, 0.5], [0.0, 0.0, 0.0], [1.0, 0.0, 0.0]], "abc")
    np.testing.assert_allclose(found.weights, [[0.5, 0.5, 0], [0, 0.5, 0.5], [1, 0, 0]])
    assert found.between_splits == pytest.approx((0.5 + 0.5 + 1.0) / 3)
    np.testing.assert_allclose(found.mean, [0.5, 1 / 3, 1 / 6])
    np.testing.assert_allclose(found.std, [0.5, np.sqrt(1 / 12), np.sqrt(1 / 12)])
    assert found.from_equal == pytest.approx((1 / 3 + 1 / 3 + 2 / 3) / 3)
    assert found.kernels == ("a", "b", "c")


def test_limits():
    assert weight_stability(np.tile([0.2, 0.8], (4, 1))).between_splits == 0
    assert weight_stability(np.eye(5)).between_splits == 1
    assert weight_stability(np.full((3, 4), 0.25)).from_equal == 0
    assert weight_stability(np.eye(4)).from_equal == pytest.approx(3 / 4)
    one = weight_stability([[0.2, 0.8]])
    assert np.isnan([one.between_splits, *one.std]).all()


def test_is_the_mean_over_pairs_and_blind_to_scale_and_order():
    rng = np.random.default_rng(0)
    weights = rng.dirichlet(np.ones(6), 9)
    found = weight_stability(weights)
    pairs = [0.5 * np.abs(a - b).sum() for a, b in combinations(weights, 2)]
    assert found.between_splits == pytest.approx(np.mean(pairs))
    other = weight_stability(weights[rng.permutation(9)][:, rng.permutation(6)] * rng.uniform(1, 9, (9, 1)))
    assert other.between_splits == pytest.approx(found.between_splits)
    assert other.from_equal == pytest.approx(found.from_equal)


@pytest.mark.parametrize(
    ("weights", "names", "message"),
    [
        ([0.5, 0.5], None, "shape"),
        ([[0.5, 0.5]], ["one"], "1 names for 2 kernels"),
        ([[np.nan, 0.5]], None, "no split has kernel weights"),
    ],
)
def test_errors(weights, names, message):
    with pytest.raises(DataError, match=message):
        weight_stability(weights, names)
