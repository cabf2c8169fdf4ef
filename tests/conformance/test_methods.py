"""Every registered method, in each of its ways, on digits: described, deterministic, blind to the test samples."""

from __future__ import annotations

import itertools
from typing import Any, Literal, get_args, get_origin

import numpy as np
import pytest
from numpy.typing import NDArray
from tests.conformance.conftest import Digits
from tests.conformance.signatures import about, disagreements, implementation

from mklearn.errors import DataError, NotApplicable, UserError
from mklearn.evaluation.nearest_neighbour import nearest_neighbour_predictions
from mklearn.registry import registered

MODELS: dict[str, Any] = registered("methods")
OTHER_DEFAULTS = {"kernel_weights": None}
"""Estimators write "uniform" as None too."""
THE_WORKFLOWS_OWN = {"best_single", "MOSEK"}
"""``best_single`` is a grid over the kernels; MOSEK needs a licence."""


def ways(kind: str) -> list[dict[str, Any]]:
    """Default parameters, and each other choice of a named option by itself."""
    model = MODELS[kind]
    default = model(kind=kind).parameters()
    found = [default]
    for name in default:
        annotation = model.model_fields[name].annotation
        members = [annotation, *get_args(annotation)]
        options = itertools.chain.from_iterable(get_args(m) for m in members if get_origin(m) is Literal)
        others = [option for option in options if option != default[name] and option not in THE_WORKFLOWS_OWN]
        found += [default | {name: option} for option in others]
    return found


WAYS = [(kind, way) for kind in MODELS for way in ways(kind)]
every_way = pytest.mark.parametrize(("kind", "way"), WAYS)
every_method = pytest.mark.parametrize("kind", MODELS)


def fitted(kind: str, way: dict[str, Any], K: NDArray[Any], y: NDArray[Any]) -> Any:
    return implementation(MODELS[kind])(**way, kernels="precomputed").fit(K, y)


@every_method
def test_methods_are_described_and_agree_with_their_code(kind: str) -> None:
    assert not about(MODELS[kind], paper=True)
    assert disagreements(MODELS[kind], kind, {}, OTHER_DEFAULTS) == []


def test_uniform_is_what_estimators_do_by_default(digits: Digits) -> None:
    K, _ = digits.stacks()
    for kind, model in MODELS.items():
        if "kernel_weights" in model.model_fields:
            default = implementation(model)().fit(K, digits.y[digits.train])
            uniform = implementation(model)(kernel_weights="uniform").fit(K, digits.y[digits.train])
            np.testing.assert_array_equal(default.embedding_, uniform.embedding_, err_msg=kind)


@every_way
@pytest.mark.filterwarnings("ignore::mklearn.subspace.mkldr.MixedSignWarning")
def test_on_digits(digits: Digits, kind: str, way: dict[str, Any]) -> None:
    """Fits, the same again, input kept, nonnegative weights of sum 1, right about classes that lie apart."""
    K, K_test = digits.stacks()
    y = digits.y[digits.train]
    before = K.copy()
    model = fitted(kind, way, K, y)
    train, test = model.transform(K), model.transform(K_test)
    np.testing.assert_array_equal(K, before)
    assert train.shape[0] == len(y)
    assert train.shape[1] == test.shape[1] >= 1
    assert np.isfinite(train).all()
    assert np.isfinite(test).all()
    np.testing.assert_allclose(train, model.embedding_, rtol=0, atol=1e-8 * np.abs(train).max())
    assert model.kernel_weights_.shape == (K.shape[2],)
    assert model.kernel_weights_.min() >= 0
    assert model.kernel_weights_.sum() == pytest.approx(1)

    again = fitted(kind, way, K, y)
    np.testing.assert_array_equal(again.transform(K_test), test)
    np.testing.assert_array_equal(again.kernel_weights_, model.kernel_weights_)

    predicted = nearest_neighbour_predictions(train, y, test)
    accuracy = np.mean(predicted == digits.y[digits.test])
    assert accuracy >= 0.85  # chance is 0.25


