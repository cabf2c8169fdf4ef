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
    """Return the positions of the selected samples, ascending.

    Parameters
    ----------
    y : (n,) int array
        Class codes; `names` are those of the classes, in the data set's order.
    first_classes : int, optional
        Keep only the first of the classes that remain of `classes` without `exclude_classes`.
    per_class : int, optional
        Samples per class. Without `draw` the first ones, and smaller classes are kept whole; with `draw`, its number
        from 0, random ones of the data set with the id `dataset` in the registry, and every class must have enough.

    Raises
    ------
    ConfigError
        An unknown class, fewer classes than requested, or a class with too few samples for the draw.
    """
    kept = _kept_classes(names, classes, exclude_classes, first_classes)
    of_class = {code: np.nonzero(y == code)[0] for code in kept}
    if draw is not None:
        if per_class is None:
            raise ConfigError("a draw needs per_class, the number of samples per class")
        short = [f"{str(names[code])!r} ({len(rows)})" for code, rows in of_class.items() if len(rows) < per_class]
        if short:
            raise ConfigError(
                f"per_class: {per_class} samples can't be drawn of {', '.join(short)}; "
                "lower per_class or put these classes into exclude_classes"
            )
        for code, rows in of_class.items():
            rng = np.random.default_rng([zlib.crc32(dataset.encode()), draw, zlib.crc32(str(names[code]).encode())])
            of_class[code] = rows[rng.permutation(len(rows))]
    return np.sort(np.concatenate([rows[:per_class] for rows in of_class.values()])).astype(np.int64)


def _kept_classes(
    names: np.ndarray, include: Sequence[str] | None, exclude: Sequence[str] | None, first: int | None
) -> list[int]:
    mistakes = []
    for key, listed in (("classes", include), ("exclude_classes", exclude)):
        unknown = sorted(set(listed or ()) - set(names.tolist()))
        if unknown:
            named = ", ".join(map(repr, unknown))
            mistakes.append(f"{key}: no class {named} in the data set.{nearest(unknown, names)}")
    if mistakes:
        raise ConfigError(f"{' '.join(mistakes)} It has {some(names, 20)}")
    kept = [
        code
        for code, name in enumerate(names.tolist())
        if (include is None or name in include) and name not in (exclude or ())
    ]
    if first is not None and first > len(kept):
        raise ConfigError(f"first_classes: {first} requested, but only {len(kept)} of {len(names)} classes remain")
    kept = kept[:first]
    if len(kept) < 2:
        raise ConfigError(
            f"at least two classes are needed, and classes, exclude_classes and first_classes leave {len(kept)}"
        )
    return kept


def merged_names(names: Sequence[str] | np.ndarray, merge: Merge) -> dict[str, str]:
    """Return the new class of each original class, (c,) in the data set's order, but those that nobody names.

    Raise ConfigError for an original class that the data set does not have, and if no class is left for "rest".
    """
    known = [str(name) for name in names]
    named = {name: new for new, old in merge.items() if old != "rest" for name in old}
    unknown = sorted(set(named) - set(known))
    if unknown:
        raise ConfigError(
            f"merge: no class {', '.join(map(repr, unknown))} in the data set; it has {some(np.array(known), 20)}"
        )
    rest = next((new for new, old in merge.items() if old == "rest"), None)
    if rest is None:
        return {name: named[name] for name in known if name in named}
    if len(named) == len(known):
        raise ConfigError(f"merge: no class is left for {rest!r}: the others name all {len(known)} of them")
    return {name: named.get(name, rest) for name in known}


def merged_labels(
    y: np.ndarray, names: np.ndarray, new_names: Mapping[str, str]
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the positions of samples with a new class, and their codes and names as of :func:`encode_labels`."""
    kept = np.array([str(name) in new_names for name in names], dtype=bool)
    rows = np.flatnonzero(kept[y])
    return rows, *encode_labels([new_names[str(names[code])] for code in y[rows]])


def merge_classes(samples: SampleSet, new_names: Mapping[str, str]) -> SampleSet:
    """Give samples their new classes, and their original ones as groups; samples without a new class are left out."""
    rows, y, classes = merged_labels(samples.y, samples.classes, new_names)
    groups = samples.classes[samples.y[rows]]
    return replace(samples.subset(rows), y=y, classes=classes, groups=groups)
