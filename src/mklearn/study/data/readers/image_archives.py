"""Images in archives, also in a tar archive inside a zip archive: AT&T faces, COIL-20, Caltech-101, LFW, flowers."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import numpy as np

from mklearn.errors import DataError
from mklearn.study.data.archives import member_names, read_members
from mklearn.study.data.readers.content import (
    IMAGE_SUFFIXES,
    check_content,
    decode_image,
    is_hidden,
    note_strays,
    only_path,
)  # fmt: skip
from mklearn.study.data.samples import SampleSet, encode_labels, natural_key, some, stack_if_regular

CLASS_FOLDERS = "(?P<id>(?P<class>[^/]+)/[^/]+)"


def read(
    paths: Mapping[str, Path], *, member: str = CLASS_FOLDERS, inner: str | None = None, colour: str = "grey",
    content_sha256: str | None = None, choose: Callable[[np.ndarray, np.ndarray], np.ndarray] | None = None,
) -> SampleSet:  # fmt: skip
    """Read the chosen images straight from the archive, in natural order of their ids; nothing is unpacked to disk.

    The archive is read twice: for the names, and for the chosen images. In memory are the returned images and one file.

    Parameters
    ----------
    member : str
        Regular expression for the whole name of an image, with groups ``id`` and ``class``; by default images lie in
        folders of classes at the top.
    inner : str, optional
        File name of a tar archive in the zip archive, in any folder, that has the images.
    content_sha256 : str, optional
        Of the pixels (n, rows, cols) of all images, in their order. Without it, ``notes`` has the files that are no
        images.
    choose : callable, optional
        Given the labels ``(y, classes)`` of all images, returns the positions of those to read, ascending; all by
        default.
    """
    path = only_path(paths, "image_archives")
    named = re.compile(member)
    with _damaged_copy():
        names, strays = _images_and_strays(path, inner, named)
    matches = [match for name in names if (match := named.fullmatch(name))]
    ids, labels = (np.array([match[group] for match in matches]) for group in ("id", "class"))
    rows = np.arange(len(names)) if choose is None else choose(*encode_labels(labels))
    wanted = set(names if content_sha256 else [names[row] for row in rows])
    images: dict[str, np.ndarray] = {}
    with _damaged_copy():
        for name, data in read_members(path, wanted.__contains__, inner):
            images[name] = decode_image(data, f"{path}: {name}", colour)
    if content_sha256:
        every = stack_if_regular([images[name] for name in names])
        if isinstance(every, list):
            raise DataError(f"{path}: images of several sizes: {sorted({image.shape for image in every})}")
        check_content(every, content_sha256, path)
    notes = () if content_sha256 else note_strays(strays, path)
    return SampleSet.from_labels(
        ids[rows].tolist(), labels[rows], images=[images[names[row]] for row in rows], notes=notes
    )


@contextmanager
def _damaged_copy() -> Iterator[None]:
    """Add the remedy to errors of the archive: its checksum was correct once, so the local copy is damaged."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{error}; delete the file and run again to download it anew") from error


def _images_and_strays(path: Path, inner: str | None, named: re.Pattern[str]) -> tuple[list[str], list[str]]:
    """List the names of images, in natural order of their ids, and of other files."""
    images: dict[str, str] = {}
    strays: list[str] = []
    for name in member_names(path, inner):
        if any(map(is_hidden, name.split("/"))):
            continue
        match = named.fullmatch(name)
        if match and PurePosixPath(name).suffix.lower() in IMAGE_SUFFIXES:
            images[name] = match["id"]
        else:
            strays.append(name)
    if not images:
        where = f"{inner} in it" if inner else "the archive"
        raise DataError(f"{path}: {where} has no images named {named.pattern}; found {some(sorted(strays)) or 'none'}")
    return sorted(images, key=lambda name: list(map(natural_key, images[name].split("/")))), sorted(strays)
