"""Splits: sizes, seeds, groups, files, refused input, and which data sets share them."""

import functools
import hashlib
import random
import re
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given as hypothesis_given
from hypothesis import settings
from hypothesis import strategies as st
from scipy.io import savemat
from tests.unit.study.small_study import run_study

from mklearn.atomic import read_parquet, write_parquet
from mklearn.errors import ConfigError, DataError, NotApplicable
from mklearn.study.data.draw_splits import (
    clustering,
    draw_splits,
    given,
    group_k_fold,
    k_fold,
    leave_one_group_out,
    random_per_class,
    validation_folds,
)
from mklearn.study.data.draw_splits import random as random_samples
from mklearn.study.data.read import labels_table, read_dataset
from mklearn.study.data.readers.registered import uci
from mklearn.study.data.splits import Split, Splits
from mklearn.study.datasets import dataset_spec
from mklearn.study.engine.data_check import check_data
from mklearn.study.jobs import Jobs, split_spec
from mklearn.study.plan.plan import Plan, plan_study
from mklearn.study.reading import check_study
from mklearn.study.specs.data_specs import SplitSpec

LABELS = st.lists(st.integers(4, 12), min_size=2, max_size=5).map(lambda sizes: np.repeat(np.arange(len(sizes)), sizes))
NAMES = np.array(["men", "women"])


def digest(rows: Any) -> str:
    return hashlib.sha256(np.asarray(rows).astype("<i8").tobytes()).hexdigest()[:16]


def assert_same(one: Any, other: Any) -> None:
    for left, right in zip(one, other, strict=True):
        assert (left.repeat, left.fold, left.train_size) == (right.repeat, right.fold, right.train_size)
        np.testing.assert_equal(left.parts, right.parts)


DRAWN: dict[str, tuple[str, Callable[..., Splits]]] = {
    "per class": ("class", lambda data, **more: random_per_class(data["class"], 3, **more)),
    "folds": ("class", lambda data, **more: k_fold(data["class"], 4, **more)),
    "folds of numbers": ("block of 4", lambda data, **more: k_fold(data["number"], 4, **more)),
    "folds of groups": ("", lambda data, **more: group_k_fold(data["class"], 2, groups=data["pair"], **more)),
    "validation": ("class", lambda data, **more: validation_folds(data["class"], 3, test_share=0.3, **more)),
    "validation in order": (
        "class", lambda data, **more: validation_folds(data["class"], 3, test_size=1, in_order=True, **more)
    ),
    "validation of groups": (
        "half of class", lambda data, **more: validation_folds(data["class"], 3, groups=data["half"], **more)
    ),
}  # fmt: skip
"""By name: what is spread evenly over the parts, and the protocol."""


