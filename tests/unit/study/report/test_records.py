"""What the page shows of artefacts: notes of readers, groups that splits part, kernels of fits, files, images."""

import base64
import hashlib
import io
import json
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
from PIL import Image

from mklearn.study.data.samples import SampleSet
from mklearn.study.report.records import _data_file, _fit, _thumbnails, _warnings, data_set_of
from mklearn.study.specs.fit_spec import Setting
from mklearn.study.specs.table_specs import ReportDataset, ReportFile, ReportFit


@pytest.mark.parametrize(
    ("about", "note"),
    [({}, "a.csv: odd. b.csv: odder."), ({"note": "Small images."}, "Small images. a.csv: odd. b.csv: odder.")],
)
def test_notes_of_the_readers(about: dict[str, str], note: str) -> None:
    data = SampleSet(["s", "t"], ["a", "b"], tables={"x": np.eye(2)}, notes=("a.csv: odd", "b.csv: odder"))
    spec: Any = SimpleNamespace(fits=[], neighbour="", thumbnails=0)
    predicted: Any = None
    record = data_set_of(spec, ReportDataset(id="d", title="Data", files=[], about=about), data, predicted)
    assert record.note == note


def splits(*tested: str) -> pd.DataFrame:
    return pd.DataFrame([{"repeat": 0, "fold": k, "sample": name} for k, names in enumerate(tested) for name in names])


def test_warnings_are_of_samples_that_are_left_out_and_of_parted_groups() -> None:
    notes = ("3 samples without a label are left out", "kernel k: smallest eigenvalue 0")
    data = SampleSet(list("abcd"), list("xyxy"), tables={"x": np.eye(4)}, notes=notes)
    spec = SimpleNamespace(
        fits=[SimpleNamespace(dataset="d", method="m", settings=[Setting(protocol="p", train_size=None)])],
        neighbour="euclidean",
    )
    asked: Any = (spec, ReportDataset(id="d", title="Data", files=[], about={}))
    predicted: Any = SimpleNamespace(by_rule=lambda keys: splits("ac", "bd") if keys["method"] == "m" else None)
    assert list(_warnings(*asked, data, predicted)) == [notes[0]]
    grouped = replace(data, groups=np.array(["1", "1", "2", "2"]))
    assert list(_warnings(*asked, grouped, predicted))[1].startswith("2 of 2 splits test some samples of a group ")
    repeated = replace(data, tables={"x": np.eye(4)[[0, 0, 1, 2]]})
    assert list(_warnings(*asked, repeated, predicted))[1].startswith("2 of 2 splits test some samples that equal othe")
    for tested, parted in ((("ab", "cd"), []), (("abc", "d"), ["2"]), (("ab", "c"), ["1"])):
        predicted.by_rule = lambda keys, tested=tested: splits(*tested)
        assert [text[0] for text in _warnings(*asked, grouped, predicted)][1:] == parted


def test_kernels_of_a_fit_are_shown_in_the_order_of_the_study() -> None:
    arrays = {
        "kernel_ids": np.array(["a", "b", "gone"]), "weights": np.array([[1, 2, 3], [4, 5, 6]]),
        "history": "[]", "diagnostics": "[]",
        "kernel_info": json.dumps([[{"id": "a", "rank": 1}, {"id": "b", "rank": 2}]]),
    }  # fmt: skip
    entry = ReportFit(dataset="d", settings=[], method="m", title="M")
    record = _fit(arrays, entry, Setting(protocol="p", train_size=None), ["b", "a"])
    assert record.kernel_ids == ["b", "a", "gone"]
    assert record.weights is not None
    assert record.weights.tolist() == [[2, 1, 3], [5, 4, 6]]
    assert record.kernel_info is not None
    assert record.kernel_info.to_dict("list") == {"kernel": ["b", "a"], "rank": [2, 1]}


def test_a_file_that_was_not_kept_has_no_checksum(tmp_path: Path) -> None:
    path = tmp_path / "x.mat"
    path.write_bytes(b"data")
    file = ReportFile(name="x.mat", path=str(path), source="upstream")
    assert _data_file(file) == ("x.mat", "0.0 kB", "upstream", hashlib.sha256(b"data").hexdigest())
    path.unlink()
    assert _data_file(file) == ("x.mat", "not kept", "upstream", "")


def test_thumbnails_show_the_first_image_of_each_class_and_keep_their_shapes() -> None:
    images = [np.full((8, 16), level, dtype=float) for level in (0, 9, 5)] + [np.zeros((128, 32, 3))]
    data = SampleSet(list("abcd"), list("xxyz"), images=images)
    shown = [Image.open(io.BytesIO(base64.b64decode(uri.partition(",")[2]))) for uri in _thumbnails(data, 3)]
    assert [image.size for image in shown] == [(16, 8), (16, 8), (16, 64)]
    assert [int(np.asarray(image).max()) for image in shown] == [0, 255, 0], "grey values of all are stretched together"
    assert _thumbnails(data, 0) == []
