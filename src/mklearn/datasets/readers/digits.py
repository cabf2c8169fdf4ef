"""The 8 x 8 digits that come with scikit-learn."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mklearn.datasets.samples import SampleSet


def read(paths: Mapping[str, Path] | None = None) -> SampleSet:
    """Read all 1797 digits.

    Parameters
    ----------
    paths : dict, optional
        Ignored: nothing is downloaded.

    Returns
    -------
    SampleSet
        ids "1" ... "1797" in scikit-learn's order; classes "0" ... "9"; images (1797, 8, 8) uint8 in 0..16.
    """
    from sklearn.datasets import load_digits

    data = load_digits()
    return SampleSet(
        ids=np.array([str(number) for number in range(1, len(data.target) + 1)]),
        y=data.target.astype(np.int64),
        classes=np.array([str(digit) for digit in range(10)]),
        images=data.images.astype(np.uint8),
    )
