"""What a run cost: from Snakemake's records to rows, and to a table that says what is not known."""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from snakemake.persistence.file import FilePersistence

from mklearn.steps.stage_costs import STAGES, record_path, stage_costs

TABLE = "results/study/scores.parquet"
CACHE = "results/cache"


class Records:
    """A folder of records as Snakemake writes them."""

    def __init__(self, folder):
        self.folder = folder

    def add(self, output, *inputs, start=100.0, end=101.0, **more):
        path = record_path(self.folder, output)
        path.parent.mkdir(parents=True, exist_ok=True)
        content = {"input": ["src/mklearn/x.py", *inputs], "starttime": start, "endtime": end} | more
        path.write_text(json.dumps(content), encoding="utf-8")


@pytest.fixture
def records(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return Records(tmp_path / "metadata")


def costs(records):
    return {row["stage"]: row for row in stage_costs(records.folder, TABLE)}


@pytest.mark.parametrize("length", [10, 200, 700])
def test_records_lie_where_snakemake_puts_them(length, tmp_path):
    output = "results/ü" + "x" * length + ".npz"
    there = FilePersistence._record_path(SimpleNamespace(_fetch_max_len=lambda _: 255), str(tmp_path), output)
    assert str(record_path(tmp_path, output)) == there


def test_the_jobs_behind_a_table_are_summed_by_stage(records, tmp_path):
    fits = [f"{CACHE}/fits/d-1/r-1/{name}.parquet" for name in ("a", "b", "many")]
    pairwise, whole = f"{CACHE}/pairwise/d-1/gb-1/point_set", f"{CACHE}/descriptors/d-1/gb-1"
    predictions = [fit.replace(".parquet", ".predictions.parquet") for fit in fits]
    records.add(TABLE, *fits, *predictions)
    records.add(predictions[0], f"{pairwise}.npz", end=110.5)
    records.add(predictions[1], f"{pairwise}.npz", end=120.0)
    records.add(fits[0], f"{CACHE}/kernels/d-1/k-1.json", f"{pairwise}.npz", f"{CACHE}/splits/d-1/r-1.parquet",
                f"{CACHE}/data/d-1.labels.parquet", end=110.5)  # fmt: skip
    projection = f"{CACHE}/projections/d-1/r-1/gb-1.npz"
    records.add(fits[1], f"{pairwise}.npz", projection, end=130.0)
    records.add(projection, f"{whole}.npz", f"{CACHE}/splits/d-1/r-1.parquet", end=109.0)
    records.add(f"{CACHE}/kernels/d-1/k-1.json", f"{pairwise}.npz")
    records.add(f"{pairwise}.npz", f"{whole}.npz", *(f"{pairwise}/{part}.npz" for part in ("1of2", "2of2")))
    for part in ("1of2", "2of2"):
        records.add(f"{pairwise}/{part}.npz", f"{whole}.npz", end=160.0)
    records.add(f"{whole}.npz", f"{whole}.learned.npz", f"{CACHE}/resized/d-1.npz", end=105.0)
    records.add(f"{whole}.learned.npz", f"{CACHE}/resized/d-1.npz", end=107.0)
    records.add(f"{CACHE}/resized/d-1.npz", f"{CACHE}/data/d-1.npz")
    records.add(f"{CACHE}/data/d-1.npz", "results/downloads/d/file.zip", end=103.0)
    records.add(f"{CACHE}/data/d-1.labels.parquet", "results/downloads/d/file.zip", end=104.0)
    records.add(f"{CACHE}/splits/d-1/r-1.parquet", f"{CACHE}/data/d-1.labels.parquet")
    moments, landmarks = f"{CACHE}/moments/d-1/r-1/l-1", f"{CACHE}/landmarks/d-1/r-1/l-1.npz"
    blocks = ("1of2", "2of2")
    passed = [f"{folder}/{part}.npz" for folder in (moments, whole) for part in blocks]
    records.add(fits[2], landmarks, *passed)
    records.add(landmarks, *(f"{whole}/{part}.npz" for part in blocks), end=102.0)
    for part in blocks:
        records.add(f"{moments}/{part}.npz", landmarks, f"{whole}/{part}.npz", end=105.0)
        records.add(f"{whole}/{part}.npz", f"{CACHE}/resized/d-1.npz", end=103.0)
    records.add(f"{CACHE}/fits/d-1/r-1/of-another-study.parquet", f"{pairwise}.npz", end=999.0)
    for name, size in ((fits[0], 10), (fits[0].replace(".parquet", ".npz"), 5)):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x" * size)
    found = costs(records)
    assert list(found) == list(STAGES)
    assert {stage: row["jobs"] for stage, row in found.items()} == {
        "read": 1, "resize": 1, "learn": 1, "describe": 3, "pairwise": 3, "kernel_set": 1, "split": 1, "project": 1,
        "landmarks": 1, "moments": 2, "fit": 3,
    }  # fmt: skip
    assert found["fit"] == {
        "stage": "fit", "jobs": 3, "known": 3, "seconds": 41.5, "longest": 30.0,
        "longest_job": fits[1].removesuffix(".parquet"), "bytes": 15,
    }  # fmt: skip
    assert found["pairwise"]["seconds"] == 121.0
    assert found["read"]["seconds"] == 4.0, "one job with two outputs, as long as the later one"
    assert found["learn"]["seconds"] == 7.0
    assert found["project"]["seconds"] == 9.0
    assert found["moments"]["seconds"] == 10.0, "of both blocks"


def test_what_has_no_record_is_not_known(records):
    fits = [f"{CACHE}/fits/d-1/r-1/{name}.parquet" for name in "abcd"]
    records.add(TABLE, *fits)
    records.add(fits[0], f"{CACHE}/kernels/d-1/k-1.json", end=104.0)
    records.add(fits[1], start=None)
    records.add(fits[2], start=200.0)  # marked as done, but never run
    record_path(records.folder, fits[3]).write_text("{ broken")
    found = costs(records)
    assert (found["fit"]["jobs"], found["fit"]["known"], found["fit"]["seconds"]) == (4, 1, 4.0)
    kernels = found["kernel_set"]
    assert (kernels["known"], kernels["seconds"], kernels["longest"], kernels["longest_job"]) == (0, None, None, None)


def test_results_without_records_have_no_costs(records):
    assert stage_costs(records.folder, TABLE) == []
    records.add(TABLE)
    assert stage_costs(records.folder, TABLE) == []
