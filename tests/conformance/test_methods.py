"""Every registered method, in each of its ways, on digits: deterministic, and blind to test samples in a study."""

import dataclasses
import inspect
import pickle
from functools import partial
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.metrics import r2_score
from sklearn.model_selection import GridSearchCV, StratifiedKFold
from sklearn.pipeline import make_pipeline
from sklearn.utils import get_tags
from tests.conformance.conftest import Digits
from tests.entries import implementation, method

from mklearn.base.parameters import StrOptions
from mklearn.base.side_by_side import SideBySide
from mklearn.errors import DataError, NotApplicable, UserError
from mklearn.kernels import StackTransform, Views
from mklearn.methods import METHODS
from mklearn.nearest_neighbour import nearest_neighbour_predictions
from mklearn.study.evaluation.candidates import MethodOnViews, method_of
from mklearn.study.evaluation.split import SplitResult, evaluate_split
from mklearn.study.parameters import OF_THE_STUDY
from mklearn.study.specs.fit_spec import EvaluationSpec, InputSpec, MethodSpec
from mklearn.survival import harrell_c

NUMBERS = {kind for kind, row in METHODS.items() if "classes" not in row.targets}
"""Methods that predict numbers, graded by R^2 in place of accuracy; or risks, graded by Harrell's C."""
SURVIVAL = {kind for kind, row in METHODS.items() if row.targets == ("survival",)}
TAKES = {kind: next(iter(method(kind).inputs)) for kind in METHODS}
KERNELS = [kind for kind in METHODS if TAKES[kind] == "kernels"]
SAMPLES = [kind for kind in METHODS if TAKES[kind] != "kernels"]
"""Methods on features and on images."""
CONSTANT = {"majority", "mean_regressor", "kaplan_meier"}
"""Methods that ignore the features."""
EMBEDS = {kind for kind, row in METHODS.items() if row.embeds}
REFITTED = {kind for kind in METHODS if method(kind).refit()}
"""Methods that are fitted for each number of components."""
UNSUPERVISED = {"kernel_pca", "pca", "glram"}
"""They ignore labels: what is wrong with those is no mistake."""
FOREIGN = {kind for kind, row in METHODS.items() if ".baselines:" in row.implementation}
"""scikit-learn's own estimators, which raise its own ValueError: the one exception from mklearn's typed errors."""
NOT_TRIED = {"weights", "algorithm", "metric", "missing_views", "impute", "kernel_weights", "init", "step"}
"""Parameters with tests of their own, or scikit-learn's own."""
SIZE = 3
"""Dimensions of the methods that are fitted anew for each number of them, as the workflow does; digits are 8 x 8."""
CLASSES_LESS_ONE = 3
TREES = {"random_forest", "gradient_boosting", "random_forest_regressor", "gradient_boosting_regressor",
         "random_survival_forest"}  # fmt: skip
"""They take values that are missing, or infinite."""
ONE_CLASS_IS_FITTED = {
    "majority", "nearest_neighbour", "shrinkage_lda", "standardised_shrinkage_lda", *TREES, *NUMBERS,
} - SURVIVAL  # fmt: skip
"""scikit-learn's discriminant analysis fits a single class and fails to predict; the workflow refuses it, see below."""
UNIT_LENGTHS = {"multi_view", "multi_view_regressor", "multi_view_survival"}
"""Unit length is among their scalings."""
STANDARDISES = {
    *UNIT_LENGTHS, "cox_ridge", "cox_elastic_net", "standardised_shrinkage_lda", "shrinkage_lda", "gaussian_svc",
    "ridge", "logistic_regression", "elastic_net", "fsvc", "r_svm_plus", "rmm_svc", "linear_svc",
}  # fmt: skip
"""Methods that bring features to one scale by default; `linear_svc` all to one."""
NEEDS_MORE_FEATURES_THAN_SAMPLES = {"null_space_lda"}
FOLLOW_THE_ORDER = {"kernel_samme", "stacking", "lmkl_svc", "random_forest_regressor", "random_survival_forest"}
"""Folds of the first two follow the order of the samples; localized weights are a local optimum, whose random start is
by the position of the kernels too; a forest draws by position."""
OVERFITS = {
    ("fisherface", "unit"): 0.75, ("fsvc", "alternating"): 0.75, ("majority", ""): 0.25, ("mean_regressor", ""): -0.01,
    ("kaplan_meier", ""): 0.5, ("random_survival_forest", ""): 0.75,
}  # fmt: skip
"""Least scores of some methods on digits. All 50 principal components of 60 samples leave little within-class variance,
and unit length hides how little; of two classes F-SVM has 30 samples in 29 dimensions, whitened a regular simplex; the
majority class is one of four, the mean explains nothing, and equal risks are right about half of all pairs."""


