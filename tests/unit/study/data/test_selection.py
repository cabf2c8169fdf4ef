"""Selecting classes and samples: draws depend on names only; invalid selections are refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklearn.errors import ConfigError
from mklearn.study.config.reading import check_study
from mklearn.study.data.registry import dataset_spec, entry, selection_mistakes
from mklearn.study.data.selection import chosen_rows
from mklearn.study.plan.plan import plan_study

NAMES = np.array(["ant", "bass", "crab", "emu"])
SIZES = (9, 12, 31, 7)
Y = np.repeat(np.arange(4), SIZES)[np.random.default_rng(0).permutation(sum(SIZES))]


def of_class(rows: np.ndarray, name: str, y: np.ndarray = Y, names: np.ndarray = NAMES) -> list[int]:
    """List the numbers within the class of the selected samples."""
    within = np.nonzero(y == names.tolist().index(name))[0]
    return np.nonzero(np.isin(within, rows))[0].tolist()


@settings(max_examples=80)
@given(
    st.integers(2, 7),
    st.integers(0, 5),
    st.permutations(NAMES.tolist()),
    st.integers(2, 4),
    st.sampled_from(["caltech101", "orl"]),
)
def test_a_draw_of_a_class_depends_on_its_name_only(
    per_class: int, draw: int, order: list[str], n_classes: int, dataset: str
) -> None:
    arguments: dict[str, Any] = {"per_class": per_class, "draw": draw, "dataset": dataset}
    everything = chosen_rows(Y, NAMES, **arguments)
    assert (np.diff(everything) > 0).all()
    assert np.bincount(Y[everything]).tolist() == [per_class] * 4
    named = chosen_rows(Y, NAMES, classes=order[:n_classes], **arguments)
    left = chosen_rows(Y, NAMES, exclude_classes=order[n_classes:], **arguments)
    np.testing.assert_array_equal(named, left)
    np.testing.assert_array_equal(named, everything[np.isin(NAMES[Y[everything]], order[:n_classes])])
    first = chosen_rows(Y, NAMES, first_classes=n_classes, **arguments)
    np.testing.assert_array_equal(first, everything[Y[everything] < n_classes])
    # the same samples in a data set with other classes, in another place and under another code
    renamed = np.array(["aardvark", *NAMES])
    moved = np.concatenate([np.zeros(5, int), Y + 1])
    wider = chosen_rows(moved, renamed, exclude_classes=["aardvark"], **arguments)
    np.testing.assert_array_equal(wider - 5, everything)
    # a smaller draw is part of a larger one
    smaller = chosen_rows(Y, NAMES, **{**arguments, "per_class": max(2, per_class - 2)})
    assert set(smaller) <= set(everything)


def test_draws_are_pinned() -> None:
    """Published results depend on the draws: no version may change them, nor may Python's random hash seed."""
    y, names = np.repeat([0, 1], [55, 31]), np.array(["accordion", "inline_skate"])
    drawn = [chosen_rows(y, names, per_class=5, draw=draw, dataset="caltech101") for draw in (0, 1)]
    assert [of_class(rows, "accordion", y, names) for rows in drawn] == [[15, 30, 43, 46, 47], [2, 9, 32, 41, 47]]
    assert [of_class(rows, "inline_skate", y, names) for rows in drawn] == [[6, 18, 19, 20, 24], [3, 4, 16, 25, 28]]


def test_draws_are_uniform_and_different() -> None:
    n, k, draws = 10, 3, 600
    y, names = np.repeat([0, 1], n), np.array(["a", "b"])
    counts = np.zeros((2, n))
    together = 0
    for draw in range(draws):
        rows = chosen_rows(y, names, per_class=k, draw=draw, dataset="x")
        chosen = [of_class(rows, name, y, names) for name in "ab"]
        together += chosen[0] == chosen[1]
        for code, numbers in enumerate(chosen):
            counts[code, numbers] += 1
    deviation = (counts - draws * k / n) / np.sqrt(draws * k / n * (1 - k / n))
    assert np.abs(deviation).max() < 4.5
    assert together < 20  # of 600; one chance in 120 each, were the classes' draws independent
    other = [chosen_rows(y, names, per_class=k, draw=draw, dataset="z").tolist() for draw in range(20)]
    assert other != [chosen_rows(y, names, per_class=k, draw=draw, dataset="x").tolist() for draw in range(20)]


