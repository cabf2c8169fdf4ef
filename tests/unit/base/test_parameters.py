"""Threads of linear algebra, labels and weights in the order of the samples, and checks of parameters."""

from __future__ import annotations

import contextlib
import pickle
from dataclasses import field
from inspect import signature
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import pandas as pd
import pytest
from numpy.testing import assert_array_equal
from sklearn.base import BaseEstimator, clone
from threadpoolctl import threadpool_limits

from mklearn import MultiViewClassifier, MultiViewRegressor, Views
from mklearn.base import fit_context as module
from mklearn.base.fit_context import fit_context
from mklearn.base.kernels_mixin import KernelsMixin
from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.base.landmark_input import LandmarkInput
from mklearn.base.moments import Moments
from mklearn.base.parameters import POSITIVE, Nonnegative, Positive, PositiveInt, parameters
from mklearn.classifiers import KernelSVC, LedoitWolfLDA, NearestNeighbours, ShrinkageLDA
from mklearn.errors import DataError
from mklearn.inspection import view_contributions
from mklearn.kernels.views import in_order_of
from mklearn.subspace import KernelFDA


def now() -> list[int]:
    """Threads of the BLAS libraries; that of SCS, which CVXPY loads, is built with one."""
    blas = [library for library, _ in module._LIBRARIES if library.user_api == "blas"]
    return [library.num_threads for library in blas if library.threading_layer != "disabled"]


class Counting(LandmarkInput, KernelsMixin, BaseEstimator):
    _parameter_constraints: ClassVar[dict[str, Any]] = {}

    @fit_context
    def fit(self, X, y=None):
        self.of_fit_ = now()
        return self

    def predict(self, X):
        return now()

    def _learn(self, data):
        self.of_fit_ = now()


@pytest.fixture
def three_threads(monkeypatch: pytest.MonkeyPatch):
    """Three threads, as of a library that nobody has limited."""
    for name in module._VARIABLES:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(module, "_LIBRARIES", [(library, 3) for library, _ in module._LIBRARIES])
    with threadpool_limits(3):
        yield


FEW, MANY = np.zeros((20, 2)), np.zeros((module.FEWEST_SAMPLES, 1))


@pytest.mark.parametrize("form", [np.asarray, lambda X: {"a": X}, lambda X: [X, X], lambda X: Views([X])])
@pytest.mark.parametrize(("X", "expected"), [(FEW, 1), (MANY, 3)])
def test_few_samples_have_one_thread_and_the_number_is_kept(three_threads, form, X, expected) -> None:
    model = Counting().fit(form(X))
    assert set(model.of_fit_) == set(model.predict(form(X))) == {expected}
    assert set(now()) == {3}


def test_moments_have_all_threads_however_few_samples_the_landmarks_are_of(three_threads) -> None:
    features = LandmarkFeatures(n=2).fit(np.eye(20))
    moments = Moments().partial_fit(features.transform(np.eye(20)))
    assert set(Counting().fit_moments(features, moments).of_fit_) == {3}


def test_the_number_comes_back_after_an_error(three_threads) -> None:
    class Failing(Counting):
        def predict(self, X):
            raise ValueError

    with contextlib.suppress(ValueError):
        Failing().predict(FEW)
    assert set(now()) == {3}


@pytest.mark.parametrize("limit", [1, 2])
def test_a_limit_of_the_user_stays(three_threads, limit: int) -> None:
    with threadpool_limits(limit):
        assert set(Counting().fit(X=FEW).of_fit_) == {limit}
        assert set(now()) == {limit}


def test_an_environment_variable_stays(three_threads, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "3")
    assert set(Counting().fit(FEW).of_fit_) == {3}


