"""Readers of registered data sets: digits, images in MATLAB files, tables of the UCI repository, cells of views."""

from __future__ import annotations

import gzip
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.atomic import existing_file
from mklearn.errors import ConfigError, DataError
from mklearn.extras import require
from mklearn.study.data.readers.frames import readable
from mklearn.study.data.readers.tables import matlab_variables, whole_numbers
from mklearn.study.data.samples import SampleSet, some

_PER_PERSON, _SIDE = 10, 64
_IDX_OF_BYTES = 0x800
_USPS_SIDE, _USPS_GRID = 16, 2000
Part = tuple[np.ndarray, np.ndarray]


def only_path(paths: Mapping[str, Path]) -> Path:
    """Return the path of the only file; raise DataError if there is not exactly one."""
    if len(paths) != 1:
        raise DataError(f"the reader takes one file, got {len(paths)}: {', '.join(map(str, paths.values()))}")
    return existing_file(next(iter(paths.values())))


def number_within_class(labels: Sequence[str]) -> np.ndarray:
    """Build ids "label/k", with k = 1, 2, ... in the order of appearance within the class."""
    names = pd.Series(labels, dtype=str)
    return (names + "/" + (names.groupby(names).cumcount() + 1).astype(str)).to_numpy(dtype=str)


# --- released splits


def published_test_part(path: Path, ids: np.ndarray) -> list[np.ndarray]:
    """Return the ids that begin with "test/", as the only split. `path` is ignored."""
    test = np.char.startswith(ids, "test/")
    if test.all() or not test.any():
        raise ConfigError(
            f"protocol released: all {len(ids)} samples are of the {'test' if test.any() else 'training'} part of the "
            "data set; `per_class` takes the first samples of a class: draw them at random, with `draw: 0`"
        )
    return [ids[test]]


def published_folds(path: Path, ids: np.ndarray) -> list[np.ndarray]:
    """Return the ids of the samples of each fold, by the column ``fold`` of the table of samples in `path`."""
    frame = pd.read_csv(path, dtype={"id": str})
    folds = [frame.loc[frame["fold"].eq(number), "id"] for number in sorted(frame["fold"].unique())]
    return [ids[np.isin(ids, fold.to_numpy(dtype=str))] for fold in folds]


def uci_splits(path: Path, ids: np.ndarray) -> list[np.ndarray]:
    """Read the ids of the test samples of each split in a MATLAB file of F-SVM (see :func:`uci`).

    The variable ``kfold`` is a cell of positions, counted from 1. They were drawn with replacement; repetitions are
    dropped. `ids` is ignored, because a study may select a part of the file.
    """
    labels, cells = load_mat(path, ("Y", "kfold"))
    every = number_within_class([str(code) for code in whole_numbers(labels, path, "Y")])
    positions = [np.unique(whole_numbers(np.ravel(cell), path, "kfold")) - 1 for cell in cells]
    if any(part.min() < 0 or part.max() >= len(every) for part in positions):
        raise DataError(f"{path}: kfold has positions outside 1 to {len(every)}, the number of samples")
    return [every[part] for part in positions]


# --- digits


def sklearn_digits(paths: Mapping[str, Path] | None = None) -> SampleSet:
    """Read the 1797 digits of scikit-learn, 8 x 8 pixels in 0..16. `paths` is ignored."""
    from sklearn.datasets import load_digits

    data = load_digits()
    ids = np.arange(1, len(data.target) + 1).astype(str)
    return SampleSet(ids, data.target.astype(str), images=data.images.astype(np.uint8))


def mnist(paths: Mapping[str, Path]) -> SampleSet:
    """Read the training and test parts of MNIST from its four files, which are recognised by name.

    Ids are "train/1", ..., "test/1", ...; classes are "0" to "9".
    """
    parts: dict[str, Part] = {}
    for begin, part in {"train": "train", "t10k": "test"}.items():
        parts[part] = _idx(paths, f"{begin}-images", 3), _idx(paths, f"{begin}-labels", 1)
    return _in_parts(parts, np.concatenate([pixels for pixels, _ in parts.values()]))


