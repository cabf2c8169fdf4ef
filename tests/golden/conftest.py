"""Data sets of the mirror, each read once."""

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mklearn.study.data.read import read_dataset
from mklearn.study.data.registry import entry
from mklearn.study.data.samples import SampleSet

Registered = Callable[[str], SampleSet]
Faces = Callable[[str], tuple[np.ndarray, np.ndarray]]


@pytest.fixture(scope="session")
def registered(mirror: Path) -> Registered:

    @cache
    def read(name: str) -> SampleSet:
        dataset = entry(name)
        files = dataset.packaging(str(mirror))
        spec = dataset.spec() | {"class_groups": True}  # golden values are of draws within each digit of merged classes
        return read_dataset(spec, {file.name: mirror / file.mirror for file in files if file.mirror})

    return read


@pytest.fixture(scope="session")
def faces(registered: Registered) -> Faces:
    """Return a function that reads the images (n, 32, 32) and labels of a registered set."""

    @cache
    def read(name: str) -> tuple[np.ndarray, np.ndarray]:
        samples = registered(name)
        return np.asarray(samples.images, dtype=float).reshape(len(samples), 32, 32), samples.y

    return read
