"""The final model of a study: the split in which all samples are training samples."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from mklearn.base.landmark_moments import landmark_features
from mklearn.study.data.splits import Split
from mklearn.study.evaluation.candidates import MethodOnViews, candidates, with_chosen_scalings
from mklearn.study.evaluation.fitted import possible_sizes
from mklearn.study.evaluation.landmarks import Fits as LandmarkFits
from mklearn.study.evaluation.landmarks import Folds, SplitMoments, choose, class_codes
from mklearn.study.evaluation.split import check_classes, choose_on_split
from mklearn.study.specs.fit_spec import NUMBER_OF_LANDMARKS, RULE, FitSpec, specs_by_name


class FinalModel(NamedTuple):
    """An estimator, not fitted, with the parameters that were chosen on all samples."""

    estimator: Any
    """It takes views."""
    parameters: dict[str, Any]
    """Of the method, without ``kernels``; with ``landmarks`` if it has any."""


def final_model(problem: MethodOnViews, spec: FitSpec) -> FinalModel:
    """Choose the parameters of a method by its inner cross-validation on all samples.

    Parameters
    ----------
    problem : MethodOnViews
        With kernels on features only. If it has groups, the inner cross-validation holds out whole ones.
    spec : FitSpec
        How the method is evaluated, its seed and its landmarks.

    Raises
    ------
    NotApplicable, SolverFailed
        No parameters can be chosen.
    """
    if spec.landmarks is not None:
        return _model_on_landmarks(problem, spec)
    every = np.arange(len(problem.y))
    check_classes(problem.y)
    problem = with_chosen_scalings(problem, every, every[:0])
    choice = choose_on_split(problem, every, every[:0], evaluation=spec.evaluation, seed=spec.seed)
    (number, position), *_ = [chosen for rule, chosen in choice.by_rule.items() if rule in ("", RULE)]
    candidate, refit = choice.candidates[number], problem.method.refit
    sized: dict[str, Any] = {}
    if refit is not None:
        sizes = possible_sizes(refit, problem.of(every), problem.y)
        sized = {"n_components": sizes[-1 if position is None else position]}
    elif problem.method.has_components and position not in (None, -1):
        sized = {"n_components": position + 1}
    return FinalModel(problem.unfitted(candidate, **sized), candidate.parameters | sized)


def _model_on_landmarks(problem: MethodOnViews, spec: FitSpec) -> FinalModel:
    """Choose by the moments of folds, of features that landmarks among all samples give."""
    settings, y = spec.landmarks, problem.y
    assert settings is not None
    assert isinstance(spec.evaluation.inner_folds, int)
    check_classes(y)
    landmarks = settings.parameter(spec.seed)
    grid, number = candidates(problem.method, len(problem.kernels)), 0
    if len(grid) > 1:
        every = Split(0, 0, np.arange(len(y)), np.arange(0))
        folds = Folds.of(y, every, spec.evaluation.inner_folds, spec.seed, problem.groups)
        views = problem.of(every.train)
        own = {name: views[name] for name in views.names}
        made = landmark_features(specs_by_name(problem.kernels), landmarks).fit(own, class_codes(y))
        moments = SplitMoments.of_rows(made, own, every.train, y, folds)
        by_rule = choose(LandmarkFits(problem.method, made), moments, grid, spec.evaluation)
        number = by_rule[RULE if RULE in by_rule else ""]
    parameters = dict(grid[number].parameters)
    landmarks["n"] = parameters.pop(NUMBER_OF_LANDMARKS, settings.most)
    candidate = replace(grid[number], parameters=parameters | {"landmarks": landmarks})
    return FinalModel(problem.unfitted(candidate), candidate.parameters)
