"""Splits: sizes, seeds, files, and refused input."""

from __future__ import annotations

import random
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given as hypothesis_given
from hypothesis import settings
from hypothesis import strategies as st

from mklearn.atomic import read_parquet, write_parquet
from mklearn.errors import DataError, NotApplicable
from mklearn.study.data.splits import Split, Splits, given, k_fold, random_per_class

LABELS = st.lists(st.integers(4, 12), min_size=2, max_size=5).map(lambda sizes: np.repeat(np.arange(len(sizes)), sizes))


@settings(max_examples=40)
@hypothesis_given(LABELS, st.integers(1, 3), st.integers(0, 5), st.randoms())
def test_random_per_class(y: np.ndarray, train_size: int, seed: int, shuffler: random.Random) -> None:
    y = np.array(shuffler.sample(y.tolist(), len(y)))
    splits = random_per_class(y, train_size, 3, seed, "x")
    assert [(split.repeat, split.fold) for split in splits] == [(0, 0), (1, 0), (2, 0)]
    for split in splits:
        assert (np.bincount(y[split.train]) == train_size).all()
        assert sorted([*split.train, *split.test]) == list(range(len(y)))
    again = random_per_class(y, train_size, 5, seed, "x")
    for left, right in zip(splits, again, strict=False):  # more repeats keep the first
        np.testing.assert_array_equal(left.train, right.train)


@settings(max_examples=40)
@hypothesis_given(LABELS, st.integers(2, 4))
def test_k_fold(y: np.ndarray, folds: int) -> None:
    splits = k_fold(y, folds, 2, 0, "x")
    assert len(splits) == 2 * folds
    for repeat in range(2):
        tests = [split.test for split in splits if split.repeat == repeat]
        assert sorted(np.concatenate(tests).tolist()) == list(range(len(y)))
        sizes = [len(test) for test in tests]
        assert max(sizes) - min(sizes) <= 1
        counts = np.array([np.bincount(y[test], minlength=y.max() + 1) for test in tests])
        assert (np.ptp(counts, axis=0) <= 1).all()
    for split in splits:
        np.testing.assert_array_equal(np.setdiff1d(np.arange(len(y)), split.test), split.train)


def test_seed_policy_is_the_documented_one() -> None:
    y = np.repeat([0, 1], 6)
    splits = random_per_class(y, 2, 3, 0, "yale")
    rng = np.random.default_rng([zlib.crc32(b"yale"), 2, 1])  # a trailing 0, the seed, changes nothing
    expected = np.concatenate([rng.permutation(np.arange(6))[:2], rng.permutation(np.arange(6, 12))[:2]])
    np.testing.assert_array_equal(splits[1].train, np.sort(expected))
    others = [random_per_class(y, 2, 3, 1, "yale"), random_per_class(y, 2, 3, 0, "orl"), random_per_class(y, 3, 3)]
    for other in others:
        assert any(
            len(a.train) != len(b.train) or (a.train != b.train).any() for a, b in zip(splits, other, strict=True)
        )


def test_too_small_classes() -> None:
    y = np.repeat([0, 1], [10, 4])
    names = np.array(["cat", "dog"])
    with pytest.raises(NotApplicable, match=r"4 training samples per class \(train_size\) .* class dog \(4\)"):
        random_per_class(y, 4, classes=names)
    with pytest.raises(NotApplicable, match=r"5 stratified folds: too few samples in class dog \(4\)"):
        k_fold(y, 5, classes=names)


