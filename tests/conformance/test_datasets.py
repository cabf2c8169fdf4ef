"""Every registered data set, read from the mirror as in the workflow: download, read."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.unit.planned_jobs import planned_jobs

from mklearn.atomic import read_parquet
from mklearn.study.data.registry import registry
from mklearn.study.data.samples import SampleSet

# Of a large data set, a part is resized; `expected` is compared with all of it.
PARTS: dict[str, dict[str, Any]] = {
    "caltech101": {
        "exclude_classes": ["BACKGROUND_Google"], "first_classes": 10, "per_class": 3, "draw": 0,
        "resize": {"pixels": 10000, "interpolation": "bicubic"},
    },
}  # fmt: skip
DESCRIPTORS = {"caltech101": {"descriptors": {"phog": {"kind": "phog"}}}}  # one for images of several sizes


# A set with files is read from the mirror, which `make test` must not need.
NAMES = [pytest.param(name, marks=[pytest.mark.full] if known.files else []) for name, known in registry().items()]


@pytest.mark.parametrize("name", NAMES)
def test_reading(name: str, tmp_path: Path, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    known = registry()[name]
    if known.files:
        monkeypatch.setenv("MKLEARN_MIRROR", str(request.getfixturevalue("mirror")))
    monkeypatch.chdir(tmp_path)
    study = {"study": "s", "datasets": {name: PARTS.get(name)}} | DESCRIPTORS.get(name, {})
    jobs = [job for job in planned_jobs(study) if job.rule in ("download", "read")]
    for job in jobs:
        job.run()
    table, record = read_parquet(Path(jobs[-1].outputs["labels"]))
    held = SampleSet.load(Path(jobs[-1].outputs["samples"]))

    expected = known.expected
    if name in PARTS:
        part = PARTS[name]
        expected = {"n_samples": part["first_classes"] * part["per_class"], "n_classes": part["first_classes"],
                    "per_class": part["per_class"]}  # fmt: skip
    assert len(held) == expected["n_samples"]
    if held.target == "classes":
        assert len(held.classes) == expected["n_classes"]
    if "image_shape" in expected:
        assert held.image_shape == tuple(expected["image_shape"])
    if "per_class" in expected:
        assert set(np.bincount(held.y)) == {expected["per_class"]}
    assert {name: table.shape[1] for name, table in held.tables.items()} == expected.get("tables", {})
    if held.images is not None:
        pixels = np.asarray(held.images[0], dtype=float)
        assert np.isfinite(pixels).all()
        assert pixels.min() >= 0
        assert np.ptp(pixels) > 0
    np.testing.assert_array_equal(table["id"].to_numpy(dtype=str), held.ids)
    np.testing.assert_array_equal(table["y"], held.y)
    if held.target == "classes":
        np.testing.assert_array_equal(table["label"].to_numpy(dtype=str), held.labels)
    assert set(record["inputs"].get("files", {})) == {Path(path).name for path in jobs[-1].files}


@pytest.mark.parametrize("name", list(registry()))
def test_entries_state_their_origin(name: str) -> None:
    known = registry()[name]
    assert all((known.title, known.licence, known.citation, known.homepage, known.expected))
    for file in sum(known.protocol_files.values(), known.files):
        assert file.urls or file.mirror, file.name
        assert file.sha256 or file.md5, file.name
        assert "sha256" in known.expected or not file.content_check, file.name
