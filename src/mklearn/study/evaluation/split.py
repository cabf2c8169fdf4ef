"""One method on one split: choose parameters on the training samples, fit, and predict the test samples.

Nothing of the test samples enters the fit: bandwidths, centring, normalisation and the repair of indefinite kernels
are fitted on the training samples, and again on the inner training samples in the inner cross-validation. (Where an
estimator shares the work of leaving each sample out, the kernels of all training samples are taken for that.)

The exception is ``choice="test_set"``, which chooses parameters by the labels of the test samples, to show the bias of
that. Such values are an oracle's: beside them there is none that was chosen without the test samples.
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
from mklearn.errors import NotApplicable, SolverFailed
from mklearn.kernels.transform import StackTransform
from mklearn.kernels.views import CachingViews
from mklearn.rows import load
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
from mklearn.study.evaluation.selection import UPPER_BOUND, Scores, choose, hardest_first, mean_curves, race, select
from mklearn.study.specs.fit_spec import EvaluationSpec, FeatureScaling, InnerFolds, headline_rule, specs_by_name

Parts = list[tuple[Indices, Indices]]
"""Samples that candidates are fitted on, and samples that they are scored on."""
EXPECTED = (NotApplicable, SolverFailed, np.linalg.LinAlgError)
"""Failures that are results: they become rows of the score table."""
ON_TEST = f"parameters are chosen {UPPER_BOUND}"


class RuleResult(NamedTuple):
    """The chosen candidate of one nearest-neighbour rule, fitted, and its predictions."""

    candidate: Candidate
    fitted: Fitted
    predictions: RulePredictions

    @property
    def estimator(self) -> Any:
        """The fitted estimator; of an embedding fitted for several sizes, the last and largest."""
        position = self.predictions.position
        return self.fitted.estimators[-1 if position is None or self.fitted.embeddings else position]


class SplitResult(NamedTuple):
    """The results of one split by nearest-neighbour rule; a classifier has the single rule ""."""

    rules: dict[str, RuleResult]
    selection_message: str = ""
    """Why there was no inner cross-validation, when there was none."""
    scalings: Mapping[str, FeatureScaling] = {}
    """Scalings that the training samples have chosen, see `mklearn.study.evaluation.candidates`."""


class Choice(NamedTuple):
    """The candidates chosen for one split, or for several together."""

    candidates: list[Candidate]
    by_rule: dict[str, tuple[int, int | None]]
    """Positions of the candidate and its number of components (-1 for the last, None without a choice) by rule."""
    message: str = ""
    """Why there is no number of components."""


def evaluate_split(
    problem: MethodOnViews, train: Indices, test: Indices, *, evaluation: EvaluationSpec, seed: int,
    choice: Choice | None = None,
) -> SplitResult:  # fmt: skip
    """Fit one method on ``train`` and predict ``test``, indices into the samples of the problem.

    If no group has samples in both parts, the inner cross-validation, whose folds depend on ``seed``, holds out whole
    groups too; a ``choice`` is taken in its place. NotApplicable or SolverFailed is raised where the method can't run
    on this split; the caller records it.
    """
    check_classes(problem.y[train])
    problem = with_chosen_scalings(problem, train, test)
    choice = choice or choose_on_split(problem, train, test, evaluation=evaluation, seed=seed)
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

    The scalings of features are chosen.
    """

    def __init__(self, problem: MethodOnViews, train: Indices, test: Indices) -> None:
        self.problem, self.y_train = problem, problem.y[train]
        self.train, self.test = CachingViews(problem.of(train)), CachingViews(problem.of(test))
        whole = held_out_groups(train, test, problem.groups) is not None
        self._fit_parameters = problem.fit_parameters(train) if whole else {}

    @cached_property
    def _kernels(self) -> tuple[list[dict[str, Any]], float]:
        """Diagnostics of all kernels, and the processor time of computing them."""
        started = time.process_time()
        if not self.problem.kernels or self.problem.method.landmarks:
            return [], 0.0
        # constant kernels are dropped here, as an estimator that takes none refuses them itself
        kernels = StackTransform(specs_by_name(self.problem.kernels), drop_constant=True)
        kernels.fit_transform(self.train)
        kernels.transform(self.test)
        return kernels.infos, time.process_time() - started

    def fit(self, candidate: Candidate) -> Fitted:
        """Fit a candidate on the training samples and apply it to both.

        A failure of linear algebra is a SolverFailed too: one candidate of a grid may fail, and the others go on.
        """
        problem = self.problem
        infos, seconds = self._kernels
        try:
            fitted = fit_method(
                problem.method, partial(problem.unfitted, candidate), self.train, self.y_train, self.test,
                **self._fit_parameters,
            )  # fmt: skip
        except np.linalg.LinAlgError as reason:
            raise SolverFailed(f"linear algebra failed: {reason}") from reason
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
    """Raise NotApplicable for a single class, or number: there is nothing to learn."""
    if np.unique(y_train).size < 2 and target_of(y_train) == "numbers":
        raise NotApplicable(f"the target is {y_train[0]:g} for all training samples: there is nothing to learn")
    if np.unique(y_train).size < 2:
        raise NotApplicable("the training samples are of one class only: no class can be discriminated")


def folds_of_training(
    y: NDArray[Any], train: Indices, test: Indices, n_folds: InnerFolds, seed: int, groups: NDArray[np.str_] | None
) -> Parts:
    """Return the inner folds of training samples, of whole groups if the test samples are of other groups."""
    folds = inner_folds(y[train], n_folds, seed, held_out_groups(train, test, groups), target_of(y))
    return [(train[fit_on], train[validate_on]) for fit_on, validate_on in folds]


