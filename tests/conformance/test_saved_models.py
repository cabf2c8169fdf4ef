"""Model files: every method predicts the same bits when it is loaded, and anything else is one sentence."""

import functools
import inspect
import json
import os
import pickle
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from tests.conformance.conftest import Digits
from tests.conformance.test_methods import NUMBERS, TAKES, fitted, parameters, suited
from tests.conformance.test_scikit_learn import ESTIMATORS
from tests.entries import implementation

from mklearn import saved_models
from mklearn.classifiers import FSVC, LMKLSVC, KernelRidgeClassifier, KernelSVC, MultiViewClassifier
from mklearn.descriptors.hog import hog
from mklearn.errors import DataError
from mklearn.methods import METHODS
from mklearn.regressors import MultiViewRegressor
from mklearn.saved_models import fitted_bytes, from_bytes, is_trusted, load_model, save_model
from mklearn.subspace import KernelFDA

SPECS: dict[str, Any] = {
    "narrow": {"view": "pixels", "bandwidth": 0.5},
    "unit": {"view": "pixels", "feature_scaling": "unit"},
    "rank": {"view": "noise", "feature_scaling": "rank", "psd": "none"},
    "chi2": {"view": "pixels", "measure": "chi2", "normalise": "unit_diagonal"},
    "linear": {"view": "noise", "kind": "linear"},
    "cubic": {"view": "noise", "kind": "polynomial", "degree": 3},
}
READ_BY_PREDICTIONS = {"coefficients_", "embedding_", "dual_coef_", "dual", "eta", "V", "coef_"}
"""Names of arrays with an entry for each training sample or component."""
SAVED = [kind for kind, row in METHODS.items() if row.in_model_files]
KERNELS = [kind for kind in SAVED if TAKES[kind] == "kernels"]
pytestmark = pytest.mark.filterwarnings("ignore")


def arrays(value: Any, name: str = "") -> Iterator[tuple[str, NDArray[Any]]]:
    if isinstance(value, np.ndarray):
        yield name, value
    elif isinstance(value, list | tuple):
        for each in value:
            yield from arrays(each, name)
    else:
        for key, each in (value if isinstance(value, dict) else getattr(value, "__dict__", {})).items():
            yield from arrays(each, str(key))


def outputs(model: Any, X: Any) -> dict[str, np.ndarray]:
    embeds = ["transform"] if hasattr(model, "embedding_") else []
    names = ("predict", "decision_function", "predict_proba", "predict_set", *embeds)
    assert all(getattr(model, name).__name__ == name for name in names if hasattr(model, name)), "scikit-learn asks"
    return {name: np.asarray(getattr(model, name)(X)) for name in names if hasattr(model, name)}


def assert_predicts_the_same(model: Any, X: Any, path: Path) -> None:
    save_model(model, path, {})
    found, expected = (outputs(each, X) for each in (load_model(path).estimator, model))
    assert "predict" in expected
    np.testing.assert_equal(found, expected)


@pytest.mark.parametrize("kind", SAVED)
def test_a_method_as_studies_call_it(digits: Digits, kind: str, tmp_path: Path) -> None:
    digits = suited(digits, kind)
    X, X_test = digits.inputs(TAKES[kind])
    if TAKES[kind] == "features":
        X, X_test = (pd.DataFrame(Z).add_prefix("p") for Z in (X, X_test))
    y = digits.y[digits.train]
    y = y if kind in NUMBERS else np.array(["cat", "dog", "ant", "bee"])[y]
    model = fitted(kind, parameters(kind), X, y)
    assert_predicts_the_same(model, X_test, tmp_path / "model.mklearn")


@pytest.mark.parametrize("kind", [kind for kind in METHODS if kind not in SAVED])
def test_a_row_says_that_a_method_can_not_be_saved(digits: Digits, kind: str, tmp_path: Path) -> None:
    X, _ = digits.inputs(TAKES[kind])
    model = fitted(kind, parameters(kind), X, suited(digits, kind).y[digits.train])
    with pytest.raises(DataError, match="holds objects that a model file can't"):
        save_model(model, tmp_path / "model.mklearn", {})