def test_save_and_load(tmp_path: Path) -> None:
    y = np.repeat([0, 1, 2], 5)
    ids = np.array([f"s/{k}" for k in range(15)])
    splits = k_fold(y, 3, 2, 7, "x")
    splits.save(tmp_path / "s.parquet", ids)
    frame, metadata = read_parquet(tmp_path / "s.parquet")
    assert list(frame.columns) == ["train_size", "repeat", "fold", "role", "index", "id"]
    assert frame["train_size"].isna().all()
    assert metadata == {"n_samples": 15}
    back = Splits.load(tmp_path / "s.parquet", ids)
    for left, right in zip(splits, back, strict=True):
        assert (left.repeat, left.fold) == (right.repeat, right.fold)
        np.testing.assert_array_equal(left.train, right.train)
        np.testing.assert_array_equal(left.test, right.test)
    back.save(tmp_path / "t.parquet", ids)
    assert (tmp_path / "s.parquet").read_bytes() == (tmp_path / "t.parquet").read_bytes()
    with pytest.raises(DataError, match=r"s\.parquet: made for other samples"):
        Splits.load(tmp_path / "s.parquet", ids[::-1])
    write_parquet(tmp_path / "f.parquet", frame)
    with pytest.raises(DataError, match="not a file of splits"):
        Splits.load(tmp_path / "f.parquet", ids)


def test_several_sizes_are_drawn_independently(tmp_path: Path) -> None:
    y = np.repeat([0, 1, 2], 8)
    ids = np.array([f"s/{k}" for k in range(24)])
    splits = random_per_class(y, [4, 2], 3, 5, "x")
    splits.save(tmp_path / "s.parquet", ids)
    for held in (splits, Splits.load(tmp_path / "s.parquet", ids)):
        assert len(held) == 6
        for size in (2, 4):
            for split, alone in zip(held.of_size(size), random_per_class(y, size, 3, 5, "x"), strict=True):
                assert (split.train_size, split.repeat) == (size, alone.repeat)
                np.testing.assert_array_equal(split.train, alone.train)
                np.testing.assert_array_equal(split.test, alone.test)
        with pytest.raises(DataError, match="none of training size 3"):
            held.of_size(3)


def a(*values: int) -> np.ndarray:
    return np.array(values, dtype=np.int64)


@pytest.mark.parametrize(
    ("splits", "message"),
    [
        ([], "none given"),
        ([Split(0, 0, a(0, 1), a(1, 2))], "in several parts, or twice in one: '1'"),
        ([Split(0, 0, a(0), a(3))], r"repeat 0, fold 0 has positions 0\.\.3"),
        ([Split(0, 0, a(0, 0), a(1))], "twice in one: '0'"),
        ([Split(1, 2, a(0), a())], "repeat 1, fold 2 has no test samples"),
        ([Split(0, 0, a(0), a(1), size) for size in (1, 2, 2)], "training size 2, repeat 0, fold 0 occurs twice"),
    ],
)
def test_invalid_splits(splits: list[Split], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Splits(tuple(splits), 3)


def test_given_splits(tmp_path: Path) -> None:
    ids = np.array(["007", "b", "c", "NA"])
    path = tmp_path / "g.csv"
    path.write_text("fold,role,id\n0,train,007\n0,train,NA\n0,test,b\n1,test,007\n1,train,c\n")
    splits = given(path, ids)
    assert [(split.fold, split.train.tolist(), split.test.tolist()) for split in splits] == [
        (0, [0, 3], [1]),
        (1, [2], [0]),
    ]
    frame = pd.DataFrame({"repeat": [0, 0], "role": ["train", "test"], "index": [2, 0]})
    frame.to_parquet(tmp_path / "g.parquet")
    assert given(tmp_path / "g.parquet", ids)[0].train.tolist() == [2]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fold,role\n0,train\n", "need the columns role and id"),
        ("role,id\ntrain,a\nvalid,b\n", "unknown roles 'valid'"),
        ("role,id\ntrain,a\ntest,zz\n", "does not have: 'zz'"),
        ("role,id\ntrain,a\ntest,a\n", r"g\.csv: .*in several parts"),
        ("role,index\ntrain,0\ntest,9\n", "but there are 2 samples"),
        ("role,index,fold\ntrain,0,20240102123456\ntest,1,1\n", r"column 'fold' has numbers outside 0 to 2147483647"),
        ("role,id\ntrain,a\n", "no test samples"),
    ],
)
def test_given_splits_refusals(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "g.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        given(tmp_path / "g.csv", np.array(["a", "b"]))
