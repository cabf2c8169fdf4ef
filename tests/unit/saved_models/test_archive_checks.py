"""Forged model files: counts, positions and sizes that would be read outside arrays, or for ever, are refused."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.sparse import csr_array
from sklearn.cluster import KMeans
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import SVC, SVR

from mklearn.errors import DataError
from mklearn.saved_models import load_model, model_file, save_model

RNG = np.random.default_rng(0)
X = RNG.normal(size=(12, 3))
Y = np.repeat([0, 1, 2], 4)


def loaded(estimator: Any, folder: Path, arrays: dict[str, Any] | None = None) -> Any:
    save_model(estimator, folder / "forged.mklearn", {}, arrays)
    return load_model(folder / "forged.mklearn")


def far(svc: SVC) -> None:
    svc.support_ = svc.support_ + np.int32(1000)


def before(svc: SVC) -> None:
    svc.support_ = svc.support_ - np.int32(1000)


def more(svc: SVC) -> None:
    svc._n_support = svc._n_support * np.int32(50)


def negative(svc: SVC) -> None:
    svc._n_support = svc._n_support + np.array([100, -100, 0], np.int32)


def short(svc: SVC) -> None:
    svc._dual_coef_ = svc._dual_coef_[:, :2].copy()


def few(svc: SVC) -> None:
    svc._intercept_ = svc._intercept_[:1]


def sure(svc: SVC) -> None:
    svc._probA = np.ones(1)


def narrow(svc: SVC) -> None:
    svc.support_vectors_ = svc.support_vectors_[:, :1].copy()


def wide(svc: SVC) -> None:
    svc.n_features_in_ = 10_000


def regression(svc: SVC) -> None:
    svc._impl = "epsilon_svr"


@pytest.mark.full
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
@pytest.mark.parametrize("forge", [far, before, more, negative, short, few, sure, narrow, wide, regression])
def test_a_machine_is_read_within_its_arrays(forge: Callable[[SVC], None], kernel: str, tmp_path: Path) -> None:
    given = X @ X.T if kernel == "precomputed" else X
    svc = SVC(kernel=kernel).fit(given, Y)
    np.testing.assert_array_equal(loaded(svc, tmp_path).estimator.predict(given), svc.predict(given))
    if forge is narrow and kernel == "precomputed":
        svc.support_vectors_ = np.ones((3, 3))  # there are none
    else:
        forge(svc)
    with pytest.raises(DataError, match=r"forged\.mklearn: not a model of mklearn.*(do not match|is not read)"):
        loaded(svc, tmp_path)


def test_other_machines_of_libsvm_are_refused(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="SVC and NuSVC on dense samples are"):
        loaded(SVR().fit(X, Y), tmp_path)


@pytest.mark.parametrize("code", [-1, 3, 10**6])
def test_votes_of_neighbours_are_counted_within_the_classes(code: int, tmp_path: Path) -> None:
    neighbours = KNeighborsClassifier(algorithm="brute").fit(X, Y)
    np.testing.assert_array_equal(loaded(neighbours, tmp_path).estimator.predict(X), neighbours.predict(X))
    neighbours._y[5] = code
    with pytest.raises(DataError, match="do not match its classes"):
        loaded(neighbours, tmp_path)


def test_sparse_arrays_are_read_within_their_columns(tmp_path: Path) -> None:
    matrix = csr_array(np.eye(4))
    svc = SVC().fit(X, Y)
    svc.extra = [{"sparse": matrix}]  # wherever it is held
    loaded(svc, tmp_path)
    matrix.indices[2] = 10**6
    with pytest.raises(DataError, match="forged"):
        loaded(svc, tmp_path)


def test_estimators_whose_arrays_are_not_checked_are_refused_when_saved(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"KMeans can't be saved: it holds an object of sklearn\.cluster"):
        loaded(KMeans(2, n_init=1).fit(X), tmp_path)


def forged(folder: Path, change: Callable[[dict[str, bytes]], None]) -> Path:
    """A model whose members are changed, with the checksum that belongs to them."""
    path = folder / "forged.mklearn"
    save_model(SVC().fit(X, Y), path, {}, {"ids": np.arange(3)})
    header, archive = path.read_bytes().split(b"\n", 1)[1].split(b"\n", 1)
    with zipfile.ZipFile(io.BytesIO(archive)) as given:
        members = {name: given.read(name) for name in given.namelist()}
    change(members)
    stream = io.BytesIO()
    with zipfile.ZipFile(stream, "w") as written:
        for name, content in members.items():
            written.writestr(name, content)
    body = header + b"\n" + stream.getvalue()
    path.write_bytes(model_file._first_line(body) + body)
    return path


def claim(members: dict[str, bytes]) -> None:
    name = next(name for name in members if name.endswith(".npy"))
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"shape": (20 * 2**30,), "fortran_order": False, "descr": "<f8"})
    members[name] = stream.getvalue() + bytes(64)


def nest(members: dict[str, bytes]) -> None:
    """Lists of twice the same list, 60 deep: 10 kB, and 2^60 objects for who follows each reference."""
    schema = json.loads(members["schema.json"])
    inner: dict[str, Any] = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": []}
    for depth in range(60):
        again = {**inner, "content": [], "__id__": 10_000 + depth}
        inner = {**again, "content": [inner | {"__id__": 9_999 + depth}] * 2}
    schema["content"]["more"] = inner
    members["schema.json"] = json.dumps(_shared(schema)).encode()


def _shared(schema: Any) -> Any:
    """Keep the content of each object where it stands first."""
    seen: set[int] = set()

    def visit(node: Any) -> Any:
        if isinstance(node, list):
            return [visit(entry) for entry in node]
        if not isinstance(node, dict):
            return node
        if node.get("__id__") in seen and "content" in node:
            return {**node, "content": []}
        seen.add(node.get("__id__"))
        return {key: visit(value) for key, value in node.items()}

    return visit(schema)


def circle(members: dict[str, bytes]) -> None:
    schema = json.loads(members["schema.json"])
    again = {"__class__": "list", "__module__": "builtins", "__loader__": "ListNode", "content": [], "__id__": 9_999}
    schema["content"]["more"] = {**again, "content": [again]}
    members["schema.json"] = json.dumps(schema).encode()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (claim, "has another size than its header tells"),
        (nest, "objects; at most 2,000,000 are read"),
        (circle, "an object of it holds itself"),
    ],
)
def test_sizes_and_references_are_checked_before_anything_is_read(
    change: Callable[[dict[str, bytes]], None], reason: str, tmp_path: Path
) -> None:
    with pytest.raises(DataError, match=reason):
        load_model(forged(tmp_path, change))
