"""Words that stand for no label: the same in columns of labels, of groups and of features, in every format."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mklearn.errors import DataError
from mklearn.study.data.read import read_dataset
from mklearn.study.data.registry import dataset_spec
from mklearn.study.data.samples import SampleSet
from mklearn.study.data.text_tables import MISSING

IDS = [f"s{number}" for number in range(6)]


def written(folder: Path, labels: list[Any], suffix: str) -> str:
    frame = pd.DataFrame({"id": IDS, "label": labels, "f": np.linspace(0.1, 0.7, 6)})
    path = folder / f"t{suffix}"
    if suffix == ".npz":
        np.savez(path, id=np.array(IDS), label=np.array(labels), f=frame[["f"]].to_numpy())
    elif suffix == ".parquet":
        frame.to_parquet(path)
    else:
        frame.to_csv(path, index=False, sep="\t" if suffix == ".tsv" else ",")
    return str(path)


def read(path: str, **given: Any) -> SampleSet:
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
    samples = read(path)
    assert samples.classes.tolist() == ["a", "b"]
    assert samples.ids.tolist() == IDS[:4]
    [note] = samples.notes
    assert note.startswith("2 samples without a label are left out")
    assert f"{word.strip()!r} in place of a label means none; `missing_labels: []` makes it a class" in note
    assert sorted(read(path, missing_labels=[]).classes) == sorted(["a", "b", word.strip()])


def test_words_of_the_users_own_replace_the_usual_ones(tmp_path: Path) -> None:
    path = written(tmp_path, ["a", "b", "a", "b", "unknown", "NA"], ".csv")
    samples = read(path, missing_labels=["unknown", "-"])
    assert samples.classes.tolist() == ["NA", "a", "b"]
    assert "'unknown' in place of a label" in samples.notes[0]


def test_numbers_to_predict_have_the_same_rule(tmp_path: Path) -> None:
    path = written(tmp_path, ["0.5", "1.5", "2.5", "NA", "", "unknown"], ".csv")
    given = {"target": "label", "task": "numbers"}
    with pytest.raises(DataError, match="values that are not numbers, such as 'unknown'"):
        read(path, **given)
    samples = read(path, **given, missing_labels=["NA", "unknown"])
    assert samples.y.tolist() == [0.5, 1.5, 2.5]
    assert samples.notes[0].startswith("3 samples without a number are left out")
