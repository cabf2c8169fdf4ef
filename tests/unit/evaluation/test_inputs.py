"""Methods with several inputs: which arrays an estimator gets, and the metrics of what it gives."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest
from mklearn.evaluation.inputs import Inputs, KernelInput, SampleInput
from numpy.typing import NDArray
from pydantic import ValidationError

from mklearn.contract.fit_spec import EvaluationSpec, MethodSpec
from mklearn.evaluation.split import SplitResult, evaluate_split
from mklearn.kernels.distances import MEASURES

KERNELS = [{"id": f"g{width}", "pairwise": "d", "kind": "gaussian", "bandwidth": width} for width in (0.5, 1.0, 2.0)]


class GatedMeans:
    """Nearest class mean in the kernels, with decision values; notes the shapes of all inputs."""

    calls: ClassVar[list[tuple[str, dict[str, tuple[int, ...]]]]] = []

    def __init__(self, strength: float = 1.0, kernels: str = "linear") -> None:
        assert kernels == "precomputed"
        self.strength = strength

    def fit(self, X: NDArray[Any], y: NDArray[Any], *, gating: NDArray[Any], privileged: NDArray[Any]) -> GatedMeans:
        self.calls.append(("fit", {"X": X.shape, "gating": gating.shape, "privileged": privileged.shape}))
        assert len(X) == len(gating) == len(privileged) == len(y)
        self.classes_ = np.unique(y)
        self.mean_ = np.stack([(y == code) / np.sum(y == code) for code in self.classes_], axis=1)
        self.kernel_weights_ = np.full(X.shape[2], 1 / X.shape[2])
        self.dual_coef_ = self.mean_.T
        return self

    def decision_function(self, X: NDArray[Any], *, gating: NDArray[Any]) -> NDArray[np.float64]:
        self.calls.append(("decision_function", {"X": X.shape, "gating": gating.shape}))
        scores: NDArray[np.float64] = self.strength * X.mean(axis=2) @ self.mean_ + 1e-9 * gating.mean()
        return scores

    def predict(self, X: NDArray[Any], *, gating: NDArray[Any]) -> NDArray[Any]:
        return self.classes_[self.decision_function(X, gating=gating).argmax(axis=1)]


class GatedEmbedding(GatedMeans):
    """The decision values as an embedding."""

    def transform(self, X: NDArray[Any], *, gating: NDArray[Any]) -> NDArray[np.float64]:
        return self.decision_function(X, gating=gating)


@pytest.fixture(scope="module")
def digits() -> tuple[Inputs, NDArray[np.int64], NDArray[np.intp], NDArray[np.intp]]:
    """Sixty digits of three classes as kernels, gating features (2) and privileged features (5)."""
    from sklearn.datasets import load_digits

    X, y = load_digits(n_class=3, return_X_y=True)
    chosen = np.concatenate([np.flatnonzero(y == code)[:20] for code in range(3)])
    X, y = X[chosen], y[chosen].astype(np.int64)
    inputs = Inputs({
        "kernels": KernelInput({"d": MEASURES["squared_euclidean"](X)}, KERNELS),
        "gating": SampleInput(X[:, :2]),
        "privileged": SampleInput(X[:, :5], training_only=True),
    })  # fmt: skip
    test = np.flatnonzero(np.arange(60) % 3 == 0)
    return inputs, y, np.setdiff1d(np.arange(60), test), test


INPUTS = {
    "kernels": {"kind": "kernels"}, "gating": {"kind": "features", "descriptor": "pixels-0a"},
    "privileged": {"kind": "features", "descriptor": "hog-0b", "training_only": True},
}  # fmt: skip


def run(digits: Any, estimator: type = GatedMeans, sweep: str = "Predictions", **changes: Any) -> SplitResult:
    inputs, y, train, test = digits
    named = {name: changes.pop(name) for name in ("metrics", "choose_by") if name in changes}
    method = {
        "id": "m", "implementation": f"{__name__}:{estimator.__name__}", "inputs": INPUTS,
        "sweep": {"implementation": f"mklearn.evaluation.sweeps:{sweep}"},
    }  # fmt: skip
    evaluation = EvaluationSpec(neighbours=["euclidean"], inner_folds=2, **named)
    GatedMeans.calls.clear()
    spec = MethodSpec.model_validate(method | changes)
    return evaluate_split(inputs, spec, y, train, test, evaluation=evaluation, seed=0)


def test_the_first_input_is_x_and_the_others_are_named(digits: Any) -> None:
    """Privileged features reach the fit alone; a classifier is applied to test samples only."""
    run(digits, metrics=["accuracy", "auc"])
    assert GatedMeans.calls == [
        ("fit", {"X": (40, 40, 3), "gating": (40, 2), "privileged": (40, 5)}),
        ("decision_function", {"X": (20, 40, 3), "gating": (20, 2)}),  # predict
        ("decision_function", {"X": (20, 40, 3), "gating": (20, 2)}),  # the area under the curve
    ]


def test_metrics_of_a_classifier_with_decision_values(digits: Any) -> None:
    result = run(digits, metrics=["accuracy", "balanced_accuracy", "auc", "support_vector_share"])
    (found,) = result.rules.values()
    scores = {metric: found.chosen_score(metric) for metric in found.scores}
    assert scores["accuracy"] == pytest.approx(scores["balanced_accuracy"])  # as many test samples of each class
    assert 0.8 < scores["accuracy"] <= scores["auc"] <= 1
    assert scores["support_vector_share"] == 1
    assert (found.components, found.component, found.not_applicable) == ([], None, {})


def test_an_embedding_of_several_inputs_is_swept(digits: Any) -> None:
    """Its training samples are embedded without the privileged features; it has no decision values to report."""
    result = run(digits, GatedEmbedding, "LeadingDimensions", metrics=["accuracy", "balanced_accuracy", "auc"])
    (found,) = result.rules.values()
    assert found.components == [1, 2, 3]
    assert set(found.scores) == {"accuracy", "balanced_accuracy"}
    assert "no decision_function" in found.not_applicable["auc"]
    assert {name for name, shapes in GatedMeans.calls if "privileged" in shapes} == {"fit"}


def test_only_kernels_are_chosen_from(digits: Any) -> None:
    (found,) = run(digits, kernel_choice="best_single").rules.values()
    assert found.candidate.kernel in range(3)
    fits = [shapes for name, shapes in GatedMeans.calls if name == "fit"]
    assert {(shapes["X"][2], shapes["gating"][1], shapes["privileged"][1]) for shapes in fits} == {(1, 2, 5)}
    (weighted,) = run(digits, GatedWeights, kernel_choice="cv_accuracy").rules.values()
    assert weighted.fitted.weights.sum() == pytest.approx(1)


class GatedWeights(GatedMeans):
    """The same with given kernel weights."""

    def __init__(self, kernel_weights: Any = None, kernels: str = "linear") -> None:
        super().__init__(1.0, kernels)
        self.kernel_weights = kernel_weights

    def fit(self, X: NDArray[Any], y: NDArray[Any], **others: Any) -> GatedWeights:
        super().fit(X, y, **others)
        if isinstance(self.kernel_weights, list):
            self.kernel_weights_ = np.array(self.kernel_weights)
        return self


def test_another_metric_chooses(digits: Any) -> None:
    """Negative strength turns the order of the decision values round, and every metric notices."""
    for metric in ("accuracy", "auc"):
        grid = {"strength": [-1.0, 1.0]}
        (found,) = run(digits, grid=grid, metrics=["accuracy", "auc"], choose_by=metric).rules.values()
        assert found.candidate.parameters == {"strength": 1.0}


def test_a_metric_that_a_method_lacks_can_not_choose(digits: Any) -> None:
    metrics = {"metrics": ["accuracy", "auc"], "choose_by": "auc"}
    result = run(digits, GatedEmbedding, "LeadingDimensions", **metrics)
    (found,) = result.rules.values()
    assert found.position is None
    assert "no decision_function" in result.selection_message
    with pytest.raises(Exception, match="no decision_function"):  # a grid has to be chosen from
        run(digits, GatedEmbedding, "LeadingDimensions", grid={"strength": [1.0, 2.0]}, **metrics)


@pytest.mark.parametrize(
    ("inputs", "sentence"),
    [
        ({"a": {"kind": "kernels"}, "b": {"kind": "kernels"}}, "at most one input can be of kind 'kernels'"),
        ({"a": {"kind": "features", "training_only": True}}, "the first input is X"),
        ({"a": {"kind": "features"}}, "needs an input of kind 'kernels'"),
    ],
)
def test_inputs_that_are_invalid(digits: Any, inputs: Any, sentence: str) -> None:
    with pytest.raises(ValidationError, match=sentence):
        run(digits, inputs=inputs, kernel_choice="best_single")
