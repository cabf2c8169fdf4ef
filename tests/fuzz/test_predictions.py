"""`mklearn predict` on bytes: predictions for what an independent reader finds in the file, or a sentence."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import strategies as st
from PIL import Image
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC
from tests.fuzz.mutations import damaged, mistaken
from tests.fuzz.test_images import images
from tests.fuzz.test_tables import FRAME, LABELS, TABLES, X, in_file
from tests.fuzz.trials import a_sentence, run_files, run_trials
from tests.unit.study.prediction.conftest import make

from mklearn import MultiViewClassifier, MultiViewRegressor
from mklearn.classifiers import KernelRidgeClassifier, KernelSVC
from mklearn.kernels import Views
from mklearn.saved_models import SavedModel, load_model, model_file, save_model
from mklearn.study.prediction.new_samples import read_new_samples
from mklearn.study.prediction.predictions import prediction_frame
from mklearn.study.specs.model_card import ModelCard
from mklearn.study.supervisor import supervised
from mklearn.subspace import KernelFDA

FEATURES = ("f0", "f1", "f2")


def model_of(folder: Path, dataset: dict[str, Any], **more: Any) -> Path:
    study = {"study": "fuzz", "datasets": {"own": dataset}, "methods": {"kfd": {"kind": "kernel_fda"}},
             "protocols": {"folds": {"kind": "k_fold", "folds": 2}}, "final": {"method": "kfd"}}  # fmt: skip
    return make(study | more, folder)


@pytest.fixture(scope="module")
def of_table(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of a table with named columns."""
    folder = tmp_path_factory.mktemp("table")
    FRAME.to_csv(folder / "one.csv", index=False)
    return model_of(folder, {"kind": "feature_tables", "tables": {"one": "one.csv"}})


