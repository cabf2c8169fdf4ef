"""Folds of samples for cross-validation: of single samples, or of whole groups such as persons."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError, NotApplicable

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]
Labels = NDArray[np.intp]


def default_splitter(estimator: Any, random_state: int) -> Any:
    """Return the splitter of five folds, twice; they are stratified unless the estimator is a regressor."""
    from sklearn.base import is_regressor
    from sklearn.model_selection import RepeatedKFold, RepeatedStratifiedKFold  # here: takes a second

    repeated = RepeatedKFold if is_regressor(estimator) else RepeatedStratifiedKFold
    return repeated(n_splits=5, n_repeats=2, random_state=random_state)


def inner_folds(
    y: ArrayLike, n_folds: int | Literal["leave_one_out"], seed: int | None, groups: ArrayLike | None = None,
    target: Literal["classes", "numbers"] = "classes",
) -> Folds:  # fmt: skip
    """Split the training samples into shuffled folds that spread the classes evenly, or leave each sample out once.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of any type that numpy can sort; or numbers, by ``target``, with the folds of :func:`number_folds`.
    n_folds : int, at least 2, or "leave_one_out"
        Folds wanted. The samples of a class are dealt out, each to the next fold: larger classes are spread evenly, and
        of a class with no more samples than folds each fold leaves out one at most. Classes of one size begin at the
        same fold, so that where they are equal in ``y`` they are equal in every training part: else ridges and machines
        would prefer the larger ones, and choose by that. Fewer folds may be returned where no class has so many
        samples.
    groups : array-like of shape (n,), optional
        Whole groups are held out, by :func:`group_folds`: at most as many folds as the class with the fewest groups
        has. "leave_one_out" leaves out as few groups as that allows.

    Returns
    -------
    folds : list of (train_idx, validation_idx)
        Ascending positions in ``y``; the validation parts are disjoint and cover all of it.

    Raises
    ------
    DataError
        ``n_folds`` below 2 or labels that are not one-dimensional.
    NotApplicable
        Fewer than two classes, or a class with one sample (or group), which can't be both trained on and validated.
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
            "one: raise the training size, or give the parameters and the dimension instead of choosing them"
        )


def number_folds(y: NDArray[np.float64], n_folds: int, rng: np.random.Generator) -> Labels:
    """Deal samples into folds that each cover the range of their numbers (n,); return the fold of each, from 0.

    Of the samples in order of their number, equal ones shuffled, each ``n_folds`` go to different folds: sizes differ
    by at most one. Raises `NotApplicable` for fewer samples than folds.
    """
    n = len(y)
    if n < n_folds:
        raise NotApplicable(f"{n_folds} folds need as many samples; there are {n}: use fewer folds")
    order = np.lexsort((rng.permutation(n), y))
    dealt = np.empty(n, dtype=np.intp)
    dealt[order] = np.concatenate([rng.permutation(n_folds) for _ in range(-(-n // n_folds))])[:n]
    return dealt


def _dealt(codes: Labels, sizes: Labels, n_folds: int, shuffled: Labels) -> Labels:
    """Return the fold of each sample; the classes of one size have the same number of samples in a fold."""
    by_size, which = np.unique(sizes, return_inverse=True)
    starts = np.concatenate([[0], np.cumsum(by_size)])[which]  # a size begins where the one below it ended
    by_class = shuffled[np.argsort(codes[shuffled], kind="stable")]
    within = np.arange(codes.size) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    dealt = np.empty(codes.size, dtype=np.intp)
    dealt[by_class] = (starts[codes[by_class]] + within) % n_folds
    return dealt


def groups_of_classes(y: ArrayLike, groups: ArrayLike) -> list[int]:
    """Count the groups that each class has samples of, in the order of the sorted classes."""
    labels, names = np.asarray(y), np.asarray(groups)
    return [np.unique(names[labels == label]).size for label in np.unique(labels)]


def group_folds(
    y: ArrayLike, groups: ArrayLike, n_folds: int, seed: int | None, classes: ArrayLike | None = None
) -> Folds:
    """Split samples into folds that hold out whole groups and spread the classes evenly, as (train_idx, held_out_idx).

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels; or numbers (floats), over which groups are spread whatever they are.
    groups : array-like of shape (n,)
        Group of each sample; its samples may be of several classes.
    n_folds : int, at least 2
    seed : int or None
    classes : array-like of shape (c,), optional
        Class names of labels 0..c-1, for messages.

    Raises
    ------
    NotApplicable
        A class has fewer groups than there are folds, or a fold would have no sample.

    Notes
    -----
    As scikit-learn's ``StratifiedGroupKFold`` does, each group goes to the fold that keeps the numbers
    of samples per class most even. Positions ascend; the held-out parts are disjoint and cover all samples.
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
