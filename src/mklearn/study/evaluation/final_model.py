"""The final model of a study: the split in which all samples are training samples.

Parameters are chosen by the method's own inner cross-validation, as on every other split.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from mklearn.base.landmark_moments import landmark_features
from mklearn.study.data.splits import Split
from mklearn.study.evaluation.candidates import MethodOnViews, candidates, with_chosen_scalings
from mklearn.study.evaluation.landmarks import Fits as LandmarkFits
from mklearn.study.evaluation.landmarks import Folds, SplitMoments, choose, class_codes
from mklearn.study.evaluation.split import Fits, check_classes, choose_on_split
from mklearn.study.evaluation.sweeps import Refit
from mklearn.study.specs.fit_spec import NUMBER_OF_LANDMARKS, RULE, FeatureScaling, FitSpec, Impute, specs_by_name

COMPLETION = {"missing_views": "mean"}
"""Of kernels whose new samples may lack a view."""


@dataclass(frozen=True)
class FinalModel:
    """An estimator with the parameters that were chosen on all samples."""

    estimator: Any
    """Not fitted; it takes views."""
    parameters: dict[str, Any]
    """Of the method, without ``kernels``; with ``landmarks`` if it has any."""
    kernels: dict[str, dict[str, Any]] = field(default_factory=dict)
    """Specs of its kernels by name; empty for a method on features or images."""
    feature_scaling: FeatureScaling | None = None
    """That of a method's features with ``auto``; those of kernels are in their specs."""
    impute: Impute = "none"
    """How missing values are filled in."""


def final_model(
    problem: MethodOnViews, spec: FitSpec, groups: NDArray[np.str_] | None = None, *, completes: bool = False
) -> FinalModel:
    """Choose the parameters of a method by its inner cross-validation on all samples.

    Parameters
    ----------
    problem : MethodOnViews
        With kernels on features only.
    spec : FitSpec
        How the method is evaluated, its seed and its landmarks.
    groups : (n,) array of str, optional
        The inner cross-validation holds out whole groups.
    completes : bool
        Whether kernels complete samples that lack a view, see `mklearn.kernels.completion`.

    Raises
    ------
    NotApplicable, SolverFailed
        No parameters can be chosen.
    """
    every = np.arange(len(problem.y))
    if spec.landmarks is not None:
        return _model_on_landmarks(problem, spec, groups, completes)
    check_classes(problem.y)
    fits = Fits(with_chosen_scalings(replace(problem, groups=groups), every, groups))
    choice = choose_on_split(fits, every, every[:0], evaluation=spec.evaluation, seed=spec.seed)
    problem, sweep = fits.problem.with_parameters(choice.parameters), fits.sweep
    (rule,) = [rule for rule in choice.by_rule if rule in ("", RULE)]
    number, position = choice.by_rule[rule]
    candidate = candidates(problem.method, problem.n_kernels)[number]
    sized: dict[str, Any] = {}
    if isinstance(sweep, Refit):
        sizes = sweep.possible_sizes(problem.of(every), problem.y)
        sized = {"n_components": sizes[-1 if position is None else position]}
    elif sweep.has_components and position not in (None, -1):
        sized = {"n_components": position + 1}
    if completes:
        problem = _completing(problem)
    first = next(iter(problem.method.inputs))
    imputed: list[Impute] = [kernel.get("impute", "none") for kernel in problem.kernels]
    imputed += [entry.impute for entry in problem.method.inputs.values()]
    imputed += [candidate.parameters.get("impute", "none")]  # of a method with a dictionary of kernels
    return FinalModel(
        problem.unfitted(candidate, **sized),
        candidate.parameters | sized,
        problem.kernel_specs(candidate),
        problem.scalings.get(first),
        next((strategy for strategy in imputed if strategy != "none"), "none"),
    )


def _model_on_landmarks(
    problem: MethodOnViews, spec: FitSpec, groups: NDArray[np.str_] | None, completes: bool
) -> FinalModel:
    """Choose by the moments of folds, of features that landmarks among all samples give."""
    settings, y = spec.landmarks, problem.y
    assert settings is not None
    assert isinstance(spec.evaluation.inner_folds, int)
    check_classes(y)
    landmarks = settings.parameter(spec.seed)
    grid, number = candidates(problem.method, problem.n_kernels), 0
    if len(grid) > 1:
        every = Split(0, 0, np.arange(len(y)), np.arange(0))
        folds = Folds.of(y, every, spec.evaluation.inner_folds, spec.seed, groups)
        views = problem.of(every.train)
        own = {name: views[name] for name in views.names}
        made = landmark_features(specs_by_name(problem.kernels), landmarks).fit(own, class_codes(y))
        moments = SplitMoments.of_rows(made, own, every.train, y, folds)
        by_rule = choose(LandmarkFits(problem.method, made), moments, grid, spec.evaluation)
        number = by_rule[RULE if RULE in by_rule else ""]
    parameters = dict(grid[number].parameters)
    landmarks["n"] = parameters.pop(NUMBER_OF_LANDMARKS, settings.most)
    candidate = replace(grid[number], parameters=parameters | {"landmarks": landmarks})
    if completes and settings.how != "leverage":  # whose scores need every view of every sample
        problem = _completing(problem)
    return FinalModel(problem.unfitted(candidate), candidate.parameters, problem.kernel_specs(candidate))


def _completing(problem: MethodOnViews) -> MethodOnViews:
    return replace(problem, kernels=[{**kernel, **COMPLETION} for kernel in problem.kernels])
