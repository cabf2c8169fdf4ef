"""Views that keep kernels: the same bits as without, each measure computed once for several estimators."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits

from mklearn.classifiers import KernelSVC
from mklearn.kernels import Pairwise, StackTransform, Views
from mklearn.kernels.distances import MEASURES, squared_euclidean
from mklearn.kernels.views import CachingViews
from mklearn.subspace import KernelFDA

SPECS: dict[str, Any] = {
    "wide": {"view": "pixels", "kind": "gaussian", "bandwidth": 2.0},
    "narrow": {"view": "pixels", "kind": "gaussian", "bandwidth": 0.5},
    "linear": {"view": "pixels", "kind": "linear", "feature_scaling": "standard"},
    "distances": {"kind": "gaussian"},
    "holed": {"kind": "gaussian", "missing_views": "mean"},
    "product": {
        "kind": "product", "missing_views": "mean",
        "factors": [{"view": "holed"}, {"view": "distances"}, {"view": "pixels", "bandwidth": 2.0}],
    },
}  # fmt: skip
SOME = [["wide", "narrow", "linear", "distances", "holed", "product"], ["narrow"], ["product", "wide"], ["holed"]]


@pytest.fixture(scope="module")
def digits() -> tuple[Views, np.ndarray]:
    X, y = load_digits(n_class=3, return_X_y=True)
    X, y = X[:90] / 16, y[:90]
    holed = X[:, ::2].copy()
    holed[[3, 20, 61, 80]] = np.nan
    return Views({"pixels": X, "distances": Pairwise(squared_euclidean(X[:, 1::2])), "holed": holed}), y


@pytest.fixture
def counted(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, int]]:
    """The measures that are computed, each with the number of its arguments: 1 in training, 2 of new samples."""
    calls: list[tuple[str, int]] = []

    def counting(name: str, measure: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *tables: calls.append((name, len(tables))) or measure(*tables)

    counting_measures = {name: counting(name, measure) for name, measure in MEASURES.items()}
    monkeypatch.setattr("mklearn.kernels.source.MEASURES", counting_measures)
    return calls


def some_of(names: list[str]) -> dict[str, Any]:
    return {name: SPECS[name] for name in names}


def outputs(model: Any, X: Views) -> np.ndarray:
    return model.transform(X) if isinstance(model, KernelFDA) else model.decision_function(X)


@pytest.mark.parametrize("method", [KernelSVC, KernelFDA])
def test_estimators_are_those_on_views(digits, method: Any) -> None:
    views, y = digits
    train, test = CachingViews(views[:60]), CachingViews(views[60:])
    for names in SOME:
        model = method(kernels=some_of(names)).fit(train, y[:60])
        expected = method(kernels=some_of(names)).fit(views[:60], y[:60])
        assert model.kernel_ids_ == expected.kernel_ids_ == tuple(names)
        together = outputs(expected, views[60:])
        np.testing.assert_array_equal(outputs(model, test), together)
        np.testing.assert_array_equal(outputs(model, views[60:]), together)
        np.testing.assert_array_equal(model.predict(test), expected.predict(views[60:]))
        for rows in (slice(4, 20), np.array([7, 2]), np.arange(30) % 3 == 0, 5):
            chosen = np.atleast_1d(np.arange(30)[rows])
            for part in (test[rows], test[rows, ...], test[::-1][29 - chosen]):
                assert isinstance(part, CachingViews)
                np.testing.assert_allclose(outputs(model, part), together[chosen], rtol=0, atol=1e-12)
        assert np.mean(model.predict(test) == y[60:]) > 0.8


def test_each_measure_is_computed_once(digits, counted: list[tuple[str, int]]) -> None:
    views, y = digits
    train, test = CachingViews(views[:60]), CachingViews(views[60:])
    # inner products of scaled pixels; distances of pixels, of pixels that may be missing, and of the holed view
    once = [("inner_product", 1), *[("squared_euclidean", 1)] * 3]
    KernelFDA(kernels=SPECS).fit(train, y[:60])
    assert sorted(counted) == once
    models = [method(kernels=some_of(names)).fit(train, y[:60]) for names in SOME for method in (KernelFDA, KernelSVC)]
    assert sorted(counted) == once
    counted.clear()
    for model in models:
        model.predict(test)
        model.predict(test[5:20])
        outputs(model, test[[2, 4]])
    assert sorted(counted) == [(name, 2) for name, _ in once]


def test_other_specs_and_samples_are_computed_anew(digits, counted: list[tuple[str, int]]) -> None:
    views, y = digits
    train = CachingViews(views[:60])
    KernelSVC(kernels=some_of(["wide"])).fit(train, y[:60])
    for change in ({"bandwidth": 3.0}, {"columns": [1, 2, 3]}, {"centre": False}, {"measure": "chi2"}):
        specs = {"wide": SPECS["wide"] | change}
        counted.clear()
        found = KernelSVC(kernels=specs).fit(train, y[:60]).decision_function(views[60:])
        assert len(counted) == 2
        expected = KernelSVC(kernels=specs).fit(views[:60], y[:60]).decision_function(views[60:])
        np.testing.assert_array_equal(found, expected)
    counted.clear()
    part = KernelSVC(kernels=some_of(["wide"])).fit(train[:40], y[:40])
    assert counted == [("squared_euclidean", 1)]
    expected = KernelSVC(kernels=some_of(["wide"])).fit(views[:40], y[:40]).decision_function(views[60:])
    np.testing.assert_array_equal(part.decision_function(views[60:]), expected)


def test_logical_columns_are_not_the_numbers_that_they_equal() -> None:
    X = np.random.default_rng(0).normal(size=(10, 5))
    views = CachingViews(Views({"a": X}))
    for columns in ([1, 0, 1, 0, 0], [True, False, True, False, False]):
        specs = {"k": {"kind": "linear", "view": "a", "columns": columns}}
        found, expected = (StackTransform(specs).fit_transform(each) for each in (views, Views({"a": X})))
        np.testing.assert_array_equal(found[0], expected[0])
