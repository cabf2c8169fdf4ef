"""One method on one split: choose parameters on the training samples, fit, and compute metrics on the test samples.

Nothing of the test samples enters the fit: bandwidths, centring, normalisation and the repair of indefinite kernels
are fitted on the training samples, and again on the inner training samples in the inner cross-validation. (Where an
estimator shares the work of leaving each sample out, the kernels of all training samples are taken for that.)
"""

from __future__ import annotations

import itertools
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.base.folds import Folds, inner_folds
from mklearn.contract.fit_spec import Components, EvaluationSpec, FeatureScaling, MethodSpec
from mklearn.contract.loading import load
from mklearn.errors import NotApplicable, SolverFailed
from mklearn.evaluation.inputs import Indices, Inputs, Prepared
from mklearn.evaluation.metrics import ACCURACY, metric_named
from mklearn.evaluation.predictions import RulePredictions
from mklearn.evaluation.selection import (
    Curves,
    Refits,
    hardest_first,
    select_by_inner_cv,
    select_by_leaving_one_out,
    select_by_race,
)
from mklearn.evaluation.selection import (
    choose as choose_one,
)
from mklearn.evaluation.sweeps import MethodOutput, Outcome, Sweep, leading_scores

EXPECTED = (NotApplicable, SolverFailed, np.linalg.LinAlgError)
"""Failures that are results: they become rows of the score table."""
SCALING = "feature_scaling"
"""Entry of a grid that is no parameter of the estimator: the scaling of features, its own or its kernels'."""


@dataclass(frozen=True)
class Candidate:
    """One point of the grid: parameters, and the single kernel in use (None: all of them)."""

    parameters: dict[str, Any]
    """Those of the estimator, and ``feature_scaling`` where it is chosen."""
    kernel: int | None = None

    @property
    def feature_scaling(self) -> FeatureScaling | None:
        """Scaling of kernels' and methods' features that have it chosen; None if there are none."""
        return self.parameters.get(SCALING)

    @property
    def estimator_parameters(self) -> dict[str, Any]:
        """The parameters without the scaling of features."""
        return {name: value for name, value in self.parameters.items() if name != SCALING}


@dataclass
class Fitted:
    """A fitted method on one split: its outcome, and what was learned of the kernels."""

    outcome: Outcome
    weights: NDArray[np.float64]
    """Kernel weights; NaN if the estimator has none."""
    kernel_info: list[dict[str, Any]]
    fit_seconds: float
    predict_seconds: float

    @property
    def estimator(self) -> Any:
        """The estimator; of a sweep over sizes, the last and largest."""
        return self.outcome.estimators[-1]


@dataclass
class RuleResult:
    """The values of each metric by one nearest-neighbour rule: at each number of components, and at the chosen one.

    Attributes
    ----------
    scores : dict of metric to array
        One value for each of ``components``; a single one for a classifier.
    not_applicable : dict of metric to message
        Metrics that the method does not give.
    position : int or None
        Position of the chosen value; None if inner cross-validation could not choose.
    """

    scores: dict[str, NDArray[np.float64]]
    not_applicable: dict[str, str]
    position: int | None
    candidate: Candidate
    fitted: Fitted
    predictions: RulePredictions

    @property
    def components(self) -> list[int]:
        return self.fitted.outcome.components

    @property
    def component(self) -> int | None:
        """The number of components that inner cross-validation chose; None for a classifier too."""
        if self.position is None or not self.components:
            return None
        return self.components[self.position]

    def chosen_score(self, metric: str) -> float | None:
        """Return the value of a metric at the chosen number of components; None if there is no choice."""
        if self.position is None:
            return None
        return float(self.scores[metric][self.position])


@dataclass
class SplitResult:
    """The results of one split by nearest-neighbour rule."""

    rules: dict[str, RuleResult] = field(default_factory=dict)
    selection_seconds: float = 0.0
    selection_message: str = ""
    """Why there was no inner cross-validation, when there was none."""


