"""Folds for cross-validation that hold out single samples, or whole groups such as persons."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.base.pipelines import predicts_survival
from mklearn.errors import DataError, NotApplicable
from mklearn.optimize.left_out import LeftOut, group_codes

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]
Labels = NDArray[np.intp]


def default_splitter(estimator: Any, random_state: int, groups: ArrayLike | None = None) -> Any:
    """Return a splitter, stratified unless the estimator predicts numbers or times.

    Without groups, five folds are drawn twice. With groups, whole groups are held out, in at most five folds.
    """
    from sklearn import model_selection  # imported here: takes a second
    from sklearn.base import is_regressor

    continuous = is_regressor(estimator) or predicts_survival(estimator)
    if groups is not None:
        grouped = model_selection.GroupKFold if continuous else model_selection.StratifiedGroupKFold
        return grouped(min(5, LeftOut(np.size(groups), groups).n_sets), shuffle=True, random_state=random_state)
    repeated = model_selection.RepeatedKFold if continuous else model_selection.RepeatedStratifiedKFold
    return repeated(n_splits=5, n_repeats=2, random_state=random_state)


def held_out(groups: ArrayLike | None, splits: Iterable[Any], n: int) -> NDArray[np.intp] | None:
    """Return the groups as codes if every split holds out whole groups, else None.

    None is also returned if the splits, pairs (train, test), test a single group, or groups of one sample each.
    """
    if groups is None:
        return None
    codes, tested = group_codes(groups, n), np.zeros(n, dtype=bool)
    for train, test in splits:
        if np.isin(codes[test], codes[train]).any():
            return None
        tested[test] = True
    return codes if 1 < len(np.unique(codes[tested])) < tested.sum() else None


def inner_folds(
    y: ArrayLike, n_folds: int | Literal["leave_one_out"], seed: int | None, groups: ArrayLike | None = None,
    target: Literal["classes", "numbers"] = "classes",
) -> Folds:  # fmt: skip
    """Split the training samples into shuffled folds that spread the classes evenly, or leave each sample out once.

    Returns pairs (train_idx, validation_idx) of ascending positions in ``y``; the validation parts are disjoint and
    cover all samples. Raises `DataError` for fewer than 2 folds or labels that are not one-dimensional, and
    `NotApplicable` for fewer than two classes or a class of a single sample (or group), too few to train and validate.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of any type that NumPy can sort; with ``target="numbers"``, numbers for :func:`number_folds`.
    n_folds : int, at least 2, or "leave_one_out"
        Number of folds; fewer are returned if no class has that many samples. The samples of a class are dealt to the
        folds in turn, so that large classes are spread evenly and a fold holds out at most one sample of a small class.
        Classes of equal size in ``y`` start at the same fold, so that they also have equal size in every training part:
        otherwise classifiers would prefer the larger ones, which would bias the choice of parameters.
    groups : array-like of shape (n,), optional
        Groups that are held out as a whole, by :func:`group_folds`. The number of folds is at most the smallest number
        of groups of a class; "leave_one_out" uses that number.
    """
    labels = np.asarray(y)
    if labels.ndim != 1 or (n_folds != "leave_one_out" and n_folds < 2):
        raise DataError(f"inner folds need one label for each sample and at least 2 folds: {labels.shape}, {n_folds}")
    classes, codes, sizes = np.unique(labels, return_inverse=True, return_counts=True)
    of_classes = target == "classes"
    if of_classes:
        _check_classes(classes, sizes)
    most = len(labels)
    if groups is not None:
        most = min(groups_of_classes(labels, groups)) if of_classes else np.unique(groups).size
    k = most if n_folds == "leave_one_out" else min(n_folds, most)
    if k < 2:
        units = f"{'samples' if groups is None else 'groups'}{' of each class' if of_classes else ''}"
        raise NotApplicable(
            f"inner cross-validation needs two training {units}; use fewer folds, or give the parameters instead of "
            "choosing them"
        )
    if groups is not None:
        return group_folds(labels, groups, k, seed)
    rng = np.random.default_rng(seed)
    if not of_classes:
        dealt = number_folds(labels, k, rng)
    elif n_folds == "leave_one_out":
        dealt = np.arange(len(labels))
    else:
        dealt = _dealt(codes, sizes, n_folds, rng.permutation(codes.size))
    return [(np.flatnonzero(dealt != fold), np.flatnonzero(dealt == fold)) for fold in np.unique(dealt)]


def _check_classes(classes: NDArray[Any], sizes: Labels) -> None:
    if classes.size < 2:
        raise NotApplicable(
            f"inner cross-validation needs two classes or more; the training samples have {classes.size}"
        )
    if sizes.min() < 2:
        raise NotApplicable(
            f"inner cross-validation needs two training samples of each class; class {classes[sizes.argmin()]!s} has "
            "one: add samples of it, or leave it out; methods without parameters to choose need no inner folds"
        )


def number_folds(y: NDArray[np.float64], n_folds: int, rng: np.random.Generator) -> Labels:
    """Assign samples to folds that each cover the range of the targets y, (n,); return the fold of each, from 0.

    The samples are sorted by target, with ties shuffled, and each run of ``n_folds`` samples goes to different folds.
    Fold sizes differ by at most one. Raises `NotApplicable` for fewer samples than folds.
    """
    n = len(y)
    if n < n_folds:
        raise NotApplicable(f"{n_folds} folds need as many samples; there are {n}: use fewer folds")
    order = np.lexsort((rng.permutation(n), y))
    dealt = np.empty(n, dtype=np.intp)
    dealt[order] = np.concatenate([rng.permutation(n_folds) for _ in range(-(-n // n_folds))])[:n]
    return dealt


def _dealt(codes: Labels, sizes: Labels, n_folds: int, shuffled: Labels) -> Labels:
    """Return the fold of each sample; classes of equal size have equally many samples in each fold."""
    by_size, which = np.unique(sizes, return_inverse=True)
    starts = np.concatenate([[0], np.cumsum(by_size)])[which]  # start where the next smaller size ended
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    within = np.arange(codes.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    dealt = np.empty(codes.size, dtype=np.intp)
    dealt[by_class] = (starts[codes[by_class]] + within) % n_folds
    return dealt


def groups_of_classes(y: ArrayLike, groups: ArrayLike) -> list[int]:
    """Return the number of groups with samples of each class, in the order of the sorted classes."""
    labels, names = np.asarray(y), np.asarray(groups)
    return [np.unique(names[labels == label]).size for label in np.unique(labels)]


def group_folds(
    y: ArrayLike, groups: ArrayLike, n_folds: int, seed: int | None, classes: ArrayLike | None = None
) -> Folds:
    """Split samples into folds, (train_idx, held_out_idx), that hold out whole groups and spread the classes evenly.

    As in scikit-learn's ``StratifiedGroupKFold``, each group goes to the fold that keeps the class counts most even.
    The samples of a group may be of several classes. Numbers (floats) in place of labels ``y`` (n,) do not influence
    the folds. ``classes`` are names of the classes 0, ..., c - 1, for messages. Positions ascend; the held-out parts
    are disjoint and cover all samples. Raises `NotApplicable` if a class has fewer groups than folds, or a fold is
    empty.
    """
    from sklearn.model_selection import StratifiedGroupKFold

    labels, names = np.asarray(y), np.asarray(groups)
    if names.shape != labels.shape:
        raise DataError(f"groups have shape {names.shape} and labels {labels.shape}: give one group for each sample")
    if labels.dtype.kind == "f":
        labels = np.zeros(len(labels), dtype=np.intp)
        n_groups = np.unique(names).size
        if n_groups < n_folds:
            raise NotApplicable(f"{n_folds} folds of whole groups: there are {n_groups} groups; use fewer folds")
    counts = groups_of_classes(labels, names)
    if min(counts) < n_folds:
        rarest = np.unique(labels)[int(np.argmin(counts))]
        name = rarest if classes is None else np.asarray(classes)[rarest]
        raise NotApplicable(
            f"{n_folds} folds of whole groups: class {name!s} has {min(counts)} groups; use fewer folds, or leave it "
            f"out by exclude_classes: [{str(name)!r}] in the data set"
        )
    drawn = StratifiedGroupKFold(n_folds, shuffle=True, random_state=seed).split(labels, labels, names)
    folds = [(np.sort(known), np.sort(held)) for known, held in drawn]
    if any(held.size == 0 for _, held in folds):
        raise NotApplicable(f"{n_folds} folds of whole groups: a fold would be empty; use fewer folds")
    return folds
