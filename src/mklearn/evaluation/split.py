"""One method on one split: choose parameters on the training samples, fit, and judge by 1-nearest-neighbour.

Nothing of the test samples enters the fit: bandwidths, centring, normalisation and the repair of indefinite kernels
are fitted on the training samples, and again on the inner training samples in the inner cross-validation.
"""

from __future__ import annotations

import importlib
import itertools
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.errors import NotApplicable, SolverFailed
from mklearn.evaluation.nearest_neighbour import accuracy_by_dimension
from mklearn.evaluation.selection import inner_folds, select_by_inner_cv
from mklearn.kernels.specs import build_stack
from mklearn.kernels.stack import KernelStack

EXPECTED = (NotApplicable, SolverFailed, np.linalg.LinAlgError)
"""Failures that are results: they become rows of the score table."""

Indices = NDArray[np.intp]


@dataclass(frozen=True)
class Candidate:
    """One point of the grid: estimator parameters, and the single kernel in use (None: all of them)."""

    parameters: dict[str, Any]
    kernel: int | None = None


@dataclass
class RuleResult:
    """What one nearest-neighbour rule gives: accuracy at each leading dimension, and at the chosen one."""

    accuracy: NDArray[np.float64]
    dimension: int | None
    candidate: Candidate
    fitted: Fitted

    @property
    def chosen_accuracy(self) -> float | None:
        """Accuracy at the dimension that inner cross-validation chose; None where it could not choose."""
        return None if self.dimension is None else float(self.accuracy[min(self.dimension, self.accuracy.size) - 1])


@dataclass
class Fitted:
    """A fitted method on one split, with its embeddings."""

    estimator: Any
    train: NDArray[np.float64]
    test: NDArray[np.float64]
    weights: NDArray[np.float64]
    kernel_info: list[dict[str, Any]]
    fit_seconds: float
    predict_seconds: float = 0.0


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
    pairwise: Mapping[str, NDArray[np.float64]], kernels: Sequence[Mapping[str, Any]], method: Mapping[str, Any],
    y: NDArray[np.int64], train: Indices, test: Indices, *, neighbours: Sequence[str], inner: int, seed: int,
) -> SplitResult:  # fmt: skip
    """Fit one method on ``train`` and judge it on ``test``.

    Parameters
    ----------
    pairwise : mapping of name to (n, n) array
        Distances or Gram matrices among all samples.
    kernels : sequence of dict
        Kernel specifications (see :func:`mklearn.kernels.specs.build_stack`).
    method : dict
        ``implementation`` ("module:Estimator") and ``parameters``; a list in place of a number is a grid.
    y : (n,) class codes; ``train`` and ``test`` : indices into the samples.
    neighbours : rules of the 1-nearest-neighbour classifier.
    inner : folds of the inner cross-validation.
    seed : of the inner folds.

    Raises
    ------
    NotApplicable, SolverFailed
        The method can't run on this split; the caller records it.
    """
    grid = candidates(method, len(kernels))
    estimator = _load(method["implementation"])

    stacks: dict[bytes, Stacks] = {}

    def fit(candidate: Candidate, fit_on: Indices, apply_to: Indices) -> Fitted:
        name = apply_to.tobytes()
        if name not in stacks:  # the kernels do not depend on the candidate
            stacks[name] = _kernels(pairwise, kernels, fit_on, apply_to)
        return _fit(estimator, candidate, stacks[name], y[fit_on])

    seen: dict[tuple[int, bytes], Fitted] = {}

    def curve(rule: str) -> Any:
        def evaluate(position: int, fit_on: Indices, validate_on: Indices) -> NDArray[np.float64]:
            name = (position, validate_on.tobytes())
            if name not in seen:
                seen[name] = fit(grid[position], train[fit_on], train[validate_on])
            fold_y = y[train]
            return accuracy_by_dimension(
                seen[name].train,
                fold_y[fit_on],
                seen[name].test,
                fold_y[validate_on],
                rule,  # type: ignore[arg-type]
            )

        return evaluate

    result = SplitResult()
    started = time.perf_counter()
    chosen: dict[str, tuple[int, int | None]] = dict.fromkeys(neighbours, (0, None))
    try:
        folds = inner_folds(y[train], inner, seed)
        selections = {rule: select_by_inner_cv(curve(rule), range(len(grid)), folds) for rule in neighbours}
        chosen = {rule: (selection.candidate, selection.dimension) for rule, selection in selections.items()}
    except NotApplicable as reason:
        if len(grid) > 1:
            raise
        result.selection_message = str(reason)  # nothing but the dimension is left to choose: report all of them
    result.selection_seconds = time.perf_counter() - started
    final: dict[int, Fitted] = {}
    for rule, (position, dimension) in chosen.items():
        if position not in final:
            final[position] = fit(grid[position], train, test)
        fitted = final[position]
        started = time.perf_counter()
        accuracy = accuracy_by_dimension(fitted.train, y[train], fitted.test, y[test], rule)  # type: ignore[arg-type]
        fitted.predict_seconds += time.perf_counter() - started
        result.rules[rule] = RuleResult(accuracy, dimension, grid[position], fitted)
    return result


def _load(implementation: str) -> Any:
    module, name = implementation.split(":")
    return getattr(importlib.import_module(module), name)


@dataclass(frozen=True)
class Stacks:
    """Kernels among the training samples and from test to training samples, with what was learned of them."""

    train: KernelStack
    test: KernelStack
    info: list[dict[str, Any]]
    seconds: float

    def only(self, kernel: int | None) -> tuple[NDArray[Any], NDArray[Any]]:
        """Samples first, as estimators take them: all kernels, or one."""
        chosen = slice(None) if kernel is None else slice(kernel, kernel + 1)
        return self.train.as_last_axis()[:, :, chosen], self.test.as_last_axis()[:, :, chosen]


def _kernels(
    pairwise: Mapping[str, NDArray[np.float64]], kernels: Sequence[Mapping[str, Any]], train: Indices, test: Indices
) -> Stacks:
    started = time.perf_counter()
    stack, test_stack, info = build_stack(pairwise, [dict(kernel) for kernel in kernels], train, test)
    return Stacks(stack, test_stack, info, time.perf_counter() - started)


def _fit(estimator: Any, candidate: Candidate, stacks: Stacks, y: NDArray[np.int64]) -> Fitted:
    train, test = stacks.only(candidate.kernel)
    n_kernels = len(stacks.info)
    started = time.perf_counter()
    try:
        fitted = estimator(**candidate.parameters, kernels="precomputed").fit(train, y)
    except np.linalg.LinAlgError as reason:  # one candidate of a grid may fail, and the others go on
        raise SolverFailed(f"linear algebra failed: {reason}") from reason
    fit_seconds = stacks.seconds + time.perf_counter() - started
    embedding = np.asarray(fitted.transform(train), dtype=np.float64)
    started = time.perf_counter()
    test_embedding = np.asarray(fitted.transform(test), dtype=np.float64)
    predict_seconds = time.perf_counter() - started
    weights = np.zeros(n_kernels)
    weights[slice(None) if candidate.kernel is None else slice(candidate.kernel, candidate.kernel + 1)] = (
        fitted.kernel_weights_
    )
    return Fitted(fitted, embedding, test_embedding, weights, stacks.info, fit_seconds, predict_seconds)
