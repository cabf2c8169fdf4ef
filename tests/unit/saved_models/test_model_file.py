"""Model files: what is read is what was saved, and anything else is one sentence."""

from __future__ import annotations

import functools
import io
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

from mklearn.base.landmark_features import LandmarkFeatures
from mklearn.classifiers import KernelSVC
from mklearn.descriptors.hog import hog
from mklearn.errors import DamagedFile, DataError
from mklearn.saved_models import TRUSTED, fitted_bytes, from_bytes, load_model, model_file, save_model
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
    views, y = digits
    model = load_model(saved)
    assert model.card == CARD
    assert model.arrays["ids"].tolist() == ["a", "b"]
    assert {"python", "mklearn", "scikit-learn", "skops"} <= set(model.versions)
    fitted = KernelFDA(kernels="gaussian").fit(views, y)
    np.testing.assert_array_equal(model.estimator.transform(views), fitted.transform(views))


def test_equal_models_are_equal_bytes(saved: Path, digits: Any, tmp_path: Path) -> None:
    again = tmp_path / "again.mklearn"
    save_model(KernelFDA(kernels="gaussian").fit(*digits), again, CARD, {"ids": np.array(["a", "b"])})
    assert again.read_bytes() == saved.read_bytes()


def test_the_number_of_arrays_does_not_grow_with_the_features() -> None:
    """Each array is a file in the model's archive: an array per feature takes minutes."""
    X, y = load_digits(n_class=2, return_X_y=True)
    kernel = [{"kind": "gaussian", "feature_scaling": "rank"}]
    few, many = (fitted_bytes([KernelFDA(kernels=kernel).fit(X[:20, :width], y[:20])], "a model") for width in (10, 60))
    counts = [len(zipfile.ZipFile(io.BytesIO(content)).namelist()) for content in (few, many)]
    assert counts[0] == counts[1]