def usps(paths: Mapping[str, Path]) -> SampleSet:
    """Read the training and test parts of USPS from one HDF5 file or two text files.

    The HDF5 file has groups train and test, each with data (n, 256) in [0, 1] and target 0..9. The text files are
    usps.bz2 and usps.t.bz2 of LIBSVM, compressed or not, with grey values v in [-1, 1] of three decimals, mapped to
    (v + 1) / 2, and labels 1..10 for the digits 0..9. Values are rounded to multiples of 1/2000, so that both
    packagings give bitwise equal samples (the HDF5 file is in single precision). Ids are "train/1", ..., "test/1", ...;
    images are (n, 16, 16) float64 in [0, 1], with bright ink.
    """
    files = [existing_file(path) for path in paths.values()]
    parts = _usps_hdf5(files[0]) if len(files) == 1 else _usps_texts(files)
    pixels = np.rint(np.concatenate([data for data, _ in parts.values()]) * _USPS_GRID) / _USPS_GRID
    return _in_parts(parts, pixels.reshape(-1, _USPS_SIDE, _USPS_SIDE))


def _in_parts(parts: Mapping[str, Part], images: np.ndarray) -> SampleSet:
    ids = [f"{part}/{number}" for part, (_, digits) in parts.items() for number in range(1, len(digits) + 1)]
    labels = [str(int(digit)) for _, digits in parts.values() for digit in digits]
    return SampleSet(np.array(ids), np.array(labels), images=images)


def _idx(paths: Mapping[str, Path], begin: str, n_axes: int) -> np.ndarray:
    """Read the IDX file whose name starts with `begin`, an array of bytes with `n_axes` axes."""
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

    parts = {}
    for part, path in zip(("train", "test"), sorted(files, key=lambda path: ".t" in path.name), strict=True):
        with readable(path):  # the suffix selects the decompression; omitted pixels are 0, mid-grey
            data, labels = load_svmlight_file(str(path), n_features=_USPS_SIDE**2)
        parts[part] = (data.toarray() + 1) / 2, labels - 1
    return parts


# --- MATLAB files


def load_mat(path: Path, *alternatives: tuple[str, ...]) -> list[Any]:
    """Read the first group of `alternatives` whose variables are all in a MATLAB file; DataError if there is none."""
    variables = matlab_variables(path)
    for names in alternatives:
        if all(name in variables for name in names):
            return [variables[name] for name in names]
    expected = ", or ".join(" and ".join(names) for names in alternatives)
    raise DataError(f"{path}: has the variables {some(list(variables))}; expected {expected}")


def deng_cai(paths: Mapping[str, Path], *, shape: Sequence[int] = (32, 32)) -> SampleSet:
    """Read ``fea`` (n, rows * cols), whose rows are images in column-major order, and ``gnd`` (n, 1).

    ``X`` and ``Y`` are accepted as names too. Ids are "label/k", with k counted from 1 within the class.
    """
    path = only_path(paths)
    values, labels = load_mat(path, ("fea", "gnd"), ("X", "Y"))
    return _images_in_rows(values, whole_numbers(labels, path, "labels"), shape, path)


def olivetti(paths: Mapping[str, Path]) -> SampleSet:
    """Read ``faces`` (4096, 400), with a column-major 64 x 64 image in each column.

    The file has no labels: every ten consecutive images show one person. Ids are "person/k", both counted from 1.
    """
    path = only_path(paths)
    (faces,) = load_mat(path, ("faces",))
    people = 1 + np.arange(faces.shape[-1]) // _PER_PERSON
    return _images_in_rows(faces.T, people, (_SIDE, _SIDE), path)


