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
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from mklearn.base.folds import inner_folds
from mklearn.errors import NotApplicable, SolverFailed
from mklearn.kernels.kernel_cache import CachingViews
from mklearn.kernels.specs import StackTransform
from mklearn.loading import load
from mklearn.study.data.samples import target_of
from mklearn.study.evaluation.candidates import Candidate, Indices, MethodOnViews, candidates, with_chosen_scalings
from mklearn.study.evaluation.metrics.metric import Metric, metric_named
from mklearn.study.evaluation.outputs import STORED, RulePredictions
from mklearn.study.evaluation.selection import (
    UPPER_BOUND,
    Refits,
    Scores,
    choose,
    hardest_first,
    mean_curves,
    select,
    select_by_leaving_one_out,
)
from mklearn.study.evaluation.sweeps import LeadingDimensions, Outcome, leading_scores, sweep_of
from mklearn.study.specs.fit_spec import EvaluationSpec, FeatureScaling, InnerFolds, specs_by_name

Parts = list[tuple[Indices, Indices]]
"""Samples that candidates are fitted on, and samples that they are asked for."""
EXPECTED = (NotApplicable, SolverFailed, np.linalg.LinAlgError)
"""Failures that are results: they become rows of the score table."""
ON_TEST = f"parameters are chosen {UPPER_BOUND}"


@dataclass
class Fitted:
    """A fitted method on one split: its outcome, and what was learned of the kernels."""

    outcome: Outcome
    weights: NDArray[np.float64]
    """Kernel weights; NaN if the estimator has none."""
    kernel_info: list[dict[str, Any]]
    fit_seconds: float
    """Processor time of the kernels and of all fits; see `mklearn.study.evaluation.sweeps.Outcome`."""
    predict_seconds: float


@dataclass
class RuleResult:
    """The chosen candidate of one nearest-neighbour rule, fitted, and its predictions."""

    candidate: Candidate
    fitted: Fitted
    predictions: RulePredictions

    @property
    def estimator(self) -> Any:
        """The fitted estimator; of an embedding fitted for several sizes, the last and largest."""
        return self.fitted.outcome.estimator_at(self.predictions.position)


@dataclass
class SplitResult:
    """The results of one split by nearest-neighbour rule."""

    rules: dict[str, RuleResult] = field(default_factory=dict)
    selection_message: str = ""
    """Why there was no inner cross-validation, when there was none."""
    scalings: Mapping[str, FeatureScaling] = field(default_factory=dict)
    """Those that the training samples have chosen, see `mklearn.study.evaluation.candidates`."""


@dataclass(frozen=True)
class Choice:
    """The parameters that were chosen for one split, or for several together."""

    parameters: dict[str, Any]
    """With the kernel weights that follow from accuracies, where the method has them."""
    by_rule: dict[str, tuple[int, int | None]]
    """By nearest-neighbour rule the candidate, and the position of its number of components; None without a choice."""
    message: str = ""
    """Why there is no position."""


def evaluate_split(
    problem: MethodOnViews, train: Indices, test: Indices, *, evaluation: EvaluationSpec, seed: int,
    groups: NDArray[np.str_] | None = None, shared: Choice | None = None,
) -> SplitResult:  # fmt: skip
    """Fit one method on ``train`` and predict ``test``.

    Parameters
    ----------
    problem : MethodOnViews
    train, test : indices into the samples
    evaluation : EvaluationSpec
        Rules of the 1-nearest-neighbour classifier, inner folds, choice of parameters. A classifier has the
        single rule "".
    seed : of the inner folds.
    groups : (n,) array of str, optional
        Group of each sample, such as a person. If no group has samples in both parts, the inner cross-validation
        holds out whole groups too.
    shared : Choice, optional
        Taken in place of an inner cross-validation.

    Raises
    ------
    NotApplicable, SolverFailed
        The method can't run on this split; the caller records it.
    """
    y = problem.y
    fits, choice = fits_and_choice(problem, train, test, evaluation=evaluation, seed=seed, groups=groups, shared=shared)
    problem = fits.problem
    grid, final = candidates(problem.method, problem.n_kernels), dict[int, Fitted]()
    result = SplitResult(selection_message=choice.message, scalings=problem.scalings)
    for rule, (number, position) in choice.by_rule.items():
        if number not in final:
            final[number] = fits.fit(grid[number], train, test)
        result.rules[rule] = rule_result(final[number], grid[number], position, rule, y[train], y[test])
    return result