def test_every_byte_counts(saved: Path, tmp_path: Path) -> None:
    content = saved.read_bytes()
    path = tmp_path / "flipped.mklearn"
    places = [*range(120), *range(120, len(content), len(content) // 300), len(content) - 1]
    for place in places:
        flipped = bytearray(content)
        flipped[place] ^= 1 << place % 8
        path.write_bytes(flipped)
        with pytest.raises(DataError) as caught:
            load_model(path)
        assert str(caught.value).startswith(f"{path}: ")
        assert "\n" not in str(caught.value)


def test_equal_texts_of_equal_models_may_be_one_object_or_several() -> None:
    """A specification comes from one process with its texts shared, and from another without."""
    X = np.random.default_rng(0).normal(size=(20, 3))
    text = "gaussian"
    shared, apart = (
        LandmarkFeatures({"a": {"kind": text}, "b": {"kind": other, "bandwidth": 2.0}}, n=5).fit(X)
        for other in (text, "".join(list(text)))
    )
    content = fitted_bytes([shared], "features")
    assert content == fitted_bytes([apart], "features")
    (again,) = from_bytes(content, "features")
    np.testing.assert_array_equal(again.transform(X), shared.transform(X))


@pytest.mark.parametrize("share", [0.0, 0.001, 0.1, 0.5, 0.999])
def test_a_truncated_file_is_refused(saved: Path, tmp_path: Path, share: float) -> None:
    content = saved.read_bytes()
    path = tmp_path / "short.mklearn"
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(DataError, match=r"short\.mklearn: "):
        load_model(path)
    path.write_bytes(content + b"0")
    with pytest.raises(DamagedFile, match="its checksum"):
        load_model(path)


def test_other_formats_versions_and_files_are_refused(
    saved: Path, digits: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, content in {"a.png": b"\x89PNG", "b.zip": b"PK\x03\x04", "c.pkl": b"\x80\x04K\x01."}.items():
        (tmp_path / name).write_bytes(content)
        with pytest.raises(DataError, match="not a model of mklearn"):
            load_model(tmp_path / name)
    with pytest.raises(DataError, match="no such file"):
        load_model(tmp_path / "none.mklearn")
    path = tmp_path / "later.mklearn"
    with monkeypatch.context() as patch:
        patch.setattr(model_file, "FORMAT", 2)
        save_model(KernelFDA(kernels="gaussian").fit(*digits), path, CARD)
    with pytest.raises(DataError, match="a model of format 2; this version of mklearn reads format 1"):
        load_model(path)
    for package, version in {"mklearn": "99.0.0", "scikit-learn": "99.1.0"}.items():
        then = model_file.versions() | {package: version}
        with monkeypatch.context() as patch:
            patch.setattr(model_file, "versions", lambda then=then: then)
            save_model(KernelFDA(kernels="gaussian").fit(*digits), path, CARD)
        with pytest.raises(DataError, match=f"saved with {package} {version}, and this is .*: install {package}"):
            load_model(path)


def test_what_is_not_on_the_list_is_neither_saved_nor_loaded(
    digits: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    views, y = digits
    path = tmp_path / "m.mklearn"
    own = make_pipeline(FunctionTransformer(lambda X: X), StandardScaler(), KernelSVC(kernels="linear"))
    own.fit(views["pixels"], y)
    with pytest.raises(DataError, match=r"Pipeline holds objects that a model file can't: .*<lambda>"):
        save_model(own, path, CARD)
    assert not path.exists()
    with monkeypatch.context() as patch:
        patch.setattr(model_file, "TRUSTED", (*TRUSTED, "functools.partial", "posix.system"))
        save_model(functools.partial(os.system, "exit 1"), path, CARD)
    with pytest.raises(DataError, match=r"holds objects that are not loaded from a file .*posix\.system"):
        load_model(path)
    with pytest.raises(DataError, match="the card can't be written as JSON"):
        save_model(KernelFDA(kernels="gaussian").fit(*digits), path, {"accuracy": float("nan")})


def test_an_estimator_that_is_not_fitted_is_refused(tmp_path: Path) -> None:
    for estimator in (KernelFDA(), make_pipeline(StandardScaler(), KernelFDA(kernels="gaussian"))):
        with pytest.raises(DataError, match="is not fitted; fit it before it is saved"):
            save_model(estimator, tmp_path / "model.mklearn", CARD)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("card", ["text", [["a", 1]], None, {1: "a"}])
def test_a_card_is_a_mapping_with_text_keys(saved: Path, tmp_path: Path, card: Any) -> None:
    """Others would be refused, or come back as another card, when the file is read."""
    with pytest.raises(DataError, match=r"x\.mklearn: the card must be a mapping with text keys"):
        save_model(load_model(saved).estimator, tmp_path / "x.mklearn", card)
    assert not (tmp_path / "x.mklearn").exists()


def test_a_model_that_unpacks_to_far_more_is_refused(saved: Path, tmp_path: Path) -> None:
    header, archive = saved.read_bytes().split(b"\n", 1)[1].split(b"\n", 1)
    stream = io.BytesIO(archive)
    with zipfile.ZipFile(stream, "a", zipfile.ZIP_DEFLATED) as written:
        written.writestr("more.json", b" " * 50_000_000)
    body = header + b"\n" + stream.getvalue()
    (tmp_path / "bomb.mklearn").write_bytes(model_file._first_line(body) + body)
    with pytest.raises(DataError, match=r"bomb\.mklearn: .*\(it unpacks to \d+ bytes, far more than its own"):
        load_model(tmp_path / "bomb.mklearn")


def test_the_content_is_no_pickle(saved: Path) -> None:
    with zipfile.ZipFile(saved) as archive:
        names = archive.namelist()
        assert {Path(name).suffix for name in names} == {".json", ".npy"}
        schema = json.loads(archive.read("schema.json"))
        for name in names:
            if name.endswith(".npy"):
                with archive.open(name) as stream:
                    np.lib.format.read_array(stream, allow_pickle=False)
    assert schema["__loader__"] == "DictNode"