@pytest.fixture(scope="module")
def of_images(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("images")
    rng = np.random.default_rng(0)
    for number in range(12):
        path = folder / "train" / f"{number % 2}" / f"{number}.png"
        path.parent.mkdir(parents=True, exist_ok=True)
        Image.fromarray(rng.integers(0, 255, (20, 24), dtype=np.uint8)).save(path)
    images = {"kind": "image_folder", "path": "train", "resize": {"shape": [8, 8]}}
    return model_of(folder, images, descriptors={"pixels": {"kind": "pixels"}})


def loaded(path: Path) -> tuple[SavedModel, ModelCard]:
    model = load_model(path)
    return model, ModelCard.model_validate(model.card)


@pytest.mark.parametrize("suffix", TABLES)
def test_new_tables(tmp_path: Path, of_table: Path, suffix: str) -> None:
    model, card = loaded(of_table)
    path = tmp_path / f"new.{suffix}"

    def read(content: bytes) -> None:
        # The model calls its view "one", as a MuData file of the seeds does its modality.
        samples = read_new_samples([str(path)], card, model.arrays)
        assert prediction_frame(model, samples)["id"].tolist() == samples.ids.tolist()
        if suffix != "mat":  # SciPy's reader is not made for damaged files
            ids, _, values = in_file(content, path, FEATURES)
            assert samples.ids.tolist() == ids
            np.testing.assert_allclose(samples.X["one"], values.astype(float), rtol=1e-14)

    run_files(40, path, TABLES[suffix], read)


def test_new_images(tmp_path: Path, of_images: Path) -> None:
    model, card = loaded(of_images)

    def read(_: bytes) -> None:
        frame = prediction_frame(model, read_new_samples([str(tmp_path)], card, model.arrays))
        assert frame["id"].tolist() == ["new.png"]
        assert np.isfinite(frame["distance_1"]).all()

    run_files(40, tmp_path / "new.png", damaged(images()), read)


def test_damaged_models(tmp_path: Path, of_table: Path) -> None:
    whole = of_table.read_bytes()
    path = tmp_path / "model.mklearn"

    def read(content: bytes) -> None:
        load_model(path)
        assert content == whole, "a damaged model is loaded"

    run_files(100, path, st.just(whole) | damaged([whole]), read)


SCHEMA_WORDS = (
    '"os"', '"system"', '"builtins"', '"eval"', '"subprocess"', '"Popen"', '"functools"', '"partial"', '"numpy"',
    '"load"', '"mklearn.atomic"', '"read_npz"', '"object"', '"type"', '"function"', '"ReduceNode"', '"ObjectNode"',
    '"FunctionNode"', '"MethodNode"', '"PartialNode"', '"OperatorFuncNode"', '"TypeNode"', '"__reduce__"', '"json"',
    '"0.npy"', '"../x"', "null", "[]", "{}", "-1", "1e400", "9" * 30, "[" * 2000, "true", '""', '"sklearn.utils"',
    '"Bunch"',
)  # fmt: skip
"""What whoever forges a model could write into it."""


VIEWS = Views({"one": X, "two": X[:, :2]})
NUMBERS = X[:, 0] + np.arange(len(X))
ESTIMATORS: dict[str, Callable[[], Any]] = {
    "discriminant": lambda: KernelFDA(kernels="gaussian").fit(VIEWS, LABELS),
    "machine": lambda: KernelSVC(kernels="gaussian").fit(VIEWS, LABELS),
    "multi-view": lambda: MultiViewClassifier().fit(VIEWS, LABELS),
    "numbers": lambda: MultiViewRegressor().fit(VIEWS, NUMBERS),
    "libsvm": lambda: SVC().fit(X, LABELS),
    "neighbours": lambda: KNeighborsClassifier(2, algorithm="brute").fit(X, LABELS),
    "landmarks": lambda: KernelRidgeClassifier(kernels="gaussian", landmarks=6).fit(VIEWS, LABELS),
}


@pytest.mark.parametrize("kind", ESTIMATORS)
def test_forged_models(tmp_path: Path, kind: str) -> None:
    """With a checksum that is right. A forged estimator may fail in any way, but nothing happens than arithmetic.

    Each is loaded, and predicts, in a child process, whose death by a signal would be a reading outside its arrays.
    """
    path = tmp_path / "model.mklearn"
    save_model(ESTIMATORS[kind](), path, {})
    header, archive = path.read_bytes().split(b"\n", 1)[1].split(b"\n", 1)
    with zipfile.ZipFile(io.BytesIO(archive)) as given:
        members = {name: given.read(name) for name in given.namelist()}
    schema = json.dumps(json.loads(members["schema.json"]), indent=0)
    arrays = [name for name in members if name.endswith(".npy")]
    new = X if kind in ("libsvm", "neighbours") else VIEWS
    read = 0

    def work() -> Iterator[bool]:
        model = load_model(path)
        with suppress(Exception):
            model.estimator.predict(new)
        yield True

    def trial(drawn: tuple[bytes, tuple[str, bytes] | None]) -> None:
        nonlocal read
        text, array = drawn
        path.write_bytes(forged(header, members | {"schema.json": text} | dict([array] if array else [])))
        with a_sentence():
            read += sum(supervised(work, minutes=1.0, more_bytes=4 << 30))

    changed = st.sampled_from(arrays).flatmap(
        lambda name: st.tuples(st.just(name), damaged([members[name]]) | values(members[name]))
    )
    texts = st.just(schema.encode()) | mistaken([schema], SCHEMA_WORDS, r'"[^"]*"|[\d.]+|null|true|false')
    run_trials(15, st.tuples(texts, st.none() | changed), trial)
    assert read
    assert [file.name for file in tmp_path.iterdir()] == ["model.mklearn"]


def values(member: bytes) -> st.SearchStrategy[bytes]:
    """The array of a member with one other number, of its type: far, negative or not finite."""
    array = np.lib.format.read_array(io.BytesIO(member))

    def other(drawn: tuple[int, float]) -> bytes:
        place, value = drawn
        changed = array.copy()
        if changed.size and changed.dtype.kind in "iuf":
            with np.errstate(all="ignore"):
                changed.flat[place % changed.size] = np.array(value).astype(changed.dtype)
        stream = io.BytesIO()
        np.lib.format.write_array(stream, changed)
        return stream.getvalue()

    numbers = [-1, 0, 1, 2, 3, 11, 12, 100, -1000, 10**6, 2**31 - 1, -(2**31), 1e300, np.nan, np.inf]
    return st.tuples(st.integers(0, 10**6), st.sampled_from(numbers)).map(other)


def forged(header: bytes, members: dict[str, bytes]) -> bytes:
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in members.items():
            archive.writestr(name, content)
    body = header + b"\n" + stream.getvalue()
    return model_file._first_line(body) + body
