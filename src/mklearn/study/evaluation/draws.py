"""One method on the models of a draw: splits that share a test part, each with a validation part of its own.

Parameters are chosen by the mean validation score over all models of the draw, which share them; there is no inner
cross-validation. Every candidate is fitted once for each model and predicts the validation and the test part together,
so that the chosen one is not fitted again.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.contract.fit_spec import EvaluationSpec, FeatureScaling
from mklearn.errors import NotApplicable, SolverFailed
from mklearn.study.data.splits import Split
from mklearn.study.evaluation.candidates import Candidate, MethodOnViews, candidates, first_candidates
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.scalings import with_chosen_scalings
from mklearn.study.evaluation.selection import Selection, select_by_scores
from mklearn.study.evaluation.split import (
    EXPECTED,
    Fits,
    Fitted,
    RuleResult,
    SplitResult,
    accuracy_weights,
    check_classes,
    evaluate_split,
    held_out_groups,
    rule_result,
)
from mklearn.study.evaluation.sweeps import sweep_of

Failure = NotApplicable | SolverFailed


def evaluate_draw(
    problem: MethodOnViews, splits: Sequence[Split], *, evaluation: EvaluationSpec,
    groups: NDArray[np.str_] | None = None,
) -> list[SplitResult | Exception]:  # fmt: skip
    """Fit one method on the training part of every split and predict the test part.

    Parameters
    ----------
    problem, evaluation, groups
        As for :func:`mklearn.study.evaluation.split.evaluate_split`; ``evaluation.inner_folds`` is not used.
    splits : sequence of Split
        Of one repeat and training size, all with a validation part.

    Returns
    -------
    results : list
        Of each split its result, or the failure that is its result.

    Raises
    ------
    NotApplicable, SolverFailed
        No candidate can be chosen. A candidate that fails on one model is not chosen for any.

    Notes
    -----
    The estimator's time of prediction is that for both parts.
    """
    problem = replace(problem, groups=groups)
    for split in splits:
        check_classes(problem.y[split.train])
    method = problem.method
    if method.kernel_choice == "cv_accuracy":
        weights = _weights_by_accuracy(problem, splits, evaluation)
        parameters = method.parameters | {"kernel_weights": weights}
        method = method.model_copy(update={"parameters": parameters, "kernel_choice": None})
        problem = replace(problem, method=method)
    grid = candidates(method, problem.n_kernels)
    sweep = sweep_of(method)
    rules = sweep.rules(evaluation.neighbours)
    open_components = sweep.has_components and evaluation.components != "all"
    if len(grid) == 1 and not open_components:  # there is nothing to choose
        return [_alone(problem, split, evaluation) for split in splits]
    models = [_Model.fitted(problem, split, grid, evaluation) for split in splits]
    message = ""
    chosen: dict[str, tuple[int, int | None]] = dict.fromkeys(rules, (0, None))
    try:
        selections = {rule: _select(models, rule, len(grid), evaluation) for rule in rules}
        chosen = {rule: (selection.candidate, selection.position) for rule, selection in selections.items()}
    except SolverFailed as reason:
        if len(grid) > 1:
            raise
        message = str(reason)  # report all components where it was fitted
    return [model.result(chosen, message) for model in models]


@dataclass(frozen=True)
class _Attempt:
    """One candidate fitted on one model: validation scores by rule, and what there is for the test part."""

    scores: dict[str, NDArray[np.float64]]
    fitted: Fitted
    results: dict[str, RuleResult]
    """By rule; of a method with components they wait for the choice."""


@dataclass(frozen=True)
class _Model:
    """The candidates of one split, each fitted once."""

    y: NDArray[np.int64]
    split: Split
    grid: Sequence[Candidate]
    evaluation: EvaluationSpec
    attempts: list[_Attempt | Failure]
    scalings: Mapping[str, FeatureScaling]

    @classmethod
    def fitted(
        cls, problem: MethodOnViews, split: Split, grid: Sequence[Candidate], evaluation: EvaluationSpec
    ) -> _Model:
        """Fit every candidate; its inputs are not kept."""
        groups = held_out_groups(split.train, split.test, problem.groups)
        problem = with_chosen_scalings(problem, split.train, groups)
        fits = Fits(problem)
        model = cls(problem.y, split, grid, evaluation, [], problem.scalings)
        for candidate in grid:
            try:
                model.attempts.append(model._attempt(fits, candidate))
            except (NotApplicable, SolverFailed) as reason:
                reason.__traceback__ = reason.__cause__ = reason.__context__ = None  # they keep the split's arrays
                model.attempts.append(reason)
        return model

    def _attempt(self, fits: Fits, candidate: Candidate) -> _Attempt:
        y, split = self.y, self.split
        assert split.validation is not None
        n, rules = len(split.validation), fits.sweep.rules(self.evaluation.neighbours)
        fitted = fits.fit(candidate, split.train, np.concatenate([split.validation, split.test]))
        validation, test = (fitted.outcome.of_test_samples(part) for part in (slice(n), slice(n, None)))
        metric = metric_named(self.evaluation.choose_by)
        scores = {rule: validation.scores(metric, rule, y[split.train], y[split.validation]) for rule in rules}
        fitted = replace(fitted, outcome=test)
        if fits.sweep.has_components:
            return _Attempt(scores, fitted, {})
        results = {rule: self._rule_result(fitted, candidate, -1, rule) for rule in rules}
        fitted.outcome = test.without_inputs()
        return _Attempt(scores, fitted, results)

    def _rule_result(self, fitted: Fitted, candidate: Candidate, position: int | None, rule: str) -> RuleResult:
        y_train, y_test = self.y[self.split.train], self.y[self.split.test]
        return rule_result(fitted, candidate, position, rule, y_train, y_test)

    def result(self, chosen: dict[str, tuple[int, int | None]], message: str) -> SplitResult | Exception:
        """Return the result with the chosen candidate and position of each rule."""
        found: dict[str, RuleResult] = {}
        for rule, (number, position) in chosen.items():
            attempt = self.attempts[number]
            if not isinstance(attempt, _Attempt):
                return attempt
            made = attempt.results.get(rule)
            found[rule] = made or self._rule_result(attempt.fitted, self.grid[number], position, rule)
        return SplitResult(found, message, self.scalings)


def _select(models: Sequence[_Model], rule: str, n_candidates: int, evaluation: EvaluationSpec) -> Selection:
    """Choose by the mean validation score over the models."""

    def scores(number: int) -> list[NDArray[np.float64]] | str:
        attempts = [model.attempts[number] for model in models]
        failure = next((attempt for attempt in attempts if not isinstance(attempt, _Attempt)), None)
        if failure is not None:
            return str(failure)
        return [attempt.scores[rule] for attempt in attempts if isinstance(attempt, _Attempt)]

    n_validation = sum(len(model.split.validation) for model in models if model.split.validation is not None)
    return select_by_scores([scores(number) for number in range(n_candidates)], evaluation.components, n_validation)


def _alone(problem: MethodOnViews, split: Split, evaluation: EvaluationSpec) -> SplitResult | Exception:
    """Evaluate a model with nothing to choose: the seed of the inner folds does not matter."""
    try:
        return evaluate_split(problem, split.train, split.test, evaluation=evaluation, seed=0, groups=problem.groups)
    except EXPECTED as reason:
        reason.__traceback__ = reason.__cause__ = reason.__context__ = None
        return reason


def _weights_by_accuracy(problem: MethodOnViews, splits: Sequence[Split], evaluation: EvaluationSpec) -> list[float]:
    """Square the mean validation accuracy of each kernel alone, as in the inner cross-validation of other splits."""
    alone = first_candidates(problem.method, problem.n_kernels)
    by_accuracy = evaluation.model_copy(update={"choose_by": "accuracy"})
    models = [_Model.fitted(problem, split, alone, by_accuracy) for split in splits]
    rule = sweep_of(problem.method).rules(evaluation.neighbours)[0]
    curves = _select(models, rule, len(alone), evaluation).mean_scores
    n_validation: Any = sum(len(split.validation) for split in splits if split.validation is not None)
    return accuracy_weights(curves, evaluation.components, n_validation)
