"""A data set that is drawn, not read: noisy stripes of three widths."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mklearn.study.data.samples import SampleSet


def read(paths: Mapping[str, Path] | None = None, noise: float = 0.5) -> SampleSet:
    """Return 36 images (8, 8) of 3 classes."""
    y = np.repeat(np.arange(3), 12)
    columns = np.arange(8)
    patterns = np.stack([(columns // width) % 2 for width in (1, 2, 4)]).astype(float)
    rng = np.random.default_rng(0)
    images = patterns[y][:, None, :] + noise * rng.normal(size=(36, 8, 8))
    return SampleSet(
        ids=np.array([f"s{number}" for number in range(36)]),
        labels=np.array(["narrow", "wide", "wider"])[y],
        images=images,
    )
