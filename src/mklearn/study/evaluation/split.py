"""One method on one split: choose parameters on the training samples, fit, and predict the test samples.

Nothing of the test samples enters the fit: bandwidths, centring, normalisation and the repair of indefinite kernels
are fitted on the training samples, and again on the inner training samples in the inner cross-validation. (Where an
estimator shares the work of leaving each sample out, the kernels of all training samples are taken for that.)

The exception is ``choice="test_set"``, which chooses parameters by the labels of the test samples, to show the bias of
that. Such values are an oracle's: beside them there is none that was chosen without the test samples.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.base.folds import inner_folds
from mklearn.contract.fit_spec import Components, EvaluationSpec, FeatureScaling, InnerFolds, MethodSpec, specs_by_name
from mklearn.contract.loading import load
from mklearn.errors import NotApplicable, SolverFailed
from mklearn.kernels.kernel_cache import CachingViews
from mklearn.kernels.specs import StackTransform
from mklearn.study.data.samples import target_of
from mklearn.study.evaluation.candidates import Candidate, Indices, MethodOnViews, candidates, first_candidates
from mklearn.study.evaluation.metrics.metric import Metric, metric_named
from mklearn.study.evaluation.outputs import STORED, RulePredictions
from mklearn.study.evaluation.scalings import with_chosen_scalings
from mklearn.study.evaluation.selection import (
    UPPER_BOUND,
    Curves,
    Refits,
    hardest_first,
    select_by_leaving_one_out,
    select_by_race,
    select_by_scores,
)
from mklearn.study.evaluation.selection import (
    choose as choose_one,
)
from mklearn.study.evaluation.sweeps import Outcome, leading_scores, sweep_of

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
    """Those that the training samples have chosen, see `mklearn.study.evaluation.scalings`."""


@dataclass(frozen=True)
class SharedChoice:
    """What was chosen for all splits together, see :func:`choose_once`."""

    parameters: dict[str, Any]
    """With the kernel weights that follow from accuracies, where the method has them."""
    by_rule: dict[str, tuple[int, int | None]]
    """By nearest-neighbour rule the candidate, and the position of its number of components; None without a choice."""
    message: str = ""
    """Why there is no position."""

    def on(self, method: MethodSpec) -> MethodSpec:
        return method.model_copy(update={"parameters": self.parameters})


def evaluate_split(
    problem: MethodOnViews, train: Indices, test: Indices, *, evaluation: EvaluationSpec, seed: int,
    choose: bool = True, groups: NDArray[np.str_] | None = None, shared: SharedChoice | None = None,
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
    choose : bool
        Whether inner cross-validation chooses; if not, the first candidate is fitted and all components are reported.
    groups : (n,) array of str, optional
        Group of each sample, such as a person. If no group has samples in both parts, the inner cross-validation
        holds out whole groups too.
    shared : SharedChoice, optional
        Taken in place of an inner cross-validation.

    Raises
    ------
    NotApplicable, SolverFailed
        The method can't run on this split; the caller records it.
    """
    y, problem = problem.y, replace(problem, groups=groups)
    check_classes(y[train])
    problem = with_chosen_scalings(problem, train, held_out_groups(train, test, groups))
    if shared is not None:
        problem = replace(problem, method=shared.on(problem.method))
    elif problem.method.kernel_choice == "cv_accuracy":
        parts = _validation_parts(y, train, test, evaluation, seed, groups)
        problem = _weighted_by_accuracy(problem, evaluation, parts)
    grid = candidates(problem.method, problem.n_kernels)
    fits = Fits(problem)
    sweep = fits.sweep
    rules = sweep.rules(evaluation.neighbours)
    open_components = sweep.has_components and evaluation.components != "all"
    unknown = open_components or not choose
    chosen: dict[str, tuple[int, int | None]] = dict.fromkeys(rules, (0, None if unknown else -1))
    result = SplitResult(scalings=problem.scalings)
    try:
        if shared is not None:
            chosen, result.selection_message = shared.by_rule, shared.message
        elif choose and (len(grid) > 1 or open_components):  # else there is nothing to choose
            parts = _validation_parts(y, train, test, evaluation, seed, groups)
            chosen = _choose(fits, grid, train, test, evaluation, parts)
            if evaluation.choice == "test_set":
                chosen = {rule: (number, None) for rule, (number, _) in chosen.items()}
                result.selection_message = ON_TEST
    except (NotApplicable, SolverFailed) as reason:
        if len(grid) > 1:
            raise
        result.selection_message = str(reason)  # only the number of components is open: report all of them
    if choose and evaluation.choice == "test_set" and problem.method.kernel_choice == "cv_accuracy":
        chosen = {rule: (number, None) for rule, (number, _) in chosen.items()}  # by accuracies on the test samples
        result.selection_message = ON_TEST
    final: dict[int, Fitted] = {}
    for rule, (number, position) in chosen.items():
        if number not in final:
            final[number] = fits.fit(grid[number], train, test)
        result.rules[rule] = rule_result(final[number], grid[number], position, rule, y[train], y[test])
    return result


