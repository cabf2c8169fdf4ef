"""Any data set from its specification: the reader is found by name, what it gives is resized, cut down and checked."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from dataclasses import replace
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from mklearn.contract.loading import load
from mklearn.datasets.registry import SELECTION, Source
from mklearn.datasets.samples import SampleSet
from mklearn.datasets.selection import chosen_rows
from mklearn.errors import ConfigError, DataError

READERS = (
    "deng_cai_mat",
    "digits",
    "feature_tables",
    "image_archive",
    "image_folder",
    "nested_archive",
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
        ``resize``, ``expected``, ``registered`` (id), and the keys of
        :func:`mklearn.datasets.selection.chosen_rows` that choose some of the samples.
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
        An unknown reader, option or class; a class with too few samples to draw from.
    """
    reader = spec["reader"]
    paths = {name: Path(path) for name, path in (files if files is not None else spec.get("paths", {})).items()}
    read = _reader(reader)
    options = dict(spec.get("options") or {})
    legal = inspect.signature(read).parameters
    unknown = sorted(set(options) - set(legal))
    if unknown:
        raise ConfigError(f"reader {reader} has no option {', '.join(unknown)}; it has {', '.join(list(legal)[1:])}")
    source = ", ".join(map(str, paths.values())) or reader
    expected = spec.get("expected") or {}
    wanted = {key: spec[key] for key in SELECTION if spec.get(key) is not None}

    def choose(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Positions of the samples wanted; what is expected of the labels is expected of the whole data set."""
        _check_expected(_counts(y, classes), expected, source)
        try:
            return chosen_rows(y, classes, **wanted, dataset=spec.get("registered", ""))
        except ConfigError as error:
            raise ConfigError(f"data set {spec.get('dataset') or spec.get('registered')}: {error}") from error

    resize = spec.get("resize")
    while_reading: dict[str, Any] = {"resize": resize} if resize is not None and "resize" in legal else {}
    if "choose" in legal:  # a large data set: only the samples wanted are decoded
        while_reading["choose"] = choose
    samples = read(paths, **options, **while_reading)
    if "choose" not in while_reading:
        rows = choose(samples.y, samples.classes)
        samples = samples.subset(rows) if wanted else samples
    if "resize" not in while_reading:
        samples = _resized(samples, resize)
    _check_expected({"image_shape": list(samples.image_shape or ())}, expected, source)
    return samples


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


def _reader(name: str) -> Callable[..., SampleSet]:
    if ":" in name:  # of another package
        return load(name)
    if name not in READERS:
        raise ConfigError(f"reader {name!r} is unknown; legal: {', '.join(READERS)}")
    return import_module(f"mklearn.datasets.readers.{name}").read


def _resized(samples: SampleSet, resize: Mapping[str, Any] | None) -> SampleSet:
    if resize is None or samples.images is None:
        return samples
    from mklearn.datasets.resizing import resize_images

    return replace(samples, images=resize_images(samples.images, **resize))


def _counts(y: np.ndarray, classes: np.ndarray) -> dict[str, Any]:
    """What a registry entry may expect of the labels."""
    counts = np.bincount(y, minlength=len(classes))
    several = sorted(set(counts.tolist()))
    return {
        "n_samples": len(y),
        "n_classes": len(classes),
        "per_class": several[0] if len(several) == 1 else several,
        "smallest_class": int(counts.min()),
    }


def _check_expected(found: Mapping[str, Any], expected: Mapping[str, Any], source: str) -> None:
    """Compare what was found with what is expected of it."""
    wrong = [f"{name}: expected {expected[name]}, got {value}" for name, value in found.items()
             if name in expected and value != expected[name]]  # fmt: skip
    if wrong:
        raise DataError(f"{source}: not the expected data set: {'; '.join(wrong)}")