def suited(digits: Digits, kind: str) -> Digits:
    """The digits; fewer training samples for a method that needs more features than samples, and numbers for classes.

    The numbers differ within classes, and are of another size.
    """
    if kind in NEEDS_MORE_FEATURES_THAN_SAMPLES:
        return dataclasses.replace(digits, train=digits.train[::3])
    if kind in NUMBERS:
        return dataclasses.replace(digits, y=50.0 + 10.0 * digits.y + digits.X[:, 36])
    return digits


def share_right(kind: str, predicted: NDArray[Any], y: NDArray[Any]) -> float:
    if kind in SURVIVAL:
        return harrell_c(y, predicted)
    return float(r2_score(y, predicted) if kind in NUMBERS else np.mean(predicted == y))


def few_trees(kind: str) -> dict[str, int]:
    return {"n_estimators": 30} if "n_estimators" in inspect.signature(implementation(METHODS[kind])).parameters else {}


def parameters(kind: str) -> dict[str, Any]:
    """Return the parameters that the workflow passes by default; of 300 trees a tenth."""
    found: dict[str, Any] = method(kind).parameters()
    found |= few_trees(kind)
    return found | ({"n_components": SIZE} if kind in REFITTED else {})


def ways(kind: str) -> list[dict[str, Any]]:
    """Default parameters, and each other choice of a named option by itself."""
    function, default = implementation(METHODS[kind]), parameters(kind)
    found = [default]
    for name, parameter in inspect.signature(function).parameters.items():
        if name in {*OF_THE_STUDY, *METHODS[kind].fixed, *NOT_TRIED}:
            continue
        constraints = getattr(function, "_parameter_constraints", {}).get(name, ())
        options = {option for each in constraints if isinstance(each, StrOptions) for option in each.options}
        own = default.get(name, parameter.default)
        found += [default | {name: option} for option in sorted(options - {own, "svd"})]
    return found


def named(way: tuple[str, dict[str, Any]]) -> str:
    kind, values = way
    default = parameters(kind)
    return "-".join([kind, *(f"{name}={value}" for name, value in values.items() if value != default.get(name))])


every_way = pytest.mark.parametrize(
    ("kind", "way"),
    [
        pytest.param(kind, way, id=named((kind, way)), marks=[pytest.mark.full] if number else [])
        for kind in METHODS
        for number, way in enumerate(ways(kind))
    ],
)
sample_methods = pytest.mark.parametrize("kind", SAMPLES)


def made(kind: str, way: dict[str, Any]) -> Any:
    form = {"kernels": "precomputed"} if kind in KERNELS else {}
    return implementation(METHODS[kind])(**form | way)


def fitted(kind: str, way: dict[str, Any], X: NDArray[Any], y: Any) -> Any:
    return made(kind, way).fit(X, y)


def apply(kind: str, model: Any, X: NDArray[Any]) -> NDArray[Any]:
    """Embedding of samples, or their labels of a classifier."""
    return np.asarray((model.predict if kind not in EMBEDS else model.transform)(X))


# --- what the listing says


