"""IDX files: MNIST itself, and files that are damaged, of another kind or claim too much."""

from __future__ import annotations

import gzip
import struct
from pathlib import Path

import numpy as np
import pytest

from mklearn.errors import DataError
from mklearn.study.data.readers import idx

NAMES = [f"{part}-{what}-ubyte.gz" for part in ("train", "t10k") for what in ("images-idx3", "labels-idx1")]


def write(path: Path, shape: tuple[int, ...], content: bytes, magic: int | None = None) -> None:
    head = struct.pack(f">{1 + len(shape)}I", 0x800 + len(shape) if magic is None else magic, *shape)
    path.write_bytes(gzip.compress(head + content))


@pytest.fixture
def files(tmp_path: Path) -> dict[str, Path]:
    """Three training and two test images of 2 x 2 pixels."""
    paths = {name: tmp_path / name for name in NAMES}
    for part, digits in (("train", [3, 1, 3]), ("t10k", [1, 0])):
        n = len(digits)
        write(paths[f"{part}-images-idx3-ubyte.gz"], (n, 2, 2), bytes(range(4 * n)))
        write(paths[f"{part}-labels-idx1-ubyte.gz"], (n,), bytes(digits))
    return paths


def test_both_parts_in_order(files: dict[str, Path]) -> None:
    samples = idx.read(files)
    assert list(samples.ids) == ["train/1", "train/2", "train/3", "test/1", "test/2"]
    assert samples.classes[samples.y].tolist() == ["3", "1", "3", "1", "0"]
    images = np.asarray(samples.images)
    assert images.shape == (5, 2, 2)
    np.testing.assert_array_equal(images[2], [[8, 9], [10, 11]])
    np.testing.assert_array_equal(images[3], [[0, 1], [2, 3]])


def test_mnist_itself(mirror: Path) -> None:
    samples = idx.read({name: mirror / "mnist" / name for name in NAMES})
    assert samples.class_counts.tolist() == [6903, 7877, 6990, 7141, 6824, 6313, 6876, 7293, 6825, 6958]
    assert samples.classes[samples.y[:5]].tolist() == ["5", "0", "4", "1", "9"]
    means = np.asarray(samples.images)[:60000].mean(axis=0)
    assert means[14, 14] > 100 > means[0, 0] == 0


IMAGES, LABELS = NAMES[:2]


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda files: write(files[IMAGES], (2, 2, 2), bytes(8)), "part train has images of shape"),
        (lambda files: write(files[IMAGES], (3, 2, 2), bytes(11)), "which are not what follows"),
        (lambda files: write(files[IMAGES], (2**31, 2**31, 9), b""), "which are not what follows"),
        (lambda files: write(files[IMAGES], (3, 2, 2), bytes(12), magic=0xD03), "not an IDX file of bytes with 3 axes"),
        (lambda files: files[LABELS].write_bytes(files[LABELS].read_bytes()[:-9]), "not readable as gzip"),
        (lambda files: files.pop(LABELS), r"of train-labels... there are 0"),
    ],
)
def test_damaged_files(files: dict[str, Path], damage, sentence: str) -> None:
    damage(files)
    with pytest.raises(DataError, match=sentence):
        idx.read(files)
