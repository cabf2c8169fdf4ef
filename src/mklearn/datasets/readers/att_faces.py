"""The AT&T (ORL) database of faces: a zip archive with s1/1.pgm ... s40/10.pgm, 92 columns by 112 rows."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mklearn.datasets.archives import read_members
from mklearn.datasets.readers.content import check_content, decode_image, only_path
from mklearn.datasets.samples import SampleSet, encode_labels
from mklearn.errors import DataError

_MEMBER = re.compile(r"(?:^|/)s(\d+)/(\d+)\.pgm$", re.IGNORECASE)


def read(paths: Mapping[str, Path], *, content_sha256: str | None = None) -> SampleSet:
    """Read the archive.

    Parameters
    ----------
    paths : dict of str to Path
        One entry: the zip (or tar) archive; the folders may lie at any depth.
    content_sha256 : str, optional
        Expected sha256 of the pixels (n, 112, 92) uint8, ordered by person and picture.

    Returns
    -------
    SampleSet
        ids "s1/1", classes "s1" ... "s40", images (400, 112, 92) uint8.
    """
    path = only_path(paths, "att_faces")
    found: dict[tuple[int, int], np.ndarray] = {}
    for name, data in read_members(path, lambda name: _MEMBER.search(name) is not None):
        match = _MEMBER.search(name)
        assert match is not None
        found[int(match[1]), int(match[2])] = decode_image(data, f"{path}:{name}")
    if not found:
        raise DataError(f"{path}: no pictures named s<person>/<number>.pgm in it")
    keys = sorted(found)
    images = [found[key] for key in keys]
    if len({image.shape for image in images}) > 1:
        raise DataError(f"{path}: pictures of several sizes: {sorted({image.shape for image in images})}")
    stack = np.stack(images)
    check_content(stack, content_sha256, path)
    y, classes = encode_labels([f"s{person}" for person, _ in keys])
    ids = np.array([f"s{person}/{number}" for person, number in keys])
    return SampleSet(ids=ids, y=y, classes=classes, images=stack)
