"""What an estimator gets: views, specs of its kernels and names of its other views; and what its candidates share."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.svm import SVC
from tests.scores import chosen_score, scores

from mklearn.classifiers.lmkl_svc import LMKLSVC
from mklearn.classifiers.multi_view import MultiViewClassifier
from mklearn.errors import ConstantKernel, NotApplicable
from mklearn.kernels import Pairwise, StackTransform, Views
from mklearn.kernels import source as source_module
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.feature_scaling import FeatureScaler
from mklearn.study.evaluation.candidates import MethodOnViews, candidates, method_of
from mklearn.study.evaluation.split import SplitResult, evaluate_split
from mklearn.study.specs.fit_spec import EvaluationSpec, MethodSpec

WIDTHS = (0.5, 1.0, 2.0)
KERNELS = [{"id": f"g{width}", "view": "d", "kind": "gaussian", "bandwidth": width} for width in WIDTHS]


class GatedMeans:
    """Nearest class mean in the kernels, with decision values."""

    def __init__(self, strength: float = 1.0, kernels: Any = "linear", gating: str = "") -> None:
        self.strength, self.kernels, self.gating = strength, kernels, gating

    def fit(self, X: Views, y: NDArray[Any]) -> GatedMeans:
        self.transform_ = StackTransform(self.kernels)
        stack, gating = self.transform_.fit_transform(X), X[self.gating]
        assert len(X) == len(gating) == len(y)
        self.classes_ = np.unique(y)
        self.mean_ = np.stack([(y == code) / np.sum(y == code) for code in self.classes_], axis=1)
        self.kernel_weights_ = np.full(len(stack), 1 / len(stack))
        return self

    def decision_function(self, X: Views) -> NDArray[np.float64]:
        stack, gating = self.transform_.transform(X), X[self.gating]
        scores: NDArray[np.float64] = self.strength * stack.matrices.mean(axis=0) @ self.mean_ + 1e-9 * gating.mean()
        return scores

    def predict(self, X: Views) -> NDArray[Any]:
        return self.classes_[self.decision_function(X).argmax(axis=1)]


class GatedEmbedding(GatedMeans):
    """The decision values as an embedding."""

    def transform(self, X: Views) -> NDArray[np.float64]:
        return self.decision_function(X)


def few_digits() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Sixty digits of three classes."""
    from sklearn.datasets import load_digits

    X, y = load_digits(n_class=3, return_X_y=True)
    chosen = np.concatenate([np.flatnonzero(y == code)[:20] for code in range(3)])
    return X[chosen], y[chosen].astype(np.int64)


X, Y = few_digits()
TEST = np.flatnonzero(np.arange(60) % 3 == 0)
TRAIN = np.setdiff1d(np.arange(60), TEST)
VIEWS = Views({"d": Pairwise(MEASURES["squared_euclidean"](X)), "pixels-0a": X[:, :2]})
INPUTS = {"kernels": {"kind": "kernels"}, "gating": {"kind": "features", "descriptors": ["pixels-0a"]}}


def method(implementation: str, inputs: Any, embeds: bool = False, **fields: Any) -> MethodSpec:
    spec = {"id": "m", "implementation": implementation, "inputs": inputs, "embeds": embeds}
    return MethodSpec.model_validate(spec | fields)


def run(estimator: type = GatedMeans, embeds: bool = False, **changes: Any) -> SplitResult:
    named = {name: changes.pop(name) for name in ("metrics", "choose_by") if name in changes}
    evaluation = EvaluationSpec(neighbours=["euclidean"], inner_folds=2, **named)
    spec = method(f"{__name__}:{estimator.__name__}", changes.pop("inputs", INPUTS), embeds, **changes)
    problem = MethodOnViews(VIEWS, Y, spec, KERNELS)
    return evaluate_split(problem, TRAIN, TEST, evaluation=evaluation, seed=0)


# --- evaluation


def test_metrics_of_an_estimator_are_those_of_the_method_itself() -> None:
    """Not of the pipeline that puts its features side by side."""
    inputs = {"X": {"kind": "features", "descriptors": ["t"], "feature_scaling": "standard"}}
    made = problem("sklearn.svm:SVC", inputs, {"t": X})
    evaluation = EvaluationSpec(neighbours=["euclidean"], inner_folds=2)
    (found,) = evaluate_split(made, TRAIN, TEST, evaluation=evaluation, seed=0).rules.values()
    scaler = FeatureScaler("standard").fit(X[TRAIN])
    expected = SVC().fit(scaler.transform(X[TRAIN]), Y[TRAIN])
    assert chosen_score(found, "support_vector_share") == len(expected.support_) / len(TRAIN)
    assert chosen_score(found, "auc") > 0.9


def test_an_embedding_of_several_inputs_is_swept() -> None:
    """It has no decision values to report."""
    result = run(GatedEmbedding, True)
    (found,) = result.rules.values()
    assert found.predictions.components == [1, 2, 3]
    assert scores(found, "balanced_accuracy").shape == (3,)
    with pytest.raises(NotApplicable, match="no decision_function"):
        scores(found, "auc")


def test_another_metric_chooses() -> None:
    """Negative strength turns the order of the decision values round, and every metric notices."""
    for metric in ("accuracy", "auc"):
        grid = {"strength": [-1.0, 1.0]}
        (found,) = run(grid=grid, choose_by=metric).rules.values()
        assert found.candidate.parameters == {"strength": 1.0}


