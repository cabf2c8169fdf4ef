"""What several readers share: checksums of decoded content, decoding one image, names within a class."""

from __future__ import annotations

import hashlib
import io
from collections import Counter
from collections.abc import Iterable, Mapping
from pathlib import Path

import numpy as np

from mklearn.errors import DataError


def only_path(paths: Mapping[str, Path], reader: str) -> Path:
    """The single file of a reader that takes one."""
    if len(paths) != 1:
        raise DataError(f"reader {reader} takes one file, got {len(paths)}: {', '.join(map(str, paths.values()))}")
    path = Path(next(iter(paths.values())))
    if not path.is_file():
        raise DataError(f"{path}: no such file")
    return path


def check_content(array: np.ndarray, expected: str | None, source: Path | str) -> None:
    """Compare the sha256 of an array's C-ordered bytes with the expected one, if any.

    Raises
    ------
    DataError
        It differs: the file is readable, but holds other data (another crop, other scaling, another order).
    """
    if expected is None:
        return
    found = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    if found != expected:
        raise DataError(
            f"{source}: its content is not that of the registered data set (sha256 of the decoded values: "
            f"expected {expected}, got {found}). It may be another crop, scaling or order of the same pictures; "
            "results could not be compared with published ones"
        )


def number_within_class(labels: Iterable[str]) -> list[str]:
    """Ids "label/k", k = 1, 2, ... in the order of appearance."""
    seen: Counter[str] = Counter()
    ids = []
    for label in labels:
        seen[label] += 1
        ids.append(f"{label}/{seen[label]}")
    return ids


def decode_image(data: bytes, name: str, colour: str = "grey") -> np.ndarray:
    """Pixels of one image file.

    Parameters
    ----------
    data : bytes
        The file's content, in any format that Pillow reads. Of an animation, the first frame.
    name : str
        For messages.
    colour : {"grey", "rgb"}
        "grey" gives (rows, cols); colour is turned to luma (ITU-R 601), 16-bit grey stays 16-bit. "rgb" gives
        (rows, cols, 3) uint8. Transparency is dropped; the orientation that a camera noted is applied.

    Raises
    ------
    DataError
        Not an image, a truncated one, or 16-bit grey where "rgb" was asked for; the message names the file.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data)) as opened:
            opened.load()
            image = ImageOps.exif_transpose(opened)
            deep = image.mode in ("I", "F") or image.mode.startswith("I;16")
            if deep and colour == "rgb":
                raise DataError(f"{name}: a {image.mode} image (more than 8 bits per pixel) can't be read as rgb")
            pixels = np.array(image if deep else image.convert("L" if colour == "grey" else "RGB"))
    except UnidentifiedImageError as error:
        raise DataError(f"{name}: not an image, or of an unknown format") from error
    except DataError:
        raise
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError, Image.DecompressionBombError) as error:
        raise DataError(f"{name}: a corrupt or truncated image ({error})") from error
    return pixels