def choose_once(problem: MethodOnViews, parts: Parts, *, evaluation: EvaluationSpec) -> SharedChoice | None:
    """Choose the parameters of a method for several splits together, by the mean score over the parts.

    Parameters
    ----------
    problem, evaluation
        As for :func:`evaluate_split`; with the groups of the samples.
    parts : list of (indices, indices)
        Samples that every candidate trains on, and samples that it is validated on. Only one part's kernels are held.

    Returns
    -------
    shared : SharedChoice or None
        None if there is nothing to choose. Without a position if no part could choose a number of components.

    Raises
    ------
    NotApplicable, SolverFailed
        No candidate can be chosen. A candidate that fails on one part is not chosen.
    """
    for train, _ in parts:
        check_classes(problem.y[train])
    by_accuracy = problem.method.kernel_choice == "cv_accuracy"
    if by_accuracy:
        problem = _weighted_by_accuracy(problem, evaluation, parts)
    grid, sweep = candidates(problem.method, problem.n_kernels), sweep_of(problem.method)
    rules, parameters = sweep.rules(evaluation.neighbours), problem.method.parameters
    if len(grid) == 1 and not (sweep.has_components and evaluation.components != "all"):
        return SharedChoice(parameters, dict.fromkeys(rules, (0, -1))) if by_accuracy else None
    scores = _scores_on_parts(problem, grid, parts, metric_named(evaluation.choose_by), rules)
    n_validation = sum(len(validation) for _, validation in parts)
    try:
        found = {rule: select_by_scores(scores[rule], evaluation.components, n_validation) for rule in rules}
    except SolverFailed as reason:
        if len(grid) > 1:
            raise
        return SharedChoice(parameters, dict.fromkeys(rules, (0, None)), str(reason))  # report all components
    return SharedChoice(parameters, {rule: (each.candidate, each.position) for rule, each in found.items()})


def choose_on_training_samples(
    problem: MethodOnViews, train: Indices, *, evaluation: EvaluationSpec, seed: int,
    groups: NDArray[np.str_] | None = None,
) -> SharedChoice | None:  # fmt: skip
    """Choose the parameters of a method by inner cross-validation, as :func:`evaluate_split` does.

    Parameters
    ----------
    problem, train, evaluation, seed
        As for :func:`evaluate_split`, with chosen scalings.
    groups : (n,) array of str, optional
        The inner cross-validation holds out whole groups.

    Returns
    -------
    shared : SharedChoice or None
        None if there is nothing to choose, or only a number of components by which no fold could choose.

    Raises
    ------
    NotApplicable, SolverFailed
        No candidate can be chosen.
    """
    check_classes(problem.y[train])
    by_accuracy = problem.method.kernel_choice == "cv_accuracy"
    try:
        parts = _validation_parts(problem.y, train, train[:0], evaluation, seed, groups)
        if by_accuracy:
            problem = _weighted_by_accuracy(problem, evaluation, parts)
        grid, fits = candidates(problem.method, problem.n_kernels), Fits(problem)
        by_rule: dict[str, tuple[int, int | None]] = dict.fromkeys(fits.sweep.rules(evaluation.neighbours), (0, -1))
        if len(grid) > 1 or (fits.sweep.has_components and evaluation.components != "all"):
            by_rule = _choose(fits, grid, train, train[:0], evaluation, parts)
        elif not by_accuracy:
            return None
        return SharedChoice(problem.method.parameters, by_rule)
    except (NotApplicable, SolverFailed):
        if by_accuracy or len(candidates(problem.method, problem.n_kernels)) > 1:
            raise
        return None


