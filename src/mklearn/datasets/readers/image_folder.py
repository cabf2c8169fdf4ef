"""Your own images: a folder with one sub-folder per class."""

from __future__ import annotations

import logging
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.datasets.readers.content import decode_image
from mklearn.datasets.resizing import resize_images
from mklearn.datasets.samples import SampleSet, encode_labels, natural_key, some
from mklearn.errors import ConfigError, DataError

SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".pgm", ".ppm", ".gif", ".webp")
COLOURS = ("grey", "rgb")
_logger = logging.getLogger(__name__)


def find_images(root: str | os.PathLike[str]) -> list[Path]:
    """The images below `root` in natural order: ``root/class/file`` with a known suffix in either case.

    Names that begin with a dot are ignored, and so is ``__MACOSX``.

    Raises
    ------
    DataError
        No such folder, no class folder, a class folder without images, or only one class.
    """
    return _images_and_strays(Path(root))[0]


def _images_and_strays(root: Path) -> tuple[list[Path], list[Path]]:
    """Strays are files that are no images, files beside the class folders, and folders within them."""
    if not root.is_dir():
        raise DataError(f"{root}: no such folder; expected one sub-folder per class with images in it")
    images: list[Path] = []
    strays: list[Path] = []
    empty: list[str] = []
    n_classes = 0
    for entry in _visible(root):
        if not entry.is_dir():
            strays.append(entry)
            continue
        n_classes += 1
        before = len(images)
        for file in _visible(entry):
            is_image = file.is_file() and file.suffix.lower() in SUFFIXES
            (images if is_image else strays).append(file)
        if len(images) == before:
            empty.append(entry.name)
    if n_classes == 0:
        raise DataError(
            f"{root}: no sub-folders; expected one per class with images in it"
            + (f" (found {some([path.name for path in strays])})" if strays else "")
        )
    if empty:
        raise DataError(f"{root}: no images in class folder {some(empty)} ({', '.join(SUFFIXES)}); fill or remove it")
    if n_classes == 1:
        raise DataError(f"{root}: only one class, {images[0].parent.name!r}; at least two sub-folders are needed")
    return images, strays


def read(paths: Mapping[str, Path], *, colour: str = "grey", resize: Mapping[str, Any] | None = None) -> SampleSet:
    """Read a folder of images.

    Parameters
    ----------
    paths : dict of str to Path
        ``{"root": folder}``.
    colour : {"grey", "rgb"}
        See :func:`mklearn.datasets.readers.content.decode_image`.
    resize : dict, optional
        Arguments of :func:`mklearn.datasets.resizing.resize_images`, applied to each image as it is read, so that
        large originals need not be in memory together.

    Returns
    -------
    SampleSet
        ids "class/file.png" (relative paths); one array of images if they have one shape, else a list. Files that were
        left out are named in ``notes`` and logged as a warning.

    Raises
    ------
    DataError
        As :func:`find_images`; a corrupt image (named); images of different depth.
    ConfigError
        An unknown colour mode.
    """
    if colour not in COLOURS:
        raise ConfigError(f"colour={colour!r} is unknown; legal: {', '.join(COLOURS)}")
    root = Path(paths["root"])
    files, strays = _images_and_strays(root)
    images: Sequence[np.ndarray] = [_read_one(file, colour, resize) for file in files]
    by_dtype = {image.dtype: file for file, image in zip(files, images, strict=True)}
    if len(by_dtype) > 1:
        examples = ", ".join(f"{file} ({dtype})" for dtype, file in by_dtype.items())
        raise DataError(f"{root}: images of different depth can't be compared: {examples}")
    notes: tuple[str, ...] = ()
    if strays:
        names = [path.relative_to(root).as_posix() for path in strays]
        notes = (f"{len(strays)} files or folders that are no images of a class were left out: {some(names)}",)
        _logger.warning("%s: %s", root, notes[0])
    y, classes = encode_labels([file.parent.name for file in files])
    ids = np.array([file.relative_to(root).as_posix() for file in files])
    return SampleSet(ids=ids, y=y, classes=classes, images=list(images), notes=notes)


def _read_one(file: Path, colour: str, resize: Mapping[str, Any] | None) -> np.ndarray:
    try:
        data = file.read_bytes()
    except OSError as error:
        raise DataError(f"{file}: can't be read: {error.strerror or error}") from error
    image = decode_image(data, str(file), colour)
    return image if resize is None else resize_images([image], **resize)[0]


def _visible(folder: Path) -> list[Path]:
    return sorted(
        (path for path in folder.iterdir() if not path.name.startswith(".") and path.name != "__MACOSX"),
        key=lambda path: natural_key(path.name),
    )
