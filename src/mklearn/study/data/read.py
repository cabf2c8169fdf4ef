"""Reading of data sets from their specifications: reader, merging of classes, selection, resizing and checks.

A study can select some of the classes, and the first samples or a random draw from each class.

Seed policy: every class has its own generator, ``default_rng([crc32(id of the data set), draw, crc32(class name)])``.
It permutes the samples of the class, and the draw takes the first ones. A draw does not depend on the other selected
classes, and a draw of 15 samples is part of the draw of 30. (CRC-32 is used because Python's hash of a string differs
between runs.)
"""

from __future__ import annotations

import inspect
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd

from mklearn.errors import ConfigError, DataError, nearest
from mklearn.rows import load
from mklearn.study.data.confounding import confounding_notes
from mklearn.study.data.registry import SELECTION
from mklearn.study.data.samples import SampleSet, in_natural_order, some

Merge = Mapping[str, Sequence[str] | Literal["rest"]]
"""Merged classes by name, each with the original classes that form it; "rest" stands for all that are not listed."""


def read_dataset(spec: Mapping[str, Any], files: Mapping[str, str | Path] | None = None) -> SampleSet:
    """Read a data set by its specification (see :func:`mklearn.study.datasets.dataset_spec`).

    `files` maps names to paths: the files of a registered data set in any of its packagings. By default the paths are
    ``spec["paths"]``, as for own data. Raise DataError for a missing or damaged file, or an unexpected data set, and
    ConfigError for an unknown reader, option or class, or a class with too few samples to draw from.
    """
    paths = {name: Path(path) for name, path in (files if files is not None else spec.get("paths", {})).items()}
    read, options = load(spec["reader"]), dict(spec.get("options") or {})
    valid = inspect.signature(read).parameters
    is_open = any(each.kind is inspect.Parameter.VAR_KEYWORD for each in valid.values())
    if not is_open and (unknown := sorted(set(options) - set(valid))):
        raise ConfigError(f"reader {spec['reader']} has no option {unknown[0]}; valid: {', '.join(list(valid)[1:])}")
    source = ", ".join(map(str, paths.values())) or spec["reader"]
    expected = spec.get("expected") or {}
    samples: SampleSet = read(paths, **options)
    if "sha256" in expected:
        _check_expected({"sha256": samples.digest()}, expected, source)
    try:
        samples = _selected(samples, spec, expected, source)
    except ConfigError as error:
        raise ConfigError(f"data set {spec.get('dataset') or spec.get('registered')}: {error}") from error
    samples = _with_duplicates(samples, grouped=spec.get("duplicates") == "group")
    if "paths" in spec:  # the user's own data
        confounded = confounding_notes(samples, options.get("group_column"))
        samples = replace(samples, notes=(*samples.notes, *_replicate_notes(samples), *confounded))
    if (resize := spec.get("resize")) is not None and samples.images is not None:
        from mklearn.study.data.resizing import resize_images

        samples = replace(samples, images=resize_images(samples.images, **resize))
    tables = {name: table.shape[1] for name, table in samples.tables.items()}
    _check_expected({"image_shape": list(samples.image_shape or ()), "tables": tables}, expected, source)
    return samples


def _selected(samples: SampleSet, spec: Mapping[str, Any], expected: Mapping[str, Any], source: str) -> SampleSet:
    """Merge classes and select samples; between the two, check the sizes of the whole data set."""
    if samples.target != "classes":
        _check_expected({"n_samples": len(samples)}, expected, source)
        return samples
    rows, labels, merge = np.arange(len(samples)), samples.labels, spec.get("merge")
    if merge:
        new_names = merged_names(samples.classes.tolist(), merge)
        rows = np.flatnonzero(np.isin(labels, list(new_names)))
        labels = np.array([new_names[name] for name in labels[rows].tolist()])
    several = sorted(set(Counter(labels.tolist()).values()))
    sizes = {"n_samples": len(labels), "n_classes": len(set(labels.tolist())), "smallest_class": several[0]}
    _check_expected({**sizes, "per_class": several[0] if len(several) == 1 else several}, expected, source)
    selection = {key: spec[key] for key in SELECTION if spec.get(key) is not None}
    chosen = chosen_rows(labels, **selection, dataset=spec.get("registered", ""))
    samples = samples.subset(rows[chosen]) if merge or selection else samples
    if merge:
        groups = samples.labels if spec.get("class_groups") else samples.groups
        samples = replace(samples, labels=labels[chosen], groups=groups)
    return samples


def _check_expected(sizes: Mapping[str, Any], expected: Mapping[str, Any], source: str) -> None:
    wrong = [f"{key}: expected {expected[key]}, got {size}" for key, size in sizes.items()
             if size != expected.get(key, size)]  # fmt: skip
    if wrong:
        mistakes = "; ".join(wrong)
        raise DataError(f"{source}: not the expected data set: {mistakes}; delete the file to download it again")


