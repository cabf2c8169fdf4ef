"""A data set that is drawn, not read: noisy stripes of three widths."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mklearn.study.data.samples import SampleSet


def read(paths: Mapping[str, Path] | None = None, noise: float = 0.5) -> SampleSet:
    """Return 36 images (8, 8) of 3 classes."""
    y = np.repeat(np.arange(3), 12)
    patterns = np.stack([(np.arange(8) // width) % 2 for width in (1, 2, 4)]).astype(float)
    images = patterns[y][:, None, :] + noise * np.random.default_rng(0).normal(size=(36, 8, 8))
    ids = np.array([f"s{number}" for number in range(36)])
    return SampleSet(ids=ids, labels=np.array(["narrow", "wide", "wider"])[y], images=images)
