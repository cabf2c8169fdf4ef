"""One method on one split: what is chosen, what is learned, and that nothing of the test samples enters it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.scores import chosen_score, component, scores
from tests.split_stacks import split_stacks

import mklearn.study.evaluation.candidates as candidates_module
import mklearn.study.evaluation.split as module
from mklearn.base.folds import inner_folds
from mklearn.base.scaling_choice import choose_scaling
from mklearn.errors import DataError, NotApplicable, SolverFailed
from mklearn.kernels import Pairwise, StackTransform, Views
from mklearn.kernels.distances import MEASURES
from mklearn.study.evaluation.candidates import MethodOnViews, candidates
from mklearn.study.evaluation.split import Choice, RuleResult, SplitResult, evaluate_split
from mklearn.study.specs.fit_spec import EvaluationSpec, MethodSpec

KFD = "mklearn.subspace.kfd:KernelFDA"
KERNELS: list[dict[str, Any]] = [
    {"id": "narrow", "view": "d", "kind": "gaussian", "bandwidth": 0.3, "normalise": "centred_trace"},
    {"id": "wide", "view": "d", "kind": "gaussian", "bandwidth": 3.0, "normalise": "centred_trace"},
    {"id": "noise", "view": "noise", "kind": "gaussian", "normalise": "centred_trace"},
    {"id": "linear", "view": "p", "kind": "linear", "measure": "inner_product", "centre": True},
]


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


@pytest.fixture(autouse=True)
def fresh_recorder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Recorder, "seen", [])
    monkeypatch.setattr(Recorder, "fails_at", set())
    monkeypatch.setattr(Recorder, "fails_below", 0)
    load = module.load
    for loading in (module, candidates_module):
        monkeypatch.setattr(loading, "load", lambda name: Recorder if name == "recorder" else load(name))


@pytest.fixture(scope="module")
def digits() -> tuple[dict[str, NDArray[np.float64]], NDArray[np.int64], NDArray[np.intp], NDArray[np.intp]]:
    """Pairwise matrices of 90 digits of three classes, labels, 60 training and 30 test samples."""
    from sklearn.datasets import load_digits

    X, y = load_digits(n_class=3, return_X_y=True)
    chosen = np.concatenate([np.flatnonzero(y == code)[:30] for code in range(3)])
    X, y = X[chosen], y[chosen]
    noise = np.random.default_rng(0).normal(size=(90, 5))
    pairwise = {"d": MEASURES["squared_euclidean"](X), "p": MEASURES["inner_product"](X),
                "noise": MEASURES["squared_euclidean"](noise)}  # fmt: skip
    test = np.flatnonzero(np.arange(90) % 3 == 0)
    return pairwise, y.astype(np.int64), np.setdiff1d(np.arange(90), test), test


def run(
    digits: Any, implementation: str = KFD, kernels: Any = KERNELS, neighbours: Any = ("euclidean",), inner: Any = 3,
    components: Any = "best", **parameters: Any,
) -> SplitResult:  # fmt: skip
    pairwise, y, train, test = digits
    problem = on_matrices(pairwise, y, kernels, method_of(implementation, **parameters))
    evaluation = EvaluationSpec(
        neighbours=list(neighbours), inner_folds=3 if inner is None else inner, components=components
    )
    first = None
    if inner is None:
        first = Choice(candidates(problem.method, len(kernels)), dict.fromkeys(neighbours, (0, None)))
    return evaluate_split(problem, train, test, evaluation=evaluation, seed=0, choice=first)


def on_matrices(pairwise: Any, y: NDArray[np.int64], kernels: Any, method: MethodSpec) -> MethodOnViews:
    return MethodOnViews(Views({name: Pairwise(matrix) for name, matrix in pairwise.items()}), y, method, kernels)


def method_of(implementation: str = KFD, kernel_choice: Any = None, **parameters: Any) -> MethodSpec:
    """A method on kernels; a list is a grid."""
    grid = {name: value for name, value in parameters.items() if isinstance(value, list)}
    return MethodSpec(
        id="m", implementation=implementation, grid=grid, kernel_choice=kernel_choice,
        parameters={name: value for name, value in parameters.items() if name not in grid},
        inputs={"kernels": {"kind": "kernels"}},
        embeds=True,
    )  # fmt: skip


# --- the grid


def test_the_grid_is_the_product_of_the_lists() -> None:
    grid = candidates(method_of(ridge=[0.1, 1.0], max_iter=[2, 3, 4], graph="lda"), 5)
    assert [c.parameters for c in grid] == [
        {"graph": "lda", "ridge": r, "max_iter": i} for r in (0.1, 1.0) for i in (2, 3, 4)
    ]
    assert {c.kernel for c in grid} == {None}
    each = candidates(method_of(kernel_choice="best_single", ridge=[1, 2]), 3)
    assert [(c.kernel, c.parameters["ridge"]) for c in each] == [(k, r) for k in range(3) for r in (1, 2)]


# --- what is fitted on what


def fitted_on(digits: Any, fitted: Recorder) -> int:
    """Which inner fold an estimator was fitted without, or -1 for all training samples; the kernels are those there."""
    pairwise, y, train, test = digits
    parts = [(train[inside], train[outside]) for inside, outside in inner_folds(y[train], 3, 0)] + [(train, test)]
    for number, (inside, outside) in enumerate(parts):
        K, K_new, _ = split_stacks(pairwise, KERNELS, inside, outside)
        if fitted.K.shape == K.matrices.shape and np.array_equal(fitted.K, K.matrices):
            np.testing.assert_array_equal(fitted.y, y[inside])
            own, new = fitted.applied
            np.testing.assert_array_equal(own, split_stacks(pairwise, KERNELS, inside, inside)[1].matrices)
            np.testing.assert_array_equal(new, K_new.matrices)
            return number if number < 3 else -1
    raise AssertionError("fitted on other samples than those of a fold, or of the split")


@pytest.mark.parametrize("rules", [("euclidean",), ("euclidean", "cosine")])
def test_fits_are_on_inner_training_samples_and_kernels_are_fitted_there_again(digits: Any, rules: Any) -> None:
    """Each candidate at most once on each fold, whatever the rules; the chosen one on all of them, and then at last."""
    result = run(digits, "recorder", neighbours=rules, strength=[1.0, 2.0])
    done = [(fitted.strength, fitted_on(digits, fitted)) for fitted in Recorder.seen]
    assert len(set(done)) == len(done)
    chosen = {rule.candidate.parameters["strength"] for rule in result.rules.values()}
    assert {(strength, fold) for strength in chosen for fold in (-1, 0, 1, 2)} <= set(done)
    assert {strength for strength, fold in done if fold == -1} == chosen
    assert all(fold == -1 for _, fold in done[-len(chosen) :])


# --- nothing of the test samples


def embeddings(found: RuleResult) -> Any:
    """Training and test samples, embedded."""
    return found.fitted.embeddings[0]


def chosen(result: SplitResult) -> list[Any]:
    return [(rule, found.candidate, component(found)) for rule, found in result.rules.items()]


def assert_same_training(one: SplitResult, other: SplitResult) -> None:
    assert chosen(one) == chosen(other)
    for rule, found in one.rules.items():
        np.testing.assert_array_equal(embeddings(found)[0], embeddings(other.rules[rule])[0])
        np.testing.assert_array_equal(found.fitted.weights, other.rules[rule].fitted.weights)


WAYS: list[dict[str, Any]] = [
    {"ridge": [1e-4, 1e-2, 1.0]},
    {"kernel_choice": "best_single", "ridge": [1e-3, 1e-1]},
    {"implementation": "mklearn.subspace.mkldr:MKLDR", "ridge": [1e-3, 1e-1], "max_iter": 2},
    {"implementation": "mklearn.subspace.mkldr:MKLDR", "graph": "lde", "max_iter": 1},
    {"implementation": "mklearn.subspace.kernel_lde:KernelLDE"},
]


def scaled_table(informative: str) -> tuple[NDArray[Any], NDArray[np.int64]]:
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], 40)
    if informative == "standard":  # the second feature is noise of a large scale
        return np.column_stack([0.2 * rng.normal(size=80) + y, 1e3 * rng.normal(size=80)]), y
    angle = rng.normal(size=80) * 0.2 + 0.8 * y  # the class is in the direction, the length is noise
    return np.exp(2 * rng.normal(size=80))[:, None] * np.column_stack([np.cos(angle), np.sin(angle)]), y


@pytest.mark.parametrize("choice", [None, "best_single", "cv_accuracy"])
def test_training_samples_choose_the_automatic_scaling_of_each_view(choice: Any) -> None:
    """The fit is the one with the scalings named; each view has its own, whatever the method and its kernels."""
    (wide, y), (turned, _) = scaled_table("standard"), scaled_table("unit")
    views = Views({"wide": wide, "turned": turned})
    train, test = np.flatnonzero(np.arange(80) % 2 == 0), np.flatnonzero(np.arange(80) % 2)
    sources = {"w1": ("wide", 1.0), "w2": ("wide", 2.0), "t": ("turned", 1.0)}
    specs = [
        {"id": name, "view": view, "feature_scaling": "auto", "bandwidth": width}
        for name, (view, width) in sources.items()
    ]
    product = {"id": "p", "kind": "product", "factors": [{"view": "turned", "feature_scaling": "auto"}, specs[0]]}
    evaluation = EvaluationSpec(neighbours=["euclidean"], inner_folds=3, components="all")
    method = method_of(kernel_choice=choice, ridge=[1e-3, 1e-1])

    def evaluated(kernels: Any) -> SplitResult:
        problem = MethodOnViews(views, y, method, kernels)
        return evaluate_split(problem, train, test, evaluation=evaluation, seed=0)

    result = evaluated([*specs, product])
    found = result.rules["euclidean"]
    assert result.scalings == {"w1": "standard", "w2": "standard", "t": "unit"}
    assert [info["feature_scaling"] for info in found.fitted.kernel_info[:3]] == ["standard", "standard", "unit"]
    fixed = [spec | {"feature_scaling": result.scalings[spec["id"]]} for spec in specs]
    fixed.append(product | {"factors": [{"view": "turned", "feature_scaling": "unit"}, fixed[0]]})
    expected = evaluated(fixed).rules["euclidean"]
    assert found.candidate == expected.candidate
    np.testing.assert_array_equal(embeddings(found)[1], embeddings(expected)[1])
    assert scores(found)[-1] > 0.8
    assert evaluated(specs[1:2]).scalings == {"w2": "standard"}
    assert specs[0]["feature_scaling"] == "auto", "the study's own spec is not changed"


def test_automatic_scalings_leave_out_groups_that_the_test_samples_are_not_of() -> None:
    """The length of a sample tells its group, and so its class where the group is known; the direction its class."""
    rng = np.random.default_rng(1)
    names = np.repeat([f"g{number}" for number in range(10)], 8)
    y = np.repeat(np.arange(10) % 2, 8)
    angle = 0.5 * rng.normal(size=80) + 0.8 * y
    lengths = np.repeat([1.0, 4, 2, 5, 3, 6, 7, 8, 9, 10], 8)
    X = lengths[:, None] * np.column_stack([np.cos(angle), np.sin(angle)])
    problem = MethodOnViews(Views({"t": X}), y, method_of(), [{"id": "k", "view": "t", "feature_scaling": "auto"}])
    evaluation = EvaluationSpec(neighbours=["euclidean"], inner_folds=2, components="all")

    def chosen(train: NDArray[np.intp], groups: Any) -> dict[str, str]:
        test = np.setdiff1d(np.arange(80), train)
        grouped = replace(problem, groups=groups)
        return dict(evaluate_split(grouped, train, test, evaluation=evaluation, seed=0).scalings)

    whole, mixed = np.arange(64), np.flatnonzero(np.arange(80) % 5)
    assert chosen(whole, names) == {"k": "unit"}
    assert chosen(whole, None) == {"k": choose_scaling(X[whole], y[whole])} != {"k": "unit"}
    assert chosen(mixed, names) == {"k": choose_scaling(X[mixed], y[mixed])} != {"k": "unit"}


@pytest.mark.parametrize("way", WAYS)
def test_labels_and_distances_of_test_samples_change_neither_choice_nor_embedding(digits: Any, way: Any) -> None:
    pairwise, y, train, test = digits
    labels = y.copy()
    labels[test] = np.random.default_rng(1).permutation(y[test])
    rng, rules = np.random.default_rng(2), ("euclidean", "cosine")
    noise = {}
    for name, matrix in pairwise.items():
        drawn = rng.uniform(0.1, 1.0, size=matrix.shape) * matrix.max()
        noise[name] = drawn + drawn.T
        np.fill_diagonal(noise[name], np.diagonal(matrix))
        noise[name][np.ix_(train, train)] = matrix[np.ix_(train, train)]
    one, relabelled, moved = (
        run((matrices, codes, train, test), neighbours=rules, **way)
        for matrices, codes in ((pairwise, y), (pairwise, labels), (noise, y))
    )
    for other in (relabelled, moved):
        assert_same_training(one, other)
    for rule in rules:
        np.testing.assert_array_equal(embeddings(one.rules[rule])[1], embeddings(relabelled.rules[rule])[1])
        assert not np.array_equal(embeddings(one.rules[rule])[1], embeddings(moved.rules[rule])[1])
    assert any((scores(one.rules[rule]) != scores(relabelled.rules[rule])).any() for rule in rules)


@pytest.mark.parametrize("kernel_choice", [None, "best_single"])
def test_choice_on_the_test_samples_is_never_worse_there(digits: Any, kernel_choice: Any) -> None:
    """It takes the candidate with the best test accuracy, of several the first; nothing is held out of training."""
    pairwise, y, train, test = digits
    method = method_of(kernel_choice=kernel_choice, ridge=[1e2, 1e-1, 1e-3])

    def result(choice: Any, method: MethodSpec, kernels: Any = KERNELS) -> RuleResult:
        evaluation = EvaluationSpec(neighbours=["euclidean"], inner_folds=3, components="best", choice=choice)
        problem = on_matrices(pairwise, y, kernels, method)
        return evaluate_split(problem, train, test, evaluation=evaluation, seed=0).rules["euclidean"]

    best = result("test_set", method)
    alone = []
    for candidate in candidates(method, len(KERNELS)):
        own = KERNELS if candidate.kernel is None else [KERNELS[candidate.kernel]]
        single = method_of(**candidate.parameters)
        alone.append(scores(result("test_set", single, own)).max())
    assert scores(best).max() == max(alone)
    assert chosen_score(best) is None, "there is no value without the test samples"
    assert best.candidate == candidates(method, len(KERNELS))[int(np.argmax(alone))]
    honest = chosen_score(result("inner_cv", method))
    assert honest is not None
    assert honest <= max(alone)


def test_weights_by_accuracies_on_the_test_samples_have_no_value_without_them(digits: Any) -> None:
    pairwise, y, train, test = digits
    problem = on_matrices(pairwise, y, KERNELS, method_of(kernel_choice="cv_accuracy"))
    for choice, known in (("inner_cv", True), ("test_set", False)):
        evaluation = EvaluationSpec(neighbours=["euclidean"], inner_folds=3, components="all", choice=choice)
        result = evaluate_split(problem, train, test, evaluation=evaluation, seed=0)
        assert (chosen_score(result.rules["euclidean"]) is not None) is known
        assert bool(result.selection_message) is not known


# --- choices


def test_the_best_single_kernel_is_that_of_the_best_inner_curve(digits: Any) -> None:
    """Computed anew, kernel by kernel."""
    _, y, train, _ = digits
    means = []
    for kernel in KERNELS:
        curves = []
        for inside, outside in inner_folds(y[train], 3, 0):
            one = run((digits[0], y, train[inside], train[outside]), kernels=[kernel])
            curves.append(scores(one.rules["euclidean"]))
        means.append(np.mean(curves, axis=0).max())
    found = run(digits, kernel_choice="best_single").rules["euclidean"]
    assert found.candidate.kernel is not None
    assert means[found.candidate.kernel] == max(means)
    assert found.candidate.kernel != 2  # the noise


def test_rules_choose_for_themselves(digits: Any) -> None:
    both = run(digits, neighbours=("cosine", "euclidean"), ridge=[1e-4, 1.0])
    assert list(both.rules) == ["cosine", "euclidean"]
    for rule in both.rules:
        alone = run(digits, neighbours=(rule,), ridge=[1e-4, 1.0])
        assert chosen(alone) == [entry for entry in chosen(both) if entry[0] == rule]


# --- failures


@pytest.mark.parametrize("failure", [SolverFailed, NotApplicable, np.linalg.LinAlgError])
def test_a_candidate_that_fails_is_not_chosen(digits: Any, failure: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    good = run(digits, "recorder", strength=[2.0]).rules["euclidean"]
    monkeypatch.setattr(Recorder, "failure", failure)
    monkeypatch.setattr(Recorder, "fails_at", {1.0, 3.0})
    found = run(digits, "recorder", strength=[1.0, 2.0, 3.0]).rules["euclidean"]
    assert found.candidate.parameters == {"strength": 2.0}
    np.testing.assert_array_equal(scores(found), scores(good))


@pytest.mark.filterwarnings("ignore::mklearn.kernels.matrices.IdentityLikeKernelWarning")
def test_without_inner_folds_nothing_but_the_dimension_is_left_open(digits: Any) -> None:
    """All components need none; a grid is compared at all of them, and the classes - 1 are taken."""
    pairwise, y, train, test = digits
    few = np.array([train[y[train] == code][0] for code in range(3)])  # one sample of each class
    result = run((pairwise, y, few, test))
    found = result.rules["euclidean"]
    assert (component(found), chosen_score(found), len(scores(found))) == (None, None, 2)
    assert "class 0 has one" in result.selection_message
    with pytest.raises(NotApplicable):
        run((pairwise, y, few, test), ridge=[1e-3, 1e-1])
    found = run((pairwise, y, few, test), components="all").rules["euclidean"]
    assert (component(found), chosen_score(found)) == (2, scores(found)[-1])
    assert component(run(digits, components="all", ridge=[1e-3, 1e-1]).rules["euclidean"]) == 2


@pytest.mark.parametrize("failure", [SolverFailed, NotApplicable, np.linalg.LinAlgError])
def test_without_a_solution_in_the_inner_folds_all_dimensions_are_reported(
    digits: Any, failure: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One candidate that fails on every inner fold, which is smaller, and not on all training samples."""
    good = run(digits, "recorder").rules["euclidean"]
    assert component(good) is not None
    monkeypatch.setattr(Recorder, "failure", failure)
    monkeypatch.setattr(Recorder, "fails_below", len(digits[2]))
    for inner in (3, "leave_one_out"):
        result = run(digits, "recorder", neighbours=("euclidean", "cosine"), inner=inner)  # type: ignore[arg-type]
        assert list(result.rules) == ["euclidean", "cosine"]
        for found in result.rules.values():
            assert (found.predictions.components, found.predictions.position) == ([1, 2], None)
            assert scores(found).shape == (2,)
        np.testing.assert_array_equal(scores(result.rules["euclidean"]), scores(good))
        assert "every candidate failed" in result.selection_message
        assert "no solution at 1.0" in result.selection_message
    with pytest.raises(SolverFailed):  # a grid would have to be chosen from
        run(digits, "recorder", strength=[1.0, 2.0])


