"""COIL-20, processed: a zip archive with obj1__0.png ... obj20__71.png, 128 x 128, one view every five degrees."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mklearn.datasets.archives import read_members
from mklearn.datasets.readers.content import check_content, decode_image, only_path
from mklearn.datasets.samples import SampleSet, encode_labels
from mklearn.errors import DataError

_MEMBER = re.compile(r"(?:^|/)obj(\d+)__(\d+)\.png$", re.IGNORECASE)


def read(paths: Mapping[str, Path], *, content_sha256: str | None = None) -> SampleSet:
    """Read the archive.

    Parameters
    ----------
    paths : dict of str to Path
        One entry: the zip (or tar) archive; the pictures may lie at any depth.
    content_sha256 : str, optional
        Expected sha256 of the pixels (n, 128, 128) uint8, ordered by object and view.

    Returns
    -------
    SampleSet
        ids "obj1__0", classes "obj1" ... "obj20", images (1440, 128, 128) uint8.
    """
    path = only_path(paths, "coil20_png")
    found: dict[tuple[int, int], np.ndarray] = {}
    for name, data in read_members(path, lambda name: _MEMBER.search(name) is not None):
        match = _MEMBER.search(name)
        assert match is not None
        found[int(match[1]), int(match[2])] = decode_image(data, f"{path}:{name}")
    if not found:
        raise DataError(f"{path}: no pictures named obj<object>__<view>.png in it")
    keys = sorted(found)
    images = [found[key] for key in keys]
    if len({image.shape for image in images}) > 1:
        raise DataError(f"{path}: pictures of several sizes: {sorted({image.shape for image in images})}")
    stack = np.stack(images)
    check_content(stack, content_sha256, path)
    y, classes = encode_labels([f"obj{thing}" for thing, _ in keys])
    ids = np.array([f"obj{thing}__{view}" for thing, view in keys])
    return SampleSet(ids=ids, y=y, classes=classes, images=stack)
