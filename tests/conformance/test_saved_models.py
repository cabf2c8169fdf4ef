"""Every method is saved without a pickle, predicts the same bits when it is loaded, and takes the room it needs."""

from __future__ import annotations

import importlib
import inspect
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.sparse import csr_array
from sklearn.base import is_regressor
from tests.conformance.conftest import Digits
from tests.conformance.test_methods import NUMBERS, TAKES, fitted, parameters, suited
from tests.conformance.test_model_size import READ_BY_PREDICTIONS, arrays
from tests.conformance.test_scikit_learn import ESTIMATORS
from tests.entries import implementation

from mklearn.classifiers import LMKLSVC, KernelSVC, MultiViewClassifier
from mklearn.errors import DataError
from mklearn.methods import METHODS
from mklearn.papers.two_d_mmc import TwoDLDA
from mklearn.regressors import KernelRidge, MultiViewRegressor
from mklearn.saved_models import TRUSTED, load_model, save_model
from mklearn.subspace import KernelFDA

SPECS: dict[str, Any] = {
    "narrow": {"view": "pixels", "bandwidth": 0.5},
    "unit": {"view": "pixels", "feature_scaling": "unit"},
    "rank": {"view": "noise", "feature_scaling": "rank", "psd": "shift"},
    "chi2": {"view": "pixels", "measure": "chi2", "normalise": "unit_diagonal"},
    "linear": {"view": "noise", "kind": "linear"},
    "cubic": {"view": "noise", "kind": "polynomial", "degree": 3},
}
SAVED = [kind for kind, row in METHODS.items() if row.in_model_files]
KERNELS = [kind for kind in SAVED if TAKES[kind] == "kernels"]
pytestmark = pytest.mark.filterwarnings("ignore")


def outputs(model: Any, X: Any) -> dict[str, np.ndarray]:
    """What the model gives for samples."""
    names = ("predict", "decision_function", "predict_proba", *(["transform"] if hasattr(model, "embedding_") else []))
    return {name: np.asarray(getattr(model, name)(X)) for name in names if hasattr(model, name)}


def again(model: Any, path: Path) -> Any:
    save_model(model, path, {})
    return load_model(path).estimator


def assert_equal(found: dict[str, np.ndarray], expected: dict[str, np.ndarray]) -> None:
    assert "predict" in expected
    np.testing.assert_equal(found, expected)


@pytest.mark.parametrize("kind", SAVED)
def test_a_method_as_studies_call_it(digits: Digits, kind: str, tmp_path: Path) -> None:
    digits = suited(digits, kind)
    X, X_test = digits.given(TAKES[kind])
    y = digits.y[digits.train]
    y = y if kind in NUMBERS else np.array(["cat", "dog", "ant", "bee"])[y]
    model = fitted(kind, parameters(kind), X, y)
    assert_equal(outputs(again(model, tmp_path / "model.mklearn"), X_test), outputs(model, X_test))


@pytest.mark.parametrize("kind", [kind for kind in METHODS if kind not in SAVED])
def test_a_row_says_that_a_method_can_not_be_saved(digits: Digits, kind: str, tmp_path: Path) -> None:
    """A final model is chosen among those whose row says that they can."""
    X, _ = digits.given(TAKES[kind])
    model = fitted(kind, parameters(kind), X, digits.y[digits.train])
    with pytest.raises(DataError, match="holds objects that a model file can't"):
        again(model, tmp_path / "model.mklearn")