@pytest.mark.parametrize("kind", [kind for kind, row in METHODS.items() if row.combines])
def test_weights_choose_and_mix_kernels(digits: Digits, kind: str) -> None:
    (K, K_test), y = digits.stacks, suited(digits, kind).y[digits.train]
    average, second = np.full(4, 0.25), np.eye(4)[1]
    choices = {None: average, "uniform": average, (2, 2, 2, 2): average, 1: second, (0, 5, 0, 0): second}
    for choice, weights in choices.items():
        # The graph of local discriminant embedding is of each kernel, not of their average.
        whole = kind == "kernel_lde" and weights is average
        parts, parts_test = (K, K_test) if whole else (K @ weights, K_test @ weights)
        mixed = implementation(METHODS[kind])(kernel_weights=choice).fit(K, y)
        alone = implementation(METHODS[kind])().fit(parts, y)
        np.testing.assert_allclose(mixed.kernel_weights_, weights)
        found, expected = apply(kind, mixed, K_test), apply(kind, alone, parts_test)
        np.testing.assert_allclose(found, expected, rtol=0, atol=1e-7 * np.abs(expected).max(), err_msg=str(choice))


# --- fits


@every_way
@pytest.mark.filterwarnings("ignore::mklearn.subspace.mkldr.MixedSignWarning")
def test_on_digits(digits: Digits, kind: str, way: dict[str, Any]) -> None:
    """Fits, the same again and pickled, input kept, weights >= 0 of sum 1, right about classes that lie apart."""
    if way.get("graph") == "lpp":  # knows no classes, and has two dimensions by default: too few for four
        way = way | {"n_components": CLASSES_LESS_ONE}
    digits = suited(digits, kind)
    X, X_test = digits.inputs(TAKES[kind])
    y, y_test = digits.y[digits.train], digits.y[digits.test]
    before, before_test = X.copy(), X_test.copy()
    model = fitted(kind, way, X, y)
    test = apply(kind, model, X_test)
    if kind not in EMBEDS:
        assert test.shape == y_test.shape
        assert np.isfinite(test).all() if kind in NUMBERS else set(test) <= set(y)
        predicted = test
    else:
        train = model.transform(X)
        assert train.shape[0] == len(y)
        assert train.shape[1] == test.shape[1] >= 1
        assert np.isfinite(train).all()
        assert np.isfinite(test).all()
        np.testing.assert_allclose(train, model.embedding_, rtol=0, atol=1e-8 * np.abs(train).max())
        predicted = nearest_neighbour_predictions(train, y, test)
        np.testing.assert_array_equal(model.predict(X_test), predicted)
    np.testing.assert_array_equal(X, before)
    np.testing.assert_array_equal(X_test, before_test)
    if kind in REFITTED:
        assert train.shape[1] == SIZE * SIZE

    np.testing.assert_array_equal(apply(kind, pickle.loads(pickle.dumps(model)), X_test), test)
    again = fitted(kind, way, X, y)
    np.testing.assert_array_equal(apply(kind, again, X_test), test)
    if kind in KERNELS:
        assert model.kernel_weights_.shape == (X.shape[2],)
        assert model.kernel_weights_.min() >= 0
        assert model.kernel_weights_.sum() == pytest.approx(1)
        np.testing.assert_array_equal(again.kernel_weights_, model.kernel_weights_)

    expected = OVERFITS.get((kind, way.get("scaling", way.get("solver", ""))), 0.85)  # chance is 0.25
    assert share_right(kind, predicted, y_test) >= expected


@pytest.mark.parametrize("kind", [kind for kind in KERNELS if not METHODS[kind].views])  # a view gates, or X does
def test_kernels_of_specs_equal_those_precomputed(digits: Digits, kind: str) -> None:
    X, X_test, y = digits.X[digits.train], digits.X[digits.test], suited(digits, kind).y[digits.train]
    specs = [{"kind": "gaussian"}, {"kind": "gaussian", "columns": list(range(32))}, {"kind": "linear", "centre": True}]
    transform = StackTransform(specs).fit(X)
    precomputed = made(kind, parameters(kind)).fit(transform.stack_train_.as_last_axis(), y)
    computed = implementation(METHODS[kind])(**parameters(kind), kernels=specs).fit(X, y)
    expected = apply(kind, precomputed, transform.transform(X_test).as_last_axis())
    found = apply(kind, computed, X_test)
    np.testing.assert_allclose(found, expected, atol=1e-6)
    X *= 0.5  # a model does not change with the caller's array
    np.testing.assert_array_equal(apply(kind, computed, X_test), found)


