"""The men of a fitness club that come with scikit-learn: three exercises, and weight, waist and pulse to predict."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from mklearn.study.data.samples import SampleSet


def read(paths: Mapping[str, Path] | None = None, *, target: str = "weight") -> SampleSet:
    """Read all 20 men: pounds, inches and beats a minute; `paths` is ignored: there is no file."""
    from sklearn.datasets import load_linnerud

    loaded = load_linnerud()
    ids = [f"man-{row:02d}" for row in range(len(loaded.data))]
    column = [name.lower() for name in loaded.target_names].index(target)
    return SampleSet.from_numbers(ids, loaded.target[:, column], tables={"exercise": loaded.data})
