"""Any data set from its specification: the reader is found by name, what it gives is resized, cut down and checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.datasets.registry import Source
from mklearn.datasets.samples import SampleSet, some
from mklearn.errors import ConfigError, DataError

READERS = (
    "deng_cai_mat",
    "digits",
    "feature_tables",
    "image_archive",
    "image_folder",
    "olivetti_mat",
    "precomputed",
    "usps",
)


def read_dataset(spec: Mapping[str, Any], files: Mapping[str, str | Path] | None = None) -> SampleSet:
    """Read the data set that a specification describes.

    Parameters
    ----------
    spec : dict
        As :func:`mklearn.datasets.registry.dataset_spec` makes it: ``reader``, ``options``, ``paths`` (own data),
        ``resize``, ``expected``, ``classes``, ``per_class``.
    files : dict of str to path, optional
        Where the files of a registered data set lie, by name, in any of its packagings (from
        :func:`mklearn.datasets.download.fetch_dataset`). Own data: by default ``spec["paths"]``.

    Returns
    -------
    SampleSet

    Raises
    ------
    DataError
        Files that are missing or damaged, or a data set that is not the expected one (expected and found are named).
    ConfigError
        An unknown reader, option or class.
    """
    reader = spec["reader"]
    paths = {name: Path(path) for name, path in (files if files is not None else spec.get("paths", {})).items()}
    read = _reader(reader)
    options = dict(spec.get("options") or {})
    legal = inspect.signature(read).parameters
    unknown = sorted(set(options) - set(legal))
    if unknown:
        raise ConfigError(f"reader {reader} has no option {', '.join(unknown)}; it has {', '.join(list(legal)[1:])}")
    resize = spec.get("resize")
    if resize is not None and "resize" in legal:
        samples = read(paths, **options, resize=resize)
    else:
        samples = _resized(read(paths, **options), resize)
    _check_expected(samples, spec.get("expected") or {}, ", ".join(map(str, paths.values())) or reader)
    return select(samples, spec.get("classes"), spec.get("per_class"))


def data_files(spec: Mapping[str, Any]) -> list[Path]:
    """The local files that a specification of own data reads, for a workflow to declare as inputs.

    Of an image folder, every image; registered data sets are downloaded and give an empty list.

    Raises
    ------
    DataError
        A file or folder does not exist, or is no folder of classes.
    """
    found: list[Path] = []
    for path in map(Path, spec.get("paths", {}).values()):
        if spec["reader"] == "image_folder":
            from mklearn.datasets.readers.image_folder import find_images

            found += find_images(path)
        elif path.is_file():
            found.append(path)
        else:
            raise DataError(f"{path}: no such file")
    return found


def content_check(source: Source) -> Callable[[Path], None] | None:
    """A function that raises DataError if a file is not this source's data; None where content can't be told.

    It serves to accept a file whose checksum is not listed: possible for sources of one file whose reader compares the
    decoded values with a known sha256.
    """
    if len(source.files) != 1 or not source.options.get("content_sha256"):
        return None
    name = source.files[0].name

    def check(path: Path) -> None:
        _reader(source.reader)({name: path}, **source.options)

    return check


def select(samples: SampleSet, classes: list[str] | None = None, per_class: int | None = None) -> SampleSet:
    """A part of a data set: some of the classes, the first so many samples of each.

    Parameters
    ----------
    samples : SampleSet
    classes : list of str, optional
        Names of the classes to keep; the order of the data set stays.
    per_class : int, optional
        At most this many samples per class, the first in the order of the data set.

    Raises
    ------
    ConfigError
        A class that the data set does not have.
    """
    if classes is None and per_class is None:
        return samples
    keep = np.ones(len(samples), dtype=bool)
    names = samples.classes
    if classes is not None:
        unknown = sorted(set(classes) - set(names.tolist()))
        if unknown:
            raise ConfigError(f"no class {', '.join(map(repr, unknown))} in the data set; it has {some(names, 20)}")
        keep &= np.isin(names[samples.y], classes)
    if per_class is not None:
        for code in range(samples.n_classes):
            keep[np.nonzero(samples.y == code)[0][per_class:]] = False
    rows = np.nonzero(keep)[0]
    codes, y = np.unique(samples.y[rows], return_inverse=True)
    images = samples.images
    if isinstance(images, np.ndarray):
        images = images[rows]
    elif images is not None:
        images = [images[row] for row in rows]
    return SampleSet(
        ids=samples.ids[rows],
        y=y.astype(np.int64),
        classes=names[codes],
        images=images,
        tables={name: table[rows] for name, table in samples.tables.items()},
        matrices={name: matrix[np.ix_(rows, rows)] for name, matrix in samples.matrices.items()},
        measures=samples.measures,
        notes=samples.notes,
    )


def _reader(name: str) -> Callable[..., SampleSet]:
    if name not in READERS:
        raise ConfigError(f"reader {name!r} is unknown; legal: {', '.join(READERS)}")
    return import_module(f"mklearn.datasets.readers.{name}").read


def _resized(samples: SampleSet, resize: Mapping[str, Any] | None) -> SampleSet:
    if resize is None or samples.images is None:
        return samples
    from mklearn.datasets.resizing import resize_images

    return SampleSet(
        ids=samples.ids,
        y=samples.y,
        classes=samples.classes,
        images=resize_images(samples.images, **resize),
        tables=samples.tables,
        matrices=samples.matrices,
        measures=samples.measures,
        notes=samples.notes,
    )


def _check_expected(samples: SampleSet, expected: Mapping[str, Any], source: str) -> None:
    counts = sorted(set(samples.class_counts.tolist()))
    found: dict[str, Any] = {
        "n_samples": len(samples),
        "n_classes": samples.n_classes,
        "image_shape": list(samples.image_shape or ()),
        "per_class": counts[0] if len(counts) == 1 else counts,
    }
    wrong = [f"{name}: expected {value}, got {found[name]}" for name, value in expected.items() if found[name] != value]
    if wrong:
        raise DataError(f"{source}: not the expected data set: {'; '.join(wrong)}")
