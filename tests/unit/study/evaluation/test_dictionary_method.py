"""A method with a dictionary of kernels in evaluation: the estimator on the views, with the groups of the samples."""

from types import SimpleNamespace

import numpy as np
from sklearn.datasets import load_digits
from tests import entries

from mklearn.classifiers import MultiViewClassifier
from mklearn.kernels import Views
from mklearn.study.evaluation.candidates import MethodOnViews
from mklearn.study.evaluation.fit_files import model_arrays
from mklearn.study.evaluation.outputs import SplitRecord
from mklearn.study.evaluation.split import evaluate_split
from mklearn.study.specs.fit_spec import EvaluationSpec, InputSpec, MethodSpec


def problem(views: Views, y: np.ndarray) -> MethodOnViews:
    model = entries.method("multi_view")
    inputs = {"kernels": InputSpec(kind="kernels", descriptors=list(views.names))}
    method = MethodSpec(id="m", implementation=model.implementation, parameters=model.parameters(), inputs=inputs)
    return MethodOnViews(views, y, method)


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
    record = SplitRecord({}, shown=shown | {"embedding": {}})
    arrays = model_arrays([record], SimpleNamespace(kernels=[], method=learned.method))  # type: ignore[arg-type]
    assert arrays["kernel_ids"].tolist() == ["noise", "upper", "lower"]
    np.testing.assert_array_equal(arrays["weights"], [fitted.weights])
