"""Deng Cai's MATLAB files: ``fea`` (n, rows * cols), ``gnd`` (n, 1); some have the names ``X`` and ``Y``."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mklearn.datasets.readers.content import check_content, number_within_class, only_path
from mklearn.datasets.readers.matlab import load_mat
from mklearn.datasets.samples import SampleSet, encode_labels
from mklearn.errors import DataError

_NAMES = (("fea", "gnd"), ("X", "Y"))


def read(paths: Mapping[str, Path], *, shape: Sequence[int] = (32, 32), content_sha256: str | None = None) -> SampleSet:
    """Read one file.

    Parameters
    ----------
    paths : dict of str to Path
        One entry, whatever its name.
    shape : (rows, cols)
        Shape of an image; each row of ``fea`` is an image in column-major order, as MATLAB's ``reshape`` has it.
    content_sha256 : str, optional
        Expected sha256 of the C-ordered bytes of ``fea``, as uint8 if all its values are integers in 0..255 and as
        float64 otherwise.

    Returns
    -------
    SampleSet
        ids "label/k", k counting from 1 within the class; images uint8, or float64 as they stand.

    Raises
    ------
    DataError
        Not such a file, of another shape, or with other content than expected.
    """
    path = only_path(paths, "deng_cai_mat")
    arrays = load_mat(path)
    for features, labels in _NAMES:
        if features in arrays and labels in arrays:
            break
    else:
        raise DataError(f"{path}: has the variables {', '.join(arrays) or 'none'}; expected fea and gnd, or X and Y")
    values, classes = np.asarray(arrays[features]), np.asarray(arrays[labels]).ravel()
    rows, cols = shape
    if values.ndim != 2 or values.shape != (len(classes), rows * cols):
        raise DataError(
            f"{path}: {features} has shape {values.shape} and {labels} {len(classes)} labels; expected "
            f"({len(classes)}, {rows * cols})"
        )
    values = _as_stored(values)
    check_content(values, content_sha256, path)
    names = [str(int(label)) for label in classes]
    y, class_names = encode_labels(names)
    images = np.ascontiguousarray(values.reshape(-1, cols, rows).transpose(0, 2, 1))
    return SampleSet(ids=np.array(number_within_class(names)), y=y, classes=class_names, images=images)


def _as_stored(values: np.ndarray) -> np.ndarray:
    """uint8 where nothing is lost by it (the same images are about as uint8 and as double), else float64."""
    if values.dtype.kind in "uif" and values.min() >= 0 and values.max() <= 255 and not np.mod(values, 1).any():
        return values.astype(np.uint8)
    return values.astype(np.float64)
