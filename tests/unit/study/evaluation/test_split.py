"""One method on one split: what is chosen, what is learned, and that nothing of the test samples enters it."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.datasets import load_digits
from sklearn.svm import SVC
from tests import entries
from tests.scores import chosen_score, component, scores
from tests.split_stacks import split_stacks

import mklearn.study.evaluation.split as module
from mklearn.base.folds import inner_folds
from mklearn.base.scaling_choice import choose_scaling
from mklearn.classifiers import MultiViewClassifier
from mklearn.errors import ConstantKernel, DataError, NotApplicable, SolverFailed
from mklearn.kernels import Pairwise, StackTransform, Views
from mklearn.kernels import source as source_module
from mklearn.kernels.distances import MEASURES
from mklearn.kernels.feature_scaling import FeatureScaler
from mklearn.study.evaluation.candidates import Candidate, MethodOnViews, candidates, choices
from mklearn.study.evaluation.fit_files import model_arrays
from mklearn.study.evaluation.outputs import SplitRecord
from mklearn.study.evaluation.split import RuleResult, SplitResult, evaluate_split
from mklearn.study.specs.fit_spec import EvaluationSpec, MethodSpec

KFD, MKLDR = "mklearn.subspace.kfd:KernelFDA", "mklearn.subspace.mkldr:MKLDR"
KERNELS: list[dict[str, Any]] = [
    {"id": "narrow", "view": "d", "kind": "gaussian", "bandwidth": 0.3, "normalise": "centred_trace"},
    {"id": "wide", "view": "d", "kind": "gaussian", "bandwidth": 3.0, "normalise": "centred_trace"},
    {"id": "noise", "view": "noise", "kind": "gaussian", "normalise": "centred_trace"},
    {"id": "linear", "view": "p", "kind": "linear", "measure": "inner_product", "centre": True},
]
ON_KERNELS: dict[str, Any] = {"kernels": {"kind": "kernels"}}
GATED = ON_KERNELS | {"gating": {"kind": "features", "descriptors": ["pixels-0a"]}}


DIGITS, CODES = load_digits(n_class=3, return_X_y=True)
FEW = np.concatenate([np.flatnonzero(code == CODES)[:30] for code in range(3)])
X, Y = DIGITS[FEW], CODES[FEW]
TEST = np.flatnonzero(np.arange(90) % 3 == 0)
TRAIN = np.setdiff1d(np.arange(90), TEST)
PAIRWISE = {
    "d": MEASURES["squared_euclidean"](X), "p": MEASURES["inner_product"](X),
    "noise": MEASURES["squared_euclidean"](np.random.default_rng(0).normal(size=(90, 5))),
}  # fmt: skip


class Recorder:
    """An estimator that notes the kernels that it is fitted on; their average's rows are its embedding."""

    seen: ClassVar[list[Recorder]] = []
    fails_at: ClassVar[set[float]] = set()
    fails_below: ClassVar[int] = 0
    failure: ClassVar[type[Exception]] = SolverFailed

    def __init__(self, strength: float = 1.0, kernels: Any = "linear", kernel_weights: Any = None) -> None:
        self.strength, self.kernels, self.kernel_weights, self.applied = strength, kernels, kernel_weights, []

    def fit(self, X: Views, y: NDArray[Any]) -> Recorder:
        if self.strength in Recorder.fails_at or len(y) < Recorder.fails_below:
            raise Recorder.failure(f"no solution at {self.strength}")
        self.transform_ = StackTransform(self.kernels)
        stack = self.transform_.fit_transform(X)
        self.K, self.y = np.array(stack.matrices), np.array(y)
        self.kernel_weights_ = np.full(len(stack), 1 / len(stack))
        Recorder.seen.append(self)
        return self

    def transform(self, X: Views) -> NDArray[np.float64]:
        K = self.transform_.transform(X).matrices
        self.applied.append(np.array(K))
        rng = np.random.default_rng(int(100 * self.strength))
        return K.mean(axis=0) @ rng.normal(size=(K.shape[2], 2))


class GatedMeans:
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
    def transform(self, X: Views) -> NDArray[np.float64]:
        return self.decision_function(X)


