"""Atomic files and artefacts: what is left after failures, full disks and kills, records, and damage that is named."""

import errno
import io
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mklearn.atomic import atomic_path, csv_text, read_npz, read_parquet, write_npz, write_parquet, write_text
from mklearn.errors import DataError
from mklearn.study.artefacts import read_record, write_arrays, write_record
from mklearn.study.provenance import stamp


def write_half(target: Path, error: Exception) -> None:
    with atomic_path(target) as temporary:
        assert (temporary.parent, temporary.suffix) == (target.parent, target.suffix)
        temporary.write_text("half")
        raise error


@pytest.mark.parametrize(
    ("error", "raised", "words"),
    [
        (RuntimeError("boom"), RuntimeError, "boom"),
        (OSError("of a library"), OSError, "^of a library"),
        (OSError(errno.ENOSPC, "No space left on device"), DataError, "csv: no space left on the disk"),
        (PermissionError(errno.EACCES, "Denied", "x"), DataError, "csv: can't be written: Denied: x; check the folder"),
    ],
)
def test_failure_keeps_the_old_file_and_leaves_nothing_else(
    tmp_path: Path, error: Exception, raised: type[Exception], words: str
) -> None:
    target = tmp_path / "table.csv"
    write_text(target, "old")
    with pytest.raises(raised, match=words):
        write_half(target, error)
    with pytest.raises(DataError, match=r"x: can't be written: .*table\.csv; check the folder"):
        write_half(target / "x", error)
    assert target.read_text() == "old"
    assert list(tmp_path.iterdir()) == [target]


def test_npz_round_trip_and_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arrays = {
        "x": np.arange(12.0).reshape(3, 4)[:, ::2],
        "names": np.array(["é", "bb"]),
        "tables/a": np.zeros((0, 3), dtype=np.float32),
        "scalar": np.int64(7),
        "fortran": np.asfortranarray(np.eye(3)),
    }
    write_npz(tmp_path / "a.npz", **arrays)
    later = time.time() + 10  # two seconds are the resolution of times in zip files
    monkeypatch.setattr(time, "time", lambda: later)
    write_npz(tmp_path / "b.npz", **arrays)
    assert (tmp_path / "a.npz").read_bytes() == (tmp_path / "b.npz").read_bytes()
    back = read_npz(tmp_path / "a.npz")
    assert list(back) == list(arrays)
    for name, array in arrays.items():
        np.testing.assert_array_equal(back[name], array)
        assert back[name].dtype == np.asarray(array).dtype
    with np.load(tmp_path / "a.npz", allow_pickle=False) as numpys:
        np.testing.assert_array_equal(numpys["tables/a"], arrays["tables/a"])
    assert set(read_npz(tmp_path / "a.npz", ("x",))) == {"x"}


def test_npz_refuses_object_arrays(tmp_path: Path) -> None:
    with pytest.raises(DataError, match="'x' has dtype object"):
        write_npz(tmp_path / "a.npz", x=np.array([{}]))
    np.savez(tmp_path / "b.npz", x=np.array([{}], dtype=object))
    with pytest.raises(DataError, match=r"b\.npz: has an array of Python objects"):
        read_npz(tmp_path / "b.npz")


