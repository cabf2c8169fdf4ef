"""The step of the report: what the readers noted about a data set is on the page."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from mklearn.study.data.samples import SampleSet
from mklearn.study.specs.table_specs import ReportDataset, ReportFile
from mklearn.study.stamps import write_beside
from mklearn.study.steps.report import _data_file, _data_set


@pytest.mark.parametrize(
    ("about", "note"),
    [({}, "a.csv: odd. b.csv: odder."), ({"note": "Small images."}, "Small images. a.csv: odd. b.csv: odder.")],
)
def test_notes_of_the_readers(about: dict[str, str], note: str) -> None:
    data = SampleSet.from_labels(["s", "t"], ["a", "b"], tables={"x": np.eye(2)}, notes=("a.csv: odd", "b.csv: odder"))
    record = _data_set(ReportDataset(id="d", title="Data", files=[], about=about), data, 0)
    assert record.note == note


def test_a_file_that_was_not_kept_has_the_checksum_of_its_record(tmp_path: Path) -> None:
    """Downloads may be deleted once they are read."""
    path = tmp_path / "x.mat"
    path.write_bytes(b"data")
    write_beside([path], {"spec": {}})
    file = ReportFile(name="x.mat", path=str(path), source="upstream")
    there = _data_file(file)
    assert (there.sha256, there.bytes) == (hashlib.sha256(b"data").hexdigest(), 4)
    path.unlink()
    assert _data_file(file) == replace(there, bytes=None)
    path.with_name("x.mat.provenance.json").unlink()
    assert _data_file(file) == replace(there, bytes=None, sha256="")