def candidates(method: MethodSpec, n_kernels: int) -> list[Candidate]:
    """Return every combination of the grid; for ``best_single`` with each kernel in turn."""
    kernels: Sequence[int | None] = range(n_kernels) if method.kernel_choice == "best_single" else [None]
    return [
        Candidate(method.parameters | dict(zip(method.grid, values, strict=True)), kernel)
        for kernel in kernels
        for values in itertools.product(*method.grid.values())
    ]


def evaluate_split(
    inputs: Inputs, method: MethodSpec, y: NDArray[np.int64], train: Indices, test: Indices, *,
    evaluation: EvaluationSpec, seed: int, choose: bool = True, groups: NDArray[np.str_] | None = None,
) -> SplitResult:  # fmt: skip
    """Fit one method on ``train`` and compute its metrics on ``test``.

    Parameters
    ----------
    inputs : Inputs
        All samples, by the names of ``method.inputs``.
    method : MethodSpec
    y : (n,) class codes; ``train`` and ``test`` : indices into the samples.
    evaluation : EvaluationSpec
        Rules of the 1-nearest-neighbour classifier, inner folds, metrics. A classifier has the single rule "".
    seed : of the inner folds.
    choose : bool
        Whether inner cross-validation chooses; if not, the first candidate is fitted and all components are reported.
    groups : (n,) array of str, optional
        Group of each sample, such as a person. If no group has samples in both parts, the inner cross-validation
        holds out whole groups too.

    Raises
    ------
    NotApplicable, SolverFailed
        The method can't run on this split; the caller records it.
    """
    if np.unique(y[train]).size < 2:  # methods without labels would fit and always be right, scikit-learn's fail
        raise NotApplicable("the training samples are of one class only: no class can be discriminated")
    if method.kernel_choice == "cv_accuracy":
        folds = _inner_folds(y, train, test, evaluation, seed, groups)
        weights = _weights_by_accuracy(inputs, method, y, train, evaluation, folds)
        method = method.model_copy(update={"parameters": method.parameters | {"kernel_weights": weights}})
    grid = candidates(method, inputs.n_kernels)
    fits = Fits(inputs, method, y)
    sweep = fits.sweep
    rules = sweep.rules(evaluation.neighbours)
    open_components = sweep.has_components and evaluation.components != "all"
    unknown = open_components or (sweep.has_components and not choose)
    chosen: dict[str, tuple[int, int | None]] = dict.fromkeys(rules, (0, None if unknown else -1))
    result = SplitResult()
    started = time.perf_counter()
    try:
        if choose and (len(grid) > 1 or open_components):  # else there is nothing to choose
            folds = _inner_folds(y, train, test, evaluation, seed, groups)
            chosen = _choose(fits, grid, train, test, evaluation, folds)
    except (NotApplicable, SolverFailed) as reason:
        if len(grid) > 1:
            raise
        result.selection_message = str(reason)  # only the number of components is open: report all of them
    result.selection_seconds = time.perf_counter() - started
    final: dict[int, Fitted] = {}
    for rule, (number, position) in chosen.items():
        if number not in final:
            final[number] = fits.fit(grid[number], train, test)
        result.rules[rule] = rule_result(final[number], grid[number], position, rule, y[train], y[test], evaluation)
    return result