@pytest.mark.parametrize("kind", KERNELS)
@pytest.mark.parametrize("form", ["kernels", "views"])
def test_searches_slice_kernels_and_views(digits: Digits, kind: str, form: str) -> None:
    y = suited(digits, kind).y[digits.train]
    folds = list(StratifiedKFold(3).split(digits.train, digits.y[digits.train]))
    X, kernels = digits.stacks[0], "precomputed"
    if form == "views":
        X = Views({"X": digits.X, "lower": digits.X[:, 32:]})[digits.train]
        kernels = {"X": "gaussian", "lower": "linear"}
    model = implementation(METHODS[kind])(**parameters(kind), kernels=kernels)
    assert get_tags(model).input_tags.pairwise == (form == "kernels")
    search = GridSearchCV(model, {"kernels": [kernels]}, cv=folds, error_score="raise", refit=False).fit(X, y)
    for number, (train, test) in enumerate(folds):
        columns = (train,) if form == "kernels" else ()
        rows, new = (np.ix_(part, *columns) if columns else part for part in (train, test))
        inner = clone(model).fit(X[rows], y[train])
        assert search.cv_results_[f"split{number}_test_score"][0] == inner.score(X[new], y[test]) > 0.6


@pytest.mark.parametrize("kind", [kind for kind in METHODS if kind not in FOREIGN])
def test_single_precision(digits: Digits, kind: str) -> None:
    digits = suited(digits, kind)
    X, X_test = digits.inputs(TAKES[kind])
    # Pixels are integers with many equal distances: noise gives the same neighbours in both precisions.
    if kind in SAMPLES:
        X, X_test = (Z + np.random.default_rng(0).normal(size=Z.shape) for Z in (X, X_test))
    y = digits.y[digits.train]
    double, single = (fitted(kind, parameters(kind), Z, y) for Z in (X, X.astype(np.float32)))
    expected, found = apply(kind, double, X_test), apply(kind, single, X_test.astype(np.float32))
    if kind not in EMBEDS:
        if kind in NUMBERS:
            assert r2_score(expected, found) > 0.99999
        else:
            assert np.mean(expected == found) > 0.97
    else:
        assert found.dtype == single.embedding_.dtype == np.float32
        np.testing.assert_allclose(found, expected, atol=5e-3 * np.abs(expected).max())
    if kind in KERNELS:
        np.testing.assert_allclose(single.kernel_weights_, double.kernel_weights_, atol=1e-3)


@pytest.mark.parametrize(
    "scaling", ["standard", *(pytest.param(scaling, marks=pytest.mark.full) for scaling in ("none", "rank"))]
)
@sample_methods
def test_what_is_learned_of_samples_does_not_depend_on_test_samples(digits: Digits, kind: str, scaling: str) -> None:
    if scaling != "none" and TAKES[kind] != "features":
        pytest.skip("images are not scaled")
    rng = np.random.default_rng(0)
    digits = suited(digits, kind)
    samples, y = digits.samples(TAKES[kind]), digits.y
    other, other_y = samples.copy(), y.copy()
    other[digits.test] = rng.uniform(1, 100, size=other[digits.test].shape)
    other_y[digits.test] = rng.permutation(y[digits.test])
    results = [evaluated(digits, kind, X, codes, scaling) for X, codes in ((samples, y), (other, other_y))]
    one, two = (next(iter(result.rules.values())) for result in results)
    assert (one.predictions.position, one.candidate) == (two.predictions.position, two.candidate)
    first, second = (found.predictions.labels for found in (one, two))
    assert kind in CONSTANT or not np.array_equal(first, second)
    for model_1, model_2 in zip(one.fitted.estimators, two.fitted.estimators, strict=True):
        for X in (samples[digits.train], samples[digits.test]):
            np.testing.assert_array_equal(*(apply(kind, method_of(model), X) for model in (model_1, model_2)))


