"""Own data with gaps: samples that lack a table or a label, and values that are missing."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mklearn.errors import DataError
from mklearn.study.data.read import read_dataset
from mklearn.study.data.readers import feature_tables, precomputed
from mklearn.study.data.registry import dataset_spec
from mklearn.study.data.samples import SampleSet
from mklearn.study.data.text_tables import MISSING

RNG = np.random.default_rng(0)
IDS = [f"s{number}" for number in range(8)]
LABELS = ["cat", "dog"] * 4
ONE = pd.DataFrame({"id": IDS, "label": LABELS, "f": RNG.random(8), "g": RNG.random(8)})
TWO = pd.DataFrame({"id": IDS, "h": RNG.random(8), "i": RNG.random(8)})
Frames = dict[str, pd.DataFrame]


def read(tmp_path: Path, frames: Frames, **options: Any) -> SampleSet:
    paths = {}
    for name, frame in frames.items():
        paths[name] = tmp_path / f"{name}.csv"
        frame.to_csv(paths[name], index=False)
    return feature_tables.read(paths, **options)


GAPS = {
    "absent rows": {"one": ONE.drop(index=1), "two": TWO.drop(index=[4, 5])},
    "empty rows": {"one": ONE.drop(index=1), "two": TWO.assign(h=TWO["h"].drop([4, 5]), i=TWO["i"].drop([4, 5]))},
}


@pytest.mark.parametrize("gaps", GAPS)
def test_samples_that_lack_a_table(tmp_path: Path, gaps: str) -> None:
    frames = GAPS[gaps]
    with pytest.raises(DataError, match=r"3 of 8 samples lack a table.* missing_views: drop .* or mean"):
        read(tmp_path, frames)
    dropped = read(tmp_path, frames, missing_views="drop")
    assert dropped.ids.tolist() == ["s0", "s2", "s3", "s6", "s7"]
    np.testing.assert_array_equal(dropped.tables["two"], TWO.iloc[[0, 2, 3, 6, 7], 1:])
    assert dropped.incomplete == ()
    assert dropped.notes == (
        "3 of 8 samples lack a table and are left out (missing_views: drop). one: 's1'; two: 's4', 's5'",
        "1 sample without a label is left out; a final model labels them: mklearn predict",  # s1: it was in table one
    )
    labels = tmp_path / "labels.csv"  # s1 has no label in a table
    ONE[["id", "label"]].to_csv(labels, index=False)
    frames = {**frames, "one": frames["one"].drop(columns="label")}
    for name, frame in frames.items():
        frame.to_csv(tmp_path / f"{name}.csv", index=False)
    paths = {name: tmp_path / f"{name}.csv" for name in ("one", "two", "labels")}
    kept = feature_tables.read(paths, labels="labels", missing_views="mean")
    assert sorted(kept.ids) == IDS
    assert kept.incomplete == ("one", "two")
    order = [IDS.index(name) for name in kept.ids]
    for name, frame, gone in (("one", ONE[["f", "g"]], ["s1"]), ("two", TWO[["h", "i"]], ["s4", "s5"])):
        expected = frame.to_numpy().copy()
        expected[[IDS.index(each) for each in gone]] = np.nan
        np.testing.assert_array_equal(kept.tables[name], expected[order])
    assert kept.classes[kept.y].tolist() == [LABELS[number] for number in order]
    [note] = kept.notes
    assert note.startswith("3 of 8 samples lack a table and are at the mean of the training samples there")
    again = tmp_path / "samples.npz"
    kept.save(again)
    loaded = SampleSet.load(again)
    assert loaded.incomplete == kept.incomplete
    np.testing.assert_array_equal(loaded.tables["two"], kept.tables["two"])


def test_the_label_of_a_sample_may_be_in_any_table(tmp_path: Path) -> None:
    frames = {"one": ONE.drop(index=1), "two": TWO.assign(label=[None, "dog", *[None] * 6])}
    kept = read(tmp_path, frames, missing_views="mean")
    assert dict(zip(kept.ids, kept.classes[kept.y], strict=True)) == dict(zip(IDS, LABELS, strict=True))
    frames["two"]["label"] = ["dog", "dog", *[None] * 6]
    with pytest.raises(DataError, match=r"two\.csv: labels disagree with .*one\.csv for 's0'; 's0' is 'dog' here and"):
        read(tmp_path, frames, missing_views="mean")


def test_tables_that_share_no_sample(tmp_path: Path) -> None:
    for mode in ("drop", "mean"):
        with pytest.raises(DataError, match=r"none of its ids 's0', .* is in another table"):
            read(tmp_path, {"one": ONE, "two": TWO.assign(id=[f"x{name}" for name in IDS])}, missing_views=mode)


@pytest.mark.parametrize("labels", [["cat", None, "dog", *LABELS[3:]], [1.0, np.nan, 2.0, *[1, 2] * 2, 1]])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "npz", "tsv"])
def test_samples_without_a_label_are_left_out(tmp_path: Path, labels: list[Any], suffix: str) -> None:
    path = tmp_path / f"one.{suffix}"
    frame = ONE.assign(label=labels)
    if suffix == "npz":
        text = [label or "" for label in labels] if isinstance(labels[0], str) else labels
        np.savez(path, id=np.array(IDS), label=np.array(text), X=ONE[["f", "g"]])
    elif suffix == "parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == "tsv" else ",")
    samples = feature_tables.read({"one": path})
    assert samples.ids.tolist() == [name for name in IDS if name != "s1"]
    assert samples.classes.tolist() == (["cat", "dog"] if labels[0] == "cat" else ["1", "2"])
    np.testing.assert_array_equal(samples.tables["one"], ONE[["f", "g"]].drop(index=1))
    assert samples.notes == ("1 sample without a label is left out; a final model labels them: mklearn predict",)


def test_matrices_of_samples_without_a_label(tmp_path: Path) -> None:
    kernel = np.eye(8) + 1
    np.savez(tmp_path / "k.npz", K=kernel * np.arange(1, 9)[:, None] * np.arange(1, 9))
    frame = ONE[["id", "label"]].assign(label=[None, *LABELS[1:7], None])
    frame.to_csv(tmp_path / "labels.csv", index=False)
    paths = {"k": tmp_path / "k.npz", "L": tmp_path / "labels.csv"}
    samples = precomputed.read(paths, labels="L")
    assert samples.ids.tolist() == IDS[1:7]
    assert samples.matrices["k"][0, 0] == 8
    assert "2 samples without a label are left out" in samples.notes[-1]
    frame.assign(label=None).to_csv(tmp_path / "labels.csv", index=False)
    with pytest.raises(DataError, match=r"labels\.csv: no sample has a label"):
        precomputed.read(paths, labels="L")


def test_numbers_with_fractions_are_no_labels(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"'label' has numbers with fractions, such as 2\.5 \(2 different") as caught:
        read(tmp_path, {"one": ONE.assign(label=[1.0, 2.5] * 4)})
    assert "write the classes as whole numbers or as text" in str(caught.value)
    assert "set `target: label` in place of `label_column`" in str(caught.value)


def test_missing_values(tmp_path: Path) -> None:
    holes = {"one": ONE.assign(f=ONE["f"].drop(2)), "two": TWO}
    with pytest.raises(DataError, match=r"1 values missing .* samples 's2'\. Fill them in, or set impute: mean"):
        read(tmp_path, holes)
    samples = read(tmp_path, holes, impute="median")
    assert np.isnan(samples.tables["one"]).sum() == 1
    assert samples.incomplete == ("one",)
    assert samples.notes == (
        "missing values are filled in by the median over the training samples (impute: median): one 1",
    )
    with pytest.raises(DataError, match="missing or infinite"):
        read(tmp_path, {"one": ONE.assign(f=np.inf)}, impute="mean")


# --- words that stand for no label, as they stand for no number in columns of features


def written(tmp_path: Path, labels: list[Any], suffix: str) -> str:
    frame = pd.DataFrame({"id": IDS[:6], "label": labels, "f": np.linspace(0.1, 0.7, 6)})
    path = tmp_path / f"t{suffix}"
    if suffix == ".npz":
        np.savez(path, id=np.array(IDS[:6]), label=np.array(labels), f=frame[["f"]].to_numpy())
    elif suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    return str(path)


def read_spec(path: str, **given: Any) -> SampleSet:
    return read_dataset(dataset_spec({"kind": "feature_tables", "tables": {"t": path}, **given}))


@pytest.mark.parametrize(
    ("word", "suffix"),
    [
        *((word, ".csv") for word in (*MISSING, " NA ")),
        *(("NA", suffix) for suffix in (".tsv", ".csv.gz", ".parquet", ".npz")),
    ],
)
def test_a_word_for_a_missing_value_is_no_class(tmp_path: Path, word: str, suffix: str) -> None:
    path = written(tmp_path, ["a", "b", "a", "b", word, word], suffix)
    samples = read_spec(path)
    assert samples.classes.tolist() == ["a", "b"]
    assert samples.ids.tolist() == IDS[:4]
    [note] = samples.notes
    assert note.startswith("2 samples without a label are left out")
    assert f"{word.strip()!r} in place of a label means none; `missing_labels: []` makes it a class" in note
    assert sorted(read_spec(path, missing_labels=[]).classes) == sorted(["a", "b", word.strip()])


def test_words_of_the_users_own_replace_the_usual_ones(tmp_path: Path) -> None:
    path = written(tmp_path, ["a", "b", "a", "b", "unknown", "NA"], ".csv")
    samples = read_spec(path, missing_labels=["unknown", "-"])
    assert samples.classes.tolist() == ["NA", "a", "b"]
    assert "'unknown' in place of a label" in samples.notes[0]


def test_numbers_to_predict_have_the_same_rule(tmp_path: Path) -> None:
    path = written(tmp_path, ["0.5", "1.5", "2.5", "NA", "", "unknown"], ".csv")
    given = {"target": "label", "task": "numbers"}
    with pytest.raises(DataError, match="values that are not numbers, such as 'unknown'"):
        read_spec(path, **given)
    samples = read_spec(path, **given, missing_labels=["NA", "unknown"])
    assert samples.y.tolist() == [0.5, 1.5, 2.5]
    assert samples.notes[0].startswith("3 samples without a number are left out")
