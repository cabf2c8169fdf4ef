"""Choice of parameters and of the number of components by cross-validation inside the training samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import DataError, NotApplicable, SolverFailed
from mklearn.study.evaluation.rules import accuracy_by_dimension
from mklearn.study.specs.fit_spec import Components

Candidate = TypeVar("Candidate")
Scores = Sequence[NDArray[np.float64]] | str
"""Of one candidate on each part, at each leading dimension; or the reason why it has none."""

# Two mean scores closer than this are a tie: means of k fractions differ by rounding where they are equal as fractions,
# and no two different accuracies on fewer than a billion samples are as close.
TIE = 1e-9
UPPER_BOUND = "on the test samples: an upper bound, which has no value without them"
"""End of the message beside what was chosen by the test samples themselves."""
ALL_FAILED = "every candidate failed in inner cross-validation; the first because: "


def choose(mean_scores: ArrayLike, components: Components = "best", n_samples: int = 0) -> tuple[int, int]:
    """Choose the candidate with the highest mean score, and its dimension.

    Parameters
    ----------
    mean_scores : array-like of shape (n_candidates, n_dimensions)
        Mean validation score; column q - 1 is for the first q dimensions. NaN where a candidate has no score.
    components : {"all", "one_standard_error", "best"}, default="best"
        Which dimension: the largest that the candidate has (then candidates are compared there); the largest whose
        score is within one standard error of the best; or that of the best score, the fewest of several.
    n_samples : int
        Validation samples behind a mean score, for the standard error. It is ``sqrt(s (1 - s) / n_samples)`` for the
        best score s: that of a share, and an upper bound for the mean of any score between 0 and 1; 0 of a negative
        score, as R^2 may be.

    Returns
    -------
    candidate : int
        Its row, from 0.
    dimension : int
        How many leading dimensions, from 1. Of scores within 1e-9 of the best: the fewest dimensions (but see
        ``components``), then the candidate that comes first. List simpler candidates first.

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
    if components == "all":
        widths = scores.shape[1] - np.isfinite(scores[:, ::-1]).argmax(axis=1)
        last = known[np.arange(len(known)), widths - 1]
        candidate = int((last >= last.max() - TIE).argmax())
        return candidate, int(widths[candidate])
    best = known >= known.max() - TIE
    column = int(best.any(axis=0).argmax())
    candidate = int(best[:, column].argmax())
    if components == "one_standard_error":
        top = float(known.max())
        share = min(max(top, 0.0), 1.0)
        error = math.sqrt(share * (1.0 - share) / n_samples) if n_samples else 0.0
        column = int(np.flatnonzero(known[candidate] >= top - error - TIE)[-1])
    return candidate, column + 1


def select(mean_scores: NDArray[np.float64], components: Components, n_samples: int) -> tuple[int, int]:
    """Choose as `choose`, and return the position of the dimension: -1, the last, if it is all that the candidate has.

    Another fit of the candidate may have more of them.
    """
    candidate, dimension = choose(mean_scores, components, n_samples)
    n_dimensions = np.flatnonzero(np.isfinite(mean_scores[candidate]))[-1] + 1
    return candidate, -1 if dimension == n_dimensions else dimension - 1


def mean_curves(scores: Sequence[Scores]) -> NDArray[np.float64]:
    """Average the scores of candidates over the parts, at the dimensions that every part has.

    Parameters
    ----------
    scores : sequence
        For each candidate its scores at each leading dimension on each part; or the reason why it has none.

    Returns
    -------
    mean_scores : ndarray of shape (n_candidates, n_dimensions)
        NaN where a candidate has no score.

    Raises
    ------
    SolverFailed
        No candidate has scores; the message has the first reason.
    """
    curves = [
        np.zeros(0) if isinstance(parts, str) else np.mean([part[: min(map(len, parts))] for part in parts], axis=0)
        for parts in scores
    ]
    if all(isinstance(parts, str) for parts in scores):
        raise SolverFailed(f"{ALL_FAILED}{scores[0]}")
    table = np.full((len(curves), max(curve.size for curve in curves)), np.nan)
    for row, curve in zip(table, curves, strict=True):
        row[: curve.size] = curve
    return table


Refits = Iterator[tuple[int, NDArray[Any], NDArray[Any]]]


