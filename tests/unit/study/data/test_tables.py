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
from tests.unit.study.data.annotated_files import write_h5ad, write_h5mu

from mklearn.errors import DataError
from mklearn.study.data.read import read_dataset
from mklearn.study.data.readers import tables
from mklearn.study.data.readers.own_tables import feature_tables
from mklearn.study.datasets import dataset_spec
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
        file["X"].attrs["MATLAB_class"] = np.bytes_("double")
        references = file.create_group("#refs#")
        for name, words in (("id", IDS), ("label", LABELS)):
            held = []
            for number, word in enumerate(words):
                part = references.create_dataset(f"{name}{number}", data=np.array([[ord(c)] for c in word], dtype="u2"))
                part.attrs["MATLAB_class"] = np.bytes_("char")
                held.append(part.ref)
            node = file.create_dataset(name, (1, N), dtype=h5py.ref_dtype)
            node[0] = held
            node.attrs["MATLAB_class"] = np.bytes_("cell")
    content = bytearray(path.read_bytes())
    content[:128] = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    path.write_bytes(content)


def nullable(path: Path) -> None:
    """As anndata 0.13 writes text: ids and labels as groups of values and a mask."""
    write_h5ad(path, X, OBS)
    with h5py.File(path, "r+") as file:
        for name, words in (("_index", IDS), ("label", LABELS)):
            del file["obs"][name]
            group = file["obs"].create_group(name)
            group.attrs.update({"encoding-type": "nullable-string-array", "encoding-version": "0.1.0"})
            group["values"], group["mask"] = words.tolist(), np.zeros(N, dtype=bool)
            group["values"].attrs.update({"encoding-type": "string-array", "encoding-version": "0.2.0"})
            group["mask"].attrs.update({"encoding-type": "array", "encoding-version": "0.2.0"})


WRITERS: dict[str, Callable[[Path], Any]] = {
    "a.csv": lambda path: FRAME.to_csv(path, index=False),
    "excel.csv": lambda path: path.write_bytes(b"\xef\xbb\xbf" + FRAME.to_csv(index=False).encode()),
    "a.tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t"),
    "a.csv.gz": lambda path: FRAME.to_csv(path, index=False),
    "a.parquet": lambda path: FRAME.to_parquet(path),
    "named_index.parquet": lambda path: FRAME.set_index("id").to_parquet(path),
    "index.parquet": lambda path: FRAME.set_index("id").rename_axis(None).to_parquet(path),
    "a.npz": lambda path: np.savez(path, id=IDS, label=LABELS, features=X),
    "csr.npz": lambda path: np.savez(path, id=IDS, label=LABELS, **stored(sp.csr_array(X))),
    "a.mat": lambda path: savemat(path, {"id": cells(IDS), "label": cells(LABELS), "X": X, "n": 3}),
    "packed.mat": lambda path: savemat(path, {"id": IDS, "label": LABELS, "X": X}, do_compression=True),
    "sparse.mat": lambda path: savemat(path, {"id": IDS, "label": LABELS, "X": sp.csc_matrix(X)}),
    "new.mat": mat73,
    "dense.h5ad": lambda path: write_h5ad(path, X, OBS),
    "nullable.h5ad": nullable,
    "csr.h5ad": lambda path: write_h5ad(path, sp.csr_array(X), OBS.astype({"label": "category"})),
    "csc.h5ad": lambda path: write_h5ad(path, sp.csc_array(X), OBS.reset_index(names="id")),
    "a.h5mu": lambda path: write_h5mu(path, {"one": (X, OBS), "two": (X, OBS.iloc[:, :0])}, OBS),
    "whole.h5mu": lambda path: write_h5mu(path, {"two": (X, EMPTY.iloc[::-1]), "one": (X, EMPTY)}, OBS),
}


def stored(matrix: Any) -> dict[str, Any]:
    """The arrays of ``scipy.sparse.save_npz``."""
    return {
        "shape": matrix.shape, "data": matrix.data, "format": matrix.format.encode("ascii"),
        "indices": matrix.indices, "indptr": matrix.indptr,
    }  # fmt: skip