def test_one_class_only_is_not_applicable(digits: Any) -> None:
    pairwise, y, train, test = digits
    for implementation in (KFD, "mklearn.subspace.kernel_pca:KernelPCA", "recorder"):
        with pytest.raises(NotApplicable, match="one class"):
            run((pairwise, np.zeros_like(y), train, test), implementation)


def test_a_mistake_in_the_data_is_no_result(digits: Any) -> None:
    pairwise, y, train, test = digits
    broken = pairwise["d"].copy()
    broken[train[0], train[1]] = np.nan
    with pytest.raises(DataError, match="narrow"):
        run((pairwise | {"d": broken}, y, train, test))
    assert not issubclass(DataError, module.EXPECTED)


@pytest.mark.parametrize("neighbours", [["euclidean"], ["cosine", "euclidean"]])
def test_weights_by_accuracy_are_the_squared_inner_accuracies(digits: Any, neighbours: list[str]) -> None:
    """Compute them anew, kernel by kernel, by the rule of the headline; the noise among the kernels gets the least."""
    _, y, train, _ = digits
    best = []
    for kernel in KERNELS:
        curves = []
        for inside, outside in inner_folds(y[train], 3, 0):
            one = run((digits[0], y, train[inside], train[outside]), kernels=[kernel], inner=None)
            curves.append(scores(one.rules["euclidean"]))
        best.append(np.mean(curves, axis=0).max())
    found = run(digits, neighbours=neighbours, kernel_choice="cv_accuracy").rules["euclidean"]
    np.testing.assert_allclose(found.fitted.weights, np.square(best) / np.square(best).sum())
    assert np.argmin(found.fitted.weights) == 2


def test_leaving_one_out_shares_its_work_and_chooses_as_the_refits_do(
    digits: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With a bandwidth that is given, nothing of the kernels is fitted, and the refits have the same kernels."""
    pairwise, y, train, test = digits
    few = np.concatenate([train[y[train] == code][:6] for code in range(3)])
    kernels = [
        KERNELS[0] | {"id": f"g{k}", "bandwidth": 500.0 * 4**k, "bandwidth_rule": "absolute", "normalise": "none"}
        for k in range(4)
    ]
    method = method_of("mklearn.subspace.kernel_mmc:KernelMMC", kernel_choice="best_single")
    evaluation = EvaluationSpec(neighbours=["euclidean", "cosine"], inner_folds="leave_one_out")

    def chosen_by(shared: bool) -> Any:
        with monkeypatch.context() as patch:
            if not shared:
                patch.delattr("mklearn.subspace.kernel_mmc.KernelMMC.leave_one_out")
            problem = on_matrices(pairwise, y, kernels, method)
            result = evaluate_split(problem, few, test, evaluation=evaluation, seed=0)
        return {rule: (found.candidate.kernel, component(found)) for rule, found in result.rules.items()}

    assert chosen_by(shared=True) == chosen_by(shared=False)
