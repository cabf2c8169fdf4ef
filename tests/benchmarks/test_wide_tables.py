"""The memory that a table of 24 samples and 100,000 features takes to read, beside the table in memory and its file.

Peaks of processes of their own, less that of one that reads two features. Beside it, pandas took over 20 GB of a
Parquet table of this shape.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

SHAPE = (24, 100_000)
MOST = {"csv": 8, "parquet": 11}
"""Times the file; a column of a data frame costs some kilobytes whatever it holds."""
PROGRAM = r"""
import re, sys
from pathlib import Path
from mklearn.study.data.readers.table_files import Table
Table(Path(sys.argv[1]), 'id').numbers()
print(re.search(r"VmHWM:\s+(\d+) kB", Path("/proc/self/status").read_text())[1])
"""


def peak(path: Path) -> float:
    """Return the megabytes of a process that reads a table."""
    found = subprocess.run([sys.executable, "-c", PROGRAM, path], capture_output=True, text=True, check=True)
    return float(found.stdout) / 1e3


@pytest.mark.benchmark
@pytest.mark.skipif(sys.platform != "linux", reason="reads the peak from /proc")
@pytest.mark.parametrize("suffix", ["csv", "parquet"])
def test_a_wide_table_takes_a_few_times_its_file(tmp_path: Path, suffix: str, record_property: Callable) -> None:
    samples, features = SHAPE
    X = np.random.default_rng(0).normal(size=SHAPE)
    frame = pd.DataFrame(X, [f"s{n}" for n in range(samples)], [f"gene-{n}" for n in range(features)])
    frame = frame.rename_axis("id").reset_index()
    wide, small = tmp_path / f"wide.{suffix}", tmp_path / f"small.{suffix}"
    for part, path in ((frame, wide), (frame.iloc[:, :3], small)):
        part.to_csv(path, index=False) if suffix == "csv" else part.to_parquet(path)
    megabytes, file = peak(wide) - peak(small), wide.stat().st_size / 1e6
    record_property("megabytes", round(megabytes))
    print(f"\n{suffix}: table {X.nbytes / 1e6:.0f} MB, file {file:.0f} MB, {megabytes:.0f} MB to read it")
    assert megabytes < MOST[suffix] * file