def evaluated(digits: Digits, kind: str, X: NDArray[Any], y: NDArray[np.int64], scaling: Any = "none") -> SplitResult:
    fields = {"sizes": [2, SIZE]} if kind in REFITTED else {}
    model = method(kind, **fields, **few_trees(kind))
    features = TAKES[kind] == "features"
    entry = InputSpec(kind=TAKES[kind], descriptors=["X"] if features else [], feature_scaling=scaling)
    spec = MethodSpec(
        id=kind, implementation=model.row.implementation, parameters=model.parameters(),
        embeds=model.row.embeds, refit=model.refit(), inputs={"X": entry},
    )  # fmt: skip
    metric = "harrell_c" if kind in SURVIVAL else "r2" if kind in NUMBERS else "accuracy"
    evaluation = EvaluationSpec(neighbours=["euclidean"], inner_folds=3, choose_by=metric)
    problem = MethodOnViews(Views({"X": X}), y, spec)
    return evaluate_split(problem, digits.train, digits.test, evaluation=evaluation, seed=0)


@pytest.mark.parametrize("kind", [kind for kind in METHODS if TAKES[kind] != "images" and kind not in CONSTANT])
@pytest.mark.parametrize("by_itself", [False, True], ids=["standardised", "by itself"])
def test_a_feature_of_rounding_errors_says_nothing(digits: Digits, kind: str, by_itself: bool) -> None:
    if by_itself and kind not in STANDARDISES:
        pytest.skip("it takes features as they are")
    digits, noise = suited(digits, kind), np.random.default_rng(0).choice([0, 1.5e-16], size=len(digits.y))
    X, far = (np.column_stack([digits.X, column]) for column in (noise, noise))
    far[digits.test, -1] = np.random.default_rng(1).normal(scale=100, size=len(digits.test))
    model = implementation(METHODS[kind])(**parameters(kind))
    as_views = TAKES[kind] == "kernels" or not by_itself
    if TAKES[kind] != "kernels" and not by_itself:
        model = make_pipeline(SideBySide(["X"], "standard"), model)
    elif not by_itself:
        model.set_params(kernels={"X": {"feature_scaling": "standard"}})

    def predictions(table: NDArray[Any]) -> NDArray[Any]:
        train, test = (Views({"X": table[rows]}) if as_views else table[rows] for rows in (digits.train, digits.test))
        return np.asarray(clone(model).fit(train, digits.y[digits.train]).predict(test))

    found = predictions(far)
    np.testing.assert_array_equal(found, predictions(X))
    if kind not in TREES:  # these draw features
        np.testing.assert_allclose(found, predictions(digits.X), rtol=1e-6)


@pytest.mark.parametrize("kind", sorted({*STANDARDISES, *TREES, *KERNELS} - UNIT_LENGTHS))
def test_unit_and_origin_of_features_do_not_matter(digits: Digits, kind: str) -> None:
    digits = suited(digits, kind)
    moved = 4.0 * digits.X + np.where(np.arange(64) < 32, 50.0, -200.0)
    model = implementation(METHODS[kind])(**parameters(kind))
    if kind in KERNELS and METHODS[kind].takes == "kernels":
        gaussian = {"kind": "gaussian", "columns": slice(0, 32)}
        model.set_params(kernels=[gaussian, *({"kind": "linear", "columns": slice(k, k + 32)} for k in (0, 32))])
    y = digits.y[digits.train]
    one, two = (clone(model).fit(X[digits.train], y).predict(X[digits.test]) for X in (digits.X, moved))
    assert share_right(kind, one, digits.y[digits.test]) > 0.6
    if kind in NUMBERS:
        np.testing.assert_allclose(two, one, rtol=1e-6)
    else:
        np.testing.assert_array_equal(two, one)


