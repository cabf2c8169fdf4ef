"""Merging of classes: several classes of a data set become one, and the original class of a sample its group."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Literal

import numpy as np

from mklearn.errors import ConfigError
from mklearn.study.data.samples import SampleSet, encode_labels, some

Merge = Mapping[str, Sequence[str] | Literal["rest"]]
"""Original classes by the name of the class that they become; "rest": all that no other class names."""


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
