"""What the engine costs: the default study's wall time against the time that its jobs take, on one core and on two.

Wall times, so nothing else may run on the machine. Two runs of the default study, about five minutes.
"""

from __future__ import annotations

import os
import time
from pathlib import Path

import pytest
from tests.workflow.conftest import Checkout


def jobs(folder: Path) -> dict[str, float]:
    """Seconds of every job: of its process, or of the tables and the page those until the last line of their log."""
    found: dict[str, float] = {}
    for log in (folder / "logs").rglob("*.log"):
        benchmark = log.with_suffix(".tsv")
        if benchmark.is_file():
            found[str(log)] = float(benchmark.read_text(encoding="utf-8").splitlines()[1].split("\t")[0])
        else:
            found[str(log)] = float(log.read_text(encoding="utf-8").splitlines()[-1].strip("[ ").split(" s]")[0])
    return found


@pytest.mark.benchmark
@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="needs two cores")
def test_the_engine_adds_little_to_its_jobs(tmp_path: Path, repository: Path, record_property) -> None:
    wall, work = {}, {}
    for cores in (2, 1):
        checkout = Checkout(tmp_path / str(cores), repository)
        started = time.monotonic()
        checkout.snakemake("--cores", str(cores))
        wall[cores] = time.monotonic() - started
        work[cores] = sum(jobs(checkout.folder).values())
    overhead = wall[2] / (work[2] / 2)
    efficiency = wall[1] / (2 * wall[2])
    for name, value in {"overhead": overhead, "efficiency": efficiency, "wall_2": wall[2], "wall_1": wall[1],
                        "jobs_2": work[2], "jobs_1": work[1]}.items():  # fmt: skip
        record_property(name, round(value, 3))
    print(f"\nwall {wall[2]:.1f} s on two cores, {wall[1]:.1f} on one; jobs {work[2]:.1f} and {work[1]:.1f} s; "
          f"overhead {overhead:.2f}, efficiency {efficiency:.0%}")  # fmt: skip
    assert overhead <= 1.35
    assert efficiency >= 0.8
