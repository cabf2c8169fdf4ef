"""Choice of parameters and of the number of components by cross-validation inside the training samples."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.contract.fit_spec import Components
from mklearn.errors import DataError, NotApplicable, SolverFailed
from mklearn.study.evaluation.rules import accuracy_by_dimension

Candidate = TypeVar("Candidate")

# Two mean scores closer than this are a tie: means of k fractions differ by rounding where they are equal as fractions,
# and no two different accuracies on fewer than a billion samples are as close.
TIE = 1e-9
UPPER_BOUND = "on the test samples: an upper bound, which has no value without them"
"""End of the message beside what was chosen by the test samples themselves."""


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


@dataclass(frozen=True)
class Selection:
    """The choice of an inner cross-validation, with the mean scores behind it.

    Attributes
    ----------
    candidate : int
        Position of the chosen candidate.
    dimension : int
        Chosen number of leading dimensions, from 1.
    all_dimensions : bool
        Whether these are all that the candidate has in every fold.
    mean_scores : ndarray of shape (n_candidates, n_dimensions)
        Mean over the folds; NaN where a candidate failed on a fold or has fewer dimensions.
    failures : dict from candidate position to message
    """

    candidate: int
    dimension: int
    all_dimensions: bool
    mean_scores: NDArray[np.float64]
    failures: dict[int, str]

    @property
    def position(self) -> int:
        """Position of the chosen dimension among those of another fit: of all that there are the last, -1."""
        return -1 if self.all_dimensions else self.dimension - 1


def select_by_scores(
    scores: Sequence[Sequence[NDArray[np.float64]] | str], components: Components = "best", n_samples: int = 0
) -> Selection:
    """Choose from the validation scores of candidates on several parts, and the dimension.

    Parameters
    ----------
    scores : sequence
        For each candidate, in order of preference for ties, its scores at each leading dimension on each part; or the
        reason why it has none.
    components, n_samples : see :func:`choose`

    Raises
    ------
    SolverFailed
        No candidate has scores; the message has the first reason.
    """
    curves, failures = [], {}
    for position, parts in enumerate(scores):
        if isinstance(parts, str):
            failures[position] = parts
            curves.append(np.array([np.nan]))
        else:
            width = min(part.size for part in parts)  # dimensions that every part has
            curves.append(np.asarray(np.mean([part[:width] for part in parts], axis=0)))
    if len(failures) == len(scores):
        raise _all_failed(failures[0])
    return _selection(curves, failures, components, n_samples)


Refits = Iterator[tuple[int, NDArray[Any], NDArray[Any]]]
Curves = Iterator[Mapping[Any, ArrayLike]]


def hardest_first(kernel: NDArray[Any], y: NDArray[Any]) -> NDArray[np.intp]:
    """Order samples by the distance to the nearest other class, relative to that to their own class, hardest first.

    Distances are those in the feature space. A race (:func:`select_by_race`) in this order ends soonest, because a
    candidate falls behind by its mistakes.

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
) -> dict[Any, Selection]:  # fmt: skip
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

    Returns and errors are those of :func:`select_by_race`.
    """

    def curves(candidate: Candidate) -> Curves:
        for i, others, left_out in refits(candidate):
            rest = np.delete(y, i)
            yield {rule: score(others, rest, left_out, y[i : i + 1], rule) for rule in rules}

    return select_by_race(curves, candidates, len(y), rules, components, len(y))


def select_by_race(
    curves: Callable[[Candidate], Curves], candidates: Sequence[Candidate], n_parts: int, rules: Sequence[Any],
    components: Components = "best", n_samples: int = 0,
) -> dict[Any, Selection]:  # fmt: skip
    """Choose the candidate of the highest mean score over the parts (folds, or single samples), and its dimension.

    The result is the same as that of every candidate on every part. The candidate with the highest reachable score is
    tried on its next part, and one that can't reach the best score any more is not tried further.

    Parameters
    ----------
    curves : callable
        Takes a candidate and returns an iterator over the parts: by rule, the score at each leading dimension, between
        0 and 1, shape (p,); p may differ. A :class:`NotApplicable` or :class:`SolverFailed` rules the candidate out;
        any other error is passed on.
    candidates : sequence
        In order of preference for ties: the simplest first.
    n_parts : int
    rules : sequence
        Ways to score; each leads to its own choice.
    components, n_samples : see :func:`choose`

    Returns
    -------
    selections : dict from rule to Selection
        ``mean_scores`` is NaN for candidates that were not tried on every part.

    Raises
    ------
    SolverFailed
        Every candidate failed; the message has the first reason.
    """
    races = [_Race(curves(candidate), n_parts, rules, components) for candidate in candidates]
    for rule in rules:
        while True:
            running = [race for race in races if not race.failure]
            if not running:
                raise _all_failed(races[0].failure)
            best = max((race.score(rule) for race in running if race.done), default=-np.inf)
            hopeful = [race for race in running if not race.done and race.bound(rule) >= best - TIE]
            if not hopeful:
                break
            max(hopeful, key=lambda race: race.bound(rule)).advance()
    failures = {position: race.failure for position, race in enumerate(races) if race.failure}
    unknown = np.array([np.nan])
    found = {}
    for rule in rules:
        means = [race.curve(rule) if race.done and not race.failure else unknown for race in races]
        found[rule] = _selection(means, failures, components, n_samples)
    return found


class _Race:
    """One candidate of a race: the sum of its scores at each dimension, over the parts tried so far."""

    def __init__(self, curves: Curves, n_parts: int, rules: Sequence[Any], components: Components) -> None:
        self._curves = curves
        self._components = components
        self._n_parts = n_parts
        self._sums: dict[Any, NDArray[np.float64]] = dict.fromkeys(rules, np.zeros(0))
        self._tried = 0
        self.failure = ""

    @property
    def done(self) -> bool:
        return self._tried == self._n_parts

    def bound(self, rule: Any) -> float:
        """Return the mean score that the candidate reaches if all remaining scores are 1, at any dimension.

        The last dimension is not known before the end: a later part may have fewer.
        """
        missed = self._tried - float(self._sums[rule].max(initial=0.0))
        return 1.0 - missed / self._n_parts

    def score(self, rule: Any) -> float:
        curve = self.curve(rule)
        return float(curve[-1] if self._components == "all" else curve.max())

    def curve(self, rule: Any) -> NDArray[np.float64]:
        return np.asarray(self._sums[rule] / self._n_parts)

    def advance(self) -> None:
        """Try the next part."""
        try:
            scores = next(self._curves)
        except (NotApplicable, SolverFailed) as error:
            self.failure = str(error)
            return
        for rule, sums in self._sums.items():
            curve = np.atleast_1d(np.asarray(scores[rule], dtype=np.float64))
            width = min(sums.size, curve.size) if self._tried else curve.size  # dimensions that every part has
            self._sums[rule] = (sums[:width] if self._tried else 0.0) + curve[:width]
        self._tried += 1


def _selection(
    curves: Sequence[NDArray[np.float64]], failures: dict[int, str], components: Components, n_samples: int
) -> Selection:
    """Choose from the mean scores of candidates, which may have different numbers of dimensions."""
    table = np.full((len(curves), max(curve.size for curve in curves)), np.nan)
    for row, curve in zip(table, curves, strict=True):
        row[: curve.size] = curve
    candidate, dimension = choose(table, components, n_samples)
    return Selection(candidate, dimension, dimension == curves[candidate].size, table, failures)


def _all_failed(first: str) -> SolverFailed:
    return SolverFailed(f"every candidate failed in inner cross-validation; the first because: {first}")
