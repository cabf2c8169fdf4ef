"""Own tables and matrices: aligned by ids, with gaps, and refused with a sentence."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mklearn.atomic import write_npz, write_parquet
from mklearn.errors import DataError
from mklearn.study.data.read import read_dataset
from mklearn.study.data.readers.own_tables import feature_tables, precomputed
from mklearn.study.data.samples import SampleSet
from mklearn.study.data.text_tables import MISSING
from mklearn.study.datasets import dataset_spec

RNG = np.random.default_rng(0)
IDS = [f"s{number}" for number in range(8)]
LABELS = ["cat", "dog"] * 4
ONE = pd.DataFrame({"id": IDS, "label": LABELS, "f": RNG.random(8), "g": RNG.random(8)})
TWO = pd.DataFrame({"id": IDS, "h": RNG.random(8), "i": RNG.random(8)})
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
    given = {"kind": "feature_tables", **files, "id_column": "name", "label_column": "kind"}
    samples = read_dataset(dataset_spec(given | {"missing_labels": []}))
    assert samples.ids.tolist() == ["3", "1", "2"]
    assert samples.classes[samples.y].tolist() == ["10", "NA", "null"]
    assert set(samples.tables) == {"one"}
    with pytest.raises(DataError, match=r"one\.parquet.*: (at least|no sample).*"):
        read_dataset(dataset_spec(given))


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"two": TWO.assign(id=[*IDS[:-1], "zz"])}, r"one\.csv: lacks 'zz'; .*two\.csv: lacks 's7'\. 2 of 9 samples"),
        ({"two": TWO.assign(label="cat")}, r"two\.csv: labels disagree .* 's1', 's3', 's5', 's7'; 's1' is 'cat' here"),
        ({"two": TWO.assign(id=[f"x{name}" for name in IDS])}, "one.csv: none of its ids 's0', .* is in another table"),
    ],
)
def test_tables_that_contradict_each_other(tmp_path: Path, change: Frames, message: str) -> None:
    with pytest.raises(DataError, match=message):
        read(tmp_path, {"one": ONE, "two": TWO} | change)


def test_ids_of_other_lengths_are_cut(tmp_path: Path) -> None:
    """Barcodes of aliquots beside those of patients: none is equal."""
    people = ONE.assign(id=[f"TCGA-{k:03}" for k in range(8)])
    aliquots = TWO.assign(id=people["id"] + "-01A-R29S").iloc[::-1]
    with pytest.raises(DataError, match=r"such as 'TCGA-0.*`id_prefix: 8`"):
        read(tmp_path, {"people": people, "aliquots": aliquots})
    samples = read(tmp_path, {"people": people, "aliquots": aliquots}, id_prefix=8)
    assert samples.ids.tolist() == people["id"].tolist()
    np.testing.assert_array_equal(samples.tables["aliquots"], TWO[["h", "i"]])
    twice = pd.concat([aliquots, aliquots.iloc[:1].assign(id="TCGA-007-11A-R29S")])
    with pytest.raises(
        DataError, match=r"aliquots\.csv: ids of 8 characters \(id_prefix\) must be unique.* 'TCGA-007'"
    ):
        read(tmp_path, {"people": people, "aliquots": twice}, id_prefix=8)


def test_columns_that_are_named_must_be_there(tmp_path: Path) -> None:
    frames = {"one": ONE.assign(leak=LABELS)}
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
    assert sorted(kept.ids) == IDS
    order = [IDS.index(name) for name in kept.ids]
    for name, frame, gone in (("one", ONE[["f", "g"]], [1]), ("two", TWO[["h", "i"]], [4, 5])):
        expected = frame.to_numpy().copy()
        expected[gone] = np.nan
        np.testing.assert_array_equal(kept.tables[name], expected[order])
    assert kept.classes[kept.y].tolist() == [LABELS[number] for number in order]
    [note] = kept.notes
    assert note.startswith("3 of 8 samples lack a table and are at the mean of the training samples there")
    kept.save(tmp_path / "samples.npz")
    loaded = SampleSet.load(tmp_path / "samples.npz")
    np.testing.assert_array_equal(loaded.tables["two"], kept.tables["two"])


def test_the_label_of_a_sample_may_be_in_any_table(tmp_path: Path) -> None:
    frames = {"one": ONE.drop(index=1), "two": TWO.assign(label=[None, "dog", *[None] * 6])}
    kept = read(tmp_path, frames, missing_views="mean")
    assert dict(zip(kept.ids, kept.classes[kept.y], strict=True)) == dict(zip(IDS, LABELS, strict=True))


def test_missing_values(tmp_path: Path) -> None:
    holes = {"one": ONE.assign(f=ONE["f"].drop(2)), "two": TWO}
    with pytest.raises(DataError, match=r"1 values missing .* samples 's2'\. Fill them in, or set impute: mean"):
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
    frame = pd.DataFrame({"id": IDS[:6], "label": list(map(str, labels)), "f": np.linspace(0.1, 0.7, 6)})
    path = tmp_path / f"t{suffix}"
    if suffix == ".npz":
        np.savez(path, id=np.array(IDS[:6]), label=np.array(labels), f=frame[["f"]].to_numpy())
    elif suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    samples = feature_tables({"t": path})
    assert samples.classes.tolist() == (["1", "2"] if 1.0 in labels else ["a", "b"])
    assert samples.ids.tolist() == IDS[:4]
    assert samples.notes[0].startswith("2 samples without a label are left out (missing_labels)")
    if word and "a" in labels:
        assert sorted(feature_tables({"t": path}, missing_labels=[]).classes) == sorted(["a", "b", word.strip()])


def test_words_for_no_number_to_predict(tmp_path: Path) -> None:
    frames = {"one": ONE.assign(label=["0.5", "1.5", "2.5", "NA", "", "unknown", "1", "1e1"])}
    with pytest.raises(DataError, match="values that are no numbers up to 1e\\+60, such as 'unknown'"):
        read(tmp_path, frames, task="numbers")
    samples = read(tmp_path, frames, task="numbers", missing_labels=["NA", "unknown"])
    assert samples.y.tolist() == [0.5, 1.5, 2.5, 1.0, 10.0]
    assert samples.notes[0].startswith("3 samples without a number are left out")


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
    moved, names = kernel[np.ix_(order, order)], np.array(IDS)[order]
    frame = pd.DataFrame(moved, columns=names)
    frame.insert(0, "id", names)
    frame.to_csv(tmp_path / "named.csv", index=False)
    frame.rename(columns={names[0]: f"{names[0]} "}).to_csv(tmp_path / "spaced.csv", index=False)
    frame[["id", *IDS]].to_parquet(tmp_path / "named.parquet")  # columns in another order than rows
    write_npz(tmp_path / "named.npz", K=moved, id=names)
    write_npz(tmp_path / "bare.npz", K=kernel)
    np.save(tmp_path / "bare.npy", kernel)
    np.savetxt(tmp_path / "bare.csv", kernel, delimiter=",")
    np.savetxt(tmp_path / "bare.csv.gz", kernel, delimiter=",")
    for name in [
        "named.csv",
        "spaced.csv",
        "named.parquet",
        "named.npz",
        "bare.npz",
        "bare.npy",
        "bare.csv",
        "bare.csv.gz",
    ]:
        samples = read_one(tmp_path / name, labels)
        np.testing.assert_allclose(samples.matrices["k"], kernel, rtol=1e-12)
        np.testing.assert_array_equal(samples.matrices["k"], samples.matrices["k"].T)
        assert samples.ids.tolist() == IDS
        assert samples.measures == {"k": "kernel"}
    ONE[["id"]].assign(label=[None, *LABELS[1:7], None]).to_csv(labels, index=False)
    samples = read_one(tmp_path / "named.csv", labels)
    assert samples.ids.tolist() == IDS[1:7]
    np.testing.assert_allclose(samples.matrices["k"], kernel[1:7, 1:7])
    assert "2 samples without a label are left out" in samples.notes[-1]


def test_matrix_refusals(tmp_path: Path, labels: Path) -> None:
    kernel = gram()
    distance = kernel.max() - kernel
    np.fill_diagonal(distance, 0)
    write_npz(tmp_path / "k.npz", K=distance)
    assert read_one(tmp_path / "k.npz", labels, "distance").matrices["k"].min() == 0
    with pytest.raises(DataError, match=r"k\.npz: not a kernel: .* is 0; .*measure: distance"):
        read_one(tmp_path / "k.npz", labels)
    single = kernel + np.triu(kernel * 1e-7, 1)  # differences of rounding are averaged
    write_npz(tmp_path / "k.npz", K=single)
    np.testing.assert_allclose(read_one(tmp_path / "k.npz", labels).matrices["k"], (single + single.T) / 2)
    nan, negative, diagonal, skew = distance.copy(), distance.copy(), distance.copy(), distance.copy()
    skew[1, 4] += 0.1
    nan[2, 3] = np.nan
    negative[0, 1] = negative[1, 0] = -0.5
    diagonal[3, 3] = 1
    wrong_ids = np.array([*IDS[:7], "zz"])
    for arrays, message in (
        ({"K": skew}, r"k\.npz: not symmetric: \('s1', 's4'\) is .* but \('s4', 's1'\) is"),
        ({"K": nan}, r"k\.npz: 1 values missing or infinite: columns '3'"),
        ({"K": negative}, r"not a distance: \('s0', 's1'\) is -0.5; expected no negative value"),
        ({"K": diagonal}, r"\('s3', 's3'\) is 1; expected .* 0 on the diagonal"),
        ({"K": distance[:, :5]}, "8 rows and 5 columns; it must be square"),
        ({"K": distance[:5, :5]}, r"5 rows and no ids, but .*labels\.csv has 8"),
        ({"K": distance, "id": wrong_ids}, r"lacks 's7' and has 'zz' that .*labels\.csv lacks"),
        ({"K": distance, "id": np.array(["s0"] * 8)}, "ids must be unique"),
        ({"K": distance, "J": distance}, "one matrix, found 'K', 'J'"),
    ):
        write_npz(tmp_path / "k.npz", **arrays)
        with pytest.raises(DataError, match=message):
            read_one(tmp_path / "k.npz", labels, "distance")
    frame = pd.DataFrame(kernel, columns=[*IDS[:7], "zz"])
    frame.insert(0, "id", IDS)
    frame.to_csv(tmp_path / "k.csv", index=False)
    with pytest.raises(DataError, match=r"lacks 's7' and has 'zz'"):
        read_one(tmp_path / "k.csv", labels)