@pytest.mark.full
@pytest.mark.parametrize("kind", KERNELS)
def test_a_method_on_views_and_its_size(digits: Digits, kind: str, tmp_path: Path) -> None:
    """Noise, because features that are small integers could be compressed."""
    rng = np.random.default_rng(0)
    y = np.tile(digits.y, 3) + 1
    views = {"pixels": np.tile(digits.X, (3, 1)) + rng.random((300, 64)), "noise": rng.random((300, 40)) + y[:, None]}
    method = implementation(METHODS[kind])
    few = {"max_iter": 2} if "max_iter" in inspect.signature(method).parameters else {}
    model = method(kernels=SPECS, **few).fit(views, y)
    path = tmp_path / "model.mklearn"
    assert_predicts_the_same(model, {name: table[:7] + 0.1 for name, table in views.items()}, path)
    learned = READ_BY_PREDICTIONS | {"_values_in_order", "_ranks"}  # the scaling by ranks keeps each value
    read = {id(array): array.nbytes for name, array in arrays(model) if name in learned}
    needed = sum(table.nbytes for table in views.values()) + sum(read.values())
    assert path.stat().st_size <= 1.5 * needed


@pytest.mark.parametrize("gating", ["noise", {"view": "noise", "columns": [0, 1], "feature_scaling": "rank"}], ids=str)
def test_a_method_that_a_view_gates(digits: Digits, gating: Any, tmp_path: Path) -> None:
    views = {"pixels": digits.X, "noise": np.random.default_rng(0).random((100, 4)) + digits.y[:, None]}
    model = LMKLSVC(kernels={"g": {"view": "pixels"}}, gating=gating, max_iter=2).fit(views, digits.y)
    new = {name: table[:7] + 0.1 for name, table in views.items()}
    assert_predicts_the_same(model, new, tmp_path / "model.mklearn")


@pytest.mark.parametrize("estimator", [KernelFDA, KernelRidgeClassifier, MultiViewClassifier, MultiViewRegressor])
def test_a_method_with_landmarks_and_gaps(digits: Digits, estimator: Any, tmp_path: Path) -> None:
    views = {"pixels": digits.X.copy(), "flat": np.ones((100, 1)), "sparse": csr_array(digits.X[:, ::2])}
    views["pixels"][::7] = np.nan
    dictionary = estimator in (MultiViewClassifier, MultiViewRegressor)
    kernels = {} if dictionary else {"kernels": {"p": {"view": "pixels", "missing_views": "mean"}, "sparse": "linear"}}
    model = estimator(landmarks=40, **kernels).fit(views, digits.y)
    assert_predicts_the_same(model, views, tmp_path / "model.mklearn")


def test_only_classes_of_the_library_are_trusted() -> None:
    assert all(is_trusted(f"{estimator.__module__}.{estimator.__name__}") for estimator in ESTIMATORS)
    for name in (
        "posix.system",
        "mklearn.study.supervisor.Popen",
        "mklearn.kernels.point_set_distance.ThreadPoolExecutor",
        "mklearn.kernels.distances.chi2_distance",
        "mklearn.kernels.absent",
    ):
        assert not is_trusted(name), name


# --- size


@pytest.mark.full
def test_pickled_fsvm_has_its_diagnostics_without_the_samples() -> None:
    X, y = load_digits(return_X_y=True)
    X, y = X[:300], y[:300]
    model = FSVC().fit(X, y)
    loaded = pickle.loads(pickle.dumps(model))
    assert len(pickle.dumps(loaded)) < X.nbytes < sum(fit.Z.nbytes for fit in model._joint_fits)
    np.testing.assert_equal(loaded.diagnostics_, model.diagnostics_)
    np.testing.assert_array_equal(loaded.C0_, model.C0_)
    np.testing.assert_array_equal(loaded.decision_function(X), model.decision_function(X))
    fresh = FSVC(power=0.25).fit(X, y)
    assert np.isnan(pickle.loads(pickle.dumps(fresh)).C0_).all()
    assert pickle.loads(pickle.dumps(FSVC(2.0))).C == 2.0


# --- the file

CARD = {"study": "digits", "classes": {"0": 20, "1": 20}}


@pytest.fixture(scope="module")
def views() -> tuple[dict[str, np.ndarray], np.ndarray]:
    X, y = load_digits(n_class=2, return_X_y=True)
    return {"pixels": X[:40], "hog": hog(X[:40].reshape(-1, 8, 8) / 16, cell=4)}, y[:40]


