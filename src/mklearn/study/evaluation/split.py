"""Evaluation of one method on one split: parameter selection on the training samples, fit, and prediction.

The test samples never enter a fit. Bandwidths, centring, normalisation and the repair of indefinite kernels are fitted
on the training samples, and refitted on the inner training samples in inner cross-validation.

The exception is ``choice="test_set"``, which selects parameters by the labels of the test samples to show the resulting
bias. Such a fit has oracle values only, and no value that was chosen without the test samples.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mklearn.base.folds import inner_folds
from mklearn.errors import ConstantKernel, NotApplicable, SolverFailed
from mklearn.graphs import UNLABELLED
from mklearn.kernels.transform import StackTransform
from mklearn.kernels.views import CachingViews
from mklearn.study.data.samples import target_of
from mklearn.study.evaluation.candidates import (
    Candidate,
    Indices,
    MethodOnViews,
    candidates,
    held_out_groups,
    with_chosen_scalings,
)
from mklearn.study.evaluation.fitted import Fitted, fit_method
from mklearn.study.evaluation.metrics.metric import Metric, metric_named
from mklearn.study.evaluation.outputs import RulePredictions
from mklearn.study.evaluation.selection import UPPER_BOUND, choose, mean_curves, select
from mklearn.study.specs.fit_spec import EvaluationSpec, FeatureScaling, InnerFolds, headline_rule, specs_by_name

Parts = list[tuple[Indices, Indices]]
"""Pairs of (training, validation) samples, on which candidates are fitted and scored."""
EXPECTED = (NotApplicable, SolverFailed, ConstantKernel, np.linalg.LinAlgError)
"""Exceptions that are recorded as results: rows of the score table without a value."""
ON_TEST = f"parameters are chosen {UPPER_BOUND}"


class RuleResult(NamedTuple):
    """The candidate chosen for one nearest-neighbour rule, its fit, and its predictions."""

    candidate: Candidate
    fitted: Fitted
    predictions: RulePredictions

    @property
    def estimator(self) -> Any:
        """The fitted estimator; for an embedding that is fitted for several sizes, the largest."""
        position = self.predictions.position
        return self.fitted.estimators[-1 if position is None or self.fitted.embeddings else position]


class SplitResult(NamedTuple):
    """The results of one split by nearest-neighbour rule; a classifier has the single rule ""."""

    rules: dict[str, RuleResult]
    selection_message: str = ""
    """Reason why there was no inner cross-validation; empty if there was one."""
    scalings: Mapping[str, FeatureScaling] = {}
    """Automatic scalings as chosen on the training samples."""


class Choice(NamedTuple):
    """The candidates for one split, or for several together, and those chosen."""

    candidates: list[Candidate]
    by_rule: dict[str, tuple[int, int | None]]
    """For each rule, the positions of the candidate and of its number of components (-1: the last; None: no choice)."""
    message: str = ""
    """Reason why no number of components was chosen; empty if a number was chosen."""


def evaluate_split(
    problem: MethodOnViews, train: Indices, test: Indices, *, evaluation: EvaluationSpec, seed: int,
    choice: Choice | None = None,
) -> SplitResult:  # fmt: skip
    """Fit one method on ``train`` and predict ``test``, indices into the samples of the problem.

    A given ``choice`` replaces inner cross-validation, whose folds depend on ``seed``. If no group has samples in both
    parts, and ``train`` has several, the inner folds hold out whole groups too. NotApplicable or SolverFailed is raised
    if the method can't run on this split; the caller records it.
    """
    check_classes(problem.y[train])
    if np.array_equal(train, test) and not problem.takes_unlabelled:
        raise NotApplicable("the method needs labels, and samples to cluster have none")
    problem = with_chosen_scalings(problem, train, test)
    if choice is None:
        choice = choose_parameters(problem, partial(inner_parts, problem, train, test, evaluation, seed), evaluation)
    samples = (problem.samples_of or SplitSamples)(problem, train, test)
    fits, rules = dict[int, Fitted](), {}
    for rule, (number, position) in choice.by_rule.items():
        candidate = choice.candidates[number]
        if number not in fits:
            fits[number] = samples.fit(candidate)
        predictions = fits[number].predictions(rule, problem.y[test], position)
        rules[rule] = RuleResult(candidate, fits[number], predictions)
    return SplitResult(rules, choice.message, problem.scalings)


class SplitSamples:
    """Training and test samples of a split or fold, whose kernels are computed once for all candidates.

    Automatic scalings must have been replaced, see `with_chosen_scalings`.
    """

    def __init__(self, problem: MethodOnViews, train: Indices, test: Indices) -> None:
        self.problem, self.y_train, rows = problem, problem.y[train], train
        self.y_fit = np.full_like(self.y_train, UNLABELLED) if np.array_equal(train, test) else self.y_train
        if problem.unlabelled is not None and problem.takes_unlabelled:
            rows = np.concatenate([train, problem.unlabelled])
            self.y_fit = np.pad(self.y_fit, (0, len(problem.unlabelled)), constant_values=UNLABELLED)
        self.train, self.test = CachingViews(problem.of(rows)), CachingViews(problem.of(test))
        self._fit_parameters = problem.fit_parameters(train, test)

    @cached_property
    def _kernels(self) -> tuple[list[dict[str, Any]], float]:
        """Diagnostics of all kernels, and the processor time of the training kernels in seconds."""
        started = time.process_time()
        if not self.problem.kernels or self.problem.method.landmarks:
            return [], 0.0
        # Constant kernels are dropped here: an estimator that can't take them raises its own error.
        kernels = StackTransform(specs_by_name(self.problem.kernels), drop_constant=True)
        kernels.fit_transform(self.train)
        return kernels.infos, time.process_time() - started

    def fit(self, candidate: Candidate) -> Fitted:
        """Fit a candidate on the training samples, and apply it to training and test samples.

        LinAlgError is raised as SolverFailed, so that the other candidates of a grid are still tried.
        """
        problem = self.problem
        infos, seconds = self._kernels
        try:
            fitted = fit_method(
                problem.method, partial(problem.unfitted, candidate), self.train, self.y_fit, self.test,
                **self._fit_parameters,
            )  # fmt: skip
        except np.linalg.LinAlgError as reason:
            raise SolverFailed(f"linear algebra failed: {reason}") from reason
        fitted.y_train, n = self.y_train, len(self.y_train)
        fitted.embeddings = [(train[:n], test) for train, test in fitted.embeddings]  # of the labelled samples
        if problem.kernels:
            fitted.weights = np.zeros(len(problem.kernels))
            alone = slice(None) if candidate.kernel is None else slice(candidate.kernel, candidate.kernel + 1)
            fitted.weights[alone] = getattr(fitted.estimators[-1], "kernel_weights_", np.nan)
        elif views := problem.method.dictionary_views:
            shares = fitted.estimators[-1].view_shares_
            fitted.weights = np.array([shares[name] for name in views])
        fitted.kernel_info = infos
        fitted.fit_seconds += seconds
        return fitted


def check_classes(y_train: NDArray[np.int64]) -> None:
    """Raise NotApplicable if the training samples have a single class or a constant target."""
    if np.unique(y_train).size < 2 and target_of(y_train) == "numbers":
        raise NotApplicable(f"the target is {y_train[0]:g} for all training samples: there is nothing to learn")
    if np.unique(y_train).size < 2:
        raise NotApplicable("the training samples are of one class only: no class can be discriminated")


def folds_of_training(
    y: NDArray[Any], train: Indices, test: Indices, n_folds: InnerFolds, seed: int, groups: NDArray[np.str_] | None
) -> Parts:
    """Return the inner folds of the training samples; they hold out whole groups if the split does."""
    folds = inner_folds(y[train], n_folds, seed, held_out_groups(train, test, groups), target_of(y))
    return [(train[fit_on], train[validate_on]) for fit_on, validate_on in folds]


# --- choice of parameters


def inner_parts(problem: MethodOnViews, train: Indices, test: Indices, evaluation: EvaluationSpec, seed: int) -> Parts:
    """Return the inner folds of the training samples, or the test samples if ``choice="test_set"``."""
    if evaluation.choice == "test_set":
        return [(train, test)]
    if np.array_equal(train, test):
        raise NotApplicable("samples to cluster have no labels: give one value of each parameter, components: all")
    return folds_of_training(problem.y, train, test, evaluation.inner_folds, seed, problem.groups)


def choose_once(problem: MethodOnViews, parts: Parts, *, evaluation: EvaluationSpec) -> Choice:
    """Choose the parameters of a method for several splits together; errors are raised as in `choose_parameters`."""
    for train, _ in parts:
        check_classes(problem.y[train])
    return choose_parameters(problem, lambda: parts, evaluation)


def choose_parameters(problem: MethodOnViews, parts: Callable[[], Parts], evaluation: EvaluationSpec) -> Choice:
    """Choose by the mean score on ``parts()``, which is called only if there is something to choose.

    Only the kernels of one part are in memory at a time. A candidate that fails on any part is not chosen.
    NotApplicable or SolverFailed is raised if none can be chosen. If there is a single candidate, only its number of
    components is left unchosen (None) instead.
    """
    method, rules = problem.method, problem.method.rules(evaluation.neighbours)
    by_accuracy = method.kernel_choice == "cv_accuracy"
    if by_accuracy:
        problem = _weighted_by_accuracy(problem, evaluation, parts())
    grid, message = candidates(problem.method, len(problem.kernels)), ""
    by_rule: dict[str, tuple[int, int | None]] = dict.fromkeys(rules, (0, -1))
    is_open = len(grid) > 1 or (method.has_components and evaluation.components != "all")
    try:
        if is_open:
            scored_on, metric = parts(), metric_named(evaluation.choose_by)
            n_validation = sum(len(validation) for _, validation in scored_on)
            for rule, scores in _mean_scores(problem, grid, scored_on, metric, rules).items():
                by_rule[rule] = select(scores, evaluation.components, n_validation)
    except (NotApplicable, SolverFailed) as reason:
        if len(grid) > 1:
            raise
        by_rule, message = dict.fromkeys(rules, (0, None)), str(reason)  # report all numbers of components
    if evaluation.choice == "test_set" and (is_open or by_accuracy):
        by_rule = {rule: (number, None) for rule, (number, _) in by_rule.items()}
        message = message or ON_TEST
    return Choice(grid, by_rule, message)


def _mean_scores(
    problem: MethodOnViews, grid: Sequence[Candidate], parts: Parts, metric: Metric, rules: Sequence[str]
) -> dict[str, NDArray[np.float64]]:
    """Compute the mean scores of all candidates by each rule, see `mean_curves`; a failed candidate has none.

    Errors have a negative sign, so that larger scores are better.
    """
    curves: dict[str, list[list[NDArray[np.float64]]]] = {rule: [[] for _ in grid] for rule in rules}
    failed: dict[int, str] = {}
    for train, validation in parts:
        scaled = with_chosen_scalings(problem, train, validation)
        samples = (problem.samples_of or SplitSamples)(scaled, train, validation)
        for number, candidate in enumerate(grid):
            if number in failed:
                continue
            try:
                fitted = samples.fit(candidate)
                for rule, of_rule in curves.items():
                    scores = fitted.predictions(rule, problem.y[validation]).scores(metric)
                    of_rule[number].append(metric.sign * scores)
            except (NotApplicable, SolverFailed) as reason:
                failed[number] = str(reason)
    return {rule: mean_curves(of_rule, failed) for rule, of_rule in curves.items()}


def _weighted_by_accuracy(problem: MethodOnViews, evaluation: EvaluationSpec, parts: Parts) -> MethodOnViews:
    """Return the method with kernel weights proportional to the squared accuracy of each single kernel.

    The weights sum to 1. Accuracies are measured by the headline's rule, at the dimension chosen for the single kernel.
    A kernel that fails has weight 0. Gehler, Nowozin (2009) find such weights hard to beat.
    """
    method, metric = problem.method, metric_named("accuracy")
    rule = headline_rule(evaluation.neighbours) if method.embeds else ""
    first = method.parameters | {name: values[0] for name, values in method.grid.items()}
    alone = [Candidate(first, kernel) for kernel in range(len(problem.kernels))]
    curves = _mean_scores(problem, alone, parts, metric, [rule])[rule]
    n_validation = sum(len(validation) for _, validation in parts)
    squared = np.zeros(len(curves))
    for kernel in np.flatnonzero(np.isfinite(curves).any(axis=1)):
        _, dimension = choose(curves[kernel : kernel + 1], evaluation.components, n_validation)
        squared[kernel] = curves[kernel, dimension - 1] ** 2
    if not squared.sum() > 0:
        raise SolverFailed("no kernel alone discriminates any class in the inner cross-validation: no weights")
    weights = [float(weight) for weight in squared / squared.sum()]
    parameters = method.parameters | {"kernel_weights": weights}
    return replace(problem, method=method.model_copy(update={"parameters": parameters}))