@pytest.mark.parametrize("kind", DRAWN)
@settings(max_examples=15)
@hypothesis_given(y=LABELS, seed=st.integers(0, 5), shuffler=st.randoms())
def test_parts_cover_the_samples_evenly(kind: str, y: np.ndarray, seed: int, shuffler: random.Random) -> None:
    n = 2 * len(y)
    data = pd.DataFrame({"class": np.tile(y, 2), "half": np.repeat(["b2", "b10"], len(y)), "pair": np.arange(n) // 2})
    data["number"] = np.random.default_rng(seed).exponential(size=n)
    data["block of 4"] = data["number"].rank().sub(1).floordiv(4)
    data["half of class"] = data["half"] + data["class"].astype(str)
    data = data.iloc[shuffler.sample(range(n), n)].reset_index(drop=True)
    stratum, draw = DRAWN[kind]
    columns = {name: values.to_numpy() for name, values in data.items()}
    splits = draw(columns, repeats=2, seed=seed, name="x")
    assert_same(splits, list(draw(columns, repeats=3, seed=seed, name="x"))[: len(splits)])  # more repeats keep these
    for split in splits:
        assert sorted(np.concatenate([part for _, part in split.parts])) == list(range(n))
        assert kind != "folds of groups" or not np.isin(data["pair"][split.train], data["pair"][split.test]).any()
        assert kind != "per class" or (np.bincount(data["class"][split.train]) == 3).all()
    if kind == "per class":
        return
    for repeat in range(2):
        models = [split for split in splits if split.repeat == repeat]
        parts = [split.test if split.validation is None else split.validation for split in models]
        rest = [] if models[0].validation is None else [models[0].test]
        assert all(np.array_equal(split.test, models[0].test) for split in models if rest)
        assert sorted(np.concatenate(parts + rest)) == list(range(n))
        if stratum:
            counts = pd.DataFrame([data[stratum].iloc[part].value_counts() for part in parts]).fillna(0)
            assert (counts.max() - counts.min() <= 1).all()
        if kind in ("folds", "folds of numbers"):
            assert np.ptp([len(part) for part in parts]) <= 1


@pytest.mark.parametrize("kind", ["per class", "folds"])
def test_flipped_labels_are_of_training_samples_and_survive_files_and_moves(kind: str, tmp_path: Path) -> None:
    y, ids = np.repeat([0, 2, 5], 8), np.arange(24).astype(str)
    draw = functools.partial(DRAWN[kind][1], {"class": y}, repeats=3, name="x")
    splits = draw(flipped=0.25)
    assert_same(splits, draw())  # the same samples
    splits.save(tmp_path / "splits.parquet", ids)
    moved, places = splits.among(np.arange(24)[::-1], 24), list[Any]()
    for split, read, other in zip(splits, Splits.load(tmp_path / "splits.parquet", ids), moved, strict=True):
        target = split.target(y)
        places.append(np.flatnonzero(target != y))
        assert len(places[-1]) == round(0.25 * len(split.train))
        assert np.isin(places[-1], split.train).all()
        assert np.isin(target, y).all()
        for same in (read.target(y), other.target(y[::-1])[::-1], draw(flipped=0.25)[len(places) - 1].target(y)):
            np.testing.assert_array_equal(target, same)
    assert len({tuple(each) for each in places}) == len(splits)
    with pytest.raises(ConfigError, match="the target of 'x' is numbers"):
        k_fold(y * 0.5, 2, name="x", flipped=0.1)


def test_seed_policy_is_the_documented_one() -> None:
    y = np.repeat([0, 1], 6)
    splits = random_per_class(y, 2, 3, 0, "yale")
    rng = np.random.default_rng([zlib.crc32(b"yale"), 2, 1])  # a trailing 0, the seed, changes nothing
    expected = np.concatenate([rng.permutation(np.arange(6))[:2], rng.permutation(np.arange(6, 12))[:2]])
    np.testing.assert_array_equal(splits[1].train, np.sort(expected))
    for other in (random_per_class(y, 2, 3, 1, "yale"), random_per_class(y, 2, 3, 0, "orl")):
        assert any((a.train != b.train).any() for a, b in zip(splits, other, strict=True))
    sizes = random_per_class(y, [4, 2], 3, 0, "yale")
    assert_same(sizes.of_size(2), splits)  # sizes are drawn independently
    assert_same(sizes.of_size(4), random_per_class(y, 4, 3, 0, "yale"))


@pytest.mark.parametrize("grouped", [False, True])
@settings(max_examples=20)
@hypothesis_given(counts=st.lists(st.integers(1, 4), min_size=2, max_size=9), seed=st.integers(0, 5))
def test_sizes_count_samples_and_groups_are_held_out_whole(grouped: bool, counts: list[int], seed: int) -> None:
    n, most = sum(counts), sum(counts) - (max(counts) if grouped else 1)
    groups = np.random.default_rng(seed).permutation(np.repeat(np.arange(len(counts)), counts)).astype(str)
    draw = functools.partial(random_samples, groups=groups, whole_groups=grouped)
    splits, units = draw(np.zeros(n), list(range(1, most + 1)), 3, seed, "x"), groups if grouped else np.arange(n)
    assert_same(splits.of_size(most), draw(np.zeros(n), most, 3, seed, "x"))
    for split in splits:
        assert len(split.train) == split.train_size
        assert not np.isin(units[split.train], units[split.test]).any()
        neither = {*units[np.setdiff1d(np.arange(n), np.concatenate([split.train, split.test]))]}  # of the last group
        assert len(neither) <= 1
        assert neither <= {*units[split.train]}
    with pytest.raises(NotApplicable, match=f"train_size {most + 1}: expected 1 to {most}, the {n} samples"):
        draw(np.zeros(n), [1, most + 1], 3, seed, "x")


# --- groups


@pytest.mark.parametrize(
    ("entry", "file", "recipe", "test", "validation"),
    [
        ({"name": "olivetti-gender"}, "olivetti/olivettifaces.mat",
         {"test_size": 2, "folds": 8, "in_order": True, "first_seed": 1000}, "a9ae7232a68ff18e", "737e193343dc2858"),
        ({"name": "usps", "merge": {"3": ["3"], "5 or 8": ["5", "8"]}, "class_groups": True}, "usps/usps.h5",
         {"test_share": 1 / 3, "folds": 2, "deals": 5, "first_seed": 500}, "d978b7559c9d257b", "0b56e8b606b0ad19"),
    ],
    ids=["olivetti", "usps"],
)  # fmt: skip
def test_rows_of_published_recipes(
    mirror: Path, entry: dict[str, Any], file: str, recipe: dict[str, Any], test: str, validation: str
) -> None:
    samples = read_dataset(dataset_spec(entry), {"f": mirror / file})
    splits = validation_folds(samples.y, repeats=2, groups=samples.groups, **recipe)
    n_models = recipe["folds"] * recipe.get("deals", 1)
    assert [(split.repeat, split.fold) for split in splits] == [divmod(k, n_models) for k in range(2 * n_models)]
    assert (digest(splits[0].test), digest(splits[0].validation)) == (test, validation)
    assert len({digest(split.train) for split in splits}) == len(splits)


Y, SEVEN = np.repeat([0, 1], [10, 4]), np.repeat([0, 1], 7)


@pytest.mark.parametrize(
    ("draw", "error", "message"),
    [
        (lambda: random_per_class(Y, 4, classes=NAMES), NotApplicable,
         r"4 training samples per class \(train_size\) .*class women \(4\)"),
        (lambda: random_per_class(Y, 1, unlabelled=3, classes=NAMES), NotApplicable,
         r"1 training samples per class \(train_size\), 3 unlabelled and .*class women \(4\)"),
        (lambda: k_fold(Y, 5, classes=NAMES), NotApplicable, r"5 stratified folds: too few samples in 'class women"),
        (lambda: k_fold(np.zeros(6, dtype=int), 2, flipped=0.5), NotApplicable, "flipped: there is no other class"),
        (lambda: k_fold(np.arange(3.0), 5), NotApplicable, "5 folds need as many samples; there are 3"),
        (lambda: validation_folds(SEVEN, test_size=3, classes=NAMES), NotApplicable,
         r"a test part and 5 folds: too few samples in 'class men \(7\)', 'class women"),
        (lambda: validation_folds(SEVEN, test_share=0.01, groups=np.repeat(["a", "b"], 7), classes=NAMES),
         NotApplicable, r"group a of class men \(7\)"),
        (lambda: group_k_fold(Y, 2, name="faces"), ConfigError,
         "data set 'faces' has none: name its group_column, or merge classes"),
        (lambda: random_samples(Y, 2, whole_groups=True), ConfigError, "protocol random holds out whole groups, and"),
        (lambda: leave_one_group_out(Y, groups=np.repeat(["a", "b"], 7), classes=NAMES), NotApplicable,
         "two groups of each class; 'women' has one .exclude_classes"),
        (lambda: leave_one_group_out(np.arange(3.0), groups=np.repeat("a", 3)), NotApplicable, "needs two groups$"),
        (lambda: group_k_fold(np.repeat([0, 1], 6), 3, groups=np.array(list("aabbccddddee")), classes=NAMES),
         NotApplicable, "3 folds of whole groups: class women has 2 groups"),
        (lambda: random_per_class(Y, 2).of_size(3), DataError, "none of training size 3"),
    ],
)  # fmt: skip
def test_what_can_not_be_drawn(draw: Callable[[], Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        draw()


def test_unlabelled_samples_and_samples_to_cluster() -> None:
    for split, same in zip(random_per_class(SEVEN, [1, 2], unlabelled=2), random_per_class(SEVEN, [1, 2]), strict=True):
        np.testing.assert_array_equal(split.train, same.train)
        assert np.bincount(SEVEN[split.unlabelled]).tolist() == [2, 2]
        assert np.sort(np.concatenate([part for _, part in split.parts])).tolist() == list(range(14))
    splits = clustering(Y, [3, 6], 2)
    assert [np.bincount(Y[split.train]).tolist() for split in splits] == [[3, 3]] * 2 + [[6, 4]] * 2
    assert all(split.clusters for split in splits)
    assert not np.array_equal(splits[0].train, splits[1].train)


def test_each_group_is_held_out_once() -> None:
    splits = leave_one_group_out(np.arange(5.0), groups=np.array(["10", "2", "10", "x", "2"]))
    assert [(split.fold, split.test.tolist(), split.train.tolist()) for split in splits] == [
        (0, [1, 4], [0, 2, 3]), (1, [0, 2], [1, 3, 4]), (2, [3], [0, 1, 2, 4])
    ]  # fmt: skip


def test_groups_of_the_kept_classes() -> None:
    table = pd.DataFrame({"id": [str(i) for i in range(18)], "y": np.repeat([0, 1, 2], 6)})
    table["label"] = np.array(["x", "y", "z"])[table["y"]]
    spec = SplitSpec(kind="group_k_fold", implementation="mklearn.study.data.draw_splits:group_k_fold", seed=0,
                     parameters={"folds": 2, "repeats": 1, "exclude_classes": ["x"]}, dataset="d")  # fmt: skip
    groups = np.array([f"g{i // 3}" for i in range(18)])
    for split in draw_splits(table.assign(group=groups), spec):
        assert len(split.test) == 6
        assert set(groups[split.test]) & set(groups[split.train]) == set()
        assert min(split.test.min(), split.train.min()) >= 6


# --- files


@pytest.mark.parametrize(
    "splits",
    [k_fold(np.repeat([0, 1, 2], 8), 3, 2, 7, "x"), random_per_class(np.repeat([0, 1, 2], 8), [2, 4], 3, 5, "x"),
     validation_folds(np.repeat([0, 1], 12), 2, 2, test_size=4), clustering(np.repeat([0, 1], 12), 5, 2),
     random_per_class(np.repeat([0, 1], 12), 2, 2, unlabelled=3)],
    ids=["folds", "sizes", "validation", "clustering", "unlabelled"],
)  # fmt: skip
def test_save_and_load(tmp_path: Path, splits: Splits) -> None:
    ids = np.array([f"s/{k}" for k in range(24)])
    splits.save(tmp_path / "s.parquet", ids)
    frame, metadata = read_parquet(tmp_path / "s.parquet")
    assert list(frame.columns) == ["train_size", "repeat", "fold", "role", "index", "id"]
    assert metadata == {"n_samples": 24}
    back = Splits.load(tmp_path / "s.parquet", ids)
    assert_same(splits, back)
    back.save(tmp_path / "t.parquet", ids)
    assert (tmp_path / "s.parquet").read_bytes() == (tmp_path / "t.parquet").read_bytes()
    if splits[0].train_size is None:
        assert_same(splits, given(ids, tmp_path / "s.parquet", ids=ids))
    with pytest.raises(DataError, match=r"s\.parquet: made for other samples"):
        Splits.load(tmp_path / "s.parquet", ids[::-1])
    write_parquet(tmp_path / "f.parquet", frame)
    with pytest.raises(DataError, match="not a file of splits"):
        Splits.load(tmp_path / "f.parquet", ids)


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
        ([Split(0, 0, a(0), a(1)), Split(0, 1, a(0), a(1), None, a(2))], "some have a validation part and others have"),
    ],
)
def test_invalid_splits(splits: list[Split], message: str) -> None:
    with pytest.raises(DataError, match=message):
        Splits(tuple(splits), 3)


def test_given_splits(tmp_path: Path) -> None:
    path = tmp_path / "g.csv"
    path.write_text("fold,role,id\n0,train,007\n0,train,NA\n0,test,b\n1,test,007\n1,train,c\n")
    ids = np.array(["007", "b", "c", "NA"])
    splits = given(ids, path, ids=ids)
    assert_same(splits, [Split(0, 0, a(0, 3), a(1)), Split(0, 1, a(2), a(0))])
    pd.DataFrame({"repeat": [0, 0], "role": ["train", "test"], "index": [2, 0]}).to_parquet(tmp_path / "g.parquet")
    assert given(a(0, 1, 0), tmp_path / "g.parquet", ids=np.array(list("abc")))[0].train.tolist() == [2]


def test_one_file_has_labels_and_splits(tmp_path: Path) -> None:
    """The sample c has no label; d is in no table, whatever its label."""
    rows = "id,label,role,f\na,x,train,1\nb,y,train,2\nc,NA,test,3\ne,x,test,4\n"
    (tmp_path / "t.csv").write_text(rows)
    data = {"kind": "feature_tables", "tables": {"t": str(tmp_path / "t.csv")}, "leave_out": ["role"]}
    read = read_dataset(dataset_spec(data))
    assert "left out (missing_labels): 1" in read.notes[0]
    spec = SplitSpec(kind="given", implementation="mklearn.study.data.draw_splits:given", parameters={},
                     seed=0, dataset="s")  # fmt: skip
    assert_same(draw_splits(labels_table(read), spec, [tmp_path / "t.csv"]), [Split(0, 0, a(0, 1), a(2))])
    (tmp_path / "s.csv").write_text(rows + "d,x,test,5\n")
    with pytest.raises(DataError, match="does not have: 'd'"):
        draw_splits(labels_table(read), spec, [tmp_path / "s.csv"])


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("fold,role\n0,train\n", "need the columns role and id"),
        ("role,id\ntrain,a\nvalid,b\n", "unknown roles 'valid'"),
        ("role,id\ntrain,a\ntest,zz\n", "does not have: 'zz'"),
        ("role,id\ntrain,a\ntest,a\n", r"g\.csv: .*in several parts.*; by id: 'a'$"),
        ("role,index\ntrain,0\ntest,9\n", "but there are 2 samples"),
        ("role,index,fold\ntrain,0,20240102123456\ntest,1,1\n", r"column 'fold' has numbers outside 0 to 2147483647"),
    ],
)
def test_given_splits_refusals(tmp_path: Path, text: str, message: str) -> None:
    (tmp_path / "g.csv").write_text(text)
    with pytest.raises(DataError, match=message):
        given(a(0, 1), tmp_path / "g.csv", ids=np.array(["a", "b"]))


