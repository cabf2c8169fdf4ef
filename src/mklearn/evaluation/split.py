"""One method on one split: choose parameters on the training samples, fit, and judge by 1-nearest-neighbour.

Nothing of the test samples enters the fit: bandwidths, centring, normalisation and the repair of indefinite kernels
are fitted on the training samples, and again on the inner training samples in the inner cross-validation. (Where an
estimator shares the work of leaving each sample out, the kernels of all training samples are taken for that.)
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from mklearn.contract.loading import load
from mklearn.errors import NotApplicable, SolverFailed
from mklearn.evaluation.inputs import Indices, MethodInput, Prepared
from mklearn.evaluation.selection import (
    Curves,
    Folds,
    Refits,
    hardest_first,
    inner_folds,
    select_by_inner_cv,
    select_by_leaving_one_out,
    select_by_race,
)
from mklearn.evaluation.sweep import LEADING, Outcome, run

EXPECTED = (NotApplicable, SolverFailed, np.linalg.LinAlgError)
"""Failures that are results: they become rows of the score table."""


@dataclass(frozen=True)
class Candidate:
    """One point of the grid: estimator parameters, and the single kernel in use (None: all of them)."""

    parameters: dict[str, Any]
    kernel: int | None = None


@dataclass
class RuleResult:
    """What one nearest-neighbour rule gives: accuracy at each dimension, and at the one that was chosen."""

    accuracy: NDArray[np.float64]
    place: int | None
    """Position of the chosen accuracy; None where inner cross-validation could not choose."""
    candidate: Candidate
    fitted: Fitted

    @property
    def dimensions(self) -> list[int]:
        return self.fitted.outcome.dimensions

    @property
    def _chosen(self) -> int | None:
        return None if self.place is None else min(self.place, self.accuracy.size - 1)

    @property
    def dimension(self) -> int | None:
        """The dimension that inner cross-validation chose; None for classifiers too."""
        return None if self._chosen is None or not self.dimensions else self.dimensions[self._chosen]

    @property
    def chosen_accuracy(self) -> float | None:
        return None if self._chosen is None else float(self.accuracy[self._chosen])


@dataclass
class Fitted:
    """A fitted method on one split: its outcome, and what was learned of the kernels."""

    outcome: Outcome
    weights: NDArray[np.float64]
    kernel_info: list[dict[str, Any]]
    fit_seconds: float
    predict_seconds: float

    @property
    def estimator(self) -> Any:
        """The estimator; of a sweep over sizes, the last and largest."""
        return self.outcome.estimators[-1]


@dataclass
class SplitResult:
    """All that a split gives."""

    rules: dict[str, RuleResult] = field(default_factory=dict)
    selection_seconds: float = 0.0
    selection_message: str = ""
    """Why there was no inner cross-validation, when there was none."""


def candidates(method: Mapping[str, Any], n_kernels: int) -> list[Candidate]:
    """The grid of a method: every list among its parameters is a choice; ``best_single`` chooses among the kernels."""
    parameters = dict(method["parameters"])
    grid = {name: value for name, value in parameters.items() if isinstance(value, list) and name != "kernel_weights"}
    fixed = {name: value for name, value in parameters.items() if name not in grid}
    kernels: Sequence[int | None] = [None]
    if fixed.get("kernel_weights") == "best_single":
        fixed["kernel_weights"] = "uniform"
        kernels = range(n_kernels)
    return [
        Candidate(fixed | dict(zip(grid, values, strict=True)), kernel)
        for kernel in kernels
        for values in itertools.product(*grid.values())
    ]


def evaluate_split(
    source: MethodInput, method: Mapping[str, Any], y: NDArray[np.int64], train: Indices, test: Indices, *,
    neighbours: Sequence[str], inner: int | Literal["leave_one_out"] | None, seed: int,
) -> SplitResult:  # fmt: skip
    """Fit one method on ``train`` and judge it on ``test``.

    Parameters
    ----------
    source : MethodInput
        All samples, as kernels, features or images.
    method : dict
        ``implementation`` ("module:Estimator") and ``parameters``; a list in place of a number is a grid. ``sweep``
        says how its dimensions are gone through (see :func:`mklearn.evaluation.sweep.run`).
    y : (n,) class codes; ``train`` and ``test`` : indices into the samples.
    neighbours : rules of the 1-nearest-neighbour classifier; a method that predicts labels itself has the rule "".
    inner : folds of the inner cross-validation, or "leave_one_out"; None: nothing is chosen.
    seed : of the inner folds.

    Raises
    ------
    NotApplicable, SolverFailed
        The method can't run on this split; the caller records it.
    """
    if np.unique(y[train]).size < 2:  # methods without labels would fit and always be right, scikit-learn's fail
        raise NotApplicable("the training samples are of one class only: there is nothing to tell apart")
    if method["parameters"].get("kernel_weights") == "cv_accuracy":
        weights = _weights_by_accuracy(source, method, y, train, neighbours=neighbours, inner=inner, seed=seed)
        method = {**method, "parameters": {**method["parameters"], "kernel_weights": weights}}
    grid = candidates(method, source.n_kernels)
    estimator = load(method["implementation"])
    sweep = method.get("sweep", LEADING)
    classifies = sweep["kind"] == "labels"
    rules = [""] if classifies else list(neighbours)
    prepared: dict[bytes, Prepared] = {}

    def fit(candidate: Candidate, fit_on: Indices, apply_to: Indices) -> Fitted:
        name = apply_to.tobytes()
        if name not in prepared:  # the input does not depend on the candidate
            prepared[name] = source.prepare(fit_on, apply_to)
        unfitted = estimator(**candidate.parameters, **source.parameters)
        return _fit(unfitted, candidate, prepared[name], source.n_kernels, y[fit_on], sweep)

    def on_folds(position: int) -> Curves:
        """Accuracies of fits without each inner fold in turn."""
        for fit_on, validate_on in folds:
            known, asked = train[fit_on], train[validate_on]
            outcome = fit(grid[position], known, asked).outcome
            yield {rule: outcome.accuracies(rule, y[known], y[asked]) for rule in rules}

    def refits(position: int) -> Refits:
        """Embeddings without each training sample in turn, on the kernels of all of them, which are (n, n, M)."""
        unfitted = estimator(**grid[position].parameters, **source.parameters)
        kernels, _ = prepared[test.tobytes()].arrays(grid[position].kernel)
        return unfitted.leave_one_out(kernels, y[train], hardest_first(kernels.mean(axis=2), y[train]))

    folds: Folds = []
    result = SplitResult()
    started = time.perf_counter()
    chosen: dict[str, tuple[int, int | None]] = dict.fromkeys(rules, (0, 0 if classifies else None))
    try:
        if inner is not None and (len(grid) > 1 or not classifies):  # else there is nothing to choose
            folds = inner_folds(y[train], inner, seed)
            if inner == "leave_one_out" and sweep["kind"] == "leading" and hasattr(estimator, "leave_one_out"):
                prepared[test.tobytes()] = source.prepare(train, test)
                selections = select_by_leaving_one_out(refits, range(len(grid)), y[train], rules)
            else:
                selections = select_by_race(on_folds, range(len(grid)), len(folds), rules)
            chosen = {rule: (selection.candidate, selection.dimension - 1) for rule, selection in selections.items()}
    except (NotApplicable, SolverFailed) as reason:
        if len(grid) > 1:
            raise
        result.selection_message = str(reason)  # nothing but the dimension is left to choose: report all of them
    result.selection_seconds = time.perf_counter() - started
    final: dict[int, Fitted] = {}
    for rule, (position, place) in chosen.items():
        if position not in final:
            final[position] = fit(grid[position], train, test)
        fitted = final[position]
        started = time.perf_counter()
        accuracy = fitted.outcome.accuracies(rule, y[train], y[test])
        fitted.predict_seconds += time.perf_counter() - started
        result.rules[rule] = RuleResult(accuracy, place, grid[position], fitted)
    return result


def _weights_by_accuracy(
    source: MethodInput, method: Mapping[str, Any], y: NDArray[np.int64], train: Indices, *, neighbours: Sequence[str],
    inner: int | Literal["leave_one_out"] | None, seed: int,
) -> list[float]:  # fmt: skip
    """Squared accuracy of each kernel alone in the inner cross-validation, at its best dimension, with sum 1.

    By the first nearest-neighbour rule, with the first value of every grid. Gehler, Nowozin (2009) find such weights
    hard to beat; a kernel that fails alone gets none.
    """
    first = {n: v[0] if isinstance(v, list) else v for n, v in method["parameters"].items() if n != "kernel_weights"}
    grid = [Candidate({**first, "kernel_weights": "uniform"}, kernel) for kernel in range(source.n_kernels)]
    folds = inner_folds(y[train], 3 if inner is None else inner, seed)
    sweep = method.get("sweep", LEADING)
    rule = "" if sweep["kind"] == "labels" else neighbours[0]
    prepared: dict[bytes, Prepared] = {}

    def evaluate(candidate: Candidate, fit_on: Indices, validate_on: Indices) -> NDArray[np.float64]:
        name = validate_on.tobytes()
        if name not in prepared:
            prepared[name] = source.prepare(train[fit_on], train[validate_on])
        unfitted = load(method["implementation"])(**candidate.parameters, **source.parameters)
        labels = y[train]
        fitted = _fit(unfitted, candidate, prepared[name], source.n_kernels, labels[fit_on], sweep)
        return fitted.outcome.accuracies(rule, labels[fit_on], labels[validate_on])

    scores = select_by_inner_cv(evaluate, grid, folds).mean_scores
    best = np.nan_to_num(np.nanmax(np.where(np.isnan(scores), -np.inf, scores), axis=1), neginf=0.0)
    squared = np.maximum(best, 0.0) ** 2
    if not squared.sum() > 0:
        raise SolverFailed("no kernel alone tells anything apart in the inner cross-validation: there are no weights")
    return [float(weight) for weight in squared / squared.sum()]


def _fit(
    estimator: Any, candidate: Candidate, prepared: Prepared, n_kernels: int, y: NDArray[np.int64],
    sweep: Mapping[str, Any],
) -> Fitted:  # fmt: skip
    train, test = prepared.arrays(candidate.kernel)
    try:
        outcome = run(estimator, train, test, y, sweep)
    except np.linalg.LinAlgError as reason:  # one candidate of a grid may fail, and the others go on
        raise SolverFailed(f"linear algebra failed: {reason}") from reason
    weights = np.zeros(n_kernels)
    if n_kernels:
        weights[slice(None) if candidate.kernel is None else slice(candidate.kernel, candidate.kernel + 1)] = (
            outcome.estimators[-1].kernel_weights_
        )
    seconds = prepared.seconds + outcome.fit_seconds
    return Fitted(outcome, weights, prepared.info, seconds, outcome.predict_seconds)
