"""Compiled loops: where their machine code is kept, and that they run where none can be."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numba.core import caching
from numpy.typing import NDArray

from mklearn.kernels.compiled import compile_loop


def total(values: NDArray[np.float64]) -> float:
    result = 0.0
    for value in values:
        result += value
    return result


def test_runs_where_nothing_can_be_written(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    loop = compile_loop(total)
    assert loop(np.arange(5.0)) == 10


@pytest.mark.full
def test_a_second_process_finds_the_machine_code(tmp_path: Path, repository: Path) -> None:
    """Also with the intrinsic, which numba can't look into."""
    program = (
        "from types import SimpleNamespace as S; import numpy as np\n"
        "from mklearn.kernels.point_set_distance import point_set_distances\n"
        "from mklearn.kernels import point_set_loops\n"
        "x = S(descriptors=np.eye(3, dtype='f')[:, None], positions=np.zeros((3, 1, 2), 'f'), counts=np.ones(3, int))\n"
        "assert np.allclose(point_set_distances(x), 2 - 2 * np.eye(3))\n"
        "print(sum(point_set_loops.with_positions.stats.cache_hits.values()))\n"
    )
    environment = {"NUMBA_CACHE_DIR": str(tmp_path), "PYTHONPATH": str(repository / "src"), "OMP_NUM_THREADS": "1"}
    hits = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", program], env=environment, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        hits.append(int(done.stdout))
    assert hits == [0, 1]
    assert list(tmp_path.rglob("*.nbc"))