@dataclass(frozen=True)
class PreparedSamples:
    """Training and test samples of a fit, with the kernels that candidates share.

    Attributes
    ----------
    train, test : CachingViews
        ``test`` is None without test samples.
    kernels : StackTransform or None
        All kernels of the method, fitted to the training samples.
    seconds : float
        Processor time of the kernels; see `mklearn.study.evaluation.sweeps.Outcome`.
    """

    train: CachingViews
    test: CachingViews | None
    kernels: StackTransform | None = None
    seconds: float = 0.0


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

    def without_spectra(self) -> Fits:
        """Return the same fits, without eigenvalues of kernels that are only shown."""
        return Fits(replace(self.problem, spectra=False)) if self.problem.spectra else self

    def prepared(self, train: Indices, test: Indices) -> PreparedSamples:
        """Return the samples with all kernels of the method."""
        problem, name = self.problem, test.tobytes()
        if name not in self._prepared:
            known = CachingViews(problem.of(train))
            asked = CachingViews(problem.of(test)) if len(test) else None
            kernels, started = None, time.process_time()
            if problem.kernels:
                # constant kernels are dropped here, as an estimator that takes none refuses them itself
                kernels = StackTransform(specs_by_name(problem.kernels), spectra=problem.spectra, drop_constant=True)
                kernels.fit_transform(known)
                if asked is not None:
                    kernels.transform(asked)
            self._prepared[name] = PreparedSamples(known, asked, kernels, time.process_time() - started)
        return self._prepared[name]

    def fit(self, candidate: Candidate, train: Indices, test: Indices) -> Fitted:
        """Fit a candidate on the training samples and apply it to both.

        Raises
        ------
        NotApplicable, SolverFailed
            Also for a failure of linear algebra: one candidate of a grid may fail, and the others go on.
        """
        problem, samples = self.problem, self.prepared(train, test)
        assert samples.test is not None
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


def _choose(
    fits: Fits, grid: Sequence[Candidate], train: Indices, test: Indices, evaluation: EvaluationSpec, parts: Parts
) -> dict[str, tuple[int, int | None]]:
    """Choose by each rule the candidate and the position of its number of components, by the validation parts."""
    problem, metric = fits.problem, metric_named(evaluation.choose_by)
    y = problem.y
    rules = fits.sweep.rules(evaluation.neighbours)
    inner = fits if evaluation.choice == "test_set" else fits.without_spectra()

    def on_parts(number: int) -> Curves:
        """Yield scores of fits without each validation part in turn."""
        for known, asked in parts:
            outcome = inner.fit(grid[number], known, asked).outcome
            yield {rule: outcome.scores(metric, rule, y[known], y[asked]) for rule in rules}

    def refits(number: int) -> Refits:
        """Yield embeddings without each training sample in turn, on the kernels of all of them."""
        candidate = grid[number]
        samples = fits.prepared(train, test).train
        kernels = StackTransform(problem.kernel_specs(candidate)).fit_transform(samples)
        order = hardest_first(kernels.matrices.mean(axis=0), y[train])
        return problem.unfitted(candidate).leave_one_out(samples, y[train], order)

    numbers = range(len(grid))
    implementation = load(problem.method.implementation)
    shared = problem.only_kernels and fits.sweep.leave_one_out(implementation) is not None
    if evaluation.inner_folds == "leave_one_out" and len(parts) == len(train) and shared:
        fits.prepared(train, test)
        score = partial(leading_scores, metric)
        selections = select_by_leaving_one_out(refits, numbers, y[train], rules, score, evaluation.components)
    else:
        n_asked = sum(len(asked) for _, asked in parts)
        selections = select_by_race(on_parts, numbers, len(parts), rules, evaluation.components, n_asked)
    return {rule: (selection.candidate, selection.position) for rule, selection in selections.items()}


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
    models = [{name: given(name) for name in STORED} for given in outcome.given(len(y_train))]
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


