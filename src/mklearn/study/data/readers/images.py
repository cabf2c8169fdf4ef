"""Readers of images: a user's folder of class folders, and archives of registered data sets."""

from __future__ import annotations

import io
import re
import tarfile
import unicodedata
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePosixPath
from typing import Any

import numpy as np

from mklearn.atomic import file_content
from mklearn.errors import DataError, UserError
from mklearn.extras import require
from mklearn.study.data.readers.registered import only_path
from mklearn.study.data.samples import SampleSet, check_text, natural_key, read_each, some
from mklearn.study.specs.data_specs import FOLDER_KEY

FORMATS = ("PNG", "JPEG", "BMP", "TIFF", "PPM", "GIF", "WEBP")
"""Image formats that Pillow may detect. Others are disabled, because some decoders, such as EPS, start programs."""
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".pgm", ".ppm", ".gif", ".webp")
MOST_BYTES = 8 << 30
"""Maximum unpacked size of the members read from an archive, in bytes."""
CLASS_FOLDERS = "(?P<id>(?P<class>[^/]+)/[^/]+)"
_NAMED = 20
"""Maximum number of broken images that a message names."""


def is_hidden(name: str) -> bool:
    """Check whether a file or folder is silently ignored: it is hidden, or ``__MACOSX`` in an archive."""
    return name.startswith(".") or name == "__MACOSX"


def decode_image(data: bytes, name: str, colour: str = "grey") -> np.ndarray:
    """Decode the content of an image file in one of `FORMATS`; raise DataError with `name` if this fails.

    "grey" gives (rows, cols): colours are converted to luma (ITU-R 601), and 16-bit grey stays 16-bit. "rgb" gives
    (rows, cols, 3) uint8. Transparency is dropped, the EXIF orientation is applied, and only the first frame, or page,
    and the bands of its colours are used.
    """
    require("PIL")
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data), formats=FORMATS) as opened:
            tiles: Any = opened.tile
            bits = [*getattr(opened, "tag_v2", {}).get(258, ())]  # of each channel of a TIFF
            bits += [16 for kind, _, _, how in tiles if ";16B" in str(how) or (kind[:3] == "ppm" and how[1] > 255)]
            opened.load()
            image = ImageOps.exif_transpose(opened)
            deep = image.mode in ("I", "F") or image.mode.startswith("I;16")
            if deep and colour == "rgb":
                wrong = f"a {image.mode} image (more than 8 bits per pixel) can't be read as rgb"
                raise DataError(f"{name}: {wrong}; convert it to 8 bits or leave it out")
            if max(bits, default=8) > 8 and not deep:  # Pillow would keep the upper 8 bits
                wrong = "16-bit colour can't be read: convert the image to 8 bits per channel"
                raise DataError(f"{name}: {wrong}, or put its bands into tables")
            return np.array(image if deep else image.convert("L" if colour == "grey" else "RGB"))
    except UnidentifiedImageError as error:
        raise DataError(f"{name}: not an image of a format that is read: {', '.join(FORMATS)}") from error
    except DataError:
        raise
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError, Image.DecompressionBombError) as error:
        raise DataError(f"{name}: a corrupt or truncated image ({error})") from error


# --- a folder


def class_folders(paths: Mapping[str, Path], *, colour: str = "grey") -> SampleSet:
    """Read the images below the folder ``paths[FOLDER_KEY]``, in colour or grey.

    Ids are relative paths, "class/file.png", in Unicode's form NFC. Other files are left out and listed in ``notes``;
    hidden files, ``__MACOSX`` and the other files of `paths` are left out silently. Raise DataError as
    :func:`find_images` does, or if images are corrupt.
    """
    root = Path(paths[FOLDER_KEY])
    files, strays = find_images(root)
    images = read_each(lambda file: decode_image(file_content(file), str(file), colour), files, _NAMED)
    by_dtype = {image.dtype: file for file, image in images.items()}
    if len(by_dtype) > 1:
        examples = ", ".join(f"{file} ({dtype})" for dtype, file in by_dtype.items())
        raise DataError(f"{root}: images of different depth can't be compared: {examples}")
    ids = np.array([unicodedata.normalize("NFC", file.relative_to(root).as_posix()) for file in files])
    labels = np.array([PurePosixPath(name).parent.name for name in ids.tolist()])
    tables = set(map(Path, paths.values()))
    names = [path.relative_to(root).as_posix() for path in strays if path not in tables]
    notes = [f"{len(names)} files or folders that are no images of a class were left out: {some(names)}"] * bool(names)
    return SampleSet(ids, labels, images=list(images.values()), notes=tuple(notes))