# --- splits that were released with a data set


def planned(**study: Any) -> Plan:
    protocols = {"inner": {"kind": "released"}, "test": {"kind": "released", "choose": "test_set"}}
    return plan_study(
        check_study({"study": "s", "methods": {"m": {"kind": "majority"}}, "protocols": protocols} | study)
    )


def test_released_splits_are_by_the_ids_of_the_data_set(tmp_path: Path) -> None:
    file, codes, cells = tmp_path / "a.mat", np.array([3, 1, 1, 3, 10, 10]), np.empty((1, 2), dtype=object)
    cells[0, 0], cells[0, 1] = np.array([[6, 1, 6]], dtype=np.uint8), np.array([[2, 1]], dtype=np.uint8)
    savemat(file, {"X": np.arange(12.0).reshape(2, 6), "Y": codes[:, None], "kfold": cells})
    samples = uci({"a.mat": file})
    labels = pd.DataFrame({"id": samples.ids, "y": samples.y, "label": samples.labels})
    spec = SplitSpec(
        kind="released", implementation="mklearn.study.data.draw_splits:released", parameters={}, seed=0, dataset="a",
        source="mklearn.study.data.readers.registered:uci_splits",
    )  # fmt: skip
    expected = [Split(0, 0, a(1, 2, 3, 4), a(0, 5)), Split(1, 0, a(2, 3, 4, 5), a(0, 1))]
    assert_same(draw_splits(labels, spec, [file]), expected)
    without_threes = draw_splits(labels, spec.model_copy(update={"parameters": {"exclude_classes": ["3"]}}), [file])
    assert [split.test.tolist() for split in without_threes] == [[5], [1]]
    with pytest.raises(DataError, match="no test samples"):
        draw_splits(labels.iloc[[2, 3]].reset_index(drop=True).assign(y=[0, 1]), spec, [file])


