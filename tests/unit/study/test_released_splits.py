"""Splits that were released with a data set, and the choice of parameters on the test samples."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
from scipy.io import savemat

from mklearn.errors import ConfigError, DataError
from mklearn.study.data.draw_splits import draw_splits
from mklearn.study.data.readers.matlab import uci, uci_splits
from mklearn.study.data.splits import released
from mklearn.study.jobs import Jobs, wildcards_of
from mklearn.study.plan.plan import Plan, plan_study
from mklearn.study.reading import check_study
from mklearn.study.specs.data_specs import SplitSpec

CODES = np.array([3, 1, 1, 3, 10, 10])
METHODS = {"majority": {"kind": "majority"}}
PROTOCOLS = {"inner": {"kind": "released"}, "test": {"kind": "released", "choose": "test_set"}}


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """Two test sets, the first with a sample twice and with samples of the second."""
    cells = np.empty((1, 2), dtype=object)
    cells[0, 0], cells[0, 1] = np.array([[6, 1, 6]], dtype=np.uint8), np.array([[2, 1]], dtype=np.uint8)
    savemat(tmp_path / "a.mat", {"X": np.arange(12.0).reshape(2, 6), "Y": CODES[:, None], "kfold": cells})
    return tmp_path / "a.mat"


def planned(**study: Any) -> Plan:
    return plan_study(check_study({"study": "s", "methods": METHODS, "protocols": PROTOCOLS} | study))


def test_splits_by_the_ids_of_the_data_set(file: Path) -> None:
    test_ids = uci_splits(file)
    assert [part.tolist() for part in test_ids] == [["3/1", "10/2"], ["3/1", "1/1"]]
    samples = uci({"a.mat": file})
    splits = released(test_ids, samples.ids)
    assert [(split.repeat, split.fold) for split in splits] == [(0, 0), (1, 0)]
    assert [split.test.tolist() for split in splits] == [[0, 5], [0, 1]]
    assert [split.train.tolist() for split in splits] == [[1, 2, 3, 4], [2, 3, 4, 5]]
    without_threes = released(test_ids, samples.ids[np.flatnonzero(CODES != 3)])
    assert [split.test.tolist() for split in without_threes] == [[3], [0]]
    with pytest.raises(DataError, match="no test samples"):
        released(test_ids, samples.ids[[2, 3]])


def test_they_are_drawn_from_the_file(file: Path) -> None:
    samples = uci({"a.mat": file})
    labels = pd.DataFrame({"id": samples.ids, "y": samples.y, "label": samples.classes[samples.y]})
    spec = SplitSpec(
        kind="released", implementation="mklearn.study.data.splits:released", parameters={}, seed=0, dataset="a",
        source="mklearn.study.data.readers.matlab:uci_splits",
    )  # fmt: skip
    assert [split.test.tolist() for split in draw_splits(labels, spec, [file]).splits] == [[0, 5], [0, 1]]
    with pytest.raises(ConfigError, match="no file of splits was released with data set 'a'"):
        draw_splits(labels, spec)


def test_in_a_plan() -> None:
    """The file of the data set is the file of the splits, and only the choice differs between the two protocols."""
    plan = planned(datasets=["heart"])
    assert len(plan.protocols) == 2
    jobs = Jobs(plan)
    for wildcards in map(wildcards_of, jobs.keys("split")):
        assert [Path(path).name for path in jobs.job("split", wildcards).inputs["files"]] == ["heart.mat"]
        spec = jobs.specification("split", wildcards)
        assert spec["source"] == "mklearn.study.data.readers.matlab:uci_splits"
        assert "choose" not in spec["parameters"]
    inner, test = plan.fits.values()
    assert [(fit.protocol_id, fit.spec.settings[0].protocol) for fit in (inner, test)] == [
        ("inner", "inner"), ("test", "test-optimistic"),
    ]  # fmt: skip
    assert (inner.spec.evaluation.choice, test.spec.evaluation.choice) == ("inner_cv", "test_set")
    assert "choice" not in inner.spec.as_dict()["evaluation"], "keys of fits made before are the same"
    assert inner.method != test.method


@pytest.mark.parametrize(
    ("study", "sentence"),
    [
        ({"datasets": ["heart", "new-thyroid"]},
         "protocols.inner: no splits were released with data set 'new-thyroid'."),
        ({"datasets": ["heart"], "methods": {"m": {"kind": "majority", "protocols": ["iner"]}}},
         "methods.m.protocols: there is no protocol 'iner'. Did you mean 'inner'? Expected: inner, test."),
    ],
)  # fmt: skip
def test_mistakes(study: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(sentence)):
        planned(**study)
