"""One folder of images per class, in an archive, or in a tar archive inside a zip archive: Caltech-101 as published."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

import numpy as np

from mklearn.errors import DataError
from mklearn.study.data.archives import member_names, read_members
from mklearn.study.data.readers.content import (
    IMAGE_SUFFIXES,
    decode_image,
    is_hidden,
    note_strays,
    only_path,
)
from mklearn.study.data.samples import SampleSet, encode_labels, natural_key, some

Choose = Callable[[np.ndarray, np.ndarray], np.ndarray]


def read(
    paths: Mapping[str, Path],
    *,
    folder: str = "",
    inner: str | None = None,
    colour: str = "grey",
    choose: Choose | None = None,
) -> SampleSet:
    """Read the chosen images straight from the archive; nothing is unpacked to disk.

    The archive is read twice: for the names, and for the chosen images. In memory are the returned images and one file.

    Parameters
    ----------
    folder : str
        Folder of the archive with the class folders: ``folder/class/image.jpg``; empty: they are at its top.
    inner : str, optional
        File name of a tar archive in the zip archive, in any folder, that has the images.
    choose : callable, optional
        Given the labels ``(y, classes)`` of all images in the archive, returns the positions of those to read,
        ascending; all by default.

    Returns
    -------
    SampleSet
        As :func:`mklearn.study.data.readers.image_folder.read` gives of the unpacked ``folder``.
    """
    path = only_path(paths, "nested_archive")
    with _damaged_copy():
        names, strays = _images_and_strays(path, inner, folder)
    labels = np.array([PurePosixPath(name).parent.name for name in names])
    if choose is not None:
        rows = choose(*encode_labels(labels))
        names, labels = [names[row] for row in rows], labels[rows]
    wanted = set(names)
    images: dict[str, np.ndarray] = {}
    with _damaged_copy():
        for name, data in read_members(path, wanted.__contains__, inner):
            images[name] = decode_image(data, f"{path}: {name}", colour)
    ids = ["/".join(PurePosixPath(name).parts[-2:]) for name in names]
    notes = note_strays(strays, path)
    return SampleSet.from_labels(ids, labels, images=[images[name] for name in names], notes=notes)


@contextmanager
def _damaged_copy() -> Iterator[None]:
    """Add the remedy to errors of the archive: its checksum was correct once, so the local copy is damaged."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{error}; delete the file and run again to download it anew") from error


def _images_and_strays(path: Path, inner: str | None, folder: str) -> tuple[list[str], list[str]]:
    """List the names of images, in natural order of class and file, and of other files."""
    images: list[str] = []
    strays: list[str] = []
    for name in member_names(path, inner):
        parts = PurePosixPath(name).parts
        if any(map(is_hidden, parts)):
            continue
        above = (folder,) if folder else ()
        is_image = parts[:-2] == above and len(parts) > 1 and PurePosixPath(name).suffix.lower() in IMAGE_SUFFIXES
        (images if is_image else strays).append(name)
    if not images:
        found = f" (found {some(strays)})" if strays else ""
        where = f"{inner} in it" if inner else "the archive"
        raise DataError(f"{path}: {where} has no images {f'{folder}/' if folder else ''}class/name.jpg{found}")
    return sorted(images, key=lambda name: [natural_key(part) for part in PurePosixPath(name).parts]), sorted(strays)
