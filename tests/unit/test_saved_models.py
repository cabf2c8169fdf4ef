"""Model files: what is read is what was saved, and anything else is one sentence."""

from __future__ import annotations

import functools
import json
import os
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler

from mklearn import saved_models
from mklearn.classifiers import KernelSVC
from mklearn.descriptors.hog import hog
from mklearn.errors import DataError
from mklearn.saved_models import fitted_bytes, from_bytes, load_model, save_model
from mklearn.subspace import KernelFDA

CARD = {"study": "digits", "classes": {"0": 20, "1": 20}}


@pytest.fixture(scope="module")
def digits() -> tuple[dict[str, np.ndarray], np.ndarray]:
    X, y = load_digits(n_class=2, return_X_y=True)
    return {"pixels": X[:40], "hog": hog(X[:40].reshape(-1, 8, 8) / 16, cell=4)}, y[:40]


@pytest.fixture(scope="module")
def saved(digits: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("model") / "digits.mklearn"
    save_model(KernelFDA(kernels="gaussian").fit(*digits), path, CARD, {"ids": np.array(["a", "b"])})
    return path


def test_all_parts_come_back(saved: Path, digits: Any) -> None:
    model = load_model(saved)
    assert model.card == CARD
    assert model.arrays["ids"].tolist() == ["a", "b"]
    assert {"python", "mklearn", "scikit-learn", "skops"} <= set(model.versions)
    fitted = KernelFDA(kernels="gaussian").fit(*digits)
    np.testing.assert_array_equal(model.estimator.transform(digits[0]), fitted.transform(digits[0]))
    (again,) = from_bytes(fitted_bytes([fitted], "fits"), "fits")
    np.testing.assert_array_equal(again.transform(digits[0]), fitted.transform(digits[0]))


def test_the_content_is_no_pickle_and_has_no_array_of_each_feature(saved: Path, tmp_path: Path) -> None:
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


def test_a_damaged_file_gives_the_same_model_or_a_sentence(saved: Path, digits: Any, tmp_path: Path) -> None:
    """Some bytes of an archive say nothing, such as the time of a member."""
    content, path, messages = saved.read_bytes(), tmp_path / "damaged.mklearn", []
    expected = load_model(saved).estimator.transform(digits[0])
    for place in range(0, len(content), len(content) // 150):
        flipped = bytearray(content)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        try:
            np.testing.assert_array_equal(load_model(path).estimator.transform(digits[0]), expected)
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
def test_other_versions_are_refused(
    digits: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, package: str, version: str
) -> None:
    path, then = tmp_path / "later.mklearn", saved_models.versions() | {package: version}
    with monkeypatch.context() as patch:
        patch.setattr(saved_models, "versions", lambda: then)
        save_model(KernelFDA(kernels="gaussian").fit(*digits), path, CARD)
    with pytest.raises(DataError, match=f"saved with {package} {version}, and this is .*: install {package}"):
        load_model(path)


def test_what_is_not_on_the_list_is_neither_saved_nor_loaded(
    digits: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "m.mklearn"
    own = make_pipeline(FunctionTransformer(lambda X: X), StandardScaler(), KernelSVC(kernels="linear"))
    own.fit(digits[0]["pixels"], digits[1])
    with pytest.raises(DataError, match=r"Pipeline holds objects that a model file can't: .*<lambda>"):
        save_model(own, path, CARD)
    assert not path.exists()
    with monkeypatch.context() as patch:
        patch.setattr(saved_models, "TRUSTED", ["posix.system", "functools.partial"])
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


def test_a_model_that_unpacks_to_far_more_is_refused(
    saved: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(saved_models, "MOST_BYTES", 10**6)
    path = tmp_path / "bomb.mklearn"
    path.write_bytes(saved.read_bytes())
    with zipfile.ZipFile(path, "a", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("more.json", json.dumps(" " * 50_000_000))
    with pytest.raises(DataError, match=r"bomb\.mklearn: .*\(it unpacks to \d+ bytes, far more than its own"):
        load_model(path)