# --- the choice of parameters


def choose_on_split(
    problem: MethodOnViews, train: Indices, test: Indices, *, evaluation: EvaluationSpec, seed: int
) -> Choice:
    """Choose the parameters of a method by inner cross-validation, or by the test samples of ``choice="test_set"``.

    The scalings of features are chosen. NotApplicable or SolverFailed is raised where no candidate can be chosen; if
    only the number of components is open, the choice has no position instead.
    """

    def parts() -> Parts:
        if evaluation.choice == "test_set":
            return [(train, test)]
        return folds_of_training(problem.y, train, test, evaluation.inner_folds, seed, problem.groups)

    return _choose(problem, parts, evaluation)


def choose_once(problem: MethodOnViews, parts: Parts, *, evaluation: EvaluationSpec) -> Choice:
    """Choose the parameters of a method for several splits together, by the mean score over the parts.

    Only one part's kernels are held. A candidate that fails on one part is not chosen. Errors are as of
    `choose_on_split`.
    """
    for train, _ in parts:
        check_classes(problem.y[train])
    return _choose(problem, lambda: parts, evaluation)


def _choose(problem: MethodOnViews, parts: Callable[[], Parts], evaluation: EvaluationSpec) -> Choice:
    """Choose by the scores on parts, which a method without a choice does not need."""
    method, rules = problem.method, problem.method.rules(evaluation.neighbours)
    by_accuracy = method.kernel_choice == "cv_accuracy"
    if by_accuracy:
        problem = _weighted_by_accuracy(problem, evaluation, parts())
    grid, message = candidates(problem.method, len(problem.kernels)), ""
    by_rule: dict[str, tuple[int, int | None]] = dict.fromkeys(rules, (0, -1))
    is_open = len(grid) > 1 or (method.has_components and evaluation.components != "all")
    try:
        if is_open:
            scored_on = parts()
            n_validation = sum(len(validation) for _, validation in scored_on)
            for rule, scores in _scores(problem, grid, scored_on, evaluation, rules).items():
                by_rule[rule] = select(mean_curves(scores), evaluation.components, n_validation)
    except (NotApplicable, SolverFailed) as reason:
        if len(grid) > 1:
            raise
        by_rule, message = dict.fromkeys(rules, (0, None)), str(reason)  # report all numbers of components
    if evaluation.choice == "test_set" and (is_open or by_accuracy):
        by_rule = {rule: (number, None) for rule, (number, _) in by_rule.items()}
        message = message or ON_TEST
    return Choice(grid, by_rule, message)


def _scores(
    problem: MethodOnViews, grid: Sequence[Candidate], parts: Parts, evaluation: EvaluationSpec, rules: Sequence[str]
) -> dict[str, list[Scores]]:
    """Compute by each rule the scores of all candidates; with the work shared where each sample is left out."""
    metric, method = metric_named(evaluation.choose_by), problem.method
    shares_work = method.embeds and method.refit is None and hasattr(load(method.implementation), "leave_one_out")
    if not (evaluation.inner_folds == "leave_one_out" and len(parts) == len(parts[0][0]) + 1 and shares_work):
        return _scores_on_parts(problem, grid, parts, metric, rules)
    train = np.sort(np.concatenate(parts[0]))
    y, samples = problem.y[train], CachingViews(problem.of(train))

    def refits(candidate: Candidate) -> Any:
        kernels = StackTransform(problem.kernel_specs(candidate)).fit_transform(samples)
        order = hardest_first(kernels.matrices.mean(axis=0), y)
        return problem.unfitted(candidate).leave_one_out(samples, y, order)

    return race([refits(candidate) for candidate in grid], y, rules, metric, evaluation.components)


def _scores_on_parts(
    problem: MethodOnViews, grid: Sequence[Candidate], parts: Parts, metric: Metric, rules: Sequence[str]
) -> dict[str, list[Scores]]:
    """Compute by each rule the scores of all candidates, part after part, or why a candidate has none."""
    scores: dict[str, list[Scores]] = {rule: [[] for _ in grid] for rule in rules}
    for train, validation in parts:
        scaled = with_chosen_scalings(problem, train, validation)
        samples = (problem.samples_of or SplitSamples)(scaled, train, validation)
        for number, candidate in enumerate(grid):
            if any(isinstance(of_rule[number], str) for of_rule in scores.values()):
                continue
            try:
                fitted = samples.fit(candidate)
                for rule, of_rule in scores.items():
                    curve = fitted.predictions(rule, problem.y[validation]).scores(metric)
                    of_rule[number] = [*of_rule[number], curve]
            except (NotApplicable, SolverFailed) as reason:
                for of_rule in scores.values():
                    of_rule[number] = str(reason)
    return scores


def _weighted_by_accuracy(problem: MethodOnViews, evaluation: EvaluationSpec, parts: Parts) -> MethodOnViews:
    """Return the method with the squared accuracies of each kernel alone as weights, whose sum is 1.

    The accuracies are by the rule of the headline, at the dimension chosen for the kernel alone. Gehler, Nowozin (2009)
    find such weights hard to beat; a kernel that fails alone gets none.
    """
    method, metric = problem.method, metric_named("accuracy")
    rule = headline_rule(evaluation.neighbours) if method.embeds else ""
    first = method.parameters | {name: values[0] for name, values in method.grid.items()}
    alone = [Candidate(first, kernel) for kernel in range(len(problem.kernels))]
    curves = mean_curves(_scores_on_parts(problem, alone, parts, metric, [rule])[rule])
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