@pytest.fixture(autouse=True)
def fresh_recorder(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in {"seen": [], "fails_at": set(), "fails_below": 0, "failure": SolverFailed}.items():
        monkeypatch.setattr(Recorder, name, value)


def method_of(
    implementation: str = KFD, inputs: Any = ON_KERNELS, embeds: bool = True, kernel_choice: Any = None, **fields: Any
) -> MethodSpec:
    """A method, of mklearn or of this file, whose parameters are the other fields; a list is a grid."""
    grid = {name: value for name, value in fields.items() if isinstance(value, list)}
    return MethodSpec(
        id="m", implementation=implementation if ":" in implementation else f"{__name__}:{implementation}",
        inputs=inputs, embeds=embeds, kernel_choice=kernel_choice, grid=grid,
        parameters={name: value for name, value in fields.items() if name not in grid},
    )  # fmt: skip


def on_views(
    method: MethodSpec, kernels: Any = KERNELS, y: Any = Y, pairwise: Any = PAIRWISE, **views: Any
) -> MethodOnViews:
    named = {name: Pairwise(matrix) for name, matrix in pairwise.items()} | {"pixels-0a": X[:, :2]}
    return MethodOnViews(Views(views or named), y, method, kernels)


def evaluated(problem: MethodOnViews, train: Any = TRAIN, test: Any = TEST, **evaluation: Any) -> SplitResult:
    spec = EvaluationSpec(**{"neighbours": ["euclidean"], "inner_folds": 3} | evaluation)
    return evaluate_split(problem, train, test, evaluation=spec, seed=0)


EVALUATION = ("neighbours", "inner_folds", "components", "choice", "choose_by", "train", "test")


def run(implementation: str = KFD, kernels: Any = KERNELS, y: Any = Y, pairwise: Any = PAIRWISE, **more: Any) -> Any:
    """Evaluate a method on the digits, of which some samples are trained on and tested."""
    evaluation = {name: more.pop(name) for name in EVALUATION if name in more}
    return evaluated(on_views(method_of(implementation, **more), kernels, y, pairwise), **evaluation)


def run_gated(estimator: str = "GatedMeans", embeds: bool = False, **more: Any) -> SplitResult:
    result: SplitResult = run(estimator, KERNELS[:2], inputs=GATED, embeds=embeds, inner_folds=2, **more)
    return result


# --- the grid


def test_the_grid_is_the_product_of_the_lists() -> None:
    grid = candidates(method_of(ridge=[0.1, 1.0], max_iter=[2, 3, 4], graph="lda"), 5)
    assert [c.parameters for c in grid] == [
        {"graph": "lda", "ridge": r, "max_iter": i} for r in (0.1, 1.0) for i in (2, 3, 4)
    ]
    assert {c.kernel for c in grid} == {None}
    each = candidates(method_of(kernel_choice="best_single", ridge=[1, 2]), 3)
    assert [(c.kernel, c.parameters["ridge"]) for c in each] == [(k, r) for k in range(3) for r in (1, 2)]


@pytest.mark.parametrize("impute", ["none", "median"])
def test_other_inputs_are_parameters_that_name_a_view(impute: str) -> None:
    inputs = ON_KERNELS | {"gating": GATED["gating"] | {"impute": impute}}
    made = on_views(method_of("mklearn.classifiers.lmkl_svc:LMKLSVC", inputs, False))
    estimator = made.unfitted(candidates(made.method, 1)[0])
    assert estimator.gating == ("pixels-0a" if impute == "none" else {"view": "pixels-0a", "impute": "median"})


# --- what is fitted on what


def fitted_on(fitted: Recorder) -> int:
    """Return the inner fold that an estimator was fitted without, or -1 for all training samples; check its kernels."""
    parts = [(TRAIN[inside], TRAIN[outside]) for inside, outside in inner_folds(Y[TRAIN], 3, 0)] + [(TRAIN, TEST)]
    for number, (inside, outside) in enumerate(parts):
        K, K_new, _ = split_stacks(PAIRWISE, KERNELS, inside, outside)
        if fitted.K.shape == K.matrices.shape and np.array_equal(fitted.K, K.matrices):
            np.testing.assert_array_equal(fitted.y, Y[inside])
            own, new = fitted.applied
            np.testing.assert_array_equal(own, split_stacks(PAIRWISE, KERNELS, inside, inside)[1].matrices)
            np.testing.assert_array_equal(new, K_new.matrices)
            return number if number < 3 else -1
    raise AssertionError("fitted on other samples than those of a fold, or of the split")


@pytest.mark.parametrize("rules", [["euclidean"], ["euclidean", "cosine"]])
def test_fits_are_on_inner_training_samples_and_kernels_are_fitted_there_again(rules: list[str]) -> None:
    result = run("Recorder", neighbours=rules, strength=[1.0, 2.0])
    done = [(fitted.strength, fitted_on(fitted)) for fitted in Recorder.seen]
    assert len(set(done)) == len(done)
    chosen = {rule.candidate.parameters["strength"] for rule in result.rules.values()}
    assert {(strength, fold) for strength in chosen for fold in (-1, 0, 1, 2)} <= set(done)
    assert {strength for strength, fold in done if fold == -1} == chosen
    assert all(fold == -1 for _, fold in done[-len(chosen) :])


@pytest.mark.parametrize("choice", [None, "best_single"])
def test_candidates_share_kernels(choice: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    sizes: list[tuple[int, ...]] = []

    def noting(compute: Any) -> Any:
        return lambda *tables: sizes.append(tuple(len(table) for table in tables)) or compute(*tables)

    monkeypatch.setattr(source_module, "MEASURES", {name: noting(compute) for name, compute in MEASURES.items()})
    specs = [{"id": f"k{width}", "view": "t", "bandwidth": width, "feature_scaling": "standard"} for width in (0.5, 2)]
    made = on_views(method_of(kernel_choice=choice, ridge=[1e-3, 1e-1]), specs, t=X)
    evaluated(made, neighbours=["euclidean", "cosine"], inner_folds=4)
    on_folds = [each for each in sizes if each[-1] < len(TRAIN)]
    assert len(on_folds) == 4 * 2  # folds, and among training samples or of those held out
    assert sorted(set(sizes) - set(on_folds)) == [(30, 60), (60,)]
    assert len(sizes) - len(on_folds) == 2


# --- nothing of the test samples


def embeddings(result: RuleResult) -> Any:
    return result.fitted.embeddings[0]


def chosen(result: SplitResult) -> list[Any]:
    return [(rule, found.candidate, component(found)) for rule, found in result.rules.items()]


WAYS: list[dict[str, Any]] = [
    {"ridge": [1e-4, 1e-2, 1.0]},
    {"kernel_choice": "best_single", "ridge": [1e-3, 1e-1]},
    {"implementation": "mklearn.subspace.mkldr:MKLDR", "ridge": [1e-3, 1e-1], "max_iter": 2},
    {"implementation": "mklearn.subspace.mkldr:MKLDR", "graph": "lde", "max_iter": 1},
    {"implementation": "mklearn.subspace.kernel_lde:KernelLDE"},
]


@pytest.mark.parametrize("way", WAYS)
def test_labels_and_distances_of_test_samples_change_neither_choice_nor_embedding(way: Any) -> None:
    labels, rng, rules = Y.copy(), np.random.default_rng(2), ["euclidean", "cosine"]
    labels[TEST] = np.random.default_rng(1).permutation(Y[TEST])
    noise = {}
    for name, matrix in PAIRWISE.items():
        drawn = rng.uniform(0.1, 1.0, size=matrix.shape) * matrix.max()
        noise[name] = drawn + drawn.T
        np.fill_diagonal(noise[name], np.diagonal(matrix))
        noise[name][np.ix_(TRAIN, TRAIN)] = matrix[np.ix_(TRAIN, TRAIN)]
    one, relabelled, moved = (
        run(pairwise=matrices, y=codes, neighbours=rules, **way)
        for matrices, codes in ((PAIRWISE, Y), (PAIRWISE, labels), (noise, Y))
    )
    assert chosen(one) == chosen(relabelled) == chosen(moved)
    for rule, found in one.rules.items():
        for other in (relabelled.rules[rule], moved.rules[rule]):
            np.testing.assert_array_equal(embeddings(found)[0], embeddings(other)[0])
            np.testing.assert_array_equal(found.fitted.weights, other.fitted.weights)
        np.testing.assert_array_equal(embeddings(found)[1], embeddings(relabelled.rules[rule])[1])
        assert not np.array_equal(embeddings(found)[1], embeddings(moved.rules[rule])[1])
    assert any((scores(one.rules[rule]) != scores(relabelled.rules[rule])).any() for rule in rules)


def test_labels_of_unlabelled_samples_do_not_enter() -> None:
    hidden, train = TRAIN[TRAIN % 2 == 0], TRAIN[TRAIN % 2 == 1]
    other = Y.copy()
    other[hidden] = (Y[hidden] + 1) % 3

    def fitted(y: Any, unlabelled: Any, **method: Any) -> Any:
        problem = on_views(method_of(ridge=[1e-3, 1e-1], **method), y=y)
        found = evaluated(replace(problem, unlabelled=unlabelled), train).rules["euclidean"]
        assert len(embeddings(found)[0]) == len(found.predictions.y_train) == len(train)
        return embeddings(found)[1]

    semi = {"implementation": MKLDR, "graph": "sda"}
    np.testing.assert_array_equal(fitted(Y, hidden, **semi), fitted(other, hidden, **semi))
    assert not np.allclose(fitted(Y, hidden, **semi), fitted(Y, None, **semi))
    np.testing.assert_array_equal(fitted(Y, hidden), fitted(Y, None))  # a method that needs labels


def test_samples_to_cluster_have_no_labels() -> None:
    more = {"test": TRAIN, "neighbours": ["clusters"], "components": "all", "implementation": MKLDR}
    codes = [Y, np.random.default_rng(0).permutation(Y)]
    found, other = (run(graph="lpp", n_components=2, y=y, **more).rules["clusters"] for y in codes)
    np.testing.assert_array_equal(embeddings(found)[0], embeddings(other)[0])
    assert scores(found)[-1] > scores(other)[-1]
    for method, reason in [
        ({"implementation": KFD}, "the method needs labels"), ({"graph": "lda"}, "the method needs labels"),
        ({"graph": "sda"}, "expected two classes"), ({"graph": "pca", "ridge": [0.1, 1]}, "to cluster have no labels"),
        ({"graph": "pca", "kernels": [KERNELS[0] | {"view": "pixels-0a", "feature_scaling": "auto"}]}, "name one"),
    ]:  # fmt: skip
        with pytest.raises(NotApplicable, match=reason):
            run(**more | method)


def test_choice_on_the_test_samples_is_never_worse_there() -> None:
    ridges = [1e2, 1e-1, 1e-3]
    for kernel_choice in (None, "best_single"):
        grid = candidates(method_of(kernel_choice=kernel_choice, ridge=ridges), len(KERNELS))
        alone = []
        for candidate in grid:
            own = KERNELS if candidate.kernel is None else [KERNELS[candidate.kernel]]
            alone.append(scores(run(kernels=own, choice="test_set", **candidate.parameters).rules["euclidean"]).max())
        best = run(kernel_choice=kernel_choice, ridge=ridges, choice="test_set").rules["euclidean"]
        assert scores(best).max() == max(alone)
        assert chosen_score(best) is None, "there is no value without the test samples"
        assert best.candidate == grid[int(np.argmax(alone))]
        honest = chosen_score(run(kernel_choice=kernel_choice, ridge=ridges).rules["euclidean"])
        assert honest is not None
        assert honest <= max(alone)
    weighted = run(kernel_choice="cv_accuracy", components="all", choice="test_set")
    assert (chosen_score(weighted.rules["euclidean"]), bool(weighted.selection_message)) == (None, True)


# --- automatic scalings of features


def scaled_table(informative: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    if informative == "standard":  # the second feature is noise of a large scale
        return np.column_stack([0.2 * rng.normal(size=80) + y, 1e3 * rng.normal(size=80)]), y
    angle = rng.normal(size=80) * 0.2 + 0.8 * y  # the class is in the direction, the length is noise
    return np.exp(2 * rng.normal(size=80))[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y


@pytest.mark.parametrize("choice", [None, "best_single", "cv_accuracy"])
def test_training_samples_choose_the_automatic_scaling_of_each_view(choice: Any) -> None:
    (wide, y), (turned, _) = scaled_table("standard"), scaled_table("unit")
    sources = {"w1": ("wide", 1.0), "w2": ("wide", 2.0), "t": ("turned", 1.0)}
    specs = [
        {"id": name, "view": view, "feature_scaling": "auto", "bandwidth": width}
        for name, (view, width) in sources.items()
    ]
    product = {"id": "p", "kind": "product", "factors": [{"view": "turned", "feature_scaling": "auto"}, specs[0]]}
    method = method_of(kernel_choice=choice, ridge=[1e-3, 1e-1])

    def with_kernels(kernels: Any) -> SplitResult:
        made = on_views(method, kernels, y, wide=wide, turned=turned)
        return evaluated(made, np.arange(0, 80, 2), np.arange(1, 80, 2), components="all")

    result = with_kernels([*specs, product])
    found = result.rules["euclidean"]
    assert result.scalings == {"w1": "standard", "w2": "standard", "t": "unit"}
    fixed = [spec | {"feature_scaling": result.scalings[spec["id"]]} for spec in specs]
    fixed.append(product | {"factors": [{"view": "turned", "feature_scaling": "unit"}, fixed[0]]})
    expected = with_kernels(fixed).rules["euclidean"]
    assert found.candidate == expected.candidate
    np.testing.assert_array_equal(embeddings(found)[1], embeddings(expected)[1])
    assert scores(found)[-1] > 0.8
    assert with_kernels(specs[1:2]).scalings == {"w2": "standard"}
    assert specs[0]["feature_scaling"] == "auto", "the study's own spec is not changed"


def test_automatic_scalings_leave_out_groups_that_the_test_samples_are_not_of() -> None:
    """The length of a sample tells its group, and so its class where the group is known; the direction its class."""
    rng = np.random.default_rng(1)
    names = np.repeat([f"g{number}" for number in range(10)], 8)
    y = np.repeat(np.arange(10) % 2, 8)
    angle = 0.5 * rng.normal(size=80) + 0.8 * y
    lengths = np.repeat([1.0, 4, 2, 5, 3, 6, 7, 8, 9, 10], 8)
    table = lengths[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    problem = on_views(method_of(), [{"id": "k", "view": "t", "feature_scaling": "auto"}], y, t=table)

    def scalings(train: NDArray[np.intp], groups: Any) -> dict[str, str]:
        test = np.setdiff1d(np.arange(80), train)
        result = evaluated(replace(problem, groups=groups), train, test, inner_folds=2, components="all")
        return dict(result.scalings)

    whole, mixed = np.arange(64), np.flatnonzero(np.arange(80) % 5)
    assert scalings(whole, names) == {"k": "unit"}
    assert scalings(whole, None) == {"k": choose_scaling(table[whole], y[whole])} != {"k": "unit"}
    assert scalings(mixed, names) == {"k": choose_scaling(table[mixed], y[mixed])} != {"k": "unit"}
    places = np.repeat(["a", "b", "c"], [32, 32, 16])  # samples of a single group are left out one by one
    assert scalings(whole, np.where(places == "c", "c", "a")) == scalings(whole, None)
    table[places == "b"] = np.nan
    problem = on_views(method_of(), [problem.kernels[0] | {"missing_views": "mean"}], y, t=table)
    assert scalings(whole, places) == {"k": choose_scaling(table[:32], y[:32])}


# --- choices


@pytest.mark.parametrize("kernel_choice", ["best_single", "cv_accuracy"])
@pytest.mark.parametrize("neighbours", [["euclidean"], ["cosine", "euclidean"]])
def test_kernels_are_chosen_and_weighted_by_their_inner_accuracies(kernel_choice: str, neighbours: list[str]) -> None:
    best = []
    for kernel in KERNELS:
        curves = []
        for inside, outside in inner_folds(Y[TRAIN], 3, 0):
            one = run(kernels=[kernel], train=TRAIN[inside], test=TRAIN[outside], components="all")
            curves.append(scores(one.rules["euclidean"]))
        best.append(np.mean(curves, axis=0).max())
    assert np.argmin(best) == 2
    found = run(neighbours=neighbours, kernel_choice=kernel_choice).rules["euclidean"]
    if kernel_choice == "cv_accuracy":
        np.testing.assert_allclose(found.fitted.weights, np.square(best) / np.square(best).sum())
    else:
        assert best[found.candidate.kernel] == max(best)


def test_rules_choose_for_themselves() -> None:
    both = run(neighbours=["cosine", "euclidean"], ridge=[1e-4, 1.0])
    assert list(both.rules) == ["cosine", "euclidean"]
    for rule in both.rules:
        alone = run(neighbours=[rule], ridge=[1e-4, 1.0])
        assert chosen(alone) == [entry for entry in chosen(both) if entry[0] == rule]


@pytest.mark.parametrize("metric", ["accuracy", "auc"])
def test_another_metric_chooses(metric: str) -> None:
    (found,) = run_gated(strength=[-1.0, 1.0], choose_by=metric).rules.values()
    assert found.candidate.parameters == {"strength": 1.0}


def test_a_metric_that_a_method_lacks_can_not_choose() -> None:
    result = run_gated("GatedEmbedding", True, choose_by="auc")
    (found,) = result.rules.values()
    assert (found.predictions.components, found.predictions.position) == ([1, 2, 3], None)
    assert "no decision_function" in result.selection_message
    with pytest.raises(SolverFailed, match="no decision_function"):  # a grid has to be chosen from
        run_gated("GatedEmbedding", True, strength=[1.0, 2.0], choose_by="auc")


# --- failures


@pytest.mark.parametrize("failure", [SolverFailed, NotApplicable, np.linalg.LinAlgError])
def test_a_candidate_that_fails_is_not_chosen(failure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    good = run("Recorder", strength=[2.0]).rules["euclidean"]
    assert component(good) is not None
    monkeypatch.setattr(Recorder, "failure", failure)
    monkeypatch.setattr(Recorder, "fails_at", {1.0, 3.0})
    found = run("Recorder", strength=[1.0, 2.0, 3.0]).rules["euclidean"]
    assert found.candidate.parameters == {"strength": 2.0}
    np.testing.assert_array_equal(scores(found), scores(good))
    monkeypatch.setattr(Recorder, "fails_below", len(TRAIN))
    for inner in (3, "leave_one_out"):
        result = run("Recorder", neighbours=["euclidean", "cosine"], inner_folds=inner, strength=[2.0])
        assert list(result.rules) == ["euclidean", "cosine"]
        for found in result.rules.values():
            assert (found.predictions.components, found.predictions.position) == ([1, 2], None)
        np.testing.assert_array_equal(scores(result.rules["euclidean"]), scores(good))
        assert "every candidate failed" in result.selection_message
        assert "no solution at 2.0" in result.selection_message
    with pytest.raises(SolverFailed):  # a grid would have to be chosen from
        run("Recorder", strength=[2.0, 4.0])


@pytest.mark.filterwarnings("ignore::mklearn.kernels.matrices.IdentityLikeKernelWarning")
def test_without_inner_folds_nothing_but_the_dimension_is_left_open() -> None:
    few = np.array([TRAIN[Y[TRAIN] == code][0] for code in range(3)])  # one sample of each class
    result = run(train=few)
    found = result.rules["euclidean"]
    assert (component(found), chosen_score(found), len(scores(found))) == (None, None, 2)
    assert "class 0 has one" in result.selection_message
    with pytest.raises(NotApplicable):
        run(train=few, ridge=[1e-3, 1e-1])
    found = run(train=few, components="all").rules["euclidean"]
    assert (component(found), chosen_score(found)) == (2, scores(found)[-1])
    assert component(run(components="all", ridge=[1e-3, 1e-1]).rules["euclidean"]) == 2


def test_a_mistake_in_the_data_is_no_result() -> None:
    broken = PAIRWISE["d"].copy()
    broken[TRAIN[0], TRAIN[1]] = np.nan
    with pytest.raises(DataError, match="narrow"):
        run(pairwise=PAIRWISE | {"d": broken})
    assert not issubclass(DataError, module.EXPECTED)
    assert issubclass(ConstantKernel, module.EXPECTED)  # it may be constant in the training samples of one split


def test_a_constant_kernel_is_left_out_where_kernels_are_chosen_and_refused_elsewhere() -> None:
    specs = [{"id": name, "view": name, "kind": "linear"} for name in ("a", "b", "border")]
    views = {"a": X, "b": X[:, :4], "border": np.zeros((len(X), 2))}
    selects = method_of("mklearn.classifiers:MultiViewClassifier", embeds=False, n_kernels=2)
    (found,) = evaluated(on_views(selects, specs, **views), inner_folds=2).rules.values()
    assert found.fitted.weights[2] == 0
    assert found.fitted.kernel_info[2] == {"id": "border", "constant": True}
    named = {spec["id"]: {"view": spec["view"], "kind": "linear"} for spec in specs}
    library = MultiViewClassifier(kernels=named, n_kernels=2).fit(Views(views)[TRAIN], Y[TRAIN])
    np.testing.assert_array_equal(found.fitted.weights, library.kernel_weights_)
    with pytest.raises(ConstantKernel, match="'border'"):
        evaluated(on_views(method_of(), specs, **views))


# --- estimators of the library


def test_metrics_of_an_estimator_are_those_of_the_method_itself() -> None:
    inputs = {"X": {"kind": "features", "descriptors": ["t"], "feature_scaling": "standard"}}
    (found,) = evaluated(on_views(method_of("sklearn.svm:SVC", inputs, False), (), t=X)).rules.values()
    expected = SVC().fit(FeatureScaler("standard").fit(X[TRAIN]).transform(X[TRAIN]), Y[TRAIN])
    assert chosen_score(found, "support_vector_share") == len(expected.support_) / len(TRAIN)
    assert chosen_score(found, "auc") > 0.9


def test_weights_of_a_dictionary_of_kernels_are_those_of_its_views() -> None:
    rng, model = np.random.default_rng(0), entries.method("multi_view")
    tables, key = {"noise": rng.normal(size=(90, 5)), "upper": X[:, :32], "lower": X[:, 32:]}, "-0123456789abcdef"
    views = {f"{name}{key}" + "/kernel" * (name == "lower"): table for name, table in tables.items()}
    inputs = {"kernels": {"kind": "kernels", "descriptors": list(views)}}
    method = method_of(model.row.implementation, inputs, False, **model.parameters())
    fitted = evaluated(on_views(method, (), **views)).rules[""].fitted
    shares = MultiViewClassifier().fit(Views(views)[TRAIN], Y[TRAIN]).view_shares_
    np.testing.assert_array_equal(fitted.weights, [shares[name] for name in views])
    model = fitted.estimators[0]
    model.alphas_[-1] = np.nan  # as for a part of weight 0
    alphas = {row["parameter"]: row["value"] for row in choices(on_views(method, (), **views), Candidate({}), model)}
    assert alphas.pop("decision") == model.decision_
    names = [f"alpha of {part.removesuffix('/kernel').removesuffix(key)}" for part in model.part_weights_]
    assert list(alphas.items()) == [pair for pair in zip(names, model.alphas_, strict=True) if pair[1] > 0]  # or NaN
    shown: dict[str, Any] = {"weights": fitted.weights, "repeat": 0, "embedding": {}, "kernel_info": []}
    record = SplitRecord({}, shown=shown | {"history": [], "diagnostics": [], "chosen": []})
    arrays = model_arrays([record], SimpleNamespace(kernels=[], method=method))  # type: ignore[arg-type]
    assert arrays["kernel_ids"].tolist() == ["noise", "upper", "lower"]
    np.testing.assert_array_equal(arrays["weights"], [fitted.weights])
