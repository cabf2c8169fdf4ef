"""USPS digits: LIBSVM's text files (upstream), or the same numbers repacked as HDF5.

The text files hold grey values v in [-1, 1] with three decimals; (v + 1) / 2 in [0, 1] is returned. Both packagings
are rounded to that grid, multiples of 1/2000, and give bitwise equal samples (the HDF5 file is in single precision).
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

import numpy as np

from mklearn.atomic import existing_file
from mklearn.errors import DataError
from mklearn.study.data.readers.content import check_content
from mklearn.study.data.readers.hdf5 import open_hdf5
from mklearn.study.data.samples import SampleSet

_SIDE = 16
_GRID = 2000


def read(paths: Mapping[str, Path], *, content_sha256: str | None = None) -> SampleSet:
    """Read the training and test parts, whose values times 2000, (n, 256) little-endian uint16, have the sha256.

    The files are one HDF5 file with groups train and test, each with data (n, 256) in [0, 1] and target 0..9; or the
    two text files usps.bz2 and usps.t.bz2 (labels 1..10 for the digits 0..9), compressed or not. Ids are "train/1",
    ..., "test/1", ...; images (n, 16, 16) float64 in [0, 1], ink bright.
    """
    files = [existing_file(path) for path in paths.values()]
    if len(files) == 1:
        parts = _read_hdf5(files[0])
    elif len(files) == 2:
        parts = _read_text_parts(files)
    else:
        raise DataError(f"USPS is one HDF5 file or two text files, got {len(files)}: {', '.join(map(str, files))}")
    source = " and ".join(map(str, files))
    values, digits, ids = [], [], []
    for part, (data, target) in parts.items():
        if data.ndim != 2 or data.shape != (len(target), _SIDE**2):
            raise DataError(f"{source}: part {part} has shape {data.shape} and {len(target)} labels")
        steps = np.rint(data * _GRID)
        if not (np.isfinite(steps).all() and steps.min() >= 0 and steps.max() <= _GRID):
            raise DataError(f"{source}: part {part} has grey values outside the expected range")
        if not set(np.unique(target)) <= set(range(10)):
            raise DataError(f"{source}: part {part} has labels other than ten digits")
        values.append(steps.astype("<u2"))
        digits += [str(int(digit)) for digit in target]
        ids += [f"{part}/{number}" for number in range(1, len(target) + 1)]
    grid = np.concatenate(values)
    check_content(grid, content_sha256, source)
    images = (grid / float(_GRID)).reshape(-1, _SIDE, _SIDE)
    return SampleSet.from_labels(ids, digits, images=images)


def _read_hdf5(path: Path) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    with open_hdf5(path) as file:
        return {
            part: (np.asarray(file[part]["data"], dtype=float), np.asarray(file[part]["target"]))
            for part in ("train", "test")
        }


def _read_text_parts(files: list[Path]) -> dict[str, tuple[np.ndarray, np.ndarray]]:
    tests = [path for path in files if ".t" in path.name]
    if len(tests) != 1:
        raise DataError(f"exactly one of {', '.join(path.name for path in files)} must be the test part (usps.t...)")
    train = next(path for path in files if path != tests[0])
    return {"train": _read_text(train), "test": _read_text(tests[0])}


def _read_text(path: Path) -> tuple[np.ndarray, np.ndarray]:
    from sklearn.datasets import load_svmlight_file

    try:
        # The suffix selects the decompression; a pixel left out of a line is 0, mid-grey.
        data, labels = load_svmlight_file(str(path), n_features=_SIDE**2)
    except Exception as error:  # of bz2, text or values, depending on where the damage is
        raise DataError(f"{path}: not readable as LIBSVM text ({error}); truncated or of another kind") from error
    return (data.toarray() + 1) / 2, labels - 1
