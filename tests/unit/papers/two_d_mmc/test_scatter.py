"""One-sided scatters and class differences against explicit sums."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklearn.papers.two_d_mmc.scatter import CondensedScatter, StackedScatter, class_differences, energy

SHAPES = st.tuples(*[st.integers(1, 6)] * 3)


def stacks(seed: int, n: int, rows: int, cols: int) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(seed)
    return rng.normal(size=(n, rows, cols)), rng.normal(size=(2, rows, cols))


@settings(max_examples=60)
@given(st.integers(0, 2**32 - 1), SHAPES, st.floats(-3, 3), st.integers(1, 6), st.integers(1, 6))
def test_scatters_equal_explicit_sums(seed, shape, weight, l1, l2):
    first, second = stacks(seed, *shape)
    rng = np.random.default_rng(seed + 1)
    L, R = rng.normal(size=(shape[1], l1)), rng.normal(size=(shape[2], l2))
    left = sum(D @ R @ R.T @ D.T for D in first) + weight * sum(D @ R @ R.T @ D.T for D in second)
    right = sum(D.T @ L @ L.T @ D for D in first) + weight * sum(D.T @ L @ L.T @ D for D in second)
    stacked = StackedScatter.of((1.0, first), (weight, second))
    for scatter in (stacked, stacked.condensed()):
        for side, projection, expected in (("left", R, left), ("right", L, right)):
            wider = np.ones((len(projection), 7))  # as in a sweep
            found, _ = scatter.one_sided(side, [projection, wider])
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-9 * (1 + np.abs(expected).max()))


@settings(max_examples=30)
@given(st.integers(0, 2**32 - 1), st.lists(st.integers(1, 4), min_size=1, max_size=4), st.floats(0, 1e4))
def test_class_differences(seed, counts, brightness):
    rng = np.random.default_rng(seed)
    labels = rng.permutation(np.repeat(np.arange(len(counts)), counts))
    X = rng.normal(size=(len(labels), 3, 2)) + brightness
    before = X.copy()
    between, within = class_differences(X, labels)
    np.testing.assert_array_equal(X, before)
    mean = sum(X) / len(X)
    for k in range(len(counts)):
        of_class = X[labels == k]
        class_mean = sum(of_class) / len(of_class)
        np.testing.assert_allclose(between[k], np.sqrt(len(of_class)) * (class_mean - mean), atol=1e-10)
        np.testing.assert_allclose(within[labels == k], of_class - class_mean, atol=1e-10)
    assert energy(between) + energy(within) == pytest.approx(energy(X - mean), rel=1e-9, abs=1e-18)


def test_a_sweep_chooses_the_cheaper_form():
    few = StackedScatter.of((1.0, np.ones((5, 32, 32))))
    many = StackedScatter.of((1.0, np.ones((80, 32, 32))))
    large = StackedScatter.of((1.0, np.ones((3, 300, 200))))
    assert isinstance(few.for_sweep(range(1, 21)), StackedScatter)
    assert many.for_sweep(None) is many
    assert isinstance(many.for_sweep(range(1, 21)), CondensedScatter)
    assert isinstance(large.for_sweep([200] * 20), StackedScatter)  # 905 million moments
