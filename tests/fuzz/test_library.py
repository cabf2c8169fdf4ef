"""Wrong arrays, labels and parameters lead to finite results or typed errors."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from sklearn.utils._param_validation import InvalidParameterError
from tests.conformance.test_methods import TAKES, apply, fitted, parameters
from tests.entries import implementation
from tests.fuzz.trials import CHANGES, PROCESSES, SAME, a_sentence, changed, run_trials

from mklearn.kernels.distances import squared_euclidean
from mklearn.kernels.views import Views
from mklearn.methods import METHODS

FOREIGN = {"nearest_neighbour", "shrinkage_lda"} | {
    kind for kind, row in METHODS.items() if row.implementation.partition(":")[2].islower()
}
"""scikit-learn's own estimators, which raise its ValueError and TypeError: two subclasses, and what functions make."""
RNG = np.random.default_rng(0)
Y = np.repeat([0, 1, 2], 6)
FEATURES = RNG.normal(size=(18, 20)) + Y[:, None]
KERNELS = np.stack([FEATURES @ FEATURES.T, np.exp(-squared_euclidean(FEATURES) / 20)], axis=-1)
IMAGES = RNG.uniform(0, 255, size=(18, 6, 4)) + 20 * Y[:, None, None]
INPUTS = {"features": FEATURES, "kernels": KERNELS, "images": IMAGES}
LABELS: dict[str, Any] = {
    "text": np.array(["a", "b", "c"])[Y], "list": Y.tolist(), "column": Y[:, None], "floats": Y + 0.0, "bool": Y > 0,
    "continuous": Y + 0.5, "mixed": [["a", 1, None][code] for code in Y], "bytes": np.array([b"a", b"b", b"c"])[Y],
    "none": None, "one class": Y * 0, "few": Y[:-1], "many": [*Y, 0], "nan": np.where(Y, Y, np.nan), "empty": [],
    "complex": Y * 1j, "dates": Y.astype("M8[D]"), "huge": [10 ** (30 + code) for code in Y], "matrix": [Y, Y],
    "masked": np.ma.masked_array(Y, Y == 1), "a string": "abc", "objects": [{} for _ in Y], "alone": np.arange(18),
    "lonely": np.r_[1, Y[1:] * 0], "record": np.zeros(18, dtype=[("a", "i4")]), "set": {1, 2}, "scalar": 3,
}  # fmt: skip
PARAMETERS = (None, -1, 0, 1, 2, 10**9, 10**30, 0.5, -0.5, 1e-300, 1e300, np.nan, np.inf, "", "auto", "é", True,
              [], [1], {}, {"a": 1}, (), np.float32(2), np.array([0.5, 0.5]), b"x", 1j)  # fmt: skip
"""Values for any parameter."""


def valid(kind: str) -> tuple[np.ndarray, str]:
    """Return the training samples that a method takes, and the name of valid labels."""
    return INPUTS[TAKES[kind]], "text" if "classes" in METHODS[kind].targets else "continuous"


def is_finite(result: Any) -> bool:
    array = np.asarray(result)
    return array.dtype.kind not in "fc" or bool(np.isfinite(array).all())


def expected_errors(kind: str, change: str = "") -> tuple[type[Exception], ...]:
    """Return the errors beside mklearn's own: scikit-learn's, and its TypeError for objects that are no numbers."""
    if kind in FOREIGN:
        return (ValueError, TypeError, IndexError, OverflowError)
    return (TypeError,) if change in ("object", "sparse", "none", "a string") else ()


@pytest.fixture(scope="module", autouse=True)
def warm() -> None:
    """Compile loops and import lazily loaded packages, which may start processes."""
    for kind in METHODS:
        X, labels = valid(kind)
        assert is_finite(apply(kind, fitted(kind, parameters(kind), X, LABELS[labels]), X))


def test_estimators() -> None:
    """Fit to any array and labels, or apply to any array; other forms of the same array change nothing."""

    def trial(drawn: tuple[str, str | None, tuple[str, float, int], bool]) -> None:
        kind, drawn_labels, change, at_fit = drawn
        X, valid_labels = valid(kind)
        y = LABELS[drawn_labels or valid_labels]
        wrong = changed(X, change)
        with suppress(*expected_errors(kind, change[0])), a_sentence():
            model = fitted(kind, parameters(kind), wrong if at_fit else X, y)
            result = apply(kind, model, X if at_fit else wrong)
            assert is_finite(result)
            if change[0] in SAME:
                same = apply(kind, fitted(kind, parameters(kind), X, y), X)
                assert np.array_equal(result, same) or np.allclose(result, same, rtol=1e-6, atol=1e-8)

    labels = st.none() | st.sampled_from(list(LABELS))
    run_trials(120, st.tuples(st.sampled_from(list(METHODS)), labels, CHANGES, st.booleans()), trial, PROCESSES)


VIEWS = {"a": FEATURES[:, :5], "b": FEATURES[:, 5:9]}
KERNELS_OF_VIEWS = ("gaussian", ("gaussian", "linear"), *({"one": value} for value in (
    *PARAMETERS[:-4], "gaussian", {"view": "a"}, {"view": "z"}, {"kind": "gaussian", "columns": [0, 1]},
    {"columns": [0, 0]}, {"view": "a", "columns": [99]}, {"view": "b", "columns": "x"},
    {"view": "b", "preprocessing": "x"}, {"view": "a", "bandwidth": -1}, {"view": "b", "feature_scaling": "standard"},
    {"view": "a", "kind": "product"}, {"view": "a", "missing_views": "mean"},
)))  # fmt: skip


def test_views() -> None:
    forms: dict[str, Callable[[dict[str, Any]], Any]] = {
        "dict": dict, "list": lambda views: list(views.values()), "Views": Views, "one": lambda views: views["a"],
        "unusual names": lambda views: dict(zip([None, ""], views.values(), strict=True)), "none": lambda views: {},
    }  # fmt: skip

    def trial(drawn: tuple[str, str, str, tuple[str, float, int], Any, bool]) -> None:
        kind, form, name, change, kernels, at_fit = drawn
        wrong = VIEWS | {name: changed(VIEWS[name], change)}
        with a_sentence():
            estimator = implementation(METHODS[kind])(kernels=kernels).fit(forms[form](wrong if at_fit else VIEWS), Y)
            assert is_finite(estimator.predict(forms[form](VIEWS if at_fit else wrong)))

    drawn = st.tuples(
        st.sampled_from(["kernel_fda", "kernel_svc", "mkl_dr", "kernel_ridge_regressor", "multi_view_regressor"]),
        st.sampled_from(list(forms)), st.sampled_from("ab"),
        CHANGES, st.sampled_from(KERNELS_OF_VIEWS), st.booleans(),
    )  # fmt: skip
    run_trials(100, drawn, trial, PROCESSES)


def test_parameters() -> None:

    def trial(drawn: tuple[str, int, Any]) -> None:
        kind, position, value = drawn
        names = sorted(implementation(METHODS[kind])().get_params(deep=False)) or [""]
        wrong = {name: value for name in [names[position % len(names)]] if name}
        X, labels = valid(kind)
        y = Y if labels == "text" else Y + 0.5
        with suppress(InvalidParameterError, *expected_errors(kind)), a_sentence():
            assert is_finite(apply(kind, fitted(kind, parameters(kind) | wrong, X, y), X))

    drawn = st.tuples(st.sampled_from(list(METHODS)), st.integers(0, 30), st.sampled_from(PARAMETERS))
    run_trials(150, drawn, trial, PROCESSES)
