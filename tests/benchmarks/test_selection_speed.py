"""How fast a bandwidth is chosen by leaving one out: a race over hard samples first, against trying everything.

Ratios of CPU times, each the median over repeats taken in turn, so that other work on the machine hits both alike.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from tests.benchmarks.test_distance_speed import seconds

from mklearn.kernels.distances import squared_euclidean
from mklearn.nearest_neighbour import accuracy_by_dimension
from mklearn.study.data.read import read_dataset
from mklearn.study.data.registry import entry
from mklearn.study.data.splits import random_per_class
from mklearn.study.evaluation.selection import choose, hardest_first, select_by_leaving_one_out
from mklearn.subspace.kernel_mmc import KernelMMC


@pytest.mark.benchmark
def test_a_race_over_hard_samples_first(mirror: Path, record_property) -> None:
    """Eleven bandwidths on ORL with four images of each person: one split of the study mkmmc."""
    known = entry("orl")
    samples = read_dataset(known.spec(), {file.name: mirror / str(file.mirror) for file in known.files})
    X = np.asarray(samples.images, dtype=float).reshape(len(samples), -1)
    train = random_per_class(samples.y, 4, 1, seed=0, name="orl")[0].train
    distances, y = squared_euclidean(X[train]), samples.y[train]
    mean = distances[np.triu_indices(len(y), 1)].mean()
    kernels = [np.exp(-distances / (mean * 2.0**power)) for power in range(-5, 6)]

    def refits(kernel, order=None):
        return KernelMMC().leave_one_out(kernel[:, :, None], y, order)

    def everything():
        curves = []
        for kernel in kernels:
            rows = [
                accuracy_by_dimension(others, np.delete(y, i), left_out, y[i : i + 1])
                for i, others, left_out in refits(kernel)
            ]
            curves.append(np.mean(rows, axis=0))
        return choose(curves)

    def race(order_of):
        chosen = select_by_leaving_one_out(
            lambda position: refits(kernels[position], order_of(kernels[position])), range(11), y, ["euclidean"]
        )["euclidean"]
        return chosen.candidate, chosen.dimension

    ways = {
        "everything": everything,
        "race": lambda: race(lambda kernel: None),
        "hard samples first": lambda: race(lambda kernel: hardest_first(kernel, y)),
    }
    assert len({way() for way in ways.values()}) == 1
    taken = seconds(ways, repeats=3)
    ratios = {name: taken["everything"] / taken[name] for name in ("race", "hard samples first")}
    for name, ratio in ratios.items():
        record_property(name, round(ratio, 2))
    print(f"\n{ratios}")
    assert ratios["hard samples first"] >= 2
    assert ratios["hard samples first"] >= 1.3 * ratios["race"]
