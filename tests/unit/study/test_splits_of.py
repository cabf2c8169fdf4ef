"""Variants of one data set have the same splits: which name they are drawn by, and the splits themselves."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from mklearn.atomic import read_parquet, write_parquet
from mklearn.contract.specs import SplitSpec
from mklearn.errors import ConfigError
from mklearn.study.config.reading import check_study
from mklearn.study.plan.plan import plan_study
from mklearn.study.stages.split import split_spec
from mklearn.study.stages.targets import Targets
from mklearn.study.steps import split as step


def names(datasets: Any) -> dict[str, str]:
    """The name by which the splits of each entry are drawn."""
    return {key.id: spec.dataset for key, spec in specs(datasets)}


def specs(datasets: Any) -> list[tuple[Any, SplitSpec]]:
    study = {"study": "s", "datasets": datasets, "methods": {"m": {"kind": "kernel_fda"}}}
    plan = plan_study(check_study(study))
    targets, (protocol,) = Targets(plan), plan.protocols
    found = []
    for key, dataset in plan.datasets.items():
        found.append((dataset, split_spec(targets.job("split", dataset=key, protocol=protocol))))
    return found


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


def test_the_splits_of_variants_are_equal(tables: dict[str, Any], tmp_path: Path) -> None:
    """As the step draws them: equal for variants, others for a data set of its own."""
    labels = pd.DataFrame({"id": [f"s{k:02}" for k in range(40)], "y": [0, 1] * 20, "label": ["x", "y"] * 20})
    write_parquet(tmp_path / "labels.parquet", labels)
    drawn = {}
    study = {"raw": tables, "scaled": tables | {"splits_of": "raw"}, "other": tables}
    for dataset, spec in specs(study):
        step.split(tmp_path / "labels.parquet", tmp_path / f"{dataset.id}.parquet", spec=spec)
        drawn[dataset.id] = read_parquet(tmp_path / f"{dataset.id}.parquet")[0]
    pd.testing.assert_frame_equal(drawn["raw"], drawn["scaled"])
    assert not drawn["raw"].equals(drawn["other"])


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
