"""Time the pass over the samples: features from landmarks and their moments, five Gaussian kernels, float32.

CPU seconds on one thread; images of MNIST, beyond 70,000 shifted ones (synthetic: for times, not for accuracies).
"""

import resource
from pathlib import Path
from time import process_time

import numpy as np
import pytest
from tests.benchmarks.mnist_images import mnist, pixels_and_means, shifted_batches
from threadpoolctl import threadpool_limits

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.moments import Moments

KERNELS = {
    f"{view} {bandwidth:g}": {"view": view, "bandwidth": bandwidth}
    for view, bandwidth in [("pixels", 0.25), ("pixels", 0.5), ("pixels", 1.0), ("means", 0.5), ("means", 1.0)]
}
L = 300
BATCH = 10_000


@pytest.mark.benchmark
def test_time_is_linear_in_n_and_memory_is_constant(mirror: Path, record_property) -> None:
    images, y = mnist(mirror)
    model = LandmarkFeatures(KERNELS, L, dtype="float32").fit(pixels_and_means(images[:BATCH]), y[:BATCH])

    def pass_over(n: int) -> float:
        """Return the seconds of features and moments, without those of drawing the batches."""
        moments, elapsed = Moments(), 0.0
        for batch, labels in shifted_batches(images, y, n, BATCH):
            views = pixels_and_means(batch)
            start = process_time()
            moments.partial_fit(model.transform(views), labels)
            elapsed += process_time() - start
        assert moments.n_samples_ == n
        return elapsed

    numbers = [10_000, 30_000, 100_000, 300_000, 1_000_000]
    with threadpool_limits(1):
        pass_over(2 * BATCH)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        times = [np.median([pass_over(n) for _ in range(max(1, 100_000 // n))]) for n in numbers]
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    exponent = float(np.polyfit(np.log(numbers), np.log(times), 1)[0])
    table = dict(zip(numbers, np.round(times, 2).tolist(), strict=True))
    record_property("exponent, seconds, growth in MB", (exponent, table, growth))
    print(f"\nexponent {exponent:.3f}, {table}, {growth:.0f} MB more")
    assert 0.9 <= exponent <= 1.1
    assert growth < 100
