"""Own tables and matrices of every format: the same samples whatever wrote them, and a sentence for what is wrong."""

import csv
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from scipy.io import savemat
from tests.unit.study.data.annotated_files import write_h5ad, write_h5mu

from mklearn.atomic import write_npz, write_parquet
from mklearn.checks import check_symmetric
from mklearn.errors import DataError
from mklearn.study.data.read import read_dataset
from mklearn.study.data.readers import tables
from mklearn.study.data.readers.frames import read_frame
from mklearn.study.data.readers.own_tables import feature_tables, precomputed
from mklearn.study.data.readers.tables import column_text
from mklearn.study.data.samples import SampleSet
from mklearn.study.data.text_tables import MISSING
from mklearn.study.datasets import dataset_spec
from mklearn.study.targets import target_kind

RNG = np.random.default_rng(0)
N = 6
X = RNG.poisson(1.0, size=(N, 4)) * 0.5
IDS = np.array([f"s{number}" for number in range(N)])
LABELS = np.array(["cat", "dog"] * 3)
FRAME = pd.DataFrame(X, columns=list("abcd")).assign(id=IDS, label=LABELS)
INDEXED = FRAME.set_index("id").rename_axis(None)
OBS = pd.DataFrame({"label": LABELS}, index=IDS)
EMPTY = pd.DataFrame(index=IDS)


def cells(values: Any) -> np.ndarray:
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


