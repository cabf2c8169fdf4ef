"""Tables of the UCI repository: synthetic files in both forms, damaged ones, and registered tables in a study."""

from __future__ import annotations

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.io import savemat

from mklearn.errors import ConfigError, DataError
from mklearn.study.config.reading import check_study
from mklearn.study.data.readers.uci_table import read
from mklearn.study.plan.plan import Plan, plan_study

X = np.arange(24, dtype=float).reshape(6, 4) / 8
CODES = np.array([3, 1, 1, 3, 10, 10])


def digest(values: np.ndarray) -> str:
    return hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()


def test_matlab_and_text_hold_the_same(tmp_path: Path) -> None:
    """Whatever the column of the class; ids and classes are in natural order of the codes."""
    savemat(tmp_path / "a.mat", {"X": X.T, "Y": CODES[:, None].astype(np.uint8), "kfold": np.ones((1, 2))})
    np.savetxt(tmp_path / "first.data", np.column_stack([CODES, X]), delimiter=",")
    np.savetxt(tmp_path / "last.data", np.column_stack([X, CODES]), delimiter=",")
    content = digest(np.column_stack([X, CODES]))
    for name in ("a.mat", "first.data", "last.data"):
        samples = read({name: tmp_path / name}, class_codes=[1, 3, 10], content_sha256=content)
        np.testing.assert_array_equal(samples.tables["features"], X)
        assert samples.classes[samples.y].tolist() == [str(code) for code in CODES]
        assert samples.classes.tolist() == ["1", "3", "10"]
        assert samples.ids.tolist() == ["3/1", "1/1", "1/2", "3/2", "10/1", "10/2"]


def test_groups_of_features(tmp_path: Path) -> None:
    savemat(tmp_path / "a.mat", {"X": X.T, "Y": CODES[:, None]})
    tables = {"all": [0, 4], "even": [0, 4, 2], "end": [3, 4]}
    found = read({"a.mat": tmp_path / "a.mat"}, tables=tables).tables
    assert {name: table.shape for name, table in found.items()} == {"all": (6, 4), "even": (6, 2), "end": (6, 1)}
    np.testing.assert_array_equal(found["even"], X[:, [0, 2]])
    with pytest.raises(ConfigError, match="`tables` gives none none of the 4 features"):
        read({"a.mat": tmp_path / "a.mat"}, tables={"none": [4, 6]})


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("1,2\n1;2\n", "not numbers separated by commas"),
        ("1,2,0.5\n2,1,0.1\n4,2,0.5\n", "neither the first nor the last column has the classes 1, 3, 10 and no other"),
        ("1,nan\n3,1\n10,2\n", "values missing or infinite"),
    ],
)
def test_damaged_text(tmp_path: Path, text: str, sentence: str) -> None:
    (tmp_path / "x.data").write_text(text)
    with pytest.raises(DataError, match=sentence):
        read({"x.data": tmp_path / "x.data"}, class_codes=[1, 3, 10])


def test_wrong_matlab_files(tmp_path: Path) -> None:
    savemat(tmp_path / "a.mat", {"X": X, "Y": CODES[:, None]})  # samples in rows
    with pytest.raises(DataError, match=r"X has shape \(6, 4\); expected \(features, 6\)"):
        read({"a.mat": tmp_path / "a.mat"})


# --- in a study

METHODS = {"average": {"kind": "kernel_fda"}, "logistic": {"kind": "logistic_regression"}}


def planned(**study: Any) -> Plan:
    return plan_study(check_study({"study": "s", "methods": METHODS} | study))


def test_registered_tables_are_descriptors() -> None:
    """By default all of them; a study names some as it names tables of its own, beside images of other data sets."""
    plan = planned(datasets=["sonar", "wine"])
    names = {(fit.dataset.id, kernel["id"]) for fit in plan.fits.values() for kernel in fit.spec.kernels}
    tables = ["features", "low", "middle", "high"]
    assert names == {("wine", "features"), *(("sonar", name) for name in tables)}
    assert all(dataset.family == "tables" and dataset.downloads for dataset in plan.datasets.values())
    descriptors = {"low": {"kind": "table", "table": "low"}, "pixels": {"kind": "pixels"}}
    plan = planned(datasets=["sonar", "digits"], descriptors=descriptors)
    used = {(name.split("-")[0], key.split("-")[0]) for name, key in plan.descriptors}
    assert used == {("sonar", "low"), ("digits", "pixels")}


@pytest.mark.parametrize(
    ("study", "sentence"),
    [
        ({"datasets": {"wine": {"resize": {"shape": [8, 8]}}}}, "datasets.wine.resize: wine has tables of features"),
        ({"datasets": ["wine"], "descriptors": {"d": {"kind": "table", "table": "low"}}},
         "descriptors.d.table: there is no table in any data set 'low'"),
        ({"datasets": ["wine"], "methods": {"m": {"kind": "glram"}}}, "takes images, and data set 'wine' has none"),
    ],
)  # fmt: skip
def test_mistakes(study: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ConfigError, match=sentence):
        planned(**study)
