"""Choice of parameters and of the number of components by cross-validation within the training samples."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from mklearn.errors import SolverFailed
from mklearn.study.specs.fit_spec import Components

# Mean scores that differ by less are a tie: equal means of k fractions may differ by rounding, while different
# accuracies on fewer than a billion samples differ by more.
TIE = 1e-9
UPPER_BOUND = "on the test samples: an upper bound, which has no value without them"
"""End of the message of results whose parameters were chosen on the test samples."""


def choose(mean_scores: ArrayLike, components: Components = "best", n_samples: int = 0) -> tuple[int, int]:
    """Return the row of the candidate with the highest mean score, and its number of leading dimensions.

    ``mean_scores`` are validation scores (n_candidates, n_dimensions). Column q - 1 has the score with the first q
    dimensions, NaN if the candidate has none; an error has a negative score. SolverFailed is raised if all are NaN.
    Scores within 1e-9 of the best tie, negative ones relative to it, as errors may have any unit: the fewest dimensions
    win, then the first candidate, so list simpler candidates first.

    ``components="all"`` compares candidates at the largest dimension of each. "one_standard_error" takes the candidate
    of the best score s, and its largest dimension with a score within one standard error of s. The standard error
    ``sqrt(s (1 - s) / n_samples)`` is exact for a proportion of ``n_samples`` validation samples, and an upper bound
    for the mean of any score between 0 and 1. It is 0 for a negative s, which errors have and R^2 may have.
    """
    scores = np.asarray(mean_scores, dtype=np.float64)
    if not np.isfinite(scores).any():
        raise SolverFailed("inner cross-validation has no score to choose by: every candidate failed on some fold")
    finite = np.where(np.isfinite(scores), scores, -np.inf)
    if components == "all":
        widths = scores.shape[1] - np.isfinite(scores[:, ::-1]).argmax(axis=1)
        last = finite[np.arange(len(finite)), widths - 1]
        candidate = int((last >= last.max() - _tie(last.max())).argmax())
        return candidate, int(widths[candidate])
    top = float(finite.max())
    best = finite >= top - _tie(top)
    column = int(best.any(axis=0).argmax())
    candidate = int(best[:, column].argmax())
    if components == "one_standard_error":
        share = min(max(top, 0.0), 1.0)
        error = math.sqrt(share * (1.0 - share) / n_samples) if n_samples else 0.0
        column = int(np.flatnonzero(finite[candidate] >= top - error - _tie(top))[-1])
    return candidate, column + 1


def _tie(best: float) -> float:
    return TIE * min(1.0, -best) if best < 0 else TIE


def select(mean_scores: NDArray[np.float64], components: Components, n_samples: int) -> tuple[int, int]:
    """Choose as `choose` does, and return the position of the dimension, -1 for the candidate's last dimension.

    Another fit of the candidate may have more dimensions.
    """
    candidate, dimension = choose(mean_scores, components, n_samples)
    n_dimensions = np.flatnonzero(np.isfinite(mean_scores[candidate]))[-1] + 1
    return candidate, -1 if dimension == n_dimensions else dimension - 1


def mean_curves(scores: Sequence[Sequence[NDArray[np.float64]]], failed: Mapping[int, str]) -> NDArray[np.float64]:
    """Average the scores of candidates over the parts, at the dimensions that every part has.

    ``scores`` has a curve for each candidate and part, and ``failed`` the reasons of candidates that failed on a part,
    by position. The result has shape (n_candidates, n_dimensions), with NaN where a candidate has no score.
    `SolverFailed` is raised with the first reason if every candidate failed.
    """
    if len(failed) == len(scores):
        raise SolverFailed(f"every candidate failed in inner cross-validation; the first because: {failed[0]}")
    curves = [
        np.zeros(0) if number in failed else np.mean([part[: min(map(len, parts))] for part in parts], axis=0)
        for number, parts in enumerate(scores)
    ]
    width = max(curve.size for curve in curves)
    return np.array([np.pad(curve, (0, width - curve.size), constant_values=np.nan) for curve in curves])
