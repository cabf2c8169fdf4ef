"""The step of the report: what the readers noted about a data set is on the page."""

from __future__ import annotations

import numpy as np
import pytest

from mklearn.contract.table_specs import ReportDataset
from mklearn.datasets.samples import SampleSet
from mklearn.steps.report import _data_set


@pytest.mark.parametrize(
    ("about", "note"),
    [({}, "a.csv: odd. b.csv: odder."), ({"note": "Small images."}, "Small images. a.csv: odd. b.csv: odder.")],
)
def test_notes_of_the_readers(about: dict[str, str], note: str) -> None:
    data = SampleSet.from_labels(["s", "t"], ["a", "b"], tables={"x": np.eye(2)}, notes=("a.csv: odd", "b.csv: odder"))
    record = _data_set(ReportDataset(id="d", title="Data", files=[], about=about), data, 0)
    assert record.note == note