def _validation_parts(
    y: NDArray[np.int64], train: Indices, test: Indices, evaluation: EvaluationSpec, seed: int,
    groups: NDArray[np.str_] | None,
) -> Parts:  # fmt: skip
    """Return the samples that candidates are fitted on and asked for: inner folds, or all training and test samples."""
    if evaluation.choice == "test_set":
        return [(train, test)]
    return folds_of_training(y, train, test, evaluation.inner_folds, seed, groups)


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
    problem: MethodOnViews, grid: Sequence[Candidate], parts: Parts, metric: Metric, rules: Sequence[str]
) -> dict[str, list[list[NDArray[np.float64]] | str]]:
    """Compute by each rule the validation scores of all candidates, part after part; or why a candidate has none."""
    scores: dict[str, list[list[NDArray[np.float64]] | str]] = {rule: [[] for _ in grid] for rule in rules}
    for known, asked in parts:
        groups = held_out_groups(known, asked, problem.groups)
        fits = Fits(with_chosen_scalings(replace(problem, spectra=False), known, groups))
        for number, candidate in enumerate(grid):
            try:
                outcome = fits.fit(candidate, known, asked).outcome
                for rule, found in scores.items():
                    if isinstance(of_candidate := found[number], list):
                        of_candidate.append(outcome.scores(metric, rule, problem.y[known], problem.y[asked]))
            except (NotApplicable, SolverFailed) as reason:
                for found in scores.values():
                    found[number] = found[number] if isinstance(found[number], str) else str(reason)
    return scores


def _weighted_by_accuracy(problem: MethodOnViews, evaluation: EvaluationSpec, parts: Parts) -> MethodOnViews:
    """Return the method with weights from the accuracy of each kernel alone, by the first nearest-neighbour rule."""
    method, metric = problem.method, metric_named("accuracy")
    rule = sweep_of(method).rules(evaluation.neighbours)[0]
    scores = _scores_on_parts(problem, first_candidates(method, problem.n_kernels), parts, metric, [rule])[rule]
    n_asked = sum(len(asked) for _, asked in parts)
    curves = select_by_scores(scores, evaluation.components, n_asked).mean_scores
    weights = accuracy_weights(curves, evaluation.components, n_asked)
    return replace(
        problem, method=method.model_copy(update={"parameters": method.parameters | {"kernel_weights": weights}})
    )


def accuracy_weights(curves: NDArray[np.float64], components: Components, n_samples: int) -> list[float]:
    """Square the accuracy of each kernel alone in the inner cross-validation, at its chosen dimension; the sum is 1.

    Gehler, Nowozin (2009) find such weights hard to beat; a kernel that fails alone gets none.

    Parameters
    ----------
    curves : (n_kernels, p) array
        Mean validation accuracy of each kernel at each number of components.
    components, n_samples : see :func:`mklearn.study.evaluation.selection.choose`
    """
    known = np.isfinite(curves).any(axis=1)
    squared = np.zeros(len(curves))
    for kernel in np.flatnonzero(known):
        _, dimension = choose_one(curves[kernel : kernel + 1], components, n_samples)
        squared[kernel] = curves[kernel, dimension - 1] ** 2
    if not squared.sum() > 0:
        raise SolverFailed("no kernel alone discriminates any class in the inner cross-validation: no weights")
    return [float(weight) for weight in squared / squared.sum()]
