"""Handwritten digits: those of scikit-learn, MNIST in IDX files, and USPS in either packaging."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mklearn.atomic import existing_file
from mklearn.errors import DataError
from mklearn.extras import require
from mklearn.study.data.readers.content import check_content
from mklearn.study.data.readers.tables import readable
from mklearn.study.data.samples import SampleSet

_IDX_OF_BYTES = 0x800
_USPS_SIDE, _USPS_GRID = 16, 2000
Part = tuple[np.ndarray, np.ndarray]


def sklearn_digits(paths: Mapping[str, Path] | None = None) -> SampleSet:
    """Read the 1797 digits of 8 x 8 pixels in 0..16 that come with scikit-learn; `paths` is ignored."""
    from sklearn.datasets import load_digits

    data = load_digits()
    ids = np.arange(1, len(data.target) + 1).astype(str)
    return SampleSet(ids, data.target.astype(str), images=data.images.astype(np.uint8))


def mnist(paths: Mapping[str, Path], *, content_sha256: str | None = None) -> SampleSet:
    """Read the training and the test part of MNIST from its four files by name.

    ``content_sha256`` is that of the pixels, (n, rows, columns) bytes, training part first. Ids are "train/1", ...,
    "test/1", ..., classes "0" ... "9".
    """
    parts: dict[str, Part] = {}
    for begin, part in {"train": "train", "t10k": "test"}.items():
        pixels, digits = (_idx(paths, f"{begin}-{name}", axes) for name, axes in (("images", 3), ("labels", 1)))
        if len(pixels) != len(digits) or any(pixels.shape[1:] != images.shape[1:] for images, _ in parts.values()):
            raise DataError(f"part {part} has images of shape {pixels.shape} and {len(digits)} labels")
        parts[part] = pixels, digits
    images = np.concatenate([pixels for pixels, _ in parts.values()])
    check_content(images, content_sha256, " and ".join(map(str, paths.values())))
    return _in_parts(parts, images)


def usps(paths: Mapping[str, Path], *, content_sha256: str | None = None) -> SampleSet:
    """Read the training and test parts, whose values times 2000, (n, 256) little-endian uint16, have the sha256.

    The files are one HDF5 file with groups train and test, each with data (n, 256) in [0, 1] and target 0..9; or the
    two text files usps.bz2 and usps.t.bz2 of LIBSVM, compressed or not, with grey values v in [-1, 1] of three decimals
    and labels 1..10 of the digits 0..9. (v + 1) / 2 is returned. Both packagings are rounded to that grid, multiples of
    1/2000, and give bitwise equal samples (the HDF5 file is in single precision). Ids are "train/1", ..., and images
    (n, 16, 16) float64 in [0, 1], ink bright.
    """
    files = [existing_file(path) for path in paths.values()]
    if len(files) not in (1, 2):
        raise DataError(f"USPS is one HDF5 file or two text files, got {len(files)}: {', '.join(map(str, files))}")
    parts = _usps_hdf5(files[0]) if len(files) == 1 else _usps_texts(files)
    source, values = " and ".join(map(str, files)), []
    for part, (data, target) in parts.items():
        if data.ndim != 2 or data.shape != (len(target), _USPS_SIDE**2):
            raise DataError(f"{source}: part {part} has shape {data.shape} and {len(target)} labels")
        steps = np.rint(data * _USPS_GRID)
        if not (np.isfinite(steps).all() and steps.min() >= 0 and steps.max() <= _USPS_GRID):
            raise DataError(f"{source}: part {part} has grey values outside the expected range")
        if not set(np.unique(target)) <= set(range(10)):
            raise DataError(f"{source}: part {part} has labels other than ten digits")
        values.append(steps.astype("<u2"))
    grid = np.concatenate(values)
    check_content(grid, content_sha256, source)
    return _in_parts(parts, (grid / float(_USPS_GRID)).reshape(-1, _USPS_SIDE, _USPS_SIDE))


def _in_parts(parts: Mapping[str, Part], images: np.ndarray) -> SampleSet:
    ids = [f"{part}/{number}" for part, (_, digits) in parts.items() for number in range(1, len(digits) + 1)]
    labels = [str(int(digit)) for _, digits in parts.values() for digit in digits]
    return SampleSet(np.array(ids), np.array(labels), images=images)


def _idx(paths: Mapping[str, Path], begin: str, n_axes: int) -> np.ndarray:
    """Read the array of bytes whose file's name begins so; its header says how many there are."""
    files = [path for name, path in paths.items() if name.startswith(begin)]
    if len(files) != 1:
        raise DataError(f"MNIST is four files; of {begin}... there are {len(files)} among {', '.join(paths)}")
    with readable(existing_file(files[0])), gzip.open(files[0]) as stream:
        magic, *shape = np.frombuffer(stream.read(4 * (1 + n_axes)), dtype=">u4").tolist()
        if magic != _IDX_OF_BYTES + n_axes:
            raise DataError(f"{files[0]}: not an IDX file of bytes with {n_axes} axes")
        return np.frombuffer(stream.read(), dtype=np.uint8).reshape(shape)


def _usps_hdf5(path: Path) -> dict[str, Part]:
    require("h5py")
    with readable(path):
        import h5py

        with h5py.File(path) as file:
            return {
                part: (np.asarray(file[part]["data"], dtype=float), np.asarray(file[part]["target"]))
                for part in ("train", "test")
            }


def _usps_texts(files: Sequence[Path]) -> dict[str, Part]:
    from sklearn.datasets import load_svmlight_file

    ordered = sorted(files, key=lambda path: ".t" in path.name)
    if [".t" in path.name for path in ordered] != [False, True]:
        raise DataError(f"exactly one of {', '.join(path.name for path in files)} must be the test part (usps.t...)")
    parts = {}
    for part, path in zip(("train", "test"), ordered, strict=True):
        with readable(path):  # the suffix selects the decompression; a pixel left out of a line is 0, mid-grey
            data, labels = load_svmlight_file(str(path), n_features=_USPS_SIDE**2)
        parts[part] = (data.toarray() + 1) / 2, labels - 1
    return parts