class Fits:
    """Fits of a method's candidates; the inputs of each pair of training and test samples are prepared once."""

    def __init__(self, inputs: Inputs, method: MethodSpec, y: NDArray[np.int64]) -> None:
        self.inputs = inputs
        self.y = y
        self.sweep: Sweep = load(method.sweep.implementation)(**method.sweep.parameters)
        self.estimator = load(method.implementation)
        self._prepared: dict[tuple[FeatureScaling | None, bytes], Prepared] = {}

    def unfitted(self, candidate: Candidate) -> Any:
        return self.estimator(**candidate.estimator_parameters, **self.inputs.parameters)

    def prepared(self, train: Indices, test: Indices, scaling: FeatureScaling | None = None) -> Prepared:
        name = scaling, test.tobytes()
        if name not in self._prepared:  # the inputs do not depend on anything else of the candidate
            self._prepared[name] = self.inputs.prepare(train, test, scaling)
        return self._prepared[name]

    def fit(self, candidate: Candidate, train: Indices, test: Indices) -> Fitted:
        """Fit a candidate on the training samples and apply it to both.

        Raises
        ------
        NotApplicable, SolverFailed
            Also for a failure of linear algebra: one candidate of a grid may fail, and the others go on.
        """
        estimator = self.unfitted(candidate)
        if getattr(estimator, "n_neighbors", 1) > len(train):
            raise NotApplicable(f"n_neighbors={estimator.n_neighbors}: there are {len(train)} training samples")
        prepared = self.prepared(train, test, candidate.feature_scaling)
        try:
            outcome = self.sweep.run(estimator, prepared.arrays(candidate.kernel), self.y[train])
        except np.linalg.LinAlgError as reason:
            raise SolverFailed(f"linear algebra failed: {reason}") from reason
        weights = np.zeros(self.inputs.n_kernels)
        if weights.size:
            place = slice(None) if candidate.kernel is None else slice(candidate.kernel, candidate.kernel + 1)
            weights[place] = getattr(outcome.estimators[-1], "kernel_weights_", np.nan)
        return Fitted(outcome, weights, prepared.info, prepared.seconds + outcome.fit_seconds, outcome.predict_seconds)


def _choose(
    fits: Fits, grid: Sequence[Candidate], train: Indices, test: Indices, evaluation: EvaluationSpec, folds: Folds
) -> dict[str, tuple[int, int | None]]:
    """Choose by each rule the candidate and the position of its number of components, by inner cross-validation."""
    y, metric = fits.y, metric_named(evaluation.choose_by)
    rules = fits.sweep.rules(evaluation.neighbours)

    def on_folds(number: int) -> Curves:
        """Yield scores of fits without each inner fold in turn."""
        for fit_on, validate_on in folds:
            known, asked = train[fit_on], train[validate_on]
            outcome = fits.fit(grid[number], known, asked).outcome
            yield {rule: outcome.scores(metric, rule, y[known], y[asked]) for rule in rules}

    def refits(number: int) -> Refits:
        """Yield embeddings without each training sample in turn, on the kernels of all of them, (n, n, M)."""
        candidate = grid[number]
        kernels = fits.prepared(train, test, candidate.feature_scaling).arrays(candidate.kernel).X
        order = hardest_first(kernels.mean(axis=2), y[train])
        return fits.unfitted(candidate).leave_one_out(kernels, y[train], order)

    def score(*arguments: Any) -> Any:
        Z_train, y_train, Z_test, y_test, rule = arguments
        return leading_scores(metric, (Z_train, Z_test), y_train, y_test, rule)

    numbers = range(len(grid))
    shared = fits.inputs.only_kernels and fits.sweep.leave_one_out(fits.estimator) is not None
    if evaluation.inner_folds == "leave_one_out" and len(folds) == len(train) and shared:
        fits.prepared(train, test, grid[0].feature_scaling)
        selections = select_by_leaving_one_out(refits, numbers, y[train], rules, score, evaluation.components)
    else:
        selections = select_by_race(on_folds, numbers, len(folds), rules, evaluation.components, len(train))
    return {
        rule: (selection.candidate, -1 if selection.all_dimensions else selection.dimension - 1)
        for rule, selection in selections.items()
    }


