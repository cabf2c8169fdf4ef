"""Splits that know groups of samples, such as persons: models validated outside their fold, and whole groups held out.

Seed policy: that of :mod:`mklearn.study.data.splits`, with the number of folds as the size, unless `first_seed` is
given.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from numbers import Real

import numpy as np
from numpy.typing import NDArray

from mklearn.base.folds import group_folds
from mklearn.base.parameters import Interval, at_least, constrained
from mklearn.errors import ConfigError, NotApplicable
from mklearn.study.data.samples import encode_labels
from mklearn.study.data.splits import REPEATS, Split, Splits, generator

Rows = NDArray[np.intp]


@constrained(
    folds=[at_least(2)],
    repeats=[REPEATS],
    deals=[REPEATS],
    test_share=[Interval(Real, 0, 1, closed="neither")],
    test_size=[at_least(1), None],
    in_order=["boolean"],
    first_seed=[at_least(0), None],
)
def validation_folds(
    target: np.ndarray, folds: int = 5, repeats: int = 1, seed: int = 0, name: str = "", *, test_share: float = 0.25,
    test_size: int | None = None, deals: int = 1, in_order: bool = False, first_seed: int | None = None,
    classes: np.ndarray | None = None, groups: np.ndarray | None = None,
) -> Splits:  # fmt: skip
    """Draw a test part and deal the rest into folds: a model for each fold trains on the others, is validated on it.

    This is how Gonen and Alpaydin evaluate (Localized Multiple Kernel Machines for Image Recognition). Every step is
    done in each class by itself, of each group where samples have groups, in natural order of their names ("2" before
    "10"). Raise NotApplicable if one has too few samples for a test sample and one in each fold.

    Parameters
    ----------
    folds : int
        At least 2. What the folds do not divide goes to the last ones, with `in_order` to the first.
    repeats : int
        Number of test parts drawn. Models of one repeat have the same test part, and are numbered by ``Split.fold``.
    test_share : float
        Share of each class (of each group) that is the test part; rounded. It is the first of a random permutation.
    test_size : int, optional
        Instead of `test_share`: the number of test samples of each class (of each group).
    deals : int
        How often the rest is dealt into folds; each deal gives a model for each fold.
    in_order : bool
        Whether the rest of a class (of a group) is dealt in the order of the data set, the j-th sample to fold j, in
        place of a random permutation that is cut into folds. All deals would be equal.
    first_seed : int, optional
        Repeat k has NumPy's ``default_rng(first_seed + k)``, in place of the study's seeds, to repeat splits that were
        drawn elsewhere.
    """
    y = np.asarray(target)
    strata = dict(_strata(y, classes, groups))
    n_test = {key: test_size or round(len(rows) * test_share) for key, rows in strata.items()}
    small = [key for key, rows in strata.items() if n_test[key] < 1 or len(rows) - n_test[key] < folds]
    if small:
        raise NotApplicable(
            f"a test part and {folds} folds: too few samples in {small[0]} ({len(strata[small[0]])})"
            f"{f' and {len(small) - 1} more' if len(small) > 1 else ''}; use fewer folds or another test part, or "
            "leave classes out by exclude_classes in the data set"
        )
    splits: list[Split] = []
    for repeat in range(repeats):
        rng = generator(name, folds, repeat, seed) if first_seed is None else np.random.default_rng(first_seed + repeat)
        drawn = {key: rng.permutation(rows) for key, rows in strata.items()}
        test = np.sort(np.concatenate([rows[: n_test[key]] for key, rows in drawn.items()]))
        rest = [np.sort(rows[n_test[key] :]) for key, rows in drawn.items()]
        for deal in range(deals):
            parts = [_dealt(rows, folds, None if in_order else rng) for rows in rest]
            for fold in range(folds):
                validation = np.sort(np.concatenate([dealt[fold] for dealt in parts]))
                train = np.setdiff1d(np.arange(len(y)), np.concatenate([test, validation]))
                splits.append(Split(repeat, deal * folds + fold, train, test, validation=validation))
    return Splits(tuple(splits), len(y))


@constrained(folds=[at_least(2)], repeats=[REPEATS])
def group_k_fold(
    target: np.ndarray, folds: int = 5, repeats: int = 1, seed: int = 0, name: str = "", *,
    classes: np.ndarray | None = None, groups: np.ndarray | None = None,
) -> Splits:  # fmt: skip
    """Draw folds that hold out whole groups, such as persons, with the classes spread evenly over them.

    Raise ConfigError without groups, and NotApplicable if a class has fewer groups than there are folds.

    Parameters
    ----------
    folds : int
        At least 2, and at most as many as the class with the fewest groups has.
    repeats : int
        How often folds are drawn.
    """
    y = np.asarray(target)
    if groups is None:
        raise ConfigError(
            f"protocol group_k_fold holds out whole groups, and data set {name!r} has none: name its group_column, or "
            "merge classes, which then are the groups"
        )
    splits = []
    for repeat in range(repeats):
        drawn_from = int(generator(name, folds, repeat, seed).integers(2**32))
        parts = group_folds(y, groups, folds, drawn_from, classes)
        splits += [Split(repeat, fold, *part) for fold, part in enumerate(parts)]
    return Splits(tuple(splits), len(y))


def _strata(y: np.ndarray, classes: np.ndarray | None, groups: np.ndarray | None) -> Iterator[tuple[str, Rows]]:
    """Yield the samples of each group and class, with a name for messages."""
    codes, names = encode_labels(y if groups is None else groups)
    for code, label in itertools.product(range(len(names)), np.unique(y)):
        rows = np.flatnonzero((codes == code) & (y == label))
        if len(rows):
            class_name = f"class {label if classes is None else classes[label]}"
            yield class_name if groups is None else f"group {names[code]} of {class_name}", rows


def _dealt(rows: Rows, folds: int, rng: np.random.Generator | None) -> list[Rows]:
    """Deal samples into folds: shuffled and cut, or without a generator one after the other."""
    if rng is None:
        return [rows[fold::folds] for fold in range(folds)]
    shuffled, size, larger = rng.permutation(rows), *divmod(len(rows), folds)
    sizes = [size + (fold >= folds - larger) for fold in range(folds)]
    return np.split(shuffled, np.cumsum(sizes)[:-1])