def test_parquet_round_trip_bytes_and_damage(tmp_path: Path) -> None:
    frame = pd.DataFrame({"id": ["a", "b"], "k": pd.array([1, None], dtype="Int64"), "v": [0.5, np.nan]}, index=[5, 9])
    frame.attrs["ids"] = ["é"]
    write_parquet(tmp_path / "a.parquet", frame, {"spec": {"b": [1, 2], "a": "é"}})
    write_parquet(tmp_path / "b.parquet", frame, {"spec": {"a": "é", "b": [1, 2]}})
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    back, metadata = read_parquet(tmp_path / "a.parquet")
    pd.testing.assert_frame_equal(back, frame.reset_index(drop=True))
    assert (metadata, back.attrs) == ({"spec": {"a": "é", "b": [1, 2]}}, {"ids": ["é"]})
    data = (tmp_path / "a.parquet").read_bytes()
    (tmp_path / "c.parquet").write_bytes(data[: len(data) // 2])
    with pytest.raises(DataError, match=r"c\.parquet: not a readable Parquet"):
        read_parquet(tmp_path / "c.parquet")
    frame.to_parquet(tmp_path / "foreign.parquet")
    assert read_parquet(tmp_path / "foreign.parquet")[1] == {}


def test_a_table_for_a_spreadsheet_has_no_formulas() -> None:
    words = ["=1+1", "+1+cmd|'/C calc'!A0", "@x", "-f\n(2)", "\tx", "-1.5", "+Sheet!A1", "a=b", "", "+1_-2"]
    frame = pd.DataFrame({"name": words, "kind": pd.Categorical(["=a", "b"] * 5), "x": -np.arange(10.0)})
    back = pd.read_csv(io.StringIO(csv_text(frame)), keep_default_na=False)
    escaped = {"=1+1", "+1+cmd|'/C calc'!A0", "@x", "\tx", "+Sheet!A1"}
    assert back["name"].tolist() == [f"'{word}" if word in escaped else word for word in words]
    assert back["kind"].tolist() == ["'=a", "b"] * 5
    assert back["x"].tolist() == frame["x"].tolist()


@pytest.mark.skipif(os.name != "posix", reason="SIGKILL")
def test_killed_writer_leaves_the_old_file_whole(tmp_path: Path) -> None:
    target = tmp_path / "x.npz"
    code = (
        "import sys, numpy as np; from mklearn.atomic import write_npz\n"
        "x = np.random.default_rng(0).random(2_000_000)\n"
        "write_npz(sys.argv[1], x=x); print('ready', flush=True)\n"
        "while True: write_npz(sys.argv[1], x=x)\n"
    )
    source = str(Path(__file__).parents[2] / "src")
    for delay in (0.0, 0.013, 0.029):
        with subprocess.Popen(
            [sys.executable, "-c", code, str(target)], stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": source}
        ) as process:
            process.stdout.readline()
            time.sleep(delay)
            process.send_signal(signal.SIGKILL)
        assert read_npz(target)["x"].shape == (2_000_000,)


# --- artefacts


RECORD = stamp("fit", {"method": {"id": "é"}}, {"labels": "ab12"})


WRITERS: dict[str, Callable[[Path], None]] = {
    ".npz": lambda path: write_arrays(path, RECORD, x=np.arange(1000.0)),
    ".parquet": lambda path: write_parquet(path, pd.DataFrame({"x": np.arange(1000.0) ** 0.5}), RECORD),
    ".json": lambda path: write_record(path, RECORD),
}
DAMAGE: dict[str, Callable[[bytes], bytes]] = {
    "truncated": lambda content: content[: len(content) // 2],
    "emptied": lambda content: b"",
    "one bit": lambda content: content[:200] + bytes([content[200] ^ 1]) + content[201:],  # of the first array or page
}


@pytest.mark.parametrize("suffix", WRITERS)
def test_an_artefact_has_the_record_of_its_job(tmp_path: Path, suffix: str) -> None:
    path = tmp_path / f"a{suffix}"
    WRITERS[suffix](path)
    assert read_record(path) == RECORD
    assert set(RECORD) == {"spec", "inputs", "code", "versions"}
    with pytest.raises(DataError, match="no such file"):
        read_record(tmp_path / f"b{suffix}")


@pytest.mark.parametrize("damage", DAMAGE)
@pytest.mark.parametrize(("suffix", "read"), [(".npz", read_npz), (".parquet", read_parquet), (".json", read_record)])
def test_a_damaged_artefact_is_named(tmp_path: Path, suffix: str, read: Callable[[Path], object], damage: str) -> None:
    path = tmp_path / f"a{suffix}"
    WRITERS[suffix](path)
    path.write_bytes(b"[1]" if (suffix, damage) == (".json", "one bit") else DAMAGE[damage](path.read_bytes()))
    with pytest.raises(DataError, match=rf"^{path}: not a readable .*delete it and run again$"):
        read(path)
