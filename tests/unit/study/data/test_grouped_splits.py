"""Splits with groups: rows of the LMKL paper's recipe, whole groups held out, and the validation part of a split."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.entries import protocol

from mklearn.atomic import write_parquet
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.study.data.grouped_splits import group_k_fold, validation_folds
from mklearn.study.data.read import read_dataset
from mklearn.study.data.samples import SampleSet
from mklearn.study.data.splits import Splits, given
from mklearn.study.datasets import dataset_spec
from mklearn.study.engine.workflow_files import load_script
from mklearn.study.entries import Protocol
from mklearn.study.script import call
from mklearn.study.specs.data_specs import SplitSpec

OLIVETTI = protocol("validation_folds", test_size=2, folds=8, in_order=True, repeats=2, first_seed=1000)
USPS = protocol("validation_folds", test_share=1 / 3, folds=2, deals=5, repeats=2, first_seed=500)


def digest(rows: Any) -> str:
    return hashlib.sha256(np.asarray(rows).astype("<i8").tobytes()).hexdigest()[:16]


def drawn(samples: SampleSet, protocol: Protocol) -> Splits:
    return validation_folds(samples.y, **protocol.parameters(), seed=0, name="any", groups=samples.groups)


@pytest.fixture(scope="module")
def faces(mirror: Path) -> SampleSet:
    return read_dataset(dataset_spec({"name": "olivetti-gender"}), {"f": mirror / "olivetti/olivettifaces.mat"})


@pytest.fixture(scope="module")
def digits(mirror: Path) -> SampleSet:
    return read_dataset(dataset_spec({"name": "usps-3-vs-58"}), {"f": mirror / "usps/usps.h5"})


def test_rows_of_the_olivetti_recipe(faces: SampleSet) -> None:
    rng = np.random.default_rng(1000)
    test = np.concatenate([10 * person + rng.permutation(10)[:2] for person in range(40)])
    assert digest(test) == "bfcc8344d2467f35"
    splits = drawn(faces, OLIVETTI)
    assert len(splits) == 16
    np.testing.assert_array_equal(splits[0].test, np.sort(test))
    assert digest(splits[0].validation) == "737e193343dc2858"
    for number, split in enumerate(splits):
        assert (split.repeat, split.fold) == divmod(number, 8)
        assert (len(split.train), len(split.validation), len(split.test)) == (280, 40, 80)
        assert not np.array_equal(split.test, splits[0].test) or split.repeat == 0


def test_rows_of_the_usps_recipe(digits: SampleSet) -> None:
    splits = drawn(digits, USPS)
    assert len(splits) == 20
    assert digest(splits[0].test) == "d978b7559c9d257b"
    assert digest(splits[0].validation) == "0b56e8b606b0ad19"
    for first, second in zip(splits[0:10:2], splits[1:10:2], strict=True):
        assert (len(first.validation), len(first.train), len(first.test)) == (748, 750, 750)
        np.testing.assert_array_equal(first.train, second.validation)
        np.testing.assert_array_equal(first.validation, second.train)
    assert len({digest(split.train) for split in splits}) == 20


@pytest.mark.parametrize("in_order", [True, False])
@pytest.mark.parametrize("named", [True, False])
def test_parts_cover_each_group_evenly(in_order: bool, named: bool) -> None:
    y = np.repeat([0, 0, 1], 9)
    groups = np.repeat(["b2", "b10", "a"], 9) if named else None
    strata = groups if named else y
    splits = validation_folds(y, 3, 2, test_share=0.3, in_order=in_order, groups=groups)
    for repeat in range(2):
        models = [split for split in splits if split.repeat == repeat]
        assert len(models) == 3
        np.testing.assert_array_equal(
            np.sort(np.concatenate([s.validation for s in models] + [models[0].test])), np.arange(27)
        )
        for split in models:
            np.testing.assert_array_equal(split.test, models[0].test)
            np.testing.assert_array_equal(np.sort(np.concatenate([p for _, p in split.parts])), np.arange(27))
        for name in np.unique(strata):
            assert (strata[models[0].test] == name).sum() == round(0.3 * (strata == name).sum())
            assert np.ptp([(strata[s.validation] == name).sum() for s in models]) <= 1


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"test_size": 3}, r"a test part and 5 folds: too few samples in class men \(7\) and 1 more"),
        ({"test_share": 0.01, "groups": np.repeat(["a", "b"], 7)}, r"group a of class men \(7\)"),
    ],
)
def test_groups_that_are_too_small(parameters: dict[str, Any], message: str) -> None:
    with pytest.raises(NotApplicable, match=message):
        validation_folds(np.repeat([0, 1], 7), **parameters, classes=np.array(["men", "women"]))


def test_people_are_held_out_evenly(faces: SampleSet) -> None:
    splits = group_k_fold(faces.y, 4, 3, groups=faces.groups)
    for split in splits:
        assert not set(faces.groups[split.train]) & set(faces.groups[split.test])
        assert np.bincount(faces.y[split.test]).tolist() == [90, 10]
    for repeat in range(3):
        held = [split.test for split in splits if split.repeat == repeat]
        np.testing.assert_array_equal(np.sort(np.concatenate(held)), np.arange(400))
    assert len({split.test.tobytes() for split in splits}) == 12
    again = group_k_fold(faces.y, 4, 1, groups=faces.groups)
    np.testing.assert_array_equal(again[0].test, splits[0].test)


def test_whole_groups_need_groups() -> None:
    y = np.repeat([0, 1], 6)
    with pytest.raises(ConfigError, match="data set 'faces' has none: name its group_column, or merge classes"):
        group_k_fold(y, 2, name="faces")
    groups = np.array(list("aabbccddddee"))
    with pytest.raises(NotApplicable, match="3 folds of whole groups: class women has 2 groups"):
        group_k_fold(y, 3, groups=groups, classes=np.array(["men", "women"]))


def test_the_job_has_groups_of_the_kept_classes(tmp_path: Path) -> None:
    table = pd.DataFrame({"id": [str(i) for i in range(18)], "y": np.repeat([0, 1, 2], 6)})
    table["label"] = np.array(["x", "y", "z"])[table["y"]]
    spec = SplitSpec(kind="group_k_fold", implementation="mklearn.study.data.grouped_splits:group_k_fold", seed=0,
                     parameters={"folds": 2, "repeats": 1, "exclude_classes": ["x"]}, dataset="d")  # fmt: skip
    files = {"labels": tmp_path / "labels.parquet", "splits": tmp_path / "splits.parquet"}
    write_parquet(files["labels"], table)
    with pytest.raises(ConfigError, match="data set 'd' has none"):
        call(load_script("split"), **files, spec=spec.as_dict())
    groups = np.array([f"g{i // 3}" for i in range(18)])
    write_parquet(files["labels"], table.assign(group=groups))
    call(load_script("split"), **files, spec=spec.as_dict())
    for split in Splits.load(tmp_path / "splits.parquet", table["id"].to_numpy(str)):
        assert len(split.test) == 6
        assert set(groups[split.test]) & set(groups[split.train]) == set()
        assert min(split.test.min(), split.train.min()) >= 6


def test_a_validation_part_is_kept_by_files_which_a_study_may_give(tmp_path: Path) -> None:
    ids = np.array([f"s{i}" for i in range(24)])
    splits = validation_folds(np.repeat([0, 1], 12), 2, 2, test_size=4)
    splits.save(tmp_path / "splits.parquet", ids)
    for read in (Splits.load(tmp_path / "splits.parquet", ids), given(tmp_path / "splits.parquet", ids)):
        for one, other in zip(splits, read, strict=True):
            for (_, part), (_, kept) in zip(one.parts, other.parts, strict=True):
                np.testing.assert_array_equal(part, kept)
    frame = pd.read_parquet(tmp_path / "splits.parquet")
    frame[~(frame["role"].eq("validation") & frame["fold"].eq(1))].to_csv(tmp_path / "few.csv", index=False)
    with pytest.raises(DataError, match="some have a validation part and others have none"):
        given(tmp_path / "few.csv", ids)
