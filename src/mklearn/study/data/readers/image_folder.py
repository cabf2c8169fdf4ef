"""Own images: a folder with one sub-folder per class."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from mklearn.atomic import file_content
from mklearn.errors import DataError, UserError
from mklearn.study.data.readers.content import IMAGE_SUFFIXES, decode_image, is_hidden, note_strays
from mklearn.study.data.samples import SampleSet, check_text, natural_key, some

_NAMED = 20
"""So many broken images are named."""


def find_images(root: str | os.PathLike[str]) -> list[Path]:
    """Find the images below `root` in natural order: ``root/class/file`` with a known suffix in either case.

    Raise DataError for a missing folder, no or only one class folder, one without images, and a name that is not UTF-8.
    """
    return _images_and_strays(Path(root))[0]


def read(paths: Mapping[str, Path], *, colour: str = "grey") -> SampleSet:
    """Read the images below the folder ``paths["root"]``, in colour or grey.

    Ids are "class/file.png", relative paths. Other files are left out, named in ``notes`` and logged; hidden ones (and
    ``__MACOSX``) are left out silently. Raise DataError as :func:`find_images`, and for corrupt images, all at once.
    """
    root = Path(paths["root"])
    files, strays = _images_and_strays(root)
    images, broken = [], []
    for file in files:
        try:
            images.append(decode_image(file_content(file), str(file), colour))
        except UserError as error:
            broken.append(str(error))
    if broken:
        more = f"; ... ({len(broken)} in all)" if len(broken) > _NAMED else ""
        raise DataError("; ".join(broken[:_NAMED]) + more)
    by_dtype = {image.dtype: file for file, image in zip(files, images, strict=True)}
    if len(by_dtype) > 1:
        examples = ", ".join(f"{file} ({dtype})" for dtype, file in by_dtype.items())
        raise DataError(f"{root}: images of different depth can't be compared: {examples}")
    notes = note_strays([path.relative_to(root).as_posix() for path in strays], root)
    ids = [file.relative_to(root).as_posix() for file in files]
    return SampleSet.from_labels(ids, [file.parent.name for file in files], images=images, notes=notes)


def _images_and_strays(root: Path) -> tuple[list[Path], list[Path]]:
    """Find images; strays are files that are no images, files beside the class folders, and folders inside them."""
    if not root.is_dir():
        raise DataError(f"{root}: no such folder; expected one sub-folder per class with images in it")
    folders = [path for path in _visible(root) if path.is_dir()]
    strays = [path for path in _visible(root) if not path.is_dir()]
    if not folders:
        found = f" (found {some([path.name for path in strays])})" if strays else ""
        raise DataError(f"{root}: no sub-folders; expected one per class with images in it{found}")
    images: list[Path] = []
    empty: list[str] = []
    for folder in folders:
        files = _visible(folder)
        of_class = [file for file in files if file.is_file() and file.suffix.lower() in IMAGE_SUFFIXES]
        images += of_class
        strays += [file for file in files if file not in of_class]
        if not of_class:
            empty.append(folder.name)
    if empty:
        suffixes = ", ".join(IMAGE_SUFFIXES)
        raise DataError(f"{root}: no images in class folder {some(empty)} ({suffixes}); fill or remove it")
    if len(folders) == 1:
        raise DataError(f"{root}: only one class, {folders[0].name!r}; at least two sub-folders are needed")
    check_text((path.relative_to(root).as_posix() for path in images), f"{root}: names of images")
    return images, strays


def _visible(folder: Path) -> list[Path]:
    return sorted((path for path in folder.iterdir() if not is_hidden(path.name)), key=lambda p: natural_key(p.name))
