"""Selecting and merging classes: draws depend on names only, original classes are groups, mistakes are refused."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklearn.errors import ConfigError
from mklearn.study.data.read import chosen_rows, merged_names, read_dataset
from mklearn.study.data.samples import SampleSet
from mklearn.study.datasets import dataset_spec

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


def test_the_original_class_is_the_group() -> None:
    whole = digits()
    merged = digits(ODD)
    np.testing.assert_array_equal(merged.ids, whole.ids)
    np.testing.assert_array_equal(merged.groups, whole.labels)
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
    ("persons", "groups"), [(None, ["1", "2", "1", "4"]), (["a", "b", "c", "c"], ["a", "b", "a", "a"])]
)
def test_equal_samples_are_one_group(tmp_path: Path, persons: list[str] | None, groups: list[str]) -> None:
    table = pd.DataFrame({"id": ["1", "2", "3", "4"], "label": list("xyxy"), "f": [0.5, 1.5, 0.5, 2.5]})
    table.assign(**{} if persons is None else {"person": persons}).to_csv(tmp_path / "t.csv", index=False)
    given = {"kind": "feature_tables", "tables": {"t": str(tmp_path / "t.csv")}}
    given |= {} if persons is None else {"group_column": "person"}
    plain, grouped = (read_dataset(dataset_spec(given | more)) for more in ({}, {"duplicates": "group"}))
    assert (None if plain.groups is None else plain.groups.tolist()) == persons
    assert grouped.groups.tolist() == groups
    for data in (plain, grouped):
        assert data.notes[0].startswith("1 sample repeats another one in every view ('3' is '1')")
