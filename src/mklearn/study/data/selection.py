"""Selection of samples and merging of classes, by the labels alone: a reader can select before it decodes an image.

Samples are those of some of the classes, and of each class the first ones or a random draw.

Seed policy: every class has its own generator, ``default_rng([crc32(data set's id), draw, crc32(class name)])``. It
permutes the samples of the class, and the first of them are the draw. A draw thus depends on these three only, not on
the other selected classes, and a draw of 15 samples is part of the draw of 30. (CRC-32, because Python's own hash
differs from run to run.)
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from mklearn.errors import ConfigError, nearest
from mklearn.study.data.samples import SampleSet, encode_labels, some

Merge = Mapping[str, Sequence[str] | Literal["rest"]]
"""Original classes by the name of the class that they become; "rest": all that no other class names."""


def chosen_rows(
    y: np.ndarray, names: np.ndarray, *, classes: Sequence[str] | None = None,
    exclude_classes: Sequence[str] | None = None, first_classes: int | None = None, per_class: int | None = None,
    draw: int | None = None, dataset: str = "",
) -> np.ndarray:  # fmt: skip
    """Return the positions of the selected samples, ascending; `names` are those of the classes.

    Of the classes that remain of `classes` without `exclude_classes`, keep the first ones, and of each the first
    samples, of smaller classes all; with `draw`, its number from 0, random ones of the data set with the id `dataset`
    in the registry. Raise ConfigError for an unknown class, fewer classes than requested, or a class with too few
    samples for the draw.
    """
    _check_known("classes", classes or (), names)
    _check_known("exclude_classes", exclude_classes or (), names)
    left_out = set(exclude_classes or ())
    kept = [
        code
        for code, name in enumerate(names.tolist())
        if (classes is None or name in classes) and name not in left_out
    ]
    if len(kept) < max(2, first_classes or 0):
        raise ConfigError(
            f"classes, exclude_classes: {len(kept)} of {len(names)} classes remain; expected at least "
            f"{max(2, first_classes or 0)}"
        )
    of_class = {code: np.nonzero(y == code)[0] for code in kept[:first_classes]}
    if draw is not None:
        short = [
            f"{str(names[code])!r} ({len(rows)})" for code, rows in of_class.items() if len(rows) < (per_class or 0)
        ]
        if short or per_class is None:
            raise ConfigError(
                f"per_class: {per_class} samples can't be drawn of {', '.join(short) or 'each class'}; "
                "lower per_class or put these classes into exclude_classes"
            )
        for code, rows in of_class.items():
            rng = np.random.default_rng([zlib.crc32(dataset.encode()), draw, zlib.crc32(str(names[code]).encode())])
            of_class[code] = rows[rng.permutation(len(rows))]
    return np.sort(np.concatenate([rows[:per_class] for rows in of_class.values()])).astype(np.int64)


def _check_known(key: str, listed: Sequence[str], names: np.ndarray) -> None:
    unknown = sorted(set(listed) - set(names.tolist()))
    if unknown:
        raise ConfigError(
            f"{key}: no class {some(unknown)} in the data set.{nearest(unknown, names)} It has {some(names, 20)}"
        )


def merged_names(names: np.ndarray, merge: Merge) -> dict[str, str]:
    """Return the new class of each original class, (c,) in the data set's order, but those that nobody names.

    Raise ConfigError for an original class that the data set does not have, and if no class is left for "rest".
    """
    named = {name: new for new, old in merge.items() if old != "rest" for name in old}
    _check_known("merge", list(named), names)
    rest = next((new for new, old in merge.items() if old == "rest"), None)
    if rest is not None and len(named) == len(names):
        raise ConfigError(f"merge: no class is left for {rest!r}: the others name all {len(names)} of them")
    return {name: new for name in names.tolist() if (new := named.get(name, rest)) is not None}


def merge_classes(samples: SampleSet, new_names: Mapping[str, str]) -> SampleSet:
    """Give samples, which all have a new class, their new classes, and their original ones as groups."""
    groups = samples.classes[samples.y]
    y, classes = encode_labels([new_names[name] for name in groups.tolist()])
    return replace(samples, y=y, classes=classes, groups=groups)
