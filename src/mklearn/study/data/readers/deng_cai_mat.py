"""Deng Cai's MATLAB files: ``fea`` (n, rows * cols), ``gnd`` (n, 1); some have the names ``X`` and ``Y``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mklearn.errors import DataError
from mklearn.study.data.readers.content import check_content, number_within_class, only_path
from mklearn.study.data.readers.matlab import is_8_bit, load_mat
from mklearn.study.data.readers.tabular import whole_numbers
from mklearn.study.data.samples import SampleSet


def read(paths: Mapping[str, Path], *, shape: Sequence[int] = (32, 32), content_sha256: str | None = None) -> SampleSet:
    """Read one file; each row of ``fea`` is an image of `shape` in column-major order, as in MATLAB's ``reshape``.

    ``content_sha256`` is that of ``fea``, as uint8 if all its values are integers in 0..255 and as float64 otherwise.
    Ids are "label/k", k counting from 1 within the class.
    """
    path = only_path(paths, "deng_cai_mat")
    values, labels = load_mat(path, ("fea", "gnd"), ("X", "Y"))
    names = [str(label) for label in whole_numbers(labels.ravel(), path, "labels")]
    rows, cols = shape
    if values.shape != (len(names), rows * cols):
        raise DataError(
            f"{path}: the features have shape {values.shape}; expected ({len(names)}, {rows * cols}) for "
            f"{len(names)} labels and images of {rows} x {cols}"
        )
    values = values.astype(np.uint8 if is_8_bit(values) else np.float64)
    check_content(values, content_sha256, path)
    images = np.ascontiguousarray(values.reshape(-1, cols, rows).transpose(0, 2, 1))
    return SampleSet.from_labels(number_within_class(names), names, images=images)
