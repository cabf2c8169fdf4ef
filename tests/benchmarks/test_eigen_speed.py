"""How fast small eigenproblems are: many of one size at once, against SciPy's solver for each by itself.

Ratios of CPU times, each the median over repeats taken in turn, so that other work on the machine hits both alike.
"""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg
from tests.benchmarks.test_distance_speed import seconds

from mklearn.optimize.eigen import generalized_eigh, generalized_eigh_stack

K, N, P = 20, 32, 20  # a half step of a sweep over 20 sizes on faces of 32 x 32 pixels


@pytest.mark.benchmark
@pytest.mark.parametrize("right", [True, False])
def test_small_eigenproblems_are_twice_as_fast_as_scipys(right, record_property):
    rng = np.random.default_rng(0)
    A, B = (X @ X.transpose(0, 2, 1) for X in rng.normal(size=(2, K, N, 2 * N)))
    metric = B if right else None
    every = range(K)
    taken = seconds(
        {
            "scipy": lambda: [
                scipy.linalg.eigh(A[i], None if metric is None else metric[i], subset_by_index=(N - P, N - 1))
                for _ in range(20)
                for i in every
            ],
            "one by one": lambda: [
                generalized_eigh(A[i], None if metric is None else metric[i], P, "largest")
                for _ in range(20)
                for i in every
            ],
            "stack": lambda: [generalized_eigh_stack(A, metric) for _ in range(20)],
        }
    )
    ratios = {name: taken["scipy"] / taken[name] for name in ("one by one", "stack")}
    for name, ratio in ratios.items():
        record_property(name, round(ratio, 2))
    print(f"\n{'generalised' if right else 'standard'}: {ratios}")
    assert ratios["stack"] >= 2
