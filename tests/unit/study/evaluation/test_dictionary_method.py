"""A method with a dictionary of kernels in evaluation: the estimator on the views, with the groups of the samples."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.datasets import load_digits
from tests import entries

from mklearn.classifiers import MultiViewClassifier
from mklearn.kernels import Views
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.fit_records import model_arrays
from mklearn.study.evaluation.outputs import SplitRecord
from mklearn.study.evaluation.split import evaluate_split
from mklearn.study.specs.fit_spec import EvaluationSpec, InputSpec, MethodSpec


def problem(views: Views, y: np.ndarray) -> MethodOnViews:
    model = entries.method("multi_view")
    inputs = {"kernels": InputSpec(kind="kernels", descriptors=list(views.names))}
    method = MethodSpec(id="m", implementation=model.implementation, parameters=model.parameters(), inputs=inputs)
    return MethodOnViews(views, y, method)


@pytest.mark.parametrize("how", ["no groups", "whole groups", "groups on both sides"])
def test_groups_are_left_out_where_test_samples_are_of_others(how: str) -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] + np.random.default_rng(0).normal(scale=8, size=(300, 64)), y[:300]
    views = Views({"upper": X[:, :32], "lower": X[:, 32:]})
    train, test = np.arange(200), np.arange(200, 300)
    groups = None if how == "no groups" else (np.arange(300) // 10 if how == "whole groups" else np.arange(300) % 20)
    names = None if groups is None else groups.astype(str)
    evaluation = EvaluationSpec(neighbours=["euclidean"], inner_folds=3)
    result = evaluate_split(replace(problem(views, y), groups=names), train, test, evaluation=evaluation, seed=0)
    (fitted,) = result.rules[""].fitted.estimators
    given = names[train] if how == "whole groups" else None
    expected = MultiViewClassifier().fit(views[train], y[train], groups=given)
    np.testing.assert_array_equal(fitted.class_scores(views[test]), expected.class_scores(views[test]))
    assert fitted.inverse_temperature_ == expected.inverse_temperature_
    if how == "whole groups":
        assert fitted.inverse_temperature_ != MultiViewClassifier().fit(views[train], y[train]).inverse_temperature_


def test_its_weights_are_those_of_views() -> None:
    X, y = load_digits(return_X_y=True)
    views = Views(
        {"noise-0a": np.random.default_rng(0).normal(size=(200, 5)), "upper-0b": X[:200, :32], "lower-0c": X[:200, 32:]}
    )
    learned, train, test = problem(views, y[:200]), np.arange(150), np.arange(150, 200)
    evaluation = EvaluationSpec(neighbours=["euclidean"], inner_folds=3)
    result = evaluate_split(learned, train, test, evaluation=evaluation, seed=0)
    shares = MultiViewClassifier().fit(views[train], y[train]).view_shares_
    np.testing.assert_array_equal(result.rules[""].fitted.weights, [shares[name] for name in views.names])
    fitted = result.rules[""].fitted
    shown = {"weights": fitted.weights, "repeat": 0, "kernel_info": [], "history": [], "diagnostics": []}
    record = SplitRecord({}, {}, shown | {"embedding": {}})
    arrays = model_arrays([record], SimpleNamespace(kernels=[], method=learned.method))  # type: ignore[arg-type]
    assert arrays["kernel_ids"].tolist() == ["noise", "upper", "lower"]
    np.testing.assert_array_equal(arrays["weights"], [fitted.weights])