def test_released_splits_in_a_plan() -> None:
    plan = planned(datasets=["heart"])
    assert len(plan.protocols) == 2
    jobs = Jobs(plan)
    for wildcards in jobs.keys("split"):
        assert [Path(path).name for path in jobs.job("split", wildcards).inputs["files"]] == ["heart.mat"]
        spec = jobs.specification("split", wildcards)
        assert spec["source"] == "mklearn.study.data.readers.registered:uci_splits"
        assert "choose" not in spec["parameters"]
    inner, test = plan.fits.values()
    assert [fit.spec.settings[0].protocol for fit in (inner, test)] == ["inner", "test-optimistic"]
    assert (inner.spec.evaluation.choice, test.spec.evaluation.choice) == ("inner_cv", "test_set")
    assert inner.key[2] != test.key[2]
    with pytest.raises(ConfigError, match=r"protocols\.inner: no splits were released with data set 'new-thyroid'\."):
        planned(datasets=["heart", "new-thyroid"])


# --- variants of one data set


def names(datasets: Any) -> dict[str, str]:
    """Return the name by which the splits of each entry are drawn."""
    plan = planned(datasets=datasets, protocols={"p": {"kind": "k_fold", "folds": 2}})
    (only,) = plan.protocols.values()
    return {dataset.id: split_spec(dataset, only).dataset for dataset in plan.datasets.values()}