@every_method
def test_training_embeddings_do_not_depend_on_test_samples(digits: Digits, kind: str) -> None:
    """Whatever the test rows and columns of the pairwise matrices hold, the fit is the same to the bit."""
    rng = np.random.default_rng(0)
    other = {name: matrix.copy() for name, matrix in digits.pairwise.items()}
    for matrix in other.values():
        noise = rng.uniform(1, 100, size=matrix.shape)
        matrix[digits.test] = noise[digits.test]
        matrix[:, digits.test] = noise[digits.test].T
    (K, K_test), (K_2, K_test_2) = digits.stacks(), digits.stacks(other)
    assert not np.array_equal(K_test, K_test_2)
    y = digits.y[digits.train]
    way = MODELS[kind](kind=kind).parameters()
    one, two = fitted(kind, way, K, y), fitted(kind, way, K_2, y)
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(one.kernel_weights_, two.kernel_weights_)
    # and a test sample's embedding does not depend on the other test samples
    alone = np.concatenate([one.transform(K_test[i : i + 1]) for i in range(5)])
    np.testing.assert_allclose(alone, one.transform(K_test)[:5], rtol=0, atol=1e-10 * np.abs(alone).max())


@every_method
def test_names_and_order_of_classes_do_not_matter(digits: Digits, kind: str) -> None:
    K, K_test = digits.stacks()
    y = digits.y[digits.train]
    way = MODELS[kind](kind=kind).parameters()
    one, two = fitted(kind, way, K, y), fitted(kind, way, K, np.array([30, -1, 7, 20])[y])
    gram, gram_2 = (model.transform(K_test) @ model.transform(K_test).T for model in (one, two))
    np.testing.assert_allclose(gram, gram_2, rtol=0, atol=1e-6 * np.abs(gram).max())


@every_method
@pytest.mark.parametrize(
    ("what", "error"),
    [
        ("nan", DataError), ("infinite", DataError), ("not square", DataError), ("not symmetric", DataError),
        ("one class", NotApplicable), ("no labels", DataError), ("too few labels", DataError),
        ("empty", DataError), ("text", UserError), ("too many dimensions", NotApplicable),
    ],
)  # fmt: skip
def test_what_can_not_be_fitted(digits: Digits, kind: str, what: str, error: type[Exception]) -> None:
    K, _ = digits.stacks()
    y: Any = digits.y[digits.train]
    way = MODELS[kind](kind=kind).parameters()
    if what == "nan":
        K[3, 4, 0] = K[4, 3, 0] = np.nan
    elif what == "infinite":
        K[3, 3, 1] = np.inf
    elif what == "not square":
        K = K[:, :-1]
    elif what == "not symmetric":
        K[3, 4, 0] += 1
    elif what == "one class":
        y = np.zeros_like(y)
    elif what == "no labels":
        y = None
    elif what == "too few labels":
        y = y[:-1]
    elif what == "empty":
        K, y = K[:0, :0], y[:0]
    elif what == "text":
        K = np.full(K.shape, "a")
    else:
        way["n_components"] = 1000
    with pytest.raises(error) as caught:
        fitted(kind, way, K, y)
    assert isinstance(caught.value, UserError)
    assert len(str(caught.value)) > 20


@every_method
@pytest.mark.parametrize(
    "what", ["fewer kernels", "more kernels", "one matrix", "other training samples", "nan", "four dimensions"]
)
def test_what_can_not_be_transformed(digits: Digits, kind: str, what: str) -> None:
    K, K_test = digits.stacks()
    model = fitted(kind, MODELS[kind](kind=kind).parameters(), K, digits.y[digits.train])
    broken = K_test.copy()
    broken[0, 0, 0] = np.nan
    wrong = {
        "fewer kernels": K_test[:, :, :-1], "more kernels": np.concatenate([K_test, K_test[:, :, :1]], axis=2),
        "one matrix": K_test[:, :, 0], "other training samples": K_test[:, :-1], "nan": broken,
        "four dimensions": K_test[None],
    }  # fmt: skip
    with pytest.raises(DataError):
        model.transform(wrong[what])


def test_fit_before_transform(digits: Digits) -> None:
    from sklearn.exceptions import NotFittedError

    for model in MODELS.values():
        with pytest.raises(NotFittedError):
            implementation(model)().transform(digits.stacks()[1])
