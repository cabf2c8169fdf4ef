"""Samples: validation, subsets and files; selected and merged classes, draws by names, and groups."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklearn.atomic import read_npz
from mklearn.errors import ConfigError, DataError
from mklearn.study.data.read import chosen_rows, merged_names, read_dataset
from mklearn.study.data.samples import SampleSet, natural_key
from mklearn.study.datasets import dataset_spec


def make(**changes: Any) -> SampleSet:
    rng = np.random.default_rng(0)
    fields: dict[str, Any] = {
        "ids": np.array(["a", "b", "c"]),
        "labels": np.array(["cat", "dog", "cat"]),
        "images": rng.integers(0, 256, (3, 4, 5), dtype=np.uint8),
        "tables": {"phog": rng.random((3, 2))},
        "matrices": {"k": np.eye(3)},
        "groups": np.array(["p", "p", "q"]),
    }
    return SampleSet(**{**fields, **changes})


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"ids": np.array(["a", "b", "a"])}, "sample ids must be unique; more than once: 'a'"),
        ({"labels": np.array(["cat", "dog"])}, r"labels: expected one value for each of 3 ids, got the shape \(2,\)"),
        ({"labels": np.array(["cat"] * 3)}, "at least two classes are needed, found 1: 'cat'"),
        ({"labels": np.array(["cat", "dog\0x", "cat"])}, "has a NUL character"),
        ({"labels": np.array([1.0, np.nan, 2.0])}, "not a finite number for samples 'b'"),
        ({"labels": np.full(3, 7.0)}, "has at most one value: there is nothing to predict"),
        ({"labels": np.array([7.0, -7.0, 7.0]), "survival": True}, "of 3 samples has at most one value: there is noth"),
        ({"labels": np.array([7.0, -0.0, 3.0]), "survival": True}, "survival times of 0 for samples 'b'; expected tim"),
        ({"labels": np.array([7.0, -2.0, -3.0]), "survival": True}, "1 of 3 survival times ended with an event; expec"),
        ({"images": np.zeros((3, 4, 4, 2))}, r"image 'a' has shape \(4, 4, 2\)"),
        ({"images": [np.zeros((4, 4)), np.full((4, 4), np.nan), np.zeros((4, 5))]}, "image 'b' has pixels"),
        ({"tables": {"phog": np.array([[1.0], [np.inf], [2.0]])}}, "'phog': 1 value missing .* '0', samples 'b'"),
        ({"tables": {"phog": np.ones((2, 3))}}, r"table 'phog' has shape \(2, 3\); expected \(3, number"),
        ({"tables": {"phog": np.ones((3, 0))}}, r"table 'phog' has shape \(3, 0\)"),
        ({"matrices": {"k": np.eye(2)}}, "matrix 'k' has shape"),
        ({"images": None, "tables": {}, "matrices": {}}, "none of them"),
    ],
)
def test_refusals(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        make(**changes)


RAGGED = [np.ones((2, 3), np.uint8), np.full((4, 1, 3), 7, np.uint8), np.zeros((5, 5), np.uint8)]


@pytest.mark.parametrize("target", [{}, {"labels": [7.0, -2.0, 3.0]}, {"labels": [7.0, -2.0, 3.0], "survival": True}])
@pytest.mark.parametrize("images", [None, RAGGED, [*np.zeros((3, 2, 2, 3), np.float32)]])
def test_round_trip_and_equal_bytes(tmp_path: Path, images: Any, target: dict[str, Any]) -> None:
    samples = make(images=images, notes=("two strays",), **target)
    samples.save(tmp_path / "a.npz", {"files": []})
    loaded = SampleSet.load(tmp_path / "a.npz")
    for name in ("ids", "labels", "y", "classes", "groups", "notes", "target"):
        np.testing.assert_array_equal(getattr(loaded, name), getattr(samples, name))
    for left, right in zip([] if images is None else loaded.images, images or [], strict=True):
        np.testing.assert_array_equal(left, right, strict=True)
    np.testing.assert_array_equal(loaded.tables["phog"], samples.tables["phog"])
    assert json.loads(str(read_npz(tmp_path / "a.npz")["provenance"])) == {"files": []}
    SampleSet.load(tmp_path / "a.npz").save(tmp_path / "b.npz", {"files": []})
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    np.savez(tmp_path / "foreign.npz", x=np.eye(2))
    with pytest.raises(DataError, match=r"foreign\.npz: not a data set of mklearn: it lacks ids"):
        SampleSet.load(tmp_path / "foreign.npz")


@pytest.mark.parametrize("images", [None, RAGGED, np.arange(60).reshape(3, 4, 5)])
def test_subsets(images: Any) -> None:
    samples = make(images=images, notes=("x",), matrices={"k": np.diag([1.0, 2, 3])})
    part = samples.subset([2, 1])
    assert part.ids.tolist() == ["c", "b"]
    assert part.labels.tolist() == ["cat", "dog"]
    assert part.groups is not None
    assert part.groups.tolist() == ["q", "p"]
    assert np.diag(part.matrices["k"]).tolist() == [3, 2]
    np.testing.assert_array_equal(part.tables["phog"], samples.tables["phog"][[2, 1]])
    assert part.notes == ("x",)
    if samples.images is None:
        assert part.images is None
    else:
        assert part.images is not None
        for row, image in zip([2, 1], part.images, strict=True):
            np.testing.assert_array_equal(image, samples.images[row])
    with pytest.raises(DataError, match="at least two classes"):
        samples.subset([0, 2])
    with pytest.raises(DataError, match="more than once: 'b'"):
        samples.subset([0, 1, 1])


@pytest.mark.parametrize("kind", ["images", "images of several sizes", "tables", "matrices"])
def test_samples_that_equal_another_one(kind: str) -> None:
    values = np.array([[1.0, 0.0], [2.0, np.nan], [1.0, -0.0], [2.0, np.nan], [1.0, 0.0], [3.0, 0.0]])
    one = {"tables": {"one": values, "two": np.array([[0.0]] * 4 + [[1.0]] * 2)}}
    images = np.arange(12).reshape(6, 2, 1)[[0, 1, 0, 1, 4, 5]]
    square = np.array([[1.0, 0.2, 1.0, 0.2, 0.3, 0.1], [0.2, 1.0, 0.2, 1.0, 0.5, 0.6]])
    kernel = np.vstack([square, square, [0.3, 0.5, 0.3, 0.5, 1.0, 0.7], [0.1, 0.6, 0.1, 0.6, 0.7, 1.0]])
    content: dict[str, Any] = {
        "tables": one,
        "images": {"images": images.astype(np.uint8)},
        "images of several sizes": {"images": [*images[:4], images[4].T, images[5]]},
        "matrices": {"matrices": {"k": kernel}},
    }[kind]
    data = SampleSet(list("abcdef"), list("xyxyxy"), **content)
    assert data.first_equal().tolist() == [0, 1, 0, 1, 4, 5]


@settings(max_examples=50)
@given(st.lists(st.text(alphabet="ab019 -", min_size=1, max_size=6), min_size=1, max_size=20))
def test_encoded_labels_in_natural_order(labels: list[str]) -> None:
    labels = ["z", *labels]
    samples = SampleSet([str(row) for row in range(len(labels))], labels, tables={"t": np.ones((len(labels), 1))})
    assert samples.classes[samples.y].tolist() == labels
    assert sorted(set(labels), key=natural_key) == samples.classes.tolist()


# --- selected and merged classes

NAMES = np.array(["ant", "bass", "crab", "emu"])
SIZES = (9, 12, 31, 7)
Y = np.repeat(np.arange(4), SIZES)[np.random.default_rng(0).permutation(sum(SIZES))]


def of_class(rows: np.ndarray, name: str, y: np.ndarray = Y, names: np.ndarray = NAMES) -> list[int]:
    """List the numbers within the class of the selected samples."""
    within = np.nonzero(y == names.tolist().index(name))[0]
    return np.nonzero(np.isin(within, rows))[0].tolist()


@settings(max_examples=80)
@given(st.integers(2, 7), st.integers(0, 5), st.permutations(NAMES.tolist()), st.integers(2, 4), st.just("orl"))
def test_draws_of_single_classes(per_class: int, draw: int, order: list[str], n_classes: int, dataset: str) -> None:
    arguments: dict[str, Any] = {"per_class": per_class, "draw": draw, "dataset": dataset}
    everything = chosen_rows(NAMES[Y], **arguments)
    assert (np.diff(everything) > 0).all()
    assert np.bincount(Y[everything]).tolist() == [per_class] * 4
    named = chosen_rows(NAMES[Y], classes=order[:n_classes], **arguments)
    left = chosen_rows(NAMES[Y], exclude_classes=order[n_classes:], **arguments)
    np.testing.assert_array_equal(named, left)
    np.testing.assert_array_equal(named, everything[np.isin(NAMES[Y[everything]], order[:n_classes])])
    first = chosen_rows(NAMES[Y], first_classes=n_classes, **arguments)
    np.testing.assert_array_equal(first, everything[Y[everything] < n_classes])
    # the same samples in a data set with other classes, in another place and under another code
    renamed = np.array(["aardvark", *NAMES])
    moved = np.concatenate([np.zeros(5, int), Y + 1])
    wider = chosen_rows(renamed[moved], exclude_classes=["aardvark"], **arguments)
    np.testing.assert_array_equal(wider - 5, everything)
    # a smaller draw is part of a larger one
    smaller = chosen_rows(NAMES[Y], **{**arguments, "per_class": max(2, per_class - 2)})
    assert set(smaller) <= set(everything)


def test_draws_are_pinned() -> None:
    """Published results depend on the draws: no version may change them, nor may Python's random hash seed."""
    y, names = np.repeat([0, 1], [55, 31]), np.array(["accordion", "inline_skate"])
    drawn = [chosen_rows(names[y], per_class=5, draw=draw, dataset="caltech101") for draw in (0, 1)]
    assert [of_class(rows, "accordion", y, names) for rows in drawn] == [[15, 30, 43, 46, 47], [2, 9, 32, 41, 47]]
    assert [of_class(rows, "inline_skate", y, names) for rows in drawn] == [[6, 18, 19, 20, 24], [3, 4, 16, 25, 28]]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"classes": ["bas", "x"], "exclude_classes": ["cat"]}, r"classes: no class 'bas', 'x' .* mean 'bass'\?"),
        ({"per_class": 10, "draw": 0}, r"10 samples can't be drawn of 'ant' \(9\), 'emu' \(7\); lower per_class"),
        ({"exclude_classes": ["emu"], "first_classes": 4}, "3 of 4 classes remain; expected at least 4"),
        ({"exclude_classes": ["emu", "crab", "ant"]}, "1 of 4 classes remain; expected at least 2"),
    ],
)
def test_invalid_selections(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        chosen_rows(NAMES[Y], **arguments)


# --- merged classes, and groups

ODD = {"odd": ["1", "3", "5", "7", "9"], "even": "rest"}


def digits(merge: dict[str, Any] | None = None, **selection: Any) -> SampleSet:
    return read_dataset(dataset_spec({"name": "digits", "merge": merge, **selection}))


def test_the_original_class_is_the_group_if_asked() -> None:
    whole = digits()
    merged = digits(ODD, class_groups=True)
    np.testing.assert_array_equal(merged.ids, whole.ids)
    np.testing.assert_array_equal(merged.groups, whole.labels)
    assert digits(ODD).groups is None
    np.testing.assert_array_equal(merged.labels == "odd", whole.y % 2 == 1)
    np.testing.assert_array_equal(merged.images, whole.images)


def test_a_selection_is_among_the_new_classes() -> None:
    merged = digits(ODD, per_class=7)
    assert np.bincount(merged.y).tolist() == [7, 7]
    whole = digits()
    first_odd = whole.ids[whole.y % 2 == 1][:7]
    np.testing.assert_array_equal(merged.ids[merged.labels == "odd"], first_odd)
    with pytest.raises(ConfigError, match="no class '3' in the data set"):
        digits(ODD, classes=["3", "odd"])
    with pytest.raises(ConfigError, match=r"merge: no class 'd' in the data set.* It has 'a', 'b', 'c'"):
        merged_names(np.array(["a", "b", "c"]), {"x": ["b", "d"], "y": "rest"})
    with pytest.raises(ConfigError, match="no class is left for 'y'"):
        merged_names(np.array(["a", "b", "c"]), {"x": ["a", "b", "c"], "y": "rest"})


@pytest.mark.parametrize(
    ("ids", "options", "noted"),
    [
        (["S{}_a", "S{}_b", "S{}_rep1", "S{}"], {}, True),
        (["S{}_a", "S{}_b", "S{}_rep1", "S{}"], {"group_column": "group"}, False),
        (["S{}_a", "S{}", "S{}:1", "S{}:2"], {}, False),
        (["TCGA-A{}-A0SB", "TCGA-A{}-A1KQ", "TCGA-A{}-2615", "TCGA-A{}-A7DX"], {}, False),
        (["S{}_a", "S{}_b", "S{}_c", "S{}_d"], {"label_column": "group"}, False),
        (["S{}_a", "S{}_b", "S{}_c", "S{}_d"], {"label_column": "number"}, False),
    ],
)
def test_replicates(tmp_path: Path, ids: list[str], options: dict[str, Any], noted: bool) -> None:
    """Five sets of samples in two classes; a stem that is a class, or has two labels, is none of replicates."""
    rows = [{"id": name.format(k), "label": "ab"[k % 2], "group": k, "number": n % 2, "f": 4 * k + n}
            for k in range(5) for n, name in enumerate(ids)]  # fmt: skip
    pd.DataFrame(rows).to_csv(tmp_path / "t.csv", index=False)
    columns = {"label", "group", "number"} - {options.get("label_column", "label"), options.get("group_column")}
    entry = {"kind": "feature_tables", "tables": {"t": str(tmp_path / "t.csv")}, "leave_out": sorted(columns)}
    notes = [note for note in read_dataset(dataset_spec(entry | options)).notes if "look like replicates" in note]
    assert notes == ["15 samples look like replicates of 5 (S0_a, S0_b): give a group_column, so that splits hold them "
                     "out together"] * noted  # fmt: skip


@pytest.mark.parametrize(
    ("persons", "groups"), [(None, ["1", "2", "1", "4"]), (["a", "b", "c", "c"], ["a", "b", "a", "a"])]
)
def test_equal_samples_are_one_group(tmp_path: Path, persons: list[str] | None, groups: list[str]) -> None:
    table = pd.DataFrame({"id": ["1", "2", "3", "4"], "label": list("xyxy"), "f": [0.5, 1.5, 0.5, 2.5]})
    table.assign(**{} if persons is None else {"person": persons}).to_csv(tmp_path / "t.csv", index=False)
    entry = {"kind": "feature_tables", "tables": {"t": str(tmp_path / "t.csv")}}
    entry |= {} if persons is None else {"group_column": "person"}
    plain, grouped = (read_dataset(dataset_spec(entry | more)) for more in ({}, {"duplicates": "group"}))
    assert (None if plain.groups is None else plain.groups.tolist()) == persons
    assert grouped.groups.tolist() == groups
    for data in (plain, grouped):
        assert data.notes[0].startswith("samples that repeat another one in every view: 1, such as '3 is 1'. `dup")
    table.assign(label=list("xyyx")).to_csv(tmp_path / "t.csv", index=False)
    [note] = read_dataset(dataset_spec({"kind": "feature_tables", "tables": {"t": str(tmp_path / "t.csv")}})).notes
    assert "'3 is 1'; 1 with another label: one of the two is wrong. `duplicates: group` makes" in note