def own(folder: Path, name: str, rows: pd.DataFrame) -> dict[str, Any]:
    rows.to_csv(folder / f"{name}.csv", index=False)
    return {"kind": "feature_tables", "tables": {"t": str(folder / f"{name}.csv")}}


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, Any]:
    return own(tmp_path, "t", pd.DataFrame({"id": list("abcd"), "label": list("xxyy"), "f": [1.0, 2, 3, 4]}))


def test_which_entries_share_splits(tables: dict[str, Any]) -> None:
    small = {"name": "yale", "resize": {"shape": [8, 8]}}
    assert names({"yale": None, "small": small, "orl": None}) == {"yale": "yale", "small": "yale", "orl": "orl"}
    assert names({"small": small}) == {"small": "yale"}  # whatever else is in the study
    assert names({"small": small | {"splits_of": "small"}}) == {"small": "small"}
    assert names({"raw": tables, "scaled": tables}) == {"raw": "raw", "scaled": "scaled"}
    assert names({"raw": tables, "scaled": tables | {"splits_of": "raw"}}) == {"raw": "raw", "scaled": "raw"}
    registered = {"faces": {"name": "yale"}, "lbp": tables | {"splits_of": "faces"}}
    assert names(registered) == {"faces": "yale", "lbp": "yale"}
    for extra, sentence in (
        ({"b": {"splits_of": "c"}}, "datasets.b.splits_of: there is no data set 'c'. Expected: a, b."),
        ({"b": {"splits_of": "a"}, "c": {"splits_of": "b"}}, "datasets.c.splits_of: 'b' has the splits of 'a'; name"),
    ):
        with pytest.raises(ConfigError, match=re.escape(sentence)):
            names({"a": tables} | {key: tables | fields for key, fields in extra.items()})


