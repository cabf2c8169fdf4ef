"""How fast distances are: point sets against the machine's own matrix product, chi-squared against scikit-learn.

Ratios of CPU times, each the median over repeats taken in turn, so that other work on the machine hits both alike.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from statistics import median
from time import process_time

import numpy as np
import pytest
from threadpoolctl import threadpool_limits

from mklearn.descriptors.point_sets import PointSets
from mklearn.kernels.distances import chi2_distance
from mklearn.kernels.point_set_distance import point_set_distances

REPEATS = 9


def seconds(tasks: Mapping[str, Callable[[], object]], repeats: int = REPEATS) -> dict[str, float]:
    """Median CPU seconds of each task, on one thread."""
    times: dict[str, list[float]] = {name: [] for name in tasks}
    with threadpool_limits(1):
        for repeat in range(repeats + 1):
            for name, task in tasks.items():
                start = process_time()
                task()
                if repeat:  # the first one compiles and warms up
                    times[name].append(process_time() - start)
    return {name: median(values) for name, values in times.items()}


@pytest.mark.benchmark
@pytest.mark.parametrize("d", [64, 128])
@pytest.mark.parametrize("p", [160, 300])
def test_point_sets_reach_60_percent_of_sgemm(p, d, record_property):
    rng = np.random.default_rng(0)
    n = 80 if p == 160 else 50
    descriptors = rng.normal(size=(n, p, d)).astype(np.float32)
    descriptors /= np.linalg.norm(descriptors, axis=2, keepdims=True)
    positions = (250 * rng.random((n, p, 2))).astype(np.float32)
    sets = PointSets(descriptors, positions, np.full(n, p, dtype=np.int32))
    A, B = rng.random((2, 2048, 2048), dtype=np.float32)
    product = np.empty_like(A)
    taken = seconds(
        {
            "sgemm": lambda: np.matmul(A, B, out=product),
            "plain": lambda: point_set_distances(sets, position_weight=0),
            "positions": lambda: point_set_distances(sets),
        }
    )
    pairs = n * (n - 1) / 2
    best = 2 * 2048**3 / taken["sgemm"]
    record_property("sgemm_gflops", best / 1e9)
    shares = {}
    for name in ("plain", "positions"):
        shares[name] = 2 * p * p * d * pairs / taken[name] / best
        record_property(f"{name}_us_per_pair", 1e6 * taken[name] / pairs)
        record_property(f"{name}_share_of_sgemm", shares[name])
    assert min(shares.values()) >= 0.6, shares


@pytest.mark.benchmark
@pytest.mark.parametrize("kind", ["dense", "histograms"])
def test_chi2_is_four_times_as_fast_as_scikit_learn(kind, record_property):
    from sklearn.metrics.pairwise import additive_chi2_kernel

    rng = np.random.default_rng(0)
    X = rng.random((300, 1000))
    if kind == "histograms":  # of 1,000 visual words, two thirds of them not seen
        X = rng.dirichlet(np.full(1000, 0.1), size=300)
        X[X < 1e-4] = 0
    taken = seconds({"own": lambda: chi2_distance(X), "scikit-learn": lambda: additive_chi2_kernel(X)})
    ratio = taken["scikit-learn"] / taken["own"]
    record_property("times_as_fast", ratio)
    record_property("ns_per_feature", 1e9 * taken["own"] / (300 * 299 / 2 * 1000))
    assert ratio >= 4, taken
