"""IDX files of MNIST: big-endian arrays of bytes with a header, compressed with gzip."""

from __future__ import annotations

import gzip
import zlib
from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mklearn.atomic import existing_file
from mklearn.errors import DataError
from mklearn.study.data.readers.content import check_content
from mklearn.study.data.samples import SampleSet

PARTS = {"train": "train", "t10k": "test"}
"""Beginnings of the file names, and of the ids of their samples."""
_BYTES = 0x08


def read(paths: Mapping[str, Path], *, content_sha256: str | None = None) -> SampleSet:
    """Read the training and the test part from the four files of MNIST by name.

    ``content_sha256`` is that of the pixels, (n, rows, columns) bytes, training part first. Ids are "train/1", ...,
    "test/1", ..., classes "0" ... "9".
    """
    images: list[np.ndarray] = []
    labels: list[str] = []
    ids: list[str] = []
    for begin, part in PARTS.items():
        pixels = _array(_file(paths, f"{begin}-images"), 3)
        digits = _array(_file(paths, f"{begin}-labels"), 1)
        if len(pixels) != len(digits) or (images and pixels.shape[1:] != images[0].shape[1:]):
            raise DataError(f"part {begin} has images of shape {pixels.shape} and {len(digits)} labels")
        images.append(pixels)
        labels += [str(digit) for digit in digits.tolist()]
        ids += [f"{part}/{number}" for number in range(1, len(digits) + 1)]
    together = np.concatenate(images)
    check_content(together, content_sha256, " and ".join(map(str, paths.values())))
    return SampleSet.from_labels(ids, labels, images=together)


def _file(paths: Mapping[str, Path], begin: str) -> Path:
    found = [path for name, path in paths.items() if name.startswith(begin)]
    if len(found) != 1:
        raise DataError(f"MNIST is four files; of {begin}... there are {len(found)} among {', '.join(paths)}")
    return existing_file(found[0])


def _array(path: Path, n_axes: int) -> np.ndarray:
    """Read an array of bytes; its header says how many there are."""
    try:
        with gzip.open(path) as stream:
            header = stream.read(4 * (1 + n_axes))
            magic, *shape = np.frombuffer(header, dtype=">u4").tolist()
            if magic != _BYTES * 256 + n_axes or len(shape) != n_axes:
                raise DataError(f"{path}: not an IDX file of bytes with {n_axes} axes")
            size = int(np.prod(shape, dtype=object))
            content = stream.read()
            if len(content) != size:
                raise DataError(f"{path}: its header claims {size:,} bytes, which are not what follows")
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise DataError(f"{path}: not readable as gzip ({error}); truncated or of another kind") from error
    return np.frombuffer(content, dtype=np.uint8).reshape(shape)
