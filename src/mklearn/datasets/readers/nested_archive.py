"""One folder of images per class, in a tar within a zip: Caltech-101 as its authors publish it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from mklearn.datasets.archives import nested_names, read_nested
from mklearn.datasets.readers.content import decode_image, only_path
from mklearn.datasets.readers.image_folder import COLOURS, SUFFIXES
from mklearn.datasets.resizing import resize_images
from mklearn.datasets.samples import SampleSet, encode_labels, natural_key, some
from mklearn.errors import ConfigError, DataError

Choose = Callable[[np.ndarray, np.ndarray], np.ndarray]
_logger = logging.getLogger(__name__)


def read(
    paths: Mapping[str, Path],
    *,
    inner: str,
    folder: str,
    colour: str = "grey",
    choose: Choose | None = None,
    resize: Mapping[str, Any] | None = None,
) -> SampleSet:
    """Read the images, those wanted only, straight from the archive: nothing is unpacked to disk.

    The archive is passed over twice, for the names and for the chosen images. In memory are the images as they are
    returned, and one file.

    Parameters
    ----------
    paths : dict of str to Path
        One entry: the zip archive.
    inner : str
        File name of the tar archive in it; it may lie in any folder.
    folder : str
        Folder of the tar archive in which the class folders lie: ``folder/class/image.jpg``.
    colour : {"grey", "rgb"}
        Every image is brought to this form, whether its file is grey or colour; see
        :func:`mklearn.datasets.readers.content.decode_image`.
    choose : callable, optional
        Gets the labels ``(y, classes)`` of all images in the archive and gives the positions of those to read,
        ascending; all by default.
    resize : dict, optional
        Arguments of :func:`mklearn.datasets.resizing.resize_images`, applied to each image as it is read.

    Returns
    -------
    SampleSet
        ids "class/image.jpg", in natural order; one array of images if they have one shape, else a list. Images are
        files ``folder/class/*`` with a known suffix in either case. Other files are left out, named in ``notes`` and
        logged; hidden ones (and ``__MACOSX``) are left out in silence.

    Raises
    ------
    DataError
        No such tar archive, or several; no images; a damaged archive or image (named), or a malicious archive.
    ConfigError
        An unknown colour mode.
    """
    if colour not in COLOURS:
        raise ConfigError(f"colour={colour!r} is unknown; legal: {', '.join(COLOURS)}")
    path = only_path(paths, "nested_archive")
    with _advice():
        names, strays = _sorted_out(path, inner, folder)
    y, classes = encode_labels([PurePosixPath(name).parent.name for name in names])
    rows = np.arange(len(names)) if choose is None else choose(y, classes)
    images: dict[str, np.ndarray] = {}
    wanted = {names[row] for row in rows}
    with _advice():
        for name, data in read_nested(path, inner, wanted.__contains__):
            image = decode_image(data, f"{path}: {name}", colour)
            images[name] = image if resize is None else resize_images([image], **resize)[0]
    notes: tuple[str, ...] = ()
    if strays:
        notes = (f"{len(strays)} files that are no images of a class were left out: {some(strays)}",)
        _logger.warning("%s: %s", path, notes[0])
    codes, kept = np.unique(y[rows], return_inverse=True)
    return SampleSet(
        ids=np.array([_id(names[row]) for row in rows]),
        y=kept.astype(np.int64),
        classes=classes[codes],
        images=[images[names[row]] for row in rows],
        notes=notes,
    )


@contextmanager
def _advice() -> Iterator[None]:
    """What to do about a damaged archive: its checksum was right once, so the copy has suffered since."""
    try:
        yield
    except DataError as error:
        raise DataError(f"{error}; delete the file and run again to have it downloaded anew") from error


def _sorted_out(path: Path, inner: str, folder: str) -> tuple[list[str], list[str]]:
    """(images, strays) by member name, the images in natural order of class and file."""
    images: list[str] = []
    strays: list[str] = []
    for name in nested_names(path, inner):
        parts = PurePosixPath(name).parts
        if any(part.startswith(".") or part == "__MACOSX" for part in parts):
            continue
        is_image = len(parts) == 3 and parts[0] == folder and PurePosixPath(name).suffix.lower() in SUFFIXES
        (images if is_image else strays).append(name)
    if not images:
        found = f" (found {some(strays)})" if strays else ""
        raise DataError(f"{path}: {inner} in it has no images {folder}/class/name.jpg{found}")
    return sorted(images, key=lambda name: [natural_key(part) for part in PurePosixPath(name).parts]), sorted(strays)


def _id(name: str) -> str:
    return "/".join(PurePosixPath(name).parts[1:])