@pytest.mark.parametrize("kind", ["k_fold", "random_per_class", "group_k_fold"])
def test_rows_in_another_order_have_the_same_splits(tmp_path: Path, kind: str) -> None:
    size = {"train_size": 4, "repeats": 3} if kind == "random_per_class" else {"folds": 3}
    rng = np.random.default_rng(0)
    ids = [f"s{number}" for number in range(30)]
    rows = pd.DataFrame({"id": ids, "label": list("aab") * 10, "who": [f"p{n % 9}" for n in range(30)],
                         "f": rng.random(30)})  # fmt: skip
    datasets = {
        "one": own(tmp_path, "one", rows) | {"group_column": "who"},
        "two": own(tmp_path, "two", rows.drop(columns="who").sample(frac=1, random_state=1)) | {"splits_of": "one"},
    }  # fmt: skip
    study = {"study": "s", "datasets": datasets, "protocols": {"p": {"kind": kind, **size}}}
    one, two = [
        read_parquet(tmp_path / job.outputs["splits"])[0]
        .groupby(["train_size", "repeat", "fold", "role"], dropna=False)["id"]
        .agg(lambda names: " ".join(sorted(names)))
        for job in run_study(tmp_path, study, last="split").of("split")
    ]
    pd.testing.assert_series_equal(one, two)
    assert check_data(plan_study(check_study(study))).mistakes == []