@pytest.mark.full
@pytest.mark.parametrize("kind", KERNELS)
def test_a_method_on_views_and_its_size(digits: Digits, kind: str, tmp_path: Path) -> None:
    """Noise, because features that are small integers could be compressed."""
    rng = np.random.default_rng(0)
    y = np.tile(digits.y, 3)
    views = {"pixels": np.tile(digits.X, (3, 1)) + rng.random((300, 64)), "noise": rng.random((300, 40)) + y[:, None]}
    method = implementation(METHODS[kind])
    few = {"max_iter": 2} if "max_iter" in inspect.signature(method).parameters else {}
    model = method(kernels=SPECS, **few).fit(views, y)
    path = tmp_path / "model.mklearn"
    new = {name: table[:7] + 0.1 for name, table in views.items()}
    assert_equal(outputs(again(model, path), new), outputs(model, new))
    learned = READ_BY_PREDICTIONS | {"_values_in_order", "_ranks"}  # the scaling by ranks keeps each value
    read = {id(array): array.nbytes for name, array in arrays(model) if name in learned}
    needed = sum(table.nbytes for table in views.values()) + sum(read.values())
    assert path.stat().st_size <= 1.5 * needed


@pytest.mark.parametrize("gating", ["noise", {"view": "noise", "columns": [0, 1], "feature_scaling": "rank"}], ids=str)
def test_a_method_that_a_view_gates(digits: Digits, gating: Any, tmp_path: Path) -> None:
    views = {"pixels": digits.X, "noise": np.random.default_rng(0).random((100, 4)) + digits.y[:, None]}
    model = LMKLSVC(kernels={"g": {"view": "pixels"}}, gating=gating, max_iter=2).fit(views, digits.y)
    new = {name: table[:7] + 0.1 for name, table in views.items()}
    assert_equal(outputs(again(model, tmp_path / "model.mklearn"), new), outputs(model, new))


@pytest.mark.parametrize("estimator", [KernelFDA, KernelRidge, MultiViewClassifier, MultiViewRegressor])
def test_a_method_with_landmarks_and_gaps(digits: Digits, estimator: Any, tmp_path: Path) -> None:
    views = {"pixels": digits.X.copy(), "flat": np.ones((100, 1)), "sparse": csr_array(digits.X[:, ::2])}
    views["pixels"][::7] = np.nan
    dictionary = estimator in (MultiViewClassifier, MultiViewRegressor)
    kernels = {} if dictionary else {"kernels": {"p": {"view": "pixels", "missing_views": "mean"}, "sparse": "linear"}}
    model = estimator(landmarks=40, **kernels).fit(views, digits.y)
    assert_equal(outputs(again(model, tmp_path / "model.mklearn"), views), outputs(model, views))


@pytest.mark.full
@pytest.mark.parametrize(
    ("estimator", "labels"),
    [*((estimator, "category") for estimator in ESTIMATORS), (KernelFDA, "str"), (KernelSVC, "str"), (TwoDLDA, "str")],
    ids=str,
)
def test_models_fitted_on_data_frames(digits: Digits, estimator: Any, labels: str, tmp_path: Path) -> None:
    """Neither column names nor labels stay objects of pandas."""
    if estimator.__name__ == "NullSpaceLDA":
        pytest.skip("needs more features than samples")
    kernels = {"kernels": ["gaussian", "linear"]} if "kernels" in inspect.signature(estimator).parameters else {}
    numbers = is_regressor(estimator())
    y = pd.Series(digits.y * 1.0 if numbers else np.array(["cat", "dog", "ant", "bee"])[digits.y])
    y = y if numbers else y.astype(labels)
    bilinear = estimator.__module__.startswith("mklearn.papers.two_d_mmc")
    X = digits.samples("images") if bilinear else pd.DataFrame(digits.X, columns=[f"p{k}" for k in range(64)])
    model = estimator(**kernels).fit(X, y)
    assert_equal(outputs(again(model, tmp_path / "model.mklearn"), X), outputs(model, X))


def test_the_list_names_classes_that_there_are() -> None:
    for name in TRUSTED:
        module, _, attribute = name.rpartition(".")
        assert isinstance(getattr(importlib.import_module(module), attribute), type)
        assert name.startswith(("mklearn.", "numpy.", "scipy."))
    assert {f"{estimator.__module__}.{estimator.__name__}" for estimator in ESTIMATORS} <= set(TRUSTED)
