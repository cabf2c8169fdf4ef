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
import pandas as pd
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
def test_time_is_linear_in_n_and_memory_is_constant(mirror: Path, record_property) -> None:
    images, y = mnist(mirror)
    model = LandmarkFeatures(KERNELS, L, dtype="float32").fit(pixels_and_means(images[:BATCH]), y[:BATCH])

    def pass_over(n: int) -> float:
        """Return the seconds of features and moments; making the batches is not counted."""
        moments, taken = Moments(), 0.0
        for batch, labels in shifted_batches(images, y, n, BATCH):
            views = pixels_and_means(batch)
            start = process_time()
            moments.partial_fit(model.transform(views), labels)
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


@pytest.mark.benchmark
def test_numbers_as_targets_take_the_time_of_classes(mirror: Path, record_property) -> None:
    """Three targets against ten classes, in turn and from the same features; a million samples against a tenth."""
    images, y = mnist(mirror)
    model = LandmarkFeatures(KERNELS, L, dtype="float32").fit(pixels_and_means(images[:BATCH]), y[:BATCH])
    targets = np.random.default_rng(0).normal(size=(BATCH, 3))

    def pass_over(n: int) -> dict[str, float]:
        """Return the seconds of features and moments; the features count for both."""
        moments, taken = {"classes": Moments(), "numbers": Moments()}, {"classes": 0.0, "numbers": 0.0}
        for batch, labels in shifted_batches(images, y, n, BATCH):
            views = pixels_and_means(batch)
            times = [process_time()]
            features = model.transform(views)
            times.append(process_time())
            moments["classes"].partial_fit(features, labels)
            times.append(process_time())
            moments["numbers"].partial_fit(features, targets=targets)
            times.append(process_time())
            shared, *own = np.diff(times)
            taken = {name: taken[name] + shared + more for name, more in zip(taken, own, strict=True)}
        assert {gathered.n_samples_ for gathered in moments.values()} == {n}
        return taken

    with threadpool_limits(1):
        pass_over(2 * BATCH)
        found = pd.DataFrame({n: pass_over(n) for n in (100_000, 1_000_000)}).T
    found["ratio"] = found["numbers"] / found["classes"]
    exponent = float(np.log10(found["numbers"].iloc[1] / found["numbers"].iloc[0]))
    record_property("seconds", found.round(3).to_dict("index"))
    print(f"\n{found.round(3).to_string()}\nexponent of numbers {exponent:.3f}")
    assert (found["ratio"] <= 1.2).all()
    assert 0.9 <= exponent <= 1.1
