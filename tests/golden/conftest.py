"""Faces of the mirror, each set read once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path

import numpy as np
import pytest

from mklearn.study.data.read import read_dataset
from mklearn.study.data.registry import entry

Faces = Callable[[str], tuple[np.ndarray, np.ndarray]]


@pytest.fixture(scope="session")
def faces(mirror: Path) -> Faces:
    """Return a function that reads the images (n, 32, 32) and labels of a registered set."""

    @cache
    def read(name: str) -> tuple[np.ndarray, np.ndarray]:
        known = entry(name)
        samples = read_dataset(known.spec(), {file.name: mirror / str(file.mirror) for file in known.files})
        return np.asarray(samples.images, dtype=float).reshape(len(samples), 32, 32), samples.y

    return read