def fits_and_choice(
    problem: MethodOnViews, train: Indices, test: Indices, *, evaluation: EvaluationSpec, seed: int,
    groups: NDArray[np.str_] | None = None, shared: Choice | None = None,
) -> tuple[Fits, Choice]:  # fmt: skip
    """Return the fits of a method with the parameters that are chosen on one split; as :func:`evaluate_split`.

    The final model is that of the split in which all samples are training samples, and none is a test sample.
    """
    check_classes(problem.y[train])
    groups_of_train = held_out_groups(train, test, groups)
    fits = Fits(with_chosen_scalings(replace(problem, groups=groups), train, groups_of_train))
    choice = shared or choose_on_split(fits, train, test, evaluation=evaluation, seed=seed)
    fits.problem = fits.problem.with_parameters(choice.parameters)
    return fits, choice


def choose_on_split(fits: Fits, train: Indices, test: Indices, *, evaluation: EvaluationSpec, seed: int) -> Choice:
    """Choose the parameters of a method by inner cross-validation, or by the test samples of ``choice="test_set"``.

    Raises
    ------
    NotApplicable, SolverFailed
        No candidate can be chosen. If only the number of components is open, the choice has no position instead.
    """
    y, groups = fits.problem.y, fits.problem.groups

    def parts() -> Parts:
        if evaluation.choice == "test_set":
            return [(train, test)]
        return folds_of_training(y, train, test, evaluation.inner_folds, seed, groups)

    return _choice(fits.problem, parts, evaluation, fits, train)


def choose_once(problem: MethodOnViews, parts: Parts, *, evaluation: EvaluationSpec) -> Choice:
    """Choose the parameters of a method for several splits together, by the mean score over the parts.

    Parameters
    ----------
    problem, evaluation
        As for :func:`evaluate_split`; with the groups of the samples.
    parts : list of (indices, indices)
        Samples that every candidate trains on, and samples that it is validated on. Only one part's kernels are held.

    Raises
    ------
    NotApplicable, SolverFailed
        As `choose_on_split`. A candidate that fails on one part is not chosen.
    """
    for train, _ in parts:
        check_classes(problem.y[train])
    return _choice(problem, lambda: parts, evaluation)


def _choice(
    problem: MethodOnViews, parts: Callable[[], Parts], evaluation: EvaluationSpec, fits: Fits | None = None,
    train: Indices | None = None,
) -> Choice:  # fmt: skip
    """Choose by the scores on parts, which a method without a choice does not need.

    With the training samples of a single split, and its fits, a method may share the work of leaving each sample out.
    """
    sweep, by_accuracy = sweep_of(problem.method), problem.method.kernel_choice == "cv_accuracy"
    rules, on_test = sweep.rules(evaluation.neighbours), evaluation.choice == "test_set"
    if by_accuracy:
        problem = _weighted_by_accuracy(problem, evaluation, parts())
    grid, message = candidates(problem.method, problem.n_kernels), ""
    by_rule: dict[str, tuple[int, int | None]] = dict.fromkeys(rules, (0, -1))
    is_open = len(grid) > 1 or (sweep.has_components and evaluation.components != "all")
    try:
        if is_open and fits is not None and train is not None and _leaves_out_samples(fits, evaluation, train, parts()):
            by_rule = _by_leaving_one_out(fits, grid, train, evaluation, rules)
        elif is_open:
            metric, given = metric_named(evaluation.choose_by), parts()
            scores = _scores_on_parts(problem, grid, given, metric, rules, fits if on_test else None)
            n_validation = sum(len(validation) for _, validation in given)
            by_rule = {rule: select(mean_curves(scores[rule]), evaluation.components, n_validation) for rule in rules}
    except (NotApplicable, SolverFailed) as reason:
        if len(grid) > 1:
            raise
        by_rule, message = dict.fromkeys(rules, (0, None)), str(reason)  # report all numbers of components
    if on_test and (is_open or by_accuracy):
        by_rule, message = {rule: (number, None) for rule, (number, _) in by_rule.items()}, message or ON_TEST
    return Choice(problem.method.parameters, by_rule, message)


