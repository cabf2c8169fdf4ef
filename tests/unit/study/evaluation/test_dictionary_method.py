"""A method with a dictionary of kernels in evaluation: the estimator on the views, with the groups of the samples."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mklearn.classifiers import MultiViewClassifier
from mklearn.contract.fit_spec import EvaluationSpec, InputSpec, MethodSpec
from mklearn.kernels import Views
from mklearn.study.config.registry import registered
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.split import evaluate_split


def problem(views: Views, y: np.ndarray) -> MethodOnViews:
    model = registered("methods")["multi_view"](kind="multi_view")
    inputs = {"kernels": InputSpec(kind="kernels", descriptors=list(views.names))}
    method = MethodSpec(
        id="m", implementation=model.implementation, parameters=model.parameters(), sweep=model.sweep(), inputs=inputs
    )
    return MethodOnViews(views, y, method)


@pytest.mark.parametrize("how", ["no groups", "whole groups", "groups on both sides"])
def test_groups_are_left_out_where_test_samples_are_of_others(how: str) -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] + np.random.default_rng(0).normal(scale=8, size=(300, 64)), y[:300]
    views = Views({"upper": X[:, :32], "lower": X[:, 32:]})
    train, test = np.arange(200), np.arange(200, 300)
    groups = None if how == "no groups" else (np.arange(300) // 10 if how == "whole groups" else np.arange(300) % 20)
    names = None if groups is None else groups.astype(str)
    result = evaluate_split(
        problem(views, y), train, test, evaluation=EvaluationSpec(neighbours=["euclidean"], inner_folds=3), seed=0,
        groups=names,
    )  # fmt: skip
    (fitted,) = result.rules[""].fitted.outcome.estimators
    given = names[train] if how == "whole groups" else None
    expected = MultiViewClassifier().fit(views[train], y[train], groups=given)
    np.testing.assert_array_equal(fitted.class_scores(views[test]), expected.class_scores(views[test]))
    assert fitted.inverse_temperature_ == expected.inverse_temperature_
    if how == "whole groups":
        assert fitted.inverse_temperature_ != MultiViewClassifier().fit(views[train], y[train]).inverse_temperature_
