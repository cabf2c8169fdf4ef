"""Lists of pairs: LFW's format, the user's own, the file between the steps, and mistakes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from mklearn.errors import DataError
from mklearn.study.data.pairs import PairLists, given_pairs, lfw_pairs, verification
from mklearn.study.data.splits import k_fold

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


def test_lists_of_lfw(tmp_path: Path) -> None:
    (path,) = written(tmp_path, pairs=FOLDS)
    pairs = lfw_pairs(path, IDS, Y)
    assert IDS[pairs.first].tolist() == [
        f"{stem}.jpg" for stem in ("Ann/Ann_0001", "Ann/Ann_0001", "Cy/Cy_0002", "Di/Di_0001")
    ]
    assert IDS[pairs.second].tolist() == [
        f"{stem}.jpg" for stem in ("Ann/Ann_0002", "Bob/Bob_0003", "Cy/Cy_0003", "Cy/Cy_0001")
    ]
    assert pairs.same.tolist() == [True, False, True, False]
    assert pairs.fold.tolist() == [0, 0, 1, 1]


def test_official_lists_of_lfw(mirror: Path) -> None:
    """Their sizes as published, people in one fold only, and 758 pairs of View 2 that View 1 has too."""
    folder = mirror / "lfw"
    names = {
        f"{line.split()[0]}/{line.split()[0]}_{int(number):04d}.jpg"
        for path in folder.glob("pairs*.txt")
        for line in path.read_text(encoding="utf-8").splitlines()[1:]
        for number in [line.split()[1], *(line.split()[2:] if len(line.split()) == 3 else [])]
    } | {
        f"{other}/{other}_{int(number):04d}.jpg"
        for path in folder.glob("pairs*.txt")
        for _, _, other, number in (
            line.split() for line in path.read_text(encoding="utf-8").splitlines()[1:] if len(line.split()) == 4
        )
    }
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
    assert (len(lists.choosing_split.train), len(lists.choosing_split.test)) == (2200, 1000)
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
    assert (lists.choosing_split.train.tolist(), lists.choosing_split.test.tolist()) == ([4, 5], [6, 7])
    assert lists.groups.tolist() == ["0", "0", "1", "1", *["choice"] * 4]
    assert lists.names(IDS)[1] == "Ann/Ann_0001.jpg | Bob/Bob_0003.jpg"
    assert lists.splits.n_samples == 8


def test_saved_and_loaded(tmp_path: Path) -> None:
    lists = verification(Y, ids=IDS, files=written(tmp_path, pairs=FOLDS, train=VIEW, test=OTHER_VIEW))
    lists.save(tmp_path / "p.parquet", IDS, {"by": "test"})
    back = PairLists.load(tmp_path / "p.parquet", IDS)
    for name in ("first", "second", "y", "groups"):
        np.testing.assert_array_equal(getattr(back, name), getattr(lists, name))
    assert [split.test.tolist() for split in back.splits] == [[0, 1], [2, 3]]
    with pytest.raises(DataError, match="made for other samples"):
        PairLists.load(tmp_path / "p.parquet", IDS[1:])
    samples = k_fold(Y, 2)
    samples.save(tmp_path / "s.parquet", IDS)
    with pytest.raises(DataError, match="not a file of pairs"):
        PairLists.load(tmp_path / "s.parquet", IDS)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "first line must have"),
        ("1\nAnn\t1\n", "2 columns; expected 3 or 4"),
        ("1\nAnn\t1\t2\n", "1 pairs; the first line says 1 x 2 x 1"),
        ("1\nAnn\t1\t9\nAnn\t1\tBob\t1\n", "ids that the data set does not have: 'Ann/Ann_0009'"),
        ("1\nAnn\t1\t2\nAnn\t1\tAnn\t3\n", "contradict the labels, in lines '3'"),
        ("2\t1\nAnn\t1\t1\nAnn\t1\tBob\t1\nCy\t1\t2\nCy\t1\tDi\t1\n", "paired with themselves"),
        ("1\nAnn\t1\t2\nAnn\t1\tBob\t1\n", "at least two are needed"),
    ],
)
def test_wrong_lists_of_lfw(tmp_path: Path, text: str, reason: str) -> None:
    (path,) = written(tmp_path, pairs=text)
    with pytest.raises(DataError, match=reason) as error:
        lfw_pairs(path, IDS, Y)
    assert str(path) in str(error.value)


@pytest.mark.parametrize(
    ("columns", "reason"),
    [
        ({"fold": [0, 0, 2, 2]}, "counted from 0 without a gap"),
        ({"fold": [0, 0, 0.5, 1]}, "not whole numbers, in rows '2'"),
        ({"second": [IDS[1], IDS[3], IDS[7], "nobody"]}, "ids that the data set does not have: 'nobody'"),
        ({"same": [1, 1, 1, 0]}, "contradicts the labels in rows '1'"),
    ],
)
def test_wrong_lists_of_the_user(tmp_path: Path, columns: dict[str, Any], reason: str) -> None:
    right = {"fold": [0, 0, 1, 1], "first": IDS[[0, 0, 6, 9]], "second": IDS[[1, 3, 7, 6]]}
    pd.DataFrame(right).to_csv(tmp_path / "right.csv", index=False)
    assert given_pairs(tmp_path / "right.csv", IDS, Y).same.tolist() == [True, False, True, False]
    pd.DataFrame(right | columns).to_csv(tmp_path / "wrong.csv", index=False)
    with pytest.raises(DataError, match=reason):
        given_pairs(tmp_path / "wrong.csv", IDS, Y)


def test_folds_that_share_people_are_warned_about(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    shared = "2\t1\nAnn\t1\t2\nAnn\t1\tBob\t3\nCy\t2\t3\nAnn\t1\tCy\t1\n"
    verification(Y, ids=IDS, files=written(tmp_path, pairs=FOLDS))
    assert not caplog.records
    verification(Y, ids=IDS, files=written(tmp_path, pairs=shared))
    assert "folds share classes" in caplog.text


@pytest.mark.parametrize("again", ["Ann\t1\t2", "Ann\t2\t1"])
def test_a_pair_is_listed_once(tmp_path: Path, again: str) -> None:
    """In one fold it would count twice, in two folds it would be trained on and tested."""
    (path,) = written(tmp_path, pairs=FOLDS.replace("Cy\t2\t3", again))
    with pytest.raises(DataError, match=r"pairs\.txt: .* are listed twice, as pair 1 and as pair 3"):
        lfw_pairs(path, IDS, Y)


def test_words_of_same_that_mean_nothing_are_refused(tmp_path: Path) -> None:
    path = tmp_path / "pairs.csv"
    frame = pd.DataFrame({"fold": [0, 1], "first": IDS[:2], "second": IDS[2:4]})
    same = ["yes" if one == other else "no" for one, other in zip(Y[:2], Y[2:4], strict=True)]
    frame.assign(same=same).to_csv(path, index=False)
    assert given_pairs(path, IDS, Y).same.tolist() == [word == "yes" for word in same]
    frame.assign(same=["banana", ""]).to_csv(path, index=False)
    with pytest.raises(DataError, match="column 'same' has 'banana', 'nan'; valid: 1"):
        given_pairs(path, IDS, Y)
