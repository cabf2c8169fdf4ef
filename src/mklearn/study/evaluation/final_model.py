"""The final model of a study: the split in which all samples are training samples."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from mklearn.study.evaluation.candidates import MethodOnViews, with_chosen_scalings
from mklearn.study.evaluation.fitted import possible_sizes
from mklearn.study.evaluation.split import check_classes, choose_on_split
from mklearn.study.specs.fit_spec import RULE, FitSpec


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
        How the method is evaluated, and its seed.

    Raises
    ------
    NotApplicable, SolverFailed
        No parameters can be chosen.
    """
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
