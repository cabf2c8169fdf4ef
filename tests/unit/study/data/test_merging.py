"""Merged classes: names, samples, groups; in reading, in a study, and in the registry."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mklearn.errors import ConfigError, DataError
from mklearn.study.config.reading import check_study
from mklearn.study.data.read import read_dataset
from mklearn.study.data.registry import dataset_spec
from mklearn.study.data.samples import SampleSet
from mklearn.study.data.selection import merge_classes, merged_names

ODD = {"odd": ["1", "3", "5", "7", "9"], "even": "rest"}


def digits(merge: dict[str, Any] | None = None, **selection: Any) -> SampleSet:
    return read_dataset(dataset_spec({"name": "digits", "merge": merge, **selection}))


def test_the_rest_are_all_classes_that_nobody_names() -> None:
    assert merged_names(["a", "b", "c"], {"x": ["b"], "y": "rest"}) == {"a": "y", "b": "x", "c": "y"}
    assert merged_names(["a", "b", "c"], {"x": ["b"], "y": ["a"]}) == {"a": "y", "b": "x"}


@pytest.mark.parametrize(
    ("merge", "message"),
    [
        ({"x": ["b", "d"], "y": "rest"}, "no class 'd' in the data set; it has 'a', 'b', 'c'"),
        ({"x": ["a", "b", "c"], "y": "rest"}, "no class is left for 'y'"),
    ],
)
def test_merges_that_can_not_be(merge: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        merged_names(["a", "b", "c"], merge)


def test_the_original_class_is_the_group() -> None:
    whole = digits()
    merged = digits(ODD)
    np.testing.assert_array_equal(merged.ids, whole.ids)
    np.testing.assert_array_equal(merged.groups, whole.classes[whole.y])
    np.testing.assert_array_equal(merged.classes[merged.y] == "odd", whole.y % 2 == 1)
    np.testing.assert_array_equal(merged.images, whole.images)


def test_classes_without_a_new_name_are_left_out() -> None:
    whole, merged = digits(), digits({"3": ["3"], "5 or 8": ["5", "8"]})
    np.testing.assert_array_equal(merged.ids, whole.ids[np.isin(whole.y, [3, 5, 8])])
    assert merged.classes.tolist() == ["3", "5 or 8"]


def test_a_selection_is_among_the_new_classes() -> None:
    merged = digits(ODD, per_class=7)
    assert merged.class_counts.tolist() == [7, 7]
    whole = digits()
    first_odd = whole.ids[whole.y % 2 == 1][:7]
    np.testing.assert_array_equal(merged.ids[merged.classes[merged.y] == "odd"], first_odd)
    with pytest.raises(ConfigError, match="no class '3' in the data set"):
        digits(ODD, classes=["3", "odd"])


def test_groups_are_kept_by_files_and_subsets(tmp_path: Path) -> None:
    merged = digits(ODD).subset(np.arange(0, 1797, 5))
    merged.save(tmp_path / "samples.npz")
    held = SampleSet.load(tmp_path / "samples.npz")
    np.testing.assert_array_equal(held.groups, merged.groups)
    np.testing.assert_array_equal(held.groups, digits().classes[digits().y][::5])
    digits().save(tmp_path / "old.npz")
    assert SampleSet.load(tmp_path / "old.npz").groups is None


def test_people_of_the_gender_task(mirror: Path) -> None:
    held = read_dataset(dataset_spec({"name": "olivetti-gender"}), {"f": mirror / "olivetti/olivettifaces.mat"})
    assert held.classes.tolist() == ["men", "women"]
    assert sorted(set(held.groups[held.y == 1]), key=int) == ["8", "10", "32", "35"]
    np.testing.assert_array_equal(np.flatnonzero(held.y) // 10, np.repeat([7, 9, 31, 34], 10))


def mistakes(**config: Any) -> str:
    with pytest.raises(ConfigError) as caught:
        check_study({"study": "s", "datasets": {"digits": config}})
    return str(caught.value)


def test_mistakes_of_a_study() -> None:
    assert "merge names '1' twice" in mistakes(merge={"x": ["1"], "y": ["1", "2"]})
    assert "only one class can be the rest" in mistakes(merge={"x": "rest", "y": "rest"})
    assert "merge" in mistakes(merge={"x": ["1"]})
    gender = mistakes(name="olivetti-gender", merge={"x": ["men"], "y": "rest"})
    assert "the classes of 'olivetti-gender' are merged already; merge those of 'olivetti'" in gender


def tables(folder: Path, groups: list[str] | None, in_labels: list[str] | None = None) -> dict[str, Any]:
    frame = pd.DataFrame({"id": ["1", "2", "3"], "label": ["x", "x", "y"], "f": [1.0, 2.0, 3.0]})
    frame = frame if groups is None else frame.assign(patient=groups)
    frame.to_csv(folder / "t.csv", index=False)
    given = {"kind": "feature_tables", "tables": {"t": str(folder / "t.csv")}, "group_column": "patient"}
    if in_labels is not None:
        labels = pd.DataFrame({"id": ["3", "2", "1"], "label": ["y", "x", "x"], "patient": in_labels})
        labels.to_csv(folder / "labels.csv", index=False)
        given["labels"] = str(folder / "labels.csv")
    return dataset_spec(given)


def test_groups_of_own_tables(tmp_path: Path) -> None:
    held = read_dataset(tables(tmp_path, ["007", "007", "8"]))
    assert held.groups.tolist() == ["007", "007", "8"]
    assert held.tables["t"].shape == (3, 1)
    held = read_dataset(tables(tmp_path, None, ["a", "b", "c"]))
    assert held.groups.tolist() == ["c", "b", "a"]


@pytest.mark.parametrize(
    ("persons", "groups"), [(None, ["1", "2", "1", "4"]), (["a", "b", "c", "c"], ["a", "b", "a", "a"])]
)
def test_equal_samples_are_one_group(tmp_path: Path, persons: list[str] | None, groups: list[str]) -> None:
    """With persons, all of theirs: c has a sample that equals one of a."""
    table = pd.DataFrame({"id": ["1", "2", "3", "4"], "label": list("xyxy"), "f": [0.5, 1.5, 0.5, 2.5]})
    table.assign(**{} if persons is None else {"person": persons}).to_csv(tmp_path / "t.csv", index=False)
    given = {"kind": "feature_tables", "tables": {"t": str(tmp_path / "t.csv")}}
    given |= {} if persons is None else {"group_column": "person"}
    plain, grouped = (read_dataset(dataset_spec(given | more)) for more in ({}, {"duplicates": "group"}))
    assert (None if plain.groups is None else plain.groups.tolist()) == persons
    assert grouped.groups.tolist() == groups
    for data in (plain, grouped):
        assert data.notes[0].startswith("1 sample repeats another one in every view ('3' is '1')")


def test_groups_that_are_missing_or_disagree(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"t\.csv: no column 'patient' of groups"):
        read_dataset(tables(tmp_path, None))
    with pytest.raises(DataError, match="groups disagree"):
        read_dataset(tables(tmp_path, ["a", "a", "a"], ["a", "b", "a"]))
    for missing in "", "NA":
        with pytest.raises(DataError, match="no group is given for samples '2'"):
            read_dataset(tables(tmp_path, ["a", missing, "b"]))


def test_groups_of_own_kernels(tmp_path: Path) -> None:
    labels = pd.DataFrame({"id": ["1", "2"], "label": ["x", "y"], "patient": ["a", "b"]})
    labels.to_csv(tmp_path / "labels.csv", index=False)
    np.savez(tmp_path / "k.npz", k=np.eye(2))
    given = {"kind": "precomputed", "matrices": {"k": str(tmp_path / "k.npz")}, "labels": str(tmp_path / "labels.csv")}
    assert read_dataset(dataset_spec(given | {"group_column": "patient"})).groups.tolist() == ["a", "b"]
    assert read_dataset(dataset_spec(given)).groups is None


def test_merging_keeps_tables_and_matrices() -> None:
    samples = SampleSet.from_labels(
        ["1", "2", "3", "4"], ["a", "b", "c", "d"], tables={"t": np.arange(4.0)[:, None]},
        matrices={"k": np.arange(16.0).reshape(4, 4)}, measures={"k": "kernel"},
    )  # fmt: skip
    merged = merge_classes(samples, {"a": "x", "b": "y", "d": "x"})
    assert merged.tables["t"].ravel().tolist() == [0, 1, 3]
    np.testing.assert_array_equal(merged.matrices["k"], samples.matrices["k"][np.ix_([0, 1, 3], [0, 1, 3])])
    assert merged.y.tolist() == [0, 1, 0]