def _images_in_rows(values: np.ndarray, labels: np.ndarray, shape: Sequence[int], path: Path) -> SampleSet:
    """Convert the rows of a matrix, each an image in column-major order, to a sample set."""
    rows, cols = shape
    if values.shape != (len(labels), rows * cols):
        raise DataError(
            f"{path}: the images have shape {values.shape}; expected ({len(labels)}, {rows * cols}) for "
            f"{len(labels)} labels and images of {rows} x {cols}"
        )
    is_8_bit = values.min() >= 0 and values.max() <= 255 and not np.mod(values, 1).any()
    values = values.astype(np.uint8 if is_8_bit else np.float64)
    images = np.ascontiguousarray(values.reshape(-1, cols, rows).transpose(0, 2, 1))
    names = [str(label) for label in labels]
    return SampleSet(number_within_class(names), np.array(names), images=images)


def uci(
    paths: Mapping[str, Path], *, tables: Mapping[str, Sequence[int]] | None = None, class_codes: Sequence[int] = ()
) -> SampleSet:
    """Read one file of features and class codes: MATLAB with ``X`` (d, n) and ``Y`` (n, 1), or comma-separated text.

    `tables` gives each table a range (start, stop) of the features; by default one table, "features", has all of them.
    In text, the class codes are in the first or the last column (copies differ); it is the column whose values are the
    `class_codes`. Ids are "code/k", with k counted from 1 within the class.
    """
    path = only_path(paths)
    if path.suffix == ".mat":
        values, labels = load_mat(path, ("X", "Y"))
        features, codes = values.T.astype(np.float64), whole_numbers(labels, path, "Y")
    else:
        with readable(path):
            text = np.loadtxt(path, delimiter=",", ndmin=2)
        columns = [column for column in (0, -1) if set(text[:, column]) == set(class_codes)]
        if not columns:
            raise DataError(f"{path}: neither the first nor the last column has the classes {some(class_codes)} alone")
        features, codes = np.delete(text, columns[0], axis=1), text[:, columns[0]]
    parts = tables or {"features": (0, features.shape[1])}
    chosen = {name: np.ascontiguousarray(features[:, slice(*part)]) for name, part in parts.items()}
    names = [str(int(code)) for code in codes]
    return SampleSet(number_within_class(names), np.array(names), tables=chosen)


def views(
    paths: Mapping[str, Path], *, tables: Sequence[str], classes: Sequence[str] | None = None, sample: str = "",
    parts: Mapping[str, int] | None = None,
) -> SampleSet:  # fmt: skip
    """Read a cell ``X`` with one matrix (n, d) for each of the `tables`, and the class codes ``y``, counted from 1.

    Features are not scaled. Ids are `sample` followed by the row, counted from 0. If `parts` gives the number of
    samples of each part of the published split, ids begin with the part: ``train/s1``.
    """
    path = only_path(paths)
    cells, codes = load_mat(path, ("X", "y"))
    target = whole_numbers(codes, path, "y")
    n = len(target)
    shapes = [np.shape(view) for view in cells]
    if len(shapes) != len(tables) or any(len(shape) != 2 or shape[0] != n for shape in shapes):
        raise DataError(f"{path}: X has views of shapes {some(shapes, 20)}; expected {len(tables)} of {n} rows")
    names = list(classes) if classes is not None else [str(code) for code in range(1, int(target.max()) + 1)]
    if target.min() < 1 or target.max() > len(names):
        raise DataError(f"{path}: y has the codes {target.min()} to {target.max()}; expected 1 to {len(names)}")
    if parts and sum(parts.values()) != n:
        raise DataError(f"{path}: {n} samples; expected {' + '.join(map(str, parts.values()))}")
    begins = np.repeat([f"{part}/" for part in parts], list(parts.values())) if parts else [""] * n
    ids = [f"{begin}{sample}{row:0{len(str(n - 1))}d}" for row, begin in enumerate(begins)]
    by_name = {name: np.asarray(view, dtype=np.float64) for name, view in zip(tables, cells, strict=True)}
    return SampleSet(np.array(ids), np.array(names)[target - 1], tables=by_name)