@pytest.mark.parametrize("name", WRITERS)
def test_every_format_gives_the_same_samples(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    WRITERS[name](path)
    samples = feature_tables({"one": path})
    assert samples.ids.tolist() == IDS.tolist()
    assert samples.classes[samples.y].tolist() == LABELS.tolist()
    np.testing.assert_array_equal(samples.tables["one"], X)
    assert target_kind({"kind": "feature_tables", "target": "label", "tables": {"one": str(path)}}) == "classes"


def test_arrays_without_ids_have_the_order_of_the_labels_or_numbers(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    labels, path = tmp_path / "labels.csv", tmp_path / "a.mat"
    FRAME[["id", "label"]].to_csv(labels, index=False)
    samples = feature_tables({"x": tmp_path / "x.npy", "L": labels}, labels="L")
    assert samples.ids.tolist() == IDS.tolist()
    np.testing.assert_array_equal(samples.tables["x"], X)
    FRAME[["id", "label"]].iloc[1:].to_csv(labels, index=False)
    with pytest.raises(DataError, match=r"x\.npy: no array 'id' of ids, and 6 rows where .*labels\.csv has 5 samples"):
        feature_tables({"x": tmp_path / "x.npy", "L": labels}, labels="L")
    savemat(path, {"X1": X, "X2": X[:, :2] + 1, "Y": np.arange(N) % 2 + 1.0, "one": X[:, :1]})
    views = {name: {"path": str(path), "array": array} for name, array in (("x1", "X1"), ("x2", "X2"), ("one", "one"))}
    samples = read_dataset(dataset_spec({"kind": "feature_tables", "tables": views, "label_column": "Y"}))
    assert samples.ids.tolist() == [str(number) for number in range(1, N + 1)]
    assert samples.classes.tolist() == ["1", "2"]
    np.testing.assert_array_equal(samples.tables["x2"], X[:, :2] + 1)
    assert samples.tables["one"].shape == (N, 1)
    with pytest.raises(DataError, match=r"a\.mat: no array 'id' of ids; samples of several files.* need ids"):
        feature_tables({"x1": path, "x": tmp_path / "x.npy"}, arrays={"x1": "X1"}, label_column="Y")


def test_arrays_of_annotated_data(tmp_path: Path) -> None:
    """And labels of each kind: numbers, True and False, categories, with gaps."""
    obs = OBS.assign(
        age=pd.array([1, None, 2, 1, 2, 1], dtype="Int64"), kind=pd.Categorical(["x", None, *"yxyx"]),
        grade=pd.Categorical([1, None, 2, 1, 2, 1]), treated=pd.array([True, None, *[False, True] * 2], "boolean"),
    )  # fmt: skip
    more: dict[str, Any] = {"obsm": {"X_pca": X[:, :2]}, "layers": {"counts": sp.csc_array(X * 2)}}
    path = write_h5ad(tmp_path / "a.h5ad", X, obs, var=list("abcd"), **more)
    arrays = {"pca": "obsm/X_pca", "counts": "layers/counts"}
    samples = feature_tables(dict.fromkeys(["x", *arrays], path), arrays=arrays)
    for name, expected in (("x", X), ("pca", X[:, :2]), ("counts", 2 * X)):
        np.testing.assert_array_equal(samples.tables[name], expected)
    assert set(samples.columns) == {"x", "counts"}
    assert samples.columns["counts"].tolist() == list("abcd")
    for column, values in obs.items():
        samples = feature_tables({"x": path}, label_column=str(column))
        assert samples.ids.tolist() == IDS[values.notna()].tolist()
        assert samples.classes[samples.y].tolist() == values.dropna().astype(str).tolist()
    with pytest.raises(DataError, match="no array 'obsm/umap'; it has 'X', 'obsm/X_pca', 'layers/counts'"):
        feature_tables({"x": path}, arrays={"x": "obsm/umap"})


def test_modalities_are_views(tmp_path: Path) -> None:
    parts = {"rna": (X[:5], OBS.iloc[:5, :0]), "adt": (sp.csr_array(X[2:, :3]), OBS.iloc[2:, :0])}
    path = write_h5mu(tmp_path / "a.h5mu", parts, OBS)
    samples = feature_tables({"rna": path, "adt": path}, missing_views="mean")
    assert samples.ids.tolist() == IDS.tolist()
    np.testing.assert_array_equal(samples.tables["rna"], np.vstack([X[:5], np.full((1, 4), np.nan)]))
    np.testing.assert_array_equal(samples.tables["adt"], np.vstack([np.full((2, 3), np.nan), X[2:, :3]]))
    with pytest.raises(DataError, match="no modality 'atac'; it has 'adt', 'rna'"):
        feature_tables({"atac": path})


@pytest.mark.parametrize("values", [list("aababb"), [1.5, 2.0, 3.5, 2.5, 4.0, 0.5]], ids=["text", "numbers"])
def test_the_kind_of_a_target_in_annotated_data(tmp_path: Path, values: list[Any]) -> None:
    """It takes no matrix: these have no X, or one for each modality."""
    obs = OBS.assign(outcome=values)
    whole = write_h5mu(tmp_path / "whole.h5mu", {"rna": (X, OBS)}, obs)
    part = write_h5mu(tmp_path / "part.h5mu", {"rna": (X, obs)}, OBS)
    single = write_h5ad(tmp_path / "single.h5ad", None, obs, obsm={"X_pca": X[:, :2]})
    for path in (whole, part, single):
        entry = {"kind": "feature_tables", "target": "outcome", "tables": {"rna": str(path)}}
        assert target_kind(entry) == ("classes" if isinstance(values[0], str) else "numbers")


# --- files that can't be read


def refusal(path: Path, **options: Any) -> str:
    with pytest.raises(DataError) as caught:
        feature_tables({"one": path}, **options)
    assert str(path) in str(caught.value)
    return str(caught.value)


@pytest.mark.parametrize("name", ["csr.h5ad", "csr.npz"])
def test_what_is_too_large_as_a_dense_table(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setattr(tables, "MOST_BYTES", 8 * N * 4 - 1)
    WRITERS[name](tmp_path / name)
    assert "as a dense table; expected at most 0.0" in refusal(tmp_path / name)


@pytest.mark.parametrize("name", ["dense.h5ad", "a.h5mu", "new.mat", "a.mat", "csr.npz", "a.csv.gz", "a.parquet"])
def test_damaged_files(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    path.write_bytes(b"nonsense" * 40)
    assert "not a readable" in refusal(path)
    WRITERS[name](path)
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    assert "not a readable" in refusal(path)
    path.unlink()
    assert "no such file" in refusal(path)


def test_several_or_no_arrays(tmp_path: Path) -> None:
    savemat(tmp_path / "a.mat", {"X": X, "Z": X, "id": IDS, "label": LABELS})
    assert "expected one matrix, found 'X', 'Z'; name it: {path: ..., array: NAME}" in refusal(tmp_path / "a.mat")
    assert "no array 'Q'; it has" in refusal(tmp_path / "a.mat", arrays={"one": "Q"})
    assert "expected a matrix" in refusal(tmp_path / "a.mat", arrays={"one": "label"})
    (tmp_path / "a.txt").touch()
    assert "unknown kind of table '.txt'" in refusal(tmp_path / "a.txt")
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    assert "`array` 'X' is for files of several arrays; omit it" in refusal(tmp_path / "a.csv", arrays={"one": "X"})
    np.savez(tmp_path / "a.npz", id=IDS, label=[*LABELS, "cat"], X=X)
    assert "array 'label' has shape (7,); expected 6 values, one per row" in refusal(tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (FRAME.to_csv(), "column 1 has no name. If it is the index of a pandas table, leave it out"),
        (FRAME.to_csv(index=False).replace(",id,label", ",id", 1), "not a readable .csv file"),
        (FRAME.to_csv(index=False).replace("label", "id"), "names of columns must be unique; more than once: 'id'"),
        (FRAME.to_csv(index=False).encode("utf-16"), "save it as UTF-8 text"),
        (FRAME.to_csv(index=False, sep=";"), "is one column: a .csv file has ',' between values"),
        (FRAME.to_csv(index=False, sep="\t"), "is one column: a .csv file has ',' between values"),
        ('id,label,f\n"unfinished', "not a readable .csv file"),
        ("", "is empty; expected a line of column names"),
        (FRAME.drop(columns="id").to_csv(index=False), "no column 'id'; it has"),
        (FRAME.drop(columns="label").to_csv(index=False), "no column 'label', and no labels file given"),
        (FRAME.assign(id="s0").to_csv(index=False), "ids must be unique; more than once: 's0'"),
        (FRAME.assign(b=list("0123x5")).to_csv(index=False), "columns that are not numbers: 'b'; for example 'x' in"),
        (FRAME.assign(b=[1, 2, None, 4, 5, np.inf]).to_csv(index=False), "missing or infinite: columns 'b'"),
        (FRAME.assign(b=X[:, 1] * 1e200).to_csv(index=False), "values above 1e+60 in columns 'b'; rescale them"),
        (FRAME[["id", "label"]].to_csv(index=False), "no columns of features"),
        (FRAME.iloc[:0].to_csv(index=False), "no rows"),
        (FRAME.assign(label=[1.0, 2.5] * 3).to_csv(index=False), "set `target: label` in place of `label_column`"),
    ],
)  # fmt: skip
def test_wrong_text_tables(tmp_path: Path, text: str | bytes, sentence: str) -> None:
    path = tmp_path / "one.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    mistake = refusal(path)
    assert sentence in mistake
    assert mistake.startswith(str(path))
    assert mistake.count(str(path)) == 1
    assert "np." not in mistake  # as in np.str_('s0')


def test_true_is_1(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    FRAME.assign(a=np.arange(N) % 2 == 0, b=["True", "", "False"] * 2).to_csv(path, index=False)
    table = feature_tables({"one": path}, impute="mean").tables["one"]
    np.testing.assert_array_equal(table[:, :2].T, [[1.0, 0.0] * 3, [1.0, np.nan, 0.0] * 2])


def test_all_broken_files_are_named_at_once(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "one.csv", index=False)
    (tmp_path / "two.csv").touch()
    (tmp_path / "three.mat").write_bytes(b"nonsense")
    paths = {name: tmp_path / name for name in ("one.csv", "two.csv", "three.mat", "four.csv")}
    with pytest.raises(DataError, match=r"two\.csv: is empty.*; .*three\.mat: not a readable.*; .*four\.csv: "):
        feature_tables(paths)
