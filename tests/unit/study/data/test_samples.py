"""The sample container: validation, subsets, and the round trip to disk."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from mklearn.atomic import read_npz
from mklearn.errors import DataError
from mklearn.study.data.samples import SampleSet, natural_key


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
        ({"labels": np.full(3, 7.0)}, "has one value at most: there is nothing to predict"),
        ({"images": np.zeros((3, 4, 4, 2))}, r"image 'a' has shape \(4, 4, 2\)"),
        ({"images": [np.zeros((4, 4)), np.full((4, 4), np.nan), np.zeros((4, 5))]}, "image 'b' has pixels"),
        (
            {"tables": {"phog": np.array([[1.0], [np.inf], [2.0]])}},
            r"table 'phog': 1 values .* columns '0', samples 'b'",
        ),
        ({"matrices": {"k": np.eye(2)}}, "matrix 'k' has shape"),
        ({"images": None, "tables": {}, "matrices": {}}, "none of them"),
    ],
)
def test_refusals(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(DataError, match=message):
        make(**changes)


RAGGED = [np.ones((2, 3), np.uint8), np.full((4, 1, 3), 7, np.uint8), np.zeros((5, 5), np.uint8)]


@pytest.mark.parametrize("images", [None, RAGGED, [*np.zeros((3, 2, 2, 3), np.float32)]])
def test_round_trip_and_equal_bytes(tmp_path: Path, images: Any) -> None:
    samples = make(images=images, notes=("two strays",))
    samples.save(tmp_path / "a.npz", {"files": []})
    loaded = SampleSet.load(tmp_path / "a.npz")
    for name in ("ids", "labels", "y", "classes", "groups", "notes"):
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
