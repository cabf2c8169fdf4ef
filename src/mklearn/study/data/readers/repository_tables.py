"""Single tables: of the UCI repository in MATLAB files or text, and those that come with scikit-learn."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from mklearn.errors import ConfigError, DataError
from mklearn.study.data.readers.content import check_content, number_within_class, only_path
from mklearn.study.data.readers.matlab import load_mat
from mklearn.study.data.readers.tabular import whole_numbers
from mklearn.study.data.samples import SampleSet, some

BODY = 4
"""Columns age, sex, body mass index and blood pressure; the others are measurements of blood serum."""


def diabetes(paths: Mapping[str, Path] | None = None, *, target: str = "progression") -> SampleSet:
    """Read scikit-learn's 442 patients, in their own units; `paths` and `target` are ignored: there is one, no file."""
    from sklearn.datasets import load_diabetes

    data, progression = load_diabetes(return_X_y=True, scaled=False)
    ids = [f"patient-{row:03d}" for row in range(len(data))]
    tables = {"body": np.asarray(data[:, :BODY]), "serum": np.asarray(data[:, BODY:])}
    return SampleSet.from_numbers(ids, progression, tables=tables)


def linnerud(paths: Mapping[str, Path] | None = None, *, target: str = "weight") -> SampleSet:
    """Read scikit-learn's 20 men of a fitness club: pounds, inches and beats a minute; `paths` is ignored."""
    from sklearn.datasets import load_linnerud

    loaded = load_linnerud()
    ids = [f"man-{row:02d}" for row in range(len(loaded.data))]
    column = [name.lower() for name in loaded.target_names].index(target)
    return SampleSet.from_numbers(ids, loaded.target[:, column], tables={"exercise": loaded.data})


def uci(
    paths: Mapping[str, Path], *, tables: Mapping[str, Sequence[int]] | None = None,
    class_codes: Sequence[int] | None = None, content_sha256: str | None = None,
) -> SampleSet:  # fmt: skip
    """Read one file of numbers with a class for each sample: MATLAB's ``X`` (d, n) and ``Y`` (n, 1), or text.

    Parameters
    ----------
    tables : dict of str to (start, stop) or (start, stop, step), optional
        Features of each table, counted from 0 as in Python; by default one table, "features", of all.
    class_codes : sequence of int, optional
        Needed for text: the codes of the classes. The class is in the first or the last column, the one that has
        these values and no others; copies of one data set differ in that.
    content_sha256 : str, optional
        Of the features, shape (n, d), with the codes of the classes as last column, as float64.

    Returns
    -------
    SampleSet
        ids "code/k", k counting from 1 within the class; unscaled float64 tables.
    """
    path = only_path(paths, "uci")
    features, codes = _of_matlab(path) if path.suffix == ".mat" else _of_text(path, class_codes or ())
    check_content(np.column_stack([features, codes]), content_sha256, path)
    parts = tables or {"features": (0, features.shape[1])}
    chosen = {name: features[:, slice(*part)] for name, part in parts.items()}
    empty = [name for name, table in chosen.items() if table.shape[1] == 0]
    if empty:
        raise ConfigError(f"reader uci: `tables` gives {', '.join(empty)} none of the {features.shape[1]} features")
    names = [str(int(code)) for code in codes]
    try:
        return SampleSet.from_labels(number_within_class(names), names, tables=chosen)
    except DataError as error:
        raise DataError(f"{path}: {error}") from error


def uci_splits(path: Path) -> list[np.ndarray]:
    """Read the ids of the test samples of each split that a MATLAB file of this form has beside its samples.

    ``kfold`` is a cell of their positions, counted from 1; each counts once, although they were drawn with replacement.
    """
    labels, cells = load_mat(path, ("Y", "kfold"))
    ids = np.array(number_within_class(str(code) for code in whole_numbers(labels.ravel(), path, "Y")))
    positions = [np.unique(whole_numbers(np.ravel(cell), path, "kfold")) - 1 for cell in cells.ravel()]
    wrong = [position + 1 for part in positions for position in part if not 0 <= position < len(ids)]
    if wrong:
        raise DataError(
            f"{path}: kfold has the positions {some(wrong)}, but there are {len(ids)} samples (1..{len(ids)})"
        )
    return [ids[part] for part in positions]


def _of_matlab(path: Path) -> tuple[np.ndarray, np.ndarray]:
    values, labels = load_mat(path, ("X", "Y"))
    codes = whole_numbers(labels.ravel(), path, "Y")
    if values.dtype.kind not in "uif" or values.ndim != 2 or values.shape[1] != len(codes):
        raise DataError(
            f"{path}: X has shape {values.shape}; expected (features, {len(codes)}) for {len(codes)} labels"
        )
    return np.ascontiguousarray(values.T, dtype=np.float64), codes.astype(np.float64)


def _of_text(path: Path, class_codes: Sequence[int]) -> tuple[np.ndarray, np.ndarray]:
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # NumPy warns of an empty file
            values = np.loadtxt(path, delimiter=",", ndmin=2)
    except (ValueError, UnicodeDecodeError, UserWarning) as error:
        raise DataError(f"{path}: not numbers separated by commas ({error})") from error
    for column in (0, -1):
        codes = values[:, column]
        if np.array_equal(np.unique(codes), np.sort(class_codes)):
            return np.delete(values, column, axis=1), codes
    raise DataError(
        f"{path}: neither the first nor the last column has the classes {', '.join(map(str, class_codes))} and no "
        "other values"
    )
