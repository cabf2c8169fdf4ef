"""Lists of pairs: LFW's format, the user's own, the file between the steps, and mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mklearn.errors import DataError
from mklearn.study.data.pairs import Pairs, verification

PEOPLE, IMAGES = ["Ann", "Bob", "Cy", "Di"], 3
IDS = np.array([f"{name}/{name}_{number:04d}.jpg" for name in PEOPLE for number in range(1, IMAGES + 1)])
Y = np.repeat(np.arange(len(PEOPLE)), IMAGES)
FOLDS = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t3\nCy\t2\t3\nDi\t1\tCy\t1\n"
VIEW = "1\nBob\t1\t3\nBob\t2\tDi\t3\n"
OTHER_VIEW = "1\nAnn\t2\t3\nAnn\t2\tCy\t3\n"


def written(folder: Path, **texts: str) -> list[Path]:
    for name, text in texts.items():
        (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    return [folder / f"{name}.txt" for name in texts]


def test_official_lists_of_lfw(mirror: Path) -> None:
    """Their sizes as published, people in one fold only, and 758 pairs of View 2 that View 1 has too."""
    folder = mirror / "lfw"
    lines = [line.split() for path in folder.glob("pairs*.txt") for line in path.read_text("utf-8").splitlines()[1:]]
    images = [(line[0], number) for line in lines if len(line) == 3 for number in line[1:]]
    images += [image for line in lines if len(line) == 4 for image in (line[:2], line[2:])]
    names = {f"{name}/{name}_{int(number):04d}.jpg" for name, number in images}
    ids = np.array(sorted(names))
    y = np.unique([name.split("/")[0] for name in ids], return_inverse=True)[1]
    assert len(ids) == 9056
    lists = verification(y, ids=ids, files=[folder / f"pairs{part}.txt" for part in ("", "DevTrain", "DevTest")])
    assert len(lists.splits) == 10
    for split in lists.splits:
        assert (len(split.train), len(split.test)) == (5400, 600)
        assert lists.y[split.test].sum() == 300
        parts = [y[np.r_[lists.first[part], lists.second[part]]] for part in (split.train, split.test)]
        assert not np.intersect1d(*parts).size
    assert (len(lists.choosing.train), len(lists.choosing.test)) == (2200, 1000)
    keys = {tuple(sorted(pair)) for pair in zip(lists.first[6000:], lists.second[6000:], strict=True)}
    shared = sum(tuple(sorted(pair)) in keys for pair in zip(lists.first[:6000], lists.second[:6000], strict=True))
    assert shared == 758


def test_positions_classes_groups_and_names(tmp_path: Path) -> None:
    lists = verification(Y, ids=IDS, files=written(tmp_path, pairs=FOLDS, train=VIEW, test=OTHER_VIEW))
    assert lists.y.tolist() == [1, 0, 1, 0, 1, 0, 1, 0]
    assert [(split.fold, split.train.tolist(), split.test.tolist()) for split in lists.splits] == [
        (0, [2, 3], [0, 1]),
        (1, [0, 1], [2, 3]),
    ]
    assert (lists.choosing.train.tolist(), lists.choosing.test.tolist()) == ([4, 5], [6, 7])
    assert lists.groups[:4].tolist() == ["0", "0", "1", "1"]
    assert lists.names(IDS)[[0, 1, 3]].tolist() == [
        "Ann/Ann_0001.jpg | Ann/Ann_0002.jpg", "Ann/Ann_0001.jpg | Bob/Bob_0003.jpg",
        "Di/Di_0001.jpg | Cy/Cy_0001.jpg",
    ]  # fmt: skip
    assert lists.splits.n_samples == 8


def test_saved_and_loaded(tmp_path: Path) -> None:
    lists = verification(Y, 3, ids=IDS, files=written(tmp_path, pairs=FOLDS, train=VIEW, test=OTHER_VIEW))
    lists.save(tmp_path / "p.parquet", IDS, {"by": "test"})
    back = Pairs.load(tmp_path / "p.parquet", IDS)
    for name in ("first", "second", "y", "fold"):
        np.testing.assert_array_equal(getattr(back, name), getattr(lists, name))
    assert back.comparison == lists.comparison == {
        "components": 3, "square_root": False, "whiten": True, "unit_length": True,
        "terms": ["absolute_difference", "product"],
    }  # fmt: skip
    with pytest.raises(DataError, match="ids that the data set does not have"):
        Pairs.load(tmp_path / "p.parquet", IDS[1:])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "first line must have"),
        ("1\nAnn\t1\n", "2 columns; expected 3 or 4"),
        ("1\nAnn\t1\t2\n", "1 pairs; the first line says 1 x 2 x 1"),
        ("1\nAnn\t1\t9\nAnn\t1\tBob\t1\n", "ids that the data set does not have: 'Ann/Ann_0009'"),
        ("1\nAnn\t1\t2\nAnn\t1\tAnn\t3\n", "contradict the labels, in lines '3'"),
        ("2\t1\nAnn\t1\t1\nAnn\t1\tBob\t1\nCy\t1\t2\nCy\t1\tDi\t1\n", "paired with themselves: 'Ann/Ann_0001.jpg'"),
        ("1\nAnn\t1\t2\nAnn\t1\tBob\t1\n", "at least two are needed"),
        (FOLDS.replace("Cy\t2\t3", "Ann\t1\t2"), "listed twice, as pair 1 and as pair 3"),
        (FOLDS.replace("Cy\t2\t3", "Ann\t2\t1"), "listed twice, as pair 1 and as pair 3"),
    ],
)
def test_wrong_lists_of_lfw(tmp_path: Path, text: str, reason: str) -> None:
    files = written(tmp_path, pairs=text)
    with pytest.raises(DataError, match=reason) as error:
        verification(Y, ids=IDS, files=files)
    assert str(files[0]) in str(error.value)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"fold": [0, 0, 2, 2]}, "counted from 0 without a gap"),
        ({"fold": [0, 0, 0.5, 1]}, "not whole numbers, in rows '2'"),
        ({"second": [IDS[1], IDS[3], IDS[7], "nobody"]}, "ids that the data set does not have: 'nobody'"),
        ({"same": [1, 1, 1, 0]}, "contradicts the labels in rows '1'"),
        ({"same": ["yes", "banana", "same", ""]}, "contradicts the labels in rows '1', '3'; its words are 1"),
    ],
)
def test_wrong_lists_of_the_user(tmp_path: Path, columns: dict[str, Any], reason: str) -> None:
    right = {"fold": [0, 0, 1, 1], "first": IDS[[0, 0, 6, 9]], "second": IDS[[1, 3, 7, 6]]}
    for same in ({}, {"same": ["yes", "no", "same", "0"]}):
        pd.DataFrame(right | same).to_csv(tmp_path / "right.csv", index=False)
        assert verification(Y, ids=IDS, files=[tmp_path / "right.csv"]).y.tolist() == [1, 0, 1, 0]
    pd.DataFrame(right | columns).to_csv(tmp_path / "wrong.csv", index=False)
    with pytest.raises(DataError, match=reason):
        verification(Y, ids=IDS, files=[tmp_path / "wrong.csv"])


def test_folds_that_share_people_are_warned_about(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    shared = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t3\nCy\t2\t3\nAnn\t1\tCy\t1\n"
    verification(Y, ids=IDS, files=written(tmp_path, pairs=FOLDS))
    assert not caplog.records
    verification(Y, ids=IDS, files=written(tmp_path, pairs=shared))
    assert "folds share classes" in caplog.text
