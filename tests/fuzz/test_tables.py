"""Tables, kernels, splits and pairs as bytes: what an independent reader finds in the file, or a sentence."""

from __future__ import annotations

import csv
import io
import zipfile
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import strategies as st
from scipy.io import savemat
from scipy.sparse import coo_matrix, csc_matrix, csr_matrix
from tests.fuzz.mutations import CELLS, damaged, mistaken
from tests.fuzz.trials import run_files, run_trials

from mklearn.errors import DataError
from mklearn.study.data.pairs import given_pairs, lfw_pairs
from mklearn.study.data.readers import feature_tables, precomputed
from mklearn.study.data.samples import SampleSet
from mklearn.study.data.splits import given

RNG = np.random.default_rng(0)
N = 12
IDS = np.array([f"s{number}" for number in range(N)])
LABELS = np.repeat(["cat", "dog", "owl"], N // 3)
X = RNG.normal(size=(N, 3)).round(4)
K = (X @ X.T).round(6) + np.eye(N)
FRAME = pd.DataFrame({"id": IDS, "label": LABELS, **{f"f{number}": X[:, number] for number in range(3)}})
SQUARE = pd.DataFrame(K, columns=IDS).assign(id=IDS)
SPLITS = pd.DataFrame({"id": np.tile(IDS, 2), "role": np.tile(["train", "train", "test"], 8),
                       "repeat": np.repeat([0, 1], N), "fold": 0})  # fmt: skip
PAIRS = pd.DataFrame({"fold": [0, 0, 1, 1], "first": ["s0", "s1", "s4", "s5"], "second": ["s2", "s4", "s6", "s8"],
                      "same": [True, False, True, False]})  # fmt: skip
NO_NUMBER = {"", "NA", "N/A", "n/a", "#N/A", "#NA", "#N/A N/A", "NULL", "null", "None", "NaN", "nan", "-NaN", "-nan",
             "<NA>", "1.#IND", "-1.#IND", "1.#QNAN", "-1.#QNAN"}  # fmt: skip
"""Words for a missing number, and in a column of labels for no label."""
LFW = "2\t1\ncat\t1\t2\ncat\t1\tdog\t1\ndog\t1\t2\ncat\t2\tdog\t1\n"


def as_csv(frame: pd.DataFrame) -> str:
    return frame.to_csv(index=False)


def as_parquet(frame: pd.DataFrame) -> bytes:
    stream = io.BytesIO()
    frame.to_parquet(stream)
    return stream.getvalue()


def as_npz(compressed: bool = False, **arrays: Any) -> bytes:
    stream = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(stream, **arrays)
    return stream.getvalue()


def as_h5ad(values: np.ndarray = X, modality: str = "/", **options: Any) -> bytes:
    stream = io.BytesIO()
    with h5py.File(stream, "w") as whole:
        file = whole.require_group(modality)
        file.create_dataset("X", data=values, **options)
        file["obs/_index"], file["obs/label"] = IDS.astype(object), LABELS.astype(object)
        file["var/_index"] = np.array([f"f{number}" for number in range(values.shape[1])], dtype=object)
        for table in ("obs", "var"):
            file[table].attrs["_index"] = "_index"
    return stream.getvalue()


def as_mat(values: np.ndarray = X, **options: Any) -> bytes:
    stream = io.BytesIO()
    savemat(stream, {"id": IDS.astype(object)[:, None], "label": LABELS, "X": values}, **options)
    return stream.getvalue()


def as_sparse(matrix: Any) -> bytes:
    names = ("row", "col") if matrix.format == "coo" else ("indices", "indptr")
    parts = {name: getattr(matrix, name) for name in ("data", "shape", *names)}
    return as_npz(id=IDS, label=LABELS, format=matrix.format.encode(), **parts)


def in_file(content: bytes, path: Path, names: Sequence[str] = ()) -> tuple[list[str], list[str], np.ndarray]:
    """Ids (row numbers, if there are none), labels and numbers of a table, read without mklearn, in the file's order.

    The numbers are those of some features by name, where the file names any.
    """
    if path.suffix == ".npz":
        with zipfile.ZipFile(io.BytesIO(content)) as archive:  # np.load wants nothing before the archive
            members = {name.removesuffix(".npy"): archive.read(name) for name in archive.namelist()}
        arrays = {name: np.lib.format.read_array(io.BytesIO(member)) for name, member in members.items()}
        ids, labels = arrays.pop("id", None), arrays.pop("label", None)
        if "format" in arrays:
            kind = {b"csr": csr_matrix, b"csc": csc_matrix, b"coo": coo_matrix}[arrays["format"].item()]
            shape = tuple(arrays["shape"].tolist())
            places = [arrays[name] for name in ("indices", "indptr") if name in arrays]
            parts = tuple(places) or ((arrays["row"], arrays["col"]),)
            values = kind((arrays["data"], *parts), shape=shape).toarray()
        else:
            [values] = [array for array in arrays.values() if array.ndim == 2]
        numbered = list(map(str, range(1, len(values) + 1)))
        return numbered if ids is None else text_of(ids), [] if labels is None else text_of(labels), values
    if path.suffix in (".h5ad", ".h5mu"):
        with h5py.File(path) as whole:
            file = whole["mod/one"] if path.suffix == ".h5mu" else whole
            ids, labels = (
                text_of(file[f"obs/{name}"][()]) if name in file["obs"] else [] for name in ("_index", "label")
            )
            features = text_of(file["var/_index"][()])
            chosen = [features.index(name) for name in names] if len({*features}) == len(features) else slice(None)
            return ids, labels, file["X"][()][:, chosen if names else slice(None)]
    if path.suffix == ".parquet":
        columns = pq.read_table(io.BytesIO(content)).to_pydict()
    else:
        lines = io.StringIO(content.decode("utf-8-sig"), newline="")
        rows = [
            row for row in csv.reader(lines, delimiter="\t" if path.suffix == ".tsv" else ",") if "".join(row).strip()
        ]
        columns = {name: [row[number] for row in rows[1:]] for number, name in enumerate(rows[0])}
    ids, labels = (text_of(columns.pop(name, [])) for name in ("id", "label"))
    values = np.array([[number_of(cell) for cell in columns[name]] for name in names or columns]).T
    return ids or list(map(str, range(1, len(values) + 1))), labels, values


def text_of(cells: Iterable[Any]) -> list[str]:
    return [(cell.decode() if isinstance(cell, bytes) else str(cell)).strip() for cell in cells]


def number_of(cell: Any) -> float:
    """The number in a cell; NaN where there is none."""
    if str(cell).strip() in NO_NUMBER:
        return np.nan
    return {"true": 1.0, "false": 0.0}.get(str(cell).strip().lower()) or float(cell)


def feature_table(content: bytes, path: Path) -> None:
    samples = feature_tables.read({"one": path})
    if path.suffix == ".mat":  # SciPy's reader is not made for damaged files
        assert samples.tables["one"].shape[0] == len(set(samples.ids.tolist())) == len(samples.y)
        return
    ids, labels, values = in_file(content, path)
    labelled = [number for number, label in enumerate(labels) if label and label not in NO_NUMBER]
    assert samples.ids.tolist() == [ids[number] for number in labelled]
    assert samples.classes[samples.y].tolist() == [labels[number] for number in labelled]
    np.testing.assert_allclose(samples.tables["one"], values.astype(float)[labelled], rtol=1e-14)


TABLES: dict[str, st.SearchStrategy[bytes]] = {
    "csv": mistaken([as_csv(FRAME)], CELLS) | damaged([as_csv(FRAME).encode()]),
    "parquet": damaged([as_parquet(FRAME), as_parquet(FRAME.assign(label=pd.Categorical(LABELS), f0=range(N)))]),
    "tsv": mistaken([as_csv(FRAME).replace(",", "\t")], CELLS) | damaged([as_csv(FRAME).replace(",", "\t").encode()]),
    "h5ad": damaged([as_h5ad(), as_h5ad(compression="gzip")]),
    "h5mu": damaged([as_h5ad(modality="mod/one"), as_h5ad(modality="mod/one", compression="gzip")]),
    "mat": damaged([as_mat(), as_mat(do_compression=True)]),
    "sparse.npz": damaged([as_sparse(kind(X)) for kind in (csr_matrix, csc_matrix, coo_matrix)]),
    "npz": damaged([as_npz(id=IDS, label=LABELS, X=X), as_npz(True, id=IDS.astype("S"), label=np.arange(N) % 3, X=X)]),
}


@pytest.mark.parametrize("suffix", TABLES)
def test_feature_tables(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"one.{suffix}"
    run_files(60, path, TABLES[suffix], lambda content: feature_table(content, path))


SPELLINGS = st.sampled_from(sorted(NO_NUMBER)).flatmap(
    lambda word: st.sampled_from([word, word.upper(), word.lower(), word.title(), f" {word} ", f"{word}.", f"'{word}'"])
) | st.sampled_from(["cat", "dog", "-", "?", "NA_", "missing", "\u00a0NA", "\uff2e\uff21"])  # fmt: skip


def test_spellings_of_no_label(tmp_path: Path) -> None:
    """A word is no label where it is no number, in text tables and in those of typed columns alike."""

    def trial(words: list[str]) -> None:
        frame = FRAME.assign(label=[*LABELS[:5], *words])
        kept = [not word.strip() or word.strip() in NO_NUMBER for word in frame["label"]]
        expected = [
            (name, word.strip()) for name, word, none in zip(IDS, frame["label"], kept, strict=True) if not none
        ]
        for suffix in ("csv", "parquet", "npz"):
            samples = read_as(tmp_path, frame, suffix)
            found = zip(samples.ids.tolist(), samples.classes[samples.y].tolist(), strict=True)
            assert list(found) == expected, suffix

    run_trials(60, st.lists(SPELLINGS, min_size=7, max_size=7), trial)


KERNELS: dict[str, st.SearchStrategy[bytes]] = {
    "csv": mistaken([as_csv(SQUARE), pd.DataFrame(K).to_csv(index=False, header=False)], CELLS),
    "parquet": damaged([as_parquet(SQUARE)]),
    "tsv": mistaken([as_csv(SQUARE).replace(",", "\t")], CELLS) | damaged([as_csv(SQUARE).replace(",", "\t").encode()]),
    "h5ad": damaged([as_h5ad(K), as_h5ad(K, compression="gzip")]),
    "mat": damaged([as_mat(K), as_mat(K, do_compression=True)]),
    "sparse.npz": damaged([as_sparse(csr_matrix(K)), as_sparse(csc_matrix(K))]),
    "npz": damaged([as_npz(id=IDS, K=K), as_npz(K=K.astype(np.float32))]),
}


@pytest.mark.parametrize("suffix", KERNELS)
def test_kernels(tmp_path: Path, suffix: str) -> None:
    path, labels = tmp_path / f"k.{suffix}", tmp_path / "labels.csv"
    labels.write_text(as_csv(FRAME[["id", "label"]]))

    def read(_: bytes) -> None:
        kernel = precomputed.read({"k": path, "L": labels}, labels="L").matrices["k"]
        np.testing.assert_array_equal(kernel, kernel.T)
        assert np.diag(kernel).min() > 0

    run_files(40, path, KERNELS[suffix], read)


def read_splits(path: Path) -> None:
    splits = given(path, IDS)
    written = csv_rows(path)
    assert sum(len(part) for split in splits for _, part in split.parts) == len(written)


def read_pairs(path: Path) -> None:
    pairs = given_pairs(path, IDS, np.unique(LABELS, return_inverse=True)[1])
    written = csv_rows(path)
    assert IDS[pairs.first].tolist() == [row["first"].strip() for row in written]
    assert IDS[pairs.second].tolist() == [row["second"].strip() for row in written]
    assert pairs.fold.tolist() == [float(row["fold"]) for row in written]


def read_lfw(path: Path) -> None:
    ids = np.array(["cat/cat_0001.jpg", "cat/cat_0002.jpg", "dog/dog_0001.jpg", "dog/dog_0002.jpg"])
    pairs = lfw_pairs(path, ids, np.array([0, 0, 1, 1]))
    assert len(pairs) == len([line for line in path.read_text("utf-8").splitlines() if line.strip()]) - 1


def csv_rows(path: Path) -> list[dict[str, str]]:
    stream = io.StringIO(path.read_bytes().decode("utf-8-sig"), newline="")
    return [row for row in csv.DictReader(stream) if any(cell and cell.strip() for cell in row.values())]


@pytest.mark.parametrize(
    ("text", "read"),
    [(as_csv(SPLITS), read_splits), (as_csv(PAIRS), read_pairs), (LFW, read_lfw)],
    ids=["splits", "pairs", "lfw"],
)
def test_splits_and_pairs(tmp_path: Path, text: str, read: Callable[[Path], None]) -> None:
    path = tmp_path / "splits.csv"
    contents = st.just(text.encode()) | mistaken([text], CELLS) | damaged([text.encode()])
    run_files(40, path, contents, lambda _: read(path))


# --- what must not matter, and what must


def read_as(folder: Path, frame: pd.DataFrame, suffix: str) -> SampleSet:
    path = folder / f"one.{suffix}"
    numbers = frame.drop(columns=["id", "label"])
    write: dict[str, Callable[[], bytes]] = {
        "csv": lambda: as_csv(frame).encode(),
        "parquet": lambda: as_parquet(frame),
        "npz": lambda: as_npz(id=frame["id"].to_numpy(str), label=frame["label"].to_numpy(str), X=numbers.to_numpy()),
    }
    path.write_bytes(write[suffix]())
    return feature_tables.read({"one": path})


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npz"])
def test_order_of_rows_and_columns(tmp_path: Path, suffix: str) -> None:
    """Columns permuted permute features, rows permuted permute samples; an added column is an added feature."""

    def trial(orders: tuple[list[int], list[int]]) -> None:
        rows, columns = orders
        numbers = FRAME.iloc[:, 2:].iloc[:, columns]
        samples = read_as(tmp_path, FRAME[["label", "id"]].join(numbers).iloc[rows], suffix)
        assert samples.ids.tolist() == IDS[rows].tolist()
        assert samples.classes[samples.y].tolist() == LABELS[rows].tolist()
        np.testing.assert_array_equal(samples.tables["one"], X[rows][:, columns])
        wider = read_as(tmp_path, FRAME.assign(more=X[:, 0] + 1), suffix).tables["one"]
        np.testing.assert_array_equal(wider, np.column_stack([X, X[:, 0] + 1]))

    run_trials(10, st.tuples(st.permutations(range(N)), st.permutations(range(3))), trial)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "npz"])
def test_one_row_too_many_is_refused(tmp_path: Path, suffix: str) -> None:
    with pytest.raises(DataError, match="ids must be unique; more than once: 's3'"):
        read_as(tmp_path, pd.concat([FRAME, FRAME.iloc[3:4]], ignore_index=True), suffix)
    path = tmp_path / "long.npz"
    for name, array in {"id": IDS, "label": LABELS, "X": X}.items():
        arrays = {"id": IDS, "label": LABELS, "X": X} | {name: np.concatenate([array, array[:1]])}
        path.write_bytes(as_npz(**arrays))
        with pytest.raises(DataError, match=r"long\.npz"):
            feature_tables.read({"one": path})