def _leaves_out_samples(fits: Fits, evaluation: EvaluationSpec, train: Indices, parts: Parts) -> bool:
    """Tell whether single samples are left out, by a method that shares the work of that."""
    shares_work = hasattr(load(fits.problem.method.implementation), "leave_one_out")
    return (
        evaluation.inner_folds == "leave_one_out" and len(parts) == len(train) and fits.problem.only_kernels
        and isinstance(fits.sweep, LeadingDimensions) and shares_work
    )  # fmt: skip


def _by_leaving_one_out(
    fits: Fits, grid: Sequence[Candidate], train: Indices, evaluation: EvaluationSpec, rules: Sequence[str]
) -> dict[str, tuple[int, int | None]]:
    """Choose by embeddings without each training sample, on the kernels of all of them."""
    y, samples = fits.problem.y[train], CachingViews(fits.problem.of(train))

    def refits(number: int) -> Refits:
        kernels = StackTransform(fits.problem.kernel_specs(grid[number])).fit_transform(samples)
        order = hardest_first(kernels.matrices.mean(axis=0), y)
        return fits.problem.unfitted(grid[number]).leave_one_out(samples, y, order)

    score = partial(leading_scores, metric_named(evaluation.choose_by))
    return select_by_leaving_one_out(refits, range(len(grid)), y, rules, score, evaluation.components)


class PreparedSamples(NamedTuple):
    """Training and test samples of a fit, with the kernels that candidates share."""

    train: CachingViews
    test: CachingViews
    kernels: StackTransform | None
    """All kernels of the method, fitted to the training samples."""
    seconds: float
    """Processor time of the kernels; see `mklearn.study.evaluation.sweeps.Outcome`."""


class Fits:
    """Fits of a method's candidates; the samples of each split or fold are selected, and their kernels computed, once.

    Parameters
    ----------
    problem : MethodOnViews
    """

    def __init__(self, problem: MethodOnViews) -> None:
        self.problem = problem
        self.sweep = sweep_of(problem.method)
        self._prepared: dict[bytes, PreparedSamples] = {}

    def prepared(self, train: Indices, test: Indices) -> PreparedSamples:
        """Return the samples with all kernels of the method."""
        problem, name = self.problem, test.tobytes()
        if name not in self._prepared:
            samples, others = CachingViews(problem.of(train)), CachingViews(problem.of(test))
            kernels, started = None, time.process_time()
            if problem.kernels:
                # constant kernels are dropped here, as an estimator that takes none refuses them itself
                kernels = StackTransform(specs_by_name(problem.kernels), drop_constant=True)
                kernels.fit_transform(samples)
                kernels.transform(others)
            self._prepared[name] = PreparedSamples(samples, others, kernels, time.process_time() - started)
        return self._prepared[name]

    def fit(self, candidate: Candidate, train: Indices, test: Indices) -> Fitted:
        """Fit a candidate on the training samples and apply it to both.

        Raises
        ------
        NotApplicable, SolverFailed
            Also for a failure of linear algebra: one candidate of a grid may fail, and the others go on.
        """
        problem, samples = self.problem, self.prepared(train, test)
        whole = held_out_groups(train, test, problem.groups) is not None
        fit_parameters = problem.fit_parameters(train) if whole else {}
        try:
            outcome = self.sweep.run(
                partial(problem.unfitted, candidate), samples.train, problem.y[train], samples.test, **fit_parameters
            )
        except np.linalg.LinAlgError as reason:
            raise SolverFailed(f"linear algebra failed: {reason}") from reason
        weights = np.zeros(problem.n_kernels)
        if weights.size:
            place = slice(None) if candidate.kernel is None else slice(candidate.kernel, candidate.kernel + 1)
            weights[place] = getattr(outcome.estimators[-1], "kernel_weights_", np.nan)
        elif problem.method.dictionary_views:
            shares = outcome.estimators[-1].view_shares_
            weights = np.array([shares[name] for name in problem.method.dictionary_views])
        info = [] if samples.kernels is None else samples.kernels.infos
        return Fitted(outcome, weights, info, samples.seconds + outcome.fit_seconds, outcome.predict_seconds)


def rule_result(
    fitted: Fitted, candidate: Candidate, position: int | None, rule: str, y_train: NDArray[Any], y_test: NDArray[Any]
) -> RuleResult:
    """Predict the test samples, with the chosen number of components at a position: -1 is the last."""
    started = time.process_time()
    outcome = fitted.outcome
    labels = np.array(outcome.labels(rule, y_train))
    fitted.predict_seconds += time.process_time() - started
    nearest, distances = np.full(len(y_test), -1), np.full(len(y_test), np.nan)
    if position is not None:
        position = range(len(labels))[min(position, len(labels) - 1)]
        nearest, distances = outcome.nearest(rule, position, y_train)
    models = [{name: given(name) for name in STORED} for given in outcome.given]
    predictions = RulePredictions(
        y_train, y_test, labels, outcome.components, position, nearest, distances, models
    )  # fmt: skip
    return RuleResult(candidate, fitted, predictions)