@pytest.mark.parametrize("kind", METHODS)
def test_names_of_classes_and_order_of_samples_and_kernels_do_not_matter(digits: Digits, kind: str) -> None:
    digits = suited(digits, kind)
    X, X_test = digits.inputs(TAKES[kind])
    y = digits.y[digits.train]
    names = np.array(["zero", "one", "two", "three"])
    origin = 0.0 if kind in {*TREES, *SURVIVAL} else 64.0  # trees have ties, which rounding breaks; times are positive
    renamed = (lambda values: 4.0 * values - origin) if kind in NUMBERS else names.__getitem__
    rows, kernels = np.random.default_rng(0).permutation(len(y)), [2, 0, 3, 1]
    if kind in FOLLOW_THE_ORDER:
        rows = np.arange(len(y))
    if kind == "majority":
        y = np.maximum(y, 1)  # of equally large classes it predicts the first name
    if kind == "lmkl_svc":
        kernels = [0, 1, 2, 3]
    moved, moved_test = X[rows], X_test
    if kind in KERNELS:
        moved, moved_test = moved[:, rows][..., kernels], X_test[:, rows][..., kernels]
    models = fitted(kind, parameters(kind), X, y), fitted(kind, parameters(kind), moved, renamed(y[rows]))
    one, two = (apply(kind, model, Z) for model, Z in zip(models, (X_test, moved_test), strict=True))
    if kind in KERNELS:
        weights, weights_2 = (model.kernel_weights_ for model in models)
        np.testing.assert_allclose(weights_2, weights[kernels], atol=1e-4)
    if kind not in EMBEDS:
        if kind in NUMBERS:
            expected = one if kind in SURVIVAL & FOREIGN else renamed(one)  # a Cox model's risk has no unit
            np.testing.assert_allclose(two, expected, rtol=0, atol=1e-6)
        else:
            np.testing.assert_array_equal(two, renamed(one))
        return
    gram, gram_2 = one @ one.T, two @ two.T
    np.testing.assert_allclose(gram, gram_2, rtol=0, atol=1e-6 * np.abs(gram).max())


@pytest.mark.parametrize("kind", [kind for kind in SAMPLES if kind in EMBEDS - REFITTED])
def test_leading_columns_are_the_embedding_in_fewer_dimensions(digits: Digits, kind: str) -> None:
    digits = suited(digits, kind)
    X, X_test = digits.inputs(TAKES[kind])
    y = digits.y[digits.train]
    most = fitted(kind, parameters(kind), X, y).transform(X_test)
    fewer = fitted(kind, parameters(kind) | {"n_components": 2}, X, y).transform(X_test)
    assert most.shape[1] > fewer.shape[1] == 2
    np.testing.assert_allclose(most[:, :2], fewer, rtol=0, atol=1e-8 * np.abs(most).max())


# --- what can't be done


def assert_refused(kind: str, error: type[Exception], call: Any) -> None:
    """mklearn's own typed error with a sentence; scikit-learn's ValueError where the implementation is its own."""
    with pytest.raises(ValueError if kind in FOREIGN else error) as caught:
        call()
    assert kind in FOREIGN or isinstance(caught.value, UserError)
    assert len(str(caught.value)) > 20


LABELS: dict[str, tuple[type[Exception], Any]] = {
    "one class": (NotApplicable, np.zeros_like), "no labels": (DataError, lambda y: None),
    "too few labels": (DataError, lambda y: y[:-1]),
}  # fmt: skip
"""Mistakes in labels, and their errors."""


@pytest.mark.parametrize("kind", [kind for kind in METHODS if kind != "mean_regressor"])
@pytest.mark.parametrize("what", LABELS)
def test_labels_that_can_not_be_fitted_or_do_not_matter(digits: Digits, kind: str, what: str) -> None:
    digits = suited(digits, kind)
    X, X_test = digits.inputs(TAKES[kind])
    y, (error, broken) = digits.y[digits.train], LABELS[what]
    fit = partial(fitted, kind, parameters(kind), X)
    if kind in UNSUPERVISED:
        np.testing.assert_array_equal(fit(broken(y)).transform(X_test), fit(y).transform(X_test))
    elif what == "one class" and kind in ONE_CLASS_IS_FITTED:
        fit(broken(y))
    else:
        assert_refused(kind, DataError if kind in SURVIVAL else error, partial(fit, broken(y)))


