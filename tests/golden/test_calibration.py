"""Raw-pixel nearest neighbour reproduces the PCA rows of the MKMMC and 2DMMC papers: we have their pictures.

PCA of full rank changes no distance, so its published accuracies are those of the raw pixels. Another crop of the same
faces is 10 to 20 points higher: no other number may be compared with the papers' before this test passes.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from mklearn.study.data.read import read_dataset
from mklearn.study.data.registry import entry
from mklearn.study.data.splits import random_per_class

REPEATS = 20
# data set, training samples per class, published accuracy (%), standard deviation over splits (200 splits, measured)
PUBLISHED = [
    ("orl", 2, 70.67, 2.90),
    ("orl", 3, 78.88, 2.53),
    ("orl", 4, 84.21, 2.34),
    ("yale", 2, 46.04, 3.96),
    ("yale", 3, 49.96, 3.69),
    ("yale", 4, 55.67, 3.61),
]


def accuracies(name: str, mirror: Path, train_size: int) -> np.ndarray:
    """(REPEATS,) accuracies in per cent of the nearest neighbour in raw pixels."""
    known = entry(name)
    samples = read_dataset(known.spec(), {file.name: mirror / str(file.mirror) for file in known.files})
    pixels = np.asarray(samples.images, dtype=float).reshape(len(samples), -1)
    squared = (pixels**2).sum(axis=1)
    distances = squared[:, None] + squared - 2 * pixels @ pixels.T
    hits = []
    for split in random_per_class(samples.y, train_size, REPEATS, seed=0, name=name):
        nearest = split.train[distances[np.ix_(split.test, split.train)].argmin(axis=1)]
        hits.append(100 * (samples.y[nearest] == samples.y[split.test]).mean())
    return np.array(hits)


@pytest.mark.parametrize(("name", "train_size", "published", "deviation"), PUBLISHED)
def test_raw_pixels_reproduce_the_published_pca_row(
    name: str, train_size: int, published: float, deviation: float, mirror: Path
) -> None:
    measured = accuracies(name, mirror, train_size)
    # both sides are means of 20 splits: three standard errors of their difference
    assert abs(measured.mean() - published) < 3 * deviation * np.sqrt(2 / REPEATS)
    assert 0.5 * deviation < measured.std(ddof=1) < 1.7 * deviation


@pytest.mark.parametrize(("train_size", "published"), [(size, value) for name, size, value, _ in PUBLISHED[:3]])
def test_the_whole_pictures_are_another_data_set(train_size: int, published: float, mirror: Path) -> None:
    assert accuracies("orl-resized", mirror, train_size).mean() > published + 8