def check_classes(y_train: NDArray[np.int64]) -> None:
    """Raise NotApplicable for a single class: methods without labels would always be right, scikit-learn's fail.

    So it is of a single number, by whose spread errors are measured.
    """
    if np.unique(y_train).size > 1:
        return
    if target_of(y_train) == "numbers":
        raise NotApplicable(f"the target is {y_train[0]:g} for all training samples: there is nothing to learn")
    raise NotApplicable("the training samples are of one class only: no class can be discriminated")


def folds_of_training(
    y: NDArray[Any], train: Indices, test: Indices, n_folds: InnerFolds, seed: int, groups: NDArray[np.str_] | None
) -> Parts:
    """Return the inner folds of training samples, of whole groups if the test samples are of other groups.

    Raises
    ------
    NotApplicable
        See :func:`mklearn.base.folds.inner_folds`.
    """
    folds = inner_folds(y[train], n_folds, seed, held_out_groups(train, test, groups), target_of(y))
    return [(train[fit_on], train[validate_on]) for fit_on, validate_on in folds]


def held_out_groups(train: Indices, test: Indices, groups: NDArray[np.str_] | None) -> NDArray[np.str_] | None:
    """Return the groups of the training samples, if none of them has test samples: inner folds are of whole groups."""
    return None if groups is None or np.isin(groups[test], groups[train]).any() else groups[train]


def _scores_on_parts(
    problem: MethodOnViews, grid: Sequence[Candidate], parts: Parts, metric: Metric, rules: Sequence[str],
    fits: Fits | None = None,
) -> dict[str, list[Scores]]:  # fmt: skip
    """Compute by each rule the scores of all candidates, part after part, or why a candidate has none.

    ``fits`` are those that a single part takes, whose kernels are kept.
    """
    scores: dict[str, list[Scores]] = {rule: [[] for _ in grid] for rule in rules}
    for train, validation in parts:
        y, y_validation = problem.y[train], problem.y[validation]
        groups = held_out_groups(train, validation, problem.groups)
        own = fits or Fits(with_chosen_scalings(problem, train, groups))
        for number, candidate in enumerate(grid):
            if any(isinstance(of_rule[number], str) for of_rule in scores.values()):
                continue
            try:
                outcome = own.fit(candidate, train, validation).outcome
                for rule, of_rule in scores.items():
                    of_rule[number] = [*of_rule[number], outcome.scores(metric, rule, y, y_validation)]
            except (NotApplicable, SolverFailed) as reason:
                for of_rule in scores.values():
                    of_rule[number] = str(reason)
    return scores


def _weighted_by_accuracy(problem: MethodOnViews, evaluation: EvaluationSpec, parts: Parts) -> MethodOnViews:
    """Return the method with the squared accuracies of each kernel alone as weights, whose sum is 1.

    They are by the first nearest-neighbour rule, at the dimension that the kernel alone would be given. Gehler, Nowozin
    (2009) find such weights hard to beat; a kernel that fails alone gets none.
    """
    method, metric = problem.method, metric_named("accuracy")
    rule = sweep_of(method).rules(evaluation.neighbours)[0]
    first = method.parameters | {name: values[0] for name, values in method.grid.items()}
    alone = [Candidate(first, kernel) for kernel in range(problem.n_kernels)]
    curves = mean_curves(_scores_on_parts(problem, alone, parts, metric, [rule])[rule])
    n_validation = sum(len(validation) for _, validation in parts)
    squared = np.zeros(len(curves))
    for kernel in np.flatnonzero(np.isfinite(curves).any(axis=1)):
        _, dimension = choose(curves[kernel : kernel + 1], evaluation.components, n_validation)
        squared[kernel] = curves[kernel, dimension - 1] ** 2
    if not squared.sum() > 0:
        raise SolverFailed("no kernel alone discriminates any class in the inner cross-validation: no weights")
    weights = [float(weight) for weight in squared / squared.sum()]
    return problem.with_parameters(method.parameters | {"kernel_weights": weights})
