"""Metrics of predictions: of one nearest-neighbour rule on one split, and of a fit."""

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from mklearn.study.data.splits import Split
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.metrics.metric import metric_named
from mklearn.study.evaluation.score_table import evaluated_fit
from mklearn.study.evaluation.split import RuleResult, SplitResult, choose_once, evaluate_split
from mklearn.study.specs.fit_spec import EvaluationSpec


def scores(found: RuleResult, metric: str = "accuracy") -> NDArray[np.float64]:
    """Compute a metric at each number of components."""
    return found.predictions.scores(metric_named(metric))


def chosen_score(found: RuleResult, metric: str = "accuracy") -> float | None:
    """Compute a metric at the chosen number of components; None without a choice."""
    position = found.predictions.position
    return None if position is None else float(scores(found, metric)[position])


def component(found: RuleResult) -> int | None:
    """Return the chosen number of components; None of a method without any, and without a choice."""
    position, components = found.predictions.position, found.predictions.components
    return components[position] if components and position is not None else None


def rows_of(fit: Path, *metrics: str) -> pd.DataFrame:
    """Return the score rows of a fit, given the file of its predictions."""
    return evaluated_fit(fit, metrics or ["accuracy"])[0]


def samples_of(fit: Path, *metrics: str) -> pd.DataFrame:
    """Return the table of the predictions of a fit."""
    return evaluated_fit(fit, metrics or ["accuracy"])[1]


def evaluate_draw(problem: MethodOnViews, models: Sequence[Split], evaluation: EvaluationSpec) -> list[SplitResult]:
    """Choose parameters by the validation parts of models that share a test part, and evaluate each of them."""
    parts = [(split.train, split.validation) for split in models if split.validation is not None]
    choice = choose_once(problem, parts, evaluation=evaluation)
    return [
        evaluate_split(problem, split.train, split.test, evaluation=evaluation, seed=0, choice=choice)
        for split in models
    ]