def _with_duplicates(samples: SampleSet, *, grouped: bool) -> SampleSet:
    """Add a note on samples that repeat another one; with `grouped`, put equal samples into one group."""
    first = samples.first_equal()
    copies = np.flatnonzero(first != np.arange(len(first)))
    if not copies.size:
        return samples
    pairs = [f"{samples.ids[copy]} is {samples.ids[first[copy]]}" for copy in copies]
    note = f"samples that repeat another one in every view: {len(copies)}, such as {some(pairs)}"
    if wrong := samples.target == "classes" and int((samples.labels[copies] != samples.labels[first[copies]]).sum()):
        note += f"; {wrong} with another label: one of the two is wrong"
    note += ". `duplicates: group` makes them one group"
    groups = samples.groups
    if grouped:
        groups = (samples.ids if groups is None else groups).astype(object)
        for copy in copies:
            groups[groups == groups[copy]] = groups[first[copy]]
    return replace(samples, notes=(*samples.notes, note), groups=groups)


def _replicate_notes(samples: SampleSet) -> Iterator[str]:
    """Yield a note if at least half of the samples have ids as S12_a and S12_b, equal targets, and no groups."""
    stems = pd.Series(samples.ids).str.extract(r"(?i)^(.+)[_.-](?:[a-z]|[a-z]{0,3}\d)$", expand=False)
    stems = stems[stems.notna() & stems.duplicated(keep=False)]
    is_class = stems.nunique() <= len(samples.classes) or pd.Series(samples.labels).groupby(stems).nunique().max() > 1
    if samples.groups is None and 2 * len(stems) >= len(samples) and not is_class:
        pair = ", ".join(samples.ids[stems.index[stems == stems.iloc[0]]][:2])
        start = f"{len(stems)} samples look like replicates of {stems.nunique()} ({pair})"
        yield f"{start}: give a group_column, so that splits hold them out together"


def labels_table(samples: SampleSet) -> pd.DataFrame:
    """Return ``id`` and ``y`` (class code or number); if any, ``label``, ``group``, and the attr ``without_target``."""
    table = pd.DataFrame({"id": samples.ids, "y": samples.y})
    table.attrs |= {"without_target": list(samples.without_target)} if samples.without_target else {}
    if samples.target == "classes":
        table["label"] = samples.labels
    if samples.groups is not None:
        table["group"] = samples.groups
    return table


def chosen_rows(
    labels: np.ndarray, *, classes: Sequence[str] | None = None, exclude_classes: Sequence[str] = (),
    first_classes: int | None = None, per_class: int | None = None, draw: int | None = None, dataset: str = "",
) -> np.ndarray:  # fmt: skip
    """Return the positions of the selected samples, ascending.

    Classes are restricted to `classes`, then `exclude_classes` are removed, then the first `first_classes` are kept.
    Each class keeps its first `per_class` samples, or all if it has fewer. With `draw`, the number of the draw from 0,
    the samples are random; `dataset` is the id in the registry that seeds the draw. Raise ConfigError for an unknown
    class, fewer classes than requested, or a class with too few samples for the draw.
    """
    names = in_natural_order(labels)
    _check_classes("classes", classes or (), names)
    _check_classes("exclude_classes", exclude_classes, names)
    kept = [name for name in names if (classes is None or name in classes) and name not in exclude_classes]
    if len(kept) < max(2, first_classes or 0):
        raise ConfigError(
            f"classes, exclude_classes: {len(kept)} of {len(names)} classes remain; expected at least "
            f"{max(2, first_classes or 0)}"
        )
    of_class = {name: np.flatnonzero(labels == name) for name in kept[:first_classes]}
    if draw is not None:
        short = [f"{name!r} ({len(rows)})" for name, rows in of_class.items() if len(rows) < (per_class or 0)]
        if short or per_class is None:
            raise ConfigError(
                f"per_class: {per_class} samples can't be drawn of {', '.join(short) or 'each class'}; "
                "lower per_class or put these classes into exclude_classes"
            )
        for name, rows in of_class.items():
            rng = np.random.default_rng([zlib.crc32(dataset.encode()), draw, zlib.crc32(name.encode())])
            of_class[name] = rows[rng.permutation(len(rows))]
    return np.sort(np.concatenate([rows[:per_class] for rows in of_class.values()])).astype(np.int64)


def merged_names(names: Sequence[str], merge: Merge) -> dict[str, str]:
    """Return the merged class of each original class, in the order of `names`; omit classes that are not merged.

    Raise ConfigError for an original class that the data set does not have, or if no class is left for "rest".
    """
    named = {name: new for new, old in merge.items() if old != "rest" for name in old}
    _check_classes("merge", named, names)
    rest = next((new for new, old in merge.items() if old == "rest"), None)
    if rest is not None and len(named) == len(names):
        raise ConfigError(f"merge: no class is left for {rest!r}: the others name all {len(names)} of them")
    return {name: new for name in names if (new := named.get(name, rest)) is not None}


def _check_classes(key: str, listed: Iterable[str], names: Sequence[str]) -> None:
    unknown = sorted(set(listed) - set(names))
    if unknown:
        raise ConfigError(
            f"{key}: no class {some(unknown)} in the data set.{nearest(unknown, names)} It has {some(names, 20)}"
        )