def rule_result(
    fitted: Fitted, candidate: Candidate, position: int | None, rule: str, y_train: NDArray[np.int64],
    y_test: NDArray[np.int64], evaluation: EvaluationSpec,
) -> RuleResult:  # fmt: skip
    """Predict the test samples and compute every metric that the method gives; the time counts as prediction."""
    scores, not_applicable = {}, {}
    started = time.perf_counter()
    outputs = fitted.outcome.outputs(rule, y_train, y_test)
    for name in evaluation.metrics:
        try:
            scores[name] = np.array([metric_named(name).score(output) for output in outputs])
        except NotApplicable as reason:
            not_applicable[name] = str(reason)
    fitted.predict_seconds += time.perf_counter() - started
    if position is not None:
        position = range(len(outputs))[min(position, len(outputs) - 1)]  # -1 is the last
    predictions = _predictions(fitted.outcome, outputs, position, rule)
    return RuleResult(scores, not_applicable, position, candidate, fitted, predictions)


def _predictions(outcome: Outcome, outputs: Sequence[MethodOutput], position: int | None, rule: str) -> RulePredictions:
    nothing = np.full(len(outputs[0].y), np.nan)
    nearest, distances = (np.full(len(nothing), -1), nothing) if position is None else outcome.nearest(rule, position)
    try:
        values = outputs[-1].class_scores
    except NotApplicable:
        values = nothing
    if values.ndim == 2:
        places = np.searchsorted(outputs[-1].classes, outputs[-1].labels)
        values = values[:, 1] if values.shape[1] == 2 else values[np.arange(len(values)), places]
    labels = np.array([output.labels for output in outputs])
    return RulePredictions(labels, outcome.components, position, values, nearest, distances)


def _inner_folds(
    y: NDArray[np.int64], train: Indices, test: Indices, evaluation: EvaluationSpec, seed: int,
    groups: NDArray[np.str_] | None,
) -> Folds:  # fmt: skip
    """Return folds of the training samples, of whole groups if the test samples are of other groups."""
    if groups is None or np.isin(groups[test], groups[train]).any():
        return inner_folds(y[train], evaluation.inner_folds, seed)
    return inner_folds(y[train], evaluation.inner_folds, seed, groups[train])


def first_candidates(method: MethodSpec, n_kernels: int) -> list[Candidate]:
    """Return each kernel alone, with the first value of every grid."""
    first = method.parameters | {name: values[0] for name, values in method.grid.items()}
    return [Candidate(first, kernel) for kernel in range(n_kernels)]


def _weights_by_accuracy(
    inputs: Inputs, method: MethodSpec, y: NDArray[np.int64], train: Indices, evaluation: EvaluationSpec, folds: Folds
) -> list[float]:
    """Compute weights from the accuracy of each kernel alone, by the first nearest-neighbour rule."""
    alone = first_candidates(method, inputs.n_kernels)
    fits = Fits(inputs, method, y)
    rule = fits.sweep.rules(evaluation.neighbours)[0]

    def evaluate(candidate: Candidate, fit_on: Indices, validate_on: Indices) -> NDArray[np.float64]:
        known, asked = train[fit_on], train[validate_on]
        return fits.fit(candidate, known, asked).outcome.scores(ACCURACY, rule, y[known], y[asked])

    curves = select_by_inner_cv(evaluate, alone, folds, evaluation.components).mean_scores
    return accuracy_weights(curves, evaluation.components, len(train))


def accuracy_weights(curves: NDArray[np.float64], components: Components, n_samples: int) -> list[float]:
    """Square the accuracy of each kernel alone in the inner cross-validation, at its chosen dimension; the sum is 1.

    Gehler, Nowozin (2009) find such weights hard to beat; a kernel that fails alone gets none.

    Parameters
    ----------
    curves : (n_kernels, p) array
        Mean validation accuracy of each kernel at each number of components.
    components, n_samples : see :func:`mklearn.evaluation.selection.choose`
    """
    known = np.isfinite(curves).any(axis=1)
    squared = np.zeros(len(curves))
    for kernel in np.flatnonzero(known):
        _, dimension = choose_one(curves[kernel : kernel + 1], components, n_samples)
        squared[kernel] = curves[kernel, dimension - 1] ** 2
    if not squared.sum() > 0:
        raise SolverFailed("no kernel alone discriminates any class in the inner cross-validation: no weights")
    return [float(weight) for weight in squared / squared.sum()]