@pytest.fixture(scope="module")
def saved(views: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "digits.mklearn"
    save_model(KernelFDA(kernels="gaussian").fit(*views), path, CARD, {"ids": np.array(["a", "b"])})
    return path


def test_all_parts_come_back(saved: Path, views: Any) -> None:
    model = load_model(saved)
    assert model.card == CARD
    assert model.arrays["ids"].tolist() == ["a", "b"]
    assert {"python", "mklearn", "scikit-learn", "skops"} <= set(model.versions)
    fitted = KernelFDA(kernels="gaussian").fit(*views)
    np.testing.assert_array_equal(model.estimator.transform(views[0]), fitted.transform(views[0]))
    (again,) = from_bytes(fitted_bytes([fitted], "fits"), "fits")
    np.testing.assert_array_equal(again.transform(views[0]), fitted.transform(views[0]))


def test_the_content_is_no_pickle_and_has_no_array_of_each_feature(tmp_path: Path) -> None:
    """Each array is a file in the model's archive: an array per feature takes minutes."""
    X, y = load_digits(n_class=2, return_X_y=True)
    kernel = [{"kind": "gaussian", "feature_scaling": "rank"}]
    counts = []
    for width in (10, 60):
        save_model(KernelFDA(kernels=kernel).fit(X[:20, :width], y[:20]), tmp_path / "m.mklearn", CARD)
        with zipfile.ZipFile(tmp_path / "m.mklearn") as archive:
            counts.append(len(archive.namelist()))
            assert {Path(name).suffix for name in archive.namelist()} == {".json", ".npy"}
    assert counts[0] == counts[1]


def test_a_damaged_file_gives_the_same_model_or_a_sentence(saved: Path, views: Any, tmp_path: Path) -> None:
    """Some bytes of an archive say nothing, such as the time of a member."""
    content, path, messages = saved.read_bytes(), tmp_path / "damaged.mklearn", []
    expected = load_model(saved).estimator.transform(views[0])
    for place in range(0, len(content), len(content) // 150):
        flipped = bytearray(content)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            np.testing.assert_array_equal(load_model(path).estimator.transform(views[0]), expected)
        except DataError as error:
            messages.append(str(error))
    assert len(messages) > 75
    for message in messages:
        assert message.startswith(f"{path}: damaged, or not a model of mklearn (")
        assert "\n" not in message
    for other in (b"", content[:-1], b"\x89PNG", b"PK\x03\x04", b"\x80\x04K\x01."):
        path.write_bytes(other)
        with pytest.raises(DataError, match=r"damaged\.mklearn: damaged, or not a model"):
            load_model(path)


@pytest.mark.parametrize(("package", "version"), [("mklearn", "99.0.0"), ("scikit-learn", "99.1.0")])
def test_other_versions(
    views: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, version: str
) -> None:
    path, then = tmp_path / "later.mklearn", saved_models.versions() | {package: version}
    with monkeypatch.context() as patch:
        patch.setattr(saved_models, "versions", lambda: then)
        save_model(KernelFDA(kernels="gaussian").fit(*views), path, CARD)
    with pytest.raises(DataError, match=f"saved with {package} {version}, and this is .*: install {package}"):
        load_model(path)


def test_unlisted_types_are_not_saved_nor_loaded(views: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "m.mklearn"
    own = make_pipeline(FunctionTransformer(lambda X: X), StandardScaler(), KernelSVC(kernels="linear"))
    own.fit(views[0]["pixels"], views[1])
    with pytest.raises(DataError, match=r"Pipeline holds objects that a model file can't: .*<lambda>"):
        save_model(own, path, CARD)
    assert not path.exists()
    with monkeypatch.context() as patch:
        patch.setattr(saved_models, "is_trusted", lambda name: True)
        save_model(functools.partial(os.system, "exit 1"), path, CARD)
    with pytest.raises(DataError, match=r"holds objects that are not loaded from a file .*posix\.system"):
        load_model(path)


@pytest.mark.parametrize("card", ["text", {1: "a"}, {"accuracy": float("nan")}])
def test_a_card_of_json_types_and_a_fitted_estimator_are_saved(saved: Path, tmp_path: Path, card: Any) -> None:
    with pytest.raises(DataError, match=r"x\.mklearn: the card (must be a mapping with text keys|can't be written)"):
        save_model(load_model(saved).estimator, tmp_path / "x.mklearn", card)
    with pytest.raises(DataError, match="is not fitted; fit it before it is saved"):
        save_model(make_pipeline(StandardScaler(), KernelFDA(kernels="gaussian")), tmp_path / "x.mklearn", CARD)
    assert not list(tmp_path.iterdir())


def test_a_model_that_unpacks_to_more_is_refused(saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(saved_models, "MOST_BYTES", 10**6)
    path = tmp_path / "bomb.mklearn"
    path.write_bytes(saved.read_bytes())
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("more.json", json.dumps(" " * 50_000_000))
    with pytest.raises(DataError, match=r"bomb\.mklearn: .*\(it unpacks to \d+ bytes, far more than its own"):
        load_model(path)
