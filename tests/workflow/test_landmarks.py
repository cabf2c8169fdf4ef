"""A study with landmarks: a block that is killed or damaged is made again alone."""

import shutil
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from tests.workflow.conftest import TABLES, Checkout, tables

pytestmark = pytest.mark.full

STUDY: dict[str, Any] = {
    "study": "smoke",
    "blocks": 2,
    "datasets": {"digits": {"per_class": 30}},
    "descriptors": {"pixels": {"kind": "pixels"}},
    "kernels": {"gauss": {"kind": "gaussian", "bandwidth": [0.5, 2]}},
    "methods": {
        "many": {"kind": "mkl_dr", "landmarks": 40, "ridge": [1e-3, 1e-2]},
        "raw": {"kind": "nearest_neighbour"},
    },
    "protocols": {"drawn": {"kind": "random_per_class", "train_size": [3, 15], "repeats": 1}},
}
"""Two blocks, and a size with fewer training samples than landmarks; and a method without landmarks, whose features
are put together from the same blocks."""
KILLER = """
import os, signal, sys

def _kill(event, arguments):
    if event == "open" and "/moments/" in str(arguments[0]) and ".2of2." in str(arguments[0]):
        os.kill(os.getpid(), signal.SIGKILL)

sys.addaudithook(_kill)
"""
"""Kills the process that begins to write the moments of the second block."""


def cached(checkout: Checkout, pattern: str) -> list[Path]:
    return sorted(checkout.folder.glob(f"results/cache/{pattern}"))


def test_a_killed_block_is_made_again_alone(repository: Path, tmp_path: Path) -> None:
    done = Checkout(tmp_path / "checkout", repository)
    done.write(STUDY)
    done.output("snakemake", "--cores", "2", *TABLES)
    copied = done.copy(tmp_path / "copy")
    shutil.rmtree(copied.folder / "results" / "cache" / "moments")
    for path in [*cached(copied, "fits/*/*/many-*"), *(copied.folder / name for name in TABLES)]:
        path.unlink()
    kept = {path: path.stat().st_mtime_ns for path in cached(copied, "**/*.*")}
    (copied.folder / "killer").mkdir()
    (copied.folder / "killer" / "sitecustomize.py").write_text(KILLER, encoding="utf-8")
    killing = {"PYTHONPATH": f"{copied.folder / 'killer'}:{copied.environment['PYTHONPATH']}"}
    lost = copied.snakemake("--cores", "2", *TABLES, check=False, env=killing)
    assert lost.returncode
    assert "failed: its job was killed or interrupted, see logs/moments/" in lost.stderr
    rows = pd.read_parquet(copied.folder / TABLES[0])
    assert rows.groupby("method")["status"].agg(set).to_dict() == {"many": {"missing"}, "raw": {"ok"}}
    messages = rows.loc[rows["method"].eq("many"), "message"]
    assert messages.str.contains("its job was killed or interrupted, see logs/moments/").all()
    assert "many on digits, drawn-p3: missing: its job was killed" in copied.output("mklearn", "failed")
    blocks = [path.name for path in cached(copied, "moments/*/*/*/*")]
    assert blocks == ["1of2.npz"]
    kept |= {path: path.stat().st_mtime_ns for path in cached(copied, "moments/*/*/*/*")}
    assert copied.planned(*TABLES) == {"moments": 1, "fit": 1, "evaluate": 1, "tables": 1}
    copied.output("snakemake", "--cores", "2", *TABLES)
    assert {path: path.stat().st_mtime_ns for path in kept} == kept
    assert tables(copied) == tables(done)
