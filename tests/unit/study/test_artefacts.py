"""Artefacts: their records, and damage that is noticed and named."""

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from mklearn.atomic import read_npz, read_parquet, write_parquet
from mklearn.errors import DataError
from mklearn.study.artefacts import read_record, write_arrays, write_record
from mklearn.study.provenance import stamp

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