def hardest_first(kernel: NDArray[Any], y: NDArray[Any]) -> NDArray[np.intp]:
    """Order samples by the distance to the nearest other class, relative to that to their own class, hardest first.

    Distances are those in the feature space. Leaving samples out in this order ends soonest, because a candidate falls
    behind by its mistakes.

    Parameters
    ----------
    kernel : array of shape (n, n)
    y : array of shape (n,)

    Returns
    -------
    order : array of shape (n,)
        Every position once.
    """
    squares = np.diag(kernel)
    distances = np.maximum(squares[:, None] + squares - 2 * kernel, 0)
    np.fill_diagonal(distances, np.inf)
    own = y[:, None] == y
    nearest_other = np.where(own, np.inf, distances).min(axis=1)
    nearest_own = np.where(own, distances, np.inf).min(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):  # equal samples: 0 / 0 is no order, and comes last
        return np.argsort(nearest_other / nearest_own, kind="stable")


def select_by_leaving_one_out(
    refits: Callable[[Candidate], Refits], candidates: Sequence[Candidate], y: NDArray[Any], rules: Sequence[Any],
    score: Callable[..., ArrayLike] = accuracy_by_dimension, components: Components = "best",
) -> dict[Any, tuple[int, int | None]]:  # fmt: skip
    """Choose the candidate and the dimension of the highest mean score when each sample is left out in turn.

    Parameters
    ----------
    refits : callable
        Takes a candidate and returns an iterator over the n samples in any order: (i, embedding of the others (n - 1,
        p), embedding of sample i (1, p)) by the refit without sample i; p may differ. A :class:`NotApplicable` or
        :class:`SolverFailed` rules the candidate out.
    candidates : sequence
        In order of preference for ties: the simplest first.
    y : array of shape (n,)
    rules : of :func:`mklearn.study.evaluation.rules.accuracy_by_dimension`
    score : callable
        Scores at each leading dimension, with the arguments of that function.
    components : see :func:`choose`

    Returns
    -------
    selected : dict from rule to (candidate, position)
        As of :func:`select`, and the same as by the means of all samples. But the candidate with the highest reachable
        score is tried on its next sample, and one that can't reach the best score any more is not tried further.

    Raises
    ------
    SolverFailed
        Every candidate failed; the message has the first reason.
    """
    races = [_Race(refits(candidate), y, rules, score) for candidate in candidates]
    for rule in rules:
        while True:
            running = [race for race in races if not race.failure]
            if not running:
                raise SolverFailed(f"{ALL_FAILED}{races[0].failure}")
            best = max((race.score(rule, components) for race in running if race.done), default=-np.inf)
            hopeful = [race for race in running if not race.done and race.bound(rule) >= best - TIE]
            if not hopeful:
                break
            max(hopeful, key=lambda race: race.bound(rule)).advance()
    return {rule: select(mean_curves([race.scores(rule) for race in races]), components, len(y)) for rule in rules}


class _Race:
    """One candidate of a race: the sum of its scores at each dimension, over the samples tried so far."""

    def __init__(self, refits: Refits, y: NDArray[Any], rules: Sequence[Any], score: Callable[..., ArrayLike]) -> None:
        self._refits, self._y, self._score = refits, y, score
        self._sums: dict[Any, NDArray[np.float64]] = dict.fromkeys(rules, np.zeros(0))
        self._tried = 0
        self.failure = ""

    @property
    def done(self) -> bool:
        return self._tried == len(self._y)

    def bound(self, rule: Any) -> float:
        """Return the mean score that the candidate reaches if all remaining scores are 1, at any dimension.

        The last dimension is not known before the end: a later sample may have fewer.
        """
        return 1.0 - (self._tried - float(self._sums[rule].max(initial=0.0))) / len(self._y)

    def score(self, rule: Any, components: Components) -> float:
        curve = self._sums[rule] / len(self._y)
        return float(curve[-1] if components == "all" else curve.max())

    def scores(self, rule: Any) -> Scores:
        return [self._sums[rule] / len(self._y)] if self.done and not self.failure else self.failure or "left out early"

    def advance(self) -> None:
        """Leave out the next sample."""
        try:
            i, others, left_out = next(self._refits)
            rest, own = np.delete(self._y, i), self._y[i : i + 1]
            for rule, sums in self._sums.items():
                curve = np.asarray(self._score(others, rest, left_out, own, rule), dtype=np.float64)
                width = min(sums.size, curve.size) if self._tried else curve.size  # dimensions that every sample has
                self._sums[rule] = (sums[:width] if self._tried else 0.0) + curve[:width]
        except (NotApplicable, SolverFailed) as error:
            self.failure = str(error)
            return
        self._tried += 1
