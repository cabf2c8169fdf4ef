"""What a file names or claims is looked at before it is opened or takes memory."""

from __future__ import annotations

import os
import signal
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from mklearn.errors import DataError
from mklearn.study.data.readers import content
from mklearn.study.data.readers.matlab_tables import own_variables
from mklearn.study.data.readers.table_files import Table
from mklearn.study.data.readers.tabular import read_frame


@pytest.mark.parametrize("where", ["X", "obs", "obsm/pca", "uns/unused"])
@pytest.mark.parametrize("kind", ["external link", "virtual", "unlimited virtual", "external storage"])
def test_hdf5_opens_no_pipe(tmp_path: Path, kind: str, where: str) -> None:
    pipe = str(tmp_path / "pipe")
    os.mkfifo(pipe)
    with h5py.File(tmp_path / "a.h5ad", "w") as file:
        if kind == "external link":
            file[where] = h5py.ExternalLink(pipe, "X")
        elif kind == "external storage":
            file.create_dataset(where, shape=(4, 2), dtype="f8", external=[(pipe, 0, 64)])
        else:
            rows = 4 if kind == "virtual" else h5py.h5s.UNLIMITED
            layout = h5py.VirtualLayout((4, 2), "f8", maxshape=(None, 2) if kind != "virtual" else None)
            source = h5py.VirtualSource(pipe, "X", (4, 2), maxshape=(None, 2) if kind != "virtual" else None)
            layout[0:rows, :] = source[0:rows, :]
            file.create_virtual_dataset(where, layout)

    def too_late(*_: Any) -> None:
        raise AssertionError("a pipe was opened")

    signal.signal(signal.SIGALRM, too_late)
    signal.alarm(20)
    with pytest.raises(DataError, match=f"{where} is in another file; copy it into this one"):
        Table(tmp_path / "a.h5ad", "id")
    signal.alarm(0)


def test_the_budget_is_of_the_file_and_not_of_each_array(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(content, "MOST_BYTES", 3000)
    monkeypatch.setattr(content, "GROWTH", 0)
    path = tmp_path / "a.mat"
    with h5py.File(path, "w", userblock_size=512) as file:
        for name in ("one", "two", "three"):
            file.create_dataset(name, data=np.zeros((10, 15), dtype=np.int8))
    header = b"MATLAB 7.3 MAT-file".ljust(124, b" ") + b"\x00\x02IM"
    path.write_bytes(header + path.read_bytes()[128:])
    with pytest.raises(DataError, match=r"(two|three) has shape"):  # int8 becomes 8 bytes: 1,200 each
        own_variables(path)
    assert list(own_variables(path, ["one", "gone"])) == ["one"]
    assert Table(path, "id", array="two").numbers().shape == (15, 10)


def test_a_table_of_many_rows_in_few_bytes_is_refused_unread(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pq.write_table(pa.table({f"c{n}": np.zeros(20_000, np.int8) for n in range(2)}), tmp_path / "t.parquet")
    assert (tmp_path / "t.parquet").stat().st_size < 20_000
    monkeypatch.setattr(content, "MOST_BYTES", 300_000)
    monkeypatch.setattr(pq.ParquetFile, "read", None)
    with pytest.raises(DataError, match=r"the table has shape \(20000, 2\), 0\.0 GB as a dense table"):
        read_frame(tmp_path / "t.parquet", ("id",))


def test_records_are_no_features(tmp_path: Path) -> None:
    records = np.zeros((4, 2), dtype=[("a", "f8"), ("b", "f8")])
    np.savez(tmp_path / "r.npz", label=list("abab"), x=records)
    with pytest.raises(DataError, match=r"r\.npz: array 'x' has records of 'a', 'b'; expected numbers"):
        Table(tmp_path / "r.npz", "id").numbers()
