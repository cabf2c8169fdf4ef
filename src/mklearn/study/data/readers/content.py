"""Shared by readers: one input file, the sha256 of what is decoded, decoding one image, ids and what they tell."""

from __future__ import annotations

import hashlib
import io
import itertools
import logging
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.atomic import existing_file
from mklearn.errors import ConfigError, DataError
from mklearn.extras import require
from mklearn.study.data.samples import some

IMAGE_FORMATS = ("PNG", "JPEG", "BMP", "TIFF", "PPM", "GIF", "WEBP")
"""Pillow's decoders that an image can choose by its content; others, such as that of EPS, start programs."""
IMAGE_SUFFIXES = (".png", ".jpg", ".jpeg", ".bmp", ".tif", ".tiff", ".pgm", ".ppm", ".gif", ".webp")
MOST_BYTES = 8 << 30
"""Memory that a sparse matrix of a file may take as a dense table."""
_logger = logging.getLogger(__name__)


def only_path(paths: Mapping[str, Path], reader: str) -> Path:
    """Return the single file of a reader that takes one."""
    if len(paths) != 1:
        raise DataError(f"reader {reader} takes one file, got {len(paths)}: {', '.join(map(str, paths.values()))}")
    return existing_file(next(iter(paths.values())))


def check_content(array: np.ndarray, expected: str | None, source: Path | str) -> None:
    """Raise DataError if the sha256 of an array's C-ordered bytes is not the expected one, if any."""
    if expected is None:
        return
    digest = hashlib.sha256(np.ascontiguousarray(array).tobytes()).hexdigest()
    if digest != expected:
        raise DataError(
            f"{source}: its content is not that of the registered data set (sha256 of the decoded values: "
            f"expected {expected}, got {digest}). It may be another crop, scaling or order of the same images; "
            "results could not be compared with published ones"
        )


def dense(matrix: Any, path: Path) -> np.ndarray:
    """Return a sparse matrix of SciPy's as a dense one; DataError if that takes more than `MOST_BYTES`."""
    size = 8.0 * matrix.shape[0] * matrix.shape[1]
    if size > MOST_BYTES:
        raise DataError(
            f"{path}: the sparse matrix of shape {matrix.shape} takes {size / 1e9:.1f} GB as a dense table; expected "
            f"at most {MOST_BYTES / 1e9:.1f} GB. Keep fewer features (of genes, the highly variable ones), or name an "
            "array of components, such as obsm/X_pca"
        )
    if hasattr(matrix, "check_format"):
        matrix.check_format(full_check=True)
    return np.asarray(matrix.toarray())


def number_within_class(labels: Iterable[str]) -> list[str]:
    """Build ids "label/k", k = 1, 2, ... in the order of appearance."""
    counters: defaultdict[str, Iterator[int]] = defaultdict(lambda: itertools.count(1))
    return [f"{label}/{next(counters[label])}" for label in labels]


def published_test_part(path: Path, ids: np.ndarray) -> list[np.ndarray]:
    """Return the test part of data sets whose ids begin with "train/" and "test/"; `path` is not read."""
    test = np.char.startswith(ids, "test/")
    if test.all() or not test.any():
        raise ConfigError(
            f"protocol released: all {len(ids)} samples are of the {'test' if test.any() else 'training'} part of the "
            "data set; `per_class` takes the first samples of a class: draw them at random, with `draw: 0`"
        )
    return [ids[test]]


def published_folds(path: Path, ids: np.ndarray) -> list[np.ndarray]:
    """Return the test part of each fold in the column ``fold`` of a data set's table of samples, by number."""
    import pandas as pd

    frame = pd.read_csv(path, dtype={"id": str})
    folds = [frame.loc[frame["fold"].eq(number), "id"] for number in sorted(frame["fold"].unique())]
    return [ids[np.isin(ids, fold.to_numpy(dtype=str))] for fold in folds]


def is_hidden(name: str) -> bool:
    """Tell whether a file or folder is ignored silently: hidden files, and what macOS adds to archives."""
    return name.startswith(".") or name == "__MACOSX"


def note_strays(strays: Sequence[str], source: Path) -> tuple[str, ...]:
    """Log files that are no images of a class, and return a note about them (none without such files)."""
    if not strays:
        return ()
    note = f"{len(strays)} files or folders that are no images of a class were left out: {some(strays)}"
    _logger.warning("%s: %s", source, note)
    return (note,)


def decode_image(data: bytes, name: str, colour: str = "grey") -> np.ndarray:
    """Decode the content of an image file of one of `IMAGE_FORMATS`; DataError names it by `name`.

    "grey" gives (rows, cols); colour is converted to luma (ITU-R 601), 16-bit grey stays 16-bit. "rgb" gives
    (rows, cols, 3) uint8. Transparency is dropped; the orientation noted by a camera is applied. Of an animation, the
    first frame is used.
    """
    require("PIL")
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(io.BytesIO(data), formats=IMAGE_FORMATS) as opened:
            opened.load()
            image = ImageOps.exif_transpose(opened)
            deep = image.mode in ("I", "F") or image.mode.startswith("I;16")
            if deep and colour == "rgb":
                raise DataError(f"{name}: a {image.mode} image (more than 8 bits per pixel) can't be read as rgb")
            pixels = np.array(image if deep else image.convert("L" if colour == "grey" else "RGB"))
    except UnidentifiedImageError as error:
        raise DataError(f"{name}: not an image of a format that is read: {', '.join(IMAGE_FORMATS)}") from error
    except DataError:
        raise
    except (OSError, ValueError, SyntaxError, EOFError, MemoryError, Image.DecompressionBombError) as error:
        raise DataError(f"{name}: a corrupt or truncated image ({error})") from error
    return pixels
