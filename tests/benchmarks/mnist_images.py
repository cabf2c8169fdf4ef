"""The images of MNIST, and as many more of them as a benchmark needs, shifted by seeded amounts."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from mklearn.study.data.read import read_dataset
from mklearn.study.data.registry import entry

Single = NDArray[np.float32]

N_TRAIN = 60_000


def mnist(mirror: Path) -> tuple[Single, NDArray[np.int64]]:
    """Return all 70,000 images, (n, 28, 28) in [0, 1], training images first, and their labels."""
    dataset = entry("mnist")
    samples = read_dataset(dataset.spec(), {file.name: mirror / str(file.mirror) for file in dataset.files})
    assert samples.ids[N_TRAIN - 1].startswith("train/")
    assert samples.ids[N_TRAIN].startswith("test/")
    return np.asarray(samples.images, dtype=np.float32) / 255, samples.y


def pixels_and_means(images: Single) -> dict[str, Single]:
    n = len(images)
    means = images.reshape(n, 14, 2, 14, 2).mean(axis=(2, 4))
    return {"pixels": images.reshape(n, 784), "means": means.reshape(n, 196)}


def shifted_batches(
    images: Single, y: NDArray[np.int64], n: int, size: int, seed: int = 0
) -> Iterator[tuple[Single, NDArray[np.int64]]]:
    """Yield n images in batches: the originals, then copies shifted by up to 2 pixels, with wrapping."""
    rng = np.random.default_rng(seed)
    for start in range(0, n, size):
        rows = np.arange(start, min(start + size, n)) % len(images)
        shifts = rng.integers(-2, 3, size=2) if start >= len(images) else (0, 0)
        yield np.roll(images[rows], tuple(shifts), axis=(1, 2)), y[rows]