def test_without_a_draw_the_first_samples() -> None:
    rows = chosen_rows(Y, NAMES, per_class=8)
    assert [of_class(rows, name) for name in NAMES] == [list(range(8))] * 3 + [list(range(7))]  # emu is kept whole
    np.testing.assert_array_equal(chosen_rows(Y, NAMES), np.arange(len(Y)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (
            {"classes": ["bas", "x"], "exclude_classes": ["cat"]},
            r"classes: no class 'bas', 'x' .* mean 'bass'\? exclude_classes: no class 'cat'.* It has 'ant', 'bass'",
        ),
        (
            {"per_class": 10, "draw": 0},
            r"10 samples can't be drawn of 'ant' \(9\), 'emu' \(7\); lower per_class or put",
        ),
        ({"draw": 0}, "needs per_class"),
        ({"exclude_classes": ["emu"], "first_classes": 4}, "4 requested, but only 3 of 4 classes remain"),
        ({"exclude_classes": ["emu", "crab", "ant"]}, "at least two classes are needed, .* leave 1"),
    ],
)
def test_invalid_selections(arguments: dict[str, Any], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        chosen_rows(Y, NAMES, **arguments)


def test_selection_mistakes_known_before_reading() -> None:
    known = entry("caltech101")
    asked = {"draw": 0, "per_class": 32}
    short = ("per_class", "32 can't be drawn: the smallest class has 31 samples.")
    assert selection_mistakes(known, asked) == [short]
    too_many = {"exclude_classes": ["BACKGROUND_Google"], "first_classes": 102}
    assert selection_mistakes(known, too_many) == [("first_classes", "102 requested, but there are only 101.")]
    for valid in (
        {**asked, "per_class": 31},
        {**asked, "classes": ["airplanes", "Motorbikes"], "per_class": 700},
        {**asked, "exclude_classes": ["inline_skate"]},
        {"per_class": 500},
    ):
        assert selection_mistakes(known, valid) == []
    assert selection_mistakes(entry("digits"), {"draw": 1, "per_class": 150}) == []


def test_every_selection_has_its_own_key() -> None:
    choices: list[dict[str, Any]] = [
        {},
        {"per_class": 30},
        {"per_class": 30, "draw": 0},
        {"per_class": 30, "draw": 1},
        {"per_class": 15, "draw": 1},
        {"per_class": 30, "draw": 0, "exclude_classes": ["BACKGROUND_Google"]},
        {"per_class": 30, "draw": 0, "first_classes": 10},
        {"per_class": 30, "draw": 0, "classes": ["ant", "emu"]},
        {"per_class": 30, "draw": 0, "resize": {"pixels": 60000}},
        {"per_class": 30, "draw": 0, "resize": {"pixels": 50000}},
    ]
    datasets = {f"d{k}": {"name": "caltech101", **c} for k, c in enumerate(choices)}
    study = {"study": "s", "datasets": datasets, "descriptors": {"lbp": {"kind": "lbp"}}}
    plan = plan_study(check_study(study))
    assert len({key.rpartition("-")[2] for key in plan.datasets}) == len(choices)
    for choice, planned in zip(choices, plan.datasets.values(), strict=True):
        chosen = {key: value for key, value in choice.items() if key != "resize"}
        read, resize = planned.read.as_dict(), planned.resize.as_dict() if planned.resize else None
        assert {key: read[key] for key in chosen} == chosen
        assert set(read) == {"registered", "reader", "options", "expected", "dataset", *chosen}
        assert resize == ({"interpolation": "area", **choice["resize"]} if "resize" in choice else None)
    bare = dataset_spec({"kind": "registered", "name": "orl", "draw": None, "exclude_classes": None})
    assert bare == entry("orl").spec()  # keys of studies that choose nothing stay as they were