def test_a_metric_that_a_method_lacks_can_not_choose() -> None:
    result = run(GatedEmbedding, True, choose_by="auc")
    (found,) = result.rules.values()
    assert found.predictions.position is None
    assert "no decision_function" in result.selection_message
    with pytest.raises(Exception, match="no decision_function"):  # a grid has to be chosen from
        run(GatedEmbedding, True, grid={"strength": [1.0, 2.0]}, choose_by="auc")


# --- what candidates share


def measured(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, ...]]:
    """Note the numbers of samples between which a measure is computed."""
    found: list[tuple[int, ...]] = []

    def noting(compute: Any) -> Any:
        return lambda *tables: found.append(tuple(len(table) for table in tables)) or compute(*tables)

    noted = {name: noting(compute) for name, compute in MEASURES.items()}
    monkeypatch.setattr(source_module, "MEASURES", noted)
    return found


@pytest.mark.parametrize("choice", [None, "best_single"])
def test_candidates_share_kernels(choice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each measure is computed once for each inner fold, whatever the candidates and kernels."""
    specs = [
        {"id": f"k{width}", "view": "t", "kind": "gaussian", "bandwidth": width, "feature_scaling": "standard"}
        for width in WIDTHS
    ]
    kfd = "mklearn.subspace.kfd:KernelFDA"
    grid = {"ridge": [1e-3, 1e-1]}
    found = measured(monkeypatch)
    spec = method(kfd, {"kernels": {"kind": "kernels"}}, True, grid=grid, kernel_choice=choice)
    evaluation = EvaluationSpec(neighbours=["euclidean", "cosine"], inner_folds=4)
    evaluate_split(MethodOnViews(Views({"t": X}), Y, spec, specs), TRAIN, TEST, evaluation=evaluation, seed=0)
    on_folds = [sizes for sizes in found if sizes[-1] < len(TRAIN)]
    assert len(on_folds) == 4 * 2  # folds, and among training samples or of those held out
    assert sorted(set(found) - set(on_folds)) == [(20, 40), (40,)]
    assert len(found) - len(on_folds) == 2


# --- unfitted estimators


def problem(
    implementation: str, inputs: Any, views: Any, kernels: Any = (), embeds: bool = False, **fields: Any
) -> MethodOnViews:
    return MethodOnViews(Views(views), Y, method(implementation, inputs, embeds, **fields), kernels)


def test_a_method_on_kernels_takes_their_specs() -> None:
    """By name; one of them alone, if the candidate says so."""
    specs = [
        {"id": "a", "view": "t", "kind": "linear", "feature_scaling": "unit"},
        {"id": "b", "kind": "product", "factors": [{"view": "t"}, {"view": "s"}]},
    ]
    kfd = "mklearn.subspace.kfd:KernelFDA"
    views = {"t": X, "s": X[:, :4]}
    grid = {"ridge": [0.01, 0.1]}
    every = problem(kfd, {"kernels": {"kind": "kernels"}}, views, specs, True, grid=grid)
    estimator = every.unfitted(candidates(every.method, 2)[1], ridge=0.5)
    assert estimator.kernels == {
        "a": {"view": "t", "kind": "linear", "feature_scaling": "unit"},
        "b": {"kind": "product", "factors": [{"view": "t"}, {"view": "s"}]},
    }
    assert estimator.ridge == 0.5
    assert method_of(estimator) is estimator
    single = every.method.model_copy(update={"kernel_choice": "best_single"})
    assert list(every.unfitted(candidates(single, 2)[-1]).kernels) == ["b"]


def test_a_constant_kernel_is_left_out_where_kernels_are_chosen_and_refused_elsewhere() -> None:
    specs = [{"id": name, "view": name, "kind": "linear"} for name in ("a", "b", "border")]
    views = {"a": X, "b": X[:, :4], "border": np.zeros((len(X), 2))}
    evaluation = EvaluationSpec(neighbours=["euclidean"], inner_folds=2)
    inputs = {"kernels": {"kind": "kernels"}}
    chosen = problem("mklearn.classifiers:MultiViewClassifier", inputs, views, specs, parameters={"n_kernels": 2})
    (found,) = evaluate_split(chosen, TRAIN, TEST, evaluation=evaluation, seed=0).rules.values()
    assert found.fitted.weights[2] == 0
    assert found.fitted.kernel_info[2] == {"id": "border", "constant": True}
    known = {spec["id"]: {"view": spec["view"], "kind": "linear"} for spec in specs}
    library = MultiViewClassifier(kernels=known, n_kernels=2).fit(chosen.views[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(found.fitted.weights, library.kernel_weights_)
    refused = problem("mklearn.subspace.kfd:KernelFDA", inputs, views, specs, True)
    with pytest.raises(ConstantKernel, match="'border'"):
        evaluate_split(refused, TRAIN, TEST, evaluation=evaluation, seed=0)


@pytest.mark.parametrize("impute", ["none", "median"])
def test_other_inputs_are_parameters_that_name_a_view(impute: str) -> None:
    inputs = {"kernels": {"kind": "kernels"}, "gating": INPUTS["gating"] | {"impute": impute}}
    specs = [{"id": "k", "view": "t", "kind": "linear"}]
    made = problem("mklearn.classifiers.lmkl_svc:LMKLSVC", inputs, {"t": X, "pixels-0a": X[:, :2]}, specs)
    estimator = made.unfitted(candidates(made.method, 1)[0])
    assert isinstance(estimator, LMKLSVC)
    assert estimator.gating == ("pixels-0a" if impute == "none" else {"view": "pixels-0a", "impute": "median"})
