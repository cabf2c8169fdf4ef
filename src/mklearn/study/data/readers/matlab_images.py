"""Images in MATLAB files: Deng Cai's faces and objects, and the Olivetti faces as S. Roweis prepared them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mklearn.errors import DataError
from mklearn.study.data.readers.content import check_content, number_within_class, only_path
from mklearn.study.data.readers.matlab import load_mat
from mklearn.study.data.readers.tabular import whole_numbers
from mklearn.study.data.samples import SampleSet

_PER_PERSON, _SIDE = 10, 64


def deng_cai(
    paths: Mapping[str, Path], *, shape: Sequence[int] = (32, 32), content_sha256: str | None = None
) -> SampleSet:
    """Read ``fea`` (n, rows * cols), whose rows are images in column-major order, and ``gnd`` (n, 1).

    Some files have the names ``X`` and ``Y``. ``content_sha256`` is that of ``fea``, as uint8 if all its values are
    integers in 0..255 and as float64 otherwise. Ids are "label/k", k counting from 1 within the class.
    """
    path = only_path(paths, "deng_cai")
    values, labels = load_mat(path, ("fea", "gnd"), ("X", "Y"))
    names = [str(label) for label in whole_numbers(labels.ravel(), path, "labels")]
    rows, cols = shape
    if values.shape != (len(names), rows * cols):
        raise DataError(
            f"{path}: the features have shape {values.shape}; expected ({len(names)}, {rows * cols}) for "
            f"{len(names)} labels and images of {rows} x {cols}"
        )
    values = values.astype(np.uint8 if _is_8_bit(values) else np.float64)
    check_content(values, content_sha256, path)
    return _images_in_rows(values, names, rows)


def olivetti(paths: Mapping[str, Path], *, content_sha256: str | None = None) -> SampleSet:
    """Read ``faces`` (4096, 400), a column-major 64 x 64 image per column, which as uint8 have the sha256.

    Ids are "person/k", both counting from 1: the file has no labels, and every ten consecutive images show one person.
    """
    path = only_path(paths, "olivetti")
    (faces,) = load_mat(path, ("faces",))
    if faces.ndim != 2 or faces.shape[0] != _SIDE**2 or faces.shape[1] % _PER_PERSON:
        raise DataError(f"{path}: faces has shape {faces.shape}; expected ({_SIDE**2}, a multiple of ten)")
    if not _is_8_bit(faces):
        raise DataError(f"{path}: faces ({faces.dtype}) are not pixels 0..255")
    faces = faces.astype(np.uint8)
    check_content(faces, content_sha256, path)
    people = [str(1 + index // _PER_PERSON) for index in range(faces.shape[1])]
    return _images_in_rows(faces.T, people, _SIDE)


def _images_in_rows(values: np.ndarray, labels: list[str], rows: int) -> SampleSet:
    """Return the images of `rows` rows of pixels in the rows of a matrix, each in column-major order."""
    images = np.ascontiguousarray(values.reshape(len(labels), -1, rows).transpose(0, 2, 1))
    return SampleSet.from_labels(number_within_class(labels), labels, images=images)


def _is_8_bit(values: np.ndarray) -> bool:
    """Tell whether all values are integers in 0..255, so that nothing is lost as uint8."""
    if values.dtype.kind not in "uif" or not values.size:
        return False
    return bool(values.min() >= 0 and values.max() <= 255 and not np.mod(values, 1).any())
