"""Own tables of every format: the same samples, whatever program wrote them, and a sentence for what can't be read."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.io import savemat
from tests.unit.study.data.annotated_files import NULLABLE, PLAIN, write_h5ad, write_h5mu

from mklearn.errors import DataError
from mklearn.study.data.read import read_dataset
from mklearn.study.data.readers import content, feature_tables
from mklearn.study.data.readers.table_files import column_names
from mklearn.study.data.registry import dataset_spec
from mklearn.study.targets import target_kind

RNG = np.random.default_rng(0)
N = 6
X = RNG.poisson(1.0, size=(N, 4)) * 0.5
IDS = np.array([f"s{number}" for number in range(N)])
LABELS = np.array(["cat", "dog"] * 3)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(id=IDS, label=LABELS)
OBS = pd.DataFrame({"label": LABELS}, index=IDS)
EMPTY = pd.DataFrame(index=IDS)


def cells(values: Any) -> np.ndarray:
    """A column of a cell array of text."""
    return np.array(list(values), dtype=object)[:, None]


def mat73(path: Path) -> None:
    """As MATLAB writes version 7.3: HDF5 behind a header of 512 bytes, arrays transposed, text as codes."""
    with h5py.File(path, "w", userblock_size=512) as file:
        file["X"] = X.T
        file["X"].attrs["MATLAB_class"] = b"double"
        references = file.create_group("#refs#")
        for name, words in (("id", IDS), ("label", LABELS)):
            held = []
            for number, word in enumerate(words):
                part = references.create_dataset(f"{name}{number}", data=np.array([[ord(c)] for c in word], dtype="u2"))
                part.attrs["MATLAB_class"] = b"char"
                held.append(part.ref)
            node = file.create_dataset(name, (1, N), dtype=h5py.ref_dtype)
            node[0] = held
            node.attrs["MATLAB_class"] = b"cell"
    content = bytearray(path.read_bytes())
    content[:128] = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    path.write_bytes(content)


WRITERS: dict[str, Callable[[Path], Any]] = {
    "a.csv": lambda path: FRAME.to_csv(path, index=False),
    "excel.csv": lambda path: path.write_bytes(b"\xef\xbb\xbf\r\n" + FRAME.to_csv(index=False).encode()),
    "a.tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "a.csv.gz": lambda path: FRAME.to_csv(path, index=False),
    "a.tsv.bz2": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "a.csv.xz": lambda path: FRAME.to_csv(path, index=False),
    "a.parquet": lambda path: FRAME.to_parquet(path),
    "named_index.parquet": lambda path: FRAME.set_index("id").to_parquet(path),
    "index.parquet": lambda path: FRAME.set_index("id").rename_axis(None).to_parquet(path),
    "a.npz": lambda path: np.savez(path, id=IDS, label=LABELS, features=X),
    "csr.npz": lambda path: np.savez(path, id=IDS, label=LABELS, **stored(sp.csr_array(X))),
    "csc.npz": lambda path: np.savez(path, id=IDS, label=LABELS, **stored(sp.csc_matrix(X))),
    "coo.npz": lambda path: np.savez(path, id=IDS, label=LABELS, **stored(sp.coo_array(X))),
    "a.mat": lambda path: savemat(path, {"id": cells(IDS), "label": cells(LABELS), "X": X, "n": 3}),
    "packed.mat": lambda path: savemat(path, {"id": IDS, "label": LABELS, "X": X}, do_compression=True),
    "new.mat": mat73,
    "dense.h5ad": lambda path: write_h5ad(path, X, OBS),
    "plain.h5ad": lambda path: write_h5ad(path, X, OBS, text=PLAIN),
    "csr.h5ad": lambda path: write_h5ad(path, sp.csr_array(X), OBS.astype({"label": "category"})),
    "csc.h5ad": lambda path: write_h5ad(path, sp.csc_array(X), OBS.reset_index(names="id")),
    "a.h5mu": lambda path: write_h5mu(path, {"one": (X, OBS), "two": (X, OBS.iloc[:, :0])}, OBS),
    "plain.h5mu": lambda path: write_h5mu(path, {"one": (X, OBS), "two": (X, OBS.iloc[:, :0])}, OBS, PLAIN),
    "whole.h5mu": lambda path: write_h5mu(path, {"two": (X, EMPTY.iloc[::-1]), "one": (X, EMPTY)}, OBS),
}


def stored(matrix: Any) -> dict[str, Any]:
    """The arrays of ``scipy.sparse.save_npz``."""
    arrays = {"shape": matrix.shape, "data": matrix.data, "format": matrix.format.encode("ascii")}
    if matrix.format == "coo":
        return arrays | {"row": matrix.row, "col": matrix.col}
    return arrays | {"indices": matrix.indices, "indptr": matrix.indptr}


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_samples(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    samples = feature_tables.read({"one": path})
    assert samples.ids.tolist() == IDS.tolist()
    assert samples.classes[samples.y].tolist() == LABELS.tolist()
    np.testing.assert_array_equal(samples.tables["one"], X)
    if not name.endswith("h5mu"):
        assert {"id", "label"} <= set(column_names(path))


def test_sparse_matrices_as_scipy_writes_them_take_ids_from_the_labels_file(tmp_path: Path) -> None:
    sp.save_npz(tmp_path / "x.npz", sp.csr_array(X))
    FRAME[["id", "label"]].to_csv(tmp_path / "labels.csv", index=False)
    paths = {"x": tmp_path / "x.npz", "L": tmp_path / "labels.csv"}
    samples = feature_tables.read(paths, labels="L")
    assert samples.ids.tolist() == IDS.tolist()
    np.testing.assert_array_equal(samples.tables["x"], X)
    FRAME[["id", "label"]].iloc[1:].to_csv(tmp_path / "labels.csv", index=False)
    with pytest.raises(DataError, match=r"x\.npz: no array 'id' of ids, and 6 rows where .*labels\.csv has 5 samples"):
        feature_tables.read(paths, labels="L")


def test_arrays_of_one_file_without_ids_are_numbered(tmp_path: Path) -> None:
    path = tmp_path / "a.mat"
    savemat(path, {"X1": X, "X2": X[:, :2] + 1, "Y": np.arange(N) % 2 + 1.0})
    tables = {name: {"path": str(path), "array": name.upper()} for name in ("x1", "x2")}
    samples = read_dataset(dataset_spec({"kind": "feature_tables", "tables": tables, "label_column": "Y"}))
    assert samples.ids.tolist() == [str(number) for number in range(1, N + 1)]
    assert samples.classes.tolist() == ["1", "2"]
    np.testing.assert_array_equal(samples.tables["x2"], X[:, :2] + 1)
    np.savez(tmp_path / "b.npz", X=X)
    both = {"x1": path, "b": tmp_path / "b.npz"}
    with pytest.raises(DataError, match=r"a\.mat: no array 'id' of ids; samples in several files need ids"):
        feature_tables.read(both, arrays={"x1": "X1"}, label_column="Y")
    savemat(path, {"X1": X, "X2": X[1:], "Y": np.arange(N) % 2})
    with pytest.raises(DataError, match=r"column 'Y' has shape \(6,\); expected \(5,\)"):
        feature_tables.read({"x1": path, "x2": path}, arrays={"x1": "X1", "x2": "X2"}, label_column="Y")


@pytest.mark.parametrize("text", [NULLABLE, PLAIN], ids=["nullable", "plain"])
def test_arrays_of_annotated_data(tmp_path: Path, text: Any) -> None:
    """Each way in which anndata stores a column: text of few and of many values, numbers, True and False, with gaps."""
    obs = OBS.assign(
        age=pd.array([1, None, 2, 1, 2, 1], dtype="Int64"), kind=pd.Categorical(["x", None, *"yxyx"]),
        grade=pd.Categorical([1, None, 2, 1, 2, 1]), treated=pd.array([True, None, *[False, True] * 2], "boolean"),
        site=[*"pqpqpq"], name=[*"uvwxyz"],
    )  # fmt: skip
    if text is NULLABLE:
        obs["remark"] = pd.array(["m", None, *"nonm"], dtype=text)
    more: dict[str, Any] = {"obsm": {"X_pca": X[:, :2]}, "layers": {"counts": sp.csc_array(X * 2)}}
    path = write_h5ad(tmp_path / "a.h5ad", X, obs, text=text, **more)
    assert column_names(path) == ("id", *sorted(obs), "X", "obsm/X_pca", "layers/counts")
    with h5py.File(path) as file:
        assert file["obs/_index"].attrs["encoding-type"] == (
            "nullable-string-array" if text is NULLABLE else "string-array"
        )
    arrays = {"pca": "obsm/X_pca", "counts": "layers/counts"}
    samples = feature_tables.read(dict.fromkeys(["x", *arrays], path), arrays=arrays)
    for name, expected in (("x", X), ("pca", X[:, :2]), ("counts", 2 * X)):
        np.testing.assert_array_equal(samples.tables[name], expected)
    for column, values in obs.items():
        samples = feature_tables.read({"x": path}, label_column=str(column))
        assert samples.ids.tolist() == IDS[values.notna()].tolist()
        assert samples.classes[samples.y].tolist() == values.dropna().astype(str).tolist()
    for array, words in (("obsm/umap", "no array 'obsm/umap'; it has X, obsm/X_pca, layers/counts"), ("obs", "no arr")):
        with pytest.raises(DataError, match=words):
            feature_tables.read({"x": path}, arrays={"x": array})


def test_modalities_are_views(tmp_path: Path) -> None:
    parts = {"rna": (X[:5], OBS.iloc[:5, :0]), "adt": (sp.csr_array(X[2:, :3]), OBS.iloc[2:, :0])}
    path = write_h5mu(tmp_path / "a.h5mu", parts, OBS)
    samples = feature_tables.read({"rna": path, "adt": path}, missing_views="mean")
    assert samples.ids.tolist() == IDS.tolist()
    np.testing.assert_array_equal(samples.tables["rna"], np.vstack([X[:5], np.full((1, 4), np.nan)]))
    np.testing.assert_array_equal(samples.tables["adt"], np.vstack([np.full((2, 3), np.nan), X[2:, :3]]))
    with pytest.raises(DataError, match="no modality 'atac'; it has adt, rna"):
        feature_tables.read({"atac": path})


@pytest.mark.parametrize("values", [list("aababb"), [1.5, 2.0, 3.5, 2.5, 4.0, 0.5]], ids=["text", "numbers"])
def test_the_kind_of_a_target_in_annotated_data(tmp_path: Path, values: list[Any]) -> None:
    """It takes no matrix: these have no X, or one for each modality."""
    obs = OBS.assign(outcome=values)
    whole = write_h5mu(tmp_path / "whole.h5mu", {"rna": (X, OBS)}, obs)
    part = write_h5mu(tmp_path / "part.h5mu", {"rna": (X, obs)}, OBS)
    single = write_h5ad(tmp_path / "single.h5ad", None, obs, obsm={"X_pca": X[:, :2]})
    kind = "classes" if isinstance(values[0], str) else "numbers"
    for path in (whole, part, single):
        entry = {"kind": "feature_tables", "target": "outcome", "tables": {"rna": str(path)}}
        assert target_kind(entry) == kind
        assert target_kind({**entry, "target": "label"}) == "classes"


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        feature_tables.read({"one": path}, **options)
    assert str(path) in str(caught.value)
    return str(caught.value)


def test_what_is_too_large_as_a_dense_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "MOST_BYTES", 8 * N * 4 - 1)
    for name in ("csr.h5ad", "csr.npz"):
        WRITERS[name](tmp_path / name)
        assert "as a dense table; expected at most 0.0 GB" in refusal(tmp_path / name)
    huge = sp.csr_array((np.ones(1), [5], [0, 1]), shape=(1, 10**12))
    np.savez(tmp_path / "huge.npz", id=IDS[:1], label=LABELS[:1], **stored(huge))
    assert "8000.0 GB" in refusal(tmp_path / "huge.npz")


def test_several_or_no_arrays(tmp_path: Path) -> None:
    savemat(tmp_path / "a.mat", {"X": X, "Z": X, "id": IDS, "label": LABELS})
    assert "found 'X', 'Z'; name it: {path: ..., array: NAME}" in refusal(tmp_path / "a.mat")
    assert "no array 'Q'; it has" in refusal(tmp_path / "a.mat", arrays={"one": "Q"})
    assert "expected two dimensions" in refusal(tmp_path / "a.mat", arrays={"one": "label"})
    (tmp_path / "a.txt").touch()
    assert "unknown kind of table '.txt'" in refusal(tmp_path / "a.txt")
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    assert "`array` 'X' is for files of several arrays; omit it" in refusal(tmp_path / "a.csv", arrays={"one": "X"})


COMPRESSED = ["a.csv.gz", "a.tsv.bz2", "a.csv.xz"]


@pytest.mark.parametrize("name", ["a.h5ad", "a.h5mu", "new.mat", "a.mat", "csr.npz", *COMPRESSED])
def test_damaged_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"nonsense" * 40)
    assert "not a readable" in refusal(path)
    writer = name if name in WRITERS else "dense.h5ad"
    WRITERS[writer](path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert "not a readable" in refusal(path)
    path.unlink()
    assert "no such file" in refusal(path)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda file: file["X/indices"].__setitem__(0, 99), "not a readable HDF5 file"),
        (lambda file: file["X"].attrs.__setitem__("encoding-type", "other"), "X is stored as other"),
        (lambda file: file["obs/label/codes"].__setitem__(0, 9), "not a readable HDF5 file"),
        (lambda file: file.__delitem__("obs"), "not a readable HDF5 file"),
    ],
)  # fmt: skip
def test_annotated_data_that_contradict_themselves(tmp_path: Path, change: Callable[[Any], Any], words: str) -> None:
    path = tmp_path / "a.h5ad"
    WRITERS["csr.h5ad"](path)
    with h5py.File(path, "r+") as file:
        change(file)
    assert words in refusal(path)
