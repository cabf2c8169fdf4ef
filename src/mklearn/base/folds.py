"""Folds of the training samples, for choices by cross-validation inside them."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError, NotApplicable

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]


def inner_folds(y: ArrayLike, n_folds: int | Literal["leave_one_out"], seed: int | None) -> Folds:
    """Split the training samples into shuffled folds that spread the classes evenly, or leave each sample out once.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of the training samples, of any type that numpy can sort.
    n_folds : int, at least 2, or "leave_one_out"
        Folds wanted; at most one for each sample. The samples are dealt out class by class, each to the next fold: the
        samples of a class that has no more of them than there are folds lie in different folds, and each fold trains
        on all but one of them; larger classes are spread evenly.
    seed : int or None
        Seed of the shuffle.

    Returns
    -------
    folds : list of (train_idx, validation_idx)
        Ascending positions in ``y``; the validation parts are disjoint and cover all of it.

    Raises
    ------
    DataError
        ``n_folds`` below 2 or labels that are not one-dimensional.
    NotApplicable
        Fewer than two classes, or a class with one sample, which can't be both trained on and validated.
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise DataError(f"y has shape {labels.shape}: inner folds need one label for each sample")
    if isinstance(n_folds, int) and n_folds < 2:
        raise DataError(f"n_folds is {n_folds}: inner cross-validation needs at least 2 folds")
    classes, codes = np.unique(labels, return_inverse=True)
    if classes.size < 2:
        raise NotApplicable(
            f"inner cross-validation needs two classes or more; the training samples have {classes.size}"
        )
    sizes = np.bincount(codes)
    if sizes.min() < 2:
        single = classes[sizes.argmin()]
        raise NotApplicable(
            f"inner cross-validation needs two training samples of each class; class {single!s} has one: "
            "raise the training size, or give the parameters and the dimension instead of choosing them"
        )

    every = np.arange(codes.size)
    k = codes.size if n_folds == "leave_one_out" else min(n_folds, codes.size)
    shuffled = every if n_folds == "leave_one_out" else np.random.default_rng(seed).permutation(codes.size)
    dealt = np.empty(codes.size, dtype=np.intp)
    dealt[shuffled[np.argsort(codes[shuffled], kind="stable")]] = every % k
    return [(every[dealt != fold], every[dealt == fold]) for fold in range(k)]
