"""How long the exact beta-step takes: medians, one thread, on random PSD pairs."""

from __future__ import annotations

from statistics import median
from time import perf_counter

import numpy as np
import pytest

from mklearn.optimize.kernel_weights import kernel_weights

# Milliseconds; several times what an idle core needs, as machines are shared.
LIMITS = {4: 3.0, 7: 3.0, 10: 25.0, 12: 100.0}


@pytest.mark.benchmark
@pytest.mark.parametrize("m", sorted(LIMITS))
def test_exact_kernel_weights(m, record_property):
    rng = np.random.default_rng(m)
    problems = []
    for i in range(60):
        X, Y = rng.normal(size=(2, m, m + 3))
        if i % 2:
            X, Y = abs(X), abs(Y)
        problems.append((X @ X.T, Y @ Y.T))
    for S, T in problems[:5]:
        kernel_weights(S, T)
    times = []
    for S, T in problems:
        start = perf_counter()
        kernel_weights(S, T)
        times.append(1000 * (perf_counter() - start))
    record_property("median_ms", median(times))
    assert median(times) < LIMITS[m], f"median {median(times):.2f} ms, slowest {max(times):.2f} ms"
