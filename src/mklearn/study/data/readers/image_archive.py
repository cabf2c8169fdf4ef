"""Archives of images numbered within numbered classes: AT&T faces (s1/1.pgm), COIL-20 (obj1__0.png)."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mklearn.errors import DataError
from mklearn.study.data.archives import read_members
from mklearn.study.data.readers.content import check_content, decode_image, only_path
from mklearn.study.data.samples import SampleSet


def read(paths: Mapping[str, Path], *, member: str, content_sha256: str | None = None) -> SampleSet:
    """Read the archive.

    Parameters
    ----------
    paths : dict of str to Path
        One zip or tar archive; images may lie at any depth.
    member : str
        Pattern of the images' names: "s{class}/{number}.pgm", "obj{class}__{number}.png".
    content_sha256 : str, optional
        Of the pixels (n, rows, cols) uint8, ordered by class and number.

    Returns
    -------
    SampleSet
        ids are the names without suffix ("s1/1"), classes what precedes the number ("s1"), images of one size.
    """
    path = only_path(paths, "image_archive")
    pattern = re.escape(member).replace(r"\{class\}", r"(\d+)").replace(r"\{number\}", r"(\d+)")
    named = re.compile(rf"(?:^|/){pattern}$", re.IGNORECASE)
    found: dict[tuple[int, int], np.ndarray] = {}
    for name, data in read_members(path, lambda name: named.search(name) is not None):
        match = named.search(name)
        assert match is not None
        found[int(match[1]), int(match[2])] = decode_image(data, f"{path}:{name}")
    if not found:
        raise DataError(f"{path}: no images named {member} in it")
    keys = sorted(found)
    shapes = {image.shape for image in found.values()}
    if len(shapes) > 1:
        raise DataError(f"{path}: images of several sizes: {sorted(shapes)}")
    images = np.stack([found[key] for key in keys])
    check_content(images, content_sha256, path)
    stem = member.rsplit(".", 1)[0]
    class_name = stem.split("{number}")[0].rstrip("/_")
    labels = [class_name.replace("{class}", str(label)) for label, _ in keys]
    ids = [stem.replace("{class}", str(label)).replace("{number}", str(number)) for label, number in keys]
    return SampleSet.from_labels(ids, labels, images=images)
