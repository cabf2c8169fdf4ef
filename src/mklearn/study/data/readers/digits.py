"""The 8 x 8 digits that come with scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mklearn.study.data.samples import SampleSet


def read(paths: Mapping[str, Path] | None = None) -> SampleSet:
    """Read all 1797 digits; `paths` is ignored, because nothing is downloaded.

    Returns
    -------
    SampleSet
        ids "1" ... "1797" in scikit-learn's order; classes "0" ... "9"; images (1797, 8, 8) uint8 in 0..16.
    """
    from sklearn.datasets import load_digits

    data = load_digits()
    ids = [str(number) for number in range(1, len(data.target) + 1)]
    return SampleSet.from_labels(ids, data.target.astype(str), images=data.images.astype(np.uint8))
