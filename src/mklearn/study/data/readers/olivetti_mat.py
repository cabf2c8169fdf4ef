"""Olivetti faces as S. Roweis prepared them: ``faces`` (4096, 400), a column-major 64 x 64 image per column."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mklearn.errors import DataError
from mklearn.study.data.readers.content import check_content, number_within_class, only_path
from mklearn.study.data.readers.matlab import is_8_bit, load_mat
from mklearn.study.data.samples import SampleSet

_IMAGES_PER_PERSON = 10
_SIDE = 64


def read(paths: Mapping[str, Path], *, content_sha256: str | None = None) -> SampleSet:
    """Read the file, whose ``faces`` as uint8 have the sha256.

    Ids are "person/k", both counting from 1: the file has no labels, and every ten consecutive images show one person.
    """
    path = only_path(paths, "olivetti_mat")
    (faces,) = load_mat(path, ("faces",))
    if faces.ndim != 2 or faces.shape[0] != _SIDE**2 or faces.shape[1] % _IMAGES_PER_PERSON:
        raise DataError(f"{path}: faces has shape {faces.shape}; expected ({_SIDE**2}, a multiple of ten)")
    if not is_8_bit(faces):
        raise DataError(f"{path}: faces ({faces.dtype}) are not pixels 0..255")
    faces = faces.astype(np.uint8)
    check_content(faces, content_sha256, path)
    images = np.ascontiguousarray(faces.T.reshape(-1, _SIDE, _SIDE).transpose(0, 2, 1))
    people = [str(1 + index // _IMAGES_PER_PERSON) for index in range(len(images))]
    return SampleSet.from_labels(number_within_class(people), people, images=images)
