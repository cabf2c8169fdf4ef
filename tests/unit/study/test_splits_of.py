"""Variants of one data set have the same splits: which name they are drawn by, and the splits themselves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from tests.unit.study.small_study import run_study

from mklearn.atomic import read_parquet
from mklearn.errors import ConfigError
from mklearn.study.engine.data_check import check_data
from mklearn.study.jobs import split_spec
from mklearn.study.plan.plan import plan_study
from mklearn.study.reading import check_study
from mklearn.study.specs.data_specs import SplitSpec


def names(datasets: Any) -> dict[str, str]:
    """The name by which the splits of each entry are drawn."""
    return {key.id: spec.dataset for key, spec in specs(datasets)}


def specs(datasets: Any) -> list[tuple[Any, SplitSpec]]:
    study = {"study": "s", "datasets": datasets, "methods": {"m": {"kind": "kernel_fda"}}}
    plan = plan_study(check_study(study))
    (protocol,) = plan.protocols.values()
    return [(dataset, split_spec(dataset, protocol)) for dataset in plan.datasets.values()]


@pytest.fixture
def tables(tmp_path: Path) -> dict[str, Any]:
    pd.DataFrame({"id": list("abcd"), "label": list("xxyy"), "f": [1.0, 2, 3, 4]}).to_csv(tmp_path / "t.csv")
    return {"kind": "feature_tables", "tables": {"t": str(tmp_path / "t.csv")}}


def test_entries_of_one_registered_data_set_share_splits() -> None:
    small = {"name": "yale", "resize": {"shape": [8, 8]}}
    assert names({"yale": None, "small": small, "orl": None}) == {"yale": "yale", "small": "yale", "orl": "orl"}
    assert names({"small": small}) == {"small": "yale"}  # whatever else is in the study
    assert names({"small": small | {"splits_of": "small"}}) == {"small": "small"}


def test_own_data_share_splits_where_the_study_says_so(tables: dict[str, Any]) -> None:
    assert names({"raw": tables, "scaled": tables}) == {"raw": "raw", "scaled": "scaled"}
    assert names({"raw": tables, "scaled": tables | {"splits_of": "raw"}}) == {"raw": "raw", "scaled": "raw"}
    registered = {"faces": {"name": "yale"}, "lbp": tables | {"splits_of": "faces"}}
    assert names(registered) == {"faces": "yale", "lbp": "yale"}


def own(folder: Path, name: str, rows: pd.DataFrame) -> dict[str, Any]:
    rows.to_csv(folder / f"{name}.csv", index=False)
    return {"kind": "feature_tables", "tables": {"t": str(folder / f"{name}.csv")}}


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
        "labels differ for 's', 'z'; 's' is 'b' here and 'a' there": rows.assign(label=list("babbaaba")),
        "it has 'u' that are not here, and lacks none": rows.drop(index=2),
        "it has none that are not here, and lacks 'new'": pd.concat([rows, rows[:1].assign(id="new")]),
        "it has 's' that are not here, and lacks 'other'": rows.assign(id=["other", *"tuvwxyz"]),
    }
    for number, (sentence, frame) in enumerate(wrong.items()):
        entry = own(tmp_path, f"t{number}", frame) | {"splits_of": "one"}
        study = {"study": "s", "datasets": {"one": own(tmp_path, "one", rows), "two": entry},
                 "protocols": {"p": {"kind": "k_fold", "folds": 2}}}  # fmt: skip
        [mistake] = check_data(plan_study(check_study(study))).mistakes
        assert mistake.startswith("datasets.two, protocols.p: these samples are not those of 'one', whose splits they")
        assert sentence in mistake


@pytest.mark.parametrize(
    ("extra", "sentence"),
    [
        ({"b": {"splits_of": "c"}}, "datasets.b.splits_of: there is no data set 'c'. Expected: a, b."),
        ({"b": {"splits_of": "a"}, "c": {"splits_of": "b"}}, "datasets.c.splits_of: 'b' has the splits of 'a'; name"),
    ],
)
def test_mistakes(tables: dict[str, Any], extra: dict[str, Any], sentence: str) -> None:
    datasets = {"a": tables} | {key: tables | fields for key, fields in extra.items()}
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        names(datasets)


def test_the_key_says_what_seeds_the_splits_that_are_shared(tmp_path, monkeypatch) -> None:
    """Kills: files of equal names for other splits, in two studies that share their results."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "t.csv").write_text("id,label,x\n" + "".join(f"s{k},{'ab'[k % 2]},{k}\n" for k in range(20)))
    own = {"kind": "feature_tables", "tables": {"t": "t.csv"}}
    keys = []
    for other in (own, {"name": "iris"}, {"name": "iris"} | {"title": "Flowers"}):
        study = check_study({
            "study": "s", "datasets": {"b": other, "a": own | {"splits_of": "b"}},
            "protocols": {"cv": {"kind": "k_fold", "folds": 2}}, "methods": {"m": {"kind": "majority"}},
        })  # fmt: skip
        keys += [dataset.key for dataset in plan_study(study).datasets.values() if dataset.id == "a"]
    assert keys[0] != keys[1] == keys[2]