NAMES = [f"sample-{number}" for number in range(60)]
RNG = np.random.default_rng(0)
CODES = RNG.permutation(np.arange(60) % 2)
TABLE = pd.DataFrame(RNG.normal(size=(60, 4)) + 1.5 * CODES[:, None], index=NAMES)
ORDER = RNG.permutation(60)
OF_SAMPLES = {
    "y": pd.Series(CODES, NAMES),
    "sample_weight": pd.Series(RNG.uniform(1, 2, 60), NAMES),
    "groups": pd.Series(np.arange(60) // 3, NAMES),
}
OF_TABLES = (LedoitWolfLDA, NearestNeighbours, ShrinkageLDA)
FORMS = {"dict": lambda X: {"a": X}, "Views": lambda X: Views([X, X.to_numpy()]), "table": lambda X: X}


@pytest.mark.parametrize("form", FORMS.values(), ids=FORMS)
@pytest.mark.parametrize(
    "model",
    [
        MultiViewClassifier(),
        MultiViewRegressor(),
        KernelSVC(kernels="gaussian"),
        KernelFDA(kernels="gaussian"),
        KernelFDA(kernels="gaussian", landmarks=30),
        LedoitWolfLDA(),
        NearestNeighbours(),
        ShrinkageLDA("lsqr", "auto"),
    ],
    ids=str,
)
def test_series_in_another_order_are_aligned_by_their_ids(model, form) -> None:
    X = TABLE if isinstance(model, OF_TABLES) else form(TABLE)
    aligned = {name: OF_SAMPLES[name] for name in signature(model.fit).parameters if name in OF_SAMPLES}
    other = {name: values.iloc[ORDER] for name, values in aligned.items()}
    expected, found = (clone(model).fit(X, **each) for each in (aligned, other))
    assert_array_equal(found.predict(X), expected.predict(X))
    assert found.score(X, other["y"]) == expected.score(X, aligned["y"]) >= 0.5


def test_functions_of_samples_align_too() -> None:
    estimator, views = MultiViewClassifier(), Views([TABLE.iloc[:, :2], TABLE.iloc[:, 2:]])
    found = [view_contributions(estimator, views, OF_SAMPLES["y"].iloc[order]) for order in (np.arange(60), ORDER)]
    assert [each.permuted for each in found[0]] == [each.permuted for each in found[1]]
    labels = [OF_SAMPLES["y"].iloc[order] for order in (np.arange(60), ORDER)]
    moments = [Moments().partial_fit(TABLE, y) for y in labels]
    assert_array_equal(moments[0].class_sums_, moments[1].class_sums_)
    mapping = in_order_of(TABLE, {name: values.iloc[ORDER] for name, values in OF_SAMPLES.items()}, "y")
    assert all(mapping[name].equals(values) for name, values in OF_SAMPLES.items())


@pytest.mark.parametrize("name", OF_SAMPLES)
@pytest.mark.parametrize(
    ("labels", "first"),
    [([*NAMES[:7], "other", *NAMES[8:]], "sample-7"), (range(60), "sample-0"), ([NAMES[0], *NAMES[:-1]], "duplicated")],
    ids=["one other", "numbered", "twice"],
)
def test_series_of_other_samples_are_refused(name: str, labels, first: str) -> None:
    arguments = OF_SAMPLES | {name: OF_SAMPLES[name].set_axis(list(labels))}
    with pytest.raises(DataError, match=f"(?s){name}.*{first}"):
        MultiViewClassifier().fit({"a": TABLE}, **arguments)


@pytest.mark.parametrize("y", [CODES, CODES.tolist(), pd.Series(CODES)])
def test_without_ids_on_both_sides_samples_are_taken_by_position(y) -> None:
    X = TABLE.reset_index(drop=True) if isinstance(y, pd.Series) else TABLE
    assert MultiViewClassifier().fit({"a": X}, y).score({"a": X}, CODES) > 0.9
    assert MultiViewClassifier().fit(TABLE.to_numpy(), pd.Series(CODES, NAMES)).score(TABLE.to_numpy(), CODES) > 0.9


# --- parameters


Rule = Literal["c"] | Annotated[Any, "array-like"]


@parameters
class Resized:
    size: PositiveInt | None = field(default=None, kw_only=False)
    sizes_: list[int] = field(init=False)


@parameters
class Ruled(BaseEstimator):
    ridge: Nonnegative = 0.0
    rule: Literal["a", "b"] = "a"
    share: float = 0.5


@parameters
class Estimator(Resized, Ruled):
    rule: Rule = "c"
    ready: bool = True
    other: Any = None

    @fit_context
    def fit(self, X, y=None):
        return self


@parameters
class Restricted(Ruled):
    ridge: Positive = 1.0
    coef_: Any = field(init=False)


@parameters
class Last(Restricted):
    size: PositiveInt = 1


def test_a_decorated_estimator_has_its_own_parameters_and_those_of_its_bases() -> None:
    assert str(signature(Estimator)) == (
        "(size: 'PositiveInt | None' = None, *, ridge: 'Nonnegative' = 0.0, rule: 'Rule' = 'c', "
        "share: 'float' = 0.5, ready: 'bool' = True, other: 'Any' = None) -> None"
    )
    model = clone(pickle.loads(pickle.dumps(Estimator(3, ridge=0.1)))).set_params(ready=False)
    assert repr(model) == "Estimator(ready=False, ridge=0.1, size=3)"
    assert not hasattr(model, "sizes_")
    assert list(Last._parameter_constraints) == list(signature(Last).parameters)
    assert Last._parameter_constraints["ridge"] == [POSITIVE]
    assert model != clone(model)


@pytest.mark.parametrize(
    "values",
    [{}, {"size": 1}, {"ridge": 1}, {"rule": [1.0]}, {"share": 2}, {"ready": np.True_}, {"other": None}, {"other": 1}],
)
def test_valid_parameters_pass(values) -> None:
    Estimator(**values).fit(None)


@pytest.mark.parametrize(
    "values",
    [{"size": 0}, {"size": 2.5}, {"ridge": -1.0}, {"ridge": None}, {"rule": "a"}, {"share": "1"}, {"ready": "no"}],
)
def test_fit_names_the_invalid_parameter(values) -> None:
    (name,) = values
    with pytest.raises(ValueError, match=f"The '{name}' parameter of Estimator"):
        Estimator(**values).fit(None)
