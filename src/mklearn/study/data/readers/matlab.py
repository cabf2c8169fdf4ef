"""Registered data sets in MATLAB files: images in rows, tables of the UCI repository, and cells of views."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.errors import ConfigError, DataError
from mklearn.study.data.readers.content import check_content, number_within_class, only_path
from mklearn.study.data.readers.tables import matlab_variables, readable, whole_numbers
from mklearn.study.data.samples import SampleSet, some

_PER_PERSON, _SIDE = 10, 64


def load_mat(path: Path, *alternatives: tuple[str, ...]) -> list[Any]:
    """Read variables of a MATLAB file: of `alternatives` the first that it has completely."""
    variables = matlab_variables(path)
    for names in alternatives:
        if all(name in variables for name in names):
            return [variables[name] for name in names]
    expected = ", or ".join(" and ".join(names) for names in alternatives)
    raise DataError(f"{path}: has the variables {some(list(variables))}; expected {expected}")


def deng_cai(
    paths: Mapping[str, Path], *, shape: Sequence[int] = (32, 32), content_sha256: str | None = None
) -> SampleSet:
    """Read ``fea`` (n, rows * cols), whose rows are images in column-major order, and ``gnd`` (n, 1).

    Some files have the names ``X`` and ``Y``. ``content_sha256`` is that of ``fea``, as uint8 if all its values are
    integers in 0..255 and as float64 otherwise. Ids are "label/k", k counting from 1 within the class.
    """
    path = only_path(paths)
    values, labels = load_mat(path, ("fea", "gnd"), ("X", "Y"))
    return _images_in_rows(values, whole_numbers(labels, path, "labels"), shape, content_sha256, path)


def olivetti(paths: Mapping[str, Path], *, content_sha256: str | None = None) -> SampleSet:
    """Read ``faces`` (4096, 400), a column-major 64 x 64 image per column.

    Ids are "person/k", both counting from 1: the file has no labels, and every ten consecutive images show one person.
    """
    path = only_path(paths)
    (faces,) = load_mat(path, ("faces",))
    people = 1 + np.arange(faces.shape[-1]) // _PER_PERSON
    return _images_in_rows(faces.T, people, (_SIDE, _SIDE), content_sha256, path, order="F")


def _images_in_rows(
    values: np.ndarray, labels: np.ndarray, shape: Sequence[int], content_sha256: str | None, path: Path,
    order: str = "C",
) -> SampleSet:  # fmt: skip
    """Return the images in the rows of a matrix, each in column-major order."""
    rows, cols = shape
    if values.shape != (len(labels), rows * cols):
        raise DataError(
            f"{path}: the images have shape {values.shape}; expected ({len(labels)}, {rows * cols}) for "
            f"{len(labels)} labels and images of {rows} x {cols}"
        )
    is_8_bit = values.min() >= 0 and values.max() <= 255 and not np.mod(values, 1).any()
    values = values.astype(np.uint8 if is_8_bit else np.float64)
    check_content(values.T if order == "F" else values, content_sha256, path)
    images = np.ascontiguousarray(values.reshape(-1, cols, rows).transpose(0, 2, 1))
    names = [str(label) for label in labels]
    return SampleSet(number_within_class(names), np.array(names), images=images)


def uci(
    paths: Mapping[str, Path], *, tables: Mapping[str, Sequence[int]] | None = None,
    class_codes: Sequence[int] = (), content_sha256: str | None = None,
) -> SampleSet:  # fmt: skip
    """Read one file of numbers with a class for each sample: MATLAB's ``X`` (d, n) and ``Y`` (n, 1), or text.

    Features of each of the `tables` are a slice of all; by default one table, "features", has all. In text the column
    with the `class_codes` is the first or the last one: copies differ in that. ``content_sha256`` is that of the
    features, shape (n, d), with the codes as last column, as float64. Ids are "code/k", k counting from 1 within the
    class.
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
    if len(features) != len(codes):
        raise DataError(f"{path}: {len(features)} samples but {len(codes)} labels")
    check_content(np.column_stack([features, codes]), content_sha256, path)
    parts = tables or {"features": (0, features.shape[1])}
    chosen = {name: np.ascontiguousarray(features[:, slice(*part)]) for name, part in parts.items()}
    if empty := [name for name, table in chosen.items() if table.shape[1] == 0]:
        raise ConfigError(f"reader uci: `tables` gives {', '.join(empty)} none of the {features.shape[1]} features")
    names = [str(int(code)) for code in codes]
    return SampleSet(number_within_class(names), np.array(names), tables=chosen)


def uci_splits(path: Path, ids: np.ndarray) -> list[np.ndarray]:
    """Read the ids of the test samples of each split that a MATLAB file of this form has beside its samples.

    ``kfold`` is a cell of their positions, counted from 1; each counts once, although they were drawn with replacement.
    The `ids` of the data set are not used: a study may take a part of the file.
    """
    labels, cells = load_mat(path, ("Y", "kfold"))
    every = number_within_class(str(code) for code in whole_numbers(labels, path, "Y"))
    positions = [np.unique(whole_numbers(np.ravel(cell), path, "kfold")) - 1 for cell in cells]
    if any(part.min() < 0 or part.max() >= len(every) for part in positions):
        raise DataError(f"{path}: kfold has other positions than 1 to {len(every)}, the number of samples")
    return [every[part] for part in positions]


def views(
    paths: Mapping[str, Path], *, tables: Sequence[str], classes: Sequence[str] | None = None, sample: str = "",
    parts: Mapping[str, int] | None = None,
) -> SampleSet:  # fmt: skip
    """Read a cell ``X`` of one matrix (n, d) for each of the `tables`, unscaled, and the codes ``y``, from 1.

    Ids are `sample` before the row from 0. They begin with the part of the published split, ``train/s1``, if `parts`
    has the number of samples of each.
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