def find_images(root: Path) -> tuple[list[Path], list[Path]]:
    """Find the images ``root/class/file`` in natural order, and strays. Suffixes match in upper or lower case.

    Strays are files other than images, files beside the class folders, and folders inside them. Raise DataError if the
    folder is missing, has fewer than two class folders, has a class folder without images, or a name is not UTF-8.
    """
    if not root.is_dir():
        raise DataError(f"{root}: no such folder; expected one sub-folder per class with images in it")
    paths = {path: path.relative_to(root).parts for pattern in ("*", "*/*") for path in root.glob(pattern)}
    visible = [path for path, parts in paths.items() if not any(map(is_hidden, parts))]
    visible.sort(key=lambda path: list(map(natural_key, paths[path])))
    folders = [path for path in visible if path.parent == root and path.is_dir()]
    images = [p for p in visible if p.parent != root and p.is_file() and p.suffix.lower() in IMAGE_SUFFIXES]
    strays = [path for path in visible if path not in {*folders, *images}]
    if len(folders) < 2:
        content = some([path.name for path in visible if path.parent == root]) or "nothing"
        raise DataError(f"{root}: expected two or more sub-folders, one per class, with images in it; it has {content}")
    if empty := [folder.name for folder in folders if folder not in {image.parent for image in images}]:
        suffixes = ", ".join(IMAGE_SUFFIXES)
        raise DataError(f"{root}: no images in class folder {empty[0]!r} ({suffixes}); fill or remove it")
    check_text((path.relative_to(root).as_posix() for path in images), f"{root}: names of images")
    return images, strays


# --- an archive


def archive(
    paths: Mapping[str, Path], *, member: str = CLASS_FOLDERS, inner: str | None = None, colour: str = "grey"
) -> SampleSet:
    """Read the images of a zip archive, or of the tar archive `inner` in it, in natural order of their ids.

    Nothing is unpacked to disk. `member` is a regular expression that matches the whole name of an image, with groups
    ``id`` and ``class``; other files are left out.
    """
    path, named = only_path(paths), re.compile(member)
    found: list[tuple[str, str, np.ndarray]] = []
    for name, data in _members(path, inner):
        match = named.fullmatch(name)
        is_image = PurePosixPath(name).suffix.lower() in IMAGE_SUFFIXES and not any(map(is_hidden, name.split("/")))
        if match is not None and is_image:
            found.append((match["id"], match["class"], decode_image(data, f"{path}: {name}", colour)))
    if not found:
        raise DataError(f"{path}: {inner or 'the archive'} has no images named {member}")
    found.sort(key=lambda image: list(map(natural_key, image[0].split("/"))))
    ids, labels, images = zip(*found, strict=True)
    return SampleSet(np.array(ids), np.array(labels), images=list(images))


def _members(path: Path, inner: str | None) -> Iterator[tuple[str, bytes]]:
    """Yield the name and the content of each file in an archive, in order."""
    try:
        with zipfile.ZipFile(path) as opened:
            if inner is None:
                files = [file for file in opened.infolist() if not file.is_dir()]
                _check_size(path, sum(file.file_size for file in files))
                yield from ((file.filename, opened.read(file)) for file in files)
                return
            tars = [name for name in opened.namelist() if PurePosixPath(name).name == inner]
            if len(tars) != 1:
                raise DataError(f"{path}: expected one file {inner}, got {some(tars or opened.namelist())}")
            with opened.open(tars[0]) as content, tarfile.open(fileobj=content) as tar:
                size = 0
                for member in filter(tarfile.TarInfo.isreg, tar):
                    _check_size(path, size := size + member.size)
                    if (stream := tar.extractfile(member)) is not None:
                        yield str(PurePosixPath(member.name)), stream.read()
                while tar.fileobj is not None and tar.fileobj.read(1 << 20):  # zip checks the CRC at the end
                    pass
    except UserError:
        raise
    except Exception as error:  # damaged bytes make zipfile, tarfile and zlib raise many types
        reason = " ".join(str(error).split())
        raise DataError(
            f"{path}: not a readable archive ({reason}); delete the file and run again to download it again"
        ) from error


def _check_size(path: Path, size: int) -> None:
    if size > MOST_BYTES:
        raise DataError(f"{path}: unpacks to more than {MOST_BYTES:,} bytes")