CSV = FRAME.to_csv(index=False)
EUROPEAN = FRAME.to_csv(index=False, sep=";", decimal=",")
TEXTS = {
    "a.csv": CSV,
    "empty_columns.csv": CSV.replace("\n", ",,\n"),
    "comments.tsv": "# Instrument: MPA, 2 lamps\n\n# 8 scans" + 20 * "," + "\n" + CSV.replace(",", "\t"),
    "comment_of_two.csv": "# made, by; me, on, a, day\n" + CSV,
    "many_comments.csv": " \n" + "# note\n" * 120 + CSV,
    "commas_in_names.csv": "sep=;\n" + EUROPEAN.replace("a;", "CRP (mg/l, serum);", 1),
    "commas_in_all_names.csv": EUROPEAN.replace("a;b;c;d;", "a, mg;b, kg;c, m;d, s;", 1),
    "comma_in_a_name_of_r.tsv": INDEXED.to_csv(sep="\t", decimal=",").replace("\ta\t", "2,4-D\t", 1),
    "empty_first_column.csv": "\n".join("," + line for line in CSV.splitlines()),
    "a.tsv": CSV.replace(",", "\t"),
    "row_names.csv": INDEXED.to_csv()[1:],  # as write.table of R
    "row_numbers.csv": FRAME.to_csv(),
    "spaces.csv": FRAME.to_csv(index=False, sep=" ", quoting=csv.QUOTE_ALL),
}
WRITERS: dict[str, Callable[[Path], Any]] = {
    **{name: partial(Path.write_text, data=text) for name, text in TEXTS.items()},
    "excel.csv": lambda path: path.write_bytes(b"\xef\xbb\xbf" + CSV.encode()),
    "index.tsv.gz": lambda path: INDEXED.to_csv(path, sep="\t"),
    "european.csv": lambda path: FRAME.to_csv(path, index=False, sep=";", decimal=",", lineterminator="\r\n"),
    "unicode.tsv": lambda path: FRAME.to_csv(path, index=False, sep="\t", decimal=",", encoding="utf-16"),
    "a.csv.gz": lambda path: FRAME.to_csv(path, index=False),
    "a.parquet": lambda path: FRAME.to_parquet(path),
    "named_index.parquet": lambda path: FRAME.set_index("id").to_parquet(path),
    "index.parquet": lambda path: INDEXED.to_parquet(path),
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
    assert samples.labels.tolist() == LABELS.tolist()
    np.testing.assert_array_equal(samples.tables["one"], X)
    notes = " ".join(samples.notes)
    assert ("no name, has the ids" in notes) == (name in ("index.tsv.gz", "row_names.csv", "comma_in_a_name_of_r.tsv"))
    assert ("no name, is left out" in notes) == (name == "row_numbers.csv")
    assert target_kind({"kind": "feature_tables", "target": "label", "tables": {"one": str(path)}}) == "classes"


WIDE = ["sample id", *(f"g{k}" for k in range(30_000))]


@pytest.mark.parametrize(
    ("name", "text", "columns"),
    [
        ("r.tsv", "label\n" + "".join(f"s{k}\t{k % 2}\n" for k in range(4)), ["id", "label"]),
        ("quoted.csv", '"id"\n"s0"\n"s1"\n', ["id"]),
        ("text.csv", "id;size, cm\ns1;a,b,c\n", ["id", "size, cm"]),
        ("spaces.csv", "age years,sex\n34 y,m\n", ["age years", "sex"]),
        ("sepal.csv", "sepal,petal\n1,2\n3,4\n", ["sepal", "petal"]),
        ("wide.csv", f"{','.join(WIDE)}\ns1,{','.join(['0.25'] * 30_000)}\n", WIDE),
        ("cell.csv", 'id,"of two\nlines, or more"\ns1,"x' + "\n" * 30 + '"\n', ["id", "of two\nlines, or more"]),
    ],
)  # fmt: skip
def test_headers(tmp_path: Path, name: str, text: str, columns: list[str]) -> None:
    (tmp_path / name).write_text(text)
    assert [*read_frame(tmp_path / name, ("id",)).columns] == columns


@pytest.mark.parametrize(("value", "n_notes"), [(242.0, 0), (243.0, 1), (-219.0, 1)])
def test_numbers_over_twenty_interquartile_ranges_from_the_median_are_noted(
    tmp_path: Path, value: float, n_notes: int
) -> None:
    """The median is 12.5, or 11.5 with the low value, and the range 11.5."""
    numbers = pd.DataFrame({"id": [f"s{k}" for k in range(24)], "y": [*range(1, 24), value], "x": range(24)})
    numbers.to_csv(tmp_path / "one.csv", index=False)
    notes = feature_tables({"one": tmp_path / "one.csv"}, label_column="y", task="numbers").notes
    assert sum(f"'y': '{value:g} of s23' lie far from the median" in note for note in notes) == n_notes == len(notes)


def test_arrays_without_ids_have_the_order_of_the_labels_or_numbers(tmp_path: Path) -> None:
    np.save(tmp_path / "x.npy", X)
    labels, path = tmp_path / "labels.csv", tmp_path / "a.mat"
    FRAME[["id", "label"]].to_csv(labels, index=False)
    samples = feature_tables({"x": tmp_path / "x.npy", "L": labels}, labels="L")
    assert samples.ids.tolist() == IDS.tolist()
    np.testing.assert_array_equal(samples.tables["x"], X)
    FRAME[["id", "label"]].iloc[1:].to_csv(labels, index=False)
    with pytest.raises(DataError, match=r"x\.npy: 6 rows and no ids, but .*labels\.csv has 5 samples; add the"):
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
        assert samples.labels.tolist() == values.dropna().astype(str).tolist()
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


@pytest.mark.parametrize(
    ("name", "array", "sentence"),
    [
        ("a.mat", None, "expected one matrix, found 'X', 'Z'; name it: {path: ..., array: NAME}"),
        ("a.mat", "Q", "no array 'Q'; it has"),
        ("a.mat", "label", "expected a matrix"),
        ("a.txt", None, "unknown kind of table '.txt'"),
        ("a.csv", "X", "`array` 'X' is for files of several arrays; omit it"),
        ("a.npz", None, "array 'label' has shape (7,); expected 6 values, one per row"),
        ("a.h5ad", None, "(var_names_make_unique() changes them) must be unique; more than once: 'g'"),
    ],
)
def test_several_or_no_arrays(tmp_path: Path, name: str, array: str | None, sentence: str) -> None:
    savemat(tmp_path / "a.mat", {"X": X, "Z": X, "id": IDS, "label": LABELS})
    FRAME.to_csv(tmp_path / "a.csv", index=False)
    np.savez(tmp_path / "a.npz", id=IDS, label=[*LABELS, "cat"], X=X)
    write_h5ad(tmp_path / "a.h5ad", X, OBS, ["g", "h", "g", "i"])
    assert sentence in refusal(tmp_path / name, arrays={"one": array} if array else {})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (FRAME.drop(columns="id").to_csv(), "no column 'id'; the first column, which has no name, has no ids"),
        (FRAME.to_csv().replace("\n5,", "\n5.5,"), "column 1 has no name; name it"),
        (FRAME.set_index("label").to_csv(index_label=""), "must be unique; more than once: 'cat', 'dog'"),
        (FRAME.to_csv(index=False).replace(",id,label", ",id", 1), "has 5 names and the second 6 values"),
        (FRAME.rename(columns={"b": ""}).to_csv(), "column 3 has no name; name it"),
        (FRAME.to_csv(index=False).replace("label", "id"), "names of columns must be unique; more than once: 'id'"),
        (FRAME.assign(label="Käfer").to_csv(index=False).encode("latin-1"), "save it as UTF-8 text"),
        (FRAME.assign(b="1,234").to_csv(index=False, sep=";"), "not numbers: 'b'; for example '1,234'"),
        (FRAME.assign(a=["1,5", "2", "<1", *"345"]).to_csv(index=False, sep=";", decimal=","), "'<1' of row 's2'"),
        (FRAME[["id", "label"]].assign(b="1,234").to_csv(index=False), "write plain numbers (1234.5, not 1,234.5)"),
        (FRAME[["id", "label", "a", "b"]].to_csv(index=False).replace("\n", "\nunit,,AU,AU\n", 1),
         "for example 'AU' of row 'unit' in 'a'; delete this row if it has units"),
        ('id,label,f\n"unfinished', "not a readable .csv file"),
        ("", "is empty; expected a line of column names"),
        (FRAME.drop(columns="id").to_csv(index=False), "no column 'id'; it has"),
        ("# a, b\n# c, d", "is empty; expected a line of column names"),
        (FRAME.assign(e="", f=["x", *5 * [""]]).to_csv(index=False).replace(",e,f", ",,", 1), "column 8 has no name;"),
        ("# a,b,c,d\n" + FRAME[[*"abcd"]].to_csv(index=False, header=False), "no column 'id'; it has '# a', 'b', 'c'"),
        ("# by hand\n#" + FRAME[[*"abcd"]].to_csv(index=False), "no column 'id'; it has '#a', 'b'"),
        (FRAME.drop(columns="label").to_csv(index=False), "no column 'label', and no labels file given"),
        (FRAME.assign(id="s0").to_csv(index=False), "more than once: 's0'; each row is a sample"),
        (FRAME.assign(b=list("0123x5")).to_csv(index=False), "not numbers: 'b'; for example 'x' of row 's4' in 'b'"),
        (FRAME.assign(b=[1, 2, None, 4, 5, np.inf]).to_csv(index=False), "1 value missing or infinite: columns 'b'"),
        (FRAME.assign(b=[*"12345", -1e30]).to_csv(index=False), "values of 1e+30 or more in columns 'b'; "),
        (FRAME[["id", "label"]].to_csv(index=False), "no columns of features"),
        (FRAME[["id", "label"]].assign(smiles="CCO").to_csv(index=False), "'smiles'; there are no other features: c"),
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


@pytest.mark.parametrize(
    ("values", "text"),
    [([1.0, np.nan], ["1", ""]), ([1.5, 2.0], ["1.5", "2.0"]), ([1e20, 2.0], ["1e+20", "2.0"]), ([1e400], ["inf"])],
)
def test_numbers_as_text(values: list[float], text: list[str]) -> None:
    assert column_text(values, Path("t"), "label", may_be_empty=True).tolist() == text


def test_true_is_1(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    FRAME.assign(a=np.arange(N) % 2 == 0, b=["True", "", "False"] * 2).to_csv(path, index=False)
    table = feature_tables({"one": path}, impute="mean").tables["one"]
    np.testing.assert_array_equal(table[:, :2].T, [[1.0, 0.0] * 3, [1.0, np.nan, 0.0] * 2])


TURNED = INDEXED.drop(columns="label").T
TURNED_WRITERS: dict[str, Callable[[Path], Any]] = {
    "gene.csv.gz": lambda path: TURNED.rename_axis("gene").to_csv(path),
    "row_names.tsv": lambda path: path.write_text(TURNED.to_csv(sep="\t")[1:]),  # as write.table of R
    "index.parquet": lambda path: TURNED.to_parquet(path),
    "annotated.csv": lambda path: TURNED.assign(length=9, symbol=list("ABCD")).to_csv(path),
}


@pytest.mark.parametrize("name", TURNED_WRITERS)
def test_features_in_rows(tmp_path: Path, name: str) -> None:
    paths = {"one": tmp_path / name, "labels": tmp_path / "labels.csv"}
    TURNED_WRITERS[name](paths["one"])
    OBS.iloc[::-1].to_csv(paths["labels"])
    entry = {"tables": {"one": {"path": str(paths["one"]), "transpose": True}}, "labels": str(paths["labels"])}
    left_out = ["length", "symbol"] if name == "annotated.csv" else []
    samples = read_dataset(dataset_spec({"kind": "feature_tables", **entry, "leave_out": left_out}))
    assert samples.ids.tolist() == IDS.tolist()
    np.testing.assert_array_equal(samples.tables["one"], X)
    assert samples.columns["one"].tolist() == list("abcd")
    with pytest.raises(DataError, match=f"{name} looks transposed: 6 of its columns are .* of .*labels.csv; set `tra"):
        feature_tables(paths, labels="labels", leave_out=left_out)
    paths["two"] = tmp_path / "two.csv"
    pd.DataFrame(np.eye(N), IDS, IDS).to_csv(paths["two"])  # a kernel has samples in rows and columns
    assert "two" in feature_tables(paths, labels="labels", transposed=["one"], leave_out=left_out).tables
    TURNED.T.to_csv(paths["two"])
    with pytest.raises(DataError, match=r"two\.csv looks transposed: 6 of its rows are named .*; omit `transpose: t"):
        feature_tables(paths, labels="labels", transposed=["one", "two"], leave_out=left_out)


def test_wrong_features_in_rows(tmp_path: Path) -> None:
    TURNED.assign(symbol="A").to_csv(tmp_path / "one.csv")
    assert "not numbers: 'symbol'; for example 'A' of row 'a' in" in refusal(tmp_path / "one.csv", transposed=["one"])
    TURNED.iloc[:0].to_csv(tmp_path / "one.csv")
    assert "one.csv: no rows" in refusal(tmp_path / "one.csv", transposed=["one"])
    TURNED.set_axis(list("abca")).rename_axis("gene").to_csv(tmp_path / "one.csv")
    assert "features, in column 'gene', must be unique" in refusal(tmp_path / "one.csv", transposed=["one"])
    np.save(tmp_path / "one.npy", X)
    assert "`transpose` is for tables of named columns" in refusal(tmp_path / "one.npy", transposed=["one"])


def test_all_broken_files_are_named_at_once(tmp_path: Path) -> None:
    FRAME.to_csv(tmp_path / "one.csv", index=False)
    (tmp_path / "two.csv").touch()
    (tmp_path / "three.mat").write_bytes(b"nonsense")
    paths = {name: tmp_path / name for name in ("one.csv", "two.csv", "three.mat", "four.csv")}
    with pytest.raises(DataError, match=r"two\.csv: is empty.*; .*three\.mat: not a readable.*; .*four\.csv: "):
        feature_tables(paths)


# --- several tables, aligned by ids

EIGHT = [f"s{number}" for number in range(8)]
KINDS = ["cat", "dog"] * 4
ONE = pd.DataFrame({"id": EIGHT, "label": KINDS, "f": RNG.random(8), "g": RNG.random(8)})
TWO = pd.DataFrame({"id": EIGHT, "h": RNG.random(8), "i": RNG.random(8)})
Frames = dict[str, pd.DataFrame]


def read(folder: Path, frames: Frames, **options: Any) -> SampleSet:
    paths = {name: folder / f"{name}.csv" for name in frames}
    for name, frame in frames.items():
        frame.to_csv(paths[name], index=False)
    return feature_tables(paths, **options)


def test_labels_in_their_own_file_and_whole_number_ids(tmp_path: Path) -> None:
    one = pd.DataFrame({"name": [3, 1, 2], "f": [0.1, 0.2, 0.3]})
    write_parquet(tmp_path / "one.parquet", one)
    (tmp_path / "labels.csv").write_text("name,kind\n1,NA\n2,null\n3,10\n")  # words that pandas reads as missing
    files = {"tables": {"one": str(tmp_path / "one.parquet")}, "labels": str(tmp_path / "labels.csv")}
    entry = {"kind": "feature_tables", **files, "id_column": "name", "label_column": "kind"}
    samples = read_dataset(dataset_spec(entry | {"missing_labels": []}))
    assert samples.ids.tolist() == ["3", "1", "2"]
    assert samples.labels.tolist() == ["10", "NA", "null"]
    assert set(samples.tables) == {"one"}
    with pytest.raises(DataError, match=r"one\.parquet.*: (at least|no sample).*"):
        read_dataset(dataset_spec(entry))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"two": TWO.assign(id=[*EIGHT[:-1], "zz"])}, r"one\.csv: lacks 'zz'; .*two\.csv: lacks 's7'\. 2 of 9 samp"),
        ({"two": TWO.assign(label="cat")}, r"two\.csv: labels disagree .* 's1', 's3', 's5', 's7'; 's1' is 'cat' here"),
        ({"two": TWO.assign(id=[f"x{name}" for name in EIGHT])}, r"one\.csv: none of its ids 's0', .* 'xs0', "),
        ({"two": TWO.assign(id=[name.upper() for name in EIGHT])}, r"one\.csv: 's0', .* differ from others only"),
        ({"one": ONE.assign(id=[*EIGHT[:-1], "S7"]), "two": TWO.assign(id=[*EIGHT[:-1], "s07"])},
         r"'S7' differ from others only in case, leading zeros or R's names"),
        ({"one": ONE.assign(id=[*EIGHT[:-1], "1.1-a"]), "two": TWO.assign(id=[*EIGHT[:-1], "X1.1.a"])}, "'1.1-a' dif"),
        ({"one": ONE.assign(id=[*EIGHT[:-1], "1.1"]), "two": TWO.assign(id=[*EIGHT[:-1], "11"])}, "lacks '11'; "),
    ],
)  # fmt: skip
def test_tables_that_contradict_each_other(tmp_path: Path, change: Frames, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(tmp_path, {"one": ONE, "two": TWO} | change)


def test_ids_of_other_lengths_are_cut(tmp_path: Path) -> None:
    people = ONE.assign(id=[f"TCGA-{k:03}" for k in range(8)])
    aliquots = TWO.assign(id=people["id"] + "-01A-R29S").iloc[::-1]
    with pytest.raises(DataError, match=r"such as 'TCGA-0.*`id_prefix: 8`"):
        read(tmp_path, {"people": people, "aliquots": aliquots})
    samples = read(tmp_path, {"people": people, "aliquots": aliquots}, id_prefix=8)
    assert samples.ids.tolist() == people["id"].tolist()
    np.testing.assert_array_equal(samples.tables["aliquots"], TWO[["h", "i"]])
    twice = pd.concat([aliquots, aliquots.iloc[:1].assign(id="TCGA-007-11A-R29S")])
    with pytest.raises(DataError, match=r"aliquots\.csv: ids of 8 characters \(id_prefix\) must be .* 'TCGA-007'"):
        read(tmp_path, {"people": people, "aliquots": twice}, id_prefix=8)


def test_columns_that_are_named_must_be_there(tmp_path: Path) -> None:
    frames = {"one": ONE.assign(leak=KINDS)}
    assert read(tmp_path, frames, leave_out=["leak", "g"]).tables["one"].shape == (8, 1)
    for options in ({"leave_out": ["leek", "leak"]}, {"group_column": "leek"}):
        with pytest.raises(DataError, match=r"no column 'leek'\. Did you mean 'leak'\?"):
            read(tmp_path, frames, **options)


def test_groups_are_aligned_complete_and_agree(tmp_path: Path) -> None:
    people = ONE[["id", "label"]].assign(patient=["007", *"2345678"]).iloc[::-1]
    frames = {"two": TWO, "people": people}
    samples = read(tmp_path, frames, labels="people", group_column="patient")
    assert samples.groups is not None
    assert samples.groups.tolist() == people["patient"].tolist()[::-1]
    with pytest.raises(DataError, match="groups disagree"):
        read(tmp_path, frames | {"two": TWO.assign(patient="x")}, labels="people", group_column="patient")
    people.loc[3, "patient"] = "NA"
    with pytest.raises(DataError, match="no group is given for samples 's3'"):
        read(tmp_path, frames, labels="people", group_column="patient")


# --- gaps


@pytest.mark.parametrize("empty_rows", [False, True])
def test_samples_that_lack_a_table(tmp_path: Path, empty_rows: bool) -> None:
    two = TWO.assign(h=TWO["h"].drop([4, 5]), i=TWO["i"].drop([4, 5])) if empty_rows else TWO.drop(index=[4, 5])
    frames = {"one": ONE.drop(index=1), "two": two}
    with pytest.raises(DataError, match=r"3 of 8 samples lack a table.* missing_views: drop .* or mean"):
        read(tmp_path, frames)
    dropped = read(tmp_path, frames, missing_views="drop")
    assert dropped.ids.tolist() == ["s0", "s2", "s3", "s6", "s7"]
    np.testing.assert_array_equal(dropped.tables["two"], TWO.iloc[[0, 2, 3, 6, 7], 1:])
    [note] = dropped.notes
    assert note == "3 of 8 samples lack a table and are left out (missing_views: drop). one: 's1'; two: 's4', 's5'"
    frames = {"one": frames["one"].drop(columns="label"), "two": two, "labels": ONE[["id", "label"]]}
    kept = read(tmp_path, frames, labels="labels", missing_views="mean")
    assert sorted(kept.ids) == EIGHT
    order = [EIGHT.index(name) for name in kept.ids]
    for name, frame, gone in (("one", ONE[["f", "g"]], [1]), ("two", TWO[["h", "i"]], [4, 5])):
        expected = frame.to_numpy().copy()
        expected[gone] = np.nan
        np.testing.assert_array_equal(kept.tables[name], expected[order])
    assert kept.labels.tolist() == [KINDS[number] for number in order]
    [note] = kept.notes
    assert note.startswith("3 of 8 samples lack a table and are filled in from the training samples there")
    kept.save(tmp_path / "samples.npz")
    loaded = SampleSet.load(tmp_path / "samples.npz")
    np.testing.assert_array_equal(loaded.tables["two"], kept.tables["two"])


def test_the_label_of_a_sample_may_be_in_any_table(tmp_path: Path) -> None:
    frames = {"one": ONE.drop(index=1), "two": TWO.assign(label=[None, "dog", *[None] * 6])}
    kept = read(tmp_path, frames, missing_views="mean")
    assert dict(zip(kept.ids, kept.labels, strict=True)) == dict(zip(EIGHT, KINDS, strict=True))


def test_missing_values(tmp_path: Path) -> None:
    holes = {"one": ONE.assign(f=ONE["f"].drop(2)), "two": TWO}
    with pytest.raises(DataError, match=r"1 value missing .* samples 's2'\. Fill them in, or set impute: mean"):
        read(tmp_path, holes)
    samples = read(tmp_path, holes, impute="median")
    assert np.isnan(samples.tables["one"]).sum() == 1
    [note] = samples.notes
    assert "filled in by the median over the training samples (impute: median): one 1" in note


@pytest.mark.parametrize(
    ("word", "suffix"),
    [
        *((word, ".csv") for word in ("", *MISSING, " NA ")),
        *(("NA", suffix) for suffix in (".tsv", ".csv.gz", ".parquet", ".npz")),
    ],
)
@pytest.mark.parametrize("labels", ["ab", [1.0, 2.0]])
def test_a_word_for_a_missing_value_is_no_class(tmp_path: Path, word: str, suffix: str, labels: Any) -> None:
    labels = [*labels, *labels, word, word]
    frame = pd.DataFrame({"id": EIGHT[:6], "label": list(map(str, labels)), "f": np.linspace(0.1, 0.7, 6)})
    path = tmp_path / f"t{suffix}"
    if suffix == ".npz":
        np.savez(path, id=np.array(EIGHT[:6]), label=np.array(labels), f=frame[["f"]].to_numpy())
    elif suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    samples = feature_tables({"t": path})
    assert samples.classes.tolist() == (["1", "2"] if 1.0 in labels else ["a", "b"])
    assert samples.ids.tolist() == EIGHT[:4]
    assert samples.notes[0].startswith("samples without a target are left out (missing_labels): 2")
    if word and "a" in labels:
        assert sorted(feature_tables({"t": path}, missing_labels=[]).classes) == sorted(["a", "b", word.strip()])


def test_words_for_no_number_to_predict(tmp_path: Path) -> None:
    frames = {"one": ONE.assign(label=["0.5", "1.5", "2.5", "NA", "", "unknown", "1", "1e1"])}
    with pytest.raises(DataError, match="values that are no numbers below 1e\\+30: 'unknown' of samples 's5'; "):
        read(tmp_path, frames, task="numbers")
    samples = read(tmp_path, frames, task="numbers", missing_labels=["NA", "unknown"])
    assert samples.y.tolist() == [0.5, 1.5, 2.5, 1.0, 10.0]
    assert samples.notes[0].startswith("samples without a target are left out (missing_labels): 3")


TIMES = ["9", "2.50", "1e1", "NA", "4", "7", "3", "1"]


@pytest.mark.parametrize(
    ("events", "occurred"),
    [
        ([1, 0, 0, 1, 0, 1, None, 1], {}),
        (["TRUE", "False", "false", "true", "0.0", "1.0", "NA", "1"], {}),
        (["dead", "lost", "alive", "dead", "1", "dead", "", "dead"], {"occurred": "dead"}),
        ([2, 1, 1, 2, 1, 2, None, 2], {"occurred": 2}),
        ([2, 1, 1, 2, 1, 2, None, 2], {"occurred": "2.0"}),
        (["TRUE", "False", "FALSE", "true", "false", "True", None, "True"], {"occurred": True}),
    ],
)
@pytest.mark.parametrize("write", [pd.DataFrame.to_parquet, pd.DataFrame.to_csv], ids=["parquet", "csv"])
def test_survival_times(tmp_path: Path, write: Any, events: list[Any], occurred: dict[str, Any]) -> None:
    path = str(tmp_path / f"one.{write.__name__[3:]}")
    write(ONE.drop(columns="label").assign(t=TIMES, e=pd.Series(events)), path, index=False)
    entry = {"kind": "feature_tables", "tables": {"one": path}, "target": {"time": "t", "event": "e", **occurred}}
    samples = read_dataset(dataset_spec(entry))
    assert samples.target == target_kind(entry) == "survival"
    assert samples.y.tolist() == [9.0, -2.5, -10.0, -4.0, 7.0, 1.0]
    assert samples.columns["one"].tolist() == ["f", "g"]
    assert samples.notes[-1].startswith("samples without a target are left out (missing_labels): 2")
    note = "" if not occurred else f"{path}: column 'e' means a censored time where it is "
    assert samples.notes[0].startswith(note + ("'lost' (1), 'alive' (1), '1' (1)" if "lost" in events else ""))


@pytest.mark.parametrize(
    ("times", "events", "columns", "words"),
    [
        (["0", "-1"], ["1", "x"], {}, "not above 0, .* for 's0', 's1', .* empty; column 'e' has the values '1', 'x'"),
        (["late", "1"], [1, 0], {}, "column 't' has times that are no numbers below 1e.30, such as 'late'"),
        (["1", "2"], ["dead", "lost"], {"occurred": "Dead"}, "'Dead' .occurred., but 'dead', 'lost'. Did you mean 'd"),
        (["1", "2"], [0, 0], {}, "0 of 8 survival times ended with an event"),
        (["1", "2"], [1, 0], {"event_column": "ee"}, "no column 'ee'. Did you mean 'e'?"),
        (["1", "2"], [1, 0], {"event_column": "h"}, "one.csv, .*two.csv: no sample has a target .'t' and 'h', in one"),
        (["1", "2"], ["no", "yes"], {"occurred": "True"}, "'True' .occurred., .* as booleans: put words in quotes"),
    ],
)
def test_mistakes_in_survival_times(tmp_path: Path, times: Any, events: Any, columns: Any, words: str) -> None:
    frames = {"one": ONE.drop(columns="label").assign(t=times * 4, e=events * 4), "two": TWO}
    with pytest.raises(DataError, match=words):
        read(tmp_path, frames, **{"label_column": "t", "event_column": "e", "task": "survival", **columns})


def test_numbers_to_predict_with_decimal_commas(tmp_path: Path) -> None:
    path = tmp_path / "one.csv"
    path.write_text("id;a;y\n1,5;1;-1,5\nb;2;2\nc;3;0,25\n")
    assert target_kind({"kind": "feature_tables", "target": "y", "tables": {"one": str(path)}}) == "numbers"
    samples = feature_tables({"one": path}, label_column="y", task="numbers")
    assert (samples.y.tolist(), samples.ids[0]) == ([-1.5, 2.0, 0.25], "1,5")
    path.write_text("id;a;y\n1,5;1,5;1.358\nb;2;249\n")
    with pytest.raises(DataError, match=r"'y' has '1.358' in a file with decimal commas: write"):
        feature_tables({"one": path}, label_column="y", task="numbers")
    path.write_text("id;a;y\n1,5;1,5;1.358\nb;2;0.249\n")  # 0.249 is no number of thousands
    assert feature_tables({"one": path}, label_column="y", task="numbers").y.tolist() == [1.358, 0.249]


# --- matrices


@pytest.fixture
def labels(tmp_path: Path) -> Path:
    path = tmp_path / "labels.csv"
    ONE[["id", "label"]].to_csv(path, index=False)
    return path


def gram() -> np.ndarray:
    features = RNG.random((8, 3))
    return features @ features.T


def read_one(path: Path, labels: Path, measure: str = "kernel") -> SampleSet:
    return precomputed({"k": path, "L": labels}, labels="L", measure=measure)


def test_matrices_in_all_forms_and_orders(tmp_path: Path, labels: Path) -> None:
    kernel, order = gram(), np.array([3, 1, 5, 7, 0, 2, 6, 4])
    moved, names = kernel[np.ix_(order, order)], np.array(EIGHT)[order]
    frame = pd.DataFrame(moved, columns=names)
    frame.insert(0, "id", names)
    frame.to_csv(tmp_path / "named.csv", index=False)
    frame.rename(columns={names[0]: f"{names[0]} "}).to_csv(tmp_path / "spaced.csv", index=False)
    frame[["id", *EIGHT]].to_parquet(tmp_path / "named.parquet")  # columns in another order than rows
    write_npz(tmp_path / "named.npz", K=moved, id=names)
    write_npz(tmp_path / "bare.npz", K=kernel)
    np.save(tmp_path / "bare.npy", kernel)
    np.savetxt(tmp_path / "bare.csv", kernel)
    frame.set_index("id").rename_axis(None).to_csv(tmp_path / "index.csv")
    np.savetxt(tmp_path / "bare.csv.gz", kernel, delimiter=",")
    for path in sorted({*tmp_path.iterdir()} - {labels}):
        samples = read_one(path, labels)
        np.testing.assert_allclose(samples.matrices["k"], kernel, rtol=1e-12)
        np.testing.assert_array_equal(samples.matrices["k"], samples.matrices["k"].T)
        assert samples.ids.tolist() == EIGHT
    ONE[["id"]].assign(label=[None, *KINDS[1:7], None]).to_csv(labels, index=False)
    samples = read_one(tmp_path / "named.csv", labels)
    assert samples.ids.tolist() == EIGHT[1:7]
    np.testing.assert_allclose(samples.matrices["k"], kernel[1:7, 1:7])
    assert "samples without a target are left out (missing_labels): 2" in samples.notes[-1]


def test_matrix_refusals(tmp_path: Path, labels: Path) -> None:
    kernel = gram()
    distance = kernel.max() - kernel
    np.fill_diagonal(distance, 0)
    write_npz(tmp_path / "k.npz", K=distance)
    assert read_one(tmp_path / "k.npz", labels, "distance").matrices["k"].min() == 0
    with pytest.raises(DataError, match=r"k\.npz: not a kernel: .* is 0; .*measure: distance"):
        read_one(tmp_path / "k.npz", labels)
    single = kernel + np.triu(kernel * 1e-5, 1)  # differences of rounding are averaged
    single[3] = single[:, 3] = 0  # a sample without any feature
    write_npz(tmp_path / "k.npz", K=single)
    np.testing.assert_allclose(read_one(tmp_path / "k.npz", labels).matrices["k"], (single + single.T) / 2)
    assert not check_symmetric(single, "the library accepts it too:")
    with pytest.raises(DataError, match=r"labels\.csv: no column 'who'"):
        precomputed({"k": tmp_path / "k.npz", "L": labels}, labels="L", group_column="who")
    nan, negative, diagonal, skew = distance.copy(), distance.copy(), distance.copy(), distance.copy()
    skew[1, 4] += 0.1
    nan[2, 3] = np.nan
    negative[0, 1] = negative[1, 0] = -0.5
    diagonal[3, 3] = 1
    wrong_ids = np.array([*EIGHT[:7], "zz"])
    for arrays, message in (
        ({"K": skew}, r"k\.npz: not symmetric: \('s1', 's4'\) is .* but \('s4', 's1'\) is .*; symmetrise it: K"),
        ({"K": 0 * kernel}, r"k\.npz: all values are 0, so that no samples differ; leave the matrix out"),
        ({"K": nan}, r"k\.npz: 1 value missing or infinite: columns '3'"),
        ({"K": negative}, r"not a distance: \('s0', 's1'\) is -0.5; expected no negative value"),
        ({"K": diagonal}, r"\('s3', 's3'\) is 1; expected .* 0 on the diagonal"),
        ({"K": distance[:, :5]}, "8 rows and 5 columns; it must be square"),
        ({"K": distance[:, :7]}, "must be square; its first line may be a header, which needs a column of ids"),
        ({"K": distance[:5, :5]}, r"5 rows and no ids, but .*labels\.csv has 8"),
        ({"K": distance, "id": wrong_ids}, r"lacks 's7' and has 'zz' that .*labels\.csv lacks; both need all samples"),
        ({"K": distance, "id": np.array([*EIGHT[:7], "s07"])}, "'s7' differ from others only in case, leading z"),
        ({"K": distance, "id": np.array(["s0"] * 8)}, "ids must be unique"),
        ({"K": distance, "J": distance}, "one matrix, found 'K', 'J'"),
    ):
        write_npz(tmp_path / "k.npz", **arrays)
        with pytest.raises(DataError, match=message):
            read_one(tmp_path / "k.npz", labels, "distance")
    frame = pd.DataFrame(kernel, columns=[*EIGHT[:7], "zz"])
    frame.insert(0, "id", EIGHT)
    frame.to_csv(tmp_path / "k.csv", index=False)
    with pytest.raises(DataError, match=r"lacks 's7' and has 'zz'"):
        read_one(tmp_path / "k.csv", labels)
