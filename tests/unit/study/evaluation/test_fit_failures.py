"""Splits that end early: those before and after keep their values, and each of the others has a row with its reason."""

from __future__ import annotations

import time
import weakref
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
import pytest
from tests.scores import rows_of

from mklearn.atomic import read_npz, read_parquet, write_npz, write_parquet
from mklearn.study.data.splits import Split, Splits
from mklearn.study.engine.failures import write_missing
from mklearn.study.engine.workflow_files import load_script
from mklearn.study.evaluation.score_table import score_table
from mklearn.study.script import call
from mklearn.study.specs.fit_spec import FitSpec
from mklearn.subspace.pca import PCA

CALLS_OF_A_SPLIT = 3
"""Two inner folds, and the last fit."""


class Hungry(PCA):
    """Wants more memory than there is in its second split."""

    calls: ClassVar[int] = 0
    held: ClassVar[list[weakref.ref[Any]]] = []

    def fit(self, X: Any, y: Any = None) -> Hungry:
        type(self).calls += 1
        if type(self).calls == CALLS_OF_A_SPLIT + 1:
            large = np.ones(1000)
            self.held.append(weakref.ref(large))
            np.empty((1 << 30, 1 << 20))
        super().fit(X, y)
        return self


class Slow(PCA):
    """Does not end in its second split, or on too many samples."""

    calls: ClassVar[int] = 0
    most: ClassVar[int] = 30
    time_over: ClassVar[Path]

    def fit(self, X: Any, y: Any = None) -> Slow:
        type(self).calls += 1
        while type(self).calls > CALLS_OF_A_SPLIT or len(X) > self.most:
            self.time_over.touch()
            time.sleep(0.05)
        super().fit(X, y)
        return self


@pytest.fixture
def inputs(tmp_path: Path) -> dict[str, Any]:
    """Thirty samples of three classes in four splits."""
    generator = np.random.default_rng(5)
    y = np.repeat([0, 1, 2], 10)
    ids = np.array([f"s{number:02}" for number in range(30)])
    write_parquet(tmp_path / "labels.parquet", pd.DataFrame({"id": ids, "y": y, "label": y.astype(str)}))
    write_npz(tmp_path / "f.npz", features=generator.normal(size=(30, 5)) + y[:, None], sha256=np.array("0"))
    drawn = []
    for repeat in range(4):
        order = generator.permutation(30)
        drawn.append(Split(repeat, 0, np.sort(order[:20]), np.sort(order[20:])))
    Splits(tuple(drawn), 30).save(tmp_path / "splits.parquet", ids)
    names = {"labels": "labels.parquet", "splits": "splits.parquet", "model": "model.npz",
             "predictions": "predictions.npz"}  # fmt: skip
    return {name: tmp_path / file for name, file in names.items()} | {"sources": [tmp_path / "f.npz"]}


ONE: list[dict[str, Any]] = [{"protocol": "p", "train_size": None}]


def spec_of(implementation: str, settings: list[dict[str, Any]] = ONE, **evaluation: Any) -> FitSpec:
    method = {
        "id": "m", "implementation": f"{__name__}:{implementation}",
        "inputs": {"features": {"kind": "features", "descriptors": ["f"]}},
        "embeds": True,
    }  # fmt: skip
    evaluation = {"neighbours": ["euclidean"], "inner_folds": 2} | evaluation
    return FitSpec(dataset="d", settings=settings, method=method, evaluation=evaluation, seed=0)  # type: ignore[arg-type]


def rows(inputs: dict[str, Any], estimator: str, *settings: list[dict[str, Any]], **evaluation: Any) -> pd.DataFrame:
    call(load_script("fit"), **inputs, spec=spec_of(estimator, *settings, **evaluation).as_dict())
    return rows_of(inputs["predictions"])


def test_memory_that_runs_out_in_one_split_costs_that_split(inputs: dict[str, Any]) -> None:
    Hungry.calls = 0
    frame = rows(inputs, "Hungry")
    assert frame.groupby("repeat")["status"].agg(set).tolist() == [{"ok"}, {"out_of_memory"}, {"ok"}, {"ok"}]
    one = frame[frame["status"].eq("out_of_memory")]
    assert len(one) == 1
    assert "memory ran out: Unable to allocate" in one["message"].item()
    assert one["value"].isna().all()
    assert read_npz(inputs["model"])["p/repeats"].tolist() == [0, 2, 3]


def test_after_the_limit_done_splits_keep_their_values(inputs: dict[str, Any], time_over: Path) -> None:
    Slow.calls = -10_000  # without end of patience: what the values are
    whole = rows(inputs, "Slow")
    Slow.calls, Slow.time_over = 0, time_over
    frame = rows(inputs, "Slow", time_limit=2 / 60)
    assert frame.groupby("repeat")["status"].agg(set).tolist() == [{"ok"}, *[{"time_limit"}] * 3]
    late = frame[frame["status"].eq("time_limit")]
    assert late["message"].str.contains(r"time limit of 0\.0333333 minutes").all()
    assert late[["n_train", "n_test"]].to_numpy().tolist() == [[20, 10]] * 3
    columns = ["dimension", "selection", "value"]
    first, expected = (f.loc[f["repeat"].eq(0), columns].reset_index(drop=True) for f in (frame, whole))
    pd.testing.assert_frame_equal(first, expected)


@pytest.mark.full
def test_each_training_size_has_a_limit_and_a_model_of_its_own(
    inputs: dict[str, Any], time_over: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What one size uses up is not taken from the next."""
    held = Splits.load(inputs["splits"], read_parquet(inputs["labels"])[0]["id"].to_numpy(str))
    few = [replace(split, train=split.train[::2], train_size=3) for split in held]
    many = [replace(split, train_size=6) for split in held]
    Splits((*few, *many), 30).save(inputs["splits"], read_parquet(inputs["labels"])[0]["id"].to_numpy(str))
    settings = [{"protocol": f"p-p{size}", "train_size": size} for size in (6, 3)]
    for name, value in {"calls": -10_000, "most": 12, "time_over": time_over}.items():
        monkeypatch.setattr(Slow, name, value, raising=False)
    frame = rows(inputs, "Slow", settings, time_limit=2 / 60)
    assert frame["protocol"].drop_duplicates().tolist() == ["p-p6", "p-p3"]
    assert frame.groupby("train_size")["status"].agg(set).to_dict() == {3: {"ok"}, 6: {"time_limit"}}
    assert set(frame["n_train"].groupby(frame["train_size"]).first()) == {10, 20}
    model = read_npz(inputs["model"])
    assert (model["p-p3/repeats"].tolist(), model["p-p6/repeats"].tolist()) == ([0, 1, 2, 3], [])


def test_kernels_of_a_row_are_named_in_the_order_of_the_study(inputs: dict[str, Any], tmp_path: Path) -> None:
    kernels = [{"id": name, "view": "f"} for name in ("a", "b", "other")]
    missing = tmp_path / "missing.npz"
    write_missing(str(missing), spec_of("PCA").model_copy(update={"kernels": kernels}), "lost")
    Slow.calls = -10_000
    rows(inputs, "Slow")
    table, _ = score_table([missing, inputs["predictions"]], "s", ["accuracy"], ["c", "b", "a"])
    assert table["kernel_set"].drop_duplicates().tolist() == ["b+a+other", "features"]
