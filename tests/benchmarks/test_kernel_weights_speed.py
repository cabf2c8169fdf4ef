"""Time the exact step for the kernel weights: medians, one thread, on random PSD pairs."""

from __future__ import annotations

from statistics import median
from time import perf_counter

import numpy as np
import pytest

from mklearn.optimize.kernel_weights import kernel_weights


@pytest.mark.benchmark
@pytest.mark.parametrize(("m", "limit"), [(4, 3.0), (7, 3.0), (10, 25.0), (12, 100.0)])
def test_exact_kernel_weights(m: int, limit: float, record_property) -> None:
    """Limits in milliseconds are several times the need of an idle core, as machines are shared."""
    rng = np.random.default_rng(m)
    times = []
    for number in range(65):
        X, Y = rng.normal(size=(2, m, m + 3))
        if number % 2:
            X, Y = abs(X), abs(Y)
        start = perf_counter()
        kernel_weights(X @ X.T, Y @ Y.T)
        times.append(1000 * (perf_counter() - start))
    result = median(times[5:])  # the first ones warm up
    record_property("median_ms", result)
    assert result < limit, f"median {result:.2f} ms, slowest {max(times[5:]):.2f} ms"
