"""Reading of any data set from its specification: the named reader, then resizing, selection and checks."""

from __future__ import annotations

import inspect
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from mklearn.errors import ConfigError, DataError
from mklearn.rows import load
from mklearn.study.data.registry import SELECTION
from mklearn.study.data.samples import SampleSet, encode_labels, target_of
from mklearn.study.data.selection import chosen_rows, merge_classes, merged_names


def labels_table(samples: SampleSet) -> pd.DataFrame:
    """Return ids, class codes and names of classes, or numbers, and the groups where samples have one."""
    table = pd.DataFrame({"id": samples.ids, "y": samples.y})
    if samples.target == "classes":
        table["label"] = samples.classes[samples.y]
    if samples.groups is not None:
        table["group"] = samples.groups
    return table


def read_dataset(spec: Mapping[str, Any], files: Mapping[str, str | Path] | None = None) -> SampleSet:
    """Read the data set of a specification, which :func:`mklearn.study.datasets.dataset_spec` makes.

    `files` are the paths of the files of a registered data set by name, in any of its packagings; by default
    ``spec["paths"]``, those of own data. Raise DataError for missing or damaged files, or a data set that is not the
    expected one, and ConfigError for an unknown reader, option or class, or a class with too few samples to draw from.
    """
    paths = {name: Path(path) for name, path in (files if files is not None else spec.get("paths", {})).items()}
    read, options = load(spec["reader"]), dict(spec.get("options") or {})
    valid = inspect.signature(read).parameters
    is_open = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in valid.values())
    if not is_open and (unknown := sorted(set(options) - set(valid))):
        raise ConfigError(f"reader {spec['reader']} has no option {unknown[0]}; valid: {', '.join(list(valid)[1:])}")
    source = ", ".join(map(str, paths.values())) or spec["reader"]
    expected = spec.get("expected") or {}
    selection = {key: spec[key] for key in SELECTION if spec.get(key) is not None}
    new_names: dict[str, str] = {}

    def choose(y: np.ndarray, classes: np.ndarray) -> np.ndarray:
        """Find the positions of the selected samples; what is expected of labels concerns the whole data set."""
        kept = np.arange(len(y))
        if target_of(y) == "numbers":
            _check_expected({"n_samples": len(y)}, expected, source)
            return kept
        try:
            if spec.get("merge"):
                new_names.update(merged_names(classes, spec["merge"]))
                kept = np.flatnonzero(np.isin(classes[y], list(new_names)))
                y, classes = encode_labels([new_names[name] for name in classes[y[kept]].tolist()])
            several = sorted(set(np.bincount(y, minlength=len(classes)).tolist()))
            sizes = {"n_samples": len(y), "n_classes": len(classes), "smallest_class": several[0]}
            per_class = several[0] if len(several) == 1 else several
            _check_expected({**sizes, "per_class": per_class}, expected, source)
            return kept[chosen_rows(y, classes, **selection, dataset=spec.get("registered", ""))]
        except ConfigError as error:
            raise ConfigError(f"data set {spec.get('dataset') or spec.get('registered')}: {error}") from error

    if "choose" in valid:  # a reader of large data sets decodes the selected samples only
        samples: SampleSet = read(paths, **options, choose=choose)
    else:
        samples = read(paths, **options)
        rows = choose(samples.y, samples.classes)
        samples = samples.subset(rows) if selection or new_names else samples
    if new_names:
        samples = merge_classes(samples, new_names)
    if spec.get("resize") is not None and samples.images is not None:
        from mklearn.study.data.resizing import resize_images

        samples = replace(samples, images=resize_images(samples.images, **spec["resize"]))
    samples = _with_duplicates(samples, grouped=spec.get("duplicates") == "group")
    tables = {name: table.shape[1] for name, table in samples.tables.items()}
    _check_expected({"image_shape": list(samples.image_shape or ()), "tables": tables}, expected, source)
    return samples


def _with_duplicates(samples: SampleSet, *, grouped: bool) -> SampleSet:
    """Return samples with a note on those that repeat another one, and such pairs in one group, if they are to be."""
    first = samples.first_equal()
    copies = np.flatnonzero(first != np.arange(len(first)))
    if not copies.size:
        return samples
    pairs = "; ".join(f"{str(samples.ids[k])!r} is {str(samples.ids[first[k]])!r}" for k in copies[:5])
    what = "1 sample repeats another one" if copies.size == 1 else f"{copies.size} samples repeat another one"
    done = "are one group" if grouped else "can be one group"
    note = f"{what} in every view ({pairs}{'; ...' if copies.size > 5 else ''}). They {done} (duplicates: group)"
    groups = samples.groups
    if grouped:
        groups = (samples.ids if groups is None else groups).astype(object)
        for copy in copies:
            groups[groups == groups[copy]] = groups[first[copy]]
    return replace(samples, notes=(*samples.notes, note), groups=groups)


def _check_expected(found: Mapping[str, Any], expected: Mapping[str, Any], source: str) -> None:
    wrong = [f"{key}: expected {expected[key]}, got {value}" for key, value in found.items()
             if value != expected.get(key, value)]  # fmt: skip
    if wrong:
        raise DataError(f"{source}: not the expected data set: {'; '.join(wrong)}")
