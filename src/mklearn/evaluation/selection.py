"""Choice of parameters and of the dimension by cross-validation inside the training samples."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError, NotApplicable, SolverFailed

Folds = list[tuple[NDArray[np.intp], NDArray[np.intp]]]
Candidate = TypeVar("Candidate")

# Two mean scores closer than this are a tie: means of k fractions differ by rounding where they are equal as fractions,
# and no two different accuracies on fewer than a billion samples are as close.
TIE = 1e-9


def inner_folds(y: ArrayLike, n_folds: int | Literal["leave_one_out"], seed: int | None) -> Folds:
    """Stratified, shuffled folds of the training samples, or each sample left out by itself.

    Parameters
    ----------
    y : array-like of shape (n,)
        Labels of the training samples, of any type that numpy can sort.
    n_folds : int, at least 2, or "leave_one_out"
        Folds wanted. A class with fewer samples than that reduces the number to the size of the smallest class, so
        that every fold validates on every class. Leaving one out is for few samples: with two per class, two folds
        would train on one of each.
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

    if n_folds == "leave_one_out":
        every = np.arange(codes.size)
        return [(np.delete(every, i), every[i : i + 1]) for i in range(codes.size)]

    from sklearn.model_selection import StratifiedKFold

    splitter = StratifiedKFold(n_splits=min(n_folds, int(sizes.min())), shuffle=True, random_state=seed)
    return [(train, validation) for train, validation in splitter.split(np.zeros((codes.size, 1)), codes)]


def choose(mean_scores: ArrayLike) -> tuple[int, int]:
    """The candidate and the dimension with the highest mean score.

    Parameters
    ----------
    mean_scores : array-like of shape (n_candidates, n_dimensions)
        Mean validation score; column q - 1 is for the first q dimensions. NaN where a candidate has no score.

    Returns
    -------
    candidate : int
        Its row, from 0.
    dimension : int
        How many leading dimensions, from 1. Of scores within 1e-9 of the best: the fewest dimensions, then the
        candidate that comes first - so list simpler candidates first.

    Raises
    ------
    DataError
        Scores that are not a non-empty matrix.
    SolverFailed
        No candidate has a score at any dimension.
    """
    scores = np.asarray(mean_scores, dtype=np.float64)
    if scores.ndim != 2 or 0 in scores.shape:
        raise DataError(f"mean_scores has shape {scores.shape}: it must be a non-empty (candidates, dimensions) matrix")
    if not np.isfinite(scores).any():
        raise SolverFailed("inner cross-validation has no score to choose by: every candidate failed on some fold")
    known = np.where(np.isfinite(scores), scores, -np.inf)
    best = known >= known.max() - TIE
    column = int(best.any(axis=0).argmax())
    return int(best[:, column].argmax()), column + 1


@dataclass(frozen=True)
class Selection:
    """What inner cross-validation chose, and what it saw.

    Attributes
    ----------
    candidate : int
        Position of the chosen candidate.
    dimension : int
        Chosen number of leading dimensions, from 1.
    mean_scores : ndarray of shape (n_candidates, n_dimensions)
        Mean over the folds; NaN where a candidate failed on a fold or has fewer dimensions.
    failures : dict from candidate position to message
    """

    candidate: int
    dimension: int
    mean_scores: NDArray[np.float64]
    failures: dict[int, str]

    @property
    def score(self) -> float:
        """Mean validation score of the choice."""
        return float(self.mean_scores[self.candidate, self.dimension - 1])


def select_by_inner_cv(
    evaluate: Callable[[Candidate, NDArray[np.intp], NDArray[np.intp]], ArrayLike],
    candidates: Sequence[Candidate],
    folds: Folds,
) -> Selection:
    """Evaluate every candidate on every inner fold and choose one, with its dimension.

    Parameters
    ----------
    evaluate : callable
        ``evaluate(candidate, train_idx, validation_idx)`` fits on the first positions and returns the score at each
        leading dimension on the second, shape (p,); p may differ between candidates and folds. Bandwidths, centring
        and the like are its own to fit, on ``train_idx`` alone. A :class:`NotApplicable` or :class:`SolverFailed` it
        raises rules that candidate out; any other error is passed on.
    candidates : sequence
        In order of preference for ties: the simplest first.
    folds : list of (train_idx, validation_idx)
        From :func:`inner_folds`.

    Returns
    -------
    selection : Selection

    Raises
    ------
    DataError
        No candidates or no folds.
    SolverFailed
        Every candidate failed; the message has the first reason.
    """
    if not candidates or not folds:
        raise DataError("inner cross-validation needs at least one candidate and one fold")
    curves: list[NDArray[np.float64]] = []
    failures: dict[int, str] = {}
    for position, candidate in enumerate(candidates):
        try:
            scores = [np.atleast_1d(np.asarray(evaluate(candidate, *fold), dtype=np.float64)) for fold in folds]
        except (NotApplicable, SolverFailed) as error:
            failures[position] = str(error)
            curves.append(np.array([np.nan]))
            continue
        width = min(score.size for score in scores)  # dimensions that every fold has
        curves.append(np.mean([score[:width] for score in scores], axis=0))
    table = np.full((len(curves), max(curve.size for curve in curves)), np.nan)
    for row, curve in zip(table, curves, strict=True):
        row[: curve.size] = curve
    if len(failures) == len(candidates):
        raise SolverFailed(f"every candidate failed in inner cross-validation; the first because: {failures[0]}")
    position, dimension = choose(table)
    return Selection(position, dimension, table, failures)
