"""How fast the pass over the samples is: features from landmarks and their moments, five Gaussian kernels, float32.

CPU seconds on one thread; images of MNIST, beyond 70,000 shifted ones (synthetic: for times, not for accuracies).
"""

from __future__ import annotations

import resource
from collections.abc import Callable, Mapping
from pathlib import Path
from statistics import median
from time import process_time

import numpy as np
import pytest
from tests.benchmarks.mnist_images import mnist, pixels_and_means, shifted_batches
from threadpoolctl import threadpool_limits

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.landmark_input import LandmarkMoments
from mklearn.base.moments import Moments

KERNELS = {
    f"{view} {bandwidth:g}": {"view": view, "bandwidth": bandwidth}
    for view, bandwidth in [("pixels", 0.25), ("pixels", 0.5), ("pixels", 1.0), ("means", 0.5), ("means", 1.0)]
}
L = 300
BATCH = 10_000


def seconds(tasks: Mapping[str, Callable[[], object]], repeats: int = 5) -> dict[str, float]:
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
@pytest.mark.parametrize("n_targets", [0, 3])
def test_time_is_linear_in_n_and_memory_is_constant(mirror: Path, n_targets: int, record_property) -> None:
    """Of ten classes, or of so many numbers."""
    images, y = mnist(mirror)
    targets = np.random.default_rng(0).normal(size=(BATCH, n_targets))
    model = LandmarkFeatures(KERNELS, L, dtype="float32").fit(pixels_and_means(images[:BATCH]), y[:BATCH])

    def pass_over(n: int) -> float:
        """Return the seconds of features and moments; making the batches is not counted."""
        moments, taken = Moments(), 0.0
        for batch, labels in shifted_batches(images, y, n, BATCH):
            views = pixels_and_means(batch)
            start = process_time()
            features = model.transform(views)
            if n_targets:
                moments.partial_fit(features, targets=targets[: len(features)])
            else:
                moments.partial_fit(features, labels)
            taken += process_time() - start
        assert moments.n_samples_ == n
        return taken

    numbers = [10_000, 30_000, 100_000, 300_000, 1_000_000]
    with threadpool_limits(1):
        pass_over(2 * BATCH)
        before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        times = [np.median([pass_over(n) for _ in range(max(1, 100_000 // n))]) for n in numbers]
    growth = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    exponent = float(np.polyfit(np.log(numbers), np.log(times), 1)[0])
    record_property("exponent", round(exponent, 3))
    record_property("seconds", dict(zip(numbers, np.round(times, 2).tolist(), strict=True)))
    record_property("growth_mb", round(growth, 1))
    print(f"\nexponent {exponent:.3f}, {dict(zip(numbers, np.round(times, 2), strict=True))}, {growth:.0f} MB more")
    assert 0.9 <= exponent <= 1.1
    assert growth < 100


@pytest.mark.benchmark
@pytest.mark.parametrize("n_landmarks", [300, 600])
def test_the_pass_reaches_half_of_gemm(mirror: Path, n_landmarks: int, record_property) -> None:
    """Operations: distances and maps of n l (d + D) multiplications, and the n D^2 / 2 of half a symmetric product."""
    images, y = mnist(mirror)
    n = 20_000
    views = pixels_and_means(images[:n])
    model = LandmarkFeatures(KERNELS, n_landmarks, dtype="float32").fit(views, y[:n])
    width, d = model.blocks_[-1].stop, sum(table.shape[1] for table in views.values())
    A, B = (np.random.default_rng(0).random((rows, width), dtype=np.float32) for rows in (4096, width))
    out = np.empty_like(A)
    tasks = {
        "gemm": lambda: np.matmul(A, B, out=out),
        "pass": lambda: LandmarkMoments.gathered(model, views, y[:n]),
    }
    taken = seconds(tasks)
    rate = 2 * 4096 * width**2 / taken["gemm"]
    reached = (2 * n * n_landmarks * (d + width) + n * width**2) / taken["pass"]
    record_property("share_of_gemm", round(reached / rate, 3))
    print(f"\n{n_landmarks} landmarks: {reached / 1e9:.0f} of {rate / 1e9:.0f} GFLOP/s, {reached / rate:.2f}; {taken}")
    assert reached >= 0.5 * rate