def test_other_samples_or_labels_are_refused(tmp_path: Path) -> None:
    rows = pd.DataFrame({"id": list("stuvwxyz"), "label": list("aabb") * 2, "f": np.linspace(0.1, 0.9, 8)})
    wrong = {
        "labels differ for 's', 'z'": rows.assign(label=list("babbaaba")),
        "only one of the two has 'u'": rows.drop(index=2),
        "only one of the two has 'other', 's'": rows.assign(id=["other", *"tuvwxyz"]),
    }
    for number, (sentence, frame) in enumerate(wrong.items()):
        entry = own(tmp_path, f"t{number}", frame) | {"splits_of": "one"}
        plan = planned(datasets={"one": own(tmp_path, "one", rows), "two": entry},
                       protocols={"p": {"kind": "k_fold", "folds": 2}})  # fmt: skip
        [mistake] = check_data(plan).mistakes
        assert mistake.startswith("datasets.two, protocols.p: these samples are not those of 'one', whose splits they")
        assert sentence in mistake


def test_the_key_says_what_seeds_the_splits_that_are_shared(tables: dict[str, Any]) -> None:
    """Kills: files of equal names for other splits, in two studies that share their results."""
    keys = []
    for other in (tables, {"name": "iris"}, {"name": "iris"} | {"title": "Flowers"}):
        datasets = {"b": other, "a": tables | {"splits_of": "b"}}
        plan = planned(datasets=datasets, protocols={"cv": {"kind": "k_fold", "folds": 2}})
        keys += [dataset.key for dataset in plan.datasets.values() if dataset.id == "a"]
    assert keys[0] != keys[1] == keys[2]