@sample_methods
def test_one_class_is_not_applicable_in_the_workflow_whatever_the_method(digits: Digits, kind: str) -> None:
    digits = suited(digits, kind)
    with pytest.raises(NotApplicable, match="the target is 0 for all" if kind in NUMBERS else "one class"):
        evaluated(digits, kind, digits.samples(TAKES[kind]), np.zeros_like(digits.y))


def with_entry(X: NDArray[Any], value: float) -> NDArray[Any]:
    changed = X.copy()
    changed[3, 4] = value
    return changed


WRONG: dict[str, tuple[type[Exception], Any]] = {
    "nan": (DataError, lambda X: with_entry(X, np.nan)), "infinite": (DataError, lambda X: with_entry(X, np.inf)),
    "text": (UserError, lambda X: np.full(X.shape, "a")), "too many dimensions": (NotApplicable, np.copy),
}  # fmt: skip
WRONG_KERNELS = WRONG | {
    "not square": (DataError, lambda X: X[:, :-1]), "not symmetric": (DataError, lambda X: with_entry(X, 1e6)),
    "empty": (DataError, lambda X: X[:0, :0]), "constant": (NotApplicable, np.ones_like),
    "distances": (DataError, lambda X: X.max() - np.where(np.eye(len(X))[..., None], X.max(), X)),
}  # fmt: skip
WRONG_SAMPLES = WRONG | {
    "empty": (DataError, lambda X: X[:0]), "no features": (DataError, lambda X: X[..., :0]),
    "one axis": (DataError, lambda X: X.reshape(len(X), -1)[:, 0]),
    "one axis more": (DataError, lambda X: X[..., None, None] if X.ndim == 2 else X[..., None]),
}  # fmt: skip


@pytest.mark.parametrize("kind", [kind for kind in METHODS if kind not in CONSTANT])
def test_input_that_can_not_be_fitted(digits: Digits, kind: str, subtests: pytest.Subtests) -> None:
    digits = suited(digits, kind)
    X, y = digits.inputs(TAKES[kind])[0], digits.y[digits.train]
    for what, (error, broken) in (WRONG_KERNELS if kind in KERNELS else WRONG_SAMPLES).items():
        if (kind in TREES and what in ("nan", "infinite")) or (kind not in EMBEDS and what == "too many dimensions"):
            continue
        way, Z = parameters(kind) | ({"n_components": 1000} if what == "too many dimensions" else {}), broken(X)
        with subtests.test(what):
            assert_refused(kind, error, partial(fitted, kind, way, Z, y[: len(Z)]))


@pytest.mark.parametrize("kind", [kind for kind in METHODS if kind not in CONSTANT])
def test_input_that_a_model_can_not_be_applied_to(digits: Digits, kind: str, subtests: pytest.Subtests) -> None:
    digits = suited(digits, kind)
    X, X_new = digits.inputs(TAKES[kind])
    model = fitted(kind, parameters(kind), X, digits.y[digits.train])
    wrong = {
        "fewer features": X_new[..., :-1], "more features": np.concatenate([X_new, X_new[..., :1]], axis=-1),
        "nan": with_entry(X_new, np.nan), "text": np.full(X_new.shape, "a"),
        "one axis": X_new.reshape(len(X_new), -1)[:, 0], "one axis more": X_new[None, ..., None],
    }  # fmt: skip
    if kind in KERNELS:
        wrong |= {"one matrix": X_new[:, :, 0], "other training samples": X_new[:, :-1]}
    else:
        wrong["empty"] = X_new[:0]
    if kind in TREES:
        del wrong["nan"]
    for what, Z in wrong.items():
        with subtests.test(what):
            assert_refused(kind, DataError, partial(apply, kind, model, Z))
